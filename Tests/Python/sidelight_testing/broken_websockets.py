"""Frames and handshakes of hostile pages and programs, by name."""

import struct

from .contract import session as messages
from .websocket import BINARY, CLOSE, PING, TEXT, frame

OPEN = messages.ClientMessage(open=messages.Open()).SerializeToString()
# The default limit of the server on a message.
MAX_MESSAGE_BYTES = 64 << 20

# Frames, and the code with which the server closes.
BROKEN_FRAMES: dict[str, tuple[bytes, int]] = {
    "a frame without a mask": (frame(BINARY, OPEN, masked=False), 1002),
    "the first reserved bit": (frame(BINARY, OPEN, reserved=4), 1002),
    "the second reserved bit": (frame(BINARY, OPEN, reserved=2), 1002),
    "the third reserved bit": (frame(BINARY, OPEN, reserved=1), 1002),
    "an unknown opcode": (frame(3, OPEN), 1002),
    "an unknown control opcode": (frame(11, b""), 1002),
    "a fragmented ping": (frame(PING, b"", final=False), 1002),
    "a ping of 126 bytes": (frame(PING, bytes(126)), 1002),
    "a continuation of nothing": (frame(0, b"x"), 1002),
    "a message within a message": (
        frame(BINARY, b"x", final=False) + frame(BINARY, b"y"),
        1002,
    ),
    "a text within a message": (frame(BINARY, b"x", final=False) + frame(TEXT, b"end"), 1002),
    "a length that is too wide": (frame(BINARY, b"xyz", wide=2), 1002),
    "a length of 8 bytes that is too wide": (frame(BINARY, b"xyz", wide=8), 1002),
    "a negative length": (frame(BINARY, b"", length=1 << 63), 1002),
    "another text": (frame(TEXT, b"END"), 1003),
    "an empty text": (frame(TEXT, b""), 1003),
    "a text of a gigabyte": (frame(TEXT, b"", length=1 << 30), 1003),
    "a text in fragments that is too long": (
        frame(TEXT, b"en", final=False) + frame(0, b"ding"),
        1003,
    ),
    "a message over the limit": (frame(BINARY, b"", length=MAX_MESSAGE_BYTES + 1), 1009),
    "a message of an exabyte": (frame(BINARY, b"", length=1 << 60), 1009),
    "fragments over the limit": (
        frame(BINARY, b"x", final=False) + frame(0, b"", length=MAX_MESSAGE_BYTES),
        1009,
    ),
    "endless empty fragments": (
        frame(BINARY, b"", final=False) + frame(0, b"", final=False) * 17_000,
        1008,
    ),
    "a message after the end": (frame(TEXT, b"end") + frame(BINARY, OPEN), 1002),
    "a close frame of one byte": (frame(CLOSE, b"\x03"), 1002),
    "a close frame with the code 1005": (frame(CLOSE, struct.pack(">H", 1005)), 1002),
    "a close frame with the code 999": (frame(CLOSE, struct.pack(">H", 999)), 1002),
    "a close frame whose reason is no text": (
        frame(CLOSE, struct.pack(">H", 1000) + b"\xff\xfe"),
        1007,
    ),
    # The bytes after the first two of a request in TLS.
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00", 1002),
}

# Headers that replace the headers of a handshake, and the status of the response.
BROKEN_HANDSHAKES: dict[str, tuple[dict[str, str | None], int]] = {
    "no key": ({"Sec-WebSocket-Key": None}, 400),
    "a short key": ({"Sec-WebSocket-Key": "YWJj"}, 400),
    "a key that is not Base64": ({"Sec-WebSocket-Key": "?" * 24}, 400),
    "no version": ({"Sec-WebSocket-Version": None}, 426),
    "an old version": ({"Sec-WebSocket-Version": "8"}, 426),
    "no subprotocol": ({"Sec-WebSocket-Protocol": None}, 400),
    "another subprotocol": ({"Sec-WebSocket-Protocol": "chat"}, 400),
    "no connection header": ({"Connection": "keep-alive"}, 400),
    "no cookie": ({"Cookie": None}, 401),
    "another cookie": ({"Cookie": f"sidelight-studio-80={'0' * 32}"}, 401),
    "another origin": ({"Origin": "http://example.com"}, 403),
    "the origin of another port": ({"Origin": "http://127.0.0.1:1"}, 403),
    "an opaque origin": ({"Origin": "null"}, 403),
    "no origin": ({"Origin": None}, 403),
    "another host": ({"Host": "example.com"}, 421),
    "a host that resolves to loopback": ({"Host": "127.0.0.1.example.com"}, 421),
    "no host": ({"Host": None}, 421),
}
