"""Errors of arguments that the package refuses before it sends anything."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable

from .errors import InvalidArgument

__all__ = ["budget_seconds", "finite", "integer", "invalid", "one_of"]

#: The longest budget in seconds. A longer one is most likely a number of milliseconds.
MAX_BUDGET = 10.0


def invalid(field: str, value: object, requirement: str) -> InvalidArgument:
    """Returns the error of an argument: `field is value; it must be requirement`."""
    shown = repr(value)
    if len(shown) > 80:
        shown = f"{shown[:77]}..."
    return InvalidArgument(
        f"{field} is {shown}; it must be {requirement}", field=field, value=shown, limit=requirement
    )


def integer(field: str, value: object, low: int, high: int) -> int:
    """Returns an integer of a range, both ends included."""
    requirement = f"an integer from {low} to {high}"
    if isinstance(value, bool):
        raise invalid(field, value, requirement)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise invalid(field, value, requirement) from None
    if not low <= number <= high:
        raise invalid(field, number, requirement)
    return number


def finite(
    field: str,
    value: object,
    low: float = -math.inf,
    high: float = math.inf,
    requirement: str = "a finite number",
) -> float:
    """Returns a finite number of a range, both ends included."""
    if math.isfinite(low) or math.isfinite(high):
        requirement += f" from {low:g} to {high:g}"
    if isinstance(value, (bool, str, bytes)):
        raise invalid(field, value, requirement)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise invalid(field, value, requirement) from None
    if not math.isfinite(number) or not low <= number <= high:
        raise invalid(field, value, requirement)
    return number


def budget_seconds(value: object) -> float:
    """Returns a budget in seconds; the error of a large one explains the unit."""
    requirement = "a number of seconds"
    if isinstance(value, (int, float)) and MAX_BUDGET < value < math.inf:
        hint = f"{value:g} milliseconds are {value / 1000:g}"
        requirement += f" from 0 to {MAX_BUDGET:g}; {hint}"
        raise invalid("budget", value, requirement)
    return finite("budget", value, 0, MAX_BUDGET, requirement)


def one_of(field: str, value: object, names: Iterable[str]) -> InvalidArgument:
    """Returns the error of a name that is not one of a few."""
    return invalid(field, value, "one of " + ", ".join(names))
