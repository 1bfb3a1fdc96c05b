"""The formulas of filters that measure an area of the picture, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Pictures are rows
by columns by red, green and blue, in levels of 0-255.
"""

import numpy as np

from .formulas import REC_709, formula_of


def area(colors: np.ndarray, extent) -> np.ndarray:
    """The pixels of an area, one a row; of the whole picture if it has none."""
    left, top, width, height = extent
    rows, columns = colors.shape[:2]
    x = np.clip(np.floor(np.array([left, left + width]) + 0.5), 0, columns).astype(int)
    y = np.clip(np.floor(np.array([top, top + height]) + 0.5), 0, rows).astype(int)
    part = colors[y[0] : y[1], x[0] : x[1]]
    return (part if part.size else colors).reshape(-1, 3)


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
        levels = np.floor(np.clip(colors @ REC_709, 0, 255) + 0.5).astype(int)
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
