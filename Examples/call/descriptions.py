"""Descriptions and errors for the page, as JSON."""

from __future__ import annotations

import json
from typing import Any

from sidelight import SidelightError
from sidelight.catalogue import Filter, Parameter
from sidelight.pipelines import RGBA, Length, Point, Value, height, width


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
    """Returns the value of a parameter from the page's JSON."""
    if isinstance(content, dict) and "x" in content:
        return Point(width(content["x"]), height(content["y"]))
    if isinstance(content, dict):
        return RGBA(content["red"], content["green"], content["blue"], content.get("alpha", 1))
    value: Value = content
    return value


def _example(description: Filter) -> dict[str, str]:
    """The parameters with which the page adds a filter: the first example without pictures."""
    names = {each.name for each in description.parameters.values() if each.asset_kind}
    examples = sorted(description.examples, key=lambda each: bool(names & each.keys()))
    shown = examples[0] if examples else {}
    return {name: _text(value) for name, value in shown.items() if name not in names}


def _parameter_json(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "summary": parameter.summary,
        "kind": parameter.kind.value,
        "default": None if parameter.default is None else _text(parameter.default),
        "slider": parameter.slider and vars(parameter.slider),
        "limits": parameter.limits and vars(parameter.limits),
        "unit": parameter.unit.value,
        "choices": parameter.choices,
    }


def _text(value: Value) -> str:
    """Returns a value in the text form of pipelines."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Length):
        return f"{value.value:.15g}{value.unit.value}"
    if isinstance(value, Point):
        return f"({_text(value.x)}, {_text(value.y)})"
    if isinstance(value, RGBA):
        return f"color({', '.join(map(_text, value))})"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return f"{value:.15g}"
    return f"[{', '.join(map(_text, value))}]"
