"""Two looks with NumPy: `sunset` warms the lower half, `splitTone` tints shadows and highlights.

sidelight apply in.png out.png --filter-process 'python3 sunset.py' --pipeline 'splitTone'
"""

import functools
from typing import Annotated

import numpy as np
import numpy.typing as npt

from sidelight import RGBA
from sidelight.filters_server import Range, filter, serve

Pixels = npt.NDArray[np.uint8]


@filter("sunset", summary="Warms the lower half.", format="rgb")
def sunset(picture: Pixels, strength: Annotated[float, Range(0, 1)] = 0.5) -> None:
    lower = picture[picture.shape[0] // 2 :]
    np.multiply(lower[..., 2], 1 - 0.5 * strength, out=lower[..., 2], casting="unsafe")


@filter("splitTone", summary="Tints shadows and highlights.", format="rgb")
def split_tone(
    picture: Pixels,
    shadows: Annotated[RGBA, "The tint of dark parts."] = RGBA(0.1, 0.35, 0.45),
    highlights: Annotated[RGBA, "The tint of light parts."] = RGBA(1.0, 0.7, 0.4),
    strength: Annotated[float, Range(0, 1), "0 changes nothing."] = 0.6,
) -> None:
    luma = (picture @ np.array([54, 183, 19], np.uint16)) >> 8
    offsets = tints(shadows, highlights, strength)[luma]
    np.clip(offsets + picture, 0, 255, out=picture, casting="unsafe")


@functools.lru_cache(maxsize=16)
def tints(shadows: RGBA, highlights: RGBA, strength: float) -> npt.NDArray[np.int16]:
    """Returns the offset of red, green and blue for every luma."""
    light = np.linspace(0, 1, 256)[:, np.newaxis]
    # Tints without brightness, strongest at a quarter and at three quarters of the range.
    dark, bright = (np.array(tint[:3]) - np.mean(tint[:3]) for tint in (shadows, highlights))
    dark_weight = np.sin(np.pi * np.clip(1.5 * light, 0, 1)) ** 2
    bright_weight = np.sin(np.pi * np.clip(1.5 * (1 - light), 0, 1)) ** 2
    return np.asarray(
        (255 * strength * 0.5 * (dark_weight * dark + bright_weight * bright)).round(), np.int16
    )


serve()
