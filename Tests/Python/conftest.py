"""One server for the whole run, reached over TCP and over a Unix socket."""

import os
import signal

# Some tests start processes while calls are open. gRPC's own handlers of `fork` fail then.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

# A run that is terminated, as at its limit of time, ends its servers and removes its folders.
signal.signal(signal.SIGTERM, signal.default_int_handler)

from contextlib import ExitStack

import grpc
import pytest

from sidelight_testing.command import sidelight
from sidelight_testing.contract import frame_filter, generate, service
from sidelight_testing.link import Link, LinkUnavailable
from sidelight_testing.server import Server

# gRPC's own limit is for messages of a few megabytes; a 4K BGRA frame has 33.
CHANNEL_OPTIONS = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
]


# The number of characters from the end of a server's log that a failed test shows.
LOG_CHARACTERS = 20_000


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Adds the logs of the servers to the report of a failed test."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, Server):
                report.sections.append((f"log of {name}", value.log[-LOG_CHARACTERS:]))
    return report


@pytest.fixture(scope="session")
def server():
    """A running server, which must still run after all tests."""
    with Server("--log-level", "debug") as running:
        yield running
        assert running.process.poll() is None, f"the server died:\n{running.log}"
        assert running.terminate() == 0, running.log


@pytest.fixture(scope="session", params=["tcp", "unix"])
def each_stub(request, server):
    """A client over TCP, and one over a Unix socket."""
    with grpc.insecure_channel(server.addresses[request.param], CHANNEL_OPTIONS) as channel:
        yield service.FrameFilterStub(channel)


@pytest.fixture
def stub(server):
    """A client on a separate connection, so tests do not affect each other."""
    options = [*CHANNEL_OPTIONS, ("grpc.use_local_subchannel_pool", 1)]
    with grpc.insecure_channel(server.addresses["tcp"], options) as channel:
        yield service.FrameFilterStub(channel)


@pytest.fixture(scope="session")
def info(server):
    """The server's description of itself."""
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        client = service.FrameFilterStub(channel)
        return client.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=60)


@pytest.fixture(scope="session")
def with_contract(tmp_path_factory) -> dict[str, str]:
    """The environment of a program that imports the contract's code."""
    folder = tmp_path_factory.mktemp("contract")
    generate(folder)
    return os.environ | {"PYTHONPATH": str(folder)}


@pytest.fixture(scope="session")
def has_vision() -> bool:
    """Whether the command and the server are built with Vision."""
    return "faceBlur" in sidelight("filters").stdout.decode().split()


@pytest.fixture(scope="session")
def vision(has_vision) -> None:
    """Skips a test where the server is built without Vision."""
    if not has_vision:
        pytest.skip("this server is built without Vision")


@pytest.fixture
def make_link():
    """Starts emulated links, with the arguments of `Link`, which end with the test."""
    with ExitStack() as links:

        def make(*conditions, **options) -> Link:
            try:
                return links.enter_context(Link(*conditions, **options))
            except LinkUnavailable as error:
                pytest.skip(f"network namespaces or TUN devices are not permitted: {error}")

        yield make
