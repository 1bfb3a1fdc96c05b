"""The formulas of filters that change every pixel's colour separately, in NumPy.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Pictures are rows
by columns by red, green and blue, in levels of 0-255, neither rounded nor clamped.
"""

import numpy as np

from .formulas import REC_709, color_invert, formula_of, grayscale, sepia_tone


@formula_of("colorInvert")
def invert():
    return color_invert


@formula_of("grayscale")
def gray():
    return grayscale


@formula_of("sepiaTone")
def sepia(intensity: float):
    return lambda colors: sepia_tone(colors, intensity)


# A million times the rounding of black.
@formula_of("exposureAdjust", tolerance_at_limits=12)
def exposure(ev: float):
    return lambda colors: colors * 2**ev


@formula_of("colorControls")
def color_controls(saturation: float, brightness: float, contrast: float):
    def formula(colors):
        luma = (colors @ REC_709)[..., None]
        lit = luma + saturation * (colors - luma) + 255 * brightness
        return (lit - 127.5) * contrast + 127.5

    return formula


@formula_of("colorMatrix")
def color_matrix(r_vector, g_vector, b_vector, bias_vector):
    def formula(colors):
        with_alpha = np.concatenate([colors, np.full_like(colors[..., :1], 255)], axis=-1)
        return with_alpha @ np.array([r_vector, g_vector, b_vector]).T + 255 * np.array(bias_vector[:3])

    return formula


@formula_of("gammaAdjust")
def gamma(power: float):
    return lambda colors: 255 * np.sign(colors) * np.abs(colors / 255) ** power


@formula_of("glow")
def glow(intensity: float):
    def formula(colors):
        t = np.clip((colors @ REC_709 / 255 - 0.5) / 0.5, 0, 1)
        amount = (t * t * (3 - 2 * t) * intensity)[..., None]
        return colors + (255 * np.array([1, 0.95, 0.8]) - colors) * amount

    return formula


def kernel_mix(colors):
    return colors * 0.5 + np.roll(colors, -1, axis=-1) * 0.3 + 0.1 * 255


@formula_of("hueAdjust")
def hue(angle: float):
    # Rodrigues' rotation about (1, 1, 1) / sqrt(3).
    axis = np.ones(3) / np.sqrt(3)
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    rotation = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross
    return lambda colors: colors @ rotation.T


@formula_of("colorBalance")
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
