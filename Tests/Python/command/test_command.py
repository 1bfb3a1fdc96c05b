"""The subcommands of `sidelight`: output, exit status and error messages."""

import io
import json
import re

import numpy as np
import PIL.Image
import pytest
from google.protobuf import json_format

from sidelight_testing import formulas
from sidelight_testing.command import sidelight
from sidelight_testing.contract import frame_filter
from sidelight_testing.server import Server
from sidelight_testing.video import HEADER, HEIGHT, WIDTH, frames_of, pictures, y4m

LOOK = "sepiaTone(intensity: 0.8), vignette(intensity: 1), gaussianBlur(radius: 2)"


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
    assert listed == stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=60)


def test_filters_describes_one_by_either_spelling():
    plain = sidelight("filters", "sepiaTone").stdout.decode()
    assert "intensity" in plain
    assert sidelight("filters", "CISepiaTone").stdout.decode() == plain
    one = json.loads(sidelight("filters", "sepiaTone", "--json").stdout)
    assert "sepiaTone" in json.dumps(one)


def test_check_prints_the_passes():
    checked = sidelight("check", "--pipeline", "sepiaTone, colorInvert")
    assert checked.stdout.decode().startswith("1. sepiaTone+colorInvert: ")
    assert not checked.stderr


def test_check_warns_of_stages_without_effect():
    text = "sepiaTone, [hueAdjust, look: vibrance(amount: 0)], vignette, hueAdjust @off"
    checked = sidelight("check", "--pipeline", text)
    assert checked.stdout.decode().startswith("1. sepiaTone+vignette: ")
    assert checked.stderr.decode() == "".join(
        f"Warning: column {text.index(name) + 1}: {name} changes nothing with these parameters\n"
        f"{text}\n{' ' * text.index(name)}^\n"
        for name in ("hueAdjust", "vibrance")
    )


def test_the_log_names_stages_without_effect():
    with Server() as running:
        finished = sidelight(
            *("stream", "-", "-", "--server", running.addresses["tcp"]),
            *("--pipeline", "sepiaTone", "--pipeline-at", "0.4=[hueAdjust, sepiaTone], vibrance"),
            video=y4m(pictures(20)),
        )
        assert len(frames_of(finished.stdout)) == 20
        (line,) = [each for each in running.log.splitlines() if "no effect" in each]
        assert "stages[0].pipeline.stages[0] hueAdjust, stages[1] vibrance" in line


@pytest.mark.parametrize(
    "option, words",
    [
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


def test_the_summary_has_percentiles_of_the_round_trips(server):
    finished = sidelight(
        *("stream", "-", "-", "--server", server.addresses["tcp"], "--pipeline", LOOK),
        video=y4m(pictures(40)),
    )
    said = finished.stderr.decode()
    p50, p95, p99 = map(float, re.search(r"p50 (\S+), p95 (\S+), p99 (\S+) ms", said).groups())
    assert 0 < p50 <= p95 <= p99 < 60_000


@pytest.mark.parametrize("verb", ["serve", "stream", "apply", "check", "filters"])
def test_every_verb_has_help(verb):
    text = sidelight(verb, "--help").stdout.decode()
    assert "USAGE: sidelight " + verb in text and "OVERVIEW: " in text
