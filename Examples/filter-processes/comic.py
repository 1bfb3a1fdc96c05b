"""A comic with OpenCV: flat colours, ink lines, and dots in the shadows.

pip install opencv-python-headless
sidelight apply in.png out.png --filter-process 'python3 comic.py' --pipeline 'inkComic'
"""

import functools
from typing import Annotated

import cv2
import numpy as np
import numpy.typing as npt

from sidelight.filters_server import Range, filter, serve

Pixels = npt.NDArray[np.uint8]


@filter("inkComic", summary="Draws a comic: flat colours, ink and dots.", format="rgb")
def ink_comic(
    picture: Pixels,
    levels: Annotated[int, Range(2, 16), "The number of tones."] = 6,
    ink: Annotated[float, Range(0, 1), "The amount of lines."] = 0.5,
    dots: Annotated[int, Range(0, 32, slider=(0, 16)), "The distance of dots, in pixels."] = 6,
) -> None:
    height, width = picture.shape[:2]
    # Flat areas at half the size, where smoothing takes a quarter of the time.
    small = cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    small = cv2.medianBlur(cv2.bilateralFilter(small, 7, 40, 7), 5)
    # Tones of luma and stronger colours: tones of red, green and blue would change hues.
    flat = cv2.LUT(cv2.cvtColor(small, cv2.COLOR_RGB2YCrCb), tones(levels))
    flat = cv2.resize(cv2.cvtColor(flat, cv2.COLOR_YCrCb2RGB), (width, height))

    luma = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    smooth = cv2.GaussianBlur(luma, (0, 0), 1.2)
    # Ink lies where a pixel is darker than its surroundings.
    lines = cv2.subtract(cv2.GaussianBlur(smooth, (0, 0), 3.5), smooth)
    light = 255 - cv2.min(cv2.multiply(cv2.subtract(lines, 2), 24.0 * ink), 255)
    if dots > 1:
        screen = dot_screen(height, width, dots)
        light[(smooth < 90) & (screen > smooth)] = 60
    cv2.multiply(flat, cv2.merge([light] * 3), dst=picture, scale=1 / 255)


@functools.lru_cache(maxsize=16)
def tones(levels: int) -> Pixels:
    """Returns the table of luma, rounded to a few levels, and of Cr and Cb, stretched."""
    values = np.arange(256.0)
    luma = np.round(values / 255 * (levels - 1)) * 255 / (levels - 1)
    chroma = 128 + 1.4 * (values - 128)
    table = np.stack([luma, chroma, chroma], axis=-1).round().clip(0, 255)
    return table.astype(np.uint8)[np.newaxis]


@functools.lru_cache(maxsize=16)
def dot_screen(height: int, width: int, distance: int) -> Pixels:
    """Returns the threshold of a screen of round dots at 45 degrees, 0 to 90."""
    y, x = np.mgrid[:height, :width] * (np.pi / distance)
    return np.asarray(45 + 45 * np.cos(x + y) * np.cos(x - y), np.uint8)


serve()
