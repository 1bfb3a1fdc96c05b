"""The results of filters with assets, in NumPy: Porter and Duff's compositing ("Compositing Digital
Images", 1984), the blend modes of W3C's Compositing and Blending, and tetrahedral lookup (Kasson et al.
1995) in the tables of Adobe's Cube LUT Specification 1.0.

Written from those and from what `DescribeFilter` says, not from the server's code. A layer is rows by
columns by four: red, green, blue, premultiplied, and alpha, all 0-1.
"""

import numpy as np

REC_709 = np.array([0.2126, 0.7152, 0.0722])


def layer(colors: np.ndarray, alpha: np.ndarray | None = None) -> np.ndarray:
    """A layer of levels 0-255 with straight alpha; opaque by default."""
    unit = np.asarray(colors, dtype=np.float64) / 255
    if alpha is None:
        return np.concatenate([unit, np.ones_like(unit[..., :1])], axis=-1)
    cover = np.asarray(alpha, dtype=np.float64)[..., None] / 255
    return np.concatenate([unit * cover, cover], axis=-1)


def picture(pixels: np.ndarray) -> np.ndarray:
    """A layer of a file's pixels: grey, RGB, or RGBA."""
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[..., None], 3, axis=-1)
    return layer(pixels[..., :3], pixels[..., 3] if pixels.shape[-1] == 4 else None)


# Porter and Duff, W3C.


def over(front: np.ndarray, back: np.ndarray) -> np.ndarray:
    """The one before the other."""
    return front + back * (1 - front[..., 3:])


def multiply(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Colour and alpha multiplied."""
    return one * other


def screen(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Two projectors."""
    return one + other - one * other


def mask_blend(front: np.ndarray, back: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The one where the mask is white, the other where it is black."""
    amount = (mask[..., :3] @ REC_709)[..., None]
    return back + (front - back) * amount


def luma_key(front: np.ndarray, back: np.ndarray, low: float, high: float) -> np.ndarray:
    """The one where its luma is at `high`, the other where it is at `low`, which may be higher."""
    alpha = front[..., 3:]
    straight = np.divide(front, alpha, out=np.zeros_like(front), where=alpha > 0)
    t = np.clip(((straight[..., :3] @ REC_709)[..., None] - low) / (high - low), 0, 1)
    return back + (front - back) * (t * t * (3 - 2 * t))


# Bringing an image to its place.


def resampled(source: np.ndarray, count: int, axis: int) -> np.ndarray:
    """Stretched along an axis: linear between centres where it grows, means where it shrinks."""
    length = source.shape[axis]
    step = length / count
    weights = np.zeros((count, length))
    for index in range(count):
        low, high = index * step, (index + 1) * step
        if step > 1:
            edges = np.arange(length)
            weights[index] = np.clip(np.minimum(edges + 1, high) - np.maximum(edges, low), 0, None)
            weights[index] /= step
        else:
            center = np.clip((low + high) / 2 - 0.5, 0, length - 1)
            first = min(int(center), length - 2) if length > 1 else 0
            weights[index, first] = 1 - (center - first)
            if length > 1:
                weights[index, first + 1] += center - first
    return np.moveaxis(np.tensordot(weights, source, (1, axis)), 0, axis)


def placed(source: np.ndarray, shape: tuple[int, int], left: int, top: int, width: int, height: int):
    """A layer of rows by columns with an image stretched into a rectangle; the rest is transparent."""
    result = np.zeros((*shape, 4))
    part = resampled(resampled(source, height, 0), width, 1)
    result[top : top + height, left : left + width] = part
    return result


# Tables.


def cube_lookup(colors: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Tetrahedral interpolation in a table indexed by blue, green, red; colours and entries 0-1.

    A cell is cut into six tetrahedra along its diagonal: from the low corner, axis by axis, the
    largest fraction first.
    """
    size = table.shape[0]
    place = np.clip(colors, 0, 1) * (size - 1)
    corner = np.minimum(place.astype(int), size - 2)
    fraction = place - corner
    order = np.argsort(-fraction, axis=-1, kind="stable")

    def entry(at):
        return table[at[..., 2], at[..., 1], at[..., 0]]

    at = corner.copy()
    result = previous = entry(at)
    for step in range(3):
        axis = order[..., step : step + 1]
        np.put_along_axis(at, axis, np.take_along_axis(at, axis, -1) + 1, -1)
        following = entry(at)
        result = result + np.take_along_axis(fraction, axis, -1) * (following - previous)
        previous = following
    return result
