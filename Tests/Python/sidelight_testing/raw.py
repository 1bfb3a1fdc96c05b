"""A client that sends single HTTP/2 frames, so it can violate the protocol."""

import struct
import time

import hpack
from hyperframe import frame as frames

from .raw_connection import RawConnection

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
PROCESS = "/sidelight.v1.FrameFilter/Process"
INFO = "/sidelight.v1.FrameFilter/GetServerInfo"
WIDE_OPEN = 2**31 - 1


def message(content: bytes, length: int | None = None, flags: int = 0) -> bytes:
    """Returns a message in gRPC's framing, with a stated length that may be wrong."""
    return struct.pack(">BI", flags, len(content) if length is None else length) + content


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Returns an HTTP/2 frame, which may be invalid."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


class RawPeer(RawConnection):
    """A connection on which HTTP/2 is spoken frame by frame."""

    # The source address of the connection. Default: the system's choice.
    source: str | None = None

    def __init__(self, address: str, preface: bool = True, receive_buffer: int | None = None):
        super().__init__(address, source=self.source, receive_buffer=receive_buffer)
        self._encoder = hpack.Encoder()
        self._decoder = hpack.Decoder()
        self._decoder.max_header_list_size = 1 << 20
        if preface:
            self.send(PREFACE + frames.SettingsFrame(0).serialize())

    def open_windows(self) -> None:
        """Grants the server the largest flow-control windows."""
        settings = frames.SettingsFrame(0, settings={4: WIDE_OPEN})
        window = frames.WindowUpdateFrame(0, window_increment=WIDE_OPEN - 65535)
        self.send(settings.serialize() + window.serialize())

    def call(
        self, path: str, stream: int = 1, end: bool = False, headers=(), method: str = "POST",
        content_type: str = "application/grpc",
    ) -> None:
        """Begins a call."""
        always = [
            (":method", method), (":scheme", "http"), (":path", path), (":authority", "test"),
            ("content-type", content_type), ("te", "trailers"),
        ]
        block = self._encoder.encode([*always, *headers], huffman=False)
        self.send(frame(1, 5 if end else 4, stream, block))

    def data(self, content: bytes, stream: int = 1, end: bool = False) -> None:
        """Sends a part of a call's messages."""
        for start in range(0, max(1, len(content)), 16384):
            is_last = end and start + 16384 >= len(content)
            self.send(frame(0, int(is_last), stream, content[start : start + 16384]))

    def frames(self):
        """The frames that the server sends, until it closes the connection."""
        while True:
            while len(self._received) < 9:
                if not self._more():
                    return
            parsed, length = frames.Frame.parse_frame_header(memoryview(self._received[:9]))
            while len(self._received) < 9 + length:
                if not self._more():
                    return
            parsed.parse_body(memoryview(self._received[9 : 9 + length]))
            self._received = self._received[9 + length :]
            if isinstance(parsed, frames.HeadersFrame):
                parsed.headers = dict(self._decoder.decode(parsed.data))
            yield parsed

    def next(self, kind: type):
        """The next frame of a kind; `None` if the server closes the connection first."""
        return next((each for each in self.frames() if isinstance(each, kind)), None)

    def status(self, stream: int = 1) -> int | None:
        """The status with which a call ends; `None` if the connection ends first."""
        for each in self.frames():
            if isinstance(each, frames.HeadersFrame) and each.stream_id == stream:
                if "grpc-status" in each.headers:
                    self.details = each.headers.get("grpc-message", "")
                    return int(each.headers["grpc-status"])
                if each.headers.get(":status", "200") != "200":
                    return -int(each.headers[":status"])
            if isinstance(each, frames.RstStreamFrame) and each.stream_id == stream:
                return None
        return None

    def closed(self) -> float:
        """Waits until the server has closed the connection. Returns how long that took."""
        start = time.monotonic()
        for _ in self.frames():
            pass
        return time.monotonic() - start
