"""The `sidelight` command, run to its end."""

import subprocess

from .server import binary


def sidelight(*arguments: object, video: bytes = b"", fails: bool = False, cwd=None):
    """Runs the command to its end, and expects it to succeed or to fail."""
    finished = subprocess.run(
        [binary(), *arguments], input=video, capture_output=True, timeout=60, check=False, cwd=cwd
    )
    assert (finished.returncode != 0) == fails, finished.stderr.decode()
    return finished
