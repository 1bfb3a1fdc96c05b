"""The page `Benchmarks/Results/studio.md`."""

from dataclasses import dataclass
from statistics import median

from reporting import table
from sidelight_testing.machine import Machine

from .first_minute import Step
from .trial import Result, Settings

MAX_P50, MAX_P95, MIN_SHOWN = 40, 100, 29


@dataclass(frozen=True)
class Requirement:
    """A requirement, with the measured value and the limit."""

    text: str
    measured: float
    limit: float
    is_minimum: bool = False

    @property
    def holds(self) -> bool:
        """Whether it is met."""
        if self.is_minimum:
            return self.measured >= self.limit
        return self.measured < self.limit


def requirements(results: list[Result]) -> list[Requirement]:
    """Returns the requirements of the studio at 640x360 on two quiet cores; the median of the runs
    counts."""
    return [
        Requirement(
            "camera to screen, p50, ms", median(each.percentile(50) for each in results), MAX_P50
        ),
        Requirement(
            "camera to screen, p95, ms", median(each.percentile(95) for each in results), MAX_P95
        ),
        Requirement(
            "frames shown per second", median(each.shown_per_second for each in results),
            MIN_SHOWN, is_minimum=True,
        ),
    ]


def page(
    results: dict[Settings, list[Result]], minutes: list[list[Step]], machine: Machine,
    command: str,
) -> str:
    """Returns the page in Markdown. The requirements are those of the first settings."""
    parts = [
        "# Studio benchmark",
        f"Written by `{command}`. {machine} Browser and server share the machine.",
    ]
    if results:
        parts += _latency(results)
    if minutes:
        parts += _first_minute(minutes)
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _latency(results: dict[Settings, list[Result]]) -> list[str]:
    first, *_ = results
    met = [
        [
            "ok" if each.holds else "**missed**", each.text, f"{each.measured:.1f}",
            f"{'at least' if each.is_minimum else 'below'} {each.limit}",
        ]
        for each in requirements(results[first])
    ]
    rows = [
        [
            f"`{settings.pipeline}`" if settings.pipeline else "none", settings.size,
            _range([each.percentile(50) for each in runs]),
            _range([each.percentile(95) for each in runs]),
            _range([each.shown_per_second for each in runs]),
            _range([each.captured_per_second for each in runs]),
            f"{median(each.page['latency-p50'] for each in runs):.1f}",
            f"{median(each.page['server-time'] for each in runs):.1f}",
            f"{median(each.processors['browser'] for each in runs):.2f}",
            f"{median(each.processors['Sidelight'] for each in runs):.2f}",
        ]
        for settings, runs in results.items()
    ]
    return [
        """`sidelight studio` in headless Chromium with a fake camera of 30 frames a second, whose
pictures have their number in a strip at the top; the filters leave the strip alone. A script in the
page reads the number of each frame of the camera, and the number in the studio's canvas each time
the browser draws. A latency is the time from the capture of a frame until the browser has drawn its
filtered picture. It includes the wait for the next of the browser's 60 pictures a second, and the
work of the script itself. *Page* and *server* are the medians that the page shows: its own latency,
which ends when the canvas is drawn, and the time of a frame in the server.""",
        "## Requirements\n\nFor two quiet cores; medians of the runs.",
        table(["", "requirement", "measured", "limit"], met, words=2),
        "## Camera to screen",
        f"""Milliseconds, frames per second, and processors in use.
{_runs(len(results[first]))} of {first.seconds:g} seconds.""",
        table(
            [
                "pipeline", "size", "p50", "p95", "shown", "camera", "page", "server",
                "browser, processors", "Sidelight",
            ],
            rows, words=2,
        ),
    ]


def _first_minute(minutes: list[list[Step]]) -> list[str]:
    rows = []
    for steps in zip(*minutes, strict=True):
        rows.append([steps[0].name, _range([step.seconds for step in steps], digits=2)])
    totals = [sum(step.seconds for step in steps) for steps in minutes]
    rows.append(["together", _range(totals, digits=2)])
    return [
        "## The first minute",
        f"""Seconds from the start of `sidelight studio`, at 640x360, in a browser that is open
already. The steps follow each other at once: to these times a person adds those to read and to move
the mouse. {_runs(len(minutes))}.""",
        table(["step", "seconds"], rows),
    ]


def _runs(count: int) -> str:
    return "One run" if count == 1 else f"The median, and in brackets the range, of {count} runs"


def _range(values: list[float], digits: int = 1) -> str:
    middle = f"{median(values):.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"
