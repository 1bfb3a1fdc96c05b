"""Invalid content of a connection after its preface."""

from hyperframe import frame as frames

from .protobuf import varint
from .raw import PROCESS, frame


def block(*indexed: int) -> bytes:
    """A block of headers that name entries of HPACK's table."""
    return bytes(0x80 | each for each in indexed)


def bomb_of_headers() -> bytes:
    """One long value, kept in the table and then named four thousand times."""
    kept = b"\x40" + b"\x01x" + b"\x7f" + varint(3000 - 127) + b"a" * 3000
    return frame(1, 4, 1, kept + block(*[62] * 4000))


def settings() -> bytes:
    return frames.SettingsFrame(0, settings={3: 100}).serialize()


def resets() -> bytes:
    """Calls that are begun and given up, again and again."""
    headers = b"".join(
        b"\0" + bytes([len(key)]) + key + bytes([len(value)]) + value
        for key, value in [
            (b":method", b"POST"), (b":scheme", b"http"), (b":path", PROCESS.encode()),
            (b"content-type", b"application/grpc"), (b"te", b"trailers"),
        ]
    )
    return b"".join(
        frame(1, 4, stream, headers) + frames.RstStreamFrame(stream, error_code=8).serialize()
        for stream in range(1, 20_001, 2)
    )


# The bytes sent after the preface. The server closes the connection on each.
BROKEN_CONNECTIONS = {
    "a frame beyond the limit": frame(0, 0, 1, b"") + b"\xff\xff\xff\0\0\0\0\0\1" + bytes(1 << 16),
    "data without a call": frame(0, 0, 1, b"data"),
    "data of the connection itself": frame(0, 0, 0, b"data"),
    "headers of the connection itself": frame(1, 4, 0, block(3)),
    "a call of the server's own number": frame(1, 4, 2, block(3, 6, 4)),
    "headers that are none": frame(1, 4, 1, b"\xff" * 40),
    "headers that go on and on": frame(1, 0, 1, b"")
    + b"".join(frame(9, 0, 1, b"\0\1a\1b") for _ in range(10_000)),
    "headers that are broken off": frame(1, 0, 1, block(3)) + settings(),
    "a bomb of headers": bomb_of_headers(),
    "a window beyond all bounds": frames.WindowUpdateFrame(0, window_increment=2**31 - 1).serialize()
    * 2,
    "a window of nothing": frame(8, 0, 0, bytes(4)),
    "a PING of the wrong size": frame(6, 0, 0, b"four"),
    "a flood of PINGs": frame(6, 0, 0, bytes(8)) * 20_000,
    "a flood of settings": settings() * 5_000,
    "settings of the wrong size": frame(4, 0, 0, b"12345"),
    "a flood of priorities": frame(2, 0, 1, bytes(5)) * 5_000,
    "a flood of calls given up": resets(),
    "a push": frame(5, 4, 1, bytes(4) + block(3)),
}
