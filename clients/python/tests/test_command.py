"""The command `python -m sidelight`."""

import io
import subprocess
import sys

import pytest
from support.videos import frames_of, is_inverted, video

SUCCESS, FAILURE, INVALID = 0, 1, 2


@pytest.fixture
def run(address):
    """Runs the command with the address of the server, and returns the finished process."""

    def run(command, *arguments, input=b"", server=address):
        return subprocess.run(
            [sys.executable, "-m", "sidelight", command, "--server", server, *map(str, arguments)],
            input=input,
            capture_output=True,
            timeout=60,
        )

    return run


@pytest.mark.parametrize("size", [(38, 22), (17, 9)])
def test_every_frame_of_a_video_is_filtered(run, running_server, size):
    content = video(*size, frames=12)
    for server in (running_server.tcp, running_server.unix):
        finished = run("stream", "colorInvert", input=content, server=server)
        assert finished.returncode == SUCCESS, finished.stderr
        assert finished.stderr.decode() == "12 frames, 0 dropped\n"
        assert finished.stdout.startswith(content[: content.index(b"\n")])
        results = frames_of(finished.stdout)
        assert len(results) == 12
        assert all(map(is_inverted, results, frames_of(content)))


def test_a_video_must_be_y4m(run):
    finished = run("stream", "sepiaTone", input=b"RIFF")
    assert finished.returncode == INVALID and b"not a Y4M video" in finished.stderr
    assert not finished.stdout


def test_a_reader_that_ends_ends_the_stream(address):
    command = [sys.executable, "-m", "sidelight", "stream", "--server", address, "sepiaTone"]
    content = video(64, 48, frames=200)
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        try:
            process.stdin.write(content)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.wait(timeout=60) == FAILURE
        assert b"Traceback" not in process.stderr.read()


def test_files_are_filtered(run, tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    source = tmp_path / "in.png"
    pillow.frombytes("RGB", (3, 2), bytes(range(18))).save(source)
    result = tmp_path / "out.png"
    finished = run("apply", source, result, "colorInvert")
    assert finished.returncode == SUCCESS, finished.stderr
    assert pillow.open(result).tobytes() == bytes(range(255, 237, -1))
    finished = run("apply", source, tmp_path / "out.jpg", "colorInvert", "--width", "30")
    assert finished.returncode == SUCCESS, finished.stderr
    smaller = pillow.open(io.BytesIO((tmp_path / "out.jpg").read_bytes()))
    assert (smaller.format, smaller.size) == ("JPEG", (30, 20))


def test_missing_and_other_files_are_refused(run, tmp_path):
    finished = run("apply", tmp_path / "absent.png", tmp_path / "out.png", "sepiaTone")
    assert finished.returncode == INVALID and b"absent.png" in finished.stderr
    text = tmp_path / "text.png"
    text.write_text("text")
    finished = run("apply", text, tmp_path / "out.png", "sepiaTone")
    assert finished.returncode == INVALID and b"a JPEG or PNG file" in finished.stderr
    assert not (tmp_path / "out.png").exists()


def test_a_pipeline_is_checked(run):
    finished = run("check", "CISepiaTone( inputIntensity:.5 ),pixellate(scale: 12)")
    assert finished.returncode == SUCCESS, finished.stderr
    text, *passes = finished.stdout.decode().splitlines()
    assert text == "CISepiaTone(inputIntensity: 0.5), pixellate(scale: 12)"
    assert passes[0].startswith("1. ") and "pixellate" in passes[-1]
    assert "unchanged" in run("check", "").stdout.decode()


@pytest.mark.parametrize(
    "pipeline, line, caret",
    [
        ("sepiaTome", "  sepiaTome", "  ^"),
        ("vignette, sepiaTome", "  vignette, sepiaTome", "            ^"),
        ("vignette,\n  sepiaTome", "    sepiaTome", "    ^"),
    ],
)
@pytest.mark.parametrize("command", ["check", "stream", "apply"])
def test_the_caret_is_under_the_invalid_character(run, tmp_path, command, pipeline, line, caret):
    arguments, content = [pipeline], b""
    if command == "stream":
        content = video(8, 8, frames=1)
    if command == "apply":
        picture = tmp_path / "in.png"
        pytest.importorskip("PIL.Image").new("L", (4, 4)).save(picture)
        arguments = [picture, tmp_path / "out.png", pipeline]
    finished = run(command, *arguments, input=content)
    assert finished.returncode == INVALID
    message, *rest = finished.stderr.decode().splitlines()
    assert message.startswith("error: ") and "sepiaTone" in message
    assert rest == [line, caret]


def test_filters_are_listed_and_described(run):
    listed = run("filters")
    assert listed.returncode == SUCCESS
    assert "\n  sepiaTone" in listed.stdout.decode()
    blurs = run("filters", "--category", "blur").stdout.decode()
    assert "gaussianBlur" in blurs and "sepiaTone" not in blurs
    page = run("filters", "gaussianBlur").stdout.decode()
    assert page.startswith("gaussianBlur\n") and "radius: " in page and "default 10" in page
    unknown = run("filters", "gausianBlur")
    assert unknown.returncode == INVALID
    assert unknown.stderr.decode().endswith("Did you mean gaussianBlur?\n")


def test_an_unreachable_server_is_reported(run, tmp_path):
    finished = run("filters", server=f"unix:{tmp_path}/absent")
    assert finished.returncode == FAILURE
    assert finished.stderr.startswith(b"error: ") and b"Traceback" not in finished.stderr


def test_usage_errors_have_their_exit_code(run):
    assert run("filter").returncode == INVALID
    assert run("check").returncode == INVALID
