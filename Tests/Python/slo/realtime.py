"""Rows 5, 6, 13: overload and deadlines."""

import base64
import re
import statistics
import subprocess
import threading
import time

import grpc
from google.rpc import status_pb2
from grpc_status import rpc_status
from hyperframe import frame as frames

from operations.test_drain import LONG
from robustness.test_silent_peers import client_message
from sidelight_testing import images
from sidelight_testing.contract import error_details, service
from sidelight_testing.contract import session as messages
from sidelight_testing.load import Load, percentile
from sidelight_testing.raw import PROCESS, RawPeer
from sidelight_testing.server import Server, binary, connect
from sidelight_testing.session import Session, pipeline

from .row import REALTIME, Row, Settings

EXPENSIVE = ["median", "zoomBlur"] * 4
BUDGET_US = 60_000


def overload(settings: Settings) -> list[Row]:
    """Row 5: the overload curve of `dev/bench realtime`, and the time of a refusal."""
    return [_curve(settings), _refusals(settings)]


def _curve(settings: Settings) -> Row:
    objective = "at 4x capacity goodput >= 90 % of the peak, accepted p99 <= 2x unloaded"
    limit = "90 %; 2 times"
    if not REALTIME.exists():
        return Row(
            5, objective, "", limit, None, "the benchmark is not built: `make bench PART=realtime`"
        )
    folder = settings.scratch / "realtime"
    folder.mkdir(parents=True, exist_ok=True)
    command = [REALTIME, "--server", binary(), "--output", folder, "--only", "overload"]
    seconds = ["--quick"] if settings.quick else ["--seconds", "2"]
    subprocess.run([*command, *seconds], capture_output=True, timeout=400, check=False)
    text = (folder / "realtime.md").read_text()
    rows = re.findall(
        r"^\| (honoured|ignored) \| ([\d.]+)x \| [^|]*\| [^|]*\| ([\d.]+) % \|[^|]*\|[^|]*\| ([\d.]+) \|",
        text,
        re.MULTILINE,
    )
    goodput = {(window, float(load)): float(share) for window, load, share, _ in rows}
    p99 = {(window, float(load)): float(value) for window, load, _, value in rows}
    figures, holds = [], bool(rows)
    for window in ("honoured", "ignored"):
        unloaded = min((key for key in p99 if key[0] == window), key=lambda key: key[1])
        ratio = p99[window, 4.0] / p99[unloaded]
        holds = holds and goodput[window, 4.0] >= 90 and ratio <= 2
        figures.append(
            f"window {window}: goodput {goodput[window, 4.0]:.0f} % of the peak, p99 "
            f"{p99[window, 4.0]:.0f} ms, {ratio:.1f} times that at {unloaded[1]:g}x"
        )
    how = '`make bench PART=realtime ARGUMENTS="--only overload"`'
    return Row(5, objective, "; ".join(figures), limit, holds, how)


def _refusals(settings: Settings) -> Row:
    count = int(settings.either(100, 400))
    sessions = 8
    with (
        Server("--max-sessions", str(sessions)) as server,
        Load(server.addresses["tcp"], sessions, rate=30, filters=EXPENSIVE),
    ):
        took = {
            "a raw client with one thread": _refused_raw(server.addresses["tcp"], count),
            "grpcio, which passes each call between threads": _refused(server.addresses["tcp"], count),
        }
    figures = [
        f"{name}: median {statistics.median(each):.1f} ms, p99 {percentile(sorted(each), 99):.1f} ms"
        for name, each in took.items()
    ]
    return Row(
        5,
        "refusals in < 5 ms with RESOURCE_EXHAUSTED and RetryInfo",
        f"{count} refusals each by a server under several times its capacity, measured by {'; by '.join(figures)}",
        "p99 5 ms, for the raw client",
        percentile(sorted(next(iter(took.values()))), 99) < 5,
        f"`--max-sessions {sessions}`; the sessions send more than the server's capacity",
    )


def _has_retry_info(details: list) -> bool:
    return any(each.Unpack(error_details.RetryInfo()) for each in details)


def _refused_raw(address: str, count: int) -> list[float]:
    """Returns the milliseconds from the start of a call to its trailers."""
    took = []
    opening = client_message(open=messages.Open())
    with RawPeer(address) as peer:
        for stream in range(1, 2 * count, 2):
            start = time.perf_counter()
            peer.call(PROCESS, stream=stream)
            peer.data(opening, stream=stream, end=True)
            trailers = next(
                each.headers
                for each in peer.frames()
                if isinstance(each, frames.HeadersFrame) and "grpc-status" in each.headers
            )
            took.append(1000 * (time.perf_counter() - start))
            encoded = trailers["grpc-status-details-bin"]
            status = status_pb2.Status.FromString(
                base64.b64decode(encoded + "=" * (-len(encoded) % 4))
            )
            assert status.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0], status
            assert _has_retry_info(status.details), status
    return took


def _refused(address: str, count: int) -> list[float]:
    """Returns the same, measured by grpcio."""
    took = []
    with connect(address) as channel:
        stub = service.FrameFilterStub(channel)
        for _ in range(count):
            start = time.perf_counter()
            refused = Session(stub, seconds=10, opens=False)
            refused.send(open=messages.Open())
            error = refused.fail()
            took.append(1000 * (time.perf_counter() - start))
            assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, error
            assert _has_retry_info(rpc_status.from_call(error).details), error
            refused.__exit__()
    return took


def nothing_after_its_deadline(settings: Settings) -> Row:
    """Row 6: sessions with budgets, far beyond the capacity of the server."""
    seconds = settings.either(4, 15)
    done = threading.Event()
    lock = threading.Lock()
    totals = {"filtered": 0, "dropped": 0, "started late": 0, "sent late": 0}
    depths, started, late_us = set(), [], [0]

    def run(address: str) -> None:
        with connect(address) as channel:
            stub = service.FrameFilterStub(channel)
            picture = images.noise("I420", 320, 180)
            with Session(stub, pipeline=pipeline(*EXPENSIVE), budget_us=BUDGET_US) as session:
                while not done.wait(1 / 60):
                    session.send_frame(picture)
                transcript = session.finish()
        with lock:
            depths.add(session.opened.mailbox_depth)
            totals["dropped"] += sum(each.count for each in transcript.dropped)
            for frame in transcript.frames:
                totals["filtered"] += 1
                started.append(frame.timing.queue_us / BUDGET_US)
                totals["started late"] += frame.timing.queue_us > BUDGET_US
                totals["sent late"] += frame.timing.total_us > BUDGET_US
                late_us.append(frame.timing.total_us - BUDGET_US)

    with Server("--max-load", "0") as server:
        threads = [threading.Thread(target=run, args=(server.addresses["tcp"],)) for _ in range(16)]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        done.set()
        for thread in threads:
            thread.join()
    started.sort()
    return Row(
        6,
        "no frame is computed after its deadline; mailbox depth 1",
        f"{totals['filtered']:,} frames filtered and {totals['dropped']:,} dropped under overload: "
        f"{totals['started late']} were "
        f"started after their budget of {BUDGET_US / 1000:g} ms (the latest at "
        f"{100 * percentile(started, 100):.0f} % of it), "
        f"{totals['sent late']} were passed to the transport after it (by "
        f"{max(late_us) / 1000:.1f} ms at most); mailbox depth {', '.join(map(str, depths))}",
        "no work started late, depth 1",
        totals["started late"] == 0 and depths == {1} and totals["filtered"] > 0,
        f"16 sessions at 60 fps for {seconds:g} s; manual clocks in "
        "`BudgetTests`",
    )


def deadlines(settings: Settings) -> Row:
    """Row 13: `grpc-timeout` of sessions that are idle, busy, stuck."""
    count = int(settings.either(5, 20))
    after = 0.3
    figures, worst, statuses = [], 0.0, set()

    def idle(peer: RawPeer) -> None:
        peer.data(client_message(open=messages.Open()))

    def busy(peer: RawPeer) -> None:
        peer.data(client_message(open=messages.Open(pipeline=pipeline("gaussianBlur"))))
        for sequence in range(1, 5):
            frame = messages.Frame(sequence=sequence, image=images.noise("GRAY8", 64, 64))
            peer.data(client_message(frame=frame))

    def stuck(peer: RawPeer) -> None:
        peer.data(client_message(open=messages.Open(pipeline=LONG)))
        picture = images.noise("GRAY8", 2048, 1024)
        peer.data(client_message(frame=messages.Frame(sequence=1, image=picture)))

    with Server() as server:
        for kind in (idle, busy, stuck):
            late = []
            for _ in range(count):
                with RawPeer(server.addresses["tcp"]) as peer:
                    peer.open_windows()
                    start = time.perf_counter()
                    peer.call(PROCESS, headers=[("grpc-timeout", f"{int(1000 * after)}m")])
                    kind(peer)
                    statuses.add(peer.status())
                    late.append(1000 * (time.perf_counter() - start - after))
            worst = max(worst, *late)
            figures.append(
                f"{kind.__name__} {statistics.median(late):.1f} ms (max {max(late):.1f})"
            )
    return Row(
        13,
        "the server enforces deadlines, <= 50 ms late, with DEADLINE_EXCEEDED",
        f"delay, median of {count}: {', '.join(figures)}",
        "50 ms",
        worst <= 50 and statuses == {4},
        "a raw client with `grpc-timeout`; sessions that are idle, busy, or filtering a long frame",
    )
