"""Every filter whose computation is documented as a formula, in NumPy and floating point.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Pictures are planes:
arrays of rows by columns by channels, in levels of 0-255, neither rounded nor clamped.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

REC_709 = np.array([0.2126, 0.7152, 0.0722])
BT_601 = np.array([0.299, 0.587, 0.114])


@dataclass(frozen=True)
class Oracle:
    """A filter with settings, and what it computes.

    Exactly one of `color` and `plane` is given: a function of a whole RGB picture, or one of each
    plane of samples by itself, given how many of the plane's pixels one pixel of the frame is.
    """

    filter: str
    parameters: dict[str, object] = field(default_factory=dict)
    color: Callable[[np.ndarray], np.ndarray] | None = None
    plane: Callable[[np.ndarray, float], np.ndarray] | None = None
    tolerance: int = 1

    def __str__(self) -> str:
        settings = ", ".join(f"{key}: {value}" for key, value in self.parameters.items())
        return f"{self.filter}({settings})"


# Colour: each pixel from itself and its place.


def color_controls(saturation: float, brightness: float, contrast: float):
    def formula(colors):
        luma = (colors @ REC_709)[..., None]
        lit = luma + saturation * (colors - luma) + 255 * brightness
        return (lit - 127.5) * contrast + 127.5

    return formula


def color_matrix(red, green, blue, bias):
    def formula(colors):
        with_alpha = np.concatenate([colors, np.full_like(colors[..., :1], 255)], axis=-1)
        return with_alpha @ np.array([red, green, blue]).T + 255 * np.array(bias[:3])

    return formula


def gamma(power: float):
    return lambda colors: 255 * np.sign(colors) * np.abs(colors / 255) ** power


def glow(intensity: float):
    def formula(colors):
        t = np.clip((colors @ REC_709 / 255 - 0.5) / 0.5, 0, 1)
        amount = (t * t * (3 - 2 * t) * intensity)[..., None]
        return colors + (255 * np.array([1, 0.95, 0.8]) - colors) * amount

    return formula


def kernel_mix(colors):
    return colors * 0.5 + np.roll(colors, -1, axis=-1) * 0.3 + 0.1 * 255


def hue(angle: float):
    # Rodrigues' rotation about (1, 1, 1) / sqrt(3).
    axis = np.ones(3) / np.sqrt(3)
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    rotation = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return lambda colors: colors @ rotation.T


# Noise: 65536 bytes, the top ones of SplitMix64 of 0, 1, 2 ...; each row reads a run of them from an
# offset that seed, frame and row give.

GOLDEN = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def mix(value: int) -> int:
    """SplitMix64 (Steele, Lea, Flood 2014): the output for a state."""
    z = (value + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def noise(height: int, width: int, seed: int, frame: int = 0) -> np.ndarray:
    """Noise of 0-1 for each pixel of a frame."""
    rows = []
    for y in range(height):
        start = mix(mix(mix((seed + GOLDEN) & MASK) ^ frame) ^ y) % 65536
        rows.append([(mix(start + x) >> 56) / 255 for x in range(width)])
    return np.array(rows)


def grain(amount: float, seed: int, monochrome: bool = True):
    def formula(colors):
        height, width, _ = colors.shape
        seeds = [seed] * 3 if monochrome else [seed + (channel << 32) for channel in (1, 2, 3)]
        channels = [1 - amount * noise(height, width, each) for each in seeds]
        return colors * np.stack(channels, axis=-1)

    return formula


def random_generator(seed: int):
    def formula(colors):
        height, width, _ = colors.shape
        seeds = [seed + ((channel + 8) << 32) for channel in range(3)]
        return 255 * np.stack([1 - noise(height, width, each) for each in seeds], axis=-1)

    return formula


# Neighbourhoods: edges are clamped.


def shifted(plane: np.ndarray, right: int, down: int) -> np.ndarray:
    """The pixels that lie so far to the right and down; beyond the edges, those at the edges."""
    height, width = plane.shape[:2]
    rows = np.clip(np.arange(height) + down, 0, height - 1)
    columns = np.clip(np.arange(width) + right, 0, width - 1)
    return plane[rows][:, columns]


def weighted(plane: np.ndarray, weights: dict[tuple[int, int], float]) -> np.ndarray:
    """Sums of pixels by how far they lie to the right and down."""
    return sum(shifted(plane, *place) * weight for place, weight in weights.items())


def gaussian(sigma: float):
    def formula(plane, scale=1.0):
        own = sigma * scale
        reach = int(np.ceil(6 * own))
        places = np.arange(-reach, reach + 1)
        weights = np.exp(-(places**2) / (2 * own**2))
        weights /= weights.sum()
        down = weighted(plane, {(0, int(k)): w for k, w in zip(places, weights, strict=True)})
        return weighted(down, {(int(k), 0): w for k, w in zip(places, weights, strict=True)})

    return formula


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


def unsharp(radius: float, intensity: float):
    def formula(plane, scale=1.0):
        return plane + intensity * (plane - gaussian(radius)(plane, scale))

    return formula


def convolution(weights: list[float], bias: float):
    side = int(np.sqrt(len(weights)))
    places = {(i % side - side // 2, i // side - side // 2): w for i, w in enumerate(weights)}
    return lambda colors: weighted(colors, places) + 255 * bias


def pixellate(side: float, center: tuple[float, float]):
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


# Geometry: the same pixels at other places.


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
    """Another number of rows: linear between rows where there are more, means where there are fewer."""
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


EMBOSS = [0, 1, 0, -1, 0, 1, 0, -1, 0]
UNEVEN = [(i * 7 % 11 - 4) / 20 for i in range(25)]
ROWS = {
    "rVector": [0.5, 0.3, 0.1, 0.05],
    "gVector": [0, 0.8, 0.1, 0],
    "bVector": [0.2, 0, 0.7, 0],
    "biasVector": [0.02, -0.05, 0.1, 0],
}
# Shrinks nowhere; where it does, means are taken.
TURN = [1.2, 0.3, -0.3, 1.3, 4, -3]


def box_mean(values: np.ndarray, radius: int) -> np.ndarray:
    """The means of the boxes around each sample, of the samples that exist."""

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


def adaptive(sharpness: float, noise: float):
    def change(found, colors):
        return np.clip(sharpness * found * found**2 / (found**2 + noise**2), -0.15, 0.15)

    return detail(change, 0.1, 2)


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


def sketch(radius: float, strength: float, shade: float):
    def formula(colors):
        luma = (colors @ REC_709)[..., None]
        lines = strength * (luma - gaussian(radius)(luma))
        return np.repeat(255 * (1 - shade) + shade * luma + lines, 3, axis=-1)

    return formula


def color_balance(shadows, midtones, highlights, keeps_luma: bool):
    def formula(colors):
        y = np.clip(colors @ REC_709 / 255, 0, 1)[..., None]
        shift = 0.5 * (
            (1 - y) ** 2 * np.array(shadows)
            + 2 * y * (1 - y) * np.array(midtones)
            + y**2 * np.array(highlights)
        )
        if keeps_luma:
            shift = shift - (shift @ REC_709)[..., None]
        return colors + 255 * shift

    return formula


ORACLES = [
    Oracle("colorInvert", color=lambda colors: 255 - colors),
    Oracle("grayscale", color=lambda colors: np.repeat((colors @ REC_709)[..., None], 3, axis=-1)),
    Oracle(
        "colorControls",
        {"saturation": 1.6, "brightness": -0.1, "contrast": 1.3},
        color_controls(1.6, -0.1, 1.3),
    ),
    Oracle("colorControls", {"saturation": 0.2, "contrast": 0.5}, color_controls(0.2, 0, 0.5)),
    Oracle(
        "colorBalance",
        {"shadows": [-0.2, 0.1, 0.5], "highlights": [0.4, 0, -0.3]},
        color_balance([-0.2, 0.1, 0.5], [0, 0, 0], [0.4, 0, -0.3], True),
    ),
    Oracle(
        "colorBalance",
        {"midtones": [0.3, -0.2, 0], "keepsLuma": False},
        color_balance([0, 0, 0], [0.3, -0.2, 0], [0, 0, 0], False),
    ),
    Oracle("colorMatrix", ROWS, color_matrix(*ROWS.values())),
    Oracle("exposureAdjust", {"ev": 0.7}, lambda colors: colors * 2**0.7),
    Oracle("exposureAdjust", {"ev": -1.5}, lambda colors: colors * 2**-1.5),
    Oracle("gammaAdjust", {"power": 0.6}, gamma(0.6)),
    Oracle("gammaAdjust", {"power": 2.2}, gamma(2.2)),
    Oracle("glow", {}, glow(0.6)),
    Oracle("glow", {"intensity": 1}, glow(1)),
    Oracle(
        "kernel",
        {
            "source": "param intensity: 0.6 in 0..1 "
            "mix(color.rgb, vec3(1, .95, .8), smoothstep(.5, 1, luma(color)) * intensity)",
            "intensity": 0.9,
        },
        glow(0.9),
    ),
    Oracle("kernel", {"source": "color.rgb * 0.5 + color.gbr * 0.3 + 0.1"}, kernel_mix),
    Oracle("hueAdjust", {"angle": 1}, hue(1)),
    Oracle("hueAdjust", {"angle": np.pi}, lambda c: 2 / 3 * c.sum(-1, keepdims=True) - c),
    Oracle("grain", {"amount": 0.4, "seed": 9}, grain(0.4, 9)),
    Oracle("grain", {"amount": 0.4, "monochrome": False}, grain(0.4, 0, False)),
    Oracle("randomGenerator", {"seed": 3}, random_generator(3)),
    Oracle("edgePreservingSmooth", {}, detail(lambda found, _: -found, 0.08)),
    Oracle(
        "edgePreservingSmooth",
        {"amount": 0.6, "edges": 0.2},
        detail(lambda found, _: -0.6 * found, 0.2),
    ),
    Oracle("sharpenAdaptive", {"sharpness": 2}, adaptive(2, 0.02)),
    Oracle("beauty", {"smoothing": 1}, beauty(1)),
    # Steps of tones magnify the rounding of the smoothing.
    Oracle("cartoon", {"tones": 3, "lines": 0.5}, cartoon(3, 0.5), tolerance=6),
    Oracle("sketch", {"radius": 2}, sketch(2, 4, 0.3), tolerance=2),
    Oracle("boxBlur", {"radius": 3}, plane=box(3)),
    Oracle("boxBlur", {"radius": 2.3}, plane=box(2.3)),
    Oracle("gaussianBlur", {"radius": 1.4}, plane=gaussian(1.4)),
    Oracle("gaussianBlur", {"radius": 4}, plane=gaussian(4)),
    # Wide Gaussians work on a reduced picture, which costs them a level.
    Oracle("gaussianBlur", {"radius": 10}, plane=gaussian(10), tolerance=2),
    Oracle("gaussianBlur", {"radius": 25}, plane=gaussian(25), tolerance=2),
    Oracle("motionBlur", {"radius": 20}, plane=motion(20, 0)),
    Oracle("motionBlur", {"radius": 7.5, "angle": 0.6}, plane=motion(7.5, 0.6)),
    Oracle("motionBlur", {"radius": 5, "angle": -2}, plane=motion(5, -2)),
    Oracle("unsharpMask", {}, plane=unsharp(2.5, 0.5)),
    Oracle("unsharpMask", {"radius": 40}, plane=unsharp(40, 0.5), tolerance=2),
    Oracle("convolution3X3", {"weights": EMBOSS, "bias": 0.6}, convolution(EMBOSS, 0.6)),
    Oracle("convolutionRGB3X3", {"weights": EMBOSS, "bias": 0.6}, convolution(EMBOSS, 0.6)),
    Oracle("convolution5X5", {"weights": UNEVEN, "bias": -0.1}, convolution(UNEVEN, -0.1)),
    Oracle("pixellate", {"scale": 12, "center": [10, 6]}, plane=pixellate(12, (10, 6))),
    Oracle("crop", {"origin": [8, 6], "width": 30, "height": 20}, plane=crop(8, 6, 30, 20)),
    Oracle("orient", {"quarterTurns": 1}, plane=orient(1, False)),
    Oracle("orient", {"quarterTurns": 3, "mirrored": True}, plane=orient(3, True)),
    Oracle("scale", {"width": 24, "height": 18, "mode": "stretch"}, plane=stretch(24, 18)),
    Oracle("scale", {"width": 150, "height": 110, "mode": "stretch"}, plane=stretch(150, 110)),
    Oracle("affineTransform", {"transform": TURN, "border": "clamp"}, plane=affine(*TURN)),
]

# Looks that are documented as a chain of other filters.
PRESETS = {
    "vintage": [
        ("temperatureAndTint", {"neutral": [5500, 0], "targetNeutral": [6500, 0]}),
        ("vignette", {"intensity": 1.2, "radius": 2.0}),
        ("grain", {"amount": 0.03}),
    ],
    "vintageWarm": [
        ("temperatureAndTint", {"neutral": [6500, 0], "targetNeutral": [5500, 0]}),
        ("vignette", {"intensity": 1.2, "radius": 2.0}),
        ("grain", {"amount": 0.03}),
    ],
}
