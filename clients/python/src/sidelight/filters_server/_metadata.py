"""The metadata of frames, and the results of analyses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Optional

from .._formats import Color, Orientation
from .._image_messages import color_of, orientation_of
from ..events import Detection, detections_of

__all__ = ["Face", "FrameContext", "Results"]


class FrameContext:
    """The metadata of a frame. Valid during the call only."""

    #: The number that the sender gave the frame.
    sequence: int
    #: The number of frames that arrived in the session before it.
    index: int
    #: The size of the picture in pixels.
    width: int
    height: int
    #: The label of the client's session, for logs; may be empty.
    label: str

    def __init__(self, message: Any, label: str) -> None:
        self._message = message
        self.sequence = message.sequence
        self.index = message.index
        self.width = message.input.width
        self.height = message.input.height
        self.label = label

    @property
    def capture_time(self) -> Optional[float]:
        """The time of capture in seconds since the start of 1970 in UTC; `None` if not known."""
        nanoseconds: int = self._message.capture_time_ns
        return nanoseconds / 1e9 if nanoseconds else None

    @property
    def arrival_time(self) -> float:
        """The time of arrival in seconds, of a clock that only goes forward."""
        nanoseconds: int = self._message.arrival_time_ns
        return nanoseconds / 1e9

    @property
    def orientation(self) -> Orientation:
        """The orientation for display. Pixels are as stored, before it."""
        return orientation_of(self._message)

    @property
    def color(self) -> Color:
        """The interpretation of the samples."""
        return color_of(self._message)

    @property
    def faces(self) -> Sequence[Detection]:
        """The faces, in pixels of the frame as it arrived at the pipeline; in pixels of a matte's picture.

        Empty unless other stages of the pipeline, or a matte that protects, need faces.
        """
        return detections_of(self._message.faces)

    def __repr__(self) -> str:
        return f"FrameContext(sequence={self.sequence}, size={self.width}x{self.height})"


@dataclass(frozen=True)
class Face:
    """A face in pixels of the picture: the box from the hairline to the chin, cheek to cheek.

    A box may reach beyond the picture. It is ignored if there are landmarks.
    """

    x: float
    y: float
    width: float
    height: float
    #: The confidence, 0 to 1.
    confidence: float = 1.0
    #: The points x, y of the eye on the left of the picture, the other eye, and the mouth.
    landmarks: Optional[Sequence[Sequence[float]]] = None


@dataclass(frozen=True)
class Results:
    """The results of an analysis for a frame, at most 256 in all."""

    #: Numbers by name.
    figures: Mapping[str, float] = field(default_factory=dict)
    #: Detected objects, in pixels of the picture.
    detections: Sequence[Detection] = ()
    #: Texts by name.
    words: Mapping[str, str] = field(default_factory=dict)
    #: Lists of numbers by name, such as a histogram.
    rows: Mapping[str, Sequence[float]] = field(default_factory=dict)
