"""The positions of planes in pixel data."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import NamedTuple, Optional

from ._formats import FormatLike, PixelFormat
from ._validation import integer, invalid

__all__ = ["MAX_DIMENSION", "Layout", "Plane"]

#: The largest width and height of an image, in pixels.
MAX_DIMENSION = 16384
_MAX_OFFSET = 2**32 - 1


class Plane(NamedTuple):
    """The position of a plane in the pixel data."""

    #: The offset of the first sample from the start of the pixel data, in bytes.
    offset: int
    #: The distance between the starts of two rows, in bytes; at least the length of a row.
    stride: int


class Layout:
    """The positions of the planes of a raw image.

    Every layout is valid: rows fit their stride, and planes do not overlap.
    """

    __slots__ = ("format", "height", "is_packed", "planes", "size", "width")

    #: The format; not a file format.
    format: PixelFormat
    #: The width in pixels.
    width: int
    #: The height in pixels.
    height: int
    #: The planes, in the format's order.
    planes: tuple[Plane, ...]
    #: The least length of the pixel data, in bytes: the end of the plane that ends last.
    size: int
    #: Whether planes are contiguous and rows have no padding.
    is_packed: bool

    def __init__(
        self,
        format: FormatLike,
        width: int,
        height: int,
        planes: Optional[Iterable[tuple[int, int]]] = None,
    ) -> None:
        """Creates a layout.

        - format: A raw format.
        - width: 1 to 16384.
        - height: 1 to 16384.
        - planes: Offset and stride of every plane, in bytes. `None`: without padding.
        """
        self.format = PixelFormat.of(format)
        if not self.format.is_raw:
            raise invalid("format", self.format.value, "a raw format")
        self.width = integer("width", width, 1, MAX_DIMENSION)
        self.height = integer("height", height, 1, MAX_DIMENSION)
        packed, size = self._packed(1)
        if planes is None:
            self.planes, self.size, self.is_packed = packed, size, True
            return
        self.planes = tuple(Plane(*plane) for plane in planes)
        self.size = self._checked_size()
        self.is_packed = self.planes == packed

    @classmethod
    def packed(cls, format: FormatLike, width: int, height: int) -> Layout:
        """Returns the layout without padding, the form in which frames travel by default."""
        return _packed_layout(PixelFormat.of(format), width, height)

    @classmethod
    def aligned(cls, format: FormatLike, width: int, height: int, alignment: int = 64) -> Layout:
        """Returns a layout with strides that are multiples of `alignment` bytes."""
        layout = cls(format, width, height)
        planes, _ = layout._packed(integer("alignment", alignment, 1, 4096))
        return cls(format, width, height, planes)

    def row_bytes(self, plane: int) -> int:
        """Returns the length of a row of a plane, in bytes, without padding."""
        shape = self.format.planes[plane]
        return -(-self.width // shape.subsampling) * shape.channels

    def rows(self, plane: int) -> int:
        """Returns the number of rows of a plane."""
        return -(-self.height // self.format.planes[plane].subsampling)

    def span(self, plane: int) -> slice:
        """Returns the bytes of a plane, from the start of its first to the end of its last row."""
        offset, stride = self.planes[plane]
        return slice(offset, offset + stride * (self.rows(plane) - 1) + self.row_bytes(plane))

    def _packed(self, alignment: int) -> tuple[tuple[Plane, ...], int]:
        planes, offset = [], 0
        for index in range(len(self.format.planes)):
            stride = -(-self.row_bytes(index) // alignment) * alignment
            planes.append(Plane(offset, stride))
            offset += stride * self.rows(index)
        return tuple(planes), offset

    def _checked_size(self) -> int:
        expected = len(self.format.planes)
        if len(self.planes) != expected:
            raise invalid("planes", list(self.planes), f"{expected} for {self.format.value}")
        spans = []
        for index, plane in enumerate(self.planes):
            integer(f"planes[{index}].offset", plane.offset, 0, _MAX_OFFSET)
            integer(f"planes[{index}].stride", plane.stride, self.row_bytes(index), _MAX_OFFSET)
            spans.append(self.span(index))
        order = sorted(range(expected), key=lambda index: spans[index].start)
        for first, second in zip(order, order[1:]):
            if spans[second].start < spans[first].stop:
                raise invalid(
                    f"planes[{second}].offset",
                    spans[second].start,
                    f"at least {spans[first].stop}, where plane {first} ends",
                )
        end: int = max(span.stop for span in spans)
        return end

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return (self.format, self.width, self.height, self.planes)

    def __repr__(self) -> str:
        planes = "" if self.is_packed else f", planes={list(map(tuple, self.planes))}"
        return f"Layout({self.format.value!r}, {self.width}, {self.height}{planes})"


@functools.lru_cache(maxsize=64)
def _packed_layout(format: PixelFormat, width: int, height: int) -> Layout:
    return Layout(format, width, height)
