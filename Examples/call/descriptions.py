"""Descriptions and errors for the page, as JSON."""

from __future__ import annotations

from typing import Any

from sidelight import SidelightError
from sidelight.catalogue import Filter, Parameter
from sidelight.pipelines import RGBA, Length, LengthLike, LengthUnit, Point, Value


def filter_json(description: Filter) -> dict[str, Any]:
    """Returns the description of a filter."""
    return {
        "name": description.name,
        "summary": description.summary,
        "category": description.category,
        "keywords": description.keywords,
        "example": _example(description),
        "parameters": [_parameter_json(each) for each in description.parameters.values()],
    }


def error_json(error: Exception) -> dict[str, Any]:
    """Returns the description of an error, without the fields that it does not have."""
    if not isinstance(error, SidelightError):
        return {"code": "INVALID_ARGUMENT", "message": f"{error}"}
    names = ("field", "value", "limit", "suggestion", "line", "column")
    found = {name: getattr(error, name) for name in names if getattr(error, name) is not None}
    code = getattr(error.code, "name", error.code)
    return {"code": code, "message": error.message, **found}


def session_json(session: Any) -> dict[str, Any]:
    """Returns the description of a session for moderators."""
    return {
        "id": session.session_id,
        "participant": session.participant,
        "state": session.state.name.lower(),
        "pipeline": session.pipeline,
        "reason": session.override_reason,
        "age": session.age,
        "width": session.width,
        "height": session.height,
        "filtered": session.stats.filtered,
        "dropped": sum(session.stats.dropped.values()),
    }


def value_of(content: Any) -> Value:
    """Returns the value of a parameter from the page's JSON, an object with one of the kinds."""
    [(kind, value)] = content.items()
    if kind == "length":
        return _length_of(value)
    if kind == "point":
        return Point(_length_of(value.get("x")), _length_of(value.get("y")))
    if kind == "color":
        channels = (value.get(name) for name in ("red", "green", "blue"))
        return RGBA(*channels, value.get("alpha", 1))
    if kind == "vector":
        return list(value.get("values"))
    if kind not in ("number", "flag", "text"):
        raise ValueError(f"{kind} is not a kind of value")
    result: Value = value
    return result


def _length_of(content: Any) -> Length:
    if content.get("unit") not in LengthUnit.__members__:
        raise ValueError(f"{content.get('unit')} is not a unit of lengths")
    return Length(content.get("value"), LengthUnit[content.get("unit")])


def _example(description: Filter) -> dict[str, Any]:
    """The parameters with which the page adds a filter: the first example without pictures."""
    names = {each.name for each in description.parameters.values() if each.asset_kind}
    examples = sorted(description.examples, key=lambda each: bool(names & each.keys()))
    shown = examples[0] if examples else {}
    return {name: _value_json(value) for name, value in shown.items() if name not in names}


def _parameter_json(parameter: Parameter) -> dict[str, Any]:
    """Returns the description of a parameter, as clients over WebSockets have it."""
    description = {
        "name": parameter.name,
        "summary": parameter.summary,
        "kind": parameter.kind.name,
        "slider": parameter.slider and vars(parameter.slider),
        "limits": parameter.limits and vars(parameter.limits),
        "unit": parameter.unit.name,
        "choices": parameter.choices,
        "vectorLength": parameter.vector_length,
        "assetKind": parameter.asset_kind,
    }
    if parameter.default is not None:
        description["defaultValue"] = _value_json(parameter.default)
    return description


def _value_json(value: Value) -> dict[str, Any]:
    """Returns a value as clients over WebSockets have it."""
    if isinstance(value, bool):
        return {"flag": value}
    if isinstance(value, Length):
        return {"length": _length_json(value)}
    if isinstance(value, Point):
        return {"point": {"x": _length_json(value.x), "y": _length_json(value.y)}}
    if isinstance(value, RGBA):
        return {"color": value._asdict()}
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, (int, float)):
        return {"number": value}
    return {"vector": {"values": list(value)}}


def _length_json(length: LengthLike) -> dict[str, Any]:
    value, unit = length if isinstance(length, Length) else (length, LengthUnit.PIXELS)
    return {"value": value, "unit": unit.name}
