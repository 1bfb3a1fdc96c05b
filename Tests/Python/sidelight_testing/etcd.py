"""An etcd of one member, and its keys."""

import base64
import json
import re
import signal
import subprocess
import tempfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from .process import wait_until

PEER = "http://127.0.0.1:0"


class Etcd:
    """An etcd process. Ended by its process id at the end of the block.

    - `within`: The beginning of the command line, such as `Link.command`.
    - `host`: Its address; the port is the system's choice.
    """

    def __init__(self, within: Sequence[str] = (), host: str = "127.0.0.1") -> None:
        self._within = within
        self._host = host
        self._port = 0
        self._lives = 0

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="sidelight-etcd-")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._folder.cleanup()

    @property
    def address(self) -> str:
        return f"{self._host}:{self._port}"

    def start(self, keeps: bool = True) -> None:
        """Starts the process at its last address, with or without the keys of its last life."""
        self._lives += not keeps
        data = Path(self._folder.name) / f"data{self._lives}"
        log = Path(self._folder.name) / "log"
        url = f"http://{self.address}"
        with log.open("w") as output:
            self.process = subprocess.Popen(
                [
                    *[*self._within, "etcd", "--data-dir", data, "--logger", "zap"],
                    *["--listen-client-urls", url, "--advertise-client-urls", url],
                    *["--listen-peer-urls", PEER, "--initial-advertise-peer-urls", PEER],
                    *["--initial-cluster", f"default={PEER}"],
                ],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            )
        serving = r'serving client traffic insecurely.*"address":"[^"]*:(\d+)"'
        found = wait_until(
            lambda: self.process.poll() is not None or re.search(serving, log.read_text()),
            log.read_text)
        assert self.process.poll() is None, f"etcd ended:\n{log.read_text()}"
        self._port = int(found[1])

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def put(self, key: str, value: bytes) -> None:
        self._post("kv/put", key=encoded(key), value=base64.b64encode(value).decode())

    def compact(self) -> None:
        """Forgets all earlier values."""
        revision = self._post("kv/range", key=encoded("x"))["header"]["revision"]
        self._post("kv/compaction", revision=revision, physical=True)

    def _post(self, method: str, **fields: object) -> dict:
        request = urllib.request.Request(
            f"http://{self.address}/v3/{method}", json.dumps(fields).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
