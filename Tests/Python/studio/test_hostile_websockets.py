"""Hostile pages and programs: each loses its own connection. Another session misses no frame, and
the attacker leaves no state behind."""

import json
import random
import socket

import pytest

from sidelight_testing import images
from sidelight_testing.broken_websockets import BROKEN_FRAMES, BROKEN_HANDSHAKES, OPEN
from sidelight_testing.bystander import Bystander
from sidelight_testing.contract import session as messages
from sidelight_testing.process import descriptor_count, resident_bytes
from sidelight_testing.server import Server
from sidelight_testing.websocket import (
    BINARY,
    CLOSE,
    PING,
    PONG,
    TEXT,
    Page,
    WebSession,
    frame,
)

ATTACKER = "127.0.0.3"


@pytest.fixture(scope="module")
def hostile_server():
    """A server that notices silence soon, and not before a client on a busy machine has spoken."""
    options = [
        ("--studio", "127.0.0.1:0"),
        ("--log-level", "debug"),
        ("--guards-keepalive-interval", "300ms"),
        ("--guards-write-stall-timeout", "2s"),
    ]
    with Server(*[part for option in options for part in option]) as running:
        yield running
        assert running.process.poll() is None, f"the server died:\n{running.log}"
        assert running.terminate() == 0, running.log


@pytest.fixture(scope="module")
def page(hostile_server) -> Page:
    return Page(hostile_server.addresses["studio"])


@pytest.fixture
def bystander(hostile_server, page):
    """A session over gRPC and one on a WebSocket, which run during the test."""
    with Bystander(hostile_server) as running, WebBystander(page):
        yield running


class WebBystander:
    """A session on a WebSocket that sends one frame before the attack and one after it."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def __enter__(self):
        self._session = WebSession(self._page, drop_policy=messages.DROP_POLICY_NEVER_DROP)
        self._filter()
        return self

    def __exit__(self, kind, *_: object) -> None:
        if kind is None:
            self._filter()
            assert not self._session.finish().dropped
        self._session.close()

    def _filter(self) -> None:
        sequence = self._session.send_frame(images.noise("I420", 64, 48))
        assert self._session.receive_until("frame").sequence == sequence


@pytest.mark.parametrize("name", BROKEN_FRAMES)
def test_broken_frames_close_their_connection(page, bystander, name):
    content, code = BROKEN_FRAMES[name]
    with page.raw(source=ATTACKER) as peer:
        assert peer.status == 101
        peer.send(content)
        assert peer.close_code() == code
        assert peer.is_closed()


@pytest.mark.parametrize("name", BROKEN_FRAMES)
def test_broken_frames_close_an_open_session(page, bystander, name):
    content, code = BROKEN_FRAMES[name]
    with page.raw(source=ATTACKER) as peer:
        peer.send(frame(BINARY, OPEN))
        peer.send(content)
        assert peer.close_code() == code
        assert peer.is_closed()


@pytest.mark.parametrize("name", BROKEN_HANDSHAKES)
def test_broken_handshakes_are_refused(page, bystander, name):
    headers, status = BROKEN_HANDSHAKES[name]
    with page.raw(source=ATTACKER, headers=headers) as peer:
        assert peer.status == status
        assert peer.is_closed()


@pytest.mark.parametrize("path", ["/sidelight.v1.FrameFilter/Nothing", "/", "/../x", "/?token=x"])
def test_a_path_without_a_method_is_not_found(page, bystander, path):
    with page.raw(path, source=ATTACKER) as peer:
        assert peer.status == 404
        assert peer.is_closed()


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00" + bytes(40),
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 200 + b"\r\n",
        b"GET / HTTP/1.1\r\nx: " + b"y" * 20_000 + b"\r\n\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000000\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 1000,
    ],
    ids=lambda request: repr(request[:24]),
)
def test_broken_requests_are_disconnected(page, bystander, request_bytes):
    host, _, port = page.authority.rpartition(":")
    with socket.create_connection((host, int(port)), 20, (ATTACKER, 0)) as peer:
        peer.settimeout(60)
        try:
            peer.sendall(request_bytes)
            while peer.recv(1 << 16):
                pass
        except (ConnectionResetError, BrokenPipeError):
            pass


def test_one_byte_fragments_are_slow_and_do_no_harm(page, bystander):
    message = messages.ClientMessage(
        frame=messages.Frame(sequence=1, image=images.noise("RGB24", 64, 48))
    ).SerializeToString()
    parts = [frame(0, message[i : i + 1], final=False) for i in range(1, len(message))]
    with page.raw(source=ATTACKER) as peer:
        peer.send(frame(BINARY, OPEN) + frame(BINARY, message[:1], final=False))
        peer.send(b"".join(parts) + frame(0, b""))
        received = [
            messages.ServerMessage.FromString(content).WhichOneof("kind")
            for _, content in zip(range(2), (f for f in peer.frames() if f[0] == BINARY))
            for content in [content[1]]
        ]
        assert received[0] == "opened"


def test_a_flood_of_tiny_messages_does_no_harm(page, bystander):
    with page.raw(source=ATTACKER) as peer:
        ping = messages.ClientMessage(ping=messages.Ping(id=1)).SerializeToString()
        peer.send(frame(BINARY, OPEN))
        peer.send(frame(BINARY, ping) * 20_000)
        for opcode, _ in peer.frames():
            if opcode == CLOSE:
                break


def test_a_flood_of_pings_is_disconnected():
    # A separate server: the limit applies to clients of gRPC too, and they send many.
    with Server(
        *("--studio", "127.0.0.1:0"),
        *("--guards-pings-per-second", "2"),
    ) as server:
        page = Page(server.addresses["studio"])
        with WebBystander(page), page.raw(source=ATTACKER) as peer:
            peer.send(frame(BINARY, OPEN) + frame(PING, b"x" * 125) * 3000)
            assert peer.close_code() == 1008
            assert peer.is_closed()


def test_a_client_that_sends_nothing_more_is_disconnected(page, bystander):
    with page.raw(source=ATTACKER) as peer:
        peer.send(frame(BINARY, OPEN))
        opcodes = [opcode for opcode, _ in peer.frames()]
    assert PING in opcodes, "the server asks whether the client is there"
    assert CLOSE not in opcodes


def test_a_client_that_answers_pings_stays(page, bystander):
    with page.raw(source=ATTACKER) as peer:
        peer.send(frame(BINARY, OPEN))
        pings = 0
        for opcode, content in peer.frames():
            if opcode == PING:
                pings += 1
                peer.send(frame(PONG, content))
            if pings == 6:
                break
        peer.send(frame(TEXT, b"end"))
        assert peer.close_code() == 1000


def test_a_client_that_does_not_close_is_disconnected(page, bystander):
    with page.raw(source=ATTACKER) as peer:
        peer.send(frame(BINARY, OPEN) + frame(TEXT, b"end"))
        assert peer.close_code() == 1000
        assert peer.is_closed()


def test_a_client_that_does_not_read_is_disconnected(page, bystander, hostile_server):
    picture = images.noise("BGRA8", 1280, 720)
    never = messages.DROP_POLICY_NEVER_DROP
    opened = messages.ClientMessage(open=messages.Open(drop_policy=never)).SerializeToString()
    before = resident_bytes(hostile_server.process)
    with page.raw(source=ATTACKER, receive_buffer=4096) as peer:
        peer.send(frame(BINARY, opened))
        # Every frame has 3.7 MB. The server stops reading when the client stops reading.
        for sequence in range(1, 40):
            message = messages.ClientMessage(
                frame=messages.Frame(sequence=sequence, image=picture)
            )
            peer.send(frame(BINARY, message.SerializeToString()))
    assert resident_bytes(hostile_server.process) < before + (160 << 20)


@pytest.mark.parametrize("seed", range(8))
def test_noise_does_not_affect_other_clients(page, bystander, seed):
    rng = random.Random(seed)
    for _ in range(20):
        with page.raw(source=ATTACKER) as peer:
            if rng.random() < 0.5:
                peer.send(frame(BINARY, OPEN))
            for _ in range(rng.randrange(1, 6)):
                opcode = rng.choice([0, 1, 2, 8, 9, 10])
                content = rng.randbytes(rng.randrange(0, 100))
                peer.send(rng.choice([content, frame(opcode, content, final=rng.random() < 0.7)]))


def test_nothing_is_left_of_many_connections(page, bystander, hostile_server):
    before = descriptor_count(hostile_server.process)
    attackers = set()
    for index in range(200):
        with page.raw(source=ATTACKER) as peer:
            attackers.add(f"ipv4:{peer.local_address}")
            peer.send(frame(BINARY, OPEN) if index % 2 else frame(BINARY, OPEN)[:5])
    with hostile_server.follow_log() as log:
        while attackers:
            entry = json.loads(log.wait_for(r'\{.*"connection closed".*\}')[0])
            attackers.discard(entry["peer"])
    # The bystander may have connected since, and files may be open for a moment.
    assert descriptor_count(hostile_server.process) <= before + 4
