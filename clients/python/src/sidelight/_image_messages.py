"""Conversion of images between the package's types and the messages of the contract."""

from __future__ import annotations

from typing import Any, Optional

from ._formats import AlphaMode, Color, ColorMatrix, ColorRange, Orientation, PixelFormat
from .errors import InvalidArgument, SidelightError
from .images import EncodedImage, Image
from .v1 import image_pb2

__all__ = [
    "color_message",
    "color_of",
    "description",
    "format_number",
    "format_of",
    "image_of",
    "message_of",
    "orientation_of",
]

_FORMATS: dict[PixelFormat, image_pb2.PixelFormat] = {
    PixelFormat.BGRA: image_pb2.PIXEL_FORMAT_BGRA8,
    PixelFormat.RGBA: image_pb2.PIXEL_FORMAT_RGBA8,
    PixelFormat.RGB: image_pb2.PIXEL_FORMAT_RGB24,
    PixelFormat.GRAY: image_pb2.PIXEL_FORMAT_GRAY8,
    PixelFormat.I420: image_pb2.PIXEL_FORMAT_I420,
    PixelFormat.NV12: image_pb2.PIXEL_FORMAT_NV12,
    PixelFormat.JPEG: image_pb2.PIXEL_FORMAT_JPEG,
    PixelFormat.PNG: image_pb2.PIXEL_FORMAT_PNG,
    PixelFormat.H264: image_pb2.PIXEL_FORMAT_H264,
    PixelFormat.VP8: image_pb2.PIXEL_FORMAT_VP8,
    PixelFormat.VP9: image_pb2.PIXEL_FORMAT_VP9,
    PixelFormat.AV1: image_pb2.PIXEL_FORMAT_AV1,
}
_RANGES: dict[ColorRange, image_pb2.ColorRange] = {
    ColorRange.VIDEO: image_pb2.COLOR_RANGE_VIDEO,
    ColorRange.FULL: image_pb2.COLOR_RANGE_FULL,
}
_MATRICES: dict[ColorMatrix, image_pb2.ColorMatrix] = {
    ColorMatrix.BT601: image_pb2.COLOR_MATRIX_BT601,
    ColorMatrix.BT709: image_pb2.COLOR_MATRIX_BT709,
}
_ALPHA_MODES: dict[AlphaMode, image_pb2.AlphaMode] = {
    AlphaMode.OPAQUE: image_pb2.ALPHA_MODE_OPAQUE,
    AlphaMode.PREMULTIPLIED: image_pb2.ALPHA_MODE_PREMULTIPLIED,
    AlphaMode.STRAIGHT: image_pb2.ALPHA_MODE_STRAIGHT,
}
_ROTATIONS: dict[int, image_pb2.Rotation] = {
    0: image_pb2.ROTATION_UNSPECIFIED,
    90: image_pb2.ROTATION_90,
    180: image_pb2.ROTATION_180,
    270: image_pb2.ROTATION_270,
}
# Numbers that a newer server may add are read as the default.
_FORMAT_OF = {number: format for format, number in _FORMATS.items()}
_RANGE_OF = {number: range for range, number in _RANGES.items()}
_MATRIX_OF = {number: matrix for matrix, number in _MATRICES.items()}
_ALPHA_MODE_OF = {number: mode for mode, number in _ALPHA_MODES.items()}
_ROTATION_OF = {number: degrees for degrees, number in _ROTATIONS.items()}

_DEFAULT_COLOR = Color()
_UPRIGHT = Orientation()


def format_number(format: PixelFormat) -> image_pb2.PixelFormat:
    """Returns the number of a format in messages."""
    return _FORMATS[format]


def format_of(number: int) -> Optional[PixelFormat]:
    """Returns the format of a number in messages; `None` if it is not specified or not known."""
    return _FORMAT_OF.get(number)  # type: ignore[call-overload, no-any-return]


def color_message(color: Color) -> Optional[image_pb2.ColorDescription]:
    """Returns a colour interpretation as a message; `None` if it has only defaults."""
    if color == _DEFAULT_COLOR:
        return None
    return image_pb2.ColorDescription(
        range=_RANGES[color.range] if color.range else None,
        matrix=_MATRICES[color.matrix] if color.matrix else None,
        alpha=_ALPHA_MODES[color.alpha] if color.alpha else None,
    )


def description(image: Image) -> image_pb2.Image:
    """Returns an image as a message without its pixel data and its place in a stream."""
    planes = []
    if image.format.is_raw and not image.layout.is_packed:
        planes = [
            image_pb2.Plane(offset=offset, stride=stride) for offset, stride in image.layout.planes
        ]
    orientation = None
    if image.orientation != _UPRIGHT:
        orientation = image_pb2.Orientation(
            rotation=_ROTATIONS[image.orientation.rotation], mirrored=image.orientation.mirrored
        )
    return image_pb2.Image(
        format=_FORMATS[image.format],
        width=image.width,
        height=image.height,
        planes=planes,
        color=color_message(image.color),
        orientation=orientation,
    )


def message_of(image: Image) -> image_pb2.Image:
    """Returns an image as a message with a copy of its pixel data."""
    message = description(image)
    message.inline = image.data.tobytes()
    return message


def color_of(message: Any) -> Color:
    """Returns the colour interpretation in the field `color` of a message."""
    if not message.HasField("color"):
        return _DEFAULT_COLOR
    return Color(
        _RANGE_OF.get(message.color.range),
        _MATRIX_OF.get(message.color.matrix),
        _ALPHA_MODE_OF.get(message.color.alpha),
    )


def orientation_of(message: Any) -> Orientation:
    """Returns the orientation in the field `orientation` of a message."""
    if not message.HasField("orientation"):
        return _UPRIGHT
    return Orientation(
        _ROTATION_OF.get(message.orientation.rotation, 0), message.orientation.mirrored
    )


def image_of(message: image_pb2.Image, data: Any) -> Image:
    """Returns the image of a message, with pixel data that a buffer holds.

    Raises `SidelightError` for an image that the server should not have sent."""
    color, orientation = color_of(message), orientation_of(message)
    planes = [(plane.offset, plane.stride) for plane in message.planes] or None
    format = _FORMAT_OF.get(message.format)
    if format is None:
        raise SidelightError(
            f"the server sent an image of the format {message.format}, which this version of the "
            "package does not know; update the package, or request another output format",
            code="INTERNAL",
        )
    try:
        if format.is_encoded:
            result = EncodedImage(
                format,
                data,
                is_key_frame=message.encoded.key_frame,
                width=message.width,
                height=message.height,
                color=color,
                orientation=orientation,
            )
            result.temporal_layer = message.encoded.temporal_layer
            return result
        return Image(
            format,
            message.width,
            message.height,
            data,
            planes=planes,
            color=color,
            orientation=orientation,
        )
    except InvalidArgument as error:
        raise SidelightError(
            f"the server sent an invalid image: {error.message}", code="INTERNAL"
        ) from None
