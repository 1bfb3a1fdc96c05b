"""HAProxy in front of servers, with the very file that deploy/ holds."""

import os
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Self

from .contract import REPOSITORY

CONFIGURATION = REPOSITORY / "deploy/haproxy/haproxy.cfg"


class HAProxy:
    """A HAProxy process. Ended by its own process id, at the latest when the block ends."""

    def __init__(self, addresses: list[str]) -> None:
        """In front of as many servers as the configuration names."""
        self._servers = {f"SIDELIGHT_{number}": each for number, each in enumerate(addresses, 1)}
        self._folder = tempfile.TemporaryDirectory(prefix="sidelight-haproxy-")
        self._statistics = Path(self._folder.name) / "statistics"
        self._log = open(Path(self._folder.name) / "log", "w+b")

    def __enter__(self) -> Self:
        # A port that the system chooses, handed over as a descriptor. The test queries the state on
        # a socket that only the test's second file adds.
        added = Path(self._folder.name) / "added.cfg"
        added.write_text(f"global\n  stats socket {self._statistics}\n")
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            listener.listen(128)
            self.address = "127.0.0.1:{}".format(listener.getsockname()[1])
            self.process = subprocess.Popen(
                ["haproxy", "-W", "-f", CONFIGURATION, "-f", added],
                env=os.environ | self._servers | {"SIDELIGHT_BIND": f"fd@{listener.fileno()}"},
                pass_fds=[listener.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
            )
        return self

    def __exit__(self, *_: object) -> None:
        # The master ends its worker, if it is asked.
        self.process.terminate()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._log.close()
        self._folder.cleanup()

    @property
    def log(self) -> str:
        """The proxy's log."""
        # Not by the open file: the process moves its position while it writes.
        return Path(self._log.name).read_bytes().decode(errors="replace")

    def states(self) -> dict[str, str]:
        """Every server's state as HAProxy sees it: `UP`, `DOWN`, or on the way."""
        rows = [line.split(",") for line in self._ask("show stat").splitlines() if line]
        names = rows[0]
        state, name, proxy = names.index("status"), names.index("svname"), names.index("# pxname")
        return {
            row[name]: row[state]
            for row in rows[1:]
            if row[proxy] == "servers" and row[name] != "BACKEND"
        }

    def _ask(self, question: str) -> str:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(60)
            connection.connect(str(self._statistics))
            connection.sendall(question.encode() + b"\n")
            answer = b""
            while chunk := connection.recv(1 << 16):
                answer += chunk
        return answer.decode()
