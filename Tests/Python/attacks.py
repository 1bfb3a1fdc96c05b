"""All attacks of the tests, for repeated runs next to other clients' sessions.

The tests check the answers; here the attacks only run.
"""

import contextlib
import os
import random
import socket
from collections.abc import Callable, Iterator

import grpc

from filters import test_jpeg_frames
from robustness import test_silent_peers
from robustness.strings import test_long_strings
from robustness.strings.pipelines import LONG_PIPELINES, named
from sessions import test_odd_frames, test_session_errors, test_shared_memory
from sidelight_testing import broken_calls, images
from sidelight_testing.broken_calls import BROKEN_CALLS, HEADERS, OPEN
from sidelight_testing.broken_connections import BROKEN_CONNECTIONS
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.contract import image as image_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.floods import FLOODS, Flood, Flooder
from sidelight_testing.raw import INFO, PROCESS, RawPeer, frame, message
from sidelight_testing.server import connect
from sidelight_testing.session import Session, pipeline
from sidelight_testing.websocket import Page
from upload_attacks import UploadAttacks
from websocket_attacks import WebSocketAttacks

# A separate address, so limits per address do not affect the other clients.
ATTACKER = "127.0.0.2"
NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
SECONDS = 20
# The duration of a flood of tiny messages that the server slows down.
FLOOD_SECONDS = 0.5
PICTURE = images.noise("I420", 64, 48)
# The first bytes of other protocols, and half of an HTTP/2 preface.
OPENINGS = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00",
    bytes(64),
    b"PRI * HT",
]
# Attacks that take many seconds of silence.
SLOW = {"headers that are broken off"}


class Attacker:
    """Runs attacks on one server: `for name in attacker.attacks: attacker.run(name)`."""

    def __init__(self, address: str, studio: str | None = None) -> None:
        """`studio` is the URL of the server's studio, if it has one."""
        self._address = address
        self._rng = random.Random(1)
        self._silent: list[RawPeer] = []
        self._uploads = UploadAttacks(address, self._peer, self._rng)
        self._sockets = (
            WebSocketAttacks(Page(studio), ATTACKER, self._rng) if studio else None
        )
        self.attacks: dict[str, Callable[[], None]] = dict(self._named())

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        for peer in self._silent:
            peer.__exit__()
        self._uploads.close()
        if self._sockets:
            self._sockets.close()

    def run(self, name: str) -> None:
        """Runs one attack. Any outcome is accepted here; the tests check it."""
        try:
            self.attacks[name]()
        except (grpc.RpcError, StopIteration, OSError):
            pass

    def _named(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for name, (parts, ends, _) in BROKEN_CALLS.items():
            yield name, lambda parts=parts, ends=ends: self._call(parts, ends)
        for name, content in BROKEN_CONNECTIONS.items():
            if name not in SLOW:
                yield name, lambda content=content: self._connection(content)
        for name, headers in HEADERS.items():
            yield name, lambda headers=headers: self._headers(headers)
        yield "noise on connections", self._noise
        yield "noise in messages", self._noise_in_messages
        yield "messages that never end", self._unfinished
        yield "a session that is left in a message", self._abandoned

        for name, order in test_session_errors.BROKEN_ORDERS.items():
            yield name, lambda order=order: self._session(order, opens=False)
        for name, (image, _) in test_session_errors.INVALID_FRAMES.items():
            yield name, lambda image=image: self._frames(image)
        for name, (wanted, *_) in test_session_errors.INVALID_SELECTIONS.items():
            yield f"selection: {name}", lambda wanted=wanted: self._selections([wanted])
        yield (
            "a thousand selections",
            lambda: self._selections([pipeline("colorInvert"), pipeline("grayscale")] * 500),
        )
        yield (
            "selections with stage ids of 8 MiB",
            lambda: self._selections([named("x" * (8 << 20))] * 3),
        )
        for name, wanted in LONG_PIPELINES.items():
            yield f"{name} of 1 MiB", lambda wanted=wanted: self._selections([wanted])
        for name, change in test_long_strings.LONG_CHANGES.items():
            yield f"{name} of 1 MiB", lambda change=change: self._changes(change)
        for name, flood in FLOODS.items():
            yield f"a flood of tiny messages: {name}", lambda flood=flood: self._flood(flood)
        yield "numbers that go back, budgets of a microsecond", self._odd_frames
        yield (
            "only faults",
            lambda: self._frames(*[test_session_errors.changed(test_session_errors.SOUND, width=0)] * 40),
        )
        for name, (kind, content) in test_odd_frames.BROKEN_FILES.items():
            yield name, lambda kind=kind, content=content: self._file(kind, content)
        for name, spoil in test_jpeg_frames.BAD.items():
            yield f"a JPEG frame {name}", lambda spoil=spoil: self._jpeg(spoil)
        yield "sizes that alternate", self._alternating_sizes

        yield "slots that are none", self._slots
        yield "tokens that are none", self._tokens
        yield "a storm of connections", self._storm
        yield "sessions opened and given up", self._churn
        yield "a reader that never reads", self._slow_reader
        yield "peers that fall silent, or speak something else", self._fall_silent
        yield from self._uploads.named()
        if self._sockets:
            yield from self._sockets.named()

    # On the wire.

    def _peer(self, **options: object) -> RawPeer:
        class Hostile(RawPeer):
            source = ATTACKER

        return Hostile(self._address, **options)

    def _call(self, parts: list[bytes], ends: bool) -> None:
        with self._peer() as peer:
            broken_calls.make(peer, PROCESS, parts, ends)

    def _connection(self, content: bytes) -> None:
        with self._peer() as peer:
            peer.send(content)
            peer.closed()

    def _headers(self, headers: list[tuple[str, str]]) -> None:
        with self._peer() as peer:
            peer.call(PROCESS, headers=headers)
            peer.data(OPEN, end=True)
            peer.status()

    def _noise(self) -> None:
        rng = self._rng
        for _ in range(10):
            with self._peer(preface=rng.random() < 0.9) as peer:
                if rng.random() < 0.5:
                    peer.call(rng.choice([PROCESS, INFO]))
                    peer.data(OPEN)
                for _ in range(rng.randrange(1, 6)):
                    payload = rng.randbytes(rng.randrange(0, 64))
                    kind, flags = rng.randrange(0, 12), rng.randrange(0, 64)
                    peer.send(
                        rng.choice([payload, frame(kind, flags, rng.choice([0, 1, 3]), payload)])
                    )

    def _noise_in_messages(self) -> None:
        sound = messages.ClientMessage(frame=messages.Frame(sequence=1, image=PICTURE))
        for _ in range(5):
            corrupt = bytearray(sound.SerializeToString())
            for _ in range(self._rng.randrange(1, 4)):
                corrupt[self._rng.randrange(24)] = self._rng.randrange(256)
            self._call([OPEN, message(bytes(corrupt))], ends=True)

    def _unfinished(self) -> None:
        with self._peer() as peer:
            for stream in range(1, 181, 2):
                peer.call(PROCESS, stream=stream)
                peer.data(message(b"begun", length=64 << 20), stream=stream)
            peer.status(stream=179)

    def _abandoned(self) -> None:
        with self._peer() as peer:
            peer.call(PROCESS)
            peer.data(OPEN + message(b"half", length=1 << 20))

    def _storm(self) -> None:
        peers = [self._peer(preface=number % 2 == 0) for number in range(50)]
        for peer in peers:
            peer.__exit__()

    def _slow_reader(self) -> None:
        with self._peer(receive_buffer=4096) as peer:
            test_silent_peers.begin_session(peer, frame_count=6, side=512)

    def _flood(self, flood: Flood) -> None:
        class Hostile(Flooder):
            source = ATTACKER

        with Hostile(self._address, flood) as flooder:
            flooder.burst(seconds=FLOOD_SECONDS)
            self._rng.choice([flooder.reset, flooder.cancel])()

    def _fall_silent(self) -> None:
        # They are left alone, and the server is rid of them when their time is over.
        for old in self._silent:
            old.__exit__()
        self._silent = [self._peer(preface=False) for _ in range(4)]
        for peer, opening in zip(self._silent, OPENINGS, strict=True):
            peer.send(opening)
        for frame_count in (0, 2):
            peer = self._peer()
            self._silent.append(peer)
            test_silent_peers.begin_session(peer, frame_count)

    # By gRPC's own rules.

    @contextlib.contextmanager
    def _stub(self) -> Iterator[service.FrameFilterStub]:
        """A client on a separate connection."""
        with connect(self._address, ("grpc.max_receive_message_length", -1)) as channel:
            yield service.FrameFilterStub(channel)

    def _session(self, said: list[dict], **fields: object) -> None:
        with self._stub() as stub, Session(stub, seconds=SECONDS, **fields) as session:
            for each in said:
                session.send(**each)
            session.fail()

    def _frames(self, *pictures: object) -> None:
        with (
            self._stub() as stub,
            Session(stub, seconds=SECONDS, drop_policy=NEVER_DROP) as session,
        ):
            for picture in pictures:
                session.send_frame(picture)
            session.finish()

    def _selections(self, wanted: list) -> None:
        with self._stub() as stub, Session(stub, seconds=SECONDS) as session:
            for each in wanted:
                session.select(each)
            session.send_frame(PICTURE)
            session.finish()

    def _changes(self, *changes: dict) -> None:
        look = pipeline("sepiaTone")
        look.stages[0].id = "look"
        with self._stub() as stub, Session(stub, seconds=SECONDS, pipeline=look) as session:
            for each in changes:
                session.send(**each)
            session.finish()

    def _odd_frames(self) -> None:
        with self._stub() as stub, Session(stub, seconds=SECONDS) as session:
            for sequence in (5, 5, 4, 2**64 - 1):
                session.send_frame(PICTURE, sequence=sequence, budget_us=1)
            session.finish()

    def _file(self, kind: int, content: bytes) -> None:
        with self._stub() as stub:
            picture = image_messages.Image(format=kind, inline=content)
            request = frame_filter.ApplyRequest(image=picture, pipeline=pipeline("colorInvert"))
            stub.Apply(request, timeout=SECONDS)

    def _jpeg(self, spoil: Callable[[bytes], bytes]) -> None:
        good = test_jpeg_frames.jpeg(test_jpeg_frames.slopes(64, 48))
        bad = image_messages.Image(format=good.format, inline=spoil(good.inline))
        self._frames(bad, good)

    def _alternating_sizes(self) -> None:
        sizes = [(1, 1), (2048, 1), (1, 2048), (640, 360), (17, 3)]
        self._frames(*[images.noise("RGB24", *size) for size in sizes * 3])

    def _slots(self) -> None:
        references = [(99, 0, 64), (0, 2**40, 64), (0, 0, 2**40), (2**32 - 1, 2**63, 2**63)]
        with self._stub() as stub:
            fields = {"shared_memory": test_shared_memory.request(), "drop_policy": NEVER_DROP}
            with Session(stub, seconds=SECONDS, **fields) as session:
                for slot, offset, length in references:
                    picture = image_messages.Image(format=PICTURE.format, width=64, height=48)
                    picture.shared_memory.slot = slot
                    picture.shared_memory.length = length
                    if offset:
                        picture.planes.add(offset=offset % 2**32, stride=64)
                    session.send_frame(picture)
                session.finish()

    def _tokens(self) -> None:
        with self._stub() as stub:
            fields = {"shared_memory": test_shared_memory.request()}
            with Session(stub, seconds=SECONDS, **fields) as session:
                if not session.opened.HasField("shared_memory"):
                    return  # this server offers none
                for token in (bytes(32), None, None):
                    _, descriptors = test_shared_memory.knock(session.opened, token=token)
                    for descriptor in descriptors:
                        os.close(descriptor)
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(session.opened.shared_memory.socket_path)
                    connection.sendall(self._rng.randbytes(200))

    def _churn(self) -> None:
        with self._stub() as stub:
            for count in range(10):
                with Session(stub, seconds=SECONDS, pipeline=pipeline("colorInvert")) as session:
                    for _ in range(count):
                        session.send_frame(PICTURE)
