"""The formulas of filters that measure an area of the picture, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Pictures are rows
by columns by red, green and blue, in levels of 0-255.
"""

import numpy as np

from .formulas import REC_709, formula_of


def box(colors: np.ndarray, extent) -> tuple[slice, slice]:
    """The rows and columns of an area; of the whole picture if it has no pixels."""
    left, top, width, height = extent
    rows, columns = colors.shape[:2]
    x = np.clip(np.floor(np.array([left, left + width]) + 0.5), 0, columns).astype(int)
    y = np.clip(np.floor(np.array([top, top + height]) + 0.5), 0, rows).astype(int)
    if x[0] >= x[1] or y[0] >= y[1]:
        return slice(0, rows), slice(0, columns)
    return slice(*y), slice(*x)


def area(colors: np.ndarray, extent) -> np.ndarray:
    """The pixels of an area, one a row."""
    return colors[box(colors, extent)].reshape(-1, 3)


def filled(measure):
    """A formula that fills the picture with a colour of an area."""

    def make(extent):
        def formula(colors):
            return np.broadcast_to(measure(area(colors, extent)), colors.shape)

        return formula

    return make


@formula_of("areaAverage")
def area_average(extent):
    return filled(lambda found: found.mean(axis=0))(extent)


@formula_of("areaMaximum")
def area_maximum(extent):
    return filled(lambda found: found.max(axis=0))(extent)


@formula_of("areaMinimum")
def area_minimum(extent):
    return filled(lambda found: found.min(axis=0))(extent)


@formula_of("areaMinMax")
def area_min_max(extent):
    def formula(colors):
        found = area(colors, extent)
        is_left = 2 * np.arange(colors.shape[1]) < colors.shape[1]
        row = np.where(is_left[:, None], found.min(axis=0), found.max(axis=0))
        return np.broadcast_to(row, colors.shape)

    return formula


@formula_of("areaMinMaxRed")
def area_min_max_red(extent):
    return filled(lambda found: [found[:, 0].min(), found[:, 0].max(), 0])(extent)


@formula_of("areaAverageMaximumRed")
def area_average_maximum_red(extent):
    return filled(lambda found: [found[:, 0].mean(), found[:, 0].max(), 0])(extent)


# All pixels of opaque pictures have the same alpha: the first one is found.
@formula_of("areaMaximumAlpha")
@formula_of("areaMinimumAlpha")
def area_extreme_alpha(extent):
    return filled(lambda found: found[0])(extent)


@formula_of("rowAverage")
def row_average():
    return lambda colors: np.broadcast_to(colors.mean(axis=1, keepdims=True), colors.shape)


@formula_of("columnAverage")
def column_average():
    return lambda colors: np.broadcast_to(colors.mean(axis=0, keepdims=True), colors.shape)


@formula_of("colorThresholdOtsu")
def color_threshold_otsu():
    def formula(colors):
        levels = np.floor(np.clip(colors @ REC_709 / 255 * 256 + 0.002, 0, 255)).astype(int)
        distances = []
        for threshold in range(255):
            dark, bright = levels[levels <= threshold], levels[levels > threshold]
            between = dark.size * bright.size
            distances.append(between and between * (dark.mean() - bright.mean()) ** 2)
        is_bright = levels > np.argmax(np.round(distances, 3))
        return 255.0 * np.repeat(is_bright[..., None], 3, axis=-1)

    return formula


def histogram(extent, count: float, scale: float, position):
    bins = round(count)

    def formula(colors):
        found = area(colors, extent)
        index = np.floor(np.maximum(position(found / 255), 0) * bins + 0.002)
        index = np.minimum(index, bins - 1).astype(int)
        shares = np.stack(
            [np.bincount(index[:, each], minlength=bins) / len(found) for each in range(3)], axis=-1
        )
        width = colors.shape[1]
        row = shares[np.arange(width) * bins // width]
        return np.broadcast_to(255 * scale * row, colors.shape)

    return formula


# Equal on opaque pictures.
@formula_of("areaAlphaWeightedHistogram")
@formula_of("areaHistogram")
def area_histogram(extent, scale: float, count: float):
    return histogram(extent, count, scale, lambda units: units)


@formula_of("areaLogarithmicHistogram")
def area_logarithmic_histogram(
    extent, scale: float, count: float, minimum_stop: float, maximum_stop: float
):
    return histogram(
        extent, count, scale,
        lambda units: (np.log2(np.maximum(units, 1e-30)) - minimum_stop)
        / (maximum_stop - minimum_stop),
    )


@formula_of("areaBoundsRed")
def area_bounds_red(extent):
    def formula(colors):
        rows, columns = colors.shape[:2]
        area = box(colors, extent)
        y, x = np.nonzero(colors[area][..., 0] > 0.5)
        if not x.size:
            return np.zeros_like(colors)
        left, top = x.min() + area[1].start, y.min() + area[0].start
        width, height = np.ptp(x) + 1, np.ptp(y) + 1
        is_left = 2 * np.arange(columns) < columns
        values = np.where(
            is_left[:, None], [left / columns, top / rows, 0], [width / columns, height / rows, 0]
        )
        return np.broadcast_to(255 * values, colors.shape)

    return formula


def cells(units: np.ndarray) -> np.ndarray:
    """The number of each pixel's cell, of 32 per channel."""
    index = np.minimum(np.floor(np.maximum(units, 0) * 32 + 0.002), 31).astype(int)
    return index @ [1024, 32, 1]


def rounded(units: np.ndarray) -> np.ndarray:
    """Colours as sums have them, in multiples of 2^-20: they decide equal distances."""
    single = (255 * units).astype(np.float32) * np.float32(1 / 255)
    return np.rint(single.astype(np.float64) * 2**20) / 2**20


def lab(units: np.ndarray) -> np.ndarray:
    """CIE Lab of sRGB that is extended to negative values as an odd function."""
    size = np.abs(units)
    linear = np.where(size <= 0.04045, size / 12.92, ((size + 0.055) / 1.055) ** 2.4)
    # From the primaries and the white of IEC 61966-2-1: x .64 .3 .15, y .33 .6 .06, D65 .3127 .329.
    x, y = np.array([[0.64, 0.3, 0.15], [0.33, 0.6, 0.06]])
    primaries = np.array([x / y, np.ones(3), (1 - x - y) / y])
    white = np.array([0.95047, 1, 1.08883])
    matrix = primaries * np.linalg.solve(primaries, white) / white[:, None]
    t = (np.sign(units) * linear) @ matrix.T
    f = np.where(t > (6 / 29) ** 3, np.cbrt(np.maximum(t, 0)), t * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.stack(
        [116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=-1
    )


def nearest(units: np.ndarray, colors: np.ndarray, perceptual: bool) -> np.ndarray:
    """The number of the nearest of `colors` for each pixel; pixels of a cell count as their mean."""
    _, inverse = np.unique(cells(units), return_inverse=True)
    counts = np.bincount(inverse)
    whole = rounded(units)
    means = np.stack(
        [np.bincount(inverse, whole[:, each]) / counts for each in range(3)], axis=-1
    )
    if perceptual:
        means, colors = lab(means), lab(colors)
    far = ((means[:, None] - colors[None]) ** 2).sum(axis=-1)
    return np.argmin(far, axis=1)[inverse]


@formula_of("kMeans")
def k_means(extent, count: float, passes: float, perceptual: bool):
    size = round(count)

    def formula(colors):
        units = area(colors, extent) / 255
        whole = rounded(units)
        means = np.repeat((np.arange(size)[:, None] + 0.5) / size, 3, axis=1)
        for _ in range(round(passes)):
            cluster = nearest(units, means, perceptual)
            for index in np.unique(cluster):
                means[index] = whole[cluster == index].mean(axis=0)
        width = colors.shape[1]
        return np.broadcast_to(255 * means[np.arange(width) * size // width], colors.shape)

    return formula


def palette_centroid(palette: np.ndarray, perceptual: bool = False):
    """The formula of paletteCentroid for a row of colours, on layers in units with alpha."""

    def formula(layer):
        rows, columns = layer.shape[:2]
        colors = palette[..., :3].reshape(-1, 3)
        found = nearest(layer[..., :3].reshape(-1, 3), colors, perceptual).reshape(rows, columns)
        places = []
        for index in range(len(colors)):
            y, x = np.nonzero(found == index)
            at = [(x.mean() + 0.5) / columns, (y.mean() + 0.5) / rows] if x.size else [0, 0]
            places.append([*at, 0, 1])
        row = np.array(places)[np.arange(columns) * len(colors) // columns]
        return np.broadcast_to(row, layer.shape).copy()

    return formula
