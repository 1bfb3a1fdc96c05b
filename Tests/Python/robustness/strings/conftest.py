"""Fixtures with a server per file of this folder."""

import grpc
import pytest

from sidelight_testing.contract import service, sessions_service
from sidelight_testing.server import Server, connect


@pytest.fixture(scope="module")
def server():
    """A separate server, since the tests measure its memory."""
    with Server() as running:
        yield running
        assert running.process.poll() is None, f"the server ended:\n{running.log}"


@pytest.fixture
def channel(server):
    """A connection that accepts answers of any size; the tests check the sizes."""
    with connect(server.addresses["tcp"], ("grpc.max_receive_message_length", -1)) as channel:
        yield channel


@pytest.fixture
def stub(channel):
    return service.FrameFilterStub(channel)


@pytest.fixture
def operators(server):
    """An operator with grpcio's default limit of 4 MiB per answer."""
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        yield sessions_service.SessionsStub(channel)
