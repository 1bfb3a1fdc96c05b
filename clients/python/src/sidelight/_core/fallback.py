"""The outcome of frames while there is no connection. Pure.

While an operator's override is in force, or the pipeline hides a part of frames, no original is
shown, whatever was requested: a lost connection bypasses neither.
"""

from __future__ import annotations

from typing import Literal

from ..images import Image

#: The least side of a block of the protecting picture, in pixels.
MIN_BLOCK = 16
#: The number of blocks along the shorter side of the protecting picture.
BLOCKS = 24

#: The name of the outcome of frames without connection.
FallbackPolicy = Literal["pass_through", "blur", "drop"]
POLICIES: tuple[FallbackPolicy, ...] = ("pass_through", "blur", "drop")


class Fallback:
    """Selects the outcome of frames without connection: one of `POLICIES`."""

    def __init__(self, policy: FallbackPolicy) -> None:
        self._policy: FallbackPolicy = policy
        self._is_overridden = False
        self._is_uncertain = False

    @property
    def is_overridden(self) -> bool:
        """Whether an operator's override counts as in force."""
        return self._is_overridden

    def set_override(self, is_overridden: bool) -> None:
        """Records whether an operator's override is in force."""
        self._is_overridden = is_overridden
        self._is_uncertain = False

    def reconnect(self) -> None:
        """Records a new connection. An override counts as in force until the server reports
        otherwise, or puts a pipeline into force without a report of one."""
        self._is_uncertain = self._is_overridden

    def apply(self) -> None:
        """Records that the server put a pipeline into force."""
        if self._is_uncertain:
            self.set_override(False)

    def protects(self, protection: frozenset[str]) -> bool:
        """Whether parts of frames may have to be hidden, by the pipeline or by an override."""
        return self._is_overridden or bool(protection)

    def choose(self, protection: frozenset[str]) -> FallbackPolicy:
        """Returns the policy for frames of which parts may have to be hidden."""
        if self._policy == "pass_through" and self.protects(protection):
            return "drop"
        return self._policy


def mosaic(image: Image) -> Image:
    """Returns the image in large blocks, each of the colour of one of its pixels.

    There are 24 blocks along the shorter side, of at least 16 pixels, so faces cannot be
    recognised. Raises `ValueError` for a file.
    """
    block = max(MIN_BLOCK, -(-min(image.width, image.height) // BLOCKS))
    block += block % 2
    result = Image.allocate(
        image.format, image.width, image.height, color=image.color, orientation=image.orientation
    )
    for index, shape in enumerate(image.format.planes):
        _fill_blocks(
            list(image.rows(index)), result.plane(index), block // shape.subsampling, shape.channels
        )
    return result


def _fill_blocks(rows: list[memoryview], target: memoryview, block: int, channels: int) -> None:
    """Writes the rows of a plane in blocks."""
    written = 0
    for top in range(0, len(rows), block):
        height = min(block, len(rows) - top)
        row = rows[top + height // 2].tobytes()
        pixels = len(row) // channels
        parts = []
        for left in range(0, pixels, block):
            width = min(block, pixels - left)
            at = (left + width // 2) * channels
            parts.append(row[at : at + channels] * width)
        blocks = b"".join(parts) * height
        target[written : written + len(blocks)] = blocks
        written += len(blocks)
