"""The parameters of a filter: read from the annotations and defaults of a function."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional, get_args, get_origin

from .._validation import finite, invalid
from .._values import RGBA, value_message, value_of
from ..errors import InvalidArgument
from ..v1 import catalogue_pb2, pipeline_pb2

__all__ = ["Parameter", "Range", "checked_name", "parameter_of"]

_TYPES = "bool, int, float, str, RGBA, a Literal of texts or an Enum of texts"


@dataclass(frozen=True)
class Range:
    """The valid values of a number, both ends included: `Annotated[float, Range(0, 1)] = 0.5`.

    - minimum, maximum: The limits; the server refuses values outside them.
    - slider: The range for a slider in a user interface. `None`: the limits.
    """

    minimum: float
    maximum: float
    slider: Optional[tuple[float, float]] = None

    def __post_init__(self) -> None:
        finite("minimum", self.minimum)
        finite("maximum", self.maximum)
        if self.minimum >= self.maximum:
            raise invalid("maximum", self.maximum, f"more than the minimum, {self.minimum:g}")
        if self.slider is not None:
            low, high = self.slider
            if not self.minimum <= low < high <= self.maximum:
                raise invalid("slider", self.slider, "a range within the limits")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a filter."""

    #: The name in the function.
    argument: str
    #: The parameter in the catalogue.
    description: catalogue_pb2.ParameterDescription
    #: Converts a value of the catalogue to the type of the annotation.
    convert: Callable[[Any], Any]

    def value(self, message: pipeline_pb2.ParameterValue) -> Any:
        """Returns the value of a message as the function expects it."""
        return self.convert(value_of(message))


def checked_name(field: str, name: object) -> str:
    """Returns a name of the catalogue; raises `InvalidArgument` for other texts."""
    if not isinstance(name, str) or not re.fullmatch("[a-z][A-Za-z0-9]{0,63}", name):
        requirement = "1 to 64 letters and digits in lower camel case, such as warmLight"
        raise invalid(field, name, requirement)
    return name


def parameter_of(owner: str, parameter: inspect.Parameter, annotation: Any) -> Parameter:
    """Returns the parameter that an argument of a function declares.

    Raises `InvalidArgument` for annotations and defaults that the catalogue cannot describe.
    """
    place = f"{owner}: the parameter {parameter.name}"
    argument = parameter.name
    if annotation is inspect.Parameter.empty:
        raise InvalidArgument(f"{place} has no annotation; annotate it with {_TYPES}")
    if parameter.default is inspect.Parameter.empty:
        raise InvalidArgument(f"{place} has no default; write {argument}: ... = DEFAULT")
    notes: tuple[Any, ...] = ()
    if get_origin(annotation) is Annotated:
        annotation, *rest = get_args(annotation)
        notes = tuple(rest)
    ranges = [note for note in notes if isinstance(note, Range)]
    summary = " ".join(note for note in notes if isinstance(note, str))
    description = catalogue_pb2.ParameterDescription(name=_camel(place, argument), summary=summary)
    convert = _kind(place, annotation, description)
    if ranges:
        _limit(place, description, ranges[0])
    _set_default(place, annotation, parameter.default, description)
    return Parameter(argument, description, convert)


def _camel(place: str, argument: str) -> str:
    first, *rest = argument.strip("_").split("_")
    return checked_name(f"{place}: its name", first + "".join(word.capitalize() for word in rest))


def _kind(
    place: str, annotation: Any, description: catalogue_pb2.ParameterDescription
) -> Callable[[Any], Any]:
    choices: list[str] = []
    convert: Callable[[Any], Any] = annotation if callable(annotation) else str
    if annotation is bool:
        description.kind = catalogue_pb2.PARAMETER_KIND_FLAG
    elif annotation is int or annotation is float:
        description.kind = catalogue_pb2.PARAMETER_KIND_NUMBER
        convert = round if annotation is int else float
    elif annotation is str:
        description.kind = catalogue_pb2.PARAMETER_KIND_TEXT
    elif annotation is RGBA:
        description.kind = catalogue_pb2.PARAMETER_KIND_COLOR
        convert = _same
    else:
        if get_origin(annotation) is Literal:
            choices, convert = list(get_args(annotation)), str
        elif inspect.isclass(annotation) and issubclass(annotation, enum.Enum):
            choices = [case.value for case in annotation]
        if not choices or not all(isinstance(choice, str) and choice for choice in choices):
            raise InvalidArgument(f"{place} is {_shown(annotation)}; it must be {_TYPES}")
        description.kind = catalogue_pb2.PARAMETER_KIND_CHOICE
        description.choices.extend(choices)
    return convert


def _limit(place: str, description: catalogue_pb2.ParameterDescription, range: Range) -> None:
    if description.kind != catalogue_pb2.PARAMETER_KIND_NUMBER:
        raise InvalidArgument(f"{place} has a Range; only int and float take one")
    low, high = range.slider or (range.minimum, range.maximum)
    description.limits.CopyFrom(
        catalogue_pb2.NumberRange(minimum=range.minimum, maximum=range.maximum)
    )
    description.slider.CopyFrom(catalogue_pb2.NumberRange(minimum=low, maximum=high))


def _set_default(
    place: str, annotation: Any, value: Any, description: catalogue_pb2.ParameterDescription
) -> None:
    field = f"{place}: its default"
    kind = description.kind
    if kind == catalogue_pb2.PARAMETER_KIND_NUMBER:
        limits = description.limits
        bounds = (limits.minimum, limits.maximum) if description.HasField("limits") else (-1e6, 1e6)
        value = finite(field, value, *bounds)
        if annotation is int and value != int(value):
            raise invalid(field, value, "an integer")
    elif kind == catalogue_pb2.PARAMETER_KIND_CHOICE:
        value = value.value if isinstance(value, enum.Enum) else value
        if value not in description.choices:
            raise invalid(field, value, "one of " + ", ".join(description.choices))
    elif not isinstance(value, annotation):
        raise invalid(field, value, f"a value of the type {_shown(annotation)}")
    description.default_value.CopyFrom(value_message(field, value))


def _shown(annotation: Any) -> str:
    return annotation.__name__ if inspect.isclass(annotation) else str(annotation)


def _same(value: Any) -> Any:
    return value
