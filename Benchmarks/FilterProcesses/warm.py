"""The filter that all peers run, on BGRA, and the size of its frames."""

import numpy as np

WIDTH, HEIGHT, FRAME_RATE = 1280, 720, 30


def warm(picture: np.ndarray) -> None:
    """Warms the lower half, in place."""
    lower = picture[picture.shape[0] // 2 :]
    np.multiply(lower[..., 0], 0.75, out=lower[..., 0], casting="unsafe")
