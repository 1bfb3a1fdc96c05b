"""The formulas of Core Image's generators, gradients and halftones, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Pictures are rows
by columns by red, green and blue, in levels of 0-255. They are opaque, so colours with alpha are
shown on black.
"""

import math

import numpy as np

from .effect_oracles import luma, rgb
from .formulas import formula_of


def positions(colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The centres of the pixels: x and y."""
    y, x = np.mgrid[0 : colors.shape[0], 0 : colors.shape[1]] + 0.5
    return x, y


def alpha(color) -> float:
    return color.get("alpha", 1) if isinstance(color, dict) else ([*color, 1])[3]


def shown(color, share: np.ndarray) -> np.ndarray:
    """A colour with an opacity, on black."""
    return 255 * rgb(color) * alpha(color) * np.clip(share, 0, 1)[..., None]


def between(color0, color1, share: np.ndarray) -> np.ndarray:
    """A gradient, on black: colours are multiplied by their alpha before they are mixed."""
    first, second = rgb(color0) * alpha(color0), rgb(color1) * alpha(color1)
    return 255 * (first + (second - first) * share[..., None])


def square_wave(distance: np.ndarray, width: float, sharpness: float) -> np.ndarray:
    """1 and -1 in turns of a width, with edges that are a pixel wide or softer."""
    phase = distance / width
    # The distance from the nearest edge in widths, positive in even turns.
    nearest = np.abs(phase - np.round(phase)) * width
    sign = np.where(np.floor(phase) % 2 == 0, 1, -1)
    return np.clip(sign * nearest / max(0.5, (1 - sharpness) * width / 2), -1, 1)


@formula_of("constantColorGenerator")
def constant_color(color):
    return lambda colors: shown(color, np.ones(colors.shape[:2]))


# Colours are not multiplied by alpha: the defaults are opaque.
@formula_of("checkerboardGenerator")
def checkerboard(center, color0, color1, width: float, sharpness: float):
    def formula(colors):
        x, y = positions(colors)
        product = square_wave(x - center[0], width, sharpness) * square_wave(
            y - center[1], width, sharpness
        )
        return between(color1, color0, (1 + product) / 2)

    return formula


@formula_of("stripesGenerator")
def stripes(center, color0, color1, width: float, sharpness: float):
    def formula(colors):
        x, _ = positions(colors)
        return between(color1, color0, (1 + square_wave(x - center[0], width, sharpness)) / 2)

    return formula


def along(colors, point0, point1) -> np.ndarray:
    x, y = positions(colors)
    (x0, y0), (x1, y1) = point0, point1
    length = max((x1 - x0) ** 2 + (y1 - y0) ** 2, 1e-4)
    return ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length


# The oracles give both points the same value, unless one is varied.
@formula_of("linearGradient", tolerance=1)
def linear_gradient(point0, point1, color0, color1):
    return lambda colors: between(color0, color1, np.clip(along(colors, point0, point1), 0, 1))


@formula_of("smoothLinearGradient")
def smooth_linear_gradient(point0, point1, color0, color1):
    def formula(colors):
        t = np.clip(along(colors, point0, point1), 0, 1)
        return between(color0, color1, 3 * t**2 - 2 * t**3)

    return formula


def radii(colors, center) -> np.ndarray:
    x, y = positions(colors)
    return np.hypot(x - center[0], y - center[1])


@formula_of("radialGradient")
def radial_gradient(center, radius0: float, radius1: float, color0, color1):
    def formula(colors):
        width = radius1 - radius0
        t = (radii(colors, center) - radius0) * (1000 if abs(width) < 0.001 else 1 / width)
        return between(color0, color1, np.clip(t, 0, 1))

    return formula


@formula_of("gaussianGradient")
def gaussian_gradient(center, color0, color1, radius: float):
    def formula(colors):
        deviations = radii(colors, center) / (radius / 3)
        return between(color1, color0, np.exp(-(deviations**2) / 2))

    return formula


@formula_of("hueSaturationValueGradient")
def hue_gradient(center, value: float, radius: float, softness: float):
    def formula(colors):
        x, y = positions(colors)
        r = radii(colors, center)
        # Degrees counterclockwise from the right, as in HSV.
        hue = np.degrees(np.arctan2(center[1] - y, x - center[0]))
        saturation = np.clip(r / radius, 0, 1)[..., None]
        pure = np.stack(
            [
                np.clip(2 - np.abs((hue - turn + 180) % 360 - 180) / 60, 0, 1)
                for turn in (0, 120, 240)
            ],
            axis=-1,
        )
        cover = np.clip(0.5 + (radius - r) / max(softness, 1), 0, 1)[..., None]
        return 255 * value * (1 - saturation + saturation * pure) * cover

    return formula


def outline(colors, extent, radius: float) -> np.ndarray:
    """The distance from the edge of a rectangle with round corners, negative inside."""
    x, y = positions(colors)
    left, top, width, height = extent
    half = np.maximum([width / 2, height / 2], 0)
    r = min(radius, *half)
    qx = np.abs(x - left - width / 2) - half[0] + r
    qy = np.abs(y - top - height / 2) - half[1] + r
    corner = np.hypot(np.maximum(qx, 0), np.maximum(qy, 0))
    return corner + np.minimum(np.maximum(qx, qy), 0) - r


@formula_of("roundedRectangleGenerator")
def rounded_rectangle(extent, radius: float, color):
    return lambda colors: shown(color, 0.5 - outline(colors, extent, radius))


@formula_of("roundedRectangleStrokeGenerator")
def rounded_stroke(extent, radius: float, width: float, color):
    return lambda colors: shown(color, 0.5 + width / 2 - np.abs(outline(colors, extent, radius)))


@formula_of("blurredRectangleGenerator")
def blurred_rectangle(extent, sigma: float, color):
    def integral(values, low, length):
        scale = sigma * math.sqrt(2)
        erf = np.vectorize(math.erf)
        high = low + max(length, 0)
        return (erf((values - low) / scale) - erf((values - high) / scale)) / 2

    def formula(colors):
        x, y = positions(colors)
        left, top, width, height = extent
        columns, rows = integral(x[0], left, width), integral(y[:, 0], top, height)
        return shown(color, rows[:, None] * columns)

    return formula


@formula_of("blurredRoundedRectangleGenerator")
def blurred_rounded_rectangle(extent, radius: float, sigma: float, color):
    def formula(colors):
        far = outline(colors, extent, radius) / (sigma * math.sqrt(2))
        return shown(color, (1 - np.vectorize(math.erf)(far)) / 2)

    return formula


@formula_of("starShineGenerator", tolerance=2)
def star_shine(
    center, color, radius: float, cross_scale: float, cross_angle: float, cross_opacity: float,
    cross_width: float, epsilon: float,
):
    def formula(colors):
        x, y = positions(colors)
        x, y = x - center[0], y - center[1]
        end = 10**epsilon
        square = (x**2 + y**2) / max(radius, 0.5) ** 2
        core = np.clip(1.05 * (1 / (1 + square * (1 / end - 1)) - end), 0, 1)
        cosine, sine = math.cos(cross_angle), math.sin(cross_angle)
        u, v = np.abs(x * cosine + y * sine), np.abs(y * cosine - x * sine)
        reach = max(cross_scale * cross_width, 0.5)

        def ray(along, across):
            return np.exp(-((across / cross_width) ** 2)) * np.clip(1 - along / reach, 0, 1)

        light = 4 * core + (ray(u, v) + ray(v, u)) * 2 ** (cross_opacity + 2)
        core = core[..., None]
        tint = rgb(color) * (1 - core) + core
        return 255 * tint * alpha(color) * np.clip(light, 0, 1)[..., None]

    return formula


@formula_of("sunbeamsGenerator", tolerance=2)
def sunbeams(
    center, color, sun_radius: float, max_striation_radius: float, striation_strength: float,
    striation_contrast: float, time: float,
):
    def formula(colors):
        x, y = positions(colors)
        angle = np.arctan2(y - center[1], x - center[0])
        r = radii(colors, center) / max(sun_radius, 0.5)
        turn = 2 * math.pi * time
        waves = np.sin(7 * angle + turn) + np.sin(13 * angle - 2 * turn)
        waves = (waves + np.sin(23 * angle + 3 * turn)) / 3
        beams = np.clip(0.5 + 0.5 * striation_contrast * waves, 0, 1) * striation_strength
        fall = np.clip((1 + max_striation_radius - r) / max(max_striation_radius, 0.01), 0, 1)
        disc = np.clip(10 * (1.05 - r), 0, 1)
        light = np.clip(np.maximum(disc, (beams + 0.3) * fall**2), 0, 1)
        white = (disc**2)[..., None]
        return 255 * (rgb(color) * (1 - white) + white) * alpha(color) * light[..., None]

    return formula


@formula_of("lenticularHaloGenerator", tolerance=2)
def lenticular_halo(
    center, color, halo_radius: float, halo_width: float, halo_overlap: float,
    striation_strength: float, striation_contrast: float, time: float,
):
    def formula(colors):
        x, y = positions(colors)
        angle = np.arctan2(y - center[1], x - center[0])
        turn = 2 * math.pi * time
        waves = np.sin(17 * angle + turn) + np.sin(29 * angle - 2 * turn)
        waves = (waves + np.sin(41 * angle + 3 * turn)) / 3
        rays = 1 + striation_strength * np.clip(striation_contrast * waves, -1, 1)
        width = max(halo_width, 1)
        middle = halo_radius + (1 - halo_overlap) * width * np.array([0.5, 0, -0.5])
        t = (radii(colors, center)[..., None] - middle) / (width / 2)
        light = np.clip(np.clip(1 - t**2, 0, 1) ** 2 * rgb(color) * rays[..., None], 0, 1)
        return 255 * light * alpha(color)

    return formula


def screen_wave(t: np.ndarray) -> np.ndarray:
    """1 at whole numbers, -1 between."""
    f = np.abs(t - np.round(t))
    return 1 - 24 * f**2 + 32 * f**3


def inked(brightness: np.ndarray, screen: np.ndarray, sharpness: float) -> np.ndarray:
    """A screen's black and white, with edges of a slope."""
    k = 1 / max(1 - sharpness, 1 / 256)
    return np.clip(brightness * (k + 1) + (screen - 1) * k, 0, 1)


def gray(values: np.ndarray) -> np.ndarray:
    return 255 * np.repeat(values[..., None], 3, axis=-1)


# A slope of up to 256, which magnifies the rounding of positions.
HARD = {"tolerance": 1, "tolerance_at_limits": 3}


@formula_of("circularScreen", **HARD)
def circular_screen(center, width: float, sharpness: float):
    def formula(colors):
        screen = 0.5 + screen_wave(radii(colors, center) / width) / 2
        return gray(inked(luma(colors)[..., 0], screen, sharpness))

    return formula


def turned(colors, center, angle: float, width: float):
    """The positions in a grid of a width, turned by an angle."""
    x, y = positions(colors)
    x, y = x - center[0], y - center[1]
    cosine, sine = math.cos(angle), math.sin(angle)
    return (x * cosine + y * sine) / width, (y * cosine - x * sine) / width


@formula_of("lineScreen", **HARD)
def line_screen(center, angle: float, width: float, sharpness: float):
    def formula(colors):
        _, v = turned(colors, center, angle, width)
        return gray(inked(luma(colors)[..., 0], 0.5 + screen_wave(v) / 2, sharpness))

    return formula


@formula_of("hatchedScreen", **HARD)
def hatched_screen(center, angle: float, width: float, sharpness: float):
    def formula(colors):
        root = np.sqrt(np.maximum(luma(colors)[..., 0], 0))
        u, v = turned(colors, center, angle, width)
        lines = [inked(root, 0.5 + screen_wave(each) / 2, sharpness) for each in (u, v)]
        return gray(lines[0] * lines[1])

    return formula


@formula_of("cMYKHalftone", **HARD)
def cmyk_halftone(
    center, width: float, angle: float, sharpness: float, g_c_r: float, u_c_r: float
):
    def formula(colors):
        cmy = 1 - np.clip(colors / 255, 0, 1)
        common = cmy.min(axis=-1, keepdims=True)
        black = g_c_r * common
        inks = np.concatenate(
            [cmy * (1 - u_c_r * black), black * (1 - u_c_r) + u_c_r * black * common], axis=-1
        )
        papers = []
        for index, degrees in enumerate((15, 75, 0, 45)):
            u, v = turned(colors, center, angle + math.radians(degrees), width)
            screen = 0.5 - (screen_wave(u) + screen_wave(v)) / 4
            papers.append(inked(1 - inks[..., index], screen, sharpness))
        return 255 * np.stack(papers[:3], axis=-1) * papers[3][..., None]

    return formula
