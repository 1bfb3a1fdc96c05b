"""Clients of the studio: its pages, sessions on WebSockets, and frames that may be invalid."""

import base64
import contextlib
import http.client
import json
import os
import struct
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qs, urlsplit

from websockets.sync.client import ClientConnection, connect

from .contract import session as messages
from .raw_connection import PATIENCE_SECONDS, RawConnection
from .session import ProcessCall, Transcript

SUBPROTOCOL = "sidelight.v1"
PROCESS = "/sidelight.v1.FrameFilter/Process"
INFO = "/sidelight.v1.FrameFilter/GetServerInfo"
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


@dataclass
class Response:
    """An HTTP response."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Page:
    """A browser's view of a studio: the one-time token was exchanged for a cookie."""

    def __init__(self, url: str) -> None:
        """Opens the URL that the server has printed."""
        parts = urlsplit(url)
        self.authority = parts.netloc
        self.token = parse_qs(parts.query)["token"][0]
        self.cookie = ""
        response = self.get(f"/?token={self.token}")
        assert response.status == 303, response
        self.cookie = response.headers["set-cookie"].partition(";")[0]

    def get(self, path: str, method: str = "GET", **headers: str) -> Response:
        """Requests a path with the cookie. Headers replace a browser's."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection(self.authority, timeout=PATIENCE_SECONDS)
        try:
            cookie = {"cookie": self.cookie} if self.cookie else {}
            connection.request(method, path, headers=cookie | given)
            answer = connection.getresponse()
            return Response(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def connect(
        self, path: str = PROCESS, **options: object
    ) -> contextlib.AbstractContextManager[ClientConnection]:
        """Opens a WebSocket for a call, as a script of the page would."""
        options = {
            "subprotocols": [SUBPROTOCOL],
            "origin": f"http://{self.authority}",
            "additional_headers": {"cookie": self.cookie},
            "max_size": None,
            "compression": None,
            "open_timeout": PATIENCE_SECONDS,
            # A machine under load answers late.
            "ping_interval": None,
        } | options
        return connect(f"ws://{self.authority}{path}", **options)

    def raw(self, path: str = PROCESS, **options: object) -> "RawWebSocket":
        """Opens a WebSocket whose frames may be invalid."""
        return RawWebSocket(self, path, **options)


class WebSession(ProcessCall):
    """A `Process` call on a WebSocket."""

    def __init__(self, page: Page, connect_options: dict | None = None, **open_fields: object):
        super().__init__()
        self._stack = contextlib.ExitStack()
        self.socket = self._stack.enter_context(page.connect(**(connect_options or {})))
        self.open(**open_fields)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the WebSocket, which cancels the call if it has not ended."""
        self._stack.close()

    def send_message(self, message: messages.ClientMessage) -> None:
        self.socket.send(message.SerializeToString())

    def receive_message(self) -> messages.ServerMessage:
        received = self.socket.recv(timeout=PATIENCE_SECONDS)
        assert isinstance(received, bytes), received
        return messages.ServerMessage.FromString(received)

    def half_close(self) -> None:
        """Ends the client's side."""
        self.socket.send("end")

    def finish(self) -> Transcript:
        """Ends the client's side, and reads until the server closes with 1000."""
        self.half_close()
        for received in self.socket:
            self.transcript.add(messages.ServerMessage.FromString(received))
        assert self.socket.close_code == 1000, (self.socket.close_code, self.socket.close_reason)
        return self.transcript


def frame(
    opcode: int, content: bytes = b"", *, final: bool = True, masked: bool = True,
    reserved: int = 0, length: int | None = None, wide: int | None = None,
) -> bytes:
    """A frame of a client, which may be invalid.

    `length` replaces the stated length, `wide` the number of bytes that state it (0, 2 or 8).
    """
    stated = len(content) if length is None else length
    if wide is None:
        wide = 0 if stated < 126 else 2 if stated < 1 << 16 else 8
    short = {0: stated, 2: 126, 8: 127}[wide]
    head = struct.pack(">BB", final << 7 | reserved << 4 | opcode, masked << 7 | short)
    head += {0: b"", 2: struct.pack(">H", stated & 0xFFFF), 8: struct.pack(">Q", stated)}[wide]
    if not masked:
        return head + content
    key = os.urandom(4)
    stream = key * (len(content) // 4 + 1)
    mask = int.from_bytes(stream[: len(content)], "big")
    hidden = (int.from_bytes(content, "big") ^ mask).to_bytes(len(content), "big")
    return head + key + hidden


class RawWebSocket(RawConnection):
    """A WebSocket whose frames are sent byte by byte."""

    def __init__(
        self, page: Page, path: str = PROCESS, *, source: str | None = None,
        receive_buffer: int | None = None, headers: dict[str, str | None] | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """Opens a connection, and performs the handshake.

        `headers` replace headers of the handshake; `None` leaves one out.
        """
        super().__init__(
            page.authority, source=source, receive_buffer=receive_buffer,
            patience_seconds=patience_seconds,
        )
        fields = {
            "Host": page.authority,
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Origin": f"http://{page.authority}",
            "Cookie": page.cookie,
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
            "Sec-WebSocket-Protocol": SUBPROTOCOL,
        } | (headers or {})
        lines = [f"{name}: {value}\r\n" for name, value in fields.items() if value is not None]
        self.send(f"GET {path} HTTP/1.1\r\n{''.join(lines)}\r\n".encode())
        self.status = self._read_head()

    def frames(self):
        """The frames that the server sends, as (opcode, content), until it closes."""
        while len(head := self._take(2)) == 2:
            length = head[1] & 0x7F
            if length == 126:
                length = int.from_bytes(self._take(2), "big")
            elif length == 127:
                length = int.from_bytes(self._take(8), "big")
            yield head[0] & 0x0F, self._take(length)

    def close_code(self) -> int | None:
        """The code of the server's close frame; `None` if the connection ends without one."""
        for opcode, content in self.frames():
            if opcode == CLOSE:
                return int.from_bytes(content[:2], "big")
        return None

    def is_closed(self) -> bool:
        """Waits until the server has closed the connection."""
        for _ in self.frames():
            pass
        return True

    def _read_head(self) -> int:
        while b"\r\n\r\n" not in self._received:
            if not self._more():
                return 0
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1])

    def _take(self, count: int) -> bytes:
        while len(self._received) < count and self._more():
            pass
        taken, self._received = self._received[:count], self._received[count:]
        return taken


def status_of(text: str) -> tuple[int, str, bytes]:
    """The code, message and details of a call that failed."""
    status = json.loads(text)
    return status["code"], status["message"], base64.b64decode(status["details"])
