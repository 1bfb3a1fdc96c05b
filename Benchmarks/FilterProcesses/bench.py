"""Measures filter processes. Run it with `dev/bench filter-processes`."""

import argparse
import contextlib
import datetime
import http.client
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from pathlib import Path

import grpc
import numpy as np
from reporting import load_average, machine, table
from support.running_server import RunningServer
from warm import FRAME_RATE, HEIGHT, WIDTH

import sidelight

HERE = Path(__file__).resolve().parent
TICKS = os.sysconf("SC_CLK_TCK")
SESSIONS = 8
PICTURE = np.random.default_rng(1).integers(0, 255, (HEIGHT, WIDTH, 4), np.uint8)


def process_seconds(pid: int) -> float:
    """The processor time of a process and its children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    total = (int(fields[11]) + int(fields[12])) / TICKS
    return total + sum(map(process_seconds, children(pid)))


def milliseconds(values: list[float]) -> list[str]:
    """The median and the 99th percentile."""
    return [f"{1000 * np.percentile(values, share):.2f}" for share in (50, 99)]


def server(*arguments: object) -> RunningServer:
    command = " ".join(map(str, [sys.executable, HERE / "filters.py", *arguments]))
    return RunningServer("--shared-memory", "--filter-process", command)


def round_trip(session: sidelight.Session, format: str) -> float:
    """The seconds from sending a frame to its outcome."""
    frame = session.frame(WIDTH, HEIGHT, format)
    data = np.frombuffer(frame.image.data, np.uint8)
    data[:] = PICTURE.reshape(-1)[: data.size]
    started = time.perf_counter()
    with session.filter(frame) as outcome:
        elapsed = time.perf_counter() - started
        assert isinstance(outcome, (sidelight.Filtered, sidelight.PassedThrough)), outcome
    return elapsed


def overhead(seconds: float) -> str:
    """The time that an empty filter in Swift takes in a process, and in the server."""
    lines = []
    with empty_filter_server() as address, sidelight.connect(address) as connection:
        for format, name in (("i420", "i420"), ("bgra", "bgra8")):
            with contextlib.ExitStack() as stack:
                titles = {"no filter": "", "in the server": "empty", "in a process": name}
                sessions = {
                    title: stack.enter_context(connection.session(pipeline))
                    for title, pipeline in titles.items()
                }
                times: dict[str, list[float]] = {title: [] for title in titles}
                end = time.monotonic() + 3 * seconds
                while time.monotonic() < end:
                    for title, session in sessions.items():
                        times[title].append(round_trip(session, format))
            lines += [
                [f"720p {format}, {title}", *milliseconds(times[title]), "-"] for title in titles
            ]
            added = np.percentile(times["in a process"], [50, 99]) - np.percentile(
                times["in the server"], [50, 99]
            )
            lines[-1][-1] = copies(format, name)
            lines.append(["difference", *[f"{1000 * each:.2f}" for each in added], "-"])
    lines.append(["720p i420, in a process in bgra", "-", "-", copies("i420", "bgra8")])
    return table(["ms", "p50", "p99", "copies by the server"], lines)


@contextlib.contextmanager
def empty_filter_server():
    """A server with the empty filter. Returns its address."""
    with tempfile.TemporaryDirectory(prefix="sidelight-") as folder:
        command = [os.environ["EMPTY_FILTER"], f"{folder}/socket"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            try:
                assert server.stdout.readline(), "the server has not started"
                yield f"unix:{folder}/socket"
            finally:
                server.terminate()


def copies(format: str, name: str) -> str:
    """The copies of a picture by the server for one frame of a process."""
    count = 10
    with tempfile.TemporaryDirectory(prefix="sidelight-") as folder:
        process = f"'{os.environ['EMPTY_FILTER']}' {name}"
        options = ["--shared-memory", "--filter-process", process]
        with (
            RunningServer(*options, "--admin", f"unix:{folder}/admin") as running,
            sidelight.connect(running.unix) as connection,
            connection.session(name) as session,
        ):
            for _ in range(count):
                round_trip(session, format)
            metrics = http.client.HTTPConnection("localhost")
            metrics.sock = socket.socket(socket.AF_UNIX)
            metrics.sock.connect(f"{folder}/admin")
            metrics.request("GET", "/metrics")
            text = metrics.getresponse().read().decode()
            metrics.close()
    [total] = re.findall(r"^sidelight_filter_process_copies_total{.*} (\d+)", text, re.MULTILINE)
    return f"{int(total) / count:g}"


def paced(seconds: float, call) -> list[float]:
    """Calls a function at the frame rate. Returns its results."""
    results = []
    start = time.monotonic()
    for index in range(round(seconds * FRAME_RATE)):
        time.sleep(max(0, start + index / FRAME_RATE - time.monotonic()))
        results.append(call())
    return results


def peers(seconds: float) -> str:
    """The same NumPy filter at 720p30: processor time and latency."""
    lines = []
    count = round(seconds * FRAME_RATE)

    def measure(title: str, pid: int, call) -> None:
        call()
        before, client = process_seconds(pid), time.process_time()
        latencies = paced(seconds, call)
        server, client = process_seconds(pid) - before, time.process_time() - client
        costs = [server, client, server + client]
        lines.append(
            [title, *[f"{1000 * each / count:.2f}" for each in costs], *milliseconds(latencies)]
        )

    with server() as running, sidelight.connect(running.unix) as connection:
        with connection.session("warm") as session:
            measure("filter process", running.process.pid, lambda: round_trip(session, "bgra"))
    command = [sys.executable, HERE / "grpcio_service.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        try:
            with inline_client(service.stdout.readline().strip()) as call:
                measure("grpcio service, inline", service.pid, call)
        finally:
            service.kill()
    for arguments in ([], ["identity"]):
        command = [sys.executable, HERE / "gst_element.py", str(count), *arguments]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode:
            print(f"skipped: GStreamer: {finished.stderr}", file=sys.stderr)
            break
        cost, median, tail = finished.stdout.split()
        title = "source and sink of GStreamer alone" if arguments else "GStreamer, element in Python"
        times = ["-", "-"] if arguments else [median, tail]
        lines.append([title, cost, "-", cost, *times])
    header = ["720p30 BGRA", "server, ms/frame", "client, ms/frame", "together", "p50 ms", "p99 ms"]
    return table(header, lines)


@contextlib.contextmanager
def inline_client(address: str):
    """A client of the service of grpcio, which returns the time of a frame."""
    options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    frames: deque = deque()
    ready = threading.Semaphore(0)

    def requests():
        while True:
            ready.acquire()
            frame = frames.popleft()
            if frame is None:
                return
            yield frame

    def send(frame) -> None:
        frames.append(frame)
        ready.release()

    with grpc.insecure_channel(address, options) as channel:
        results = channel.stream_stream("/Warm/Filter")(requests())

        def call() -> float:
            frame = PICTURE.tobytes()
            started = time.perf_counter()
            send(frame)
            result = next(results)
            elapsed = time.perf_counter() - started
            assert len(result) == len(frame)
            return elapsed

        yield call
        send(None)


def batches(seconds: float, model: Path) -> str:
    """A neural network for several sessions: frames per second, one and up to 8 at a time."""
    picture = sidelight.Image("rgb", 640, 360, PICTURE.reshape(-1)[: 640 * 360 * 3].tobytes())
    background = "protect: false, smoothing: 0, backgroundColor: #204060"
    pairs = [("single", "batched"), (
        f"virtualBackground(matte: person, {background})",
        f"virtualBackground(matte: people, {background})",
    )]
    names = [name for pair in pairs for name in pair]
    rates: dict[str, list[float]] = {name: [] for name in names}
    pixels = {}
    with server(model) as running, sidelight.connect(running.unix) as connection:
        for name in 3 * names:
            rates[name].append(rate(connection, name, picture, seconds, pixels))
    assert all(pixels[single] == pixels[batched] for single, batched in pairs), "other results"
    medians = {name: statistics.median(values) for name, values in rates.items()}
    lines = [
        [f"{SESSIONS} sessions, {what}, {how}", f"{medians[name]:.0f}",
         f"{medians[name] / medians[pair[0]]:.2f}"]
        for what, pair in zip(("a filter", "a matte"), pairs)
        for how, name in zip(("single", "batched"), pair)
    ]
    return table(["360p, `selfie_segmentation_landscape`", "frames/s", "of single"], lines)


def rate(connection, name: str, picture, seconds: float, pixels: dict) -> float:
    """The frames per second of several sessions, each of which waits for its result."""
    counts = []
    barrier = threading.Barrier(SESSIONS)

    def run() -> None:
        with connection.session(name) as session:
            with session.filter(picture) as outcome:
                assert isinstance(outcome, sidelight.Filtered), outcome
                pixels[name] = bytes(outcome.image.data)
            barrier.wait()
            end = time.monotonic() + seconds
            count = 0
            while time.monotonic() < end:
                with session.filter(picture) as outcome:
                    count += isinstance(outcome, sidelight.Filtered)
            counts.append(count)

    threads = [threading.Thread(target=run) for _ in range(SESSIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(counts) == SESSIONS, "a session failed"
    return sum(counts) / seconds


class Track:
    """A session that sends pictures at a steady rate, in a thread."""

    RATE = 15

    def __init__(self, connection, pipeline: str) -> None:
        self.latencies: list[float] = []
        self.lost = 0
        self.is_filtered = threading.Event()
        self._ends = threading.Event()
        self._session = connection.session(pipeline)
        self._thread = threading.Thread(target=self._run)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def _run(self) -> None:
        picture = sidelight.Image("bgra", 640, 360, PICTURE.reshape(-1)[: 640 * 360 * 4].tobytes())
        with self._session as session:
            start, index = time.monotonic(), 0
            while not self._ends.wait(max(0, start + index / self.RATE - time.monotonic())):
                index += 1
                started = time.perf_counter()
                with session.filter(picture) as outcome:
                    if isinstance(outcome, sidelight.Filtered):
                        self.latencies.append(time.perf_counter() - started)
                        self.is_filtered.set()
                    else:
                        self.lost += 1


def failures(seconds: float, kills: int, stops: int) -> str:
    """Processes that are killed and stopped, next to sessions that do not use them."""
    with contextlib.ExitStack() as stack:
        running = stack.enter_context(server())
        connection = stack.enter_context(sidelight.connect(running.unix))
        others = [
            stack.enter_context(Track(connection, "sepiaTone(intensity: 0.8)"))
            for _ in range(SESSIONS)
        ]
        track = stack.enter_context(Track(connection, "warm"))
        rows = []
        for title, number, count in (
            ("undisturbed", None, 0), ("kill -9", signal.SIGKILL, kills),
            ("kill -STOP", signal.SIGSTOP, stops),
        ):
            for each in others:
                each.latencies.clear()
                each.lost = 0
            track.lost = 0
            returns = []
            for _ in range(count):
                # A process that has run for 3 s starts again without a longer pause.
                time.sleep(3.2)
                [child] = children(running.process.pid)
                os.kill(child, number)
                started = time.monotonic()
                # A frame that was almost done may still come back.
                while children(running.process.pid) in ([child], []):
                    time.sleep(0.001)
                track.is_filtered.clear()
                assert track.is_filtered.wait(60), running.log[-2000:]
                returns.append(time.monotonic() - started)
            if not count:
                time.sleep(seconds)
            together = [each for track in others for each in track.latencies]
            rows.append([
                f"{title}, {count} times" if count else title,
                str(sum(each.lost for each in others)), *milliseconds(together),
                str(track.lost), f"{np.percentile(returns, 50):.2f}" if returns else "-",
                f"{max(returns):.2f}" if returns else "-",
            ])
    header = [
        "process", "frames lost by others", "p50 ms of others", "p99 ms of others",
        "frames lost by its session", "back after, median s", "longest s",
    ]
    return table(header, rows)


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += [int(child) for child in (task / "children").read_text().split()]
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--only", action="append", choices=[*HEADINGS])
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    seconds = arguments.seconds or (2 if arguments.quick else 10)
    sections = {
        "overhead": lambda: overhead(seconds),
        "peers": lambda: peers(seconds),
        "batches": lambda: batches(seconds / 2, arguments.model),
        "failures": lambda: failures(seconds, *((2, 1) if arguments.quick else (50, 50))),
    }
    text = (
        "# Filter processes\n\n<!-- Written by `make bench PART=filter-processes`. -->\n\n"
        f"{datetime.date.today()}, {machine()}, load {load_average()}. Pixels are in shared memory, also between client and "
        "server.\n"
    )
    for name, section in sections.items():
        if arguments.only and name not in arguments.only:
            continue
        if name == "batches" and arguments.model is None:
            print("skipped: batches, without the models of `make models`", file=sys.stderr)
            continue
        part = section()
        print(part)
        text += f"\n## {name.capitalize()}\n\n{HEADINGS[name]}\n\n{part}"
    page = arguments.output / "filter-processes.md"
    page.write_text(text)
    print(page)


HEADINGS = {
    "overhead": "Round trips of sessions in turns: without a filter, with a custom filter in Swift "
    "whose body is empty, and with the same filter in a process.",
    "peers": "One NumPy filter. The client writes every frame into its place first. The time of the "
    "GStreamer element is of the element alone, without a connection.",
    "batches": "A neural network in ONNX Runtime, one thread, and sessions that wait for their "
    "results.",
    "failures": "Eight sessions with `sepiaTone` at 360p and 15 frames/s, and one session with a filter "
    "of a process that is killed or stopped.",
}

main()
