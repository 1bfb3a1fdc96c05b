"""`stream`: filters a Y4M video from standard input to standard output."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from ..images import Frame
from ..outcomes import Dropped
from ..sync import Server, Session
from ..y4m import Reader, Writer

__all__ = ["add"]

_DESCRIPTION = """Filters a Y4M video from standard input to standard output, every frame:

  ffmpeg -i in.mp4 -pix_fmt yuv420p -f yuv4mpegpipe - |
    python -m sidelight stream sepiaTone |
    ffmpeg -i - out.mp4
"""


def add(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "stream",
        parents=[common],
        help="filter a Y4M video from standard input to standard output",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pipeline", metavar="PIPELINE", help="such as 'sepiaTone, vignette'")
    parser.set_defaults(run=_run)


def _run(server: Server, options: argparse.Namespace) -> int:
    reader = Reader(sys.stdin.buffer)
    writer = Writer(sys.stdout.buffer, reader.header)
    lost = 0
    with server.session(
        options.pipeline,
        label="python -m sidelight stream",
        participant=options.participant,
        drop_policy="never_drop",
        reconnect=False,
    ) as session:
        for outcome in session.filter_all(_frames(reader, session)):
            with outcome:
                if isinstance(outcome, Dropped):
                    lost += 1
                    reason = outcome.error.message if outcome.error else outcome.reason.name
                    print(f"frame {outcome.sequence} was dropped: {reason}", file=sys.stderr)
                else:
                    writer.write(outcome.image)
        counts = session.counts
    sys.stdout.buffer.flush()
    print(f"{counts.received} frames, {lost} dropped", file=sys.stderr)
    return 1 if lost else 0


def _frames(reader: Reader, session: Session) -> Iterator[Frame]:
    """The frames of the video; read directly into shared memory, if the session uses it."""
    while True:
        frame = session.frame(reader.width, reader.height, reader.format, color=reader.color)
        if reader.read(frame.image) is None:
            return
        yield frame
