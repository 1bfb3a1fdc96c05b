"""A `sidelight serve` process for tests, on a free port and on a Unix socket."""

import os
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import grpc

from .contract import REPOSITORY
from .programs import Program

START_SECONDS = 60
STOP_SECONDS = 60


def binary() -> Path:
    """The built command: `SIDELIGHT_BINARY`, or where a release build puts it."""
    path = Path(os.environ.get("SIDELIGHT_BINARY", REPOSITORY / ".build/release/sidelight"))
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not built; run dev/build, or set SIDELIGHT_BINARY")
    return path


def connect(address: str, *options: tuple[str, int]) -> grpc.Channel:
    """A channel with a separate connection, so tests do not affect each other."""
    return grpc.insecure_channel(address, [("grpc.use_local_subchannel_pool", 1), *options])


class Server:
    """A server process. Ended by its own process id, at the latest when the block ends."""

    def __init__(
        self, *options: str | Path, environment: dict[str, str] | None = None,
        within: Sequence[str] = (), host: str = "127.0.0.1", port: int = 0,
    ) -> None:
        """Options are added to `serve`'s, the environment to this process' own.

        - `within`: The beginning of the command line, such as `Link.command`.
        - `host`, `port`: Its TCP address; port 0 is the system's choice.
        """
        self._options = options
        self._within = within
        self._host = f"{host}:{port}"
        self._environment = os.environ | (environment or {})
        self._folder = tempfile.TemporaryDirectory(prefix="sidelight-")
        # Every line that the server writes goes to the end, wherever this process reads.
        self._log = open(Path(self._folder.name) / "log", "a+b")
        self._socket = Path(self._folder.name) / "socket"
        self._printed = b""
        self.addresses: dict[str, str] = {}

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [
                *[*self._within, binary(), "serve"],
                *["--listen", self._host, "--listen", f"unix:{self._socket}"],
                *self._options,
            ],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        try:
            endpoints = sum(flag in self._options for flag in ("--admin", "--studio"))
            for line in self._lines(count=2 + endpoints):
                what, _, address = line.partition(" on ")
                assert what in ("listening", "admin", "studio") and address, f"it said {line!r}"
                kind = "unix" if address.startswith("unix:") else "tcp"
                self.addresses[kind if what == "listening" else what] = address
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self._log.close()
        self._folder.cleanup()

    def terminate(self) -> int:
        """Asks the server to stop, and waits for it.

        Returns its exit status.
        """
        self.process.terminate()
        return self.process.wait(timeout=STOP_SECONDS)

    def follow_log(self) -> Program:
        """Returns a reader of the lines of the log: those so far, and new ones as they come."""
        return Program("tail", "--follow", "--lines=+1", self._log.name)

    @property
    def log(self) -> str:
        """The text that the server wrote to its standard error."""
        # Not by the open file: the process moves its position while it writes.
        return Path(self._log.name).read_bytes().decode(errors="replace")

    def _lines(self, count: int) -> list[str]:
        """The first lines that the server prints."""
        return [self.read_line() for _ in range(count)]

    def read_line(self) -> str:
        """The next line that the server prints; fails when it does not come in time."""
        deadline = time.monotonic() + START_SECONDS
        while b"\n" not in self._printed:
            left = max(0, deadline - time.monotonic())
            readable, _, _ = select.select([self.process.stdout], [], [], left)
            chunk = os.read(self.process.stdout.fileno(), 4096) if readable else b""
            if not chunk:
                state = "ended" if readable else f"printed no line in {START_SECONDS} s"
                raise RuntimeError(f"the server {state}: {self._printed!r}\n{self.log}")
            self._printed += chunk
        line, _, self._printed = self._printed.partition(b"\n")
        return line.decode()
