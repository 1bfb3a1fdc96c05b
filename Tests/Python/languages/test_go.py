"""The Go example: a call of two pion peers over loopback, filtered through a server."""

import re
import signal
import subprocess
from contextlib import ExitStack

import pytest

from sidelight_testing.contract import REPOSITORY
from sidelight_testing.programs import Program
from sidelight_testing.server import Server

# The number of every picture is drawn in its top rows, which the filter leaves as they are.
INVERT = "colorInvert @region(0, 0.25h, 1w, 0.75h)"
FRAMES_PER_SECOND = 15
# VP8 is lossy, also for flat pictures, and they are encoded twice.
TOLERANCE = 4


def call(folder, address: str, pipeline: str = INVERT, fps: int = FRAMES_PER_SECOND) -> Program:
    return Program(folder / "call", address, pipeline, str(fps))


def rows(program: Program, kind: str) -> list[list[int]]:
    """The numbers of every line of a kind."""
    return [
        [int(word) for word in line.split()[1:]]
        for line in program.lines if re.fullmatch(kind + r"( \d+)+", line)
    ]


def luma(number: int) -> int:
    """The luma of the camera's picture."""
    return 40 + (7 * number) % 160


def outcomes(program: Program) -> tuple[dict[int, tuple[str, int]], list[int]]:
    """The disposition and revision by number of the picture, and all sequences in order."""
    found, order = {}, []
    for line in program.lines:
        word, *rest = line.split()
        if word == "outcome":
            order.append(int(rest[0]))
            found[int(rest[1])] = (rest[2], int(rest[3]))
        elif word == "dropped":
            order += range(int(rest[0]), int(rest[1]) + 1)
    return found, order


def test_a_track_is_filtered_and_keeps_its_timestamps(go_programs, server):
    with call(go_programs, server.addresses["unix"]) as program:
        program.wait_for("peer connected")
        for _ in range(20):
            program.wait_for("shown .*")
        program.send("end")
        assert program.finish() == 0, program.tail()
        shown = rows(program, "shown")
        returned, order = outcomes(program)
    assert len(shown) >= 20
    numbers = [number for number, _, _ in shown]
    assert numbers == sorted(set(numbers))
    for number, timestamp, after in shown:
        # The number in the picture, and the one that its timestamp means.
        assert number == timestamp
        assert returned[number] == ("FILTERED", 1)
        assert abs(after - (251 - luma(number))) <= TOLERANCE
    assert order == list(range(1, len(order) + 1))


def test_a_selection_applies_from_the_frame_that_its_revision_names(go_programs, server):
    with call(go_programs, server.addresses["tcp"]) as program:
        program.wait_for("shown .*")
        program.send("select sepiaTome")
        refused = program.wait_for("refused (.*)")[1]
        details = "select.pipeline_text column 1 value sepiaTome suggestion sepiaTone: "
        assert refused.startswith(details), refused
        program.wait_for(r"outcome \d+ \d+ FILTERED 1")
        program.send("select grayscale @region(0, 0.25h, 1w, 0.75h)")
        revision = int(program.wait_for(r"accepted (\d+)")[1])
        first = program.wait_for(rf"outcome \d+ (\d+) FILTERED {revision}")[1]
        program.wait_for(rf"shown {first} .*")
        for _ in range(5):
            program.wait_for("shown .*")
        program.send("end")
        assert program.finish() == 0, program.tail()
        shown = rows(program, "shown")
        returned, _ = outcomes(program)
    seen = set()
    for number, _, after in shown:
        _, current = returned[number]
        seen.add(current)
        expected = luma(number) if current == revision else 251 - luma(number)
        assert abs(after - expected) <= TOLERANCE
    assert seen == {1, revision}


def test_every_picture_has_one_outcome_in_order(go_programs, tmp_path):
    address = f"unix:{tmp_path}/socket"
    with (
        Server("--listen", address) as server,
        call(go_programs, address, INVERT, fps=120) as program,
    ):
        program.wait_for("outcome .*")
        # A server that does not answer uses up the credits. Outcomes are in order, so the outcomes
        # of waiting pictures follow the server's.
        server.process.send_signal(signal.SIGSTOP)
        for _ in range(30):
            program.wait_for(r"captured \d+ \d+")
        server.process.send_signal(signal.SIGCONT)
        program.wait_for(r"dropped \d+ \d+ SUPERSEDED_IN_CLIENT")
        for _ in range(5):
            program.wait_for("outcome .*")
        program.send("end")
        assert program.finish() == 0, program.tail()
        (totals,) = [line.split() for line in program.lines if line.startswith("counts ")]
        returned, order = outcomes(program)
    assert order == list(range(1, len(order) + 1))
    assert set(returned) <= {number for number, _ in rows(program, "captured")}
    assert len(returned) == int(totals[totals.index("written") + 1])


@pytest.mark.parametrize("keys", [True, False], ids=["same key", "another key"])
def test_a_call_goes_on_while_the_server_is_replaced(go_programs, tmp_path, keys):
    address = f"unix:{tmp_path}/socket"
    options = ["--listen", address]
    if keys:
        (tmp_path / "keys").write_text("test:" + "A" * 43 + "=\n")
        options += ["--resume-keys-file", tmp_path / "keys"]
    with ExitStack() as stack:
        first = stack.enter_context(Server(*options))
        program = stack.enter_context(call(go_programs, address, ""))
        program.wait_for("shown .*")
        program.send("select " + INVERT)
        program.wait_for(r"accepted \d+")
        program.wait_for(r"outcome \d+ \d+ FILTERED \d+")
        first.process.kill()
        first.process.wait()
        program.wait_for("lost .*")
        # Pictures are still shown, without a filter.
        captured = int(program.wait_for(r"captured (\d+) \d+")[1])
        while int(program.wait_for(r"shown (\d+) \d+ \d+")[1]) < captured:
            pass
        stack.enter_context(Server(*options))
        program.wait_for("reopened")
        last = program.wait_for(r"outcome \d+ (\d+) FILTERED \d+")[1]
        program.wait_for(rf"shown {last} .*")
        program.send("end")
        assert program.finish() == 0, program.tail()
        shown = rows(program, "shown")
    after = {number: value for number, _, value in shown}
    # The selection is in force again, not the pipeline that opened the first session.
    assert abs(after[int(last)] - (251 - luma(int(last)))) <= TOLERANCE
    assert abs(after[captured] - luma(captured)) <= TOLERANCE


def test_an_invalid_pipeline_ends_the_program(go_programs, server):
    finished = subprocess.run(
        [go_programs / "call", server.addresses["unix"], "sepiaTome", "15"],
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
