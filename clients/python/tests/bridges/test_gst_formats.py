"""`sidelightfilter` in gst-launch-1.0: formats, sizes and colorimetry."""

from __future__ import annotations

import re

import numpy
import pytest

import sidelight
from sidelight.images import Color, Image

from .gst_support import launch, planes

COUNT = 3
PIPELINE = "sepiaTone(intensity:0.7),gaussianBlur(radius:1)"
FORMATS = ("I420", "NV12", "BGRA", "RGBA", "RGB", "GRAY8")
SIZES = ((64, 48), (33, 17), (322, 241), (1, 1), (2, 3), (640, 360))
VIDEO_601 = Color(range="video", matrix="bt601")


def expected(server, name, width, height, raw, color):
    """The planes of frames that the server filtered one by one, as still images."""
    format = {"GRAY8": "gray"}.get(name, name.lower())
    size = len(raw) // COUNT
    for start in range(0, len(raw), size):
        packed = b"".join(
            plane.tobytes() for plane in planes(name, width, height, raw[start : start + size])
        )
        image = Image(format, width, height, packed, color=color)
        yield [
            numpy.frombuffer(plane, numpy.uint8)
            for plane in server.apply(image, PIPELINE).image.planes
        ]


def check(tmp_path, running_server, name, width, height, colorimetry, color):
    caps = f"video/x-raw,format={name},width={width},height={height},framerate=30/1"
    if colorimetry:
        caps += f",colorimetry={colorimetry}"
    source = f"videotestsrc num-buffers={COUNT} pattern=smpte ! {caps}"
    launch(f"-q {source} ! filesink location={tmp_path}/raw")
    element = f"sidelightfilter address={running_server.unix} pipeline={PIPELINE}"
    result = launch(f"-v {source} ! {element} ! filesink location={tmp_path}/filtered")
    (caps,) = re.findall(r"sidelightfilter0\.GstPad:src: caps = (.*)", result.stdout)
    assert f"format=(string){name}" in caps
    assert not colorimetry or f"colorimetry=(string){colorimetry}" in caps

    raw = (tmp_path / "raw").read_bytes()
    filtered = (tmp_path / "filtered").read_bytes()
    assert len(raw) == len(filtered) and len(raw) % COUNT == 0
    size = len(raw) // COUNT
    with sidelight.connect(running_server.tcp) as server:
        for index, wanted in enumerate(expected(server, name, width, height, raw, color)):
            frame = filtered[index * size : (index + 1) * size]
            for plane, want in zip(planes(name, width, height, frame), wanted):
                assert numpy.array_equal(plane.ravel(), want), (index, name, width, height)
    assert width * height < 64 or filtered != raw


@pytest.mark.parametrize("width, height", SIZES)
@pytest.mark.parametrize("name", FORMATS)
def test_frames_equal_filtered_still_images(tmp_path, running_server, name, width, height):
    colorimetry = "bt601" if name in ("I420", "NV12") else ""
    color = VIDEO_601 if colorimetry else None
    check(tmp_path, running_server, name, width, height, colorimetry, color)


@pytest.mark.parametrize(
    "colorimetry, color",
    [
        ("bt709", Color(range="video", matrix="bt709")),
        ("1:4:0:0", Color(range="full", matrix="bt601")),
        ("1:3:0:0", Color(range="full", matrix="bt709")),
    ],
)
@pytest.mark.parametrize("name", ("I420", "NV12"))
def test_colorimetry_reaches_the_server(tmp_path, running_server, name, colorimetry, color):
    check(tmp_path, running_server, name, 66, 34, colorimetry, color)


def test_unknown_matrix_is_refused_with_a_remedy(running_server):
    result = launch(
        "-q videotestsrc num-buffers=1 ! video/x-raw,format=I420,colorimetry=bt2020",
        f"! sidelightfilter address={running_server.unix} ! fakesink",
        check=False,
    )
    assert result.returncode != 0
    assert "colorimetry is bt2020" in result.stdout and "videoconvert" in result.stdout


def test_invalid_pipeline_stops_the_launch_with_a_suggestion(running_server):
    result = launch(
        "-q videotestsrc num-buffers=1",
        f"! sidelightfilter address={running_server.unix} pipeline=sepiaTon ! fakesink",
        check=False,
    )
    assert result.returncode != 0
    assert "sepiaTone" in result.stdout


def test_size_may_change_in_the_stream(running_server):
    result = launch(
        "-q concat name=c ! sidelightfilter pipeline=colorInvert",
        f"address={running_server.unix} ! fakesink",
        "videotestsrc num-buffers=4 ! video/x-raw,format=NV12,width=320,height=240 ! c.",
        "videotestsrc num-buffers=4 ! video/x-raw,format=BGRA,width=99,height=51 ! c.",
    )
    assert result.returncode == 0, result.stdout
