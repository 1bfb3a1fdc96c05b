"""`check`: validates a pipeline, and shows the passes that it compiles to."""

from __future__ import annotations

import argparse
from typing import Any

from ..sync import Server

__all__ = ["add"]


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "check", parents=[common], help="validate a pipeline, and show its passes"
    )
    parser.add_argument("pipeline", metavar="PIPELINE", help="such as 'sepiaTone, vignette'")
    parser.add_argument("--width", type=int, default=1280, help="the width of the frames")
    parser.add_argument("--height", type=int, default=720, help="the height of the frames")
    parser.add_argument("--format", default="i420", help="the format of the frames")
    parser.set_defaults(run=_run)


def _run(server: Server, options: argparse.Namespace) -> int:
    checked = server.check(
        options.pipeline,
        width=options.width,
        height=options.height,
        format=options.format,
        participant=options.participant,
    )
    print(checked.text or "(the empty pipeline)")
    for number, each in enumerate(checked.passes, 1):
        print(f"{number}. {each.description}")
    if not checked.passes:
        print("Frames pass through unchanged.")
    return 0
