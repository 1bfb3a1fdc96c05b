"""Compares round trips of 720p I420 frames: this package, clients that are written by hand using
grpcio, and the Swift client.

    python round_trip.py --sidelight PATH [--wire PATH] [--seconds 2] [--rounds 5]

Prints a Markdown table. `--sidelight` is the server's command; `--wire` is the program of the
transport benchmark, which contains the Swift client (`dev/build wire` builds and
prints it). One frame is in flight at a time. Clients take turns, each in a new process with a new
server, and figures are medians over the rounds. Run it on an idle machine.

Columns: the times from the call that sends a frame to its outcome; processor time of the client and
of the server per frame; the bytes that the client copies per frame, as multiples of a frame in one
direction. These are the calls of memcpy and memmove with at least 4 KiB, which a preloaded library
counts in a separate run; copies by the kernel are not among them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
TICKS = os.sysconf("SC_CLK_TCK")
START_SECONDS, RUN_SECONDS = 30, 120


class Case(NamedTuple):
    """A client, and how it reaches the server."""

    title: str
    client: str
    address: str
    shared_memory: bool


def cases(has_wire: bool) -> list[Case]:
    """All combinations that exist. Hand-written clients have no shared memory."""
    transports = [
        ("TCP", "tcp", False),
        ("Unix socket", "unix", False),
        ("shared memory", "unix", True),
    ]
    clients = [
        ("sidelight, synchronous", "sync", True),
        ("sidelight, asyncio", "aio", True),
        ("grpcio by hand, synchronous", "hand_sync", False),
        ("grpcio by hand, asyncio", "hand_aio", False),
    ]
    if has_wire:
        clients.append(("Swift client", "swift", True))
    return [
        Case(f"{title}, {transport}", client, address, shared)
        for transport, address, shared in transports
        for title, client, can_share in clients
        if can_share or not shared
    ]


class Result(NamedTuple):
    """The figures of one run, in milliseconds, and copies in frames."""

    p50: float
    p95: float
    client: float
    server: float


def processor_seconds(process: subprocess.Popen[Any]) -> float:
    """The user and system time of a process so far."""
    # The name of the program is in brackets and may contain spaces; the numbers follow it.
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextlib.contextmanager
def program(
    command: list[str], seconds: float, environment: dict[str, str]
) -> Iterator[subprocess.Popen[str]]:
    """A process with pipes, which is ended after the block, or when it takes too long."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        yield process
    finally:
        timer.cancel()
        process.stdin.close()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


@contextlib.contextmanager
def serving(sidelight: Path, address: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A new server, and its address."""
    with tempfile.TemporaryDirectory(prefix="sidelight-") as folder:
        listen = "127.0.0.1:0" if address == "tcp" else f"unix:{folder}/socket"
        command = [sidelight, "serve", "--listen", listen, "--max-load", "0", "--shared-memory"]
        command += ["--log-level", "error"]
        with program([str(word) for word in command], 2 * RUN_SECONDS, {}) as server:
            line = server.stdout.readline()
            if not line.startswith("listening on "):
                raise RuntimeError("the server does not start")
            yield server, line.removeprefix("listening on ").strip()
            server.terminate()


def client_command(case: Case, address: str, options: argparse.Namespace) -> list[str]:
    """The command of a client. All clients accept the options of the transport benchmark."""
    command = [sys.executable, str(HERE / "client.py"), case.client]
    if case.client == "swift":
        command = [str(options.wire), "load", "--client", "library", "--in-flight", "1"]
        command += ["--format", "i420", "--size", "1280x720"]
    command += ["--address", address, "--work", options.work]
    command += ["--warm-up", "0.5", "--seconds", str(options.seconds)]
    return command + (["--shared-memory", "yes"] if case.shared_memory else [])


def measure(case: Case, options: argparse.Namespace) -> Result:
    """One run of a client with a new server."""
    with serving(options.sidelight, case.address) as (server, address):
        command = client_command(case, address, options)
        usages: list[tuple[float, float]] = []
        with program(command, RUN_SECONDS, {}) as client:
            for line in client.stdout:
                if line.strip() in ("begin", "end"):
                    usages.append((processor_seconds(client), processor_seconds(server)))
                elif line.startswith("{"):
                    break
            else:
                raise RuntimeError(f"{case.title} ended without figures")
        figures = json.loads(line)
        frames = max(1, figures["frames"])
        (client_begin, server_begin), (client_end, server_end) = usages
        # The Swift client reports p99 instead of p95, so its p95 is not known.
        return Result(
            figures["p50_us"] / 1000,
            figures.get("p95_us", float("nan")) / 1000,
            (client_end - client_begin) * 1000 / frames,
            (server_end - server_begin) * 1000 / frames,
        )


def copies(case: Case, counter: Path, options: argparse.Namespace) -> float:
    """The frames that a client in Python copies for every round trip."""
    with serving(options.sidelight, case.address) as (_, address):
        command = [*client_command(case, address, options), "--count-copies", "yes"]
        with program(command, RUN_SECONDS, {"LD_PRELOAD": str(counter)}) as client:
            for line in client.stdout:
                if line.startswith("{"):
                    return float(json.loads(line)["copies"])
    raise RuntimeError(f"{case.title} did not count copies")


def compiled_counter(folder: str) -> Path:
    """The library that counts copies."""
    library = Path(folder) / "copies.so"
    source = HERE / "copies.c"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares round trips of 720p I420 frames.")
    parser.add_argument("--sidelight", type=Path, required=True, help="the server's command")
    parser.add_argument("--wire", type=Path, help="the program of the transport benchmark")
    parser.add_argument("--seconds", type=float, default=2, help="the duration of a run")
    parser.add_argument("--rounds", type=int, default=5, help="the number of runs of each client")
    parser.add_argument("--work", choices=("none", "vintage"), default="vintage")
    options = parser.parse_args()
    chosen = cases(options.wire is not None)
    results: dict[Case, list[Result]] = {case: [] for case in chosen}
    for number in range(options.rounds):
        for case in chosen:
            print(f"round {number + 1}: {case.title}", file=sys.stderr)
            results[case].append(measure(case, options))
    with tempfile.TemporaryDirectory() as folder:
        counter = compiled_counter(folder)
        counted = {
            case: copies(case, counter, options) for case in chosen if case.client != "swift"
        }

    load = os.getloadavg()[0]
    print(
        f"720p I420 through `{options.work}`, one frame in flight, {options.rounds} runs of "
        f"{options.seconds:g} s, {os.cpu_count()} cores, load average {load:.1f}\n"
    )
    print("| client | p50 | p95 | client CPU | server CPU | copies |")
    print("|---|---|---|---|---|---|")
    for case in chosen:
        medians = [statistics.median(column) for column in zip(*results[case])]
        times = [f"{value:.2f} ms" if value == value else "" for value in medians]
        copied = f"{counted[case]:.1f}" if case in counted else ""
        print(f"| {case.title} | {' | '.join(times)} | {copied} |")


if __name__ == "__main__":
    main()
