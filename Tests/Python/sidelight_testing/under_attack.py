"""Fixtures for tests that attack: `pytest_plugins = ["sidelight_testing.under_attack"]`."""

import time

import pytest

from .bystander import GONE_SECONDS, Bystander
from .server import Server


@pytest.fixture(scope="module")
def hostile_server():
    """A server that must still run after the attack."""
    with Server() as server:
        yield server
        assert server.process.poll() is None, f"the server died:\n{server.log}"
        assert server.terminate() == 0, server.log


@pytest.fixture
def bystander(hostile_server):
    """Another client's session during the attack. Afterwards the attacker has no resources left."""
    with Bystander(hostile_server) as bystander:
        yield bystander
        deadline = time.monotonic() + GONE_SECONDS
        while bystander.load().sessions > 1:
            assert time.monotonic() < deadline, "the attacker's session stands"
            time.sleep(0.01)
        seen = bystander.frames
        while bystander.frames < seen + 5 and bystander.trouble is None:
            time.sleep(0.001)
