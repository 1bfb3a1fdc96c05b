"""A `sidelight serve --workers` process for tests."""

import contextlib
import http.client
import json
import os
import signal
import socket
import tempfile
from pathlib import Path

import grpc

from .contract import frame_filter, service
from .process import WAIT_SECONDS, wait_until
from .server import Server

# A separate connection, which looks for the server at once when it has lost it.
ALONE = [
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 100),
]


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie, which has ended but was not waited for, does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


class Workers(Server):
    """A supervisor, whose workers have admin endpoints on Unix sockets."""

    def __init__(self, count: int, *options: object, **more: object) -> None:
        self.count = count
        self._admin = tempfile.TemporaryDirectory(prefix="sidelight-")
        super().__init__(
            *("--workers", str(count), "--admin", f"unix:{self._admin.name}/a"),
            *("--log-format", "json", *options),
            **more,
        )

    def __exit__(self, *arguments: object) -> None:
        # Whatever a test stopped must go on, to learn that its supervisor is gone.
        for pid in self.pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        pids = self.pids
        super().__exit__(*arguments)
        wait_until(lambda: not any(map(is_alive, pids)))
        self._admin.cleanup()

    def _lines(self, count: int) -> list[str]:
        # Every worker says where its own admin endpoint is.
        lines = super()._lines(2 + self.count)
        return [line for line in lines if line.startswith("listening")]

    def entries(self, message: str, worker: int | None = None) -> list[dict]:
        """Returns the log entries with a message, in order."""
        whole = self.log.rpartition("\n")[0].splitlines()
        lines = [json.loads(line) for line in whole if line.startswith("{")]
        return [
            line
            for line in lines
            if line["message"] == message and worker in (None, int(line.get("worker", -1)))
        ]

    @property
    def pids(self) -> list[int]:
        """The processes that serve, or served last, by worker."""
        serving = {}
        for entry in self.entries("worker serving"):
            serving[int(entry["worker"])] = int(entry["pid"])
        return [serving[worker] for worker in sorted(serving)]

    def end(self, worker: int, sign: int = signal.SIGSEGV) -> int:
        """Ends a worker with a signal. Returns its process ID."""
        pid = self.pids[worker]
        os.kill(pid, sign)
        return pid

    def wait_for(self, message: str, count: int, worker: int | None = None) -> list[dict]:
        """Waits until the log has a number of entries with a message."""
        return wait_until(
            lambda: (
                entries
                if len(entries := self.entries(message, worker)) >= count
                else self._fails_if_over()
            ),
            lambda: self.log,
        )

    def sessions(self, worker: int) -> int:
        """How many sessions a worker has."""
        return int(self.metric("sidelight_sessions", worker))

    def metric(self, name: str, worker: int) -> float:
        connection = http.client.HTTPConnection("worker", timeout=60)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(60)
        try:
            connection.sock.connect(f"{self._admin.name}/a.{worker}")
            connection.request("GET", "/metrics", headers={"Connection": "close"})
            lines = connection.getresponse().read().decode().splitlines()
        finally:
            connection.close()
        return sum(
            float(line.split()[-1]) for line in lines if line.split("{")[0].split()[0] == name
        )

    def channel(self, kind: str = "tcp") -> grpc.Channel:
        return grpc.insecure_channel(self.addresses[kind], ALONE)

    def answers(self, kind: str = "tcp") -> bool:
        """Whether a new connection is answered; waits for that."""
        with self.channel(kind) as channel:
            stub = service.FrameFilterStub(channel)
            request = frame_filter.GetServerInfoRequest()
            info = stub.GetServerInfo(request, timeout=WAIT_SECONDS, wait_for_ready=True)
            return bool(info.version)

    def _fails_if_over(self) -> None:
        assert self.process.poll() is None, self.log
