"""The programs in examples/."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.videos import frames_of, is_inverted, video

import sidelight

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(program, *arguments, input=b""):
    return subprocess.run(
        [sys.executable, EXAMPLES / program, *map(str, arguments)],
        input=input,
        capture_output=True,
        timeout=60,
    )


@pytest.mark.parametrize("transport", ["tcp", "unix"])
def test_a_video_is_filtered(running_server, transport):
    content = video(38, 23, frames=20)
    address = getattr(running_server, transport)
    finished = run("filter_video.py", address, "colorInvert", input=content)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr.decode().startswith("20 frames filtered, in shared memory")
    results = frames_of(finished.stdout)
    assert len(results) == 20 and all(map(is_inverted, results, frames_of(content)))


def test_an_invalid_pipeline_is_reported(address):
    finished = run("filter_video.py", address, "sepiaTome", input=video(8, 8, frames=1))
    assert finished.returncode == 1
    assert b"sepiaTone" in finished.stderr and b"Traceback" not in finished.stderr


def test_live_video_is_filtered(address):
    finished = run("live.py", address, "--seconds", "1")
    assert finished.returncode == 0, finished.stderr
    text = finished.stdout.decode()
    assert re.search(r"the new look begins with frame \d+", text)
    assert re.search(r"^30 frames, \d+ dropped$", text, re.M)


def test_stills_are_filtered(address, tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    source, target = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    for index in range(5):
        pillow.new("L", (4, 4), 50 * index).save(source / f"{index}.png")
    (source / "notes.txt").write_text("no picture")
    finished = run("stills.py", address, source, target, "colorInvert")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.decode() == "5 of 5 files filtered\n"
    for index in range(5):
        assert pillow.open(target / f"{index}.png").getpixel((0, 0)) == 255 - 50 * index
    (source / "9.png").write_bytes(b"damaged")
    finished = run("stills.py", address, source, target, "colorInvert")
    assert finished.returncode == 1
    assert finished.stdout.decode() == "5 of 6 files filtered\n" and b"9.png" in finished.stderr


def test_a_moderator_hides_a_participant(address):
    with sidelight.connect(address) as server, server.session(participant="ana") as session:
        listed = run("moderate.py", address).stdout.decode()
        assert re.search(r"^ana: .*own look$", listed, re.M), listed
        hidden = run("moderate.py", address, "--blur", "ana")
        assert hidden.returncode == 0, hidden.stderr
        assert "ana:" in hidden.stdout.decode()
        assert "overridden: hidden by a moderator" in hidden.stdout.decode()
        events = (event for event in session.events() if isinstance(event, sidelight.StateChanged))
        assert next(events).state is sidelight.SessionState.OVERRIDDEN
        shown = run("moderate.py", address, "--end", "ana").stdout.decode()
        assert re.search(r"^ana: .*own look$", shown, re.M), shown
