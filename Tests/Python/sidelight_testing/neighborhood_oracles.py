"""The formulas of filters that compute a pixel from those around it, in NumPy. Edges are clamped.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Most formulas are
functions of a plane, and of how many of its pixels one pixel of the frame is.
"""

import numpy as np

from .formulas import formula_of


def shifted(plane: np.ndarray, right: int, down: int) -> np.ndarray:
    """The pixels that lie so far to the right and down; beyond the edges, those at the edges."""
    height, width = plane.shape[:2]
    rows = np.clip(np.arange(height) + down, 0, height - 1)
    columns = np.clip(np.arange(width) + right, 0, width - 1)
    return plane[rows][:, columns]


def weighted(plane: np.ndarray, weights: dict[tuple[int, int], float]) -> np.ndarray:
    """Sums of pixels by how far they lie to the right and down."""
    return sum(shifted(plane, *place) * weight for place, weight in weights.items())


# Wide Gaussians work on a reduced picture, which costs them a level.
@formula_of("gaussianBlur", is_plane=True, tolerance=2)
def gaussian(radius: float):
    def formula(plane, scale=1.0):
        own = radius * scale
        if own == 0:
            return plane
        reach = int(np.ceil(6 * own))
        places = np.arange(-reach, reach + 1)
        weights = np.exp(-(places**2) / (2 * own**2))
        weights /= weights.sum()
        down = weighted(plane, {(0, int(k)): w for k, w in zip(places, weights, strict=True)})
        return weighted(down, {(int(k), 0): w for k, w in zip(places, weights, strict=True)})

    return formula


@formula_of("boxBlur", is_plane=True)
def box(radius: float):
    def formula(plane, scale=1.0):
        # The square keeps its side, 2 radius + 1 pixels of the frame, on a plane of fewer pixels.
        reach = ((2 * radius + 1) * scale - 1) / 2
        whole = int(reach)
        share = {k: 1.0 for k in range(-whole, whole + 1)}
        share |= {-whole - 1: reach - whole, whole + 1: reach - whole}
        total = sum(share.values())
        down = weighted(plane, {(0, k): w / total for k, w in share.items()})
        return weighted(down, {(k, 0): w / total for k, w in share.items()})

    return formula


@formula_of("motionBlur", is_plane=True)
def motion(radius: float, angle: float):
    def formula(plane, scale=1.0):
        # Angles are counterclockwise and rows count downwards.
        right, down = np.cos(angle), -np.sin(angle)
        is_flat = abs(right) >= abs(down)
        major, slope = (right, down / right) if is_flat else (down, right / down)
        half = (2 * radius + 1) * scale * abs(major) / 2
        steps = max(0, int(np.ceil(half - 0.5)))
        result, total = 0.0, 0.0
        for step in range(-steps, steps + 1):
            weight = min(1.0, half + 0.5 - abs(step)) if steps else 1.0
            across = int(np.floor(step * slope))
            share = step * slope - across
            near = (step, across) if is_flat else (across, step)
            far = (step, across + 1) if is_flat else (across + 1, step)
            result = result + weight * (
                shifted(plane, *near) * (1 - share) + shifted(plane, *far) * share
            )
            total += weight
        return result / total

    return formula


@formula_of("unsharpMask", is_plane=True, tolerance=2)
def unsharp(radius: float, intensity: float):
    def formula(plane, scale=1.0):
        return plane + intensity * (plane - gaussian(radius)(plane, scale))

    return formula


@formula_of("convolution3X3")
@formula_of("convolution5X5")
@formula_of("convolutionRGB3X3")
@formula_of("convolutionRGB5X5")
@formula_of("convolution7X7")
@formula_of("convolutionRGB7X7")
def convolution(weights: list[float], bias: float):
    side = int(np.sqrt(len(weights)))
    places = {(i % side - side // 2, i // side - side // 2): w for i, w in enumerate(weights)}
    return lambda colors: weighted(colors, places) + 255 * bias


@formula_of("convolution9Horizontal")
@formula_of("convolutionRGB9Horizontal")
def convolution_in_rows(weights: list[float], bias: float):
    places = {(i - 4, 0): w for i, w in enumerate(weights)}
    return lambda colors: weighted(colors, places) + 255 * bias


@formula_of("convolution9Vertical")
@formula_of("convolutionRGB9Vertical")
def convolution_in_columns(weights: list[float], bias: float):
    places = {(0, i - 4): w for i, w in enumerate(weights)}
    return lambda colors: weighted(colors, places) + 255 * bias


@formula_of("pixellate", is_plane=True)
def pixellate(scale: float, center: tuple[float, float]):
    side = scale

    def formula(plane, scale=1.0):
        height, width = plane.shape[:2]

        def squares(count, origin):
            return np.floor((np.arange(count) + 0.5 - origin * scale) / (side * scale)).astype(int)

        rows, columns = squares(height, center[1]), squares(width, center[0])
        result = np.empty_like(plane)
        for row in np.unique(rows):
            for column in np.unique(columns):
                own = np.ix_(rows == row, columns == column)
                result[own] = plane[own].mean(axis=(0, 1))
        return result

    return formula
