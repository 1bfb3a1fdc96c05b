"""Rows 7 to 10: hostile, silent, pinging peers, and peers that delay a shutdown."""

import contextlib
import hashlib
import itertools
import os
import signal
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from hyperframe import frame as frames

from attacks import Attacker
from operations import test_drain
from robustness import test_silent_peers as silence
from sidelight_testing import images
from sidelight_testing.bystander import Bystander
from sidelight_testing.contract import session as messages
from sidelight_testing.load import Load, percentile
from sidelight_testing.raw import PROCESS, RawPeer, frame, message
from sidelight_testing.server import Server, binary

from .row import Row, Settings

HONEST = 49
BUSY_WORK = bytes(1 << 20)
STALLS = {
    "a stopped process": test_drain.dead,
    "a closed window": test_drain.stalled,
    "an unread socket": test_drain.deaf,
}


def a_hostile_neighbour(settings: Settings) -> Row:
    """Row 7: windows of time alone, next to a busy process, and next to the attacker, in turn."""
    rounds = int(settings.either(5, 20))
    window_seconds = 2
    alone, busy, attacked = "alone", "next to a busy process", "next to the attacker"
    seen: dict[str, list[float]] = {alone: [], busy: [], attacked: []}
    made = 0
    with Server("--shared-memory") as server:
        address = server.addresses["tcp"]
        with Load(address, HONEST, rate=10) as load, Attacker(address) as attacker:
            names = itertools.cycle(attacker.attacks)
            time.sleep(2)
            load.window()
            for _ in range(rounds):
                for kind, latencies in seen.items():
                    end = time.monotonic() + window_seconds
                    while time.monotonic() < end:
                        if kind == attacked:
                            attacker.run(next(names))
                            made += 1
                        elif kind == busy:
                            hashlib.sha256(BUSY_WORK)
                        else:
                            time.sleep(max(0, end - time.monotonic()))
                    latencies += load.window()["latencies"]
            kinds = min(made, len(attacker.attacks))
            ended = load.finish()
    p99 = {kind: percentile(sorted(latencies), 99) for kind, latencies in seen.items()}
    p50 = {kind: percentile(sorted(latencies), 50) for kind, latencies in seen.items()}
    ratio = p99[attacked] / p99[alone]
    return Row(
        7,
        "1 hostile session among 50 raises the p99 of the others by < 10 %",
        f"p99 {', '.join(f'{value:.1f} ms {kind}' for kind, value in p99.items())} "
        f"({100 * (ratio - 1):+.0f} %); p50 {', '.join(f'{value:.1f}' for value in p50.values())}; "
        f"{made:,} attacks of {kinds} kinds, {len(ended['trouble'])} sessions harmed",
        "+10 %",
        ratio < 1.1 and not ended["trouble"],
        f"{rounds} rounds of {window_seconds} s each alone, next to a process that computes without "
        "a pause, and next to an attacker without a pause; all share this machine",
    )


def silent_peers(settings: Settings) -> Row:
    """Row 8."""
    took: dict[str, float] = {}
    with Server() as server, Bystander(server), contextlib.ExitStack() as stack:
        address = server.addresses["tcp"]

        def watch(peer: RawPeer, name: str) -> None:
            took[name] = peer.closed()

        threads = []
        for each in silence.SILENCES:
            peer, _ = each(address)
            peer = stack.enter_context(peer)
            threads.append(
                threading.Thread(target=watch, args=(peer, each.__name__.replace("_", " ")))
            )
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    # Peers whose sessions must end, whatever their connection does: on separate servers, because they
    # look the same from outside.
    threads = [
        threading.Thread(target=_stalls, args=each) for each in zip(STALLS, itertools.repeat(took))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    quick = {"says nothing", "says half a preface"}
    holds = all(value <= (5 if name in quick else 15) for name, value in took.items())
    return Row(
        8,
        "a dead, silent or stalled peer is closed in <= 15 s, a silent TCP connection in 5 s",
        ", ".join(f"{name} {value:.1f} s" for name, value in took.items()),
        "15 s; 5 s",
        holds,
        "raw peers and a stopped process, next to a session that must not lose a frame",
    )


def _stalls(name: str, took: dict[str, float]) -> None:
    """Measures the remaining time of a session whose peer stalls."""
    with Server() as server, Bystander(server) as bystander, contextlib.ExitStack() as stack:
        STALLS[name](server, stack)
        silence.wait_until(lambda: bystander.load().sessions == 2, seconds=10)
        start = time.monotonic()
        with contextlib.suppress(AssertionError):
            silence.wait_until(lambda: bystander.load().sessions == 1, seconds=30)
        took[name] = time.monotonic() - start


def pings(settings: Settings) -> Row:
    """Row 9: a raw client that behaves like grpc-go, grpcio, and the Swift client."""
    minutes = settings.ping_minutes or settings.either(1 / 6, 1)
    seconds = 60 * minutes
    count = int(30 * seconds)
    result: dict[str, int] = {}
    with Server() as server, tempfile.TemporaryDirectory() as folder:
        address = server.addresses["tcp"]
        video = Path(folder) / "video.y4m"
        with open(video, "wb") as file:
            file.write(b"YUV4MPEG2 W64 H48 F30:1 Ip A1:1 C420jpeg\n")
            for index in range(count):
                file.write(b"FRAME\n" + bytes([index % 256]) * (64 * 48 * 3 // 2))
        swift = subprocess.Popen(
            [binary(), "stream", video, os.devnull, "--server", address, "--realtime"],
            stderr=subprocess.PIPE,
            text=True,
        )
        raw = threading.Thread(target=lambda: result.update(raw=as_grpc_go(address, count)))
        with Load(address, 1, rate=30, size=(64, 48)) as load:
            raw.start()
            raw.join()
            ended = load.finish()
        _, log = swift.communicate(timeout=120)
    swift_made = log.splitlines()[-1].split(";")[0] if log else "nothing"
    holds = result.get("raw") == count and not ended["trouble"] and swift.returncode == 0
    return Row(
        9,
        "grpc-go, grpcio and Swift clients run 30 fps for 10 minutes without GOAWAY",
        f"{minutes:.2g} min: {result.get('raw', 0):,} of {count:,} frames with a PING for each "
        "burst of DATA, "
        f"{ended['came']:,} of {ended['sent']:,} by grpcio, {swift_made} by `sidelight stream`",
        "no GOAWAY, no frame lost",
        holds,
        "a raw client that pings as grpc-go does; "
        "`dev/bench slo --minutes 10` takes ten minutes",
    )


def as_grpc_go(address: str, count: int) -> int:
    """Sends frames at 30 a second, a PING with each. Returns how many came back before any
    GOAWAY."""
    picture = images.noise("I420", 64, 48)
    came = answers = 0
    with RawPeer(address) as peer:
        peer.open_windows()
        peer.call(PROCESS)
        opening = messages.Open(drop_policy=messages.DROP_POLICY_NEVER_DROP)
        peer.data(message(messages.ClientMessage(open=opening).SerializeToString()))
        due = time.monotonic()
        for sequence in range(1, count + 1):
            time.sleep(max(0, due - time.monotonic()))
            due += 1 / 30
            sent = messages.ClientMessage(frame=messages.Frame(sequence=sequence, image=picture))
            peer.data(message(sent.SerializeToString()))
            peer.send(frame(6, 0, 0, struct.pack(">Q", sequence)))
            while came < sequence or answers < sequence:
                each = next(peer.frames(), None)
                if each is None or isinstance(each, frames.GoAwayFrame):
                    return came
                if isinstance(each, frames.PingFrame):
                    if "ACK" in each.flags:
                        answers += 1
                    else:
                        peer.send(frame(6, 1, 0, each.opaque_data))
                came += isinstance(each, frames.DataFrame) and len(each.data) > 4000
    return came


def drain(settings: Settings) -> Row:
    """Row 10: a server per peer, all at once, with the default grace period."""
    took: dict[str, float] = {}
    codes = set()
    with contextlib.ExitStack() as stack:
        servers = []
        for peers in [[each] for each in test_drain.PEERS] + [test_drain.PEERS]:
            server = stack.enter_context(Server("--compute-threads", "1"))
            for peer in peers:
                peer(server, stack)
            servers.append(("all together" if len(peers) > 1 else peers[0].__name__, server))

        def end(name: str, server: Server) -> None:
            start = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                codes.add(server.process.wait(timeout=20))
            took[name] = time.monotonic() - start

        threads = [threading.Thread(target=end, args=each) for each in servers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return Row(
        10,
        "drain: health NOT_SERVING, GOAWAY, frames in flight finish, exit 0 in <= 10 s, always",
        ", ".join(f"{name} {value:.1f} s" for name, value in took.items())
        + f"; exit status {sorted(codes)}",
        "10 s, 0",
        codes == {0} and max(took.values()) <= 10,
        "SIGTERM with such a peer, grace period 10 s; health, GOAWAY and frames in flight: "
        "`test_drain.py`",
    )
