"""Every filter whose computation is documented as a formula, in NumPy and floating point.

Written from the formulas that `DescribeFilter` gives, not from the server's code. Pictures are
planes: arrays of rows by columns by channels, in levels of 0-255, neither rounded nor clamped.
"""

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

# These modules state the formulas.
from . import (
    color_oracles,
    detail_oracles,
    effect_oracles,
    generator_oracles,
    lens_oracles,
    light_oracles,
    neighborhood_oracles,
    noise_oracles,
    reduction_oracles,
    warp_oracles,
)
from .command import sidelight
from .formulas import FORMULAS, Formula
from .geometry_oracles import affine, crop, orient, stretch


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
    #: The share of samples that may be on the other side of a jump.
    jumps: float = 0
    #: The light on the picture: factors of red, green and blue.
    light: tuple[float, float, float] = (1, 1, 1)

    def __str__(self) -> str:
        settings = ", ".join(f"{key}: {value}" for key, value in self.parameters.items())
        return f"{self.filter}({settings})"


def described() -> dict[str, list[dict]]:
    """The parameters of all filters, by filter."""
    listed = json.loads(sidelight("filters", "--json").stdout)["filters"]
    return {each["name"]: each.get("parameters", []) for each in listed}


PARAMETERS = described()


def default_of(parameter: dict) -> object:
    ((kind, value),) = parameter["defaultValue"].items()
    if kind == "point":
        # The centre of the frame, for formulas that do not know its size.
        return None
    if kind in ("vector", "length"):
        return value.get("values" if kind == "vector" else "value", 0)
    return value


def oracle(
    name: str, parameters: dict[str, object], *, is_limit: bool = False, **options
) -> Oracle:
    """A filter with a formula: parameters that are not given have their defaults."""
    formula: Formula = FORMULAS[name]
    given = {**formula.fixed, **parameters}
    values = {each["name"]: default_of(each) for each in PARAMETERS[name]} | given
    accepted = inspect.signature(formula.make).parameters
    arguments = {snake_case(each): value for each, value in values.items()}
    made = formula.make(**{each: arguments[each] for each in accepted})
    kind = "plane" if formula.is_plane else "color"
    tolerance = max(formula.tolerance, formula.tolerance_at_limits if is_limit else 0)
    return Oracle(
        name, given, **{kind: made}, tolerance=tolerance, jumps=formula.jumps, **options
    )


def snake_case(name: str) -> str:
    return re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)


# Lengths beyond the picture's change nothing more.
LONGEST = 40


def values_of(parameter: dict) -> list:
    """Both limits and two values between; both flags. Nothing for other kinds."""
    kind = parameter["kind"].removeprefix("PARAMETER_KIND_")
    if kind == "FLAG":
        return [False, True]
    if kind == "POINT":
        return [[10, 6], [-3.5, 40]]
    if kind not in ("NUMBER", "LENGTH", "VECTOR"):
        return []
    limits = [parameter["limits"].get(end, 0) for end in ("minimum", "maximum")]
    slider = parameter.get("slider", parameter["limits"])
    low, high = (slider.get(end, 0) for end in ("minimum", "maximum"))
    numbers = [limits[0], low + 0.3 * (high - low), low + 0.7 * (high - low), limits[1]]
    if kind == "LENGTH":
        numbers = [min(each, LONGEST) for each in numbers]
    if kind != "VECTOR":
        return numbers
    # The components differ: equal ones cancel each other in some filters.
    components = range(parameter["vectorLength"])
    return [[numbers[(first + each) % 4] for each in components] for first in range(4)]


def derived(name: str) -> list[Oracle]:
    """The defaults, and each parameter of the formula at other values."""
    accepted = inspect.signature(FORMULAS[name].make).parameters
    varied = [each for each in PARAMETERS[name] if snake_case(each["name"]) in accepted]
    # A point is always given: the formulas do not know the picture's size.
    points = {each["name"]: [20, 15] for each in varied if each["kind"].endswith("POINT")}
    oracles = [oracle(name, points)]
    for each in varied:
        values = values_of(each)
        for value in values:
            is_limit = len(values) == 4 and value in (values[0], values[-1])
            oracles.append(oracle(name, {**points, each["name"]: value}, is_limit=is_limit))
    return oracles


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
GLOW = (
    "param intensity: 0.6 in 0..1 "
    "mix(color.rgb, vec3(1, .95, .8), smoothstep(.5, 1, luma(color)) * intensity)"
)

ORACLES = [
    *(each for name in FORMULAS for each in derived(name)),
    # Several parameters, other light, and filters without a formula of all their parameters.
    oracle("colorControls", {"saturation": 1.6, "brightness": -0.1, "contrast": 1.3}),
    oracle("colorControls", {"saturation": 0.2, "contrast": 0.5}),
    oracle("colorBalance", {"shadows": [-0.2, 0.1, 0.5], "highlights": [0.4, 0, -0.3]}),
    oracle("colorBalance", {"midtones": [0.3, -0.2, 0], "keepsLuma": False}),
    oracle("colorMatrix", ROWS),
    Oracle(
        "kernel", {"source": GLOW, "intensity": 0.9}, FORMULAS["glow"].make(0.9)
    ),
    Oracle(
        "kernel", {"source": "color.rgb * 0.5 + color.gbr * 0.3 + 0.1"}, color_oracles.kernel_mix
    ),
    Oracle("hueAdjust", {"angle": np.pi}, lambda c: 2 / 3 * c.sum(-1, keepdims=True) - c),
    oracle("whiteBalance", {}, light=(0.9, 0.7, 0.5)),
    oracle("whiteBalance", {"amount": 0.7, "warmth": 0.5}, light=(0.9, 0.7, 0.6)),
    oracle("whiteBalance", {"warmth": 1}, light=(0.6, 0.7, 0.9)),
    oracle("lowLight", {}, light=(0.2, 0.2, 0.2)),
    oracle("lowLight", {"amount": 0.5}, light=(0.6, 0.5, 0.4)),
    oracle("grain", {"amount": 0.4, "seed": 9}),
    oracle("grain", {"amount": 0.4, "monochrome": False}),
    oracle("edgePreservingSmooth", {"amount": 0.6, "edges": 0.2}),
    oracle("cartoon", {"tones": 3, "lines": 0.5}),
    oracle("sketch", {"radius": 2}),
    oracle("motionBlur", {"radius": 7.5, "angle": 0.6}),
    oracle("motionBlur", {"radius": 5, "angle": -2}),
    oracle("convolution3X3", {"weights": EMBOSS, "bias": 0.6}),
    oracle("convolutionRGB3X3", {"weights": EMBOSS, "bias": 0.6}),
    oracle("convolution5X5", {"weights": UNEVEN, "bias": -0.1}),
    oracle("pixellate", {"scale": 12, "center": [10, 6]}),
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
