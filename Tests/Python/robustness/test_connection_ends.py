"""Failed and aborted connections are counted and logged by the reason."""

import json
import re
import socket
import ssl
import time
import urllib.request

import pytest

from sidelight_testing.certificates import Authority
from sidelight_testing.server import Server

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
GIVE_UP_SECONDS = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with TLS and debug logs."""
    folder = tmp_path_factory.mktemp("certificates")
    certificate, key = Authority().issue("server", "127.0.0.1").write(folder, "server")
    options = ["--tls-certificate", certificate, "--tls-key", key]
    with Server("--admin", "127.0.0.1:0", "--log-level", "debug", *options) as running:
        yield running
        assert running.terminate() == 0, running.log


def closed(server: Server) -> dict[str, int]:
    """Returns the number of ended connections by reason, and of actions by guard."""
    address = f"http://{server.addresses['admin']}/metrics"
    with urllib.request.urlopen(address, timeout=60) as answer:
        text = answer.read().decode()
    series = r'^sidelight_(?:connections_closed|guard_actions)_total\{\w+="(\w+)"\} (\d+)$'
    return {name: int(count) for name, count in re.findall(series, text, re.MULTILINE)}


def ends(server: Server) -> list[dict]:
    """Returns the log entries of ended connections."""
    events = [json.loads(line) for line in server.log.splitlines()]
    return [event for event in events if event["message"] == "connection closed"]


def connect(server: Server, tls: bool = False) -> socket.socket:
    host, port = server.addresses["tcp"].rsplit(":", 1)
    plain = socket.create_connection((host, int(port)), GIVE_UP_SECONDS)
    if not tls:
        return plain
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(plain)


def speaks_no_tls(server):
    with connect(server) as peer:
        peer.sendall(PREFACE + SETTINGS)
        while peer.recv(4096):
            pass


def breaks_http2(server):
    with connect(server, tls=True) as peer:
        # DATA of a call that was never begun.
        peer.sendall(PREFACE + SETTINGS + bytes([0, 0, 1, 0, 0, 0, 0, 0, 1, 0]))
        while peer.recv(4096):
            pass


def says_nothing(server):
    with connect(server) as peer:
        while peer.recv(4096):
            pass


def resets(server):
    with connect(server, tls=True) as peer:
        peer.sendall(PREFACE + SETTINGS)
        peer.recv(9)
        # Closing with a linger of no time sends RST.
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def leaves(server):
    with connect(server, tls=True) as peer:
        peer.sendall(PREFACE + SETTINGS)
        peer.recv(9)
        # To close at once would be to reset, since there is more to read.
        peer.shutdown(socket.SHUT_WR)
        while peer.recv(4096):
            pass


@pytest.mark.parametrize(
    "attack, reason",
    [
        (speaks_no_tls, "tls"),
        (breaks_http2, "http2"),
        (says_nothing, "guard"),
        (resets, "socket"),
        (leaves, "client"),
    ],
)
def test_a_connection_that_ends_is_counted_by_the_reason(server, attack, reason):
    before, told = closed(server), len(ends(server))
    attack(server)
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while (now := closed(server))[reason] == before[reason]:
        assert time.monotonic() < deadline, (now, server.log)
        time.sleep(0.01)
    assert now[reason] == before[reason] + 1, server.log
    if reason == "guard":
        assert now["preface"] == before["preface"] + 1
    while len(new := ends(server)[told:]) == 0:
        assert time.monotonic() < deadline, server.log
        time.sleep(0.01)
    [event] = new
    assert (event["level"], event["reason"]) == ("debug", reason), event
    assert re.fullmatch(r"ipv4:127\.0\.0\.1:\d+", event["peer"]), event
    assert reason == "client" or event["details"], event
