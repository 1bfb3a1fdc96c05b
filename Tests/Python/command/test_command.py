"""The subcommands of `sidelight`: output, exit status and error messages."""

import io
import json
import re

import numpy as np
import PIL.Image
import pytest
from google.protobuf import json_format

from sidelight_testing import formulas, images
from sidelight_testing.command import sidelight
from sidelight_testing.contract import frame_filter

WIDTH, HEIGHT = 54, 38
HEADER = b"YUV4MPEG2 W54 H38 F25:1 Ip A1:1 C420jpeg\n"
FRAME_BYTES = WIDTH * HEIGHT * 3 // 2
LOOK = "sepiaTone(intensity: 0.8), vignette(intensity: 1), gaussianBlur(radius: 2)"


def pictures(count: int) -> list:
    return [images.noise("I420", WIDTH, HEIGHT, seed=seed) for seed in range(count)]


def y4m(frames: list) -> bytes:
    return HEADER + b"".join(b"FRAME\n" + frame.inline for frame in frames)


def frames_of(video: bytes) -> list[bytes]:
    """The frames of a Y4M video, without their headers."""
    header, _, rest = video.partition(b"\n")
    assert header.startswith(b"YUV4MPEG2 ") and {b"W54", b"H38", b"F25:1"} <= set(header.split())
    step = len(b"FRAME\n") + FRAME_BYTES
    assert len(rest) % step == 0
    starts = range(0, len(rest), step)
    assert all(rest[start:].startswith(b"FRAME\n") for start in starts)
    return [rest[start + len(b"FRAME\n") : start + step] for start in starts]


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_stream_returns_every_frame_in_order(server, kind):
    sent = pictures(60)
    finished = sidelight("stream", "-", "-", "--server", server.addresses[kind], video=y4m(sent))
    assert frames_of(finished.stdout) == [frame.inline for frame in sent]
    assert finished.stderr.decode().startswith("60 frames in ")
    assert "60 passed through; none dropped" in finished.stderr.decode()


def test_stream_changes_the_pipeline_at_the_given_times(server):
    sent = pictures(50)
    finished = sidelight(
        *("stream", "-", "-", "--server", server.addresses["tcp"]),
        *("--pipeline-at", "1.0=colorInvert", "--pipeline-at", "1.6="),
        video=y4m(sent),
    )
    came_back = frames_of(finished.stdout)
    changed = [one != frame.inline for one, frame in zip(came_back, sent, strict=True)]
    # At 25 frames a second: from frame 25 on, up to frame 40.
    assert changed == [25 <= index < 40 for index in range(50)]
    luma = np.frombuffer(came_back[30][: WIDTH * HEIGHT], dtype=np.uint8)
    expected = 251.0 - np.frombuffer(sent[30].inline[: WIDTH * HEIGHT], dtype=np.uint8)
    assert formulas.difference(luma, expected) <= 1


def test_stream_at_the_videos_own_rate_keeps_its_length(server):
    finished = sidelight(
        *("stream", "-", "-", "--server", server.addresses["tcp"], "--realtime"),
        *("--pipeline", "grayscale"),
        video=y4m(pictures(25)),
    )
    assert len(frames_of(finished.stdout)) == 25


@pytest.mark.parametrize(
    "video, complaint",
    [
        (b"", ""),
        (b"not a video\n", ""),
        (HEADER.replace(b"C420jpeg", b"C422"), "yuv420p"),
        (y4m(pictures(2))[:-1], ""),
    ],
    ids=["nothing", "no video", "4:2:2", "cut short"],
)
def test_stream_reports_an_invalid_video(server, video, complaint):
    finished = sidelight(
        "stream", "-", "-", "--server", server.addresses["tcp"], video=video, fails=True
    )
    assert finished.stderr
    assert complaint in finished.stderr.decode()


@pytest.mark.parametrize("extension", ["png", "jpg"])
def test_apply_writes_the_same_file_locally_and_on_a_server(server, tmp_path, extension):
    colors = np.random.default_rng(5).integers(0, 256, (90, 121, 3), dtype=np.uint8)
    source = tmp_path / "in.png"
    PIL.Image.fromarray(colors).save(source)
    results = []
    for where in (
        [],
        ["--server", server.addresses["tcp"]],
        ["--server", server.addresses["unix"]],
    ):
        target = tmp_path / f"out-{len(results)}.{extension}"
        sidelight("apply", source, target, "--pipeline", LOOK, *where)
        results.append(target.read_bytes())
    assert results[0] == results[1] == results[2]
    assert PIL.Image.open(io.BytesIO(results[0])).size == (121, 90)


def test_apply_matches_the_formula(tmp_path):
    colors = np.random.default_rng(6).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    source, target = tmp_path / "in.png", tmp_path / "out.png"
    PIL.Image.fromarray(colors).save(source)
    sidelight("apply", source, target, "--pipeline", "sepiaTone")
    result = np.asarray(PIL.Image.open(target))
    assert formulas.difference(result, formulas.sepia_tone(colors.astype(np.float64))) <= 1


def test_filters_as_json_matches_the_servers_list(stub):
    listed = frame_filter.ListFiltersResponse()
    json_format.Parse(sidelight("filters", "--json").stdout, listed)
    assert listed == stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=10)


def test_filters_describes_one_by_either_spelling():
    plain = sidelight("filters", "sepiaTone").stdout.decode()
    assert "intensity" in plain
    assert sidelight("filters", "CISepiaTone").stdout.decode() == plain
    one = json.loads(sidelight("filters", "sepiaTone", "--json").stdout)
    assert "sepiaTone" in json.dumps(one)


def test_check_prints_the_passes():
    words = sidelight("check", "--pipeline", "sepiaTone, colorInvert").stdout.decode()
    assert "sepiaTone" in words and "colorInvert" in words
    assert len(words.strip().splitlines()) >= 1


@pytest.mark.parametrize(
    "text, caret, hint",
    [
        ("sepiaTome", 0, "sepiaTone"),
        ("grayscale, vignete(intensity: 1)", 11, "vignette"),
        ("sepiaTone(intesity: 1)", 10, "intensity"),
        ("sepiaTone(intensity: )", 21, ""),
        ("sepiaTone(intensity: 1", 22, ""),
    ],
)
def test_an_error_in_a_pipelines_text_shows_its_position(text, caret, hint):
    complaint = sidelight("check", "--pipeline", text, fails=True).stderr.decode()
    lines = complaint.splitlines()
    place = next(index for index, line in enumerate(lines) if line == text)
    assert lines[place + 1] == " " * caret + "^"
    assert hint in complaint


@pytest.mark.parametrize(
    "option, words",
    [
        (["--pipeline-at", "1=grayscale(intensity: 1"], "column 23"),
        (["--pipeline-at", "soon=grayscale"], "'soon' is not a time in seconds"),
        (["--pipeline-at", "nan=grayscale"], "'nan' is not a time in seconds"),
        (["--pipeline-at", "grayscale"], "expected SECONDS=TEXT"),
        (["--server", "nowhere"], "expected HOST:PORT or unix:PATH"),
        (["--server", "::1:80"], "an IPv6 address must be in brackets"),
    ],
    ids=str,
)
def test_an_invalid_option_is_reported(option, words):
    arguments = dict([("--server", "unix:/tmp/nobody"), option])
    said = sidelight(
        "stream", *(each for pair in arguments.items() for each in pair), fails=True
    ).stderr.decode()
    assert words in said
    assert option[0] in said


def test_an_error_in_a_later_pipeline_shows_its_position():
    text = "sepiaTone(intensity: )"
    said = sidelight(
        *("stream", "--server", "unix:/tmp/nobody", "--pipeline-at", f"2={text}"), fails=True
    ).stderr.decode()
    assert f"\n{text}\n{' ' * 21}^" in said


def test_the_summary_has_percentiles_of_the_round_trips(server):
    finished = sidelight(
        *("stream", "-", "-", "--server", server.addresses["tcp"], "--pipeline", LOOK),
        video=y4m(pictures(40)),
    )
    said = finished.stderr.decode()
    p50, p95, p99 = map(float, re.search(r"p50 (\S+), p95 (\S+), p99 (\S+) ms", said).groups())
    assert 0 < p50 <= p95 <= p99 < 60_000


def test_an_unreadable_file_is_reported(tmp_path):
    said = sidelight("apply", tmp_path / "none.png", tmp_path / "o.png", fails=True).stderr.decode()
    assert "none.png" in said and "No such file" in said


@pytest.mark.parametrize("verb", ["serve", "stream", "apply", "check", "filters"])
def test_every_verb_has_help(verb):
    text = sidelight(verb, "--help").stdout.decode()
    assert "USAGE: sidelight " + verb in text and "OVERVIEW: " in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--listen", "nowhere"],
        ["serve", "--listen", "127.0.0.1:99999"],
        ["serve", "--listen", "unix:"],
        ["serve", "--compute-threads", "0"],
        ["apply", "in.png", "out.gif"],
        ["check", "--size", "0x0"],
        ["check", "--format", "yuv"],
        ["filters", "sepiaTome"],
        ["dance"],
    ],
    ids=" ".join,
)
def test_contradictory_arguments_are_refused(arguments):
    assert sidelight(*arguments, fails=True).stderr


def test_a_missing_server_is_an_immediate_error(tmp_path):
    finished = sidelight(
        *("stream", "-", "-", "--server", f"unix:{tmp_path}/nobody"),
        video=y4m(pictures(1)),
        fails=True,
    )
    assert finished.stderr
