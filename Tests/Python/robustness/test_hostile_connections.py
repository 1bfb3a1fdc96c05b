"""A peer that breaks HTTP/2's rules gets a closed connection. Other clients lose no frame, and
the peer leaves no state behind."""

import random
import struct
import time

import grpc
import pytest
from hyperframe import frame as frames

from sidelight_testing import images
from sidelight_testing.broken_calls import OPEN
from sidelight_testing.broken_connections import BROKEN_CONNECTIONS
from sidelight_testing.bystander import GONE_SECONDS
from sidelight_testing.contract import service
from sidelight_testing.contract import session as messages
from sidelight_testing.process import descriptor_count, resident_bytes
from sidelight_testing.raw import INFO, PROCESS, RawPeer, frame, message
from sidelight_testing.server import connect
from sidelight_testing.session import Session

pytest_plugins = ["sidelight_testing.under_attack"]


@pytest.mark.parametrize("name", BROKEN_CONNECTIONS)
def test_a_broken_connection_is_closed(hostile_server, bystander, name):
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        peer.send(BROKEN_CONNECTIONS[name])
        peer.closed()


@pytest.mark.parametrize(
    "opening", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", bytes(64)]
)
def test_other_protocols_are_disconnected(hostile_server, bystander, opening):
    with RawPeer(hostile_server.addresses["tcp"], preface=False) as peer:
        peer.send(opening)
        peer.closed()


def test_unknown_http2_frames_are_ignored(hostile_server, bystander):
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        peer.send(frame(0xEE, 0xFF, 0, b"future") + frame(0xEF, 0, 7, b""))
        peer.call(INFO)
        peer.data(message(b""), end=True)
        assert peer.status() == 0


@pytest.mark.parametrize("seed", range(8))
def test_noise_does_not_affect_other_clients(hostile_server, bystander, seed):
    rng = random.Random(seed)
    for _ in range(40):
        with RawPeer(hostile_server.addresses["tcp"], preface=rng.random() < 0.9) as peer:
            if rng.random() < 0.5:
                peer.call(rng.choice([PROCESS, INFO]))
                peer.data(OPEN)
            for _ in range(rng.randrange(1, 6)):
                if rng.random() < 0.5:
                    peer.send(rng.randbytes(rng.randrange(1, 400)))
                else:
                    # A head that is right, with something in it that is not.
                    payload = rng.randbytes(rng.randrange(0, 64))
                    kind, flags = rng.randrange(0, 12), rng.randrange(0, 64)
                    peer.send(frame(kind, flags, rng.choice([0, 1, 1, 3]), payload))


def test_a_ping_for_each_burst_of_data_is_accepted(hostile_server, bystander):
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


def test_resets_of_finished_calls_do_not_count(hostile_server, bystander):
    # Clients of gRPC reset a call that is refused before they have closed their side: a call server
    # that is refused many sessions must not lose the others on its connection.
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        for stream in range(1, 801, 2):
            peer.call(PROCESS, stream=stream)
            # A session begins with "open".
            peer.data(message(messages.ClientMessage(ping=messages.Ping()).SerializeToString()), stream)
            assert peer.status(stream) == grpc.StatusCode.FAILED_PRECONDITION.value[0]
            peer.send(frame(3, 0, stream, struct.pack(">I", 0)))
        peer.call(INFO, stream=801)
        peer.data(message(b""), stream=801, end=True)
        assert peer.status(801) == 0


def test_resets_within_a_message_after_the_status_do_not_count(hostile_server, bystander):
    with RawPeer(hostile_server.addresses["tcp"]) as peer:
        for stream in range(1, 401, 2):
            peer.call(PROCESS, stream=stream)
            refused = messages.ClientMessage(ping=messages.Ping()).SerializeToString()
            peer.data(message(refused) + message(bytes(100), length=1000), stream)
            assert peer.status(stream) == grpc.StatusCode.FAILED_PRECONDITION.value[0]
            peer.send(frame(3, 0, stream, struct.pack(">I", 8)))
        peer.call(INFO, stream=401)
        peer.data(message(b""), stream=401, end=True)
        assert peer.status(401) == 0


def test_grpcio_is_refused_many_times_on_one_connection(hostile_server, bystander):
    with connect(hostile_server.addresses["tcp"]) as channel:
        stub = service.FrameFilterStub(channel)
        for _ in range(400):
            with Session(stub, opens=False) as refused:
                refused.send(ping=messages.Ping())
                assert refused.fail().code() == grpc.StatusCode.FAILED_PRECONDITION


def test_many_connections_leave_no_resources(hostile_server, bystander):
    before = descriptor_count(hostile_server.process)
    for _ in range(20):
        peers = [
            RawPeer(hostile_server.addresses["tcp"], preface=number % 2 == 0)
            for number in range(50)
        ]
        for peer in peers:
            peer.__exit__()
    deadline = time.monotonic() + GONE_SECONDS
    while descriptor_count(hostile_server.process) > before + 5:
        assert time.monotonic() < deadline, "descriptors are left"
        time.sleep(0.01)


def test_a_connection_reset_during_a_call_leaves_no_resources(hostile_server, bystander):
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
