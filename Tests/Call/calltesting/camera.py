"""A camera's video as a Y4M file, every frame with its number and areas of known colour."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import barcode

# The areas of one colour below the bar code: x, y, width and height as fractions of the picture,
# and the colour as Y, U and V. The readers in the page average their middles.
PATCHES = {
    "red": ((0.05, 0.25, 0.15, 0.25), (81, 90, 240)),
    "green": ((0.30, 0.25, 0.15, 0.25), (145, 54, 34)),
    "blue": ((0.55, 0.25, 0.15, 0.25), (41, 240, 110)),
    "gray": ((0.80, 0.25, 0.15, 0.25), (180, 128, 128)),
}
# An area of small dark and bright squares: a reader measures its contrast, which a blur removes.
DETAIL = (0.7, 0.78, 0.25, 0.2)
DETAIL_SQUARE = 8


@dataclass(frozen=True)
class Camera:
    """The video that a fake camera repeats."""

    path: Path
    width: int
    height: int
    frames_per_second: int
    # The numbers are 0 to `frames` - 1; the video starts again after the last one.
    frames: int

    def distance(self, first: int, second: int) -> int:
        """Returns the frames from one number to another, the shorter way round: negative if the
        second one is earlier."""
        half = self.frames // 2
        return (second - first + half) % self.frames - half


def record(
    path: Path, width: int = 640, height: int = 360, frames_per_second: int = 30, frames: int = 600
) -> Camera:
    """Writes a video: a gradient with texture, areas of one colour, small squares, and a bright
    square that moves."""
    rows, columns = np.mgrid[0:height, 0:width]
    texture = np.random.default_rng(1).integers(-6, 7, (height, width))
    background = 60 + 100 * columns / width + 40 * rows / height + texture
    luma = np.clip(background, 16, 235).astype(np.uint8)
    chroma = np.full((2, height // 2, width // 2), 128, np.uint8)
    for (x, y, w, h), colour in PATCHES.values():
        luma[_area(x, y, w, h, width, height)] = colour[0]
        for plane, value in zip(chroma, colour[1:], strict=True):
            plane[_area(x, y, w, h, width // 2, height // 2)] = value
    squares = (rows // DETAIL_SQUARE + columns // DETAIL_SQUARE) % 2 == 0
    detail = _area(*DETAIL, width, height)
    luma[detail] = np.where(squares[detail], 210, 40)
    with path.open("wb") as file:
        file.write(f"YUV4MPEG2 W{width} H{height} F{frames_per_second}:1 Ip A1:1 C420\n".encode())
        for number in range(frames):
            picture = luma.copy()
            barcode.draw(picture, number)
            side = height // 8
            left = number * 4 % (width - side)
            picture[height * 3 // 5 : height * 3 // 5 + side, left : left + side] = 220
            file.write(b"FRAME\n")
            file.write(picture.tobytes())
            file.write(chroma.tobytes())
    return Camera(path, width, height, frames_per_second, frames)


def areas() -> dict[str, tuple[float, float, float, float]]:
    """Returns the areas of one colour, for a reader in the page."""
    return {name: area for name, (area, _) in PATCHES.items()}


def _area(x: float, y: float, w: float, h: float, width: int, height: int) -> tuple[slice, slice]:
    return (
        slice(round(y * height), round((y + h) * height)),
        slice(round(x * width), round((x + w) * width)),
    )
