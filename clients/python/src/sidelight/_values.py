"""Values of parameters: numbers, lengths, points, colours, lists, flags and texts."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple, Union

from ._validation import finite, invalid
from .v1 import pipeline_pb2

__all__ = [
    "RGBA",
    "Length",
    "LengthLike",
    "LengthUnit",
    "Point",
    "Region",
    "Value",
    "height",
    "length_message",
    "point_message",
    "px",
    "region_message",
    "short_side",
    "value_message",
    "value_of",
    "width",
]


class LengthUnit(enum.Enum):
    """The unit of a length."""

    #: Pixels.
    PIXELS = "px"
    #: Multiples of the frame's width.
    WIDTH = "w"
    #: Multiples of the frame's height.
    HEIGHT = "h"
    #: Multiples of the smaller of width and height.
    SHORT_SIDE = "min"


class Length(NamedTuple):
    """A length in pixels, or relative to the frame so that it does not depend on the resolution."""

    #: The length, in `unit`.
    value: float
    #: The unit.
    unit: LengthUnit = LengthUnit.PIXELS


#: A length; a number is a length in pixels.
LengthLike = Union[Length, float]


def px(value: float) -> Length:
    """Returns a length in pixels."""
    return Length(value, LengthUnit.PIXELS)


def width(value: float) -> Length:
    """Returns a length as a multiple of the frame's width."""
    return Length(value, LengthUnit.WIDTH)


def height(value: float) -> Length:
    """Returns a length as a multiple of the frame's height."""
    return Length(value, LengthUnit.HEIGHT)


def short_side(value: float) -> Length:
    """Returns a length as a multiple of the smaller of the frame's width and height."""
    return Length(value, LengthUnit.SHORT_SIDE)


class Point(NamedTuple):
    """A position, measured from the top left corner of the frame."""

    #: The distance from the left edge.
    x: LengthLike
    #: The distance from the top edge.
    y: LengthLike


class Region(NamedTuple):
    """A rectangle of the frame."""

    #: The distance of its left edge from the frame's.
    x: LengthLike
    #: The distance of its top edge from the frame's.
    y: LengthLike
    #: Its width.
    width: LengthLike
    #: Its height.
    height: LengthLike


class RGBA(NamedTuple):
    """A colour in gamma-encoded sRGB with straight alpha. Components are 0 to 1."""

    #: The red component.
    red: float
    #: The green component.
    green: float
    #: The blue component.
    blue: float
    #: The opacity.
    alpha: float = 1.0

    @classmethod
    def hex(cls, text: str) -> RGBA:
        """Returns the colour of `"#rrggbb"` or `"#rrggbbaa"`."""
        digits = text[1:] if text.startswith("#") else ""
        try:
            components = [byte / 255 for byte in bytes.fromhex(digits)]
        except ValueError:
            components = []
        if len(digits) != 2 * len(components) or len(components) not in (3, 4):
            raise invalid("text", text, '"#rrggbb" or "#rrggbbaa"')
        return cls(*components)


#: The value of a parameter. A text is a choice or the name of an asset; a list of numbers is a
#: vector.
Value = Union[float, bool, str, Length, Point, RGBA, Sequence[float]]

_UNITS: dict[LengthUnit, pipeline_pb2.LengthUnit] = {
    LengthUnit.PIXELS: pipeline_pb2.LENGTH_UNIT_PIXELS,
    LengthUnit.WIDTH: pipeline_pb2.LENGTH_UNIT_WIDTH,
    LengthUnit.HEIGHT: pipeline_pb2.LENGTH_UNIT_HEIGHT,
    LengthUnit.SHORT_SIDE: pipeline_pb2.LENGTH_UNIT_SHORT_SIDE,
}
_VALUE = "a finite number, Length, Point, RGBA, list of numbers, bool or str"
_UNIT_OF = {number: unit for unit, number in _UNITS.items()}


def length_message(field: str, length: LengthLike) -> pipeline_pb2.Length:
    """Returns a length as a message; a number is a length in pixels."""
    if not isinstance(length, Length):
        return pipeline_pb2.Length(value=finite(field, length), unit=_UNITS[LengthUnit.PIXELS])
    if length.unit not in _UNITS:
        raise invalid(f"{field}.unit", length.unit, "a LengthUnit")
    return pipeline_pb2.Length(
        value=finite(f"{field}.value", length.value), unit=_UNITS[length.unit]
    )


def point_message(field: str, point: Point) -> pipeline_pb2.Point:
    """Returns a point as a message."""
    return pipeline_pb2.Point(
        x=length_message(f"{field}.x", point.x), y=length_message(f"{field}.y", point.y)
    )


def region_message(field: str, region: Region) -> pipeline_pb2.Region:
    """Returns a rectangle as a message."""
    return pipeline_pb2.Region(
        origin=point_message(field, Point(region.x, region.y)),
        width=length_message(f"{field}.width", region.width),
        height=length_message(f"{field}.height", region.height),
    )


def value_message(field: str, value: Value) -> pipeline_pb2.ParameterValue:
    """Returns the value of a parameter as a message."""
    message = pipeline_pb2.ParameterValue()
    if isinstance(value, bool):
        message.flag = value
    elif isinstance(value, str):
        message.text = value
    elif isinstance(value, Length):
        message.length.CopyFrom(length_message(field, value))
    elif isinstance(value, Point):
        message.point.CopyFrom(point_message(field, value))
    elif isinstance(value, RGBA):
        message.color.CopyFrom(
            pipeline_pb2.Color(
                red=finite(f"{field}.red", value.red),
                green=finite(f"{field}.green", value.green),
                blue=finite(f"{field}.blue", value.blue),
                alpha=finite(f"{field}.alpha", value.alpha),
            )
        )
    elif isinstance(value, (int, float)) or not hasattr(value, "__iter__"):
        message.number = finite(field, value, requirement=_VALUE)
    else:
        numbers = [finite(f"{field}[{index}]", each) for index, each in enumerate(value)]
        message.vector.values.extend(numbers)
        # An empty vector must be sent as a vector too.
        message.vector.SetInParent()
    return message


def value_of(message: pipeline_pb2.ParameterValue) -> Value:
    """Returns the value of a parameter from its message."""
    kind = message.WhichOneof("kind")
    if kind == "length":
        return _length_of(message.length)
    if kind == "point":
        return _point_of(message.point)
    if kind == "color":
        color = message.color
        alpha = color.alpha if color.HasField("alpha") else 1.0
        return RGBA(color.red, color.green, color.blue, alpha)
    if kind == "vector":
        return list(message.vector.values)
    if kind == "flag":
        return message.flag
    if kind == "text":
        return message.text
    return message.number


def region_of(message: pipeline_pb2.Region) -> Region:
    """Returns a rectangle from its message."""
    origin = _point_of(message.origin)
    return Region(origin.x, origin.y, _length_of(message.width), _length_of(message.height))


def _length_of(message: pipeline_pb2.Length) -> Length:
    return Length(message.value, _UNIT_OF.get(message.unit, LengthUnit.PIXELS))


def _point_of(message: pipeline_pb2.Point) -> Point:
    return Point(_length_of(message.x), _length_of(message.y))
