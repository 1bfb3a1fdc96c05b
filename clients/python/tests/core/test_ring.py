"""The ring's descriptor: what is mapped, and what is refused."""

import fcntl
import gc
import os
import socket
import threading
from collections import deque

import pytest

from sidelight import _ring
from sidelight.v1 import session_pb2

SLOT_BYTES = 4096
SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


@pytest.fixture
def serve(tmp_path):
    """A function that answers connections to the descriptor socket, and returns the offer."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "ring"))
    listener.listen()
    requests, threads = [], []

    def run(answers):
        for answer, descriptor in answers:
            connection, _ = listener.accept()
            with connection:
                requests.append(connection.recv(1024))
                descriptors = [] if descriptor is None else [descriptor]
                if answer:
                    socket.send_fds(connection, [answer], descriptors)

    def start(*answers, token=b"t" * 32, slots=(1, 1)):
        threads.append(threading.Thread(target=run, args=(answers,)))
        threads[-1].start()
        offer = session_pb2.SharedMemoryOffer(
            socket_path=str(tmp_path / "ring"),
            token=token,
            input_slots=slots[0],
            output_slots=slots[1],
            slot_bytes=SLOT_BYTES,
        )
        return offer, requests

    yield start
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    listener.close()


@pytest.fixture
def memory():
    """A sealed file of two slots, and a function that makes others."""
    made = []

    def make(size=2 * SLOT_BYTES, seals=SEALS):
        descriptor = os.memfd_create("ring", os.MFD_ALLOW_SEALING)
        os.ftruncate(descriptor, size)
        if seals:
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
        made.append(descriptor)
        return descriptor

    yield make
    for descriptor in made:
        os.close(descriptor)


def test_slots_are_views_of_the_servers_memory(serve, memory):
    descriptor = memory()
    offer, requests = serve((b"\0", descriptor))
    ring = _ring.fetch(offer, "sésame")
    name = "sésame".encode()
    assert requests == [b"\x01" + b"t" * 32 + bytes([len(name)]) + name]
    returned = deque()
    view = ring.view(1, 10, 7, returned)
    view[:] = b"0123456789"
    assert os.pread(descriptor, 10, SLOT_BYTES) == b"0123456789"
    part = view[2:4]
    del view
    gc.collect()
    assert not returned
    del part
    gc.collect()
    assert list(returned) == [(1, 7)]


def test_the_input_slot_of_a_whole_view_is_known(serve, memory):
    offer, _ = serve((b"\0", memory()))
    ring = _ring.fetch(offer, "s")
    returned = deque()
    view, output = ring.view(0, 10, -1, returned), ring.view(1, 10, 1, returned)
    assert ring.input_slot(view) == 0
    assert ring.input_slot(view[:]) == 0
    assert ring.input_slot(view[:9]) is None
    assert ring.input_slot(output) is None
    assert ring.input_slot(memoryview(bytes(10))) is None


def test_a_busy_server_is_asked_again(serve, memory):
    offer, requests = serve((b"\3", None), (b"\0", memory()))
    assert _ring.fetch(offer, "s").input_slots == 1
    assert len(requests) == 2


@pytest.mark.parametrize("answer", [b"\1", b"\2", b""])
def test_a_refused_ring_is_an_error(serve, answer):
    offer, _ = serve((answer, None))
    with pytest.raises(OSError):
        _ring.fetch(offer, "s")


def open_memory():
    """The number of descriptors of anonymous files."""
    folder = "/proc/self/fd"
    found = 0
    for name in os.listdir(folder):
        try:
            found += "memfd" in os.readlink(f"{folder}/{name}")
        except FileNotFoundError:  # A socket of another thread, or of the listing itself.
            continue
    return found


@pytest.mark.parametrize(
    "options, words",
    [
        ({"seals": 0}, "sealed"),
        ({"size": SLOT_BYTES}, "shorter"),
    ],
)
def test_memory_that_could_end_this_process_is_not_mapped(serve, memory, options, words):
    offer, _ = serve((b"\0", memory(**options)))
    before = open_memory()
    with pytest.raises(OSError, match=words):
        _ring.fetch(offer, "s")
    assert open_memory() == before


@pytest.mark.parametrize(
    "invalid",
    [
        {"token": b"short"},
        {"slots": (0, 0)},
        {"slots": (100, 100)},
    ],
)
def test_invalid_offers_are_refused(serve, invalid):
    offer, _ = serve(**invalid)
    with pytest.raises(OSError, match="invalid"):
        _ring.fetch(offer, "s")
