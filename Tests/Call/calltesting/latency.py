"""The time from a camera to a viewer's screen, from the frame numbers in the pictures."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Any

# The successive frames that a sender's tile may not show.
MOST_MISSING = 10
# A sample of `reader.js`.
Sample = dict[str, Any]


@dataclass(frozen=True)
class Delays:
    """The delays of the frames that a viewer saw, in milliseconds."""

    milliseconds: tuple[float, ...]
    # The frames that the viewer saw and that were not seen at the camera, or not readable.
    unmatched: int

    @property
    def p50(self) -> float:
        """The median."""
        return median(self.milliseconds)

    @property
    def p95(self) -> float:
        """The 95th percentile."""
        return percentile(self.milliseconds, 95)

    def __add__(self, other: "Delays") -> "Delays":
        """Returns the delays of both."""
        return Delays(
            self.milliseconds + other.milliseconds, self.unmatched + other.unmatched
        )


def percentile(values: Sequence[float], percent: float) -> float:
    """Returns a percentile: the smallest value that so many per cent of all do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, ceil(len(ordered) * percent / 100) - 1)]


def delays(
    camera: Iterable[Sample], viewer: Iterable[Sample], frames_per_second: int = 30
) -> Delays:
    """Returns the delays between a sender's camera and a viewer's tile.

    The camera's time is the capture time of the frame in the sender's own tile. A busy
    page shows fewer frames than the camera delivers; the capture of one that is missing is computed
    from the last frame before it. Numbers repeat when the camera's video does: a viewer's frame
    belongs to the last frame of its number before it, so delays must be shorter than the
    video.
    """
    captured: dict[int, list[float]] = defaultdict(list)
    for sample in camera:
        if sample["number"] is not None:
            captured[sample["number"]].append(sample["captured"] or sample["shown"])
    found, unmatched = [], 0
    for sample in viewer:
        time = sample["number"] is not None and _capture(captured, sample, frames_per_second)
        if time:
            found.append(sample["shown"] - time)
        else:
            unmatched += 1
    return Delays(tuple(found), unmatched)


def _capture(
    captured: dict[int, list[float]], sample: Sample, frames_per_second: int
) -> float | None:
    """The time of the capture of a viewer's frame; `None` if none near it was seen."""
    for back in range(MOST_MISSING + 1):
        times = captured.get(sample["number"] - back, [])
        before = bisect_right(times, sample["shown"])
        if before:
            return times[before - 1] + back * 1000 / frames_per_second
    return None
