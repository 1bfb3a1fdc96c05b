"""Counts the work for a frame on both sides of a connection: system calls, context switches, jobs of tasks,
allocations, and copies in the process by address. dev/bench frame-cost calls this with the programs that it built.

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
import time
from dataclasses import dataclass
from pathlib import Path

from cells import CPP, FRAMES, OURS, TCP, UNIX, Cell
from driver import MALLOC, Driver, end

SYSTEM_CALLS = ["read", "write", "readv", "writev", "recvmsg", "sendmsg", "recvfrom", "sendto", "epoll_wait",
                "epoll_pwait", "epoll_ctl", "poll", "futex", "timerfd_settime"]
#: The seconds between two counts, and those that perf may take to attach.
INTERVAL, ATTACHING = 0.1, 6
#: Functions that are counted, by the library that has them. A program may contain them itself.
FUNCTIONS = {"libc.so.6": ["malloc", "pthread_mutex_lock"],
             "libswift_Concurrency.so": ["swift_job_run_on_task_executor", "swift_job_run"],
             "libswiftCore.so": ["swift_allocObject"]}
#: The function behind `memcpy` and `memmove`, of which the processor has one.
COPY_VARIANTS = ["__memmove_avx512_unaligned_erms", "__memmove_evex_unaligned_erms",
                 "__memmove_avx_unaligned_erms", "__memmove_sse2_unaligned_erms"]


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


def system_events(_: int) -> dict[str, str]:
    """Returns the kernel's events to count, by perf's name."""
    return {"task-clock": "CPU ms", "context-switches": "context switches",
            "raw_syscalls:sys_enter": "system calls",
            **{f"syscalls:sys_enter_{name}": name for name in SYSTEM_CALLS}}


def function_events(process: int, probes: Probes) -> dict[str, str]:
    """Returns the calls of functions to count in a process, by perf's name."""
    events = {}
    files = files_of(process)
    for library, functions in FUNCTIONS.items():
        places = [file for file in files if file.endswith("/" + library)] or files[:1]
        for function in functions:
            if places and (event := probes.add(places[0], function)):
                events[event] = function
    return events


class Counter:
    """perf, attached to one process until `finish`."""

    def __init__(self, command: list[str], process: int, output: Path):
        self.output = output
        fifos = [Path(f"{output}.{name}") for name in ("control", "acknowledgement")]
        for fifo in fifos:
            os.mkfifo(fifo)
        self._perf = subprocess.Popen(
            ["perf", *command, "--control", f"fifo:{fifos[0]},{fifos[1]}", "-p", str(process), "-o",
             str(output)])
        self._control, self._acknowledgement = fifos[0].open("w"), fifos[1].open()
        # It answers once it is attached.
        self._control.write("ping\n")
        self._control.flush()
        self._acknowledgement.readline()
        self.attached = time.monotonic()

    def finish(self) -> None:
        self._perf.send_signal(signal.SIGINT)
        self._perf.wait(60)


@dataclass
class Window:
    """The measured time, on the system's monotonic clock in seconds, and the frames that returned in it."""

    begin: float
    end: float
    frames: int


def parse_counts(counter: Counter, events: dict[str, str], window: Window) -> dict[str, float]:
    """Returns the counts per frame that `perf stat -I -x,` has written."""
    counts: collections.Counter[str] = collections.Counter()
    # The intervals take longer on a busy machine.
    times = [counter.attached]
    seconds = 0.0
    for line in counter.output.read_text().splitlines():
        if line[:1] != " ":
            continue
        elapsed, count, _, event, *_ = line.split(",")
        if times[-1] != (now := counter.attached + float(elapsed)):
            times.append(now)
            if window.begin < times[-2] and now < window.end:
                seconds += now - times[-2]
        if window.begin < times[-2] and now < window.end and count.replace(".", "").isdigit():
            counts[events[event]] += float(count)
    frames = window.frames / (window.end - window.begin) * seconds
    return {name: count / max(1, frames) for name, count in counts.items()}


def parse_copies(counter: Counter, window: Window) -> list[tuple[int, float]]:
    """Returns the copies per frame by their sizes, from the recorded calls."""
    script = subprocess.run(
        ["perf", "script", "-i", str(counter.output), "-F", "time,event,trace"], capture_output=True,
        text=True, check=True).stdout
    sizes = collections.Counter(
        int(size, 0) for time, size in re.findall(r"([\d.]+): .* n=(\w+)", script)
        if window.begin < float(time) < window.end)
    return [(size, count / max(1, window.frames)) for size, count in sorted(sizes.items(), reverse=True)]


def run(driver: Driver, cell: Cell, commands, parse) -> list:
    """Runs a load with perf attached to server and client.

    `commands` returns perf's arguments for a process; `parse` gets perf's output and the measured time, and
    returns the result of a side."""
    with driver.server(cell) as (server, address), tempfile.TemporaryDirectory() as folder:
        client = driver.start([*driver.client(cell), "--address", address,
                               *driver.options(cell, ATTACHING, driver.seconds)], MALLOC)
        counters: list[Counter] = []
        times = {}
        frames = 0
        try:
            time.sleep(1)
            for name, process in (("server", server), ("client", client)):
                counters.append(Counter(commands(process.pid), process.pid, Path(folder, name)))
            for line in client.stdout:
                word = line.strip()
                times[word] = time.monotonic()
                if word == "end":
                    for counter in counters:
                        counter.finish()
                elif word.startswith("{"):
                    frames = json.loads(word)["frames"]
                    break
            window = Window(times["begin"], times["end"], frames)
            if any(counter.attached > window.begin for counter in counters):
                raise RuntimeError("perf was not attached in time; the machine is too busy")
            return [parse(counter, window) for counter in counters]
        finally:
            client.stdin.close()
            end(client)


def count(driver: Driver, cell: Cell, events_of) -> list[dict[str, float]]:
    events: dict[str, str] = {}

    def commands(process: int) -> list[str]:
        found = events_of(process)
        events.update(found)
        return ["stat", "-x,", "-I", f"{INTERVAL * 1000:.0f}", "-e", ",".join(found)]

    return run(driver, cell, commands,
               lambda counter, window: parse_counts(counter, events, window))


def copies(driver: Driver, cell: Cell, probes: Probes) -> list[list[tuple[int, float]]]:
    """Counts the copies of whole frames or parts of them."""
    least = max(2048, cell.frame.bytes // 64)

    def commands(process: int) -> list[str]:
        libc = next(file for file in files_of(process) if file.endswith("/libc.so.6"))
        event = next(filter(None, (probes.add(libc, variant, " n=%dx:u64 to=%di:x64 from=%si:x64")
                                   for variant in COPY_VARIANTS)))
        return ["record", "-q", "-k", "mono", "-m", "1024", "-e", event, "--filter", f"n >= {least}"]

    return run(driver, cell, commands, parse_copies)


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
    results = []
    try:
        for cell in cells:
            # Probes cost time, so the processor time is measured without them.
            system = count(driver, cell, system_events)
            functions = count(driver, cell, lambda process: function_events(process, probes))
            results.append(([one | other for one, other in zip(system, functions)],
                            copies(driver, cell, probes)))
    finally:
        probes.remove()
    names = list(dict.fromkeys(name for sides, _ in results for side in sides for name in side))
    head = [f"{cell.peer} {side}" for cell in cells for side in ("server", "client")]
    rows = [[f"per frame, {cells[0].label.split(', ', 1)[1]}", *head]]
    for name in names:
        values = [side.get(name, 0) for sides, _ in results for side in sides]
        if any(value >= 0.02 for value in values):
            rows.append([name, *(f"{value:.2f}" for value in values)])
    copied = [sum(size * number for size, number in side) for _, sides in results for side in sides]
    rows.append(["bytes copied in the process", *(f"{value:,.0f}" for value in copied)])
    rows.append(["of them, in whole frames", *(f"{value / frame.bytes:.2f}" for value in copied)])
    print(table(rows))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
