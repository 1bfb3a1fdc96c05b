"""Y4M videos."""

import io
from fractions import Fraction

import pytest
from support.pictures import SIZES, noise
from support.videos import video

from sidelight.images import Color, ColorRange, Image, PixelFormat
from sidelight.y4m import Reader, Writer, Y4MError


@pytest.mark.parametrize("width, height", SIZES)
def test_videos_survive(width, height):
    content = video(width, height, 3)
    reader = Reader(io.BytesIO(content))
    copy = io.BytesIO()
    writer = Writer(copy, reader.header)
    for image in reader:
        assert (image.width, image.height, image.format) == (width, height, PixelFormat.I420)
        writer.write(image)
    assert copy.getvalue() == content


class Trickle(io.RawIOBase):
    """A pipe that gives a few bytes at a time."""

    def __init__(self, content):
        self._content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._content.readinto(memoryview(buffer)[:7])


def test_short_reads_are_continued():
    content = video(9, 5, 2)
    frames = list(Reader(Trickle(content)))
    assert [frame.bytes() for frame in frames] == [
        frame.bytes() for frame in Reader(io.BytesIO(content))
    ]


def test_frames_are_read_into_a_given_image():
    reader = Reader(io.BytesIO(video(4, 4, 1)))
    image = Image.allocate("i420", 4, 4)
    assert reader.read(image) is image and any(image.data)
    assert reader.read(image) is None


def test_the_header_is_understood():
    tags = "F30000:1001 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=FULL"
    reader = Reader(io.BytesIO(video(4, 2, 0, tags)))
    assert reader.rate == Fraction(30000, 1001) and reader.color == Color(ColorRange.FULL)
    assert Reader(io.BytesIO(video(4, 2, 0, "F0:0"))).rate == 0
    grey = Reader(io.BytesIO(b"YUV4MPEG2 W3 H2 Cmono\nFRAME\n" + noise(6)))
    assert [(image.format, image.bytes()) for image in grey] == [(PixelFormat.GRAY, noise(6))]


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "not a Y4M video"),
        (b"RIFF....AVI ", "not a Y4M video"),
        (b"YUV4MPEG2 W4 H4", "not a Y4M video"),
        (b"YUV4MPEG2 W4 H4 C444\n", "the samples C444; only 4:2:0"),
        (b"YUV4MPEG2 W4 H4 It\n", "interlaced"),
        (b"YUV4MPEG2 H4\n", "no valid width and height"),
        (b"YUV4MPEG2 W4 Hx\n", "no valid width and height"),
        (b"YUV4MPEG2 W99999 H4\n", "no valid width and height"),
        (b"YUV4MPEG2 W4 H4\nFRAMES", "expected FRAME"),
        (b"YUV4MPEG2 W4 H4\nFRAME\n123", "ends in the middle of a frame"),
    ],
)
def test_other_content_is_refused(content, message):
    with pytest.raises(Y4MError, match=message):
        list(Reader(io.BytesIO(content)))
