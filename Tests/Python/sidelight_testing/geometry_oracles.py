"""The formulas of filters that put the same pixels at other places, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. A formula is a
function of a plane, and of how many of its pixels one pixel of the frame is.
"""

import numpy as np


def crop(x: int, y: int, width: int, height: int):
    def formula(plane, scale=1.0):
        rows, columns = int(y * scale), int(x * scale)
        return plane[rows : rows + round(height * scale), columns : columns + round(width * scale)]

    return formula


def orient(turns: int, mirrored: bool):
    # NumPy turns counterclockwise.
    def formula(plane, scale=1.0):
        return np.rot90(plane[:, ::-1] if mirrored else plane, -turns)

    return formula


def resampled(samples: np.ndarray, count: int) -> np.ndarray:
    """Another number of rows: linear between rows if there are more, means if there are fewer."""
    step = len(samples) / count
    result = []
    for index in range(count):
        low, high = index * step, (index + 1) * step
        if step <= 1:
            place = np.clip((low + high) / 2 - 0.5, 0, len(samples) - 1)
            first = int(place)
            second = min(first + 1, len(samples) - 1)
            result.append(samples[first] + (samples[second] - samples[first]) * (place - first))
            continue
        rows = range(int(np.floor(low)), min(int(np.ceil(high)), len(samples)))
        covered = [min(row + 1, high) - max(row, low) for row in rows]
        result.append(np.tensordot(covered, samples[rows.start : rows.stop], 1) / sum(covered))
    return np.array(result)


def stretch(width: int, height: int):
    def formula(plane, scale=1.0):
        down = resampled(plane, round(height * scale))
        return resampled(down.swapaxes(0, 1), round(width * scale)).swapaxes(0, 1)

    return formula


def affine(a: float, b: float, c: float, d: float, tx: float, ty: float):
    """Clamped at the edges."""
    inverse = np.linalg.inv(np.array([[a, c], [b, d]]))

    def formula(plane, scale=1.0):
        height, width = plane.shape[:2]
        x, y = np.meshgrid((np.arange(width) + 0.5) / scale, (np.arange(height) + 0.5) / scale)
        there = np.einsum("ij,jyx->iyx", inverse, np.stack([x - tx, y - ty])) * scale - 0.5
        left, top = np.floor(there).astype(int)
        fx, fy = (there - np.floor(there))[..., None]

        def at(column, row):
            return plane[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]

        upper = at(left, top) * (1 - fx) + at(left + 1, top) * fx
        lower = at(left, top + 1) * (1 - fx) + at(left + 1, top + 1) * fx
        return upper * (1 - fy) + lower * fy

    return formula
