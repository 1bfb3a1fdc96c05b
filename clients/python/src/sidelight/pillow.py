"""Conversions between images and pictures of Pillow.

Pillow keeps no strides and copies pixels in both directions. Its `YCbCr` mode and its JPEG reader
use full range and BT.601; this module does not convert between RGB and YUV, so YUV images are
refused: ask the server for RGB (`output="rgb"`), which knows range and matrix.
"""

from __future__ import annotations

from typing import Optional

from PIL import Image as pillow

from ._formats import AlphaMode, Color, Orientation, PixelFormat
from ._validation import invalid
from .images import Image

__all__ = ["image", "picture"]

_FORMATS = {
    "RGB": PixelFormat.RGB,
    "RGBA": PixelFormat.RGBA,
    "RGBX": PixelFormat.RGBA,
    "L": PixelFormat.GRAY,
}
_EXACT = "RGB, RGBA, RGBX or L; convert it with picture.convert first"
# The EXIF orientation by rotation and mirroring.
_ORIENTATIONS = {
    1: Orientation(),
    2: Orientation(0, True),
    3: Orientation(180),
    4: Orientation(180, True),
    5: Orientation(270, True),
    6: Orientation(90),
    7: Orientation(90, True),
    8: Orientation(270),
}
_EXIF_ORIENTATION = 0x0112


def image(picture: pillow.Image, *, color: Optional[Color] = None) -> Image:
    """Returns an image with a copy of a picture's samples.

    The modes RGB, RGBA, RGBX and L are exact. Others (palettes, CMYK, 16 bits) are refused, so
    the conversion is yours. The EXIF orientation becomes the image's orientation; its pixels are
    not rotated.

    - picture: The picture.
    - color: The colour interpretation. `None`: alpha is straight, or opaque for RGBX.
    """
    format = _FORMATS.get(picture.mode)
    if format is None:
        raise invalid("picture.mode", picture.mode, _EXACT)
    if color is None and picture.mode == "RGBX":
        color = Color(alpha=AlphaMode.OPAQUE)
    width, height = picture.size
    orientation = _ORIENTATIONS.get(picture.getexif().get(_EXIF_ORIENTATION, 1))
    return Image(format, width, height, picture.tobytes(), color=color, orientation=orientation)


def picture(image: Image) -> pillow.Image:
    """Returns a picture with a copy of an image's samples, in the mode RGB, RGBA, RGBX or L.

    BGRA becomes RGBA, without loss; opaque alpha becomes the mode RGBX. Premultiplied alpha has the
    mode RGBa. The orientation is not applied: `picture.transpose` can, or the server
    (`upright=True` in the output). Range and matrix do not apply to these formats.
    """
    size = (image.width, image.height)
    if image.format is PixelFormat.GRAY:
        return pillow.frombytes("L", size, image.bytes())
    if image.format is PixelFormat.RGB:
        return pillow.frombytes("RGB", size, image.bytes())
    if not image.format.has_alpha:
        requirement = 'bgra, rgba, rgb or gray; ask the server for it with output="rgb"'
        raise invalid("image.format", image.format.value, requirement)
    mode = "RGBA"
    if image.color.alpha is AlphaMode.OPAQUE:
        mode = "RGBX"
    elif image.color.alpha is AlphaMode.PREMULTIPLIED:
        mode = "RGBa"
    order = "BGRA" if image.format is PixelFormat.BGRA else "RGBA"
    if mode != "RGBA":
        order = order.replace("A", mode[3])
    if order == "BGRX":
        # Pillow would set the fourth byte to 255.
        image_bytes = pillow.frombytes("RGBA", size, image.bytes(), "raw", "BGRA").tobytes()
        return pillow.frombytes(mode, size, image_bytes)
    return pillow.frombytes(mode, size, image.bytes(), "raw", order)
