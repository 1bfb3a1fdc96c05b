"""The formulas of Core Image's blurs, morphology and drawings in several passes, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Pictures are rows
by columns by red, green and blue, in levels of 0-255. Passes are rounded, so results may differ by
more than a level.
"""

import math

import numpy as np

from .effect_oracles import encoded
from .formulas import REC_709, formula_of
from .warp_oracles import grid, gradients, neighbors, point, read, SOBEL

#: The golden angle, by which the points of a sunflower follow each other.
GOLDEN = 2.3999632


def sunflower(count: int) -> np.ndarray:
    """Points of the unit disc."""
    index = np.arange(count)
    return np.sqrt((index + 0.5) / count) * np.exp(1j * GOLDEN * index)


def mean(colors: np.ndarray, points: np.ndarray, reach, weigh=None) -> np.ndarray:
    """The weighted mean of the colours at points around each pixel."""
    place = grid(colors)
    total = weights = 0.0
    for each in points:
        d = np.broadcast_to(reach * each, place.shape)
        d = np.clip(d.real, -64, 64) + 1j * np.clip(d.imag, -64, 64)
        found = read(colors, place + d)
        weight = 1.0 if weigh is None else weigh(found, abs(each))
        total, weights = total + weight * found, weights + weight
    return total / weights


def in_passes(*steps):
    """A formula in several passes. Pictures between them have the chroma of the format."""

    def formula(colors):
        for step in steps:
            colors = step(colors)
        return colors

    formula.passes = steps
    return formula


@formula_of("discBlur")
def disc_blur(radius: float):
    return in_passes(
        lambda colors: mean(colors, sunflower(11), 0.78 * radius),
        lambda colors: mean(colors, sunflower(11), 0.22 * radius),
    )


@formula_of("bokehBlur")
def bokeh_blur(radius: float, ring_amount: float, ring_size: float, softness: float):
    def weigh(found, far):
        y = (found @ REC_709 / 255)[..., None]
        return (0.3 + y**2) * (1 + 3 * ring_amount * (far >= 0.95 - 2 * ring_size))

    return in_passes(
        lambda colors: mean(colors, sunflower(9), radius * (0.8 - 0.02 * softness), weigh),
        lambda colors: mean(colors, sunflower(9), radius * (0.2 + 0.02 * softness)),
    )


LINE = {"point0": [5, 10], "point1": [50, 30]}


@formula_of("depthOfField", fixed=LINE, tolerance=2, tolerance_at_limits=8)
def depth_of_field(
    saturation: float, unsharp_mask_radius: float, unsharp_mask_intensity: float,
    radius: float,
):
    def depth(colors):
        start, end = map(point, LINE.values())
        t = ((grid(colors) - start) / (end - start)).real
        line = start + (end - start) * np.clip(t, 0, 1)
        far = np.abs(grid(colors) - line) / min(colors.shape[:2])
        return smoothstep(0.05, 0.35, far)

    def finish(soft):
        ring = np.array([-1, 1, -1j, 1j])
        around = mean(soft, ring, unsharp_mask_radius)
        sharp = soft + unsharp_mask_intensity * (soft - around)
        y = (sharp @ REC_709)[..., None]
        vivid = y + saturation * (sharp - y)
        return soft + depth(soft)[..., None] * (vivid - soft)

    return in_passes(
        lambda colors: mean(colors, sunflower(9), radius * depth(colors)),
        lambda colors: mean(colors, sunflower(9), radius * depth(colors) * 0.4), finish,
    )


def extreme(colors: np.ndarray, choose, places) -> np.ndarray:
    return choose.reduce([neighbors(colors, x, y) for x, y in places])


def rectangle(choose, width: float, height: float):
    x, y = int(width // 2), int(height // 2)
    return in_passes(
        lambda colors: extreme(colors, choose, [(i, 0) for i in range(-x, x + 1)]),
        lambda colors: extreme(colors, choose, [(0, i) for i in range(-y, y + 1)]),
    )


@formula_of("morphologyRectangleMaximum")
def rectangle_maximum(width: float, height: float):
    return rectangle(np.maximum, width, height)


@formula_of("morphologyRectangleMinimum")
def rectangle_minimum(width: float, height: float):
    return rectangle(np.minimum, width, height)


def octagon(choose, radius: float):
    """The extreme over the sum of four lines, which is an octagon."""

    side = math.floor(radius * 0.4142 + 0.5)
    first = math.floor((radius - side) / 2 + 0.5)
    rest = math.floor(radius + 0.5) - side - first

    def line(x: int, y: int, reach: int):
        places = [(x * each, y * each) for each in range(-reach, reach + 1)]
        return lambda colors: extreme(colors, choose, places)

    return in_passes(line(1, 0, side), line(0, 1, side), line(1, 1, first), line(1, -1, rest))


@formula_of("morphologyMaximum")
def morphology_maximum(radius: float):
    return octagon(np.maximum, radius)


@formula_of("morphologyMinimum")
def morphology_minimum(radius: float):
    return octagon(np.minimum, radius)


@formula_of("morphologyGradient")
def morphology_gradient(radius: float):
    def formula(colors):
        rings = [(12, 1, 0), (8, 0.55, 12 * math.pi / 4 + 0.4)]
        places = [(0, 0)]
        for count, far, start in rings:
            for index in range(count):
                turn = start + index * 2 * math.pi / count
                places.append(
                    (
                        math.floor(radius * far * math.cos(turn) + 0.501),
                        math.floor(radius * far * math.sin(turn) + 0.501),
                    )
                )
        return extreme(colors, np.maximum, places) - extreme(colors, np.minimum, places)

    return formula


# A rounding error may decide which of two neighbours is the edge.
@formula_of("cannyEdgeDetector", jumps=0.02)
def canny(
    gaussian_sigma: float, perceptual: bool, threshold_high: float, threshold_low: float,
    hysteresis_passes: float,
):
    def formula(colors):
        y = np.clip(colors @ REC_709 / 255, 0, 1)
        level = np.sqrt(y) if perceptual else y
        reach = np.arange(-4, 5)
        weights = np.exp(-(reach**2) / (2 * gaussian_sigma**2))
        weights /= weights.sum()
        level = sum(w * neighbors(level, 0, k) for w, k in zip(weights, reach, strict=True))
        level = sum(w * neighbors(level, k, 0) for w, k in zip(weights, reach, strict=True))
        across = sum(
            w * (neighbors(level, 1, k) - neighbors(level, -1, k)) for w, k in ((1, -1), (2, 0), (1, 1))
        ) / 8
        down = sum(
            w * (neighbors(level, k, 1) - neighbors(level, k, -1)) for w, k in ((1, -1), (2, 0), (1, 1))
        ) / 8
        steep = across**2 + down**2
        sector = np.floor(np.mod(np.arctan2(down, across), math.pi) / (math.pi / 4) + 0.5) % 4
        is_edge = np.zeros(steep.shape, dtype=bool)
        for index, (x, y) in enumerate([(1, 0), (1, 1), (0, 1), (1, -1)]):
            is_top = (steep > neighbors(steep, x, y)) & (steep >= neighbors(steep, -x, -y))
            is_edge |= (sector == index) & is_top
        strong = is_edge & (steep > threshold_high**2)
        weak = is_edge & (steep > threshold_low**2)
        strong &= weak
        places = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
        for _ in range(round(hysteresis_passes)):
            strong = strong | weak & extreme(strong, np.logical_or, places)
        return 255.0 * np.repeat(strong[..., None], 3, axis=-1)

    return formula


def smoothstep(low: float, high: float, x: np.ndarray) -> np.ndarray:
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


@formula_of("comicEffect", tolerance=3)
def comic_effect():
    def smooth(colors):
        total, weights = colors.copy(), 1.0
        for x, y in [(2 * x, 2 * y) for x in range(-2, 3) for y in range(-2, 3)]:
            found = neighbors(colors, x, y)
            d = ((found - colors) / 255) ** 2
            weight = 1 / (1 + 120 * d.sum(axis=-1, keepdims=True))
            total, weights = total + weight * found, weights + weight
        return total / weights

    def draw(colors):
        units = colors / 255
        line = smoothstep(0.08, 0.22, np.linalg.norm(gradients(units, SOBEL), axis=-1) / 4)
        y = np.clip(units @ REC_709, 0, 1)
        tone = (np.floor(5 * y) + smoothstep(0.4, 0.6, 5 * y - np.floor(5 * y))) / 5
        flat = tone[..., None] + 1.4 * (units - y[..., None])
        q = grid(colors) * np.exp(1j * math.pi / 4) / 5
        dotted = np.abs(q - np.floor(q.real + 0.5) - 1j * np.floor(q.imag + 0.5))
        ink = 0.7 * np.clip((0.62 - 1.5 * y - dotted) * 5 + 0.5, 0, 1)
        return 255 * flat * ((1 - line) * (1 - ink))[..., None]

    return in_passes(smooth, draw)


@formula_of("edgeWork", tolerance=2)
def edge_work(radius: float):
    def formula(colors):
        y = (colors @ REC_709)[..., None] / 255
        around = mean(y, sunflower(20), 2.5 * radius)
        shown = np.clip((y - around) * 14 + (y - 0.35) * 2 + 0.5, 0, 1)
        return 255 * np.repeat(shown, 3, axis=-1)

    return formula


@formula_of("heightFieldFromMask", tolerance=2, tolerance_at_limits=2)
def height_field(radius: float):
    def formula(colors):
        y = (colors @ REC_709)[..., None] / 255
        inner = np.clip(2 * mean(y, sunflower(11), 0.8 * radius) - 1, 0, 1) * (y >= 0.5)
        level = mean(inner, sunflower(11), 0.2 * radius)
        return 255 * np.repeat(np.sqrt(np.clip(level * (2 - level), 0, 1)), 3, axis=-1)

    return formula


@formula_of("distanceGradientFromRedMask", tolerance=2, tolerance_at_limits=2)
def distance_gradient(maximum_distance: float):
    def formula(colors):
        level = (colors[..., 0] >= 127.5).astype(float)
        for far in (1, 2, 4, 8, 16, 30, 30):
            grown = level
            for turn in np.arange(16) * math.pi / 8:
                x = math.floor(far * math.cos(turn) + 0.5 + 1e-6)
                y = math.floor(far * math.sin(turn) + 0.5 + 1e-6)
                other = neighbors(level, x, y) - math.hypot(x, y) / maximum_distance
                grown = np.maximum(grown, other)
            level = grown
        return 255 * np.repeat(level[..., None], 3, axis=-1)

    return formula


@formula_of("documentEnhancer", tolerance=2, tolerance_at_limits=3)
def document_enhancer(amount: float):
    def formula(colors):
        units = colors / 255
        reach = np.clip(min(units.shape[:2]) / 16, 1, 60)
        index = np.arange(18)
        points = np.sqrt((index + 1) / 18) * np.exp(1j * GOLDEN * index)
        fourth = np.maximum(units, 0) ** 4
        for each in points:
            fourth = fourth + read(units, grid(units) + reach * each) ** 4
        flat = units / np.maximum((fourth / 19) ** 0.25, 0.1)
        ink = smoothstep(0.35, 0.92, flat @ REC_709)[..., None]
        clean = 0.6 * flat * (1 - ink) + ink
        mixed = units + min(amount, 1) * (clean - units)
        return 255 * (mixed - max(amount - 1, 0) * 0.1 * (1 - ink))

    return formula


@formula_of("toneMapHeadroom", tolerance=2, tolerance_at_limits=2)
def tone_map_headroom(source_headroom: float, target_headroom: float):
    high = encoded(np.array(max(source_headroom, target_headroom)))
    end = encoded(np.array(target_headroom))
    knee = 0.6 * end

    def formula(colors):
        most = (colors / 255).max(axis=-1, keepdims=True)
        # A hyperbola with the slope 1 at the knee, which ends at the target's headroom.
        x = np.clip((most - knee) / (high - knee), 0, 1)
        steep = (high - knee) / (end - knee)
        bent = knee + (end - knee) * steep * x / (1 + (steep - 1) * x)
        return np.where(most > knee, colors * bent / np.maximum(most, 1e-6), colors)

    return formula


@formula_of("histogramDisplayFilter", jumps=0.01)
def histogram_display(height: float, high_limit: float, low_limit: float):
    def formula(colors):
        rows = height
        up = (colors.shape[0] - grid(colors).imag) / rows
        level = (low_limit + (high_limit - low_limit) * up)[..., None]
        return 255.0 * ((colors[:1] / 255 >= level) & (up <= 1)[..., None])

    return formula
