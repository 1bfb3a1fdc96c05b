"""Live sessions over a link that is cut: the time from its return until the first new frame."""

import itertools
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from . import images
from .contract import REPOSITORY
from .link import CLIENT, Link
from .programs import Program
from .server import binary
from .video import FRAME_BYTES, HEADER, HEIGHT, WIDTH

_PYTHON_CLIENT = Path(__file__).with_name("streaming_client.py")
_PYTHON_PACKAGE = REPOSITORY / "clients/python/src"


@dataclass
class Cut:
    """The frames around a cut."""

    # The seconds from the link's return until the first new frame was back.
    seconds: float
    # The frames that were back before the cut.
    before: int
    # The capture times of all frames, in the order of their outcomes.
    captured: list[float]


def cut_python_client(link: Link, address: str, face: str, seconds: float = 5) -> Cut:
    """Cuts the link of a session of the Python client: `sync` or `aio`."""
    python = ["env", f"PYTHONPATH={_PYTHON_PACKAGE}", sys.executable, _PYTHON_CLIENT]
    duration = str(seconds + 7)
    with Program(*link.command(CLIENT), *python, address, face, duration) as client:
        client.wait_for(r".* Filtered")
        over = link.cut(seconds, after=2)
        client.process.wait(timeout=60)
    lines = [line.split() for line in client.lines]
    if any(len(line) != 3 for line in lines):
        raise RuntimeError("\n".join(client.lines))
    outcomes = [(float(captured), float(at), kind) for captured, at, kind in lines]
    filtered = [(captured, at) for captured, at, kind in outcomes if kind == "Filtered"]
    # Frames that were captured soon after the beginning may have been on their way.
    new = min(at for captured, at in filtered if captured > over - seconds + 1)
    before = sum(at < over - seconds for _, at in filtered)
    return Cut(new - over, before, [captured for captured, _, _ in outcomes])


def cut_swift_client(link: Link, address: str, seconds: float = 5) -> Cut:
    """Cuts the link of `sidelight stream --realtime --reconnect`."""
    count = int((seconds + 7) * 25)
    frames = [images.noise("I420", WIDTH, HEIGHT, seed=seed).inline for seed in range(count)]
    numbers = {frame: number for number, frame in enumerate(frames)}
    command = [*link.command(CLIENT), binary(), "stream", "-", "-", "--realtime", "--reconnect"]
    arrivals: list[tuple[float, int]] = []
    over = None
    with subprocess.Popen(
        [*command, "--server", address], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as client:
        video = HEADER + b"".join(b"FRAME\n" + frame for frame in frames)
        sender = threading.Thread(target=_write, args=(client.stdin, video))
        sender.start()
        client.stdout.readline()
        while client.stdout.readline() == b"FRAME\n":
            number = numbers[client.stdout.read(FRAME_BYTES)]
            arrivals.append((time.monotonic(), number))
            if over is None:
                over = link.cut(seconds, after=2)
        sender.join()
    # While the link is cut, the last frame is repeated.
    new = [after[0] for before, after in itertools.pairwise(arrivals) if after[1] > before[1]]
    first = min(at for at in new if at > over - seconds + 1)
    return Cut(
        first - over, sum(at < over - seconds for at in new), [each / 25 for _, each in arrivals]
    )


def _write(pipe, content: bytes) -> None:
    with pipe:
        pipe.write(content)
