"""Every test of this folder runs with both faces."""

from __future__ import annotations

import socket

import pytest
from support.faces import FACES
from support.restartable_server import RestartableServer


@pytest.fixture(params=sorted(FACES))
def face(request):
    """One of the two faces."""
    face = FACES[request.param]()
    yield face
    face.close()


@pytest.fixture
def server(face, running_server):
    """A client of the running server, over its Unix socket."""
    with face.connect(running_server.unix) as server:
        yield server


@pytest.fixture
def restartable(tmp_path):
    """A server that a test ends and starts again."""
    with RestartableServer(tmp_path) as server:
        yield server


class SilentListener:
    """A Unix socket whose connections are accepted and never answered."""

    def __init__(self, path):
        self.address = f"unix:{path}"
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        self._connections = []

    def accept(self):
        """Waits for a connection."""
        self._connections.append(self._socket.accept()[0])

    def close(self):
        for each in [self._socket, *self._connections]:
            each.close()


@pytest.fixture
def silent_listener(tmp_path):
    """A server that does not answer."""
    listener = SilentListener(tmp_path / "silent")
    yield listener
    listener.close()
