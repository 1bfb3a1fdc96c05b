"""Arrays of the pictures in the host's memory, and the check of returned pictures."""

from __future__ import annotations

import mmap
from typing import Any, Union

try:
    import numpy as np
    import numpy.typing as npt
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "sidelight.filters_server needs numpy; install it with: pip install 'sidelight[numpy]'",
        name="numpy",
    ) from error

from .._formats import PixelFormat

__all__ = ["Picture", "fill", "view"]

#: An array; a tuple of planes for I420 and NV12.
Picture = Union["npt.NDArray[np.uint8]", "tuple[npt.NDArray[np.uint8], ...]"]


def view(memory: mmap.mmap, format: PixelFormat, message: Any, is_writable: bool) -> Picture:
    """Returns arrays over the pixels of a picture in the memory."""
    planes = []
    for plane, place in zip(format.planes, message.planes):
        shape: tuple[int, ...] = (
            -(-message.height // plane.subsampling),
            -(-message.width // plane.subsampling),
            plane.channels,
        )
        strides: tuple[int, ...] = (place.stride, plane.channels, 1)
        if plane.channels == 1:
            shape, strides = shape[:2], strides[:2]
        pixels = np.ndarray(shape, np.uint8, memory, place.offset, strides)
        pixels.flags.writeable = is_writable
        planes.append(pixels)
    return planes[0] if len(planes) == 1 else tuple(planes)


def copied(picture: Picture) -> Picture:
    """Returns a copy of a picture."""
    if isinstance(picture, tuple):
        return tuple(plane.copy() for plane in picture)
    return picture.copy()


def fill(target: Picture, result: object) -> None:
    """Copies a returned picture into the output.

    Raises `TypeError` or `ValueError` if it has another type or shape.
    """
    if isinstance(target, tuple):
        if not isinstance(result, (tuple, list)) or len(result) != len(target):
            raise TypeError(f"the function returned {_shown(result)} instead of {len(target)} planes")
        for plane, part in zip(target, result):
            fill(plane, part)
        return
    if not isinstance(result, np.ndarray) or result.dtype != np.uint8:
        raise TypeError(
            f"the function returned {_shown(result)} instead of an array of uint8; clip, round and "
            "convert other types; annotate a filter in place: -> None"
        )
    if result.shape != target.shape:
        raise ValueError(
            f"the function returned an array of the shape {result.shape}; it must be {target.shape}"
        )
    np.copyto(target, result)


def _shown(result: object) -> str:
    kind = type(result).__name__
    return f"{kind} of {result.dtype}" if isinstance(result, np.ndarray) else kind
