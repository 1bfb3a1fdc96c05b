"""Invalid content of a call, in its headers and after them."""

from .contract import session as messages
from .protobuf import field
from .raw import RawPeer, message

OPEN = message(messages.ClientMessage(open=messages.Open()).SerializeToString())


def make(peer: RawPeer, path: str, parts: list[bytes], ends: bool) -> int | None:
    """Makes a call of parts of messages, whole or not. Returns its status, as `RawPeer.status`."""
    peer.open_windows()
    peer.call(path, end=ends and not parts)
    for index, part in enumerate(parts):
        peer.data(part, end=ends and index == len(parts) - 1)
    return peer.status()


def nested(depth: int) -> bytes:
    """A select whose pipelines lie in each other."""
    content = b""
    for _ in range(depth):
        content = field(1, field(6, content))
    return field(17, field(1, content))


# The bytes sent in a call after its headers, and the statuses that may follow.
BROKEN_CALLS = {
    "a message of 4 GiB": ([message(b"abc", length=2**32 - 1)], False, {8}),
    "a message that is cut off": ([message(b"abc", length=100)], True, {3}),
    "a length that is cut off": ([b"\0\0"], True, {3}),
    "a session that is cut off in a message": ([OPEN, message(b"abc", length=100)], True, {3}),
    "nothing at all": ([], True, {9}),
    "a message of nothing": ([message(b"")], True, {9}),
    "bytes that are no message": ([message(b"\xff" * 64)], False, {3, 13}),
    "a field that is longer than its message": ([message(b"\x0a\x7f")], False, {3, 13}),
    "a message that is said to be compressed": ([message(b"abc", flags=1)], False, {12}),
    "a flag that is none": ([message(b"abc", flags=255)], False, {12}),
    "a bomb of stages": ([message(field(16, field(1, field(1, b"") * 200_000)))], False, {8}),
    "a bomb of tags": ([OPEN, message(field(1, field(9, b"") * 200_000))], False, {8}),
    "a bomb of unknown fields": ([OPEN, message(b"\xf8\x07\x01" * 200_000)], False, {8}),
    "messages in messages a thousand deep": ([OPEN, message(nested(500))], False, {3, 13}),
    "a name of a megabyte": (
        [message(field(16, field(2, b"n" * (1 << 20))))], False, {8},
    ),
}


# Headers that concern telemetry or transport: whatever is in them, the call is answered.
HEADERS = {
    "a deadline before the call": [("grpc-timeout", "-1S")],
    "a deadline of eight digits": [("grpc-timeout", "99999999H")],
    "a deadline of nine": [("grpc-timeout", "999999999H")],
    "a deadline that is none": [("grpc-timeout", "soon")],
    "two deadlines": [("grpc-timeout", "10S"), ("grpc-timeout", "-5S")],
    "a trace parent that is none": [("traceparent", "garbage")],
    "a trace parent of the future": [("traceparent", "ff-" + "0" * 32 + "-" + "0" * 16 + "-01")],
    "a trace state of 8 KB": [("tracestate", "a=b," * 2000)],
    "baggage that is none": [("baggage", "=;=,;;=" * 20)],
    "base 64 that is none": [("x-token-bin", "!!!not base 64!!!")],
    "a hundred keys": [(f"key-{number}", "v") for number in range(100)],
    "three hundred keys": [(f"k{number}", "v") for number in range(300)],
    "a value of every byte that may be": [
        ("x-bytes", "".join(map(chr, [9, *range(32, 127)])).strip())
    ],
}
