"""Small Y4M videos of random samples."""

from __future__ import annotations

import io

from sidelight.images import Image
from sidelight.y4m import Reader

from .pictures import random_image


def video(width: int, height: int, frames: int, tags: str = "F30:1 Ip A1:1 C420jpeg") -> bytes:
    """A video whose frames are all different."""
    header = f"YUV4MPEG2 W{width} H{height} {tags}\n".encode()
    pictures = [random_image("i420", width, height, seed=1 + index) for index in range(frames)]
    return header + b"".join(b"FRAME\n" + picture.data for picture in pictures)


def frames_of(content: bytes) -> list[Image]:
    """The frames of a video."""
    return list(Reader(io.BytesIO(content)))


def inverted(image: Image) -> Image:
    """The result of `colorInvert` for an I420 picture in video range."""
    data = bytearray(image.data)
    luma = image.width * image.height
    data[:luma] = bytes(251 - each for each in data[:luma])
    data[luma:] = bytes(min(255, 256 - each) for each in data[luma:])
    return Image("i420", image.width, image.height, data)


def is_inverted(image: Image, original: Image) -> bool:
    """Whether luma equals `colorInvert`, in video range."""
    samples = zip(image.plane(0), original.plane(0))
    return all(abs(new - min(255, max(0, 251 - old))) <= 1 for new, old in samples)
