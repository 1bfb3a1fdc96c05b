"""The Go example: a call of two pion peers over loopback, filtered through a server, with encoded
frames in both directions."""

import re
import signal
import subprocess
from contextlib import ExitStack

import numpy as np
import pytest

from sidelight_testing.contract import REPOSITORY
from sidelight_testing.go_call import COUNT, INVERT, TOLERANCE, Call, encode, ivf, luma
from sidelight_testing.server import Server

CODECS = ["VP8", "H264"]
pytestmark = pytest.mark.usefixtures("codecs")


@pytest.mark.parametrize("codec", CODECS)
def test_a_track_is_filtered_and_keeps_its_timestamps(go_programs, server, tmp_path, codec):
    with Call(go_programs, tmp_path, server.addresses["unix"], video=encode(codec)) as call:
        call.wait_for("peer connected")
        for _ in range(20):
            call.wait_for("shown .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    pictures, indices = call.pictures(), call.indices()
    returned, order = call.outcomes()
    assert len(pictures) >= 20
    numbers = [number for number, _, _ in pictures]
    assert numbers == sorted(set(numbers))
    for number, index, after in pictures:
        # The number that the timestamp means, and the one in the picture.
        assert indices[number] == index
        assert returned[number] == ("FILTERED", 1)
        assert abs(after - (251 - luma(index))) <= TOLERANCE
    assert order == list(range(1, len(order) + 1))


def test_a_selection_applies_from_the_frame_that_its_revision_names(
    go_programs, server, tmp_path
):
    with Call(go_programs, tmp_path, server.addresses["tcp"]) as call:
        call.wait_for("shown .*")
        call.send("select sepiaTome")
        refused = call.wait_for("refused (.*)")[1]
        details = "select.pipeline_text column 1 value sepiaTome suggestion sepiaTone: "
        assert refused.startswith(details), refused
        call.wait_for(r"outcome \d+ \d+ FILTERED 1")
        call.send("select grayscale @region(0, 0.25h, 1w, 0.75h)")
        revision = int(call.wait_for(r"accepted (\d+)")[1])
        first = call.wait_for(rf"outcome \d+ (\d+) FILTERED {revision}")[1]
        call.wait_for(rf"shown {first} .*")
        for _ in range(5):
            call.wait_for("shown .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    returned, _ = call.outcomes()
    seen = set()
    for number, index, after in call.pictures():
        _, current = returned[number]
        seen.add(current)
        expected = luma(index) if current == revision else 251 - luma(index)
        assert abs(after - expected) <= TOLERANCE
    assert seen == {1, revision}


def test_frames_that_cannot_be_sent_are_dropped_up_to_a_key_frame(go_programs, tmp_path):
    address = f"unix:{tmp_path}/socket"
    with (
        Server("--listen", address) as server,
        Call(go_programs, tmp_path, address, video=encode("VP8", rate=60, keys=COUNT)) as call,
    ):
        call.wait_for("outcome .*")
        # A server that does not answer uses up the credits. Outcomes are in order, so the outcomes
        # of waiting frames follow the server's.
        server.process.send_signal(signal.SIGSTOP)
        for _ in range(30):
            call.wait_for(r"captured \d+ \d+")
        server.process.send_signal(signal.SIGCONT)
        call.wait_for(r"dropped \d+ \d+ SUPERSEDED_IN_CLIENT")
        call.wait_for(r"dropped \d+ \d+ NOT_DECODABLE")
        for _ in range(5):
            call.wait_for("outcome .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
        (totals,) = [line.split() for line in call.lines if line.startswith("counts ")]
    returned, order = call.outcomes()
    indices = call.indices()
    assert order == list(range(1, len(order) + 1))
    assert set(returned) <= set(indices)
    assert len(returned) == int(totals[totals.index("written") + 1])
    for number, index, after in call.pictures():
        assert indices[number] == index
        assert abs(after - (251 - luma(index))) <= TOLERANCE
    # The camera was asked for a key frame: the file has no other than its first.
    assert any(index == 0 and number % COUNT for number, index in indices.items())


@pytest.mark.parametrize("keys", [True, False], ids=["same key", "another key"])
def test_a_call_goes_on_while_the_server_is_replaced(go_programs, tmp_path, keys):
    address = f"unix:{tmp_path}/socket"
    options = ["--listen", address]
    if keys:
        (tmp_path / "keys").write_text("test:" + "A" * 43 + "=\n")
        options += ["--resume-keys-file", tmp_path / "keys"]
    with ExitStack() as stack:
        first = stack.enter_context(Server(*options))
        call = stack.enter_context(Call(go_programs, tmp_path, address, ""))
        call.wait_for("shown .*")
        call.send("select " + INVERT)
        call.wait_for(r"accepted \d+")
        call.wait_for(r"outcome \d+ \d+ FILTERED \d+")
        first.process.kill()
        first.process.wait()
        call.wait_for("lost .*")
        # Frames are still shown, without a filter, from a key frame on.
        captured = int(call.wait_for(r"captured (\d+) \d+")[1])
        unfiltered = 0
        while unfiltered < captured:
            unfiltered = int(call.wait_for(r"shown (\d+) .*")[1])
        stack.enter_context(Server(*options))
        call.wait_for("reopened")
        last = int(call.wait_for(r"outcome \d+ (\d+) FILTERED \d+")[1])
        call.wait_for(rf"shown {last} .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    after = {number: (index, value) for number, index, value in call.pictures()}
    # The selection is in force again, not the pipeline that opened the first session.
    index, value = after[last]
    assert abs(value - (251 - luma(index))) <= TOLERANCE
    index, value = after[unfiltered]
    assert abs(value - luma(index)) <= TOLERANCE
    kinds = {number: kind for number, kind, _ in call.shown()}
    assert kinds[min(number for number in kinds if number > unfiltered and number >= last)] == "key"


def test_a_request_of_the_receiver_gets_a_key_frame(go_programs, server, tmp_path):
    with Call(go_programs, tmp_path, server.addresses["unix"]) as call:
        for _ in range(20):
            call.wait_for("shown .*")
        # Key frames of the camera do not make key frames of the result.
        assert [kind for _, kind, _ in call.shown()].count("key") == 1
        call.send("refresh")
        call.wait_for(r"shown \d+ key \d+")
        call.send("end")
        assert call.finish() == 0, call.tail()
    assert len(call.pictures()) == len(call.shown())


def test_the_server_asks_the_sender_for_a_key_frame(go_programs, server, tmp_path):
    video = encode("VP8", keys=COUNT)
    with Call(go_programs, tmp_path, server.addresses["unix"], video=video) as call:
        for _ in range(3):
            call.wait_for("shown .*")
        call.send("pause")
        call.wait_for(r"dropped \d+ \d+ PAUSED")
        call.send("resume")
        call.wait_for(r"outcome \d+ \d+ FILTERED \d+")
        call.wait_for("shown .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    indices = call.indices()
    assert any(index == 0 and number % COUNT for number, index in indices.items())
    assert all(indices[number] == index for number, index, _ in call.pictures())


def test_a_lower_estimate_of_the_receiver_sets_the_bit_rate(
    go_programs, server, tmp_path
):
    video = encode("VP8", is_noise=True)
    with Call(go_programs, tmp_path, server.addresses["unix"], video=video) as call:
        # The feedback of the receiver (TWCC) shows what the link carries.
        call.wait_for(r"link \d+")
        for _ in range(30):
            call.wait_for("shown .*")
        call.send("estimate 30000")
        for _ in range(30):
            call.wait_for("shown .*")
        call.send("end")
        assert call.finish() == 0, call.tail()
    sizes = [size for _, kind, size in call.shown() if kind == "delta"]
    assert np.mean(sizes[-15:]) < 0.5 * np.mean(sizes[15:25]), sizes


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (b"RIFF" + bytes(60), "is not an IVF file"),
        (ivf([b"x"], b"VP90", 15), 'the codec is "VP90"; it must be VP80 or H264'),
        (ivf([b"x"], b"VP80", 500), "the frame rate is 500/1; it must be 1 to 120"),
        (ivf([b"\x01"], b"VP80", 15), "must begin with a key frame"),
        (ivf([], b"VP80", 15), "must begin with a key frame"),
        (ivf([bytes(9)], b"VP80", 15)[:-1], "ends within a frame"),
    ],
)
def test_an_invalid_file_ends_the_program(go_programs, tmp_path, file, message):
    (tmp_path / "in.ivf").write_bytes(file)
    command = [go_programs / "call", "127.0.0.1:1", "", tmp_path / "in.ivf", tmp_path / "out.ivf"]
    finished = subprocess.run(command, capture_output=True, timeout=60, check=False, text=True)
    assert finished.returncode == 1
    assert message in finished.stderr


def test_an_invalid_pipeline_ends_the_program(go_programs, server, tmp_path):
    (tmp_path / "in.ivf").write_bytes(encode("VP8"))
    files = [tmp_path / "in.ivf", tmp_path / "out.ivf"]
    finished = subprocess.run(
        [go_programs / "call", server.addresses["unix"], "sepiaTome", *files],
        capture_output=True, timeout=60, check=False, text=True,
    )
    assert finished.returncode == 1
    assert "InvalidArgument" in finished.stderr and "did you mean sepiaTone?" in finished.stderr


def test_the_packets_of_a_track_are_joined_to_frames(go_programs):
    finished = subprocess.run(
        [go_programs / "bridge.test"], capture_output=True, timeout=60, check=False, text=True
    )
    assert finished.returncode == 0, finished.stdout


def test_the_sources_have_the_format_of_gofmt(go_programs):
    finished = subprocess.run(
        ["gofmt", "-l", REPOSITORY / "Examples/go"],
        capture_output=True, timeout=60, check=True, text=True,
    )
    assert finished.stdout == ""


def test_the_readme_shows_code_of_the_example():
    folder = REPOSITORY / "Examples/go"
    code = [" ".join(path.read_text().split()) for path in folder.rglob("*.go")]
    shown = re.findall(r"```go\n(.*?)```", (folder / "README.md").read_text(), flags=re.DOTALL)
    assert shown
    for snippet in shown:
        assert any(" ".join(snippet.split()) in each for each in code), snippet
