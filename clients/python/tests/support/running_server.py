"""A `sidelight serve` process on a free port and on a Unix socket."""

from __future__ import annotations

import os
import select
import subprocess
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[4]
START_SECONDS = 60


def binary() -> Path:
    """The built command: `SIDELIGHT_BINARY`, or where a release build puts it."""
    path = Path(os.environ.get("SIDELIGHT_BINARY", REPOSITORY / ".build/release/sidelight"))
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not built; run dev/build, or set SIDELIGHT_BINARY")
    return path


class RunningServer:
    """A server process. Ended by its own process id, at the latest when the block ends."""

    def __init__(self, *options: str) -> None:
        self._options = options
        self._folder = tempfile.TemporaryDirectory(prefix="sidelight-")
        #: The address on a loopback port.
        self.tcp = ""
        #: The address of the Unix socket.
        self.unix = f"unix:{self._folder.name}/socket"

    def __enter__(self) -> RunningServer:
        self._log = open(Path(self._folder.name) / "log", "a+b")
        self.process = subprocess.Popen(
            [binary(), "serve", "--listen", "127.0.0.1:0", "--listen", self.unix, *self._options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        try:
            for line in self._first_lines(2):
                address = line.partition(" on ")[2]
                assert address, f"the server printed {line!r}"
                if not address.startswith("unix:"):
                    self.tcp = address
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()
        self._log.close()
        self._folder.cleanup()

    @property
    def log(self) -> str:
        """The text that the server wrote to its standard error."""
        # Not by the open file: the process moves its position while it writes.
        return Path(self._log.name).read_bytes().decode(errors="replace")

    def _first_lines(self, count: int) -> list[str]:
        assert self.process.stdout
        deadline = time.monotonic() + START_SECONDS
        text = b""
        while text.count(b"\n") < count:
            left = max(0, deadline - time.monotonic())
            readable, _, _ = select.select([self.process.stdout], [], [], left)
            chunk = os.read(self.process.stdout.fileno(), 4096) if readable else b""
            if not chunk:
                raise RuntimeError(f"the server did not start: {text!r}\n{self.log}")
            text += chunk
        return text.decode().splitlines()[:count]
