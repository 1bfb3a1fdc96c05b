"""Attacks by uploads of assets."""

import contextlib
import functools
import random
from collections.abc import Callable, Iterator

import grpc
import numpy as np
from hyperframe import frame as frames

from sidelight_testing import assets, broken_calls, images
from sidelight_testing.broken_assets import BROKEN_FILES
from sidelight_testing.broken_uploads import BROKEN_UPLOADS, PUT_ASSET, TABLE, chunk, header
from sidelight_testing.contract import assets as messages
from sidelight_testing.contract import assets_service, service
from sidelight_testing.raw import RawPeer, message
from sidelight_testing.server import connect
from sidelight_testing.session import Session, pipeline

# A separate address: the memory of stalled uploads is counted by address, and would keep the other
# attacks from getting any further.
STALLING = "127.0.0.3"
SECONDS = 20
LONGEST = 16 << 20
# More than a caller may have.
MANY = 33
PICTURE = images.noise("I420", 64, 48)


class UploadAttacks:
    """The attacks of `Attacker` by uploads: `for name, attack in uploads.named(): attack()`."""

    def __init__(self, address: str, peer: Callable[[], RawPeer], rng: random.Random) -> None:
        """`peer` makes a connection from the attacker's address."""
        self._address = address
        self._peer = peer
        self._rng = rng
        self._stalled: list[RawPeer] = []

    def close(self) -> None:
        """Closes the connections of stalled uploads."""
        for peer in self._stalled:
            peer.__exit__()
        self._stalled = []

    def named(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for name, (parts, ends, _) in BROKEN_UPLOADS.items():
            yield name, functools.partial(self._call, parts, ends)
        for name, (make, *_) in BROKEN_FILES.items():
            yield f"an asset: {name}", functools.partial(self._put, make)
        yield "noise in uploads", self._noise
        yield "uploads that are reset", self._reset
        yield "uploads whose connection breaks", self._break_off
        yield "uploads that stall", self._stall
        yield "assets until there may be no more", self._put_many
        yield "pictures until there is no room", self._put_large
        yield "assets that go while they are used", self._take_away

    # On the wire.

    def _call(self, parts: list[bytes], ends: bool) -> None:
        with self._peer() as peer:
            broken_calls.make(peer, PUT_ASSET, parts, ends)

    def _noise(self) -> None:
        for _ in range(5):
            corrupt = bytearray(header() + chunk(TABLE))
            for _ in range(self._rng.randrange(1, 4)):
                corrupt[self._rng.randrange(len(corrupt))] = self._rng.randrange(256)
            self._call([bytes(corrupt)], ends=True)

    def _reset(self) -> None:
        with self._peer() as peer:
            for stream in range(1, 21, 2):
                self._begin(peer, stream)
                peer.send(frames.RstStreamFrame(stream, error_code=8).serialize())
            peer.call(PUT_ASSET, stream=21, end=True)
            peer.status(stream=21)

    def _break_off(self) -> None:
        for rest in (b"", message(b"half", length=1 << 16)):
            with self._peer() as peer:
                self._begin(peer)
                peer.data(rest)

    def _stall(self) -> None:
        # They are left alone, until the attack is made again or the server ends them.
        self.close()
        for _ in range(4):
            peer = Stalling(self._address)
            self._stalled.append(peer)
            self._begin(peer)

    @staticmethod
    def _begin(peer: RawPeer, stream: int = 1) -> None:
        peer.call(PUT_ASSET, stream=stream)
        peer.data(header(LONGEST) + chunk(bytes(1 << 14)), stream=stream)

    # By gRPC's own rules.

    @contextlib.contextmanager
    def _channel(self) -> Iterator[grpc.Channel]:
        """A separate connection. Assets put over it are deleted."""
        with connect(self._address) as channel:
            try:
                yield channel
            finally:
                stub = assets_service.AssetsStub(channel)
                listed = stub.ListAssets(messages.ListAssetsRequest(), timeout=SECONDS)
                for asset in listed.assets:
                    stub.DeleteAsset(messages.DeleteAssetRequest(name=asset.name), timeout=SECONDS)

    def _put(self, make: Callable[[], bytes]) -> None:
        with self._channel() as channel:
            assets.put(assets_service.AssetsStub(channel), "x", make())

    def _put_many(self) -> None:
        with self._channel() as channel:
            stub = assets_service.AssetsStub(channel)
            for number in range(MANY):
                assets.put(stub, f"table/{number}", TABLE)

    def _put_large(self) -> None:
        file = assets.png(np.zeros((1024, 1024, 3), dtype=np.uint8))
        with self._channel() as channel:
            stub = assets_service.AssetsStub(channel)
            for number in range(MANY):
                assets.put(stub, f"picture/{number}", file)

    def _take_away(self) -> None:
        look = pipeline(("overlay", {"asset": "hat"}))
        with self._channel() as channel:
            stub = assets_service.AssetsStub(channel)
            for size in (4, 9):
                # The second takes the first one's place.
                assets.put(stub, "hat", assets.png(np.full((size, size, 4), 99, dtype=np.uint8)))
            with Session(
                service.FrameFilterStub(channel), seconds=SECONDS, pipeline=look
            ) as session:
                session.send_frame(PICTURE)
                stub.DeleteAsset(messages.DeleteAssetRequest(name="hat"), timeout=SECONDS)
                session.send_frame(PICTURE)
                session.select(look)
                session.send_frame(PICTURE)
                session.finish()


class Stalling(RawPeer):
    """Returns a peer that begins uploads and does not continue them."""

    source = STALLING
