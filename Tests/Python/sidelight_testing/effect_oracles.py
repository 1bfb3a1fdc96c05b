"""The formulas of Core Image's colour effects, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Pictures are rows
by columns by red, green and blue, in levels of 0-255, neither rounded nor clamped.
"""

import numpy as np

from .formulas import REC_709, formula_of


def luma(colors: np.ndarray) -> np.ndarray:
    """Rec. 709 luma of units, with a last axis of one."""
    return (colors @ REC_709)[..., None] / 255


def rgb(color) -> np.ndarray:
    """Red, green and blue of a parameter, or of the default in JSON."""
    if isinstance(color, dict):
        return np.array([color.get(name, 0) for name in ("red", "green", "blue")])
    return np.array(color[:3])


def gray(values: np.ndarray) -> np.ndarray:
    """Units in every channel."""
    return 255 * np.repeat(values, 3, axis=-1)


def over_black(units: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """An opaque picture shows colours with alpha on black."""
    return 255 * units * np.clip(alpha, 0, 1)


@formula_of("colorClamp")
def color_clamp(min_components, max_components):
    low, high = np.array(min_components), np.array(max_components)

    def formula(colors):
        alpha = min(max(1, low[3]), high[3])
        return np.minimum(np.maximum(colors, 255 * low[:3]), 255 * high[:3]) * np.clip(alpha, 0, 1)

    return formula


@formula_of("colorPolynomial", tolerance_at_limits=2)
def color_polynomial(
    red_coefficients, green_coefficients, blue_coefficients, alpha_coefficients
):
    def formula(colors):
        rows = (red_coefficients, green_coefficients, blue_coefficients)
        channels = [
            np.polynomial.polynomial.polyval(colors[..., index] / 255, row)
            for index, row in enumerate(rows)
        ]
        return over_black(np.stack(channels, axis=-1), sum(alpha_coefficients))

    return formula


@formula_of("colorThreshold", tolerance_at_limits=255)
def color_threshold(threshold: float):
    return lambda colors: gray((luma(colors) > threshold).astype(np.float64))


def encoded(light: np.ndarray) -> np.ndarray:
    """The transfer function of sRGB (IEC 61966-2-1)."""
    root = 1.055 * np.maximum(light, 0) ** (1 / 2.4) - 0.055
    return np.where(light < 0.0031308, 12.92 * light, root)


def decoded(colors: np.ndarray) -> np.ndarray:
    """Its inverse."""
    power = (np.maximum(colors + 0.055, 0) / 1.055) ** 2.4
    return np.where(colors < 0.04045, colors / 12.92, power)


@formula_of("linearToSRGBToneCurve")
def linear_to_srgb():
    return lambda colors: 255 * encoded(colors / 255)


@formula_of("sRGBToneCurveToLinear")
def srgb_to_linear():
    return lambda colors: 255 * decoded(colors / 255)


@formula_of("colorMonochrome")
def color_monochrome(color, intensity: float):
    def formula(colors):
        shades = 255 * luma(colors) * rgb(color)
        return colors + intensity * (shades - colors)

    return formula


@formula_of("falseColor")
def false_color(color0, color1):
    return lambda colors: 255 * (rgb(color0) + luma(colors) * (rgb(color1) - rgb(color0)))


@formula_of("maskToAlpha")
def mask_to_alpha():
    # White, over black.
    return lambda colors: over_black(np.ones_like(colors), luma(colors))


@formula_of("maximumComponent")
def maximum_component():
    return lambda colors: np.repeat(colors.max(axis=-1, keepdims=True), 3, axis=-1)


@formula_of("minimumComponent")
def minimum_component():
    return lambda colors: np.repeat(colors.min(axis=-1, keepdims=True), 3, axis=-1)


@formula_of("thermal")
def thermal():
    stops = [[0, 0, 0.35], [0.5, 0, 0.65], [0.95, 0.3, 0.2], [1, 0.8, 0.1], [1, 1, 1]]

    def formula(colors):
        y = np.clip(luma(colors)[..., 0], 0, 1)
        channels = zip(*stops, strict=True)
        return 255 * np.stack(
            [np.interp(y, np.linspace(0, 1, 5), channel) for channel in channels], axis=-1
        )

    return formula


@formula_of("xRay")
def x_ray():
    def formula(colors):
        y = np.clip(1 - luma(colors), 0, 1)
        t = 3 * y**2 - 2 * y**3
        dark, bright = np.array([0.02, 0.05, 0.1]), np.array([0.86, 0.96, 1])
        return 255 * (dark * (1 - t) + bright * t)

    return formula


#: From linear sRGB to XYZ (IEC 61966-2-1), and its white point.
TO_XYZ = np.array(
    [[0.4123908, 0.3575843, 0.1804808], [0.2126390, 0.7151687, 0.0721923],
     [0.0193308, 0.1191948, 0.9505322]]
)
WHITE = np.array([0.9504559, 1, 1.0890578])


def lab_of(units: np.ndarray) -> np.ndarray:
    """CIE 1976 L*a*b* of sRGB."""
    xyz = decoded(units) @ TO_XYZ.T / WHITE
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(np.maximum(xyz, 0)), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def srgb_of(lab: np.ndarray) -> np.ndarray:
    """sRGB of CIE 1976 L*a*b*."""
    lightness, a, b = np.moveaxis(lab, -1, 0)
    y = (lightness + 16) / 116
    f = np.stack([y + a / 500, y, y - b / 200], axis=-1)
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * WHITE
    return encoded(xyz @ np.linalg.inv(TO_XYZ).T)


def normalized(lab: np.ndarray) -> np.ndarray:
    return (lab + [0, 128, 128]) / [100, 255, 255]


# A level is 1/2.55 of a unit, and the matrices of sRGB in use differ in the fifth digit.
@formula_of("convertRGBtoLab", tolerance=3)
def convert_rgb_to_lab(normalize: bool):
    def formula(colors):
        lab = lab_of(colors / 255)
        return 255 * (normalized(lab) if normalize else lab)

    return formula


@formula_of("convertLabToRGB")
def convert_lab_to_rgb(normalize: bool):
    def formula(colors):
        units = colors / 255
        return 255 * srgb_of(units * [100, 255, 255] - [0, 128, 128] if normalize else units)

    return formula


@formula_of("colorPosterize", tolerance_at_limits=255)
def color_posterize(levels: float):
    steps = round(levels) - 1

    def formula(colors):
        return 255 * np.floor(np.clip(colors / 255, 0, 1) * steps + 0.5001) / steps

    return formula




@formula_of("spotColor", tolerance=2, tolerance_at_limits=3)
def spot_color(
    center_color1, replacement_color1, closeness1, contrast1, center_color2, replacement_color2,
    closeness2, contrast2, center_color3, replacement_color3, closeness3, contrast3,
):
    spots = [
        (center_color3, replacement_color3, closeness3, contrast3),
        (center_color2, replacement_color2, closeness2, contrast2),
        (center_color1, replacement_color1, closeness1, contrast1),
    ]

    def formula(colors):
        result = np.repeat(luma(colors), 3, axis=-1)
        for center, replacement, closeness, contrast in spots:
            far = np.linalg.norm(colors / 255 - rgb(center), axis=-1, keepdims=True)
            share = np.clip(0.5 + (closeness - far) / (0.02 + 0.3 * (1 - contrast)), 0, 1)
            result = result * (1 - share) + rgb(replacement) * share
        return 255 * result

    return formula


@formula_of("colorCrossPolynomial", tolerance_at_limits=2)
def color_cross_polynomial(red_coefficients, green_coefficients, blue_coefficients):
    matrix = np.array([red_coefficients, green_coefficients, blue_coefficients])

    def formula(colors):
        r, g, b = np.moveaxis(colors / 255, -1, 0)
        terms = [r, g, b, r * r, g * g, b * b, r * g, g * b, b * r, np.ones_like(r)]
        return 255 * np.einsum("ij,jyx->yxi", matrix, np.stack(terms))

    return formula


@formula_of("highlightShadowAdjust")
def highlight_shadow(highlight_amount: float, shadow_amount: float):
    def formula(colors):
        y = np.clip(luma(colors), 0, 1)
        shadows = 1 + shadow_amount * (1 - y) ** 3
        return colors * shadows * (1 - (1 - highlight_amount) * y**3 / 2)

    return formula


@formula_of("spotLight", tolerance=1, tolerance_at_limits=2)
def spot_light(light_position, light_points_at, brightness: float, concentration: float, color):
    def formula(colors):
        y, x = np.mgrid[0 : colors.shape[0], 0 : colors.shape[1]] + 0.5
        ray = np.stack([x, y, np.zeros_like(x)], axis=-1) - light_position
        way = np.subtract(light_points_at, light_position)
        cosine = ray @ way / np.linalg.norm(ray, axis=-1) / np.linalg.norm(way)
        t = np.clip((cosine - 1 + concentration) / concentration, 0, 1)
        return colors * rgb(color) * (3 * t**2 - 2 * t**3)[..., None] * brightness

    return formula


def hashed(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The hash of kernels of two numbers: 0 to 1, from the bits of single precision."""
    h, k = ((each.astype(np.float32) + np.float32(0)).view(np.uint32) for each in (x, y))
    h = (h ^ h >> 16) * np.uint32(0x9E3779B1)
    h = (h ^ h >> 15) + (k ^ k >> 16) * np.uint32(0x85EBCA77)
    h = (h ^ h >> 13) * np.uint32(0xC2B2AE3D)
    h = (h ^ h >> 16) * np.uint32(0x27D4EB2F)
    return ((h ^ h >> 15) >> 8) / 2**24


@formula_of("dither")
def dither(intensity: float):
    def formula(colors):
        y, x = np.mgrid[0 : colors.shape[0], 0 : colors.shape[1]] + 0.5
        noise = np.stack([hashed(x, y), hashed(x + 0.5, y), hashed(x, y + 0.5)], axis=-1)
        return colors + 255 * intensity * (noise - 0.5)

    return formula
