"""Filters in text form, and words about their parameters: JSON of `sidelight filters --json`."""

from __future__ import annotations

import math
import re
from typing import Any

Description = dict[str, Any]

SUFFIXES = {"WIDTH": "w", "HEIGHT": "h", "SHORT_SIDE": "min"}
#: Names of the files that examples of required parameters have, by kind of asset.
FILES = {"cube": "look.cube", "font": "brand.ttf", "kernel": "glow.kernel"}


def kind(parameter: Description) -> str:
    return parameter["kind"].removeprefix("PARAMETER_KIND_")


def unit(parameter: Description) -> str:
    return parameter.get("unit", "").removeprefix("PARAMETER_UNIT_").lower()


def number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))


def length(value: Description) -> str:
    named = value.get("unit", "").removeprefix("LENGTH_UNIT_")
    return number(value.get("value", 0)) + SUFFIXES.get(named, "")


def color(value: Description) -> str:
    """A colour: with 8 bits per channel if they are enough."""
    channels = [value.get(name, 0) for name in ("red", "green", "blue", "alpha")]
    if channels[3] == 1:
        channels.pop()
    levels = [round(each * 255) for each in channels]
    if all(level / 255 == each for level, each in zip(levels, channels, strict=True)):
        return "#" + "".join(f"{level:02x}" for level in levels)
    return f"color({', '.join(map(number, channels))})"


def quoted(value: str) -> str:
    if re.fullmatch(r"[A-Za-z_][\w.-]*", value, re.ASCII) and value not in ("true", "false", "nan"):
        return value
    for plain, escaped in [("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")]:
        value = value.replace(plain, escaped)
    return f'"{value}"'


def value_text(value: Description) -> str:
    """A parameter's value as a pipeline in text form has it."""
    ((name, content),) = value.items()
    match name:
        case "number":
            return number(content)
        case "length":
            return length(content)
        case "point":
            return f"({length(content.get('x', {}))}, {length(content.get('y', {}))})"
        case "color":
            return color(content)
        case "vector":
            return f"[{', '.join(map(number, content.get('values', [])))}]"
        case "flag":
            return "true" if content else "false"
        case _:
            return quoted(content)


def default(parameter: Description) -> Description | None:
    """The default as users write it: a point in parentheses, also if it is two numbers of pixels."""
    value = parameter.get("defaultValue")
    if value and kind(parameter) == "POINT" and "vector" in value:
        x, y = value["vector"].get("values", [0, 0])
        return {"point": {"x": {"value": x}, "y": {"value": y}}}
    return value


def default_text(parameter: Description) -> str | None:
    """The default in text form; `None` if the parameter is required."""
    value = default(parameter)
    if value == {"text": ""}:
        return "none"
    return value and value_text(value)


def example_value(parameter: Description) -> Description:
    """A valid value of a parameter that has no default."""
    match kind(parameter):
        case "NUMBER" | "LENGTH":
            return {"number": parameter.get("slider", {}).get("maximum", 1)}
        case "POINT":
            half = ({"value": 0.5, "unit": f"LENGTH_UNIT_{side}"} for side in ("WIDTH", "HEIGHT"))
            return {"point": dict(zip("xy", half, strict=True))}
        case "COLOR":
            return {"color": {"red": 1, "green": 1, "blue": 1, "alpha": 1}}
        case "VECTOR":
            return {"vector": {"values": [0] * parameter["vectorLength"]}}
        case "FLAG":
            return {"flag": True}
        case "CHOICE":
            return {"text": parameter["choices"][0]}
        case "TEXT":
            return {"text": "Ada Lovelace"}
        case _:
            return {"text": FILES.get(parameter.get("assetKind"), "picture.png")}


def filter_text(name: str, parameters: dict[str, Description]) -> str:
    listed = ", ".join(f"{key}: {value_text(value)}" for key, value in parameters.items())
    return f"{name}({listed})" if listed else name


def by_default(description: Description) -> str:
    """The filter with the defaults of all parameters; required ones have an example value."""
    values = {
        each["name"]: default(each) or example_value(each)
        for each in description.get("parameters", [])
    }
    return filter_text(
        description["name"], {key: value for key, value in values.items() if value != {"text": ""}}
    )


def example_stages(description: Description, example: Description) -> list[str]:
    """The stages of an example in text form; the last one is the filter."""
    order = [each["name"] for each in description.get("parameters", [])]
    stages = []
    for stage in example["stages"]:
        given = stage["filter"].get("parameters", {})
        # JSON sorts the names.
        names = sorted(given, key=lambda name: order.index(name) if name in order else len(order))
        stages.append(filter_text(stage["filter"]["name"], {name: given[name] for name in names}))
    return stages


def kind_text(parameter: Description) -> str:
    """The type of the value, and the unit of a number: `2 numbers in kelvin`."""
    text = {
        "NUMBER": "number",
        "LENGTH": "length",
        "POINT": "point",
        "COLOR": "colour",
        "VECTOR": f"{parameter.get('vectorLength')} numbers",
        "FLAG": "true or false",
        "CHOICE": "one of " + ", ".join(parameter.get("choices", [])),
        "ASSET": {"image": "name of an image", "cube": "name of a colour table"}.get(
            parameter.get("assetKind"), f"name of a {parameter.get('assetKind')}"
        ),
        "TEXT": "text",
    }[kind(parameter)]
    # A length states its own unit; a bare number is in pixels.
    return text if kind(parameter) in ("LENGTH", "POINT") or not unit(parameter) else (
        f"{text} in {unit(parameter)}"
    )


def range_text(bounds: Description | None) -> str | None:
    """A range with multiples of π spelled out: `-π to π`."""
    if bounds is None:
        return None
    turns = {math.pi: "π", 2 * math.pi: "2π", -math.pi: "-π", -2 * math.pi: "-2π"}
    ends = [bounds.get(end, 0) for end in ("minimum", "maximum")]
    return " to ".join(turns.get(end) or number(end) for end in ends)


def capitalized(name: str) -> str:
    return name[:1].upper() + name[1:]
