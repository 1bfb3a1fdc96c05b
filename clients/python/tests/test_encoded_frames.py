"""The facts that frames of encoded video tell about themselves."""

import pytest

from sidelight import EncodedImage
from sidelight.errors import InvalidArgument

START = b"\0\0\0\1"
#: Parameter sets in front of an IDR slice.
H264_KEY = START + b"\x67\x42" + START + b"\x68\xce" + b"\0\0\1\x65\x88"


@pytest.mark.parametrize(
    "codec, data, is_key_frame, is_disposable",
    [
        ("h264", H264_KEY, True, False),
        ("h264", START + b"\x09\xf0" + START + b"\x41\x9a", False, False),
        ("h264", b"\0\0\1\x01\x9a", False, True),
        ("vp8", b"\x10\0\0\x9d\x01\x2a", True, False),
        ("vp8", b"\x11\0\0", False, False),
        ("vp9", b"\x82\x49\x83\x42", True, False),
        ("vp9", b"\x86\x00", False, False),
        ("vp9", b"\x88\x00", False, False),
        ("av1", b"\x12\x00\x0a\x01\x00\x32\x01\x10", True, False),
        ("av1", b"\x12\x00\x32\x01\x30", False, False),
        ("av1", b"\x12\x00\x1a\x01\x80", False, False),
    ],
)
def test_key_frames_and_disposable_frames_are_found(codec, data, is_key_frame, is_disposable):
    image = EncodedImage(codec, data)
    assert (image.is_key_frame, image.is_disposable) == (is_key_frame, is_disposable)
    stated = EncodedImage(codec, data, is_key_frame=not is_key_frame, is_disposable=True)
    assert (stated.is_key_frame, stated.is_disposable) == (not is_key_frame, True)


@pytest.mark.parametrize(
    "codec, data, requirement",
    [
        ("h264", b"\0\0\2\x10rest", "h264_mp4toannexb"),
        ("h264", START + b"\x67\x42", "an access unit of H.264"),
        ("vp9", b"\x40", "a frame of VP9"),
        ("vp9", b"\xb0", "profile 0"),
        ("av1", b"\x12\x00", "a temporal unit of AV1"),
        ("av1", b"\x32\xff\xff\xff\xff\xff", "a temporal unit of AV1"),
        ("av1", b"\x0a\x7f", "a temporal unit of AV1"),
        ("vp8", b"", "the content of a file or frame"),
    ],
)
def test_other_bytes_are_refused(codec, data, requirement):
    with pytest.raises(InvalidArgument, match=requirement) as raised:
        EncodedImage(codec, data)
    assert raised.value.field == "data"


def test_other_arguments_are_refused():
    with pytest.raises(InvalidArgument, match="one of h264, vp8, vp9, av1"):
        EncodedImage("jpeg", b"\xff\xd8")
    with pytest.raises(InvalidArgument, match=r"depends_on\[1\] is -1"):
        EncodedImage("vp8", b"\1", depends_on=[1, -1])
    with pytest.raises(InvalidArgument, match="at most 64"):
        EncodedImage("vp8", b"\1", depends_on=range(1, 66))
