"""The filters' formulas, in NumPy and floating point: colours 0-255, rounded once at the end.

Written from the filters' published formulas, not from the server's code.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

REC_709 = np.array([0.2126, 0.7152, 0.0722])
SEPIA = np.array([[0.3588, 0.7044, 0.1368], [0.2990, 0.5870, 0.1140], [0.2392, 0.4696, 0.0912]])


@dataclass(frozen=True)
class Formula:
    """The computation of a filter: a function of its parameters, which returns one of a picture.

    That is one of a whole RGB picture, or of each plane of samples by itself (`is_plane`), given how
    many of the plane's pixels one pixel of the frame is. `fixed` are parameters that the formula
    leaves out and that have other values than their defaults. The results are equal within
    `tolerance` levels; with parameters at their limits, which may magnify the rounding of samples,
    within `tolerance_at_limits`. A share of `jumps` of the samples may be on the other side of a jump.
    """

    make: Callable
    is_plane: bool = False
    tolerance: int = 1
    tolerance_at_limits: int = 1
    jumps: float = 0
    fixed: dict[str, object] = field(default_factory=dict)


#: The formulas by filter.
FORMULAS: dict[str, Formula] = {}


def formula_of(name: str, **options):
    """Marks the formula of a filter. Its arguments have the names of the filter's parameters, with
    underscores."""

    def mark(make):
        FORMULAS[name] = Formula(make, **options)
        return make

    return mark


def levels(colors: np.ndarray) -> np.ndarray:
    """Rounds to whole levels of 0-255."""
    return np.clip(np.rint(colors), 0, 255).astype(np.uint8)


def color_invert(colors: np.ndarray) -> np.ndarray:
    """1 - rgb."""
    return 255.0 - colors


def grayscale(colors: np.ndarray) -> np.ndarray:
    """Rec. 709 luma in every channel."""
    return np.repeat((colors @ REC_709)[..., None], 3, axis=-1)


def sepia_tone(colors: np.ndarray, intensity: float = 1.0) -> np.ndarray:
    """The picture mixed with a brown monochrome of itself."""
    return colors + intensity * (colors @ SEPIA.T - colors)


def difference(actual: np.ndarray, expected: np.ndarray, jumps: float = 0) -> int:
    """The greatest distance between two pictures, in levels, without a share of the samples."""
    distances = np.abs(actual.astype(np.int16) - levels(expected).astype(np.int16))
    return int(np.quantile(distances, 1 - jumps, method="lower"))


# Luma's share of red and of blue in the two matrices (ITU-R BT.601, BT.709).
LUMA_SHARES = {"BT601": (0.299, 0.114), "BT709": (0.2126, 0.0722)}


def repeated(plane, shape):
    """A plane of chroma, every sample repeated over the pixels that share it."""
    height, width = shape
    return plane.repeat(2, axis=0).repeat(2, axis=1)[:height, :width]


def averaged(plane):
    """The mean of every 2x2 block; the last of an odd side has one row or column."""
    height, width = plane.shape
    rows, columns = np.arange(0, height, 2), np.arange(0, width, 2)
    sums = np.add.reduceat(np.add.reduceat(plane, rows, axis=0), columns, axis=1)
    counts = np.add.reduceat(np.add.reduceat(np.ones_like(plane), rows, 0), columns, 1)
    return sums / counts


def over_shared_chroma(luma, blue_chroma, red_chroma, formula):
    """Applies a weighted sum over pixels to a 4:2:0 picture: chroma comes from the pixels that
    share the sample.
    """

    def apply(plane):
        return formula(plane.astype(np.float64)[..., None])[..., 0]

    return [
        apply(luma),
        *(averaged(apply(repeated(each, luma.shape))) for each in (blue_chroma, red_chroma)),
    ]


def through_rgb(luma, blue_chroma, red_chroma, formula, matrix: str, full_range: bool):
    """Applies a formula in RGB to a 4:2:0 picture, every pixel computed separately.

    Chroma is repeated over the pixels that share it, and averaged over them again. Values are
    clamped and rounded only at the end.
    """
    red_share, blue_share = LUMA_SHARES[matrix]
    green_share = 1 - red_share - blue_share
    offset, luma_scale, chroma_scale = (0, 1, 1) if full_range else (16, 219 / 255, 224 / 255)

    y = (luma.astype(np.float64) - offset) / luma_scale
    cb = (repeated(blue_chroma.astype(np.float64), luma.shape) - 128) / chroma_scale
    cr = (repeated(red_chroma.astype(np.float64), luma.shape) - 128) / chroma_scale
    red = y + 2 * (1 - red_share) * cr
    blue = y + 2 * (1 - blue_share) * cb
    green = (y - red_share * red - blue_share * blue) / green_share

    red, green, blue = np.moveaxis(formula(np.stack([red, green, blue], axis=-1)), -1, 0)

    y = red_share * red + green_share * green + blue_share * blue
    cb = averaged((blue - y) / (2 * (1 - blue_share)))
    cr = averaged((red - y) / (2 * (1 - red_share)))
    return y * luma_scale + offset, cb * chroma_scale + 128, cr * chroma_scale + 128
