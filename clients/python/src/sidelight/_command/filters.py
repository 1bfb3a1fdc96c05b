"""`filters`: lists the filters of a server, or describes one."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from .._values import RGBA, Length, LengthUnit, Point, Value
from ..catalogue import Filter, Parameter, ParameterKind, Unit
from ..errors import NotFound
from ..sync import Server

__all__ = ["add"]


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "filters", parents=[common], help="list the filters, or describe one"
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a filter to describe")
    parser.add_argument("--category", help="only filters of this category")
    parser.set_defaults(run=_run)


def _run(server: Server, options: argparse.Namespace) -> int:
    catalogue = server.filters(options.category, participant=options.participant)
    if options.name is None:
        print(_list(catalogue))
        return 0
    description = catalogue.get(options.name)
    if description is None:
        raise NotFound(
            f"the server has no filter {options.name!r}; 'filters' lists them",
            field="name",
            value=options.name,
            suggestion=next(iter(get_close_matches(options.name, catalogue, 1)), None),
        )
    print(_page(description))
    return 0


def _list(catalogue: Mapping[str, Filter]) -> str:
    categories: dict[str, list[Filter]] = {}
    for each in catalogue.values():
        categories.setdefault(each.category, []).append(each)
    width = max(map(len, catalogue), default=0)
    blocks = []
    for category, filters in categories.items():
        lines = [f"  {each.name.ljust(width)}  {each.summary}" for each in filters]
        blocks.append("\n".join([category, *lines]))
    return "\n\n".join(blocks)


def _page(description: Filter) -> str:
    lines = [description.name, "", f"  {description.summary}", ""]
    facts = {
        "Fidelity": description.fidelity.value,
        "Reads": description.reach.value,
        "Category": description.category,
        "Formula": description.formula,
    }
    for name, value in facts.items():
        lines += _wrapped(value, f"  {name.ljust(10)}")
    lines += ["", "  Parameters" if description.parameters else "  No parameters."]
    for parameter in description.parameters.values():
        lines += _wrapped(f"{parameter.name}: {parameter.summary}", "    ")
        lines += _wrapped(_facts(parameter), "      ")
    return "\n".join(lines)


def _facts(parameter: Parameter) -> str:
    facts = [parameter.kind.value]
    if parameter.unit is not Unit.NONE:
        facts[0] += f" in {parameter.unit.value}"
    if parameter.choices:
        facts[0] = " or ".join(parameter.choices)
    if parameter.kind is ParameterKind.VECTOR:
        facts[0] = f"{parameter.vector_length} numbers"
    if parameter.default is None:
        facts.append("required")
    elif parameter.default != "":
        facts.append(f"default {_text(parameter.default)}")
    for name, values in (("slider", parameter.slider), ("limits", parameter.limits)):
        if values:
            facts.append(f"{name} {values.minimum:g} to {values.maximum:g}")
    return ", ".join(facts)


def _text(value: Value) -> str:
    """A value in the text form of pipelines."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, Length):
        unit = "" if value.unit is LengthUnit.PIXELS else value.unit.value
        return f"{value.value:g}{unit}"
    if isinstance(value, Point):
        return f"({_text(value.x)}, {_text(value.y)})"
    if isinstance(value, RGBA):
        return f"rgba({', '.join(f'{each:g}' for each in value)})"
    if isinstance(value, (int, float)):
        return f"{value:g}"
    return f"[{', '.join(f'{each:g}' for each in value)}]"


def _wrapped(text: str, head: str) -> list[str]:
    return textwrap.wrap(text, 80, initial_indent=head, subsequent_indent=" " * len(head))
