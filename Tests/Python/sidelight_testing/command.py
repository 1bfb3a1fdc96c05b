"""The `sidelight` command, run to its end."""

import subprocess

from .server import binary


def sidelight(
    *arguments: object, video: bytes = b"", fails: bool = False, cwd=None, stdin=None, **options
):
    """Runs the command to its end, and expects it to succeed or to fail.

    `stdin` is a file to read instead of the bytes of `video`; further options are passed to
    `subprocess.run`.
    """
    standard = {"input": video} if stdin is None else {"stdin": stdin}
    finished = subprocess.run(
        [binary(), *arguments], **standard, capture_output=True, timeout=60, check=False, cwd=cwd,
        **options,
    )
    assert (finished.returncode != 0) == fails, finished.stderr.decode()
    return finished
