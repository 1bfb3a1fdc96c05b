"""A peer with an invalid upload, or one that breaks the order of messages, gets a status. Other
clients lose no frame, and the upload leaves no state behind."""

import time

import grpc
import pytest
from hyperframe import frame as frames

from sidelight_testing import assets, broken_calls
from sidelight_testing.broken_assets import BROKEN_FILES
from sidelight_testing.broken_uploads import BROKEN_UPLOADS, PUT_ASSET, chunk, header
from sidelight_testing.bystander import GONE_SECONDS
from sidelight_testing.contract import assets_service
from sidelight_testing.process import resident_bytes, wait_for_memory
from sidelight_testing.raw import RawPeer, message

pytest_plugins = ["sidelight_testing.under_attack"]


LONGEST = 16 << 20


@pytest.fixture
def target(hostile_server, bystander):
    """The address of a server that afterwards holds neither assets nor parts of uploads."""
    address = hostile_server.addresses["tcp"]
    yield address
    deadline = time.monotonic() + GONE_SECONDS
    while (load := bystander.load()).assets or load.asset_bytes or not has_room(address):
        assert time.monotonic() < deadline, load
        time.sleep(0.01)


def has_room(address: str) -> bool:
    """Returns whether the caller's upload memory is free, by two uploads of the maximum size."""
    with RawPeer(address) as first, RawPeer(address) as second:
        begin(first, LONGEST)
        # It ends too early, and not because there is no room for it, or for the other.
        statuses = [broken_calls.make(second, PUT_ASSET, [header(LONGEST)], ends=True)]
        first.data(b"", end=True)
        return [*statuses, first.status()] == [3, 3]


def begin(peer: RawPeer, size_bytes: int, stream: int = 1, headers=()) -> None:
    """Begins an upload, and stops after its first bytes."""
    peer.call(PUT_ASSET, stream=stream, headers=headers)
    peer.data(header(size_bytes) + chunk(b"#"), stream=stream)


@pytest.mark.parametrize("name", BROKEN_UPLOADS)
def test_a_broken_upload_ends_with_a_status(target, name):
    parts, ends, statuses = BROKEN_UPLOADS[name]
    with RawPeer(target) as peer:
        assert broken_calls.make(peer, PUT_ASSET, parts, ends) in statuses


def test_a_reset_upload_leaves_no_resources(target):
    with RawPeer(target) as peer:
        for stream in range(1, 41, 2):
            begin(peer, LONGEST, stream)
            peer.send(frames.RstStreamFrame(stream, error_code=8).serialize())
        peer.call(PUT_ASSET, stream=41, end=True)
        assert peer.status(stream=41) == 9


def test_an_upload_on_a_lost_connection_leaves_no_resources(target):
    for number in range(20):
        with RawPeer(target) as peer:
            begin(peer, LONGEST)
            if number % 2:
                # Not only between messages.
                peer.data(message(b"half", length=1000))


def test_stalled_uploads_end_at_their_deadline(target):
    with RawPeer(target) as peer:
        begin(peer, LONGEST, headers=[("grpc-timeout", "200m")])
        assert peer.status() == 4


def test_stalled_uploads_are_limited(target):
    # Each is the longest that there may be. There is room for two.
    open_streams = list(range(1, 21, 2))
    statuses = []
    with RawPeer(target) as peer:
        for stream in open_streams:
            begin(peer, LONGEST, stream)
        while open_streams:
            answer = peer.next(frames.HeadersFrame)
            if "grpc-status" in answer.headers:
                statuses.append(answer.headers["grpc-status"])
                open_streams.remove(answer.stream_id)
            if len(statuses) == 8 and len(open_streams) == 2:
                for stream in open_streams:
                    peer.data(b"", stream=stream, end=True)
    assert statuses == ["8"] * 8 + ["3"] * 2


def test_memory_is_released_after_uploads(hostile_server, target):
    files = [make() for make, *_ in BROKEN_FILES.values()]

    def attack():
        for parts, _, _ in BROKEN_UPLOADS.values():
            with RawPeer(target) as peer:
                broken_calls.make(peer, PUT_ASSET, [*parts, b""], ends=True)
        with grpc.insecure_channel(target) as channel:
            stub = assets_service.AssetsStub(channel)
            for file in files:
                with pytest.raises(grpc.RpcError):
                    assets.put(stub, "x", file)

    attack()
    baseline = resident_bytes(hostile_server.process)
    for _ in range(5):
        attack()
    wait_for_memory(hostile_server.process, 1.2 * baseline)
