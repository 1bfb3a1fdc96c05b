"""Clients that send tiny messages as fast as the server grants flow-control window, and ignore the
answers."""

import select
import socket
import struct
import threading
import time
from dataclasses import dataclass
from typing import Self

from hyperframe import frame as frames

from . import images
from .contract import session as messages
from .protobuf import field, varint
from .raw import PROCESS, RawPeer, frame, message
from .session import pipeline

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
ACK = END_STREAM = 1
INITIAL_WINDOW_SIZE = 4
DEFAULT_WINDOW = 65_535
CANCEL = 8
# One burst: as much as the server's stream window holds.
BURST_BYTES = 4 << 20
# A burst ends after this time, however little of it the server has taken.
BURST_SECONDS = 10
# The sessions that a flooding client opens in sequence, when the server ends them.
MAX_SESSIONS = 20


def encoded(**kind: object) -> bytes:
    """A client message, framed."""
    return message(messages.ClientMessage(**kind).SerializeToString())


def legal_stages(count: int = 64) -> object:
    """A pipeline with the maximum number of stages, each with an id and parameters."""
    result = pipeline(
        *[
            ("colorControls", {"saturation": 1 + k / 997, "brightness": k / 9973, "contrast": 1.1})
            for k in range(count)
        ]
    )
    for index, stage in enumerate(result.stages):
        stage.id = f"stage-{index:02}".ljust(64, "x")
    return result


def frames_of_one_pixel(count: int = 200_000) -> bytes:
    """Frames whose sequence grows, as a session takes them."""
    first = 1 << 14  # From here on a sequence has three bytes.
    sound = messages.Frame(sequence=first, image=images.noise("GRAY8", 1, 1))
    before, middle, after = encoded(frame=sound).partition(varint(first))
    assert middle and varint(first) not in after
    parts = (
        before + bytes((n & 127 | 128, n >> 7 & 127 | 128, n >> 14)) + after
        for n in range(first, first + count)
    )
    return b"".join(parts)


@dataclass(frozen=True)
class Flood:
    """A session's pipeline, and the messages that are repeated in it."""

    look: object
    repeated: bytes


PING_MESSAGE = encoded(ping=messages.Ping())
PAUSES = encoded(pause=messages.Pause()) + encoded(resume=messages.Resume())
ACTIVATION = encoded(activate=messages.Activate())
UPDATE = encoded(update=messages.Update())
SELECTION = encoded(select=messages.Select())
TEXT = encoded(select=messages.Select(pipeline_text=", ".join(["vignette"] * 64)))
ACKNOWLEDGEMENT = encoded(ack=messages.Ack())
SEPIA = pipeline("sepiaTone")

FLOODS = {
    "pings": Flood(pipeline(), PING_MESSAGE),
    "pauses": Flood(pipeline(), PAUSES),
    "pauses of sepiaTone": Flood(SEPIA, PAUSES),
    "pauses of 64 stages": Flood(legal_stages(), PAUSES),
    "activations": Flood(legal_stages(), ACTIVATION),
    "updates": Flood(legal_stages(), UPDATE),
    "selections": Flood(pipeline(), SELECTION),
    "selections of texts": Flood(pipeline(), TEXT),
    "acknowledgements": Flood(SEPIA, ACKNOWLEDGEMENT),
    "messages of an unknown kind": Flood(SEPIA, message(field(99, b""))),
    "frames of one pixel": Flood(SEPIA, frames_of_one_pixel()),
    "all kinds": Flood(
        SEPIA, PING_MESSAGE + PAUSES + ACTIVATION + UPDATE + ACKNOWLEDGEMENT + SELECTION
    ),
}


class Flooder(RawPeer):
    """A client that floods one server, and respects HTTP/2's flow control."""

    def __init__(self, address: str, flood: Flood, takes_answers: bool = False) -> None:
        """By default the server has no window for answers beyond the initial one."""
        super().__init__(address)
        if takes_answers:
            self.open_windows()
        self._open = encoded(open=messages.Open(pipeline=flood.look))
        self._repeated = flood.repeated * -(-(2 * 16_384) // len(flood.repeated))
        self._period = len(flood.repeated)
        self._position = 0
        self._stream = -1
        self._opening = b""
        self._connection_window = DEFAULT_WINDOW
        self._initial_window = DEFAULT_WINDOW
        self._stream_window = 0
        self._is_open = False
        self.is_closed = False
        self.sessions = 0
        self.sent_bytes = 0

    def burst(self, most_bytes: int = BURST_BYTES, seconds: float = BURST_SECONDS) -> int:
        """Sends that many bytes, or those that the server takes in that time, in one session or in
        several if the server ends them. Returns the bytes sent."""
        before = self.sent_bytes
        deadline = time.monotonic() + seconds
        while self.sent_bytes - before < most_bytes and time.monotonic() < deadline:
            if not self.step(most_bytes - (self.sent_bytes - before)):
                break
        return self.sent_bytes - before

    def step(self, most_bytes: int = 16_384, wait_seconds: float = 0.05) -> bool:
        """Sends a part, if there is window for it, else waits a little for window.

        Returns whether there is more to come: `False` once the connection is closed, or the server
        has ended `MAX_SESSIONS` sessions.
        """
        if not self._is_open:
            if self.sessions == MAX_SESSIONS:
                return False
            self._begin()
        room = min(self._connection_window, self._stream_window, 16_384)
        self._take(0 if room > 0 else wait_seconds)
        if not self._is_open or room <= 0:
            return not self.is_closed
        if self._opening:
            part, self._opening = self._opening[:room], self._opening[room:]
        else:
            start = self._position % self._period
            part = self._repeated[start : start + min(room, most_bytes)]
            self._position += len(part)
        try:
            self._socket.sendall(frame(DATA, 0, self._stream, part))
        except OSError:
            self.is_closed = True
            return False
        self._connection_window -= len(part)
        self._stream_window -= len(part)
        self.sent_bytes += len(part)
        return True

    def cancel(self) -> None:
        """Gives up the call; the connection stays."""
        self.send(frames.RstStreamFrame(self._stream, error_code=CANCEL).serialize())

    def reset(self) -> None:
        """Ends the connection by a TCP reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def _begin(self) -> None:
        self._stream += 2
        self.call(PROCESS, stream=self._stream)
        self._stream_window = self._initial_window
        self._opening = self._open
        self._position = 0
        self._is_open = True
        self.sessions += 1

    def _take(self, wait_seconds: float) -> None:
        """Reads what has come: windows and the ends of calls count, answers do not."""
        while select.select([self._socket], [], [], wait_seconds)[0]:
            wait_seconds = 0
            try:
                chunk = self._socket.recv(1 << 16)
            except OSError:
                chunk = b""
            if not chunk:
                self.is_closed, self._is_open = True, False
                return
            self._received += chunk
            start = 0
            while len(self._received) >= start + 9:
                end = start + 9 + int.from_bytes(self._received[start : start + 3], "big")
                if len(self._received) < end:
                    break
                kind, flags, stream = struct.unpack_from(">BBI", self._received, start + 3)
                self._heed(kind, flags, stream, self._received[start + 9 : end])
                start = end
            self._received = self._received[start:]

    def _heed(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == SETTINGS and not flags & ACK:
            for identifier, setting in struct.iter_unpack(">HI", payload):
                if identifier == INITIAL_WINDOW_SIZE:
                    self._stream_window += setting - self._initial_window
                    self._initial_window = setting
            self.send(frame(SETTINGS, ACK, 0, b""))
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            (increment,) = struct.unpack(">I", payload)
            if stream == 0:
                self._connection_window += increment
            elif stream == self._stream:
                self._stream_window += increment
        elif stream == self._stream and (
            kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM)
        ):
            self._is_open = False
        elif kind == GOAWAY:
            self.is_closed, self._is_open = True, False


class Flooders:
    """Clients that flood a server at the same time, each on a separate thread and connection,
    until the block ends; then their connections are reset."""

    def __init__(
        self, address: str, flood: Flood, count: int = 1, takes_answers: bool = False
    ) -> None:
        self.peers = [Flooder(address, flood, takes_answers) for _ in range(count)]
        self._done = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(each,)) for each in self.peers]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        for peer in self.peers:
            peer.reset()

    def stop(self) -> None:
        """Stops sending and reading. The connections stay, and their sessions with them."""
        self._done.set()
        for thread in self._threads:
            thread.join()

    @property
    def sent_bytes(self) -> int:
        """The bytes of control messages that were sent."""
        return sum(each.sent_bytes for each in self.peers)

    def _run(self, peer: Flooder) -> None:
        while not self._done.is_set() and peer.step():
            pass
