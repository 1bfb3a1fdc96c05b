"""The page `Benchmarks/Results/calls.md`."""

from dataclasses import dataclass
from pathlib import Path

from calltesting.latency import Delays
from reporting import table
from sidelight_testing.machine import Machine

from .soak import MOST_DESCRIPTORS, MOST_MIB_PER_HOUR, WARM_UP, Soak
from .trial import PART_SECONDS, Result

# The time that the slow filter takes for a frame: longer than that between two frames.
SLOW_SECONDS = 0.06
SOAK_TITLE = "## Calls that come and go"
MOST_P50, MOST_P95, MOST_DIFFERENCE, MOST_SHARE = 120, 200, 10, 10


@dataclass
class Comparison:
    """The results of the runs of each bridge."""

    without: list[Result]
    with_sidelight: list[Result]
    # With Sidelight, which encodes once for all receivers.
    encoded: list[Result]
    # A pipeline that takes longer than the time between frames.
    slow_newest: Result | None
    slow_fifo: Result | None


@dataclass(frozen=True)
class Requirement:
    """A requirement, with what was measured."""

    text: str
    measured: float
    most: float

    @property
    def holds(self) -> bool:
        """Whether it is met."""
        return self.measured <= self.most


def requirements(comparison: Comparison) -> list[Requirement]:
    """Returns the requirements of a call at 640x360 and 30 frames a second on two quiet cores."""
    own = joined(comparison.with_sidelight)
    with_sidelight, without = (
        _mean([each.delays.p50 for each in results])
        for results in (comparison.with_sidelight, comparison.without)
    )
    shares = [each.share[1] for each in comparison.with_sidelight if each.share]
    return [
        Requirement("glass to glass with Sidelight, p50, ms", own.p50, MOST_P50),
        Requirement("glass to glass with Sidelight, p95, ms", own.p95, MOST_P95),
        Requirement(
            "p50 with Sidelight minus p50 without, means of the runs, ms",
            with_sidelight - without, MOST_DIFFERENCE,
        ),
        Requirement("Sidelight's share of a frame's time, p95, ms", max(shares), MOST_SHARE),
    ]


def joined(results: list[Result]) -> Delays:
    """Returns the delays of all runs."""
    return sum((each.delays for each in results), Delays((), 0))


def page(
    comparison: Comparison, soak: Soak | None, machine: Machine, command: str, pipeline: str,
    former: str = "",
) -> str:  # fmt: skip
    """Returns the page in Markdown. Without new calls that come and go, the former ones stay."""
    source = f"Written by `{command}`. {machine}"
    parts = [
        "# Call benchmark",
        f"{source} Browser, call server and Sidelight share the machine.",
    ]
    if comparison.with_sidelight:
        parts += _latency(comparison, pipeline)
    if comparison.slow_newest and comparison.slow_fifo:
        parts += _slow(comparison.slow_newest, comparison.slow_fifo)
    if soak:
        parts += _soak(soak, source)
    else:
        _, title, rest = former.partition(SOAK_TITLE)
        parts.append(title + rest)
    return "\n\n".join(part.strip("\n") for part in parts).rstrip() + "\n"


def _latency(comparison: Comparison, pipeline: str) -> list[str]:
    rows = [
        [
            "ok" if each.holds else "**missed**", each.text, f"{each.measured:.1f}",
            f"{each.most}",
        ]
        for each in requirements(comparison)
    ]
    lines = []
    for name, results in (
        ("without Sidelight", comparison.without),
        ("with Sidelight", comparison.with_sidelight),
        ("encoded by Sidelight", comparison.encoded),
    ):
        delays = joined(results)
        share = [each.share for each in results if each.share]
        lines.append(
            [
                name,
                f"{delays.p50:.1f} ({_range([each.delays.p50 for each in results])})",
                f"{delays.p95:.1f} ({_range([each.delays.p95 for each in results])})",
                f"{min(each.frames_per_second for each in results):.1f}",
                f"{_mean([each[0] for each in share]):.1f}" if share else "",
                f"{_mean([each[1] for each in share]):.1f}" if share else "",
                *(
                    f"{_mean([each.processors[program] for each in results]):.2f}"
                    for program in ("browser", "call server", "Sidelight")
                ),
                str(sum(sum(each.dropped.values()) for each in results)),
            ]
        )
    return [
        f"""Two participants in headless Chromium, 640x360 at 30 frames a second, VP8, each with the
pipeline `{pipeline}`, each seeing the other. The camera's
video has a frame number in each picture; the delay of a frame is the time from its capture to its
presentation in the other participant's tile. Runs of the three kinds take turns;
{len(comparison.without)} of each. Without Sidelight the same call server sends the newest frame of
a participant on as it is. "Encoded by Sidelight", the call server sends what Sidelight encodes, and
has no encoder. The browser presents frames 60 times a second, so that the median of a
run can differ by 17 ms from that of another one.""",
        "## Requirements\n\nFor two quiet cores.",
        table(["", "requirement", "measured", "limit"], rows, words=2),
        "## Glass to glass",
        """Milliseconds over all runs, with the range of the runs in brackets. The share is the
round trip of a frame between the call server and Sidelight; the call server gives percentiles of
its last frames, of which the table has the mean of the runs' medians, and the requirement the
largest. Processors are means over
the runs.""",
        table(
            [
                "", "p50", "p95", "frames/s, least", "share p50", "share p95",
                "browser, processors", "call server", "Sidelight", "frames dropped",
            ],
            lines,
        ),
    ]


def _slow(newest: Result, fifo: Result) -> list[str]:
    count = min(len(newest.parts), len(fifo.parts))
    step = max(1, count // 5)
    chosen = range(step - 1, count, step)
    lines = [
        [
            name,
            *(_median(result.parts[index]) for index in chosen),
            f"{result.sent_per_second:.1f}",
            f"{result.frames_per_second:.1f}",
            str(sum(result.dropped.values())),
            f"{result.server_growth_mib:+.0f}",
        ]
        for name, result in (("newest wins", newest), ("first in, first out", fifo))
    ]
    milliseconds = 1000 * SLOW_SECONDS
    times = (f"{PART_SECONDS * (index + 1):g} s" for index in chosen)
    return [
        "## A filter that is too slow",
        f"""The same call through `slow` of `Examples/CustomFilters`. It takes {milliseconds:g} ms
for each frame, without the processor, so that the browsers go on sending at the full rate. The
usual bridge filters the frames in the order of arrival, behind aiortc's queue, which has no bound.
Its delay and the call server's memory grow as long as the call lasts.
`sidelight.aiortc.FilteredTrack` drops frames instead.""",
        f"""The table has the median delay in milliseconds of the last {PART_SECONDS:g} s, by the
time since the start of the measurement; the frames that a participant's browser sent and that
the other one showed; the dropped frames of both; and the growth of the call server's resident
memory.""",
        table(
            ["", *times, "sent, frames/s", "shown, frames/s", "dropped", "call server, MiB"], lines
        ),
    ]


def _soak(soak: Soak, source: str) -> list[str]:
    lines = []
    for name, program in soak.programs.items():
        slope, error = program.slope
        lines.append(
            [
                name,
                f"{program.resident_mib[0]:.1f}",
                f"{max(program.resident_mib):.1f}",
                f"{program.resident_mib[-1]:.1f}",
                f"{slope:+.2f} ± {error:.2f}",
                f"{MOST_MIB_PER_HOUR[name]:g}",
                f"{program.new_descriptors:+d}",
                str(MOST_DESCRIPTORS),
            ]
        )
    verdict = "**Every limit is met.**"
    if soak.failures:
        verdict = f"**Missed: {'; '.join(soak.failures)}.**"
    return [
        SOAK_TITLE,
        source,
        f"""{soak.calls} calls of two participants in {soak.minutes:g} minutes, one after the other,
{soak.frames} frames seen. One participant leaves with the button, the other closes the tab.
Resident memory in MiB after each call; its slope is by least squares after the first
{100 * WARM_UP:.0f} % of the time, with its standard error, of which two are allowed. {verdict}""",
        table(
            [
                "", "first call", "most", "last call", "MiB an hour", "limit", "descriptors",
                "limit",
            ],
            lines,
        ),
    ]


def write(path: Path, text: str) -> None:
    """Writes the page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _median(delays: Delays) -> str:
    return f"{delays.p50:.0f}" if delays.milliseconds else "no frame"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _range(values: list[float]) -> str:
    return f"{min(values):.1f} to {max(values):.1f}"
