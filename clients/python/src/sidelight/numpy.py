"""Conversions between images and numpy arrays of bytes.

No conversion changes samples, range or matrix. `planes` and `array` never copy; `image` copies only
arrays whose rows are not contiguous pixels, such as a mirrored view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from ._formats import Color, FormatLike, Orientation, PixelFormat
from ._validation import invalid
from .images import Image

__all__ = ["array", "image", "image_of_planes", "planes"]


def planes(image: Image) -> tuple[npt.NDArray[np.uint8], ...]:
    """Returns views of the planes of a raw image.

    The shape of a plane is (rows, columns), and (rows, columns, channels) for formats with several
    channels per plane: (height, width, 4) for BGRA and RGBA, 3 for RGB, 2 for the chroma of NV12.
    Padding is not part of the views. They can be written if the image's data can.
    """
    layout, views = image.layout, []
    for index, plane in enumerate(layout.planes):
        channels = image.format.planes[index].channels
        columns = layout.row_bytes(index) // channels
        shape: tuple[int, ...] = (layout.rows(index), columns, channels)
        strides: tuple[int, ...] = (plane.stride, channels, 1)
        if channels == 1:
            shape, strides = shape[:2], strides[:2]
        views.append(np.ndarray(shape, np.uint8, image.data, plane.offset, strides))
    return tuple(views)


def array(image: Image) -> npt.NDArray[np.uint8]:
    """Returns a view of an image with one plane: (height, width) for grey, else with channels.

    The channels have the order of the format. Images with several planes are refused; see
    `planes`.
    """
    if len(image.format.planes) != 1:
        raise invalid("image.format", image.format.value, "bgra, rgba, rgb or gray")
    return planes(image)[0]


def image(
    array: npt.NDArray[np.uint8],
    format: FormatLike,
    *,
    color: Optional[Color] = None,
    orientation: Optional[Orientation] = None,
) -> Image:
    """Returns an image over the memory of an array.

    - array: Bytes of the shape (height, width, 4) for BGRA and RGBA, (height, width, 3) for RGB,
      (height, width) or (height, width, 1) for grey. Rows may be padded. Other arrays whose pixels
      are not contiguous in a row are copied.
    - format: The order of the channels. It is required, because an array does not tell: arrays of
      OpenCV are BGR, which `sidelight.opencv` converts.
    - color: The colour interpretation.
    - orientation: The orientation for display.
    """
    format = PixelFormat.of(format)
    if len(format.planes) != 1:
        raise invalid("format", format.value, "bgra, rgba, rgb or gray; see image_of_planes")
    channels = format.planes[0].channels
    pixels = _bytes("array", array)
    if channels == 1 and pixels.ndim == 2:
        pixels = pixels[:, :, np.newaxis]
    if pixels.ndim != 3 or pixels.shape[2] != channels or 0 in pixels.shape:
        shape = f"(height, width, {channels})" if channels > 1 else "(height, width)"
        raise invalid("array.shape", array.shape, f"{shape} for {format.value}")
    height, width, _ = pixels.shape
    data, stride = _rows(pixels)
    return Image(
        format, width, height, data, planes=[(0, stride)], color=color, orientation=orientation
    )


def image_of_planes(
    planes: Sequence[npt.NDArray[np.uint8]],
    format: FormatLike,
    *,
    color: Optional[Color] = None,
    orientation: Optional[Orientation] = None,
) -> Image:
    """Returns an image with a copy of planes that are separate arrays, without padding.

    - planes: The planes in the format's order, with the shapes that `planes` returns. The first one
      has the size of the image.
    - format: The format.
    - color: The colour interpretation.
    - orientation: The orientation for display.
    """
    format = PixelFormat.of(format)
    if len(planes) != len(format.planes) or not planes or np.ndim(planes[0]) < 2:
        raise invalid("planes", f"{len(planes)} arrays", f"{len(format.planes)} arrays")
    height, width = np.shape(planes[0])[:2]
    result = Image.allocate(format, width, height, color=color, orientation=orientation)
    for index, target in enumerate(_targets(result)):
        source = _bytes(f"planes[{index}]", planes[index])
        if source.shape != target.shape:
            raise invalid(f"planes[{index}].shape", source.shape, f"{target.shape}")
        target[...] = source
    return result


_targets = planes


def _bytes(field: str, array: Any) -> npt.NDArray[np.uint8]:
    if not isinstance(array, np.ndarray) or array.dtype != np.uint8:
        kind = getattr(array, "dtype", type(array).__name__)
        raise invalid(field, str(kind), "an array of uint8; scale and round other types yourself")
    return array


def _rows(pixels: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], int]:
    """Returns the bytes of (height, width, channels) from the first to the last sample, and the
    distance of rows; a copy if the pixels of a row are not contiguous."""
    height, width, channels = pixels.shape
    row = width * channels
    # numpy leaves the strides of axes with one element undefined.
    is_row_contiguous = (channels == 1 or pixels.strides[2] == 1) and (
        width == 1 or pixels.strides[1] == channels
    )
    stride = row if height == 1 else pixels.strides[0]
    if not is_row_contiguous or stride < row:
        pixels, stride = np.ascontiguousarray(pixels), row
    span = stride * (height - 1) + row
    return np.lib.stride_tricks.as_strided(pixels, (span,), (1,)), stride
