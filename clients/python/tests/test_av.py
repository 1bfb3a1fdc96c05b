"""Conversions between images and frames of PyAV."""

from fractions import Fraction

import pytest

pytest.importorskip("av")

import av
from support.pictures import RAW_FORMATS, SIZES, padded_image, random_image

import sidelight.av
from sidelight.errors import InvalidArgument
from sidelight.images import Color, ColorMatrix, ColorRange, Image

BT601_PAL, BT601_NTSC, BT709, BT2020, UNSPECIFIED = 5, 6, 1, 9, 2


@pytest.mark.parametrize("width, height", SIZES)
@pytest.mark.parametrize("format", RAW_FORMATS)
@pytest.mark.parametrize("make", [random_image, padded_image])
def test_images_survive(make, format, width, height):
    image = make(format, width, height)
    video = sidelight.av.video_frame(image)
    again = sidelight.av.image(video)
    assert (again.format, again.width, again.height) == (image.format, width, height)
    assert again.bytes() == image.bytes() and again.color == image.color
    target = Image.allocate(format, width, height)
    sidelight.av.copy_into(target, video)
    assert target.bytes() == image.bytes()


def test_rows_of_pyav_are_padded():
    """The other tests would not see strides if PyAV did not pad."""
    assert sidelight.av.video_frame(random_image("i420", 17, 9)).planes[1].line_size > 9


@pytest.mark.parametrize("name", ["yuv420p", "nv12", "bgra", "rgba", "rgb24", "gray"])
def test_pyav_reads_the_same_samples(name):
    pytest.importorskip("numpy")
    format = {"yuv420p": "i420", "rgb24": "rgb"}.get(name, name)
    image = random_image(format, 32, 18)
    video = sidelight.av.video_frame(image)
    assert video.format.name == name
    assert video.to_ndarray().tobytes() == image.bytes()


@pytest.mark.parametrize("range", [None, "video", "full"])
@pytest.mark.parametrize("matrix", [None, "bt601", "bt709"])
@pytest.mark.parametrize("format", ["i420", "nv12"])
def test_range_and_matrix_survive(format, matrix, range):
    color = Color(range, matrix)
    image = random_image(format, 4, 4, color=color)
    assert sidelight.av.image(sidelight.av.video_frame(image)).color == color


@pytest.mark.parametrize("number", [BT601_PAL, BT601_NTSC, BT709, UNSPECIFIED])
def test_the_exact_matrix_of_the_input_survives(number):
    video = av.VideoFrame(4, 4, "yuv420p")
    video.colorspace, video.color_range = number, 1
    image = sidelight.av.image(video)
    result = sidelight.av.video_frame(image, like=video)
    assert (result.colorspace, result.color_range) == (number, 1)


def test_a_full_range_format_is_read_as_full_range():
    video = av.VideoFrame(4, 4, "yuvj420p")
    assert sidelight.av.image(video).color.range is ColorRange.FULL


def test_other_matrices_and_formats_are_refused():
    video = av.VideoFrame(4, 4, "yuv420p")
    video.colorspace = BT2020
    with pytest.raises(InvalidArgument, match="video.colorspace is 9; it must be BT.601 or BT.709"):
        sidelight.av.image(video)
    chosen = sidelight.av.image(video, color=Color(matrix="bt709"))
    assert chosen.color.matrix is ColorMatrix.BT709
    for name in ("yuv422p", "yuv420p10le", "bgr24", "pal8"):
        with pytest.raises(InvalidArgument, match=f"video.format is '{name}'; it must be one of"):
            sidelight.av.image(av.VideoFrame(4, 4, name))
    grey = av.VideoFrame(4, 4, "gray")
    grey.color_range = 1
    with pytest.raises(InvalidArgument, match="full range for gray"):
        sidelight.av.image(grey)
    with pytest.raises(InvalidArgument, match="premultiplied"):
        sidelight.av.video_frame(random_image("bgra", 4, 4, color=Color(alpha="premultiplied")))
    with pytest.raises(InvalidArgument, match="target is '4x4 nv12'; it must be '?4x4 i420"):
        sidelight.av.copy_into(Image.allocate("nv12", 4, 4), av.VideoFrame(4, 4, "yuv420p"))


@pytest.mark.parametrize("name, format", [("bgr0", "bgra"), ("rgb0", "rgba")])
def test_opaque_formats_survive(name, format):
    image = random_image(format, 5, 3, color=Color(alpha="opaque"))
    video = sidelight.av.video_frame(image)
    assert video.format.name == name
    again = sidelight.av.image(video)
    assert again.color == image.color and again.bytes() == image.bytes()


def test_presentation_times_survive():
    video = av.VideoFrame(4, 4, "yuv420p")
    assert sidelight.av.frame(video).capture_time_ns is None
    for time_base in (Fraction(1, 90_000), Fraction(1001, 30_000), Fraction(1, 1_000_000)):
        for pts in (0, 1, 33, 123_456_789):
            video.pts, video.time_base = pts, time_base
            frame = sidelight.av.frame(video)
            assert abs(frame.capture_time_ns - pts * time_base * 10**9) <= Fraction(1, 2)
            result = sidelight.av.video_frame(
                frame.image, capture_time_ns=frame.capture_time_ns, time_base=time_base
            )
            assert (result.pts, result.time_base) == (pts, time_base)
            like = sidelight.av.video_frame(frame.image, like=video)
            assert (like.pts, like.time_base) == (pts, time_base)
