"""`apply`: filters a JPEG or PNG file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Optional

from .._formats import PixelFormat
from ..images import Image
from ..output import Output
from ..sync import Server

__all__ = ["add"]

_SUFFIXES = {".jpg": PixelFormat.JPEG, ".jpeg": PixelFormat.JPEG, ".png": PixelFormat.PNG}


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser("apply", parents=[common], help="filter a JPEG or PNG file")
    parser.add_argument("input", type=Path, metavar="IN")
    parser.add_argument("output", type=Path, metavar="OUT", help="its suffix tells the format")
    parser.add_argument("pipeline", metavar="PIPELINE", help="such as 'sepiaTone, vignette'")
    parser.add_argument("--width", type=int, help="the width of the result, in pixels")
    parser.add_argument("--height", type=int, help="the height of the result, in pixels")
    parser.add_argument("--quality", type=int, help="the quality of a JPEG result, 1 to 100")
    parser.set_defaults(run=_run)


def _run(server: Server, options: argparse.Namespace) -> int:
    image = Image.file(options.input)
    format = _SUFFIXES.get(options.output.suffix.lower())
    result = server.apply(
        image,
        options.pipeline,
        output=_output(image, format, options),
        participant=options.participant,
    )
    with result:
        options.output.write_bytes(result.image.data)
    return 0


def _output(
    image: Image, format: Optional[PixelFormat], options: argparse.Namespace
) -> Optional[Output]:
    """The requested output; `None` if it is the input's."""
    if format is image.format:
        format = None
    if not (format or options.width or options.height or options.quality):
        return None
    return Output(
        format=format,
        width=options.width,
        height=options.height,
        jpeg_quality=options.quality,
    )
