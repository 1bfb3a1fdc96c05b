"""Each test of this folder runs with both faces."""

from __future__ import annotations

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
