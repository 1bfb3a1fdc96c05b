"""The soak test: a server at 70 % load for a long time must not change.

    `dev/bench soak [MINUTES] [--load 0.7] [--json FILE] [--report FILE]`

Fails if resident memory rises, descriptors leak, latencies drift, or a frame has no outcome.
"""

import argparse
import json
import math
import statistics
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import grpc
import numpy as np

from sidelight_testing.contract import frame_filter, service
from sidelight_testing.load import Load, percentile
from sidelight_testing.machine import Machine, OtherWork
from sidelight_testing.process import descriptor_count, resident_bytes
from sidelight_testing.server import Server

SESSIONS = 16
# Small frames and much work: the server is the bottleneck, not the transport or the sender.
FILTERS = ["median", "zoomBlur", "median", "zoomBlur"]
SIZE = (320, 180)
# Above the capacity of the server.
FIRST_RATE = 40.0
SETTLE_SECONDS = 4
SAMPLE_SECONDS = 1
# The fraction of the time that is ignored, while pools and the allocator fill.
WARM_UP = 0.2
MAX_SLOPE = 1.0  # MiB an hour
MAX_DESCRIPTORS = 2
MAX_DRIFT = 1.5


@dataclass
class Minute:
    """The figures of a part of the run: a minute, or less in short runs."""

    end_seconds: float
    frames: int
    p50_ms: float
    p99_ms: float
    load: float
    resident_bytes: int
    descriptors: int
    # The maximum number of processors that other work used for a second.
    other_work: float


@dataclass
class SoakTest:
    """The result of a soak test."""

    minutes: float
    asked_load: float  # the name in the JSON file
    rate: float
    capacity: float
    sessions: int = SESSIONS
    sent: int = 0
    came: int = 0
    parts: list[Minute] = field(default_factory=list)
    slope: float = 0  # MiB an hour
    slope_error: float = 0
    resident_first: int = 0
    resident_last: int = 0
    descriptors_gained: int = 0
    drift: float = 1
    machine: dict = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def slope(times: list[float], values: list[float]) -> tuple[float, float]:
    """Returns the slope by least squares, and its standard error."""
    x, y = np.asarray(times) - np.mean(times), np.asarray(values) - np.mean(values)
    if len(x) < 3 or not (x @ x):
        return 0, math.inf
    found = (x @ y) / (x @ x)
    residual = y - found * x
    return float(found), float(np.sqrt(residual @ residual / (len(x) - 2) / (x @ x)))


def run_soak_test(server: Server, minutes: float, load_ratio: float = 0.7) -> SoakTest:
    """Runs the soak test with a server."""
    options = [("grpc.use_local_subchannel_pool", 1)]
    address = server.addresses["tcp"]
    with (
        Load(address, SESSIONS, FIRST_RATE, SIZE, FILTERS) as load,
        grpc.insecure_channel(address, options) as channel,
    ):
        stub = service.FrameFilterStub(channel)

        def scheduler_load() -> float:
            request = frame_filter.GetServerInfoRequest()
            return stub.GetServerInfo(request, timeout=30).load.scheduler_load

        # The capacity is the rate of outputs under overload.
        time.sleep(SETTLE_SECONDS)
        load.window()
        time.sleep(SETTLE_SECONDS)
        capacity = load.window()["came"] / SETTLE_SECONDS
        rate = load_ratio * capacity / SESSIONS
        load.at_rate(rate)
        # Waiting frames finish first.
        time.sleep(2 * SETTLE_SECONDS)
        load.window()

        result = SoakTest(minutes, load_ratio, rate, capacity)
        seconds = 60 * minutes
        part = min(60, seconds / 6)
        times, resident, other = [], [], []
        other_work = OtherWork(server.process, load.process)
        count_at_start = descriptor_count(server.process)
        start = time.monotonic()
        next_part = part
        while (now := time.monotonic() - start) < seconds and server.process.poll() is None:
            time.sleep(SAMPLE_SECONDS)
            times.append(now)
            resident.append(resident_bytes(server.process))
            other.append(other_work.processors())
            if now + SAMPLE_SECONDS >= next_part:
                next_part += part
                seen = load.window()
                result.sent += seen["sent"]
                result.came += seen["came"]
                result.parts.append(
                    Minute(
                        end_seconds=round(now, 1),
                        frames=seen["came"],
                        p50_ms=percentile(seen["latencies"], 50),
                        p99_ms=percentile(seen["latencies"], 99),
                        load=round(scheduler_load(), 3),
                        resident_bytes=resident[-1],
                        descriptors=descriptor_count(server.process),
                        other_work=round(max(other), 2),
                    )
                )
                other = []
        if server.process.poll() is not None:
            result.failures.append(f"the server ended: {server.log}")
            return result
        result.descriptors_gained = descriptor_count(server.process) - count_at_start
        ended = load.finish()
    result.failures += [f"a session: {each}" for each in ended["trouble"]]
    judge(result, times, resident)
    return result


def judge(result: SoakTest, times: list[float], resident: list[int]) -> None:
    """Adds a failure per limit that is exceeded."""
    first = next(index for index, each in enumerate(times) if each >= WARM_UP * times[-1])
    found, error = slope(times[first:], [each / (1 << 20) for each in resident[first:]])
    result.slope, result.slope_error = 3600 * found, 3600 * error
    result.resident_first, result.resident_last = resident[first], resident[-1]
    # A rise within the scatter of the samples does not count.
    if result.slope - 2 * result.slope_error > MAX_SLOPE:
        result.failures.append(f"resident memory rises by {result.slope:.1f} MiB/h")
    if result.descriptors_gained > MAX_DESCRIPTORS:
        result.failures.append(f"{result.descriptors_gained} descriptors leaked")
    settled = [each for each in result.parts if each.end_seconds >= WARM_UP * times[-1]]
    third = max(1, len(settled) // 3)
    before = statistics.median(each.p99_ms for each in settled[:third])
    after = statistics.median(each.p99_ms for each in settled[-third:])
    result.drift = after / before if before else 1
    if result.drift > MAX_DRIFT:
        result.failures.append(f"the p99 of the last third is {result.drift:.2f} times that of the first")


def report(result: SoakTest) -> str:
    """Returns the page with the result."""
    rows = "\n".join(
        f"| {each.end_seconds:.0f} | {each.frames} | {100 * each.load:.0f} % | {each.p50_ms:.1f} | "
        f"{each.p99_ms:.1f} | {each.resident_bytes / (1 << 20):.1f} | {each.descriptors} | "
        f"{each.other_work:.1f} |"
        for each in result.parts
    )
    verdict = "; ".join(result.failures) if result.failures else "every limit is met"
    return f"""# Soak test: a server at {100 * result.asked_load:.0f} % load for {result.minutes:g} minutes

Written by `make bench PART=soak`. {Machine(**result.machine)}

{result.sessions} sessions, each with a separate connection, send {SIZE[0]}x{SIZE[1]} I420 frames through
`{", ".join(FILTERS)}` at {result.rate:.1f} a second each, open loop, under the policy "never drop". That is {100 * result.asked_load:.0f} % of
the capacity, {result.capacity:.0f} frames a second, which was measured under overload. "load" is `scheduler_load` of the
server. Latencies are from when a frame was due until its outcome arrived in the client, a Python
process on the same machine.

**{verdict[0].upper()}{verdict[1:]}.**

| | measured | limit |
|---|---|---|
| resident memory, least squares after the first {100 * WARM_UP:.0f} % of the time | {result.slope:+.2f} MiB/h, standard error {result.slope_error:.2f}; {result.resident_first / (1 << 20):.1f} to {result.resident_last / (1 << 20):.1f} MiB | {MAX_SLOPE:g} MiB/h, two standard errors allowed |
| descriptors, end minus start | {result.descriptors_gained:+d} | {MAX_DESCRIPTORS} |
| p99, ratio of the last third to the first | {result.drift:.2f} | {MAX_DRIFT:g} |
| frames | {result.sent} sent, {result.came} returned by the last sample | each in order, none lost |

A short run cannot show a rise that is smaller than the scatter of the samples; see the standard error.

"Other work" is the most processors that other processes, and other machines of the host ("steal"), took for
a second. If too few are left for the load, the queue of the server grows, and p99 with it.

| seconds | frames | load | p50 ms | p99 ms | RSS MiB | descriptors | other work |
|---|---|---|---|---|---|---|---|
{rows}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("minutes", type=float, nargs="?", default=10)
    parser.add_argument(
        "--load", type=float, default=0.7, help="the fraction of the server's capacity"
    )
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--report", type=Path, help="write the page to this file")
    arguments = parser.parse_args()
    machine = Machine.now()
    with Server() as server:
        result = run_soak_test(server, arguments.minutes, arguments.load)
    result.machine = asdict(machine)
    page = report(result)
    print(page)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(asdict(result), indent=2) + "\n")
    if arguments.report:
        arguments.report.write_text(page)
    for failure in result.failures:
        print(f"soak test: {failure}", file=sys.stderr)
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
