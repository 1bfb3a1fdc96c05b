"""The encoding of frames by hand, and the decoding of replies without a copy of their pixels.

A frame's pixels are its last bytes, so a message is one join of a short head and the pixels.
"""

from __future__ import annotations

from typing import Any, Optional

from ..v1 import session_pb2

_SMALL = tuple(bytes((value,)) for value in range(128))

#: Replies up to this size are decoded by the runtime, which copies their pixels.
SMALL_REPLY_BYTES = 8192


def varint(value: int) -> bytes:
    """Returns the encoding of an unsigned number."""
    if value < 128:
        return _SMALL[value]
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def length_delimited(number: int, content: bytes) -> bytes:
    """Returns a field of bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def encode_frame(sequence: int, metadata: bytes, description: bytes, pixels: Any) -> bytes:
    """Returns a message with a frame whose pixels travel inline.

    `metadata` and `description` are the encoded fields of the frame and of its image.
    """
    size = pixels.nbytes if isinstance(pixels, memoryview) else len(pixels)
    image_tail = b"".join((description, b"\x7a", varint(size)))
    frame = b"".join(
        (b"\x08", varint(sequence), metadata, b"\x12", varint(len(image_tail) + size), image_tail)
    )
    return b"".join((b"\x0a", varint(len(frame) + size), frame, pixels))


def encode_slot_frame(
    sequence: int, metadata: bytes, description: bytes, slot: int, length: int
) -> bytes:
    """Returns a message with a frame whose pixels are in a slot of shared memory."""
    reference = b"".join((b"\x08", varint(slot), b"\x10", varint(length)))
    image = b"".join((description, b"\x72", _SMALL[len(reference)], reference))
    frame = b"".join((b"\x08", varint(sequence), metadata, b"\x12", varint(len(image)), image))
    return b"".join((b"\x0a", varint(len(frame)), frame))


def encode_ack(sequence: int, held: tuple[int, ...], output: str = "") -> bytes:
    """Returns a message that acknowledges pictures, of a named output or of the session."""
    body = b"\x08" + varint(sequence)
    if held:
        body += length_delimited(2, b"".join(map(varint, held)))
    if output:
        body += length_delimited(3, output.encode())
    return b"\x12" + varint(len(body)) + body


def decode_reply(data: bytes) -> tuple[Any, Optional[memoryview]]:
    """Returns a `ServerMessage`, and the pixels of its frame as a view of `data`.

    The message then has no pixels. Without a view, the message is complete.
    """
    if len(data) > SMALL_REPLY_BYTES and data[0] == 0x0A:
        parts = _split(data)
        if parts is not None:
            head, pixels = parts
            reply = session_pb2.ServerMessage()
            reply.frame.MergeFromString(head)
            return reply, pixels
    return session_pb2.ServerMessage.FromString(data), None


def _split(data: bytes) -> Optional[tuple[bytes, memoryview]]:
    """Returns the encoded `FilteredFrame` without its pixels, and the pixels; `None` if the message
    has no inline pixels, or another form than servers write."""
    length, start = _read_varint(data, 1)
    if start + length != len(data):
        return None
    image = _find(data, start, len(data), 0x12)
    if image is None:
        return None
    image_tag, image_start, image_end = image
    pixels = _find(data, image_start, image_end, 0x7A)
    if pixels is None:
        return None
    pixels_tag, pixels_start, pixels_end = pixels
    description = data[image_start:pixels_tag] + data[pixels_end:image_end]
    head = b"".join((data[start:image_tag], length_delimited(2, description), data[image_end:]))
    return head, memoryview(data)[pixels_start:pixels_end]


def _find(data: bytes, at: int, end: int, wanted: int) -> Optional[tuple[int, int, int]]:
    """Returns the tag's, the content's and the end's offsets of the field with a given tag."""
    while at < end:
        start = at
        tag, at = _read_varint(data, at)
        kind = tag & 7
        if kind == 2:
            length, at = _read_varint(data, at)
            if tag == wanted:
                return start, at, at + length
            at += length
        elif kind == 0:
            _, at = _read_varint(data, at)
        elif kind == 5:
            at += 4
        elif kind == 1:
            at += 8
        else:
            return None
    return None


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
