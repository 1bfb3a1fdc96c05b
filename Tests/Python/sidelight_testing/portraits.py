"""Pictures of a person whose face is at a known place, and measures of what is visible of it."""

import numpy as np
import PIL.Image

from .contract import REPOSITORY

PORTRAIT = REPOSITORY / "Examples/media/portrait.jpg"
# The face in it: the middle, and the side of the square around it.
FACE, SIDE = np.array([224.0, 114.5]), 101.0
WIDTH, HEIGHT, SCALE = 640, 360, 1.3
CENTER = np.array([WIDTH / 2, 170.0])


def scene(center: np.ndarray = CENTER, wall: str = "#888") -> np.ndarray:
    """The portrait before a wall of one colour, with the face's middle at a place.

    The face is `SCALE * SIDE` wide.
    """
    portrait = PIL.Image.open(PORTRAIT).convert("RGB")
    margin = 512
    room = PIL.Image.new("RGB", (2 * margin + portrait.width, 2 * margin + portrait.height), wall)
    room.paste(portrait, (margin, margin))
    left, top = margin + FACE - np.asarray(center) / SCALE
    box = (left, top, left + WIDTH / SCALE, top + HEIGHT / SCALE)
    return np.asarray(room.resize((WIDTH, HEIGHT), box=box))


def textured_scene() -> np.ndarray:
    """The scene with a fine texture, so a blur changes every part of it."""
    texture = np.random.default_rng(4).integers(-10, 11, (HEIGHT, WIDTH, 1))
    return np.clip(scene().astype(int) + texture, 0, 255).astype(np.uint8)


def face_of(picture: np.ndarray, share: float = 0.8) -> np.ndarray:
    """The middle of the face in the scene, a square of a share of its side."""
    half = share * SCALE * SIDE / 2
    left, top = (CENTER - half).astype(int)
    right, bottom = (CENTER + half).astype(int)
    return picture[top:bottom, left:right]


def corners_of(picture: np.ndarray, side: int = 40) -> np.ndarray:
    """The four corners of a picture."""
    ends = (slice(side), slice(-side, None))
    return np.stack([picture[rows, columns] for rows in ends for columns in ends])


def detail(picture: np.ndarray) -> float:
    """The energy of a picture's high frequencies: the mean square of its Laplacian."""
    luma = picture.astype(np.float64) @ [0.2126, 0.7152, 0.0722]
    inner = luma[..., 1:-1, 1:-1]
    around = luma[..., :-2, 1:-1] + luma[..., 2:, 1:-1] + luma[..., 1:-1, :-2] + luma[..., 1:-1, 2:]
    return float(((4 * inner - around) ** 2).mean())


def is_hidden(part: np.ndarray, original: np.ndarray) -> bool:
    """Whether a part of a picture has lost its detail."""
    assert detail(original) > 20, "the original has no detail to lose"
    return detail(part) < 0.1 * detail(original)
