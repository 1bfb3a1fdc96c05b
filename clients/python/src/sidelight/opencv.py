"""Conversions between images and the arrays of OpenCV, whose channels are blue, green, red.

OpenCV's arrays carry no range and no matrix, and its conversions between BGR and YUV use BT.601 in
video range for I420 and NV12. This module never converts between RGB and YUV: it only reorders
bytes, without loss. Convert with the server instead (`output="bgra"` of a session), which knows
range and matrix.

Only numpy is required, so any build of OpenCV can be used.
"""

from __future__ import annotations

from typing import Literal, Optional, Union

import numpy as np
import numpy.typing as npt

from . import numpy as arrays
from ._formats import Color, FormatLike, Orientation, PixelFormat
from ._layouts import Layout
from ._validation import invalid
from .images import Image

__all__ = ["array", "image"]


def image(
    array: npt.NDArray[np.uint8],
    format: Union[FormatLike, Literal["bgr"]] = "bgr",
    *,
    color: Optional[Color] = None,
    orientation: Optional[Orientation] = None,
) -> Image:
    """Returns the image of an array of OpenCV.

    - array: Bytes, of the shape that `format` tells.
    - format: `"bgr"`: (height, width, 3), copied to RGB with the channels reordered. `"bgra"`:
      (height, width, 4), not copied. `"gray"`: (height, width), not copied. `"i420"` and `"nv12"`:
      (height * 3 / 2, width) as `cv2.cvtColor` returns them; not copied if the array is contiguous.
    - color: The colour interpretation.
    - orientation: The orientation for display.
    """
    if format == "bgr":
        if array.ndim != 3 or array.shape[2] != 3:
            raise invalid("array.shape", array.shape, "(height, width, 3) for bgr")
        return arrays.image(array[:, :, ::-1], "rgb", color=color, orientation=orientation)
    format = PixelFormat.of(format)
    if not format.is_yuv:
        return arrays.image(array, format, color=color, orientation=orientation)
    if array.dtype != np.uint8 or array.ndim != 2 or array.shape[0] % 3 or array.shape[1] % 2:
        requirement = f"bytes of the shape (height * 3 / 2, even width) for {format.value}"
        raise invalid("array", f"{array.dtype} {array.shape}", requirement)
    height, width = array.shape[0] // 3 * 2, array.shape[1]
    data = np.ascontiguousarray(array)
    return Image(format, width, height, data, color=color, orientation=orientation)


def array(image: Image) -> npt.NDArray[np.uint8]:
    """Returns the array of OpenCV for an image.

    BGRA and grey: a view. RGB: a copy with the channels in the order blue, green, red; RGBA: a copy
    as BGRA. I420 and NV12 of an even size: (height * 3 / 2, width), a view if the image has no
    padding. Odd sizes have no such form in OpenCV and are refused.
    """
    if image.format in (PixelFormat.BGRA, PixelFormat.GRAY):
        return arrays.array(image)
    if image.format is PixelFormat.RGB:
        return np.ascontiguousarray(arrays.array(image)[:, :, ::-1])
    if image.format is PixelFormat.RGBA:
        return arrays.array(image)[:, :, [2, 1, 0, 3]]
    if not image.format.is_raw:
        raise invalid("image.format", image.format.value, "a raw format; see cv2.imdecode")
    if image.width % 2 or image.height % 2:
        size = f"{image.width}x{image.height}"
        raise invalid("image", size, f"of an even size for {image.format.value} in OpenCV")
    shape = (image.height * 3 // 2, image.width)
    data = image.data if image.layout.is_packed else image.bytes()
    length = Layout.packed(image.format, image.width, image.height).size
    return np.frombuffer(data, np.uint8, length).reshape(shape)
