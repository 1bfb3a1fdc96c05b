"""Counts the work for a frame on both sides of a connection: system calls, context switches, jobs of tasks,
allocations, and copies in the process by address. dev/frame-cost calls this with the programs that it built.

Counts depend on the code, not on the load of the machine, so two versions can be compared on a busy one. Needs
Linux, root, and perf with user-space probes."""

import argparse
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from cells import CPP, FRAMES, OURS, TCP, UNIX, Cell
from driver import MALLOC, Driver, Usage, end

SYSTEM_CALLS = ["read", "write", "readv", "writev", "recvmsg", "sendmsg", "recvfrom", "sendto", "epoll_wait",
                "epoll_pwait", "epoll_ctl", "poll", "futex", "timerfd_settime"]
#: Functions that are counted, by the library that has them. A program may contain them itself.
FUNCTIONS = {"libc.so.6": ["malloc", "pthread_mutex_lock"],
             "libswift_Concurrency.so": ["swift_job_run_on_task_executor", "swift_job_run"],
             "libswiftCore.so": ["swift_allocObject"]}
#: Functions that are called so often that probes slow the programs down a hundred times.
REFERENCE_COUNTING = {"libswiftCore.so": ["swift_retain", "swift_release"]}
#: The function behind `memcpy` and `memmove`, of which the processor has one.
COPY_VARIANTS = ["__memmove_avx512_unaligned_erms", "__memmove_evex_unaligned_erms",
                 "__memmove_avx_unaligned_erms", "__memmove_sse2_unaligned_erms"]


@dataclass
class Side:
    """One process, and the counts of its events per frame."""

    process: subprocess.Popen
    counts: dict[str, float]


class Probes:
    """User-space probes of this program, removed at the end."""

    def __init__(self):
        self._names: dict[tuple[str, str], str | None] = {}

    def add(self, file: str, function: str, arguments: str = "") -> str | None:
        """Returns the name of a probe; `None` if the file does not have the function."""
        key = (file, function + arguments)
        if key not in self._names:
            event = f"frame_cost:p{len(self._names)}"
            added = subprocess.run(
                ["perf", "probe", "-q", "-x", file, "--add", f"{event}={function}{arguments}"],
                capture_output=True, text=True)
            self._names[key] = event if added.returncode == 0 else None
        return self._names[key]

    def remove(self) -> None:
        subprocess.run(["perf", "probe", "-q", "-d", "frame_cost:*"], capture_output=True)


def files_of(process: int) -> list[str]:
    """Returns the program and the libraries of a process."""
    maps = Path(f"/proc/{process}/maps").read_text()
    return list(dict.fromkeys(re.findall(r"r-xp .* (/\S+)$", maps, re.MULTILINE)))


def events_of(process: int, probes: Probes) -> dict[str, str]:
    """Returns the events to count in a process, by perf's name."""
    events = {"task-clock": "CPU ms", "context-switches": "context switches",
              "raw_syscalls:sys_enter": "system calls"}
    events |= {f"syscalls:sys_enter_{name}": name for name in SYSTEM_CALLS}
    files = files_of(process)
    for library, functions in FUNCTIONS.items():
        places = [file for file in files if file.endswith("/" + library)] or files[:1]
        for function in functions:
            if places and (event := probes.add(places[0], function)):
                events[event] = function
    return events


class Counter:
    """perf, attached to one process, which counts or records only between `enable` and `finish`."""

    def __init__(self, command: list[str], process: int, folder: Path, name: str):
        self.output = folder / f"{name}.perf"
        control, acknowledgement = folder / f"{name}.control", folder / f"{name}.ack"
        for fifo in (control, acknowledgement):
            os.mkfifo(fifo)
        self._perf = subprocess.Popen(
            ["perf", *command, "-D", "-1", "--control", f"fifo:{control},{acknowledgement}", "-p",
             str(process), "-o", str(self.output)],
            stdout=subprocess.DEVNULL)
        self._control = control.open("w")
        self._acknowledgement = acknowledgement.open()
        self._say("ping")

    def _say(self, word: str) -> None:
        self._control.write(word + "\n")
        self._control.flush()
        self._acknowledgement.readline()

    def enable(self) -> None:
        self._say("enable")

    def disable(self) -> None:
        self._say("disable")

    def finish(self) -> None:
        self._perf.send_signal(signal.SIGINT)
        self._perf.wait(60)


def parse_counts(output: Path, events: dict[str, str], frames: int) -> dict[str, float]:
    """Returns the counts per frame that `perf stat -x,` has written."""
    counts = {}
    for line in output.read_text().splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2] in events and fields[0].replace(".", "").isdigit():
            counts[events[fields[2]]] = float(fields[0]) / frames
    return counts


def parse_copies(output: Path, frames: int) -> list[tuple[int, float]]:
    """Returns the copies per frame by their sizes, from the recorded calls."""
    script = subprocess.run(["perf", "script", "-i", str(output), "-F", "event,trace"],
                            capture_output=True, text=True, check=True).stdout
    sizes = collections.Counter(int(size, 0) for size in re.findall(r"n=(\w+)", script))
    return [(size, count / frames) for size, count in sorted(sizes.items(), reverse=True)]


class Measurement:
    """One run of a cell with perf attached to both sides."""

    def __init__(self, driver: Driver, cell: Cell, probes: Probes):
        self._driver, self._cell, self._probes = driver, cell, probes

    def run(self, commands, parse):
        """Runs the load; `commands` returns perf's arguments for a process, `parse` the result of a side."""
        driver, cell = self._driver, self._cell
        with driver.server(cell) as (server, address), tempfile.TemporaryDirectory() as folder:
            options = driver.options(cell, 2.5, driver.seconds)
            client = driver.start(
                [*driver.client(cell), "--address", address, *options], MALLOC)
            counters, frames, usages = [], 0, []
            try:
                for name, process in (("server", server), ("client", client)):
                    counters.append(Counter(commands(process.pid), process.pid, Path(folder), name))
                for line in client.stdout:
                    word = line.strip()
                    if word == "begin":
                        for counter in counters:
                            counter.enable()
                    elif word == "end":
                        for counter in counters:
                            counter.disable()
                    elif word.startswith("{"):
                        frames = json.loads(word)["frames"]
                        break
                for counter in counters:
                    counter.finish()
                return frames, [parse(counter.output, frames) for counter in counters]
            finally:
                client.stdin.close()
                end(client)


def count(driver: Driver, cell: Cell, probes: Probes) -> tuple[int, list[dict[str, float]]]:
    events: dict[str, str] = {}

    def commands(process: int) -> list[str]:
        events.update(events_of(process, probes))
        return ["stat", "-x,", "-e", ",".join(events_of(process, probes))]

    return Measurement(driver, cell, probes).run(
        commands, lambda output, frames: parse_counts(output, events, max(1, frames)))


def copies(driver: Driver, cell: Cell, probes: Probes) -> tuple[int, list[list[tuple[int, float]]]]:
    """Counts the copies of at least an eighth of a frame."""
    least = max(2048, cell.frame.bytes // 64)

    def commands(process: int) -> list[str]:
        libc = next(file for file in files_of(process) if file.endswith("/libc.so.6"))
        event = next(filter(None, (probes.add(libc, variant, " n=%dx:u64 to=%di:x64 from=%si:x64")
                                   for variant in COPY_VARIANTS)))
        return ["record", "-q", "-m", "1024", "-e", event, "--filter", f"n >= {least}"]

    return Measurement(driver, cell, probes).run(
        commands, lambda output, frames: parse_copies(output, max(1, frames)))


def table(rows: list[list[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(word.ljust(widths[0]) if column == 0 else word.rjust(widths[column])
                               for column, word in enumerate(row)) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sidelight", type=Path, required=True)
    parser.add_argument("--wire", type=Path, required=True)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--frame", default="20 KB", choices=[frame.name for frame in FRAMES])
    parser.add_argument("--in-flight", type=int, default=1)
    parser.add_argument("--unix", action="store_true")
    parser.add_argument("--peer", action="append", choices=[OURS, CPP])
    options = parser.parse_args()
    if not shutil.which("perf") or os.geteuid() != 0:
        sys.exit("frame-cost needs perf (linux-perf) and root")
    frame = next(frame for frame in FRAMES if frame.name == options.frame)
    driver = Driver(options.sidelight, options.wire, options.peers, sys.executable, 1, options.seconds)
    cells = [Cell(peer, UNIX if options.unix else TCP, frame, options.in_flight)
             for peer in options.peer or [OURS, CPP]]
    probes = Probes()
    try:
        results = [(cell, *count(driver, cell, probes), copies(driver, cell, probes)) for cell in cells]
    finally:
        probes.remove()
    names = list(dict.fromkeys(name for _, _, sides, _ in results for side in sides for name in side))
    head = [f"{cell.peer} {side}" for cell, *_ in results for side in ("server", "client")]
    rows = [[f"per frame, {cells[0].label.split(', ', 1)[1]}", *head]]
    for name in names:
        values = [side.get(name, 0) for _, _, sides, _ in results for side in sides]
        if any(value >= 0.005 for value in values):
            rows.append([name, *(f"{value:.2f}" for value in values)])
    rows.append(["bytes copied in the process", *(
        f"{sum(size * number for size, number in side):,.0f}"
        for *_, (_, sides) in results for side in sides)])
    rows.append(["of them, in whole frames", *(
        f"{sum(size * number for size, number in side) / frame.bytes:.2f}"
        for *_, (_, sides) in results for side in sides)])
    print(table(rows))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
