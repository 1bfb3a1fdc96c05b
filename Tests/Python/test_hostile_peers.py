"""What a peer that breaks HTTP/2's and gRPC's rules gets: a status or a closed connection. Whoever else
is there loses no frame, and nothing is left of it."""

import random
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hyperframe import frame as frames

from sidelight_testing import images
from sidelight_testing.bystander import Bystander
from sidelight_testing.contract import session as messages
from sidelight_testing.raw import INFO, PREFACE, PROCESS, RawPeer, frame, message
from sidelight_testing.server import Server

OPEN = message(messages.ClientMessage(open=messages.Open()).SerializeToString())
GONE_SECONDS = 10


@pytest.fixture(scope="module")
def hostile_server():
    """A server that is attacked, and lives."""
    with Server() as server:
        yield server
        assert server.process.poll() is None, f"the server died:\n{server.log}"
        assert server.terminate() == 0, server.log


@pytest.fixture
def bystander(hostile_server):
    """Somebody else's session, during the attack. Afterwards nothing is left of the attacker."""
    with Bystander(hostile_server) as bystander:
        yield bystander
        deadline = time.monotonic() + GONE_SECONDS
        while bystander.load().sessions > 1:
            assert time.monotonic() < deadline, "the attacker's session stands"
            time.sleep(0.01)
        seen = bystander.frames
        while bystander.frames < seen + 5 and bystander.trouble is None:
            time.sleep(0.001)


def varint(number: int) -> bytes:
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def nested(depth: int) -> bytes:
    """A select whose pipelines lie in each other."""
    content = b""
    for _ in range(depth):
        content = field(1, field(6, content))
    return field(17, field(1, content))


# What is sent in a call after its headers, and the statuses that may come of it.
BROKEN_CALLS = {
    "a message of 4 GiB": ([message(b"abc", length=2**32 - 1)], False, {8}),
    "a message that is cut off": ([message(b"abc", length=100)], True, {3}),
    "a length that is cut off": ([b"\0\0"], True, {3}),
    "a session that is cut off in a message": ([OPEN, message(b"abc", length=100)], True, {3}),
    "nothing at all": ([], True, {9}),
    "a message of nothing": ([message(b"")], True, {9}),
    "bytes that are no message": ([message(b"\xff" * 64)], False, {3, 13}),
    "a field that is longer than its message": ([message(b"\x0a\x7f")], False, {3, 13}),
    "a message that is said to be compressed": ([message(b"abc", flags=1)], False, {12}),
    "a flag that is none": ([message(b"abc", flags=255)], False, {12}),
    "a bomb of stages": ([message(field(16, field(1, field(1, b"") * 200_000)))], False, {8}),
    "a bomb of tags": ([OPEN, message(field(1, field(9, b"") * 200_000))], False, {8}),
    "a bomb of unknown fields": ([OPEN, message(b"\xf8\x07\x01" * 200_000)], False, {8}),
    "messages in messages a thousand deep": ([OPEN, message(nested(500))], False, {3, 13}),
    "a name of a megabyte": (
        [message(field(16, field(2, b"n" * (1 << 20))))], False, {3},
    ),
}


@pytest.mark.parametrize("name", BROKEN_CALLS)
def test_a_broken_call_ends_with_a_status(hostile_server, bystander, name):
    parts, ends, statuses = BROKEN_CALLS[name]
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        peer.open_windows()
        peer.call(PROCESS, end=ends and not parts)
        for index, part in enumerate(parts):
            peer.data(part, end=ends and index == len(parts) - 1)
        assert peer.status() in statuses


@pytest.mark.parametrize(
    "method, path, content_type, statuses",
    [
        ("POST", "/no.such.Service/Method", "application/grpc", {12}),
        ("POST", "/sidelight.v1.FrameFilter/NoSuchMethod", "application/grpc", {12}),
        ("POST", "/", "application/grpc", {12}),
        ("POST", "", "application/grpc", {12, None}),
        ("POST", "/a" * 4000, "application/grpc", {12}),
        ("GET", INFO, "application/grpc", {3}),
        ("POST", INFO, "text/html", {-415}),
        ("POST", INFO, "", {-415}),
    ],
)
def test_a_call_to_nowhere_ends_with_a_status(
    hostile_server, bystander, method, path, content_type, statuses
):
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        peer.call(path, method=method, content_type=content_type)
        peer.data(message(b""), end=True)
        assert peer.status() in statuses


# Headers that concern telemetry or transport: whatever is in them, the call is answered.
HEADERS = {
    "a deadline before the call": [("grpc-timeout", "-1S")],
    "a deadline of eight digits": [("grpc-timeout", "99999999H")],
    "a deadline of nine": [("grpc-timeout", "999999999H")],
    "a deadline that is none": [("grpc-timeout", "soon")],
    "two deadlines": [("grpc-timeout", "10S"), ("grpc-timeout", "-5S")],
    "a trace parent that is none": [("traceparent", "garbage")],
    "a trace parent of the future": [("traceparent", "ff-" + "0" * 32 + "-" + "0" * 16 + "-01")],
    "a trace state of 8 KB": [("tracestate", "a=b," * 2000)],
    "baggage that is none": [("baggage", "=;=,;;=" * 20)],
    "base 64 that is none": [("x-token-bin", "!!!not base 64!!!")],
    "a hundred keys": [(f"key-{number}", "v") for number in range(100)],
    "three hundred keys": [(f"k{number}", "v") for number in range(300)],
    "a value of every byte that may be": [
        ("x-bytes", "".join(map(chr, [9, *range(32, 127)])).strip())
    ],
}


@pytest.mark.parametrize("name", HEADERS)
def test_odd_metadata_is_no_fault(hostile_server, bystander, name):
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        peer.call(INFO, headers=HEADERS[name])
        peer.data(message(b""), end=True)
        assert peer.status() == 0


def block(*indexed: int) -> bytes:
    """A block of headers that name entries of HPACK's table."""
    return bytes(0x80 | each for each in indexed)


def bomb_of_headers() -> bytes:
    """One long value, kept in the table and then named four thousand times."""
    kept = b"\x40" + b"\x01x" + b"\x7f" + varint(3000 - 127) + b"a" * 3000
    return frame(1, 4, 1, kept + block(*[62] * 4000))


def settings() -> bytes:
    return frames.SettingsFrame(0, settings={3: 100}).serialize()


def resets() -> bytes:
    """Calls that are begun and given up, again and again."""
    headers = b"".join(
        b"\0" + bytes([len(key)]) + key + bytes([len(value)]) + value
        for key, value in [
            (b":method", b"POST"), (b":scheme", b"http"), (b":path", PROCESS.encode()),
            (b"content-type", b"application/grpc"), (b"te", b"trailers"),
        ]
    )
    return b"".join(
        frame(1, 4, stream, headers) + frames.RstStreamFrame(stream, error_code=8).serialize()
        for stream in range(1, 20_001, 2)
    )


# What is sent after the preface. The server closes the connection on each.
BROKEN_CONNECTIONS = {
    "a frame beyond the limit": frame(0, 0, 1, b"") + b"\xff\xff\xff\0\0\0\0\0\1" + bytes(1 << 16),
    "data without a call": frame(0, 0, 1, b"data"),
    "data of the connection itself": frame(0, 0, 0, b"data"),
    "headers of the connection itself": frame(1, 4, 0, block(3)),
    "a call of the server's own number": frame(1, 4, 2, block(3, 6, 4)),
    "headers that are none": frame(1, 4, 1, b"\xff" * 40),
    "headers that go on and on": frame(1, 0, 1, b"")
    + b"".join(frame(9, 0, 1, b"\0\1a\1b") for _ in range(10_000)),
    "headers that are broken off": frame(1, 0, 1, block(3)) + settings(),
    "a bomb of headers": bomb_of_headers(),
    "a window beyond all bounds": frames.WindowUpdateFrame(0, window_increment=2**31 - 1).serialize()
    * 2,
    "a window of nothing": frame(8, 0, 0, bytes(4)),
    "a PING of the wrong size": frame(6, 0, 0, b"four"),
    "a flood of PINGs": frame(6, 0, 0, bytes(8)) * 20_000,
    "a flood of settings": settings() * 5_000,
    "settings of the wrong size": frame(4, 0, 0, b"12345"),
    "a flood of priorities": frame(2, 0, 1, bytes(5)) * 5_000,
    "a flood of calls given up": resets(),
    "a push": frame(5, 4, 1, bytes(4) + block(3)),
}


@pytest.mark.parametrize("name", BROKEN_CONNECTIONS)
def test_a_broken_connection_is_closed(hostile_server, bystander, name):
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        peer.send(BROKEN_CONNECTIONS[name])
        peer.closed()


@pytest.mark.parametrize(
    "opening", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", bytes(64)]
)
def test_whoever_speaks_something_else_is_sent_away(hostile_server, bystander, opening):
    with RawPeer(hostile_server.addresses["tcp"], preface=False) as peer:
        peer.send(opening)
        peer.closed()


def test_frames_of_the_future_are_ignored(hostile_server, bystander):
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        peer.send(frame(0xEE, 0xFF, 0, b"future") + frame(0xEF, 0, 7, b""))
        peer.call(INFO)
        peer.data(message(b""), end=True)
        assert peer.status() == 0


@pytest.mark.parametrize("seed", range(8))
def test_noise_hurts_nobody(hostile_server, bystander, seed):
    dice = random.Random(seed)
    for _ in range(40):
        with RawPeer(hostile_server.addresses["tcp"], preface=dice.random() < 0.9) as peer:
            if dice.random() < 0.5:
                peer.call(dice.choice([PROCESS, INFO]))
                peer.data(OPEN)
            for _ in range(dice.randrange(1, 6)):
                if dice.random() < 0.5:
                    peer.send(dice.randbytes(dice.randrange(1, 400)))
                else:
                    # A head that is right, with something in it that is not.
                    payload = dice.randbytes(dice.randrange(0, 64))
                    kind, flags = dice.randrange(0, 12), dice.randrange(0, 64)
                    peer.send(frame(kind, flags, dice.choice([0, 1, 1, 3]), payload))


@pytest.mark.parametrize("seed", range(4))
def test_noise_in_messages_ends_a_call_with_a_status(hostile_server, bystander, seed):
    dice = random.Random(seed)
    picture = images.noise("GRAY8", 8, 8)
    sound = messages.ClientMessage(frame=messages.Frame(sequence=1, image=picture))
    for _ in range(25):
        spoilt = bytearray(sound.SerializeToString())
        for _ in range(dice.randrange(1, 4)):
            spoilt[dice.randrange(24)] = dice.randrange(256)
        with RawPeer(hostile_server.addresses["tcp"]) as peer:
            peer.open_windows()
            peer.call(PROCESS)
            peer.data(OPEN + message(bytes(spoilt)), end=True)
            assert peer.status() in {0, 3, 8, 9, 13}


def test_a_ping_for_each_burst_of_data_is_no_flood(hostile_server, bystander):
    # As grpc-go does, to measure the bandwidth: here 1,200 frames, ten seconds of 120 a second.
    picture = images.noise("I420", 16, 16)
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        peer.open_windows()
        peer.call(PROCESS)
        never = messages.DROP_POLICY_NEVER_DROP
        opened = messages.ClientMessage(open=messages.Open(drop_policy=never))
        peer.data(message(opened.SerializeToString()))
        answers = outcomes = 0
        for sequence in range(1, 1201):
            sent = messages.ClientMessage(frame=messages.Frame(sequence=sequence, image=picture))
            peer.data(message(sent.SerializeToString()))
            peer.send(frame(6, 0, 0, struct.pack(">Q", sequence)))
            while answers < sequence or outcomes < sequence:
                each = next(peer.frames(), None)
                assert each is not None and not isinstance(each, frames.GoAwayFrame), sequence
                if isinstance(each, frames.PingFrame) and "ACK" in each.flags:
                    answers += 1
                if isinstance(each, frames.DataFrame) and len(each.data) > 300:
                    outcomes += 1
        peer.data(b"", end=True)
        assert peer.status() == 0


def test_a_deadline_is_kept_with_a_status(hostile_server, bystander):
    late = []
    for _ in range(5):
        with RawPeer(hostile_server.addresses["tcp"]) as peer:
            start = time.monotonic()
            peer.call(PROCESS, headers=[("grpc-timeout", "200m")])
            peer.data(OPEN)
            assert peer.status() == 4
            late.append(time.monotonic() - start - 0.2)
    # What is promised is 50 ms; the best of a few, as the machine may be busy with other things.
    assert 0 <= min(late) < 0.05, late


def test_a_storm_of_connections_leaves_nothing_behind(hostile_server, bystander):
    before = len(list(Path(f"/proc/{hostile_server.process.pid}/fd").iterdir()))
    for _ in range(20):
        peers = [
            RawPeer(hostile_server.addresses["tcp"], preface=number % 2 == 0)
            for number in range(50)
        ]
        for peer in peers:
            peer.__exit__()
    deadline = time.monotonic() + GONE_SECONDS
    while len(list(Path(f"/proc/{hostile_server.process.pid}/fd").iterdir())) > before + 5:
        assert time.monotonic() < deadline, "descriptors are left"
        time.sleep(0.01)


def resident_bytes(process) -> int:
    status = Path(f"/proc/{process.pid}/status").read_text()
    (line,) = [each for each in status.splitlines() if each.startswith("VmRSS")]
    return int(line.split()[1]) << 10


def test_messages_that_are_begun_and_never_ended_have_a_bound(hostile_server, bystander):
    # Ninety calls that announce 64 MiB each, and send a little of it. Eight are 512 MiB.
    statuses = []
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        for stream in range(1, 181, 2):
            peer.call(PROCESS, stream=stream)
            peer.data(message(b"begun", length=64 << 20), stream=stream)
        while len(statuses) < 82:
            # Calls that had begun have headers before their status.
            each = peer.next(frames.HeadersFrame)
            if "grpc-status" in each.headers:
                statuses.append(each.headers["grpc-status"])
    assert set(statuses) == {"8"}


def test_a_connection_that_breaks_with_a_call_on_it_leaves_nothing_behind(hostile_server, bystander):
    # The stack below forgets to let go of such a connection: that was 300 KiB of each.
    def attack(count):
        for _ in range(count):
            with RawPeer(hostile_server.addresses["tcp"]) as peer:
                peer.call(INFO)
                peer.send(BROKEN_CONNECTIONS["a PING of the wrong size"])
                peer.closed()

    attack(100)
    before = resident_bytes(hostile_server.process)
    attack(200)
    assert resident_bytes(hostile_server.process) - before < 200 * (100 << 10)


def test_memory_comes_back(hostile_server, bystander):
    def attack():
        for parts, ends, _ in BROKEN_CALLS.values():
            with RawPeer(hostile_server.addresses["tcp"]) as peer:
                peer.open_windows()
                peer.call(PROCESS)
                for part in parts:
                    peer.data(part)
                peer.data(b"", end=True)
                peer.status()

    attack()
    baseline = resident_bytes(hostile_server.process)
    for _ in range(10):
        attack()
    deadline = time.monotonic() + 30
    while resident_bytes(hostile_server.process) > 1.2 * baseline:
        assert time.monotonic() < deadline, (baseline, resident_bytes(hostile_server.process))
        time.sleep(0.1)
