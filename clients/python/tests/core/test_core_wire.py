"""The hand-written encoding of frames, and the decoding of replies without a copy."""

import random

import pytest
from google.protobuf.message import DecodeError

from sidelight import Frame, Image, Orientation
from sidelight._core.frames import DescriptionCache, metadata_of
from sidelight._core.wire import (
    decode_reply,
    encode_ack,
    encode_frame,
    encode_slot_frame,
    varint,
)
from sidelight.v1 import image_pb2, session_pb2


def parse(data):
    return session_pb2.ClientMessage.FromString(data)


@pytest.mark.parametrize("value", [0, 1, 127, 128, 16383, 16384, 2**32, 2**64 - 1])
def test_varints_are_those_of_protobuf(value):
    message = session_pb2.Ack(sequence=value)
    assert message.SerializeToString() == (b"\x08" + varint(value) if value else b"")


def frames():
    image = Image("i420", 5, 3, bytes(range(27)))
    yield Frame(image), None
    yield Frame(image, capture_time_ns=-1, rtp_timestamp=2**32 - 1, priority=-5), None
    yield Frame(image, budget=0.033, must_process=True, tags={"a": "b", "": "ü"}), "00-aa-bb-01"
    yield Frame(image, budget=0, priority=2**31 - 1, capture_time_ns=1 << 62), ("00-a-b-00", "x=y")
    yield Frame(image, budget=1e-9, priority=-(2**31)), None
    padded = Image("gray", 3, 2, bytes(16), planes=[(2, 7)], orientation=Orientation(90, True))
    yield Frame(padded), None


@pytest.mark.parametrize("frame, trace", list(frames()))
def test_frames_are_encoded_as_protobuf_reads_them(frame, trace):
    data = encode_frame(
        300, metadata_of(frame, trace), DescriptionCache().encode(frame.image), frame.image.data
    )
    read = parse(data).frame
    assert data.endswith(frame.image.data.tobytes())
    assert read.sequence == 300
    assert read.image.inline == frame.image.data
    assert (read.image.width, read.image.height) == (frame.image.width, frame.image.height)
    assert read.image.orientation.mirrored == frame.image.orientation.mirrored
    assert read.capture_time_ns == (frame.capture_time_ns or 0)
    assert read.rtp_timestamp == frame.rtp_timestamp
    assert read.priority == frame.priority
    assert read.must_process == frame.must_process
    assert dict(read.tags) == (frame.tags or {})
    assert read.HasField("budget_us") == (frame.budget is not None)
    if frame.budget:
        assert read.budget_us == max(1, round(frame.budget * 1e6))
    parent, state = trace if isinstance(trace, tuple) else (trace or "", "")
    assert (read.trace.traceparent, read.trace.tracestate) == (parent, state)


def test_frames_in_slots_name_slot_and_length():
    image = Image("bgra", 2, 2, bytes(16))
    data = encode_slot_frame(7, b"", DescriptionCache().encode(image), 3, 1 << 33)
    slot = parse(data).frame.image.shared_memory
    assert (slot.slot, slot.length) == (3, 1 << 33)


def test_the_description_of_another_image_is_not_reused():
    cache = DescriptionCache()
    first = cache.encode(Image("gray", 2, 2, bytes(4)))
    second = cache.encode(Image("gray", 4, 1, bytes(4)))
    assert image_pb2.Image.FromString(first).width == 2
    assert image_pb2.Image.FromString(second).width == 4


def test_acknowledgements_list_held_slots():
    ack = parse(encode_ack(500, (6, 200))).ack
    assert (ack.sequence, list(ack.held_slots)) == (500, [6, 200])


def reply(size):
    message = session_pb2.ServerMessage()
    frame = message.frame
    frame.sequence = 1 << 40
    frame.revision = 3
    frame.rtp_timestamp = 5
    frame.capture_time_ns = -9
    frame.timing.process_us = 1000
    frame.tags["k"] = "v" * 200
    frame.failure.message = "text"
    frame.image.format = image_pb2.PIXEL_FORMAT_GRAY8
    frame.image.width = size
    frame.image.orientation.mirrored = True
    frame.image.inline = random.Random(1).randbytes(size)
    return message


@pytest.mark.parametrize("size", [0, 1, 8000, 8192, 100_000])
def test_replies_are_decoded_without_change(size):
    expected = reply(size)
    message, pixels = decode_reply(expected.SerializeToString())
    if pixels is not None:
        assert not message.frame.image.inline
        message.frame.image.inline = pixels.tobytes()
    assert message == expected


def test_pixels_of_large_replies_are_views_of_the_message():
    data = reply(100_000).SerializeToString()
    _, pixels = decode_reply(data)
    assert pixels is not None
    assert pixels.obj is data


def test_large_messages_of_other_kinds_are_decoded():
    message = session_pb2.ServerMessage()
    message.analysis.words["x"] = "y" * 20_000
    decoded, pixels = decode_reply(message.SerializeToString())
    assert pixels is None
    assert decoded == message


def test_damaged_replies_are_refused():
    data = bytearray(reply(100_000).SerializeToString())
    data[1:4] = b"\xff\xff\xff"
    with pytest.raises(DecodeError):
        decode_reply(bytes(data))
