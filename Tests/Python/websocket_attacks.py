"""Attacks by WebSockets on a server's studio."""

import contextlib
import random
from collections import deque
from collections.abc import Callable, Iterator

from sidelight_testing import images
from sidelight_testing.broken_websockets import BROKEN_FRAMES, BROKEN_HANDSHAKES, OPEN
from sidelight_testing.contract import session as messages
from sidelight_testing.websocket import BINARY, PING, Page, RawWebSocket, frame

# The time for an answer. A server that is slow does not count as flooded, and may not answer.
PATIENCE_SECONDS = 2
# The messages of a flood of control messages.
FLOOD_MESSAGES = 20_000
# The half-open sockets at a time.
MAX_HALF_OPEN = 40
# More than an address may have by default.
MANY_CONNECTIONS = 530
CONTROL_MESSAGES = [
    messages.ClientMessage(**each).SerializeToString()
    for each in (
        {"ping": messages.Ping()}, {"pause": messages.Pause()}, {"resume": messages.Resume()},
        {"update": messages.Update()}, {"select": messages.Select(pipeline_text="vignette")},
    )
]


class WebSocketAttacks:
    """The attacks of `Attacker` on a studio: `for name, attack in sockets.named(): attack()`."""

    def __init__(self, page: Page, source: str, rng: random.Random) -> None:
        """`source` is the attacker's address."""
        self._page = page
        self._source = source
        self._rng = rng
        # Sockets that are left open, and that are idle.
        self._half_open: deque[RawWebSocket] = deque()

    @property
    def half_open(self) -> list[RawWebSocket]:
        """The sockets on which the attacker has fallen silent in the middle of a session."""
        return list(self._half_open)

    def close(self) -> None:
        """Closes what the attacks have left open."""
        for peer in self._half_open:
            peer.__exit__()
        self._half_open.clear()

    def named(self) -> Iterator[tuple[str, Callable[[], None]]]:
        for name, (content, _) in BROKEN_FRAMES.items():
            yield f"WebSocket: {name}", lambda content=content: self._frames(content)
        for name, (headers, _) in BROKEN_HANDSHAKES.items():
            yield f"WebSocket: {name}", lambda headers=headers: self._handshake(headers)
        yield "WebSocket: a flood of pings", lambda: self._frames(frame(PING, bytes(125)) * 3000)
        yield "WebSocket: a flood of control messages", self._control_messages
        yield "WebSocket: half-open sockets", self._fall_silent
        yield "WebSocket: too many connections", self._many
        yield "WebSocket: noise", self._noise
        yield "WebSocket: messages that never end", self._unfinished
        yield "WebSocket: a message in single bytes", self._single_bytes
        yield "WebSocket: a reader that never reads", self._slow_reader
        yield "WebSocket: connections opened and given up", self._churn

    def _open(self, **options: object) -> RawWebSocket:
        return self._page.raw(source=self._source, patience_seconds=PATIENCE_SECONDS, **options)

    def _frames(self, content: bytes) -> None:
        with self._open() as peer:
            peer.send(frame(BINARY, OPEN) + content)
            peer.close_code()

    def _handshake(self, headers: dict[str, str | None]) -> None:
        with self._open(headers=headers) as peer:
            peer.is_closed()

    def _control_messages(self) -> None:
        frames = b"".join(frame(BINARY, each) for each in CONTROL_MESSAGES)
        self._frames(frames * (FLOOD_MESSAGES // len(CONTROL_MESSAGES)))

    def _fall_silent(self) -> None:
        for _ in range(MAX_HALF_OPEN // 2):
            if len(self._half_open) == MAX_HALF_OPEN:
                self._half_open.popleft().__exit__()
            peer = self._page.raw(source=self._source)
            self._half_open.append(peer)
            peer.send(frame(BINARY, OPEN))

    def _many(self) -> None:
        with contextlib.ExitStack() as peers:
            for _ in range(MANY_CONNECTIONS):
                peers.enter_context(self._open())

    def _noise(self) -> None:
        for _ in range(10):
            with self._open() as peer:
                peer.send(frame(BINARY, OPEN))
                for _ in range(self._rng.randrange(1, 6)):
                    content = self._rng.randbytes(self._rng.randrange(0, 100))
                    opcode = self._rng.choice([0, 1, 2, 8, 9, 10])
                    final = self._rng.random() < 0.7
                    peer.send(self._rng.choice([content, frame(opcode, content, final=final)]))

    def _unfinished(self) -> None:
        peers = [self._open() for _ in range(20)]
        for peer in peers:
            peer.send(frame(BINARY, bytes(70_000), length=60 << 20))
        for peer in peers:
            peer.__exit__()

    def _single_bytes(self) -> None:
        message = messages.ClientMessage(
            frame=messages.Frame(sequence=1, image=images.noise("RGB24", 32, 24))
        ).SerializeToString()
        with self._open() as peer:
            peer.send(frame(BINARY, OPEN) + frame(BINARY, b"", final=False))
            peer.send(b"".join(frame(0, bytes([byte]), final=False) for byte in message))

    def _slow_reader(self) -> None:
        never = messages.DROP_POLICY_NEVER_DROP
        opened = messages.ClientMessage(open=messages.Open(drop_policy=never))
        picture = images.noise("BGRA8", 512, 512)
        with self._open(receive_buffer=4096) as peer:
            peer.send(frame(BINARY, opened.SerializeToString()))
            for sequence in range(1, 5):
                message = messages.ClientMessage(
                    frame=messages.Frame(sequence=sequence, image=picture)
                )
                peer.send(frame(BINARY, message.SerializeToString()))

    def _churn(self) -> None:
        for index in range(20):
            with self._open() as peer:
                peer.send(frame(BINARY, OPEN)[: index % 9])
