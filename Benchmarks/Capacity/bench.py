"""Measures the cost of sessions, the first frame, the start and the program's size, and writes
capacity.md. `dev/bench capacity` runs it."""

import argparse
import math
import statistics
import sys
import time
from datetime import date
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Shared"))

from measure import FPS, TRANSPORTS, WORK, Missing, Programs, ffmpeg, ffmpeg_version  # noqa: E402
from reporting import load_average, machine, table  # noqa: E402

#: Milliseconds.
FIRST_FRAME_LIMIT, START_LIMIT = 5, 80
#: The sessions of a load whose processor time is measured: enough for 10 ms ticks to count.
STREAMS = 4


def percentile(values: list[float], percent: float) -> float:
    """The value that `percent` percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def mib(count: float) -> str:
    return f"{count / 2**20:.1f}"


def kib(count: float) -> str:
    return f"{count / 2**10:.0f}"


class Capacity:
    def __init__(self, programs: Programs, quick: bool):
        self.programs, self.quick = programs, quick
        self.verdicts: list[list[str]] = []

    def check(self, name: str, measured: str, limit: str, holds: bool) -> None:
        self.verdicts.append(["ok" if holds else "**missed**", name, measured, limit])

    @property
    def met(self) -> bool:
        return all(row[0] == "ok" for row in self.verdicts)

    # The sections.

    def streams(self) -> str:
        """Processor time of a stream, over every transport, next to ffmpeg."""
        seconds = 3 if self.quick else 10
        costs: dict[tuple[str, str], float] = {}
        for name, work, graph in WORK:
            for transport in TRANSPORTS:
                progress(f"{name} over {transport}")
                load = self.programs.load(
                    transport, "--work", work, "--fps", FPS, "--streams", STREAMS, "--in-flight", 4,
                    "--warm-up", 1, "--seconds", seconds)
                elapsed = load.figures["seconds"]
                rate = load.figures["frames"] / elapsed
                # Of a stream that loses no frame, also where this machine could not carry them all.
                costs[name, transport] = load.processor / elapsed / rate * FPS
            progress(f"{name} in ffmpeg")
            try:
                costs[name, "ffmpeg"] = ffmpeg(graph, 60 if self.quick else 300) * FPS
            except Missing as reason:
                progress(f"skipped: {reason}")
        columns = [*TRANSPORTS, "ffmpeg"]
        percent = [[name, *(f"{costs[name, column]:.1%}".replace("%", " %")
                            if (name, column) in costs else "-" for column in columns)]
                   for name, *_ in WORK]
        per_core = [[name, *(f"{1 / costs[name, column]:.0f}"
                             if (name, column) in costs else "-" for column in columns)]
                    for name, *_ in WORK]
        graphs = "\n".join(f"- {name}: `{graph}`" for name, _, graph in WORK)
        return f"""## Streams

{STREAMS} sessions of 720p I420 at {FPS} frames a second, each over a separate connection, pixels sent
back; {seconds} s. CPU of one stream, as a part of one core:

{table(["pipeline", *columns], percent)}
Streams per core, if the server had a whole core and used all of it, without the sender's share. Plan
with two thirds of it, so that frames do not wait:

{table(["pipeline", *columns], per_core)}
ffmpeg {ffmpeg_version()} reads raw frames from memory, filters them on one thread and discards them,
without a transport. Its filters are the nearest that it has, with other formulas:

{graphs}
"""

    def memory(self) -> str:
        """Resident bytes of a session at rest and in flight."""
        many = 64 if self.quick else 100
        rows = []
        for transport in TRANSPORTS:
            progress(f"{many} idle sessions over {transport}")
            idle = self.programs.load(
                transport, "--idle", "yes", "--streams", many, "--warm-up", 1, "--seconds", 1)
            live = 8 if self.quick else 32
            progress(f"{live} sessions of 720p over {transport}")
            flight = self.programs.load(
                transport, "--work", "vintage", "--fps", 5, "--streams", live, "--in-flight", 4,
                "--warm-up", 1, "--seconds", 3)
            rows.append([
                transport, mib(idle.rest.memory), str(many),
                kib((idle.end.memory - idle.rest.memory) / many), str(live),
                mib((flight.end.memory - flight.rest.memory) / live)])
        return f"""## Memory

Resident memory of the server (`/proc/PID/statm`, shared memory included) beyond that at rest, by the
number of sessions. Idle sessions are open and have sent nothing, each over a separate connection; the
others send 720p I420 through `vintage` at 5 frames a second.

{table(["", "at rest MiB", "idle sessions", "KiB each", "sessions of 720p", "MiB each"], rows)}"""

    def crowd(self) -> str:
        """256 sessions that send little."""
        many = 64 if self.quick else 256
        progress(f"{many} sessions at once")
        load = self.programs.load(
            "TCP", "--work", "vintage", "--size", "320x180", "--fps", 2, "--streams", many,
            "--in-flight", 4, "--warm-up", 2, "--seconds", 4 if self.quick else 10)
        figures = load.figures
        row = [str(many), str(figures["frames"]), str(figures["dropped"]), str(figures["least"]),
               str(figures["most"]), f"{figures['p50_us'] / 1e3:.1f}", f"{figures['p99_us'] / 1e3:.1f}",
               f"{load.processor / figures['seconds']:.0%}".replace("%", " %"), mib(load.end.memory)]
        self.check(f"{many} sessions at 2 frames a second: frames dropped", str(figures["dropped"]),
                   "none", figures["dropped"] == 0)
        return f"""## Many sessions

{many} sessions of 320x180 through `vintage` at 2 frames a second, each over a separate connection.

{table(["sessions", "frames", "dropped", "least", "most", "p50 ms", "p99 ms", "CPU", "RSS MiB"], [row], 1)}"""

    def first_frame(self) -> str:
        """The first frame of a session, whose plan is compiled and whose buffers are new."""
        count = 100 if self.quick else 500
        rows = []
        for name, work, _ in WORK:
            progress(f"first frames, {name}")
            load = self.programs.load("TCP", "--work", work, "--streams", count, verb="open")
            times = {key: [value / 1e3 for value in load.figures[f"{key}_us"]]
                     for key in ("open", "first", "second", "server")}
            rows.append([name, str(count)] + [
                f"{percentile(times[key], percent):.1f}"
                for key in ("open", "first", "second", "server") for percent in (50, 99)])
            # The transport of a frame is not part of the requirement, and the second frame has it too.
            extra = percentile(times["first"], 99) - percentile(times["second"], 50)
            self.check(f"the first 720p frame after `open`, {name}, p99 beyond the second's median",
                       f"{extra:.1f} ms", f"<= {FIRST_FRAME_LIMIT} ms", extra <= FIRST_FRAME_LIMIT)
        return f"""## The first frame

Sessions of one client over one TCP connection, one after the other, each with two frames of 720p. "In
the server" is the wait for a turn and the work; the plan is compiled before. Milliseconds, p50 and p99.

{table(["pipeline", "sessions", "open", "p99", "first frame", "p99", "second frame", "p99",
        "first, in the server", "p99"], rows)}"""

    def start(self) -> str:
        """The start of the server, and the size of the program."""
        count = 10 if self.quick else 40
        progress("start")
        times = [value * 1e3 for value in self.programs.start_times(count)]
        median = statistics.median(times)
        self.check("`sidelight serve` answers after its start, median", f"{median:.0f} ms", f"<= {START_LIMIT} ms",
                   median <= START_LIMIT)
        try:
            sizes = table(["program", "MiB"], [[name, mib(size)] for name, size in
                                               self.programs.sizes()])
        except Missing as reason:
            sizes = f"Not measured: {reason}.\n"
        return f"""## Start and size

From starting the process until it has answered the preface of an HTTP/2 connection, {count} times:
median {median:.0f} ms, p95 {percentile(times, 95):.0f} ms.

{sizes}"""


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sidelight", type=Path, required=True)
    parser.add_argument("--wire", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", choices=PARTS)
    arguments = parser.parse_args()
    before, begin = load_average(), time.monotonic()
    capacity = Capacity(Programs(arguments.sidelight, arguments.wire), arguments.quick)
    sections = [PARTS[part](capacity) for part in PARTS
                if not arguments.only or part in arguments.only]
    options = " ".join(word for word in sys.argv[1:] if word == "--quick")
    command = "make bench PART=capacity" + (f' ARGUMENTS="{options}"' if options else "")
    page = "\n".join([
        (HERE / "introduction.md").read_text(),
        f"Written by `{command}`, {date.today()}, in {time.monotonic() - begin:.0f} s. {machine()}; "
        f"load average before the run: {before}.\n",
        "## Requirements\n",
        table(["", "requirement", "measured", "limit"], capacity.verdicts, 4),
        *sections])
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "capacity.md").write_text(page)
    print(page)
    return 0 if capacity.met else 1


PARTS = {"streams": Capacity.streams, "memory": Capacity.memory, "crowd": Capacity.crowd,
         "first-frame": Capacity.first_frame, "start": Capacity.start}

if __name__ == "__main__":
    sys.exit(main())
