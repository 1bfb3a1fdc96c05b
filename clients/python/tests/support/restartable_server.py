"""A `sidelight serve` process that can be killed and started again at the same Unix socket."""

from __future__ import annotations

import base64
import select
import signal
import subprocess
from pathlib import Path
from typing import Any

from support.running_server import START_SECONDS, binary


class RestartableServer:
    """A server at one Unix socket. Its process ends with the block, by its process id."""

    def __init__(self, folder: Path, *options: str) -> None:
        keys = folder / "keys"
        keys.write_text("test:" + base64.b64encode(bytes(range(32))).decode() + "\n")
        self._options = ["--resume-keys-file", str(keys), "--shared-memory", *options]
        self._socket = folder / "socket"
        self._log = folder / "log"
        self.address = f"unix:{self._socket}"
        self.process: Any = None

    def start(self) -> None:
        """Starts the server, and waits until it listens."""
        with open(self._log, "ab") as log:
            self.process = subprocess.Popen(
                [binary(), "serve", "--listen", self.address, *self._options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        readable, _, _ = select.select([self.process.stdout], [], [], START_SECONDS)
        line = self.process.stdout.readline() if readable else b""
        assert b"listening" in line, f"the server did not start: {self.log}"

    def kill(self) -> None:
        """Ends the server at once."""
        self.process.kill()
        self._wait()

    def terminate(self) -> None:
        """Asks the server to shut down, without waiting."""
        self.process.send_signal(signal.SIGTERM)

    def _wait(self) -> None:
        self.process.wait(START_SECONDS)
        self.process.stdout.close()

    @property
    def log(self) -> str:
        """The text that the servers wrote to their standard error."""
        return self._log.read_text(errors="replace")

    def __enter__(self) -> RestartableServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if not self.process.stdout.closed:
            self.kill()
