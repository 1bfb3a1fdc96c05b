"""Every filter whose computation is documented as a formula, in NumPy and floating point.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Pictures are
planes: arrays of rows by columns by channels, in levels of 0-255, neither rounded nor clamped.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .color_oracles import (
    color_balance,
    color_controls,
    color_matrix,
    gamma,
    glow,
    hue,
    kernel_mix,
)
from .detail_oracles import adaptive, beauty, cartoon, detail, sketch
from .formulas import REC_709
from .geometry_oracles import affine, crop, orient, stretch
from .light_oracles import low_light, white_balance
from .neighborhood_oracles import box, convolution, gaussian, motion, pixellate, unsharp
from .noise_oracles import grain, random_generator


@dataclass(frozen=True)
class Oracle:
    """A filter with settings, and what it computes.

    Exactly one of `color` and `plane` is given: a function of a whole RGB picture, or one of a
    single plane of samples, given how many of the plane's pixels one pixel of the frame is.
    """

    filter: str
    parameters: dict[str, object] = field(default_factory=dict)
    color: Callable[[np.ndarray], np.ndarray] | None = None
    plane: Callable[[np.ndarray, float], np.ndarray] | None = None
    tolerance: int = 1
    #: The light on the picture: factors of red, green and blue.
    light: tuple[float, float, float] = (1, 1, 1)

    def __str__(self) -> str:
        settings = ", ".join(f"{key}: {value}" for key, value in self.parameters.items())
        return f"{self.filter}({settings})"


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
    Oracle("whiteBalance", {}, white_balance(1, 0), light=(0.9, 0.7, 0.5)),
    Oracle(
        "whiteBalance",
        {"amount": 0.7, "warmth": 0.5},
        white_balance(0.7, 0.5),
        light=(0.9, 0.7, 0.6),
    ),
    Oracle("whiteBalance", {"warmth": 1}, white_balance(1, 1), light=(0.6, 0.7, 0.9)),
    Oracle("lowLight", {"denoise": 0}, low_light(1), light=(0.2, 0.2, 0.2)),
    Oracle("lowLight", {"denoise": 0, "amount": 0.5}, low_light(0.5), light=(0.6, 0.5, 0.4)),
    Oracle("lowLight", {"denoise": 0}, low_light(1)),
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
