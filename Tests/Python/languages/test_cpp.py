"""The C++ client: the examples are built, and filter through a server."""

import os
import re
import subprocess
from contextlib import ExitStack

import grpc
import numpy as np
import pytest

from sidelight_testing import images
from sidelight_testing.contract import REPOSITORY, frame_filter
from sidelight_testing.contract import image as image_messages
from sidelight_testing.programs import Program
from sidelight_testing.server import Server
from sidelight_testing.session import pipeline
from sidelight_testing.tokens import Issuer
from sidelight_testing.tracks import Track, counts

WIDTH, HEIGHT, FRAMES = 38, 22, 60
HEADER = b"YUV4MPEG2 W38 H22 F30:1 Ip A1:1 C420jpeg\n"


def filter_video(folder, server, text: str, video: bytes) -> subprocess.CompletedProcess:
    return subprocess.run(
        [folder / "filter_video", server.addresses["unix"], text],
        input=video, capture_output=True, timeout=60, check=False,
    )


def inspect_server(folder, address: str, text: str, **environment: str):
    return subprocess.run(
        [folder / "inspect_server", address, text], env=os.environ | environment,
        capture_output=True, timeout=60, check=False, text=True,
    )


def live_track(folder, address: str, text: str, fps: int = 60, *allowed: str) -> Program:
    return Program(folder / "live_track", address, text, str(fps), *allowed)


def inverted(luma: int) -> int:
    """The luma of `colorInvert` for grey of video range, which runs from 16 to 235."""
    return 251 - luma


def test_every_frame_of_a_video_is_filtered_in_order(cpp_programs, server):
    pictures = [images.noise("I420", WIDTH, HEIGHT, seed=index).inline for index in range(FRAMES)]
    video = HEADER + b"".join(b"FRAME\n" + picture for picture in pictures)
    finished = filter_video(cpp_programs, server, "colorInvert", video)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr.decode() == f"{FRAMES} frames filtered, 0 unchanged, 0 dropped\n"
    assert finished.stdout.startswith(HEADER)
    size = len(pictures[0])
    results = finished.stdout[len(HEADER) :]
    assert len(results) == FRAMES * (len(b"FRAME\n") + size)
    for index, picture in enumerate(pictures):
        result = results[index * (len(b"FRAME\n") + size) :][: len(b"FRAME\n") + size]
        assert result.startswith(b"FRAME\n")
        luma = np.frombuffer(result[len(b"FRAME\n") :][: WIDTH * HEIGHT], dtype=np.uint8)
        sent = np.frombuffer(picture[: WIDTH * HEIGHT], dtype=np.uint8).astype(np.int16)
        assert np.abs(luma - (251 - sent).clip(0, 255)).max() <= 1


def test_frames_without_a_filter_come_back_unchanged(cpp_programs, server):
    video = HEADER + b"FRAME\n" + images.noise("I420", WIDTH, HEIGHT).inline
    finished = filter_video(cpp_programs, server, "", video)
    assert finished.stdout == video
    assert finished.stderr.decode() == "0 frames filtered, 1 unchanged, 0 dropped\n"


@pytest.mark.parametrize(
    "text, video, said",
    [
        ("sepiaTome", HEADER, "did you mean sepiaTone?"),
        ("sepiaTone(amount: 1)", HEADER, "amount"),
        ("sepiaTone", b"not a video\n", "the input is not a Y4M video in 4:2:0"),
    ],
)
def test_invalid_input_is_refused(cpp_programs, server, text, video, said):
    finished = filter_video(cpp_programs, server, text, video)
    assert finished.returncode == 1
    assert said in finished.stderr.decode()
    assert finished.stdout == b""


def test_an_unreachable_server_is_an_error(cpp_programs, tmp_path):
    finished = subprocess.run(
        [cpp_programs / "filter_video", f"unix:{tmp_path}/none", "sepiaTone"],
        input=HEADER, capture_output=True, timeout=60, check=False,
    )
    assert finished.returncode == 1 and finished.stderr


def test_a_selection_applies_while_frames_are_filtered(cpp_programs, server):
    with live_track(cpp_programs, server.addresses["unix"], "colorInvert") as program:
        program.wait_for("opened 1")
        program.wait_for(r"frame \d+ filtered 1 .*")
        program.send("select brightness")
        refused = program.wait_for("refused (.*)")[1]
        assert refused.startswith("select.pipeline_text column 1 "), refused
        program.wait_for(r"frame \d+ filtered 1 .*")
        program.send("select colorControls(brightness: 0.1), colorInvert")
        revision = program.wait_for(r"accepted (\d+)")[1]
        program.wait_for(rf"frame \d+ filtered {revision} .*")
        program.send("update stages[0] brightness 0")
        last = program.wait_for(r"accepted (\d+)")[1]
        program.wait_for(rf"frame \d+ filtered {last} .*")
        program.send("end")
        assert program.finish() == 0, program.tail()
        lines = program.lines
    track = Track.of(lines)
    revisions = [frame.revision for frame in track.shown]
    assert revisions == sorted(revisions)
    assert sorted(set(revisions)) == [1, int(revision), int(last)]
    for frame in track.shown:
        assert frame.kind == "filtered"
        # A tenth of the range of luma is 22.
        expected = inverted(frame.before) - (22 if frame.revision == int(revision) else 0)
        assert abs(frame.after - expected) <= 1, frame


def test_applied_names_the_first_frame_of_each_revision(cpp_programs, server):
    with live_track(cpp_programs, server.addresses["unix"], "grayscale, colorInvert") as program:
        program.wait_for("frame .*")
        for change in [
            "activate stages[1] off", "activate stages[1] on", "select colorInvert", "select ",
        ]:
            program.send(change)
            revision = program.wait_for(r"accepted (\d+)")[1]
            program.wait_for(rf"frame \d+ \w+ {revision} .*")
        program.send("end")
        assert program.finish() == 0, program.tail()
        lines = program.lines
    applied = dict(
        map(int, line.split()[1:]) for line in lines if line.startswith("applied ")
    )
    track = Track.of(lines)
    assert set(applied) == {frame.revision for frame in track.shown} == set(range(1, 6))
    for frame in track.shown:
        assert frame.sequence >= applied[frame.revision]
        assert frame.sequence < applied.get(frame.revision + 1, frame.sequence + 1)
        is_inverted = frame.revision in (1, 3, 4)
        expected = inverted(frame.before) if is_inverted else frame.before
        assert abs(frame.after - expected) <= 1, frame


def test_newer_frames_replace_the_frame_that_waits(cpp_programs, server):
    slow = ", ".join(["gaussianBlur(radius: 30)"] * 40)
    with live_track(cpp_programs, server.addresses["unix"], slow, fps=1000) as program:
        program.wait_for(r"dropped \d+ \d+ SUPERSEDED_IN_CLIENT")
        program.wait_for(r"frame .*")
        program.send("end")
        assert program.finish() == 0, program.tail()
    track, totals = Track.of(program.lines), counts(program.lines)
    assert track.order == list(range(1, totals["offered"] + 1))
    # The last frame that was offered is never the one that is dropped.
    assert track.shown[-1].sequence == totals["offered"]


# A command, and the field, position, value, limit and suggestion of the error.
REFUSED = {
    "select grayscale, sepiaTome":
        "select.pipeline_text column 12 value sepiaTome suggestion sepiaTone: ",
    "select sepiaTone(intensty: 1)":
        "select.pipeline_text column 11 value intensty suggestion intensity: ",
    "select gaussianBlur(radius: 1e9)":
        "select.pipeline_text column 22 value 1000000000.0 limit 0.0 ... 1024.0: ",
    "select " + ",".join(["colorInvert"] * 65): "select.pipeline_text column 769 limit 64: ",
    "update stages[3] x 1": "update.stages[0].stage value stages[3]: ",
}  # fmt: skip


def test_a_refused_change_has_its_details_and_changes_nothing(cpp_programs, server):
    with live_track(cpp_programs, server.addresses["unix"], "colorInvert") as program:
        for command, details in REFUSED.items():
            program.send(command)
            refused = program.wait_for("refused (.*)")[1]
            assert refused.startswith(details), refused
            program.wait_for(r"frame \d+ filtered 1 .*")
        program.send("end")
        assert program.finish() == 0, program.tail()


# The list of allowed filters, and the commands that it permits.
PERMITTED = {
    (): ["select colorInvert", "select vignette, colorInvert"],
    ("color*,vignette",): ["select colorInvert", "select vignette, colorInvert"],
    ("colorInvert",): ["select colorInvert"],
    ("",): [],
}


@pytest.mark.parametrize("allowed", PERMITTED, ids=str)
def test_an_empty_list_permits_no_filter_and_its_absence_all(cpp_programs, server, allowed):
    with live_track(cpp_programs, server.addresses["unix"], "", 60, *allowed) as program:
        program.wait_for(r"frame \d+ unchanged 1 .*")
        for command in PERMITTED[()]:
            program.send(command)
            answer = program.wait_for(r"(accepted|refused) (.*)")
            is_permitted = command in PERMITTED[allowed]
            assert answer[1] == ("accepted" if is_permitted else "refused"), answer[0]
            if is_permitted:
                program.wait_for(rf"frame \d+ filtered {answer[2]} .*")
            else:
                assert "not permitted by open.allowed_filters" in answer[2]
        program.send("end")
        assert program.finish() == 0, program.tail()
        lines = program.lines
    for frame in Track.of(lines).shown:
        assert (frame.kind == "filtered") == (frame.revision > 1)
        if frame.kind == "unchanged":
            assert frame.after == frame.before


@pytest.mark.parametrize("fps", [30, 1000])
def test_every_frame_has_one_outcome_in_order(cpp_programs, server, fps):
    text = "gaussianBlur(radius: 20), pixellate(scale: 8)"
    with live_track(cpp_programs, server.addresses["tcp"], text, fps) as program:
        for _ in range(30):
            program.wait_for(r"frame .*")
        program.send("end")
        assert program.finish() == 0, program.tail()
        lines = program.lines
    track, totals = Track.of(lines), counts(lines)
    assert track.order == list(range(1, totals["offered"] + 1))
    assert totals["offered"] == totals["returned"] + totals["dropped"]
    assert len(track.shown) == totals["returned"]


def test_a_pause_drops_frames_until_it_ends(cpp_programs, server):
    with live_track(cpp_programs, server.addresses["unix"], "colorInvert") as program:
        program.wait_for(r"frame .*")
        program.send("pause")
        paused = int(program.wait_for(r"dropped (\d+) \d+ PAUSED")[1])
        program.send("resume")
        resumed = int(program.wait_for(r"frame (\d+) filtered 1 .*")[1])
        program.send("end")
        assert program.finish() == 0, program.tail()
    track = Track.of(program.lines)
    assert not any(paused <= frame.sequence < resumed for frame in track.shown)


@pytest.mark.parametrize("keys", [True, False], ids=["same key", "another key"])
def test_a_killed_server_is_replaced_by_the_next_one(cpp_programs, tmp_path, keys):
    address = f"unix:{tmp_path}/socket"
    options = ["--listen", address]
    if keys:
        (tmp_path / "keys").write_text("test:" + "A" * 43 + "=\n")
        options += ["--resume-keys-file", tmp_path / "keys"]
    with ExitStack() as stack:
        first = stack.enter_context(Server(*options))
        program = stack.enter_context(live_track(cpp_programs, address, "grayscale"))
        program.send("select colorInvert")
        revision = program.wait_for(r"accepted (\d+)")[1]
        program.wait_for(rf"frame \d+ filtered {revision} .*")
        first.process.kill()
        first.process.wait()
        program.wait_for("lost .*")
        stack.enter_context(Server(*options))
        program.wait_for(r"reopened \d+ unfiltered \d+")
        program.wait_for(r"frame \d+ filtered .*")
        program.send("end")
        assert program.finish() == 0, program.tail()
    reopened = next(i for i, line in enumerate(program.lines) if line.startswith("reopened"))
    before, after = Track.of(program.lines[:reopened]), Track.of(program.lines[reopened:])
    totals = counts(program.lines)
    assert totals["offered"] == len(before.order) + len(after.order)
    assert totals["offered"] == totals["returned"] + totals["dropped"]
    # The selection is in force again, not the pipeline that opened the first session.
    assert after.shown and all(
        abs(frame.after - inverted(frame.before)) <= 1 for frame in after.shown
    )


def test_a_server_is_described(cpp_programs, server, info, stub):
    finished = inspect_server(cpp_programs, server.addresses["unix"], " colorInvert ,grayscale")
    assert finished.returncode == 0, finished.stderr
    lines = finished.stdout.splitlines()
    listed = stub.ListFilters(frame_filter.ListFiltersRequest(), timeout=60).filters
    assert lines[:4] == [
        f"version {info.version}", f"largest frame {info.limits.max_pixels} pixels",
        f"filters {len(listed)}", "pipeline colorInvert, grayscale",
    ]
    assert any(line.startswith("pass ") for line in lines)
    pixel = bytes([0x20, 0x60, 0xA0])
    image = image_messages.Image(
        format=image_messages.PIXEL_FORMAT_RGB24, width=1, height=1, inline=pixel)
    request = frame_filter.ApplyRequest(image=image, pipeline=pipeline("colorInvert", "grayscale"))
    result = stub.Apply(request, timeout=60).image.inline
    assert lines[-1] == "pixel 32 96 160 -> " + " ".join(map(str, result))
    assert result != pixel


def test_a_token_is_sent(cpp_programs, tmp_path):
    issuer = Issuer(tmp_path)
    with Server(*issuer.options) as server:
        address = server.addresses["tcp"]
        refused = inspect_server(cpp_programs, address, "grayscale")
        assert refused.returncode == 1
        assert refused.stderr.startswith(f"error {grpc.StatusCode.UNAUTHENTICATED.value[0]}: ")
        token = issuer.token()
        finished = inspect_server(cpp_programs, address, "grayscale", SIDELIGHT_TOKEN=token)
        assert finished.returncode == 0, finished.stderr


def test_the_readme_shows_code_of_the_examples():
    readme = (REPOSITORY / "clients/cpp/README.md").read_text()
    folder = REPOSITORY / "Examples/cpp"
    code = [" ".join(path.read_text().split()) for path in folder.iterdir() if path.is_file()]
    shown = re.findall(r"```(?:cpp|cmake)\n(.*?)```", readme, flags=re.DOTALL)
    assert len(shown) >= 4
    for snippet in shown:
        assert any(" ".join(snippet.split()) in each for each in code), snippet
