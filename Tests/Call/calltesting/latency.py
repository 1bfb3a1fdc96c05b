"""The time from a camera to a viewer's screen, from the frame numbers in the pictures."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Any

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


def delays(camera: Iterable[Sample], viewer: Iterable[Sample]) -> Delays:
    """Returns the delays between a sender's camera and a viewer's tile.

    The camera's time is that of the capture of the frame that the sender's own tile shows. Numbers
    repeat when the camera's video does: a viewer's frame belongs to the last frame of its number
    before it, so that delays must be shorter than the video.
    """
    captured: dict[int, list[float]] = defaultdict(list)
    for sample in camera:
        if sample["number"] is not None:
            captured[sample["number"]].append(sample["captured"] or sample["shown"])
    found, unmatched = [], 0
    for sample in viewer:
        times = captured.get(sample["number"], [])
        before = bisect_right(times, sample["shown"])
        if before:
            found.append(sample["shown"] - times[before - 1])
        else:
            unmatched += 1
    return Delays(tuple(found), unmatched)
