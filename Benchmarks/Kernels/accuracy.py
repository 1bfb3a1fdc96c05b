"""The difference between blurs and an exact Gaussian."""

from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter

from pictures import HEIGHT, WIDTH


def pixels(path: Path) -> np.ndarray:
    return np.fromfile(path, np.uint8).reshape(HEIGHT, WIDTH, 4)[..., :3].astype(np.float64)


def decibels(error: np.ndarray) -> float:
    return float(10 * np.log10(255**2 / max(np.mean(error**2), 1e-12)))


def of_gaussian(sigma: float, picture: Path, result: Path) -> tuple[float, float, float]:
    """PSNR of a result against the exact blur in double precision with edges clamped and not
    rounded: of the whole picture, of the frame of one sigma along its edges, and the greatest
    difference in levels."""
    exact = np.stack([
        gaussian_filter(channel, sigma, mode="nearest", truncate=6)
        for channel in np.moveaxis(pixels(picture), -1, 0)], -1)
    error = pixels(result) - exact
    by = max(1, round(sigma))
    edges = np.ones((HEIGHT, WIDTH), bool)
    edges[by:-by, by:-by] = False
    return decibels(error), decibels(error[edges]), float(np.abs(error).max())
