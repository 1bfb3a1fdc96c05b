"""A frame number, drawn as a bar code into the top strip of a picture.

The number's bits are the cells of a row, the most significant one first, and those of a second row
with the opposite brightness. A bit is the sign of the difference of its two cells, so that a reader
needs no threshold, and neither the codec's noise nor a change of the brightness range matters. A
bit whose cells differ by less than ``LEAST_CONTRAST`` is unreadable: no frame is misread for
another one.
"""

from typing import TypedDict

import numpy as np

BITS = 20
# The part of the picture's height that the bar code takes. Filters are kept off it by
# `@region(0, 0.15h, 1w, 0.85h)`.
STRIP = 0.15
OUTSIDE_STRIP = f" @region(0, {STRIP}h, 1w, {1 - STRIP}h)"
# The two rows, as fractions of the strip's height. The gaps absorb the codec's block edges.
ROWS = ((0.12, 0.45), (0.52, 0.85))
# The part of a cell, around its centre, that a reader averages.
CENTRE = 0.5
LEAST_CONTRAST = 48
BLACK, WHITE = 16, 235


class Layout(TypedDict):
    """The layout for a reader in the page."""

    bits: int
    strip: float
    rows: tuple[tuple[float, float], ...]
    centre: float
    minContrast: int


def layout() -> Layout:
    """Returns the layout for a reader in the page."""
    return Layout(
        bits=BITS, strip=STRIP, rows=ROWS, centre=CENTRE, minContrast=LEAST_CONTRAST
    )


def draw(luma: np.ndarray, number: int) -> None:
    """Draws a number into the top strip of a luma plane of 8-bit values."""
    if not 0 <= number < 1 << BITS:
        raise ValueError(f"the frame number is {number}; it must be from 0 to {(1 << BITS) - 1}")
    height, width = luma.shape
    luma[: round(height * STRIP)] = (BLACK + WHITE) // 2
    for bit in range(BITS):
        is_set = number >> (BITS - 1 - bit) & 1
        columns = slice(bit * width // BITS, (bit + 1) * width // BITS)
        for row, (top, bottom) in enumerate(ROWS):
            rows = slice(round(top * STRIP * height), round(bottom * STRIP * height))
            luma[rows, columns] = WHITE if is_set ^ row else BLACK


def read(luma: np.ndarray) -> int | None:
    """Reads the number of a luma plane; `None` if a bit is unreadable."""
    height, width = luma.shape
    number = 0
    for bit in range(BITS):
        data, opposite = (
            float(luma[_centre_rows(row, height), _centre_columns(bit, width)].mean())
            for row in ROWS
        )
        if abs(data - opposite) < LEAST_CONTRAST:
            return None
        number = number << 1 | (data > opposite)
    return number


def _centre_columns(bit: int, width: int) -> slice:
    return _middle(bit * width / BITS, (bit + 1) * width / BITS)


def _centre_rows(row: tuple[float, float], height: int) -> slice:
    return _middle(row[0] * STRIP * height, row[1] * STRIP * height)


def _middle(begin: float, end: float) -> slice:
    margin = (end - begin) * (1 - CENTRE) / 2
    first = int(begin + margin)
    return slice(first, max(first + 1, int(end - margin)))
