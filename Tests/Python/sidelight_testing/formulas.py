"""What the filters compute, in NumPy and floating point: colours 0-255, rounded once at the end.

Written from the filters' published formulas, not from the server's code.
"""

import numpy as np

REC_709 = np.array([0.2126, 0.7152, 0.0722])
SEPIA = np.array([[0.3588, 0.7044, 0.1368], [0.2990, 0.5870, 0.1140], [0.2392, 0.4696, 0.0912]])


def levels(colors: np.ndarray) -> np.ndarray:
    """Rounds to whole levels of 0-255."""
    return np.clip(np.rint(colors), 0, 255).astype(np.uint8)


def color_invert(colors: np.ndarray) -> np.ndarray:
    """1 - rgb."""
    return 255.0 - colors


def grayscale(colors: np.ndarray) -> np.ndarray:
    """Rec. 709 luma in each channel."""
    return np.repeat((colors @ REC_709)[..., None], 3, axis=-1)


def sepia_tone(colors: np.ndarray, intensity: float = 1.0) -> np.ndarray:
    """The picture mixed with a brown monochrome of itself."""
    return colors + intensity * (colors @ SEPIA.T - colors)


def difference(actual: np.ndarray, expected: np.ndarray) -> int:
    """The greatest distance between two pictures, in levels."""
    return int(np.abs(actual.astype(np.int16) - levels(expected).astype(np.int16)).max())
