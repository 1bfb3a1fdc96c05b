"""One server for the whole run, with the assets that filters of the catalogue need."""

from __future__ import annotations

import base64
import os
import signal

# Some tests start processes while calls are open. gRPC's own handlers of `fork` fail then.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

# A run that is terminated, as at its limit of time, ends its servers and removes its folders.
signal.signal(signal.SIGTERM, signal.default_int_handler)

import pytest

from support.running_server import REPOSITORY, RunningServer


@pytest.fixture(scope="session")
def running_server(tmp_path_factory):
    """A running server, which must still run after all tests."""
    table = tmp_path_factory.mktemp("assets") / "look.cube"
    rows = "\n".join(f"{r} {g} {b}" for b in (0, 1) for g in (0, 1) for r in (0, 1))
    table.write_text(f"LUT_3D_SIZE 2\n{rows}\n")
    image = REPOSITORY / "Examples/media/hat.png"
    assets = ["--asset", f"look.cube={table}", "--asset", f"hat.png={image}"]
    with RunningServer("--shared-memory", *assets) as server:
        yield server
        assert server.process.poll() is None, f"the server ended:\n{server.log}"


@pytest.fixture(scope="module")
def servers(tmp_path_factory):
    """Two servers that restore each other's sessions."""
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text(f"a:{base64.b64encode(bytes(range(32))).decode()}\n")
    keys.chmod(0o600)
    options = "--resume-keys-file", str(keys), "--shared-memory"
    with RunningServer(*options) as first, RunningServer(*options) as second:
        yield first, second


@pytest.fixture(scope="session")
def address(running_server):
    """The server's address on a loopback port."""
    return running_server.tcp
