"""Frames and stills with extreme values: each has an outcome, and the session continues."""

import io
import struct
import zlib

import grpc
import numpy as np
import pytest
from google.protobuf.internal import encoder
from PIL import Image as Picture

from sidelight_testing import images
from sidelight_testing.contract import frame_filter
from sidelight_testing.contract import image as image_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.server import Server
from sidelight_testing.session import Session, pipeline

NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
SOUND = images.noise("I420", 16, 16)
LOOK = pipeline("colorInvert", ("gaussianBlur", {"radius": 8}), ("pixellate", {"scale": 8}))


def conversation(stub, frames: list[dict], drop_policy=NEVER_DROP, **open_fields):
    """Sends frames with their fields, each when the one before has its outcome."""
    with Session(stub, pipeline=LOOK, drop_policy=drop_policy, **open_fields) as session:
        for fields in frames:
            session.send_frame(fields.pop("image", SOUND), **fields)
            while len(session.transcript.outcomes(session.sent)) < len(session.sent):
                session.receive()
        return session.finish()


SIZES = [(1, 1), (1, 16384), (16384, 1), (2, 16383), (3, 3), (17, 1)]


@pytest.mark.parametrize("name", images.RAW_FORMATS)
def test_frames_of_extreme_sizes_return(stub, name):
    transcript = conversation(
        stub, [{"image": images.noise(name, width, height)} for width, height in SIZES]
    )
    assert [(each.image.width, each.image.height) for each in transcript.frames] == SIZES


def test_pixels_after_unknown_fields_are_filtered(stub):
    """`ReceivedMessageTests` has fields of more than 16 MiB."""
    picture = images.noise("BGRA8", 320, 240)
    (expected,) = conversation(stub, [{"image": picture}]).frames
    count = 1 << 19
    unknown = encoder.TagBytes(1000, 2) + encoder._VarintBytes(count) + bytes(count)

    def requests():
        yield messages.ClientMessage(
            open=messages.Open(pipeline=LOOK, drop_policy=NEVER_DROP)).SerializeToString()
        for sequence in range(1, 5):
            frame = messages.Frame(sequence=sequence, image=picture)
            yield unknown + messages.ClientMessage(frame=frame).SerializeToString()

    options = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)]
    with (
        Server() as server,
        grpc.insecure_channel(server.addresses["tcp"], options) as channel,
    ):
        call = channel.stream_stream("/sidelight.v1.FrameFilter/Process")
        answers = [messages.ServerMessage.FromString(each) for each in call(requests(), timeout=60)]
    made = [each.frame.image.inline for each in answers if each.HasField("frame")]
    assert made == [expected.image.inline] * 4


def test_alternating_sizes_leave_no_memory(stub):
    def load():
        info = stub.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=60)
        return info.load

    sizes = [(64 + 64 * (step * 7 % 23), 48 + 48 * (step * 5 % 19)) for step in range(200)]
    transcript = conversation(
        stub, [{"image": images.noise("GRAY8", width, height)} for width, height in sizes]
    )
    assert len(transcript.frames) == len(sizes)
    assert load().pool_bytes_in_use == 0
    # Memory kept for later has a separate bound.
    assert load().pool_bytes_idle <= 256 << 20


def test_sequence_numbers_can_have_gaps_and_reach_the_maximum(stub):
    numbers = [1, 5, 1 << 32, 2**64 - 2, 2**64 - 1]
    transcript = conversation(stub, [{"sequence": number} for number in [*numbers, 0]])
    assert [each.sequence for each in transcript.frames] == numbers
    # No number follows the last one: a number that does not grow is invalid.
    (drop,) = transcript.dropped
    assert (drop.first_sequence, drop.reason) == (0, messages.DROP_REASON_INVALID_FRAME)


@pytest.mark.parametrize("capture_time", [0, -1, 2**63 - 1, -(2**63)])
def test_any_capture_time_returns_unchanged(stub, capture_time):
    fields = {"capture_time_ns": capture_time, "rtp_timestamp": 2**32 - 1}
    (frame,) = conversation(stub, [fields]).frames
    assert (frame.capture_time_ns, frame.rtp_timestamp) == (capture_time, 2**32 - 1)


def test_budgets_of_0_and_1_microsecond(stub):
    big = images.noise("BGRA8", 1280, 720)
    transcript = conversation(
        stub,
        [
            {"image": big, "budget_us": 0}, {"image": big, "budget_us": 1},
            {"image": big, "budget_us": 2**32 - 1},
        ],
        drop_policy=messages.DROP_POLICY_KEEP_OLDEST,
        budget_us=1,
    )
    assert [each.sequence for each in transcript.frames] == [1, 3]
    (drop,) = transcript.dropped
    assert drop.reason in {
        messages.DROP_REASON_LATE_ON_ARRIVAL, messages.DROP_REASON_LATE_IN_PIPELINE,
        messages.DROP_REASON_LATE_ON_OUTPUT,
    }


def test_any_priority_is_valid(stub):
    transcript = conversation(stub, [{"priority": each} for each in (-(2**31), 0, 2**31 - 1)])
    assert len(transcript.frames) == 3


@pytest.mark.parametrize("rotation", [45, 90, 2**31 - 1, -1])
def test_an_invalid_rotation_drops_the_frame(stub, rotation):
    odd = image_messages.Image()
    odd.CopyFrom(SOUND)
    odd.orientation.rotation = rotation
    transcript = conversation(stub, [{"image": odd}, {}])
    assert len(transcript.dropped) == len(transcript.frames) == 1
    assert transcript.dropped[0].reason == messages.DROP_REASON_INVALID_FRAME


def encoded(kind: str, mode: str, size=(32, 32), **options) -> bytes:
    file = io.BytesIO()
    Picture.effect_noise(size, 50).convert(mode).save(file, kind, **options)
    return file.getvalue()


def png_of_size(width: int, height: int) -> bytes:
    """A PNG whose header declares more than there is."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)

    def chunk(name: bytes, content: bytes) -> bytes:
        crc = zlib.crc32(name + content)
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", crc)

    pixels = zlib.compress(bytes(1000))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def jpeg_with(offset: int, value: bytes) -> bytes:
    """A JPEG whose frame header says something else."""
    content = bytearray(encoded("JPEG", "RGB"))
    start = content.index(b"\xff\xc0") + offset
    content[start : start + len(value)] = value
    return bytes(content)


def jpeg_of_scans(count: int) -> bytes:
    """A progressive JPEG that repeats its last scan."""
    content = encoded("JPEG", "RGB", progressive=True)
    last = content.rindex(b"\xff\xda")
    return content[:last] + content[last:-2] * count + content[-2:]


JPEG, PNG = image_messages.PIXEL_FORMAT_JPEG, image_messages.PIXEL_FORMAT_PNG
# Files that are refused, whatever the decoder would make of them.
BROKEN_FILES = {
    "a JPEG that is none": (JPEG, b"\xff\xd8\xff no JPEG"),
    "half a JPEG": (JPEG, encoded("JPEG", "RGB", size=(256, 256))[:900]),
    "a JPEG of 65,500 by 65,500": (JPEG, jpeg_with(5, struct.pack(">HH", 65500, 65500))),
    "a JPEG of no width": (JPEG, jpeg_with(7, b"\0\0")),
    "a JPEG of twelve bits": (JPEG, jpeg_with(4, b"\x0c")),
    "a JPEG of CMYK": (JPEG, encoded("JPEG", "CMYK")),
    "a JPEG of ten thousand scans": (JPEG, jpeg_of_scans(10_000)),
    "a PNG of a hundred thousand by as many": (PNG, png_of_size(100_000, 100_000)),
    "a PNG of 16,384 by 16,384": (PNG, png_of_size(16_384, 16_384)),
    "a PNG of nothing": (PNG, png_of_size(0, 0)),
}


def still(stub, kind, content: bytes, **fields):
    image = image_messages.Image(format=kind, inline=content, **fields)
    return stub.Apply(
        frame_filter.ApplyRequest(image=image, pipeline=pipeline("colorInvert")), timeout=60
    )


@pytest.mark.parametrize("name", BROKEN_FILES)
def test_an_invalid_or_too_large_file_is_refused(stub, name):
    kind, content = BROKEN_FILES[name]
    with pytest.raises(grpc.RpcError) as caught:
        still(stub, kind, content)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT, caught.value
    assert caught.value.details().startswith("image"), caught.value.details()


def test_ten_megabytes_of_file_metadata_are_skipped(stub):
    sound = encoded("JPEG", "RGB")
    comments = b"\xff\xe1" + struct.pack(">H", 65535) + bytes(65533)
    answer = still(stub, JPEG, sound[:2] + comments * 160 + sound[2:])
    pixels = np.asarray(Picture.open(io.BytesIO(answer.image.inline)))
    assert pixels.shape == (32, 32, 3)


def test_corrupt_files_do_not_affect_other_clients(stub):
    rng = np.random.default_rng(7)
    for kind, name in [(JPEG, "JPEG"), (PNG, "PNG")]:
        sound = encoded(name, "RGB", size=(64, 64))
        for _ in range(60):
            corrupt = bytearray(sound)
            for place in rng.integers(2, len(corrupt), 4):
                corrupt[place] = rng.integers(256)
            try:
                still(stub, kind, bytes(corrupt))
            except grpc.RpcError as error:
                assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error


def test_answers_larger_than_the_window_arrive_complete(stub):
    # A part of an answer that fills the stream once let the status overtake the rest of it.
    request = frame_filter.ApplyRequest(
        image=images.noise("GRAY8", 64, 48), pipeline=pipeline(("scale", {"width": 4096}))
    )
    for _ in range(40):
        assert len(stub.Apply(request, timeout=60).image.inline) == 4096 * 3072


@pytest.mark.parametrize("stray", [b"\xa3\x06\xa4\x06", b"\x78\x05", b"\xd2\x3e\x01a"])
def test_frames_with_unknown_fields_return(stub, stray):
    image = images.noise("GRAY8", 2, 2)
    odd = image_messages.Image.FromString(image.SerializeToString() + stray)
    with Session(stub, drop_policy=NEVER_DROP) as session:
        session.send_frame(odd)
        session.send_frame(image)
        transcript = session.finish()
    assert [each.image.inline for each in transcript.frames] == [image.inline] * 2
