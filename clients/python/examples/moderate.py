"""Shows the sessions of a server, and blurs one of them for a minute.

    python moderate.py 127.0.0.1:50051                    # lists the sessions
    python moderate.py 127.0.0.1:50051 --blur ana         # all sessions of the participant
    python moderate.py 127.0.0.1:50051 --end ana

The participant's own look returns when the override ends. Frames for which the override fails come
back blurred or are dropped; they never pass through.
"""

from __future__ import annotations

import argparse
import sys

import sidelight
from sidelight.filters import gaussian_blur
from sidelight.pipelines import short_side


def show(server: sidelight.Server) -> None:
    """Prints a line per session."""
    for session in server.sessions.list():
        fate = f"overridden: {session.override_reason}" if session.override_reason else "own look"
        name = session.participant or session.label or session.session_id
        counts = session.stats
        print(
            f"{name}: {session.width}x{session.height}, {session.pipeline or 'no filter'}, "
            f"{counts.received} frames, {sum(counts.dropped.values())} dropped, {fate}"
        )


def main(address: str, options: argparse.Namespace) -> None:
    with sidelight.connect(address) as server:
        if options.blur:
            blur = gaussian_blur(radius=short_side(0.1))
            server.sessions.override(
                pipeline=blur,
                participant=options.blur,
                for_=options.seconds,
                reason="hidden by a moderator",
            )
        if options.end:
            server.sessions.end_override(participant=options.end)
        show(server)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Shows and overrides the sessions of a server.")
    parser.add_argument("address")
    parser.add_argument("--blur", metavar="PARTICIPANT")
    parser.add_argument("--end", metavar="PARTICIPANT")
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    try:
        main(arguments.address, arguments)
    except sidelight.SidelightError as error:
        sys.exit(str(error))
