"""Layouts, images and frames, without a server."""

import mmap
from array import array
from pathlib import Path
from typing import get_args

import pytest
from support.pictures import RAW_FORMATS, SIZES, padded_image, random_image

from sidelight._image_messages import description, image_of, message_of
from sidelight.errors import InvalidArgument, SidelightError
from sidelight.images import Color, FormatName, Frame, Image, Layout, Orientation, PixelFormat


@pytest.mark.parametrize("width, height", SIZES)
@pytest.mark.parametrize("format", RAW_FORMATS)
def test_padding_is_not_part_of_the_content(format, width, height):
    packed, padded = random_image(format, width, height), padded_image(format, width, height)
    assert padded.bytes() == packed.bytes() == packed.data.tobytes()
    assert padded.copy().layout.is_packed and padded.copy().bytes() == packed.bytes()
    assert not padded.layout.is_packed and padded.layout != packed.layout
    for index in range(len(packed.planes)):
        assert b"".join(padded.rows(index)) == packed.planes[index].tobytes()


@pytest.mark.parametrize("width, height", SIZES)
def test_chroma_is_rounded_up(width, height):
    chroma = -(-width // 2) * -(-height // 2)
    assert Image.packed_size("i420", width, height) == width * height + 2 * chroma
    assert Image.packed_size("nv12", width, height) == width * height + 2 * chroma
    assert Image.packed_size("bgra", width, height) == 4 * width * height


@pytest.mark.parametrize("format", RAW_FORMATS)
def test_aligned_layouts_hold_every_row(format):
    layout = Layout.aligned(format, 33, 7, alignment=32)
    image = Image(format, 33, 7, bytearray(layout.size), planes=layout.planes)
    for index, (offset, stride) in enumerate(layout.planes):
        assert stride % 32 == 0 and offset % 32 == 0
        assert [len(row) for row in image.rows(index)] == [layout.row_bytes(index)] * layout.rows(
            index
        )


def test_planes_are_writable_views_of_the_data():
    image = Image.allocate("i420", 5, 3)
    image.plane(0)[:] = bytes(range(15))
    image.planes[2][:] = b"\xff" * 6
    assert image.bytes() == bytes(range(15)) + bytes(6) + b"\xff" * 6


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, lambda data: array("H", data)])
def test_any_buffer_is_accepted(make):
    data = bytes(range(16))
    assert Image("bgra", 2, 2, make(data)).bytes() == data


def test_a_memory_map_is_read_in_place():
    with mmap.mmap(-1, 4096) as memory:
        image = Image("gray", 64, 64, memory)
        memory[5] = 9
        assert image.plane(0)[5] == 9
        image.release()


@pytest.mark.parametrize(
    "arguments, options, message",
    [
        (("i421", 2, 2, bytes(6)), {}, "format is 'i421'; it must be one of bgra,"),
        (("i420", 0, 2, b""), {}, "width is 0; it must be an integer from 1 to 16384"),
        (("i420", 2, 16385, b""), {}, "height is 16385; it must be an integer from 1 to 16384"),
        (("i420", 2.5, 2, b""), {}, "width is 2.5; it must be an integer"),
        (("i420", 2, 2, bytes(7)), {}, "len(data) is 7; it must be 6, the size of 2x2 i420"),
        (("gray", 4, 2, bytes(9)), {"planes": [(0, 3)]}, "planes[0].stride is 3; it must be an"),
        (("gray", 4, 2, bytes(9)), {"planes": [(0, 6)]}, "len(data) is 9; it must be at least 10"),
        (("gray", 4, 2, bytes(9)), {"planes": []}, "planes is []; it must be 1 for gray"),
        (
            ("nv12", 4, 2, bytes(99)),
            {"planes": [(0, 4), (7, 4)]},
            "planes[1].offset is 7; it must be at least 8, where plane 0 ends",
        ),
        (("gray", 4, 2, 8), {}, "data is 'int'; it must be an object with the buffer protocol"),
        (("gray", 4, 2, memoryview(bytes(16))[::2]), {}, "contiguous; pass the strides as planes"),
        (("jpeg", 0, 0, b""), {}, "data is b''; it must be the content of a file"),
    ],
)
def test_errors_name_field_value_and_limit(arguments, options, message):
    with pytest.raises(InvalidArgument) as raised:
        Image(*arguments, **options)
    assert message in str(raised.value)
    assert raised.value.field and raised.value.value and raised.value.limit


def test_color_and_orientation_are_checked():
    assert Color("full", "bt709") == Color(Color("full").range, Color(matrix="BT709").matrix)
    with pytest.raises(InvalidArgument, match="color.matrix is 'bt2020'; it must be one of bt601"):
        Color(matrix="bt2020")
    with pytest.raises(InvalidArgument, match="orientation.rotation is 45"):
        Orientation(45)


@pytest.mark.parametrize(
    "options, field",
    [
        ({"rtp_timestamp": 2**32}, "rtp_timestamp"),
        ({"budget": -0.1}, "budget"),
        ({"budget": float("nan")}, "budget"),
        ({"budget": 50}, "budget"),
        ({"priority": "high"}, "priority"),
        ({"capture_time_ns": 1.5}, "capture_time_ns"),
    ],
)
def test_frames_are_checked(options, field):
    with pytest.raises(InvalidArgument) as raised:
        Frame(random_image("gray", 1, 1), **options)
    assert raised.value.field == field


@pytest.mark.parametrize("format", RAW_FORMATS)
@pytest.mark.parametrize("make", [random_image, padded_image])
def test_messages_keep_everything(make, format):
    image = make(
        format, 7, 5, color=Color("full", "bt709", "opaque"), orientation=Orientation(270, True)
    )
    message = message_of(image)
    again = image_of(message, message.inline)
    assert again.bytes() == image.bytes() and again.layout == image.layout
    assert (again.color, again.orientation) == (image.color, image.orientation)
    assert description(image).WhichOneof("pixels") is None


def test_files_are_recognized():
    assert Image.file(b"\xff\xd8\xff\xe0rest").format is PixelFormat.JPEG
    assert Image.file(b"\x89PNG\r\n\x1a\nrest").format is PixelFormat.PNG
    with pytest.raises(InvalidArgument, match="the content of a JPEG or PNG file, or its path"):
        Image.file(b"GIF89a")


@pytest.mark.parametrize("kind", [str, Path])
def test_files_are_read_from_their_paths(tmp_path, kind):
    path = tmp_path / "picture"
    path.write_bytes(b"\xff\xd8\xff\xe0rest")
    image = Image.file(kind(path))
    assert image.format is PixelFormat.JPEG and image.bytes() == path.read_bytes()
    with pytest.raises(FileNotFoundError):
        Image.file(kind(tmp_path / "absent"))


def test_the_type_of_names_has_the_names_of_all_formats():
    assert list(get_args(FormatName)) == [each.value for each in PixelFormat]


def test_a_budget_in_milliseconds_is_refused_with_a_hint():
    hint = "budget is 50; it must be a number of seconds from 0 to 10; 50 milliseconds are 0.05"
    with pytest.raises(InvalidArgument, match=hint):
        Frame(random_image("gray", 1, 1), budget=50)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"format": 99}, "an image of the format 99, which this version of the package does not"),
        ({"width": 7}, "an invalid image: len(data) is 4; it must be 14"),
        ({"height": 1 << 20}, "an invalid image: height is 1048576; it must be an integer from 1"),
    ],
)
def test_an_image_that_a_server_must_not_send_is_an_internal_error(change, message):
    sent = message_of(random_image("gray", 2, 2))
    for name, value in change.items():
        setattr(sent, name, value)
    with pytest.raises(SidelightError) as raised:
        image_of(sent, sent.inline)
    assert raised.value.code == "INTERNAL" and message in raised.value.message


def test_a_released_image_cannot_be_read():
    image = random_image("i420", 4, 4)
    image.release()
    for read in (lambda: image.data, lambda: image.planes, image.bytes):
        with pytest.raises(ValueError, match="released"):
            read()
