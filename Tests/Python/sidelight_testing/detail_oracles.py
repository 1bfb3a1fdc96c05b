"""The formulas of filters that change a picture's detail, or draw its lines, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. The detail is the
luma less its colour guided filter ("Guided Image Filtering", 2013).
"""

import numpy as np

from .formulas import REC_709, formula_of
from .neighborhood_oracles import gaussian

BT_601 = np.array([0.299, 0.587, 0.114])


def box_mean(values: np.ndarray, radius: int) -> np.ndarray:
    """The means of the boxes around every sample, of the samples that exist."""

    def along(samples, axis):
        sums = np.cumsum(np.insert(samples, 0, 0, axis=axis), axis=axis)
        count = samples.shape[axis]
        low = np.maximum(np.arange(count) - radius, 0)
        high = np.minimum(np.arange(count) + radius + 1, count)
        return sums.take(high, axis) - sums.take(low, axis)

    def total(samples):
        return along(along(samples, 0), 1)

    return total(values) / total(np.ones_like(values))


def smooth_luma(colors: np.ndarray, edges: float, radius: int) -> np.ndarray:
    """The colour guided filter of a picture's luma with the picture as its guide."""
    guide = np.clip(np.floor(colors + 0.5), 0, 255) / 255
    luma = np.floor(255 * (guide @ BT_601) + 0.5) / 255
    mean, middle = box_mean(guide, radius), box_mean(luma, radius)
    products = guide[..., :, None] * guide[..., None, :]
    covariance = box_mean(products, radius) - mean[..., :, None] * mean[..., None, :]
    joint = box_mean(guide * luma[..., None], radius) - mean * middle[..., None]
    weights = np.linalg.solve(covariance + edges**2 * np.eye(3), joint[..., None])[..., 0]
    bias = middle - (weights * mean).sum(-1)
    return (box_mean(weights, radius) * colors / 255).sum(-1) + box_mean(bias, radius)


def detail(change, edges: float, radius: int = 5):
    """Adds a function of the detail and the colour, in units of white, to all channels."""

    def formula(colors):
        found = colors @ BT_601 / 255 - smooth_luma(colors, edges, radius)
        return colors + 255 * change(found, colors / 255)[..., None]

    return formula


@formula_of("edgePreservingSmooth")
def smooth(amount: float, edges: float):
    return detail(lambda found, _: -amount * found, edges)


@formula_of("sharpenAdaptive", tolerance_at_limits=4)
def adaptive(sharpness: float, noise: float):
    def change(found, colors):
        return np.clip(sharpness * found * found**2 / (found**2 + noise**2), -0.15, 0.15)

    return detail(change, 0.1, 2)


@formula_of("beauty")
def beauty(smoothing: float):
    def change(found, colors):
        luma = colors @ BT_601
        cb, cr = (colors[..., 2] - luma) / 1.772, (colors[..., 0] - luma) / 1.402
        skin = np.clip(1.5 - ((cb + 0.1) / 0.1) ** 2 - ((cr - 0.098) / 0.078) ** 2, 0, 1)
        return -smoothing * skin * found

    return detail(change, 0.12)


def smoothstep(t):
    t = np.clip(t, 0, 1)
    return t * t * (3 - 2 * t)


# Steps of tones magnify the rounding of the smoothing.
@formula_of("cartoon", tolerance=6)
def cartoon(tones: int, lines: float):
    def formula(colors):
        smooth = detail(lambda found, _: -found, 0.12)(colors) / 255
        y = smooth @ REC_709
        ring = np.pad(y, 1, mode="edge")

        def at(dx, dy):
            return ring[1 + dy : ring.shape[0] - 1 + dy, 1 + dx : ring.shape[1] - 1 + dx]

        gx = sum(w * (at(1, dy) - at(-1, dy)) for dy, w in ((-1, 1), (0, 2), (1, 1)))
        gy = sum(w * (at(dx, 1) - at(dx, -1)) for dx, w in ((-1, 1), (0, 2), (1, 1)))
        edge = smoothstep(((gx**2 + gy**2) / 16 - 0.01) / (0.1225 - 0.01))
        place = tones * np.clip(y, 0, 1)
        step = np.floor(place)
        tone = (step + smoothstep((place - step - 0.3) / 0.4)) / tones
        drawn = tone[..., None] + 1.25 * (smooth - y[..., None])
        return 255 * drawn * (1 - lines * edge)[..., None]

    return formula


# Wide Gaussians work on a reduced picture; the strength magnifies what that costs.
@formula_of("sketch", tolerance=7)
def sketch(radius: float, strength: float, shade: float):
    def formula(colors):
        luma = (colors @ REC_709)[..., None]
        lines = strength * (luma - gaussian(radius)(luma))
        return np.repeat(255 * (1 - shade) + shade * luma + lines, 3, axis=-1)

    return formula
