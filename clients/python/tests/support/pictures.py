"""Pictures of random samples, which no conversion can leave unchanged by chance."""

from __future__ import annotations

import random
from typing import Any

from sidelight.images import Image, Layout

#: Odd, tiny and larger sizes.
SIZES = [(1, 1), (2, 2), (3, 5), (17, 9), (64, 48), (65, 33)]
RAW_FORMATS = ["bgra", "rgba", "rgb", "gray", "i420", "nv12"]


def noise(length: int, seed: int = 1) -> bytes:
    """Random bytes, the same for the same seed."""
    return random.Random(seed).getrandbits(8 * length).to_bytes(length, "little")


def random_image(format: str, width: int, height: int, seed: int = 1, **options: Any) -> Image:
    """An image of random samples without padding."""
    data = noise(Image.packed_size(format, width, height), seed)
    return Image(format, width, height, data, **options)


def padded_image(format: str, width: int, height: int, seed: int = 1, **options: Any) -> Image:
    """The image of `random_image`, with rows that are padded by 5 bytes or more, after 7 bytes."""
    packed = random_image(format, width, height, seed)
    planes, end = [], 7
    for index in range(len(packed.layout.planes)):
        stride = packed.layout.row_bytes(index) + 5 + index
        planes.append((end, stride))
        end += stride * packed.layout.rows(index) + 3
    data = bytearray(noise(end, seed + 1))
    layout = Layout(format, width, height, planes)
    for index, (offset, stride) in enumerate(planes):
        for row, samples in enumerate(packed.rows(index)):
            start = offset + row * stride
            data[start : start + layout.row_bytes(index)] = samples
    return Image(format, width, height, data, planes=planes, **options)
