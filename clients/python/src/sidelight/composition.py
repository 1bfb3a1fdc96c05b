"""The results of other sessions in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Optional, Tuple, Union

from ._validation import finite, integer, invalid, one_of
from .output import FITS
from .v1 import session_pb2

__all__ = ["Composition", "CompositionSource"]

_LAYOUTS = {
    "grid": session_pb2.COMPOSITION_LAYOUT_GRID,
    "side_by_side": session_pb2.COMPOSITION_LAYOUT_SIDE_BY_SIDE,
    "picture_in_picture": session_pb2.COMPOSITION_LAYOUT_PICTURE_IN_PICTURE,
}


@dataclass(frozen=True)
class CompositionSource:
    """A source: the caller's newest session with a label and a participant."""

    #: The label of the session.
    label: str = ""
    #: The participant of the session.
    participant: str = ""
    #: The cell as x, y, width and height in fractions of the picture. `None`: the layout's.
    cell: Optional[Tuple[float, float, float, float]] = None

    def message(self, field: str) -> session_pb2.CompositionSource:
        """Returns the message; errors begin with `field`."""
        message = session_pb2.CompositionSource(label=self.label, participant=self.participant)
        if self.cell is not None:
            if len(self.cell) != 4:
                raise invalid(f"{field}.cell", self.cell, "x, y, width and height")
            names = "x", "y", "width", "height"
            for name, value in zip(names, self.cell):
                setattr(message.cell, name, finite(f"{field}.cell.{name}", value, 0, 1))
        return message


@dataclass(frozen=True)
class Composition:
    """The results of other sessions of this caller in one picture, which the server makes.

    Every picture shows the newest result of every source, and a plain dark cell for a source without
    a result, or whose results may not be shown.
    """

    #: The width in pixels, 2 or more.
    width: int
    #: The height in pixels, 2 or more.
    height: int
    #: 1 to 16 sources in the order of the cells, from back to front: a text is a label.
    sources: Sequence[Union[CompositionSource, str]]
    #: The arrangement: "grid", "side_by_side" or "picture_in_picture".
    layout: Literal["grid", "side_by_side", "picture_in_picture"] = "grid"
    #: The pictures per second, 1 to 120.
    frame_rate: float = 30
    #: The fit of a result into its cell: "fit" (between black bars), "fill" or "stretch".
    fit: Literal["fit", "fill", "stretch"] = "fit"

    def message(self, field: str = "composition") -> session_pb2.Composition:
        """Returns the message; errors begin with `field`."""
        if self.layout not in _LAYOUTS:
            raise one_of(f"{field}.layout", self.layout, _LAYOUTS)
        if self.fit not in FITS:
            raise one_of(f"{field}.fit", self.fit, FITS)
        if isinstance(self.sources, str):
            raise invalid(f"{field}.sources", self.sources, "a list of sources")
        message = session_pb2.Composition(
            width=integer(f"{field}.width", self.width, 2, 16384),
            height=integer(f"{field}.height", self.height, 2, 16384),
            frame_rate=finite(f"{field}.frame_rate", self.frame_rate, 1, 120),
            layout=_LAYOUTS[self.layout],
            fit=FITS[self.fit],
        )
        for index, each in enumerate(self.sources):
            source = CompositionSource(each) if isinstance(each, str) else each
            if not isinstance(source, CompositionSource):
                raise invalid(f"{field}.sources[{index}]", each, "a CompositionSource")
            message.sources.append(source.message(f"{field}.sources[{index}]"))
        return message
