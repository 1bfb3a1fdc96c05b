"""The formats of pixels, and the meaning of their samples."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Literal, NamedTuple, Optional, Union

from ._validation import one_of

__all__ = [
    "AlphaMode",
    "Color",
    "ColorMatrix",
    "ColorRange",
    "FormatLike",
    "FormatName",
    "Orientation",
    "PixelFormat",
    "PlaneShape",
]


class PlaneShape(NamedTuple):
    """The size of a plane relative to the image."""

    #: The number of image columns per sample, and of image rows per row.
    subsampling: int
    #: The number of interleaved channels, one byte each.
    channels: int


class PixelFormat(enum.Enum):
    """The memory layout of an image. Samples have 8 bits.

    A chroma sample is centred on its 2x2 luma samples, as in JPEG. Wherever a format is expected,
    its value (`"i420"`) is accepted too.
    """

    #: One plane: blue, green, red, alpha.
    BGRA = "bgra"
    #: One plane: red, green, blue, alpha.
    RGBA = "rgba"
    #: One plane: red, green, blue.
    RGB = "rgb"
    #: One plane: gamma-encoded grey.
    GRAY = "gray"
    #: Three planes: luma, Cb, Cr. Chroma has half the width and height, both rounded up.
    I420 = "i420"
    #: Two planes: luma, interleaved Cb and Cr. Chroma has half the width and height, rounded up.
    NV12 = "nv12"
    #: A JPEG file.
    JPEG = "jpeg"
    #: A PNG file. For still images and assets, not for sessions.
    PNG = "png"
    #: An access unit of H.264 as in Annex B, with parameter sets in front of key frames. Encoded
    #: video is for sessions; see `EncodedImage`.
    H264 = "h264"
    #: A frame of VP8.
    VP8 = "vp8"
    #: A frame or superframe of VP9, profile 0.
    VP9 = "vp9"
    #: A temporal unit of AV1. For frames to send, not for results.
    AV1 = "av1"

    @classmethod
    def of(cls, format: FormatLike, field: str = "format") -> PixelFormat:
        """Returns the format of a name; a format is returned as it is."""
        if isinstance(format, cls):
            return format
        if isinstance(format, str):
            found = _BY_NAME.get(format.lower())
            if found is not None:
                return found
        raise one_of(field, format, (each.value for each in cls))

    @property
    def planes(self) -> tuple[PlaneShape, ...]:
        """The shapes of the planes; empty for a file and for encoded video."""
        return _PLANES.get(self, ())

    @property
    def is_raw(self) -> bool:
        """Whether the pixel data consists of samples."""
        return self in _PLANES

    @property
    def is_file(self) -> bool:
        """Whether the pixel data is a JPEG or PNG file."""
        return self in (PixelFormat.JPEG, PixelFormat.PNG)

    @property
    def is_encoded(self) -> bool:
        """Whether the pixel data is a frame of a stream of encoded video."""
        return not (self.is_raw or self.is_file)

    @property
    def is_yuv(self) -> bool:
        """Whether the samples are luma and chroma, so range and matrix apply."""
        return self in (PixelFormat.I420, PixelFormat.NV12)

    @property
    def has_alpha(self) -> bool:
        """Whether a raw format has an alpha channel."""
        return self in (PixelFormat.BGRA, PixelFormat.RGBA)


#: The name of a pixel format.
FormatName = Literal[
    "bgra", "rgba", "rgb", "gray", "i420", "nv12", "jpeg", "png", "h264", "vp8", "vp9", "av1"
]
#: A pixel format, or its name.
FormatLike = Union[PixelFormat, FormatName]

_FULL = PlaneShape(1, 1)
_PLANES: dict[PixelFormat, tuple[PlaneShape, ...]] = {
    PixelFormat.BGRA: (PlaneShape(1, 4),),
    PixelFormat.RGBA: (PlaneShape(1, 4),),
    PixelFormat.RGB: (PlaneShape(1, 3),),
    PixelFormat.GRAY: (_FULL,),
    PixelFormat.I420: (_FULL, PlaneShape(2, 1), PlaneShape(2, 1)),
    PixelFormat.NV12: (_FULL, PlaneShape(2, 2)),
}
_BY_NAME = {format.value: format for format in PixelFormat}
# The names of the contract.
_BY_NAME.update(
    bgra8=PixelFormat.BGRA, rgba8=PixelFormat.RGBA, rgb24=PixelFormat.RGB, gray8=PixelFormat.GRAY
)


class ColorRange(enum.Enum):
    """The range of luma and chroma values."""

    #: Luma 16-235, chroma 16-240.
    VIDEO = "video"
    #: Luma and chroma 0-255.
    FULL = "full"


class ColorMatrix(enum.Enum):
    """The coefficients of the conversion between RGB and luma and chroma."""

    #: ITU-R BT.601.
    BT601 = "bt601"
    #: ITU-R BT.709.
    BT709 = "bt709"


class AlphaMode(enum.Enum):
    """The relation between colour and alpha, in formats with alpha."""

    #: Alpha has no meaning; it is copied unchanged.
    OPAQUE = "opaque"
    #: Colour is multiplied by alpha.
    PREMULTIPLIED = "premultiplied"
    #: Colour is not multiplied by alpha.
    STRAIGHT = "straight"


@dataclass(frozen=True)
class Color:
    """The colour interpretation of samples. `None` selects the server's defaults."""

    #: The range of luma and chroma. `None`: video range for I420 and NV12. RGB, grey and JPEG
    #: always have full range.
    range: Optional[ColorRange] = None
    #: The matrix of luma and chroma. `None`: BT.601, at every size.
    matrix: Optional[ColorMatrix] = None
    #: The relation between colour and alpha. `None`: straight.
    alpha: Optional[AlphaMode] = None

    def __post_init__(self) -> None:
        for name, kind in (("range", ColorRange), ("matrix", ColorMatrix), ("alpha", AlphaMode)):
            value = getattr(self, name)
            if isinstance(value, str):
                try:
                    object.__setattr__(self, name, kind(value.lower()))
                    continue
                except ValueError:
                    pass
            elif value is None or isinstance(value, kind):
                continue
            raise one_of(f"color.{name}", value, (each.value for each in kind))


@dataclass(frozen=True)
class Orientation:
    """The orientation for display: mirror first, then rotate."""

    #: The clockwise rotation in degrees: 0, 90, 180 or 270.
    rotation: int = 0
    #: Whether left and right are swapped before the rotation.
    mirrored: bool = False

    def __post_init__(self) -> None:
        if self.rotation not in (0, 90, 180, 270):
            raise one_of("orientation.rotation", self.rotation, ("0", "90", "180", "270"))
