"""The limits of the typed filters' parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Optional, cast

from ._validation import finite, invalid
from ._values import RGBA, Length, LengthUnit, Value

__all__ = ["Limits", "check"]


class Limits(NamedTuple):
    """The range of a number, of the pixels of a length, or of every element of a list."""

    #: The smallest number.
    minimum: float
    #: The largest number.
    maximum: float
    #: The number of elements of a list; 0 for one number.
    length: int = 0


def check(
    name: str, parameters: Mapping[str, Optional[Value]], limits: Mapping[str, Limits]
) -> None:
    """Raises `InvalidArgument` if a parameter of a filter is outside its limits.

    Lengths relative to the frame are left to the server, which knows its size."""
    for parameter, (low, high, length) in limits.items():
        value = parameters.get(parameter)
        if value is None:
            continue
        field = f"{name}.{parameter}"
        if isinstance(value, Length):
            if value.unit is not LengthUnit.PIXELS:
                continue
            value = value.value
        if isinstance(value, RGBA):
            for component, number in zip(value._fields, value):
                finite(f"{field}.{component}", number, low, high)
        elif length:
            elements = [] if isinstance(value, str) else list(cast(Sequence[float], value))
            if len(elements) != length:
                raise invalid(field, value, f"{length} numbers")
            for index, number in enumerate(elements):
                finite(f"{field}[{index}]", number, low, high)
        else:
            finite(field, value, low, high)
