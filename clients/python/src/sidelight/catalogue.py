"""The descriptions of filters that a server lists."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, TypeVar

from ._values import Value, value_of
from .v1 import catalogue_pb2

__all__ = ["Fidelity", "Filter", "Parameter", "ParameterKind", "Reach", "Unit", "ValueRange"]


class Fidelity(enum.Enum):
    """How closely a filter matches the filter that it is named after."""

    #: A server that is newer than this package uses another name.
    UNKNOWN = "unknown"
    #: The computation is documented or exact.
    FORMULA = "formula"
    #: The behaviour is documented; Sidelight's own formula reproduces it.
    MODELLED = "modelled"
    #: A fixed look, tuned by eye.
    APPROXIMATION = "approximation"
    #: A custom filter of the server's operator.
    CUSTOM = "custom"


class Reach(enum.Enum):
    """The part of the frame that a filter reads to compute one pixel."""

    #: A server that is newer than this package uses another name.
    UNKNOWN = "unknown"
    #: The pixel itself. Such a filter is fused with its neighbours in the pipeline.
    PIXEL = "pixel"
    #: A neighbourhood of fixed size.
    NEIGHBORHOOD = "neighborhood"
    #: Any part of the frame.
    FRAME = "frame"


class ParameterKind(enum.Enum):
    """The type of a parameter's value."""

    #: A server that is newer than this package uses another type.
    UNKNOWN = "unknown"
    #: A number.
    NUMBER = "number"
    #: A `Length`, or a number of pixels.
    LENGTH = "length"
    #: A `Point`.
    POINT = "point"
    #: An `RGBA` colour.
    COLOR = "color"
    #: A list of numbers.
    VECTOR = "vector"
    #: A Boolean.
    FLAG = "flag"
    #: One of `Parameter.choices`.
    CHOICE = "choice"
    #: The name of an asset.
    ASSET = "asset"
    #: A text of any characters.
    TEXT = "text"


class Unit(enum.Enum):
    """The unit of a number."""

    #: A number without a unit.
    NONE = ""
    #: Pixels.
    PIXELS = "px"
    #: Radians.
    RADIANS = "rad"
    #: Kelvin.
    KELVIN = "K"
    #: Photographic stops: each stop doubles the amount of light.
    STOPS = "stops"


@dataclass(frozen=True)
class ValueRange:
    """A range of numbers, both ends included."""

    #: The smallest number.
    minimum: float
    #: The largest number.
    maximum: float


@dataclass(frozen=True)
class Parameter:
    """A parameter of a filter."""

    #: The name, in lower camel case.
    name: str
    #: The description, in one line.
    summary: str
    #: The type of the value.
    kind: ParameterKind
    #: The value of a parameter that is not set. `None`: the parameter is required.
    default: Optional[Value]
    #: The range for a slider in a user interface; not a limit.
    slider: Optional[ValueRange]
    #: The range of valid values; of lengths in pixels. `None`: -1e6 to 1e6.
    limits: Optional[ValueRange]
    #: The unit of a number.
    unit: Unit
    #: The valid values of a choice.
    choices: tuple[str, ...]
    #: The number of elements of a vector.
    vector_length: int
    #: The kind of asset that the parameter names: "image", "cube", "font" or "kernel". Empty for
    #: other parameters.
    asset_kind: str = ""
    #: The earlier parameter whose choice decides about the default. Empty for most parameters.
    default_depends_on: str = ""
    #: The defaults that replace `default`, by choice of that parameter.
    choice_defaults: dict[str, Value] = field(default_factory=dict)

    @property
    def is_required(self) -> bool:
        """Whether the parameter has no default."""
        return self.default is None

    @classmethod
    def of(cls, message: catalogue_pb2.ParameterDescription) -> Parameter:
        """Returns the parameter of a message."""
        kinds = catalogue_pb2.ParameterKind
        return cls(
            message.name,
            message.summary,
            _named(ParameterKind, kinds.Name, message.kind, ParameterKind.UNKNOWN),
            value_of(message.default_value) if message.HasField("default_value") else None,
            _range(message.slider) if message.HasField("slider") else None,
            _range(message.limits) if message.HasField("limits") else None,
            _UNITS.get(message.unit, Unit.NONE),
            tuple(message.choices),
            message.vector_length,
            message.asset_kind,
            message.choice_defaults.parameter,
            {name: value_of(each) for name, each in message.choice_defaults.values.items()},
        )


@dataclass(frozen=True)
class Filter:
    """A filter of the catalogue."""

    #: The name, in lower camel case.
    name: str
    #: The description, in one line.
    summary: str
    #: The category, for grouping: "color", "blur".
    category: str
    #: The part of the frame that the filter reads to compute one pixel.
    reach: Reach
    #: How closely the filter matches the filter that it is named after.
    fidelity: Fidelity
    #: The computation, in words and symbols.
    formula: str
    #: The parameters by name, in display order.
    parameters: dict[str, Parameter]
    #: The name of the Core Image filter that it is named after; empty if there is none.
    core_image_name: str = ""
    #: Words for searches that neither the name nor the summary contains.
    keywords: str = ""
    #: Parameters that show the filter, where its defaults do not, or hardly.
    examples: tuple[dict[str, Value], ...] = ()

    @classmethod
    def of(cls, message: catalogue_pb2.FilterDescription) -> Filter:
        """Returns the filter of a message."""
        return cls(
            message.name,
            message.summary,
            message.category,
            _named(Reach, catalogue_pb2.Reach.Name, message.reach, Reach.UNKNOWN),
            _named(Fidelity, catalogue_pb2.Fidelity.Name, message.fidelity, Fidelity.UNKNOWN),
            message.formula,
            {each.name: Parameter.of(each) for each in message.parameters},
            message.core_image_name,
            message.keywords,
            tuple(
                {name: value_of(each) for name, each in pipeline.stages[-1].filter.parameters.items()}
                for pipeline in message.examples
                if pipeline.stages
            ),
        )


_UNITS = {
    int(catalogue_pb2.PARAMETER_UNIT_PIXELS): Unit.PIXELS,
    int(catalogue_pb2.PARAMETER_UNIT_RADIANS): Unit.RADIANS,
    int(catalogue_pb2.PARAMETER_UNIT_KELVIN): Unit.KELVIN,
    int(catalogue_pb2.PARAMETER_UNIT_STOPS): Unit.STOPS,
}
_Case = TypeVar("_Case", bound=enum.Enum)


def _named(kind: type[_Case], name_of: Callable[[Any], str], number: int, unknown: _Case) -> _Case:
    # `FIDELITY_FORMULA` is Fidelity.FORMULA.
    try:
        name = name_of(number)
    except ValueError:
        return unknown
    return next((case for case in kind if name.endswith(f"_{case.name}")), unknown)


def _range(message: catalogue_pb2.NumberRange) -> ValueRange:
    return ValueRange(message.minimum, message.maximum)
