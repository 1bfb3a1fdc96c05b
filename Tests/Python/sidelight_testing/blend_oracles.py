"""Core Image's compositing filters, blend modes and transitions, in NumPy.

Written from Porter and Duff ("Compositing Digital Images", 1984), the W3C's Compositing and Blending,
and what `DescribeFilter` says, not from the server's code. A layer is rows by columns by four: red,
green, blue, premultiplied, and alpha, all 0-1. Formulas take the frame's layer and another picture's.
"""

import math
from collections.abc import Callable

import numpy as np

from .compositing import REC_709
from .effect_oracles import lab_of

Layer = np.ndarray


def straight(layer: Layer) -> tuple[np.ndarray, np.ndarray]:
    """Colour, 0 where it is not seen, and alpha."""
    alpha = layer[..., 3:]
    return np.divide(layer[..., :3], alpha, out=np.zeros_like(layer[..., :3]), where=alpha > 0), alpha


def premultiplied(colors: np.ndarray, alpha: np.ndarray) -> Layer:
    return np.concatenate([colors * alpha, alpha], axis=-1)


def blending(mode: Callable) -> Callable:
    """The W3C's general formula: `mode` mixes the background's and the source's colours."""

    def formula(source: Layer, back: Layer) -> Layer:
        (cs, alpha), (cb, cover) = straight(source), straight(back)
        both = alpha * cover
        colors = alpha * (1 - cover) * cs + cover * (1 - alpha) * cb + both * mode(cb, cs)
        return np.concatenate([colors, alpha + cover - both], axis=-1)

    return formula


def divided(one, other):
    return np.clip(one / np.maximum(other, 1e-4), None, 1)


def hard_light(b, s):
    return np.where(s < 0.5, 2 * b * s, 1 - 2 * (1 - b) * (1 - s))


def soft_light(b, s):
    d = np.where(b < 0.25, ((16 * b - 12) * b + 4) * b, np.sqrt(np.maximum(b, 0)))
    return np.where(s < 0.5, b - (1 - 2 * s) * b * (1 - b), b + (2 * s - 1) * (d - b))


def color_dodge(b, s):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(b <= 0, 0, np.where(s >= 1, 1, np.minimum(1, b / (1 - s))))


def color_burn(b, s):
    return 1 - color_dodge(1 - b, 1 - s)


def vivid_light(b, s):
    return np.where(s < 0.5, 1 - divided(1 - b, 2 * s), divided(b, 2 - 2 * s))


LUM = np.array([0.3, 0.59, 0.11])


def set_lum(c, target):
    """The W3C's SetLum and ClipColor: the colour with the brightness of another one."""
    moved = c + ((target - c) @ LUM)[..., None]
    y = (moved @ LUM)[..., None]
    low, high = moved.min(-1, keepdims=True), moved.max(-1, keepdims=True)
    # Colours beyond the range, which the W3C leaves open, are not divided by 0.
    lifted = np.where(low < 0, y + (moved - y) * (y / np.maximum(y - low, 1e-9)), moved)
    reduced = y + (lifted - y) * ((1 - y) / np.maximum(high - y, 1e-9))
    return np.where(high > 1, reduced, lifted)


def set_sat(c, by):
    """The W3C's SetSat: the colour with the spread of another one's channels."""
    low, spread = c.min(-1, keepdims=True), np.ptp(c, axis=-1, keepdims=True)
    wanted = np.ptp(by, axis=-1, keepdims=True)
    return np.divide((c - low) * wanted, spread, out=np.zeros_like(c), where=spread > 0)


#: The blend modes: functions of the background's and the source's colours.
MODES = {
    "colorBlendMode": lambda b, s: set_lum(s, b),
    "colorBurnBlendMode": color_burn,
    "colorDodgeBlendMode": color_dodge,
    "darkenBlendMode": np.minimum,
    "differenceBlendMode": lambda b, s: np.abs(b - s),
    "divideBlendMode": divided,
    "exclusionBlendMode": lambda b, s: b + s - 2 * b * s,
    "hardLightBlendMode": hard_light,
    "hueBlendMode": lambda b, s: set_lum(set_sat(s, b), b),
    "lightenBlendMode": np.maximum,
    "linearBurnBlendMode": lambda b, s: np.maximum(b + s - 1, 0),
    "linearDodgeBlendMode": lambda b, s: np.minimum(b + s, 1),
    "linearLightBlendMode": lambda b, s: np.clip(b + 2 * s - 1, 0, 1),
    "luminosityBlendMode": lambda b, s: set_lum(b, s),
    "multiplyBlendMode": np.multiply,
    "overlayBlendMode": lambda b, s: hard_light(s, b),
    "pinLightBlendMode": lambda b, s: np.where(
        s < 0.5, np.minimum(b, 2 * s), np.maximum(b, 2 * s - 1)
    ),
    "saturationBlendMode": lambda b, s: set_lum(set_sat(b, s), b),
    "softLightBlendMode": soft_light,
    "subtractBlendMode": lambda b, s: np.maximum(b - s, 0),
    "vividLightBlendMode": vivid_light,
}


def addition(source: Layer, back: Layer) -> Layer:
    """Alpha stays at 1 at most, and colour is not limited."""
    total = source + back
    return np.concatenate([total[..., :3], np.minimum(total[..., 3:], 1)], axis=-1)


def minimum(source: Layer, back: Layer) -> Layer:
    """Without colour where it is transparent."""
    least = np.minimum(source, back)
    return np.where(least[..., 3:] > 0, least, 0)


#: Porter and Duff's operators, and others of two pictures.
OPERATORS = {
    "additionCompositing": addition,
    "maximumCompositing": np.maximum,
    "minimumCompositing": minimum,
    "sourceAtopCompositing": lambda s, b: s * b[..., 3:] + b * (1 - s[..., 3:]),
    "sourceInCompositing": lambda s, b: s * b[..., 3:],
    "sourceOutCompositing": lambda s, b: s * (1 - b[..., 3:]),
}
BLENDS = OPERATORS | {name: blending(mode) for name, mode in MODES.items()}


def mixed(source: Layer, back: Layer, share) -> Layer:
    return back + (source - back) * share


def absolute_difference(source: Layer, other: Layer) -> Layer:
    (first, alpha), (second, cover) = straight(source), straight(other)
    return premultiplied(np.abs(first - second), alpha * cover)


def lab_delta(source: Layer, other: Layer) -> Layer:
    (first, alpha), (second, cover) = straight(source), straight(other)
    far = np.linalg.norm(lab_of(first) - lab_of(second), axis=-1, keepdims=True) / 100
    far = np.minimum(far, 1)
    return premultiplied(np.repeat(far, 3, axis=-1), alpha * cover)


# Transitions: time goes from 0, the frame, to 1, the target.


def from_center(layer: Layer, center=None):
    height, width = layer.shape[:2]
    y, x = np.mgrid[0:height, 0:width] + 0.5
    cx, cy = center or (width / 2, height / 2)
    return x - cx, y - cy, math.hypot(width, height) / 2


def swept(layer: Layer, time: float, angle: float, width: float) -> np.ndarray:
    """The distance of pixels behind an edge that sweeps over the picture."""
    x, y, _ = from_center(layer)
    way = (math.cos(angle), math.sin(angle))
    height, breadth = layer.shape[:2]
    half = (abs(way[0]) * breadth + abs(way[1]) * height + width) / 2
    return ((2 * time - 1) * half - (x * way[0] + y * way[1]))[..., None]


def swipe(time, angle, width, opacity, tint):
    def formula(source: Layer, target: Layer) -> Layer:
        passed = np.clip(swept(source, time, angle, width) / width + 0.5, 0, 1)
        result = mixed(target, source, 3 * passed**2 - 2 * passed**3)
        return mixed(np.array([*tint, 1]), result, 4 * passed * (1 - passed) * opacity)

    return formula


def copy_machine(time, angle, width, opacity, tint):
    def formula(source: Layer, target: Layer) -> Layer:
        d = swept(source, time, angle, width)
        result = mixed(target, source, np.clip(d + 0.5, 0, 1))
        glow = np.clip(1 - np.abs(d) / (width / 2), 0, 1)
        return mixed(np.array([*tint, 1]), result, np.clip(glow**2 * opacity, 0, 1))

    return formula


def mod_transition(time, center, angle, radius, compression):
    def formula(source: Layer, target: Layer) -> Layer:
        x, y, _ = from_center(source, center)
        z = (x + 1j * y) * np.exp(-1j * angle) / radius
        f = z - np.round(z.real) - 1j * np.round(z.imag)
        slope = 1 + compression / 50
        share = (time * (1 + 1 / slope) - np.abs(f) * math.sqrt(2)) * slope
        return mixed(target, source, np.clip(share, 0, 1)[..., None])

    return formula


def flash(time, center, tint, reach, strength, contrast, threshold):
    def formula(source: Layer, target: Layer) -> Layer:
        x, y, half = from_center(source, center)
        r, angle = np.hypot(x, y) / half, np.arctan2(y, x)
        wave = (np.sin(7 * angle) + np.sin(13 * angle + 2) + np.sin(23 * angle + 4)) / 3
        beam = 1 + strength * np.clip(contrast * wave, -1, 1) * np.clip(4 * r, 0, 1)
        rise, fall = min(2 * time, 1), min((1 - time) * 2 / max(threshold, 0.01), 1)
        far = 4 * (1 + reach) * rise * fall * beam
        light = (np.clip(far * rise * fall - r, 0, 1) * min(rise, fall))[..., None]
        result = mixed(target, source, np.clip((time - 0.5) * 20 + 0.5, 0, 1))
        white = np.array(tint) * (1 - light) + light
        return mixed(np.concatenate([white, np.ones_like(light)], axis=-1), result, light)

    return formula


def disintegrate(time, mask: Layer):
    def formula(source: Layer, target: Layer) -> Layer:
        # The mask's luma counts as far as it is opaque.
        y = (mask[..., :3] @ REC_709)[..., None]
        return mixed(target, source, np.clip((time * 1.1 - y) * 10, 0, 1))

    return formula
