"""Starts servers and clients as separate processes, and measures their resource usage."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

from cells import (CODEC, COPY, CPP, CPP_PLAIN, CPP_WINDOWS, CROSS, GENERATED, KB1, KERNEL, MEMORY,
                   OURS, PYTHON, SOCKETS, TCP, Cell)

HERE = Path(__file__).parent
#: The settings that `sidelight serve` applies to itself (`AllocatorSettings`), for clients and peers with
#: the same settings.
MALLOC = {"GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=33554432"
          ":glibc.malloc.trim_threshold=1073741824:glibc.malloc.top_pad=67108864"}
TICKS = os.sysconf("SC_CLK_TCK")
#: The processors of server and client: one each, or one for both.
PINS = {"apart": (0, 1), "together": (0, 0)}


class Skipped(Exception):
    """The reason why something cannot be measured here."""


@dataclass
class Usage:
    """The usage of a process: processor time in seconds, highest memory in bytes."""

    processor: float
    memory: int

    @staticmethod
    def of(process: subprocess.Popen) -> "Usage":
        folder = Path(f"/proc/{process.pid}")
        # The name of the program is in brackets and may contain spaces; the numbers follow it.
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        return Usage((int(fields[11]) + int(fields[12])) / TICKS,
                     int(status["VmHWM"].split()[0]) << 10)


@dataclass
class Result:
    """The results of one run, with times in milliseconds; without a transport only `fps` and `p50`."""

    fps: float
    p50: float
    p99: float = 0
    dropped: int = 0
    #: Frames of the streams with the fewest and with the most.
    least: int = 0
    most: int = 0
    #: Processor time a frame.
    server: float = 0
    client: float = 0
    #: The work on a frame, as the server reports it, or as measured without a transport.
    work: float = 0
    #: MiB.
    server_memory: float = 0
    client_memory: float = 0

    @property
    def cpu(self) -> float:
        return self.server + self.client


class Driver:
    """Runs cells, with the programs that dev/bench wire built."""

    def __init__(self, sidelight: Path, wire: Path, peers: Path, python: str, warm_up: float,
                 seconds: float, pin: str | None = None):
        """`pin` is one of `PINS`, or `None`: the system places the processes."""
        self.sidelight, self.wire, self.warm_up, self.seconds = sidelight, wire, warm_up, seconds
        self.sockets, self.grpc = peers / "sockets", peers / "grpc"
        self.python = [python, HERE / "peers/grpcio_peer.py", peers / "python"]
        self._features: dict[str, set[str]] = {}
        self._pins = PINS.get(pin, (None, None))

    def versions(self) -> dict[str, str]:
        """Returns the versions of the available peers."""
        found = {}
        for name, command in {
            OURS: [self.sidelight, "--version"], CPP: [self.grpc, "version"],
            PYTHON: [*self.python, "version"],
        }.items():
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                found[name] = subprocess.run(
                    command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
        return found

    def features(self, transport: str) -> set[str]:
        """Returns the features that `sidelight serve` lists, with the options for a transport."""
        if transport not in self._features:
            if transport == MEMORY and "--shared-memory" not in self._output("serve", "--help"):
                return set()
            with self.server(Cell(OURS, transport, KB1)) as (_, address):
                self._features[transport] = set(subprocess.run(
                    [self.wire, "features", "--address", address], capture_output=True, text=True,
                    check=True, timeout=60).stdout.split())
        return self._features[transport]

    def _output(self, *arguments: str) -> str:
        return subprocess.run([self.sidelight, *arguments], capture_output=True, text=True,
                              timeout=60).stdout

    def run(self, cell: Cell, warm_up: float | None = None, seconds: float | None = None) -> Result:
        """Measures once. Raises `Skipped` if that is not possible here."""
        options = self.options(cell, warm_up or self.warm_up, seconds or self.seconds)
        if cell.peer == COPY:
            figures, *_ = self._measure([self._found(self.sockets), "memcpy", *options])
            return Result(figures["frames"] / figures["seconds"], figures["p50_us"] / 1e3)
        if cell.peer in (KERNEL, CODEC):
            verb = "kernel" if cell.peer == KERNEL else "jpeg"
            figures, *_ = self._measure([self.wire, verb, *options])
            time = sum(figures[f"{part}_us"] for part in ("decode", "work", "encode")) / 1e3
            return Result(1e3 / time, time, work=time)
        if cell.transport == MEMORY and "shared_memory" not in self.features(MEMORY):
            raise Skipped("the server has no shared memory")
        if cell.jpeg and "process.jpeg" not in self.features(TCP):
            raise Skipped("the server takes no JPEG in streams")
        with self.server(cell) as (server, address):
            figures, before, after = self._measure(
                [*self.client(cell), "--address", address, *options], server, self._malloc(cell))
        frames = max(1, figures["frames"])
        times = [(end.processor - start.processor) * 1e3 / frames
                 for start, end in zip(before, after)]
        return Result(
            figures["frames"] / figures["seconds"], figures["p50_us"] / 1e3, figures["p99_us"] / 1e3,
            figures["dropped"], figures["least"], figures["most"], times[1], times[0],
            figures.get("work_us", 0) / 1e3, after[1].memory / 2**20, after[0].memory / 2**20)

    def options(self, cell: Cell, warm_up: float, seconds: float) -> list[str]:
        options = {
            "--format": cell.frame.format, "--size": cell.frame.size, "--bytes": cell.frame.bytes,
            "--streams": cell.streams, "--in-flight": cell.in_flight, "--warm-up": warm_up,
            "--seconds": seconds}
        for name in ("connections", "fps", "jpeg"):
            if getattr(cell, name):
                options[f"--{name}"] = getattr(cell, name)
        if cell.work != "none":
            options["--work"] = cell.work
        if cell.transport == MEMORY:
            options["--shared-memory"] = "yes"
        return [str(word) for pair in options.items() for word in pair]

    def client(self, cell: Cell) -> list:
        return {
            OURS: [self.wire, "load", "--client", "library"],
            GENERATED: [self.wire, "load", "--client", "generated"],
            SOCKETS: [self.sockets, "client"],
            PYTHON: [*self.python, "client"],
            CPP_WINDOWS: [self.grpc, "client", "--tuned", "1"],
        }.get(cell.peer, [self.grpc, "client"])

    @contextlib.contextmanager
    def server(self, cell: Cell):
        """Starts a new server for each run, so runs do not affect each other."""
        with tempfile.TemporaryDirectory(prefix="wire-") as folder:
            where = "127.0.0.1:0" if cell.transport == TCP else f"unix:{folder}/server"
            command = self._server_command(cell, where)
            server = self.start(
                command, {} if cell.peer in (OURS, GENERATED, CROSS) else self._malloc(cell),
                self._pins[0])
            try:
                with self._limit(server, 30):
                    line = server.stdout.readline()
                if not line.startswith("listening on "):
                    raise Skipped(f"{cell.peer}: the server does not start")
                yield server, line.removeprefix("listening on ").strip()
            finally:
                end(server)

    def _server_command(self, cell: Cell, address: str) -> list:
        if cell.peer in (OURS, GENERATED, CROSS):
            shared = ["--shared-memory"] if cell.transport == MEMORY else []
            return [self.sidelight, "serve", "--listen", address, "--max-load", "0",
                    "--max-sessions", "256", "--max-sessions-per-caller", "256", "--log-level",
                    "error", *shared]
        if cell.peer == PYTHON:
            return [*self.python, "server", "--address", address]
        program = self._found(self.sockets if cell.peer == SOCKETS else self.grpc)
        windows = ["--tuned", "1"] if cell.peer == CPP_WINDOWS else []
        return [program, "server", "--address", address, *windows]

    def _measure(self, command: list, server: subprocess.Popen | None = None, env: dict = MALLOC):
        """Returns the figures that a client prints, and the usage of both from `begin` to `end`."""
        client = self.start(command, env, self._pins[1])
        usages = {}
        try:
            with self._limit(client, 60):
                for line in client.stdout:
                    word = line.strip()
                    if word in ("begin", "end"):
                        usages[word] = [Usage.of(each) for each in (client, server) if each]
                    elif word.startswith("{"):
                        return json.loads(word), usages.get("begin"), usages.get("end")
            raise RuntimeError(f"ended without figures: {' '.join(map(str, command))}")
        finally:
            client.stdin.close()
            end(client)

    @staticmethod
    def _malloc(cell: Cell) -> dict:
        return {} if cell.peer == CPP_PLAIN else MALLOC

    @staticmethod
    def _found(program: Path) -> Path:
        if not program.exists():
            raise Skipped(f"{program.name} was not built")
        return program

    @staticmethod
    def start(command: list, env: dict, processor: int | None = None) -> subprocess.Popen:
        pinned = [] if processor is None else ["taskset", "-c", processor]
        return subprocess.Popen(
            [str(word) for word in [*pinned, *command]], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=sys.stderr, text=True, env=os.environ | env)

    @staticmethod
    @contextlib.contextmanager
    def _limit(process: subprocess.Popen, seconds: float):
        """Ends a process that takes longer."""
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def end(process: subprocess.Popen) -> None:
    """Asks a process to end, and kills it if it does not."""
    if process.poll() is None and process.stdin.closed:
        # A client ends when its input is closed.
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(2)
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
