"""A server with a studio, and its page."""

import pytest

from sidelight_testing.server import Server
from sidelight_testing.websocket import Page


@pytest.fixture(scope="module")
def studio_server():
    """A server with a studio, which must still run after all tests of a module."""
    with Server("--studio", "127.0.0.1:0", "--log-level", "debug") as running:
        yield running
        assert running.process.poll() is None, f"the server died:\n{running.log}"
        assert running.terminate() == 0, running.log


@pytest.fixture(scope="module")
def page(studio_server) -> Page:
    """The studio's page, opened with the one-time token."""
    return Page(studio_server.addresses["studio"])
