"""The formulas of filters that measure a picture's light, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Colours are in
0-255, opaque.
"""

import numpy as np

from .formulas import REC_709, formula_of


def sample_grid(colors: np.ndarray) -> np.ndarray:
    """At most 64x36 evenly spaced pixels, in whole levels."""
    height, width, _ = colors.shape
    columns, rows = min(width, 64), min(height, 36)
    y = (2 * np.arange(rows) + 1) * height // (2 * rows)
    x = (2 * np.arange(columns) + 1) * width // (2 * columns)
    return np.floor(np.clip(colors[y][:, x].reshape(-1, 3), 0, 255) + 0.5)


def norm(samples: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.average(samples**5, axis=0, weights=weights) ** (1 / 5)


def light_of(colors: np.ndarray) -> np.ndarray:
    """The colour of the light over its green."""
    samples = sample_grid(colors)
    least = 0.02 * len(samples)
    greatest = samples.max(axis=-1)
    samples = samples[(greatest >= 16) & (greatest <= 249)]
    light = norm(samples, np.ones(len(samples)))
    for _ in range(2):
        lit = samples / light
        chroma = 1 - lit.min(axis=-1) / lit.max(axis=-1)
        weights = np.maximum(0, 1 - chroma / 0.3)
        if weights.sum() < least:
            break
        light = norm(samples, weights)
    return np.exp(np.clip(np.log(light / light[1]), -0.4, 0.4))


@formula_of("whiteBalance")
def white_balance(amount: float, warmth: float):
    def formula(colors):
        light = light_of(colors)
        kept = max(1, light[0] / light[2]) ** (warmth / 2)
        tint = np.array([kept, 1, 1 / kept])
        target = tint * (light @ REC_709) / (tint @ REC_709)
        return colors * (target / light) ** amount

    return formula


@formula_of("lowLight", fixed={"denoise": 0})
def low_light(amount: float):
    """Without the noise reduction, which is another filter's."""

    def formula(colors):
        samples = sample_grid(colors)
        mean = max(0.02, (samples @ REC_709).mean() / 255)
        greatest = np.sort(samples.max(axis=-1))[::-1]
        brightest = greatest[int(0.01 * len(greatest))]
        white = min(1, 1.1 * max(0.05, brightest / 255))
        if mean >= 0.38:
            return colors
        gain = 0.38 / mean
        if gain > 1 / white:
            gain = 0.38 * (1 - min(0.9, mean / white)) / (0.62 * mean)
        gain = min(8, max(1, gain)) ** amount
        knee = max(0, gain - 1 / white)
        most = np.maximum(colors.max(axis=-1, keepdims=True) / 255, 1e-6)
        return colors * np.minimum(gain / (1 + knee * most), np.maximum(1, 1 / most))

    return formula
