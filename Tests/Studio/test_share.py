"""Code, commands and links with the pipeline, each of which is run."""

import json
import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import json_format

from studiotesting.studio import REPOSITORY, binary

CLIENT = REPOSITORY / "clients/python/src"
PHOTO = REPOSITORY / "Examples/media/office.jpg"
# Quotes, backslashes and a character beyond ASCII in the ID: languages quote them differently.
PIPELINE = "\"it's \\\"a\\\" \\\\ – \\\"#x\": colorInvert @mix(0.75), vignette(intensity: 0.5)"
RUN_SECONDS = 60


def snippet(page, language: str) -> str:
    """Returns the code of a pipeline that is hard to quote."""
    page.enter_text(PIPELINE)
    page.until("() => document.querySelectorAll('#stages > li').length === 2")
    page.until(
        "() => document.querySelector('#stages > li').dataset.filter === 'colorInvert'"
    )
    page.click(f"#copy-{language}")
    return page.run("() => document.querySelector('#snippet').textContent")


def expected(folder: Path, address: str) -> bytes:
    """Returns what the command makes of the picture."""
    result = folder / "expected.jpg"
    subprocess.run(
        [binary(), "apply", PHOTO, result, "--server", address,
         "--pipeline", PIPELINE],
        check=True, timeout=RUN_SECONDS,
    )
    return result.read_bytes()


def address_of(page) -> str:
    return page.run("async () => (await (await fetch('info.json')).json()).grpcAddress")


def mean(file: bytes) -> list[float]:
    """Returns the mean colour of a JPEG file."""
    pixels = subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-i", "-", "-vf", "scale=1:1:flags=area", "-f",
         "rawvideo", "-pix_fmt", "rgb24", "-"],
        input=file, check=True, capture_output=True, timeout=RUN_SECONDS,
    ).stdout
    return list(pixels)


def assert_same(one: bytes, other: bytes) -> None:
    assert all(abs(a - b) <= 3 for a, b in zip(mean(one), mean(other), strict=True))


def test_the_python_code_runs(page, tmp_path):
    code = snippet(page, "python")
    shutil.copy(PHOTO, tmp_path / "in.jpg")
    subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=RUN_SECONDS,
        env=os.environ | {"PYTHONPATH": str(CLIENT)},
    )
    result = (tmp_path / "out.jpg").read_bytes()
    assert_same(result, expected(tmp_path, address_of(page)))
    assert any(abs(a - b) > 10 for a, b in zip(mean(result), mean(PHOTO.read_bytes()), strict=True))


def test_the_command_line_runs_for_a_picture_and_a_video(page, tmp_path):
    code = snippet(page, "shell")
    shutil.copy(PHOTO, tmp_path / "in.jpg")
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=s=64x64:d=0.2",
         "in.mp4"],
        cwd=tmp_path, check=True, timeout=RUN_SECONDS,
    )
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "sidelight").symlink_to(binary())
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code], cwd=tmp_path, check=True, timeout=RUN_SECONDS,
        env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}, stdin=subprocess.DEVNULL,
    )
    assert_same((tmp_path / "out.jpg").read_bytes(), expected(tmp_path, address_of(page)))
    assert (tmp_path / "out.mp4").stat().st_size > 0


def test_the_json_is_the_pipeline_of_the_contract(page, monkeypatch):
    monkeypatch.syspath_prepend(CLIENT)
    from sidelight.v1 import pipeline_pb2

    pipeline = json_format.Parse(snippet(page, "json"), pipeline_pb2.Pipeline())
    first, second = pipeline.stages
    assert first.id == "it's \"a\" \\ – \"#x"
    assert (first.filter.name, first.mix) == ("colorInvert", 0.75)
    assert second.filter.parameters["intensity"].number == 0.5


def test_the_gst_launch_line_runs(page, tmp_path):
    code = snippet(page, "gstreamer").replace("autovideosink", "fakesink").replace(
        "videotestsrc is-live=true", "videotestsrc num-buffers=5"
    ).replace("sidelightfilter ", "sidelightfilter name=filter on-error=fail ")
    # GStreamer runs the element in the system's Python, which gets this Python's packages.
    versions = [
        subprocess.run(
            [python, "-c", "import sys; print(*sys.version_info[:2])"], capture_output=True,
            text=True, timeout=RUN_SECONDS,
        ).stdout
        for python in (sys.executable, "/usr/bin/python3")
    ]
    if versions[0] != versions[1]:
        pytest.skip("the system's Python has another version than that of the tests")
    packages = [str(CLIENT), *site.getsitepackages()]
    environment = os.environ | {
        "PATH": f"/usr/bin:{os.environ['PATH']}", "PYTHONPATH": ":".join(packages),
        # A registry that knows of no earlier failure.
        "GST_REGISTRY": str(tmp_path / "registry"),
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code], capture_output=True, text=True,
        timeout=RUN_SECONDS, env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ERROR" not in done.stderr and "WARNING" not in done.stderr, done.stderr


@pytest.mark.parametrize("language", ["swift", "go"])
def test_other_languages_have_the_whole_pipeline(page, language):
    code = snippet(page, language)
    if language == "go":
        line = next(line for line in code.splitlines() if "Pipeline:" in line)
        assert json.loads(line.split("Pipeline: ")[1].rstrip(",")) == PIPELINE
    else:
        assert f'##"{PIPELINE}"##' in code  # The text has `"#`.
    assert address_of(page) in code


def test_a_link_holds_the_pipeline(page, open_page):
    page.enter_text(PIPELINE)
    page.until("() => document.querySelectorAll('#stages > li').length === 2")
    page.until(
        "() => document.querySelector('#stages > li').dataset.filter === 'colorInvert'"
    )
    page.click("#copy-link")
    link = page.run("() => location.href")
    assert "token" not in link
    other = open_page(link[link.index("#"):])
    other.wait_until_ready()
    other.until("() => document.querySelectorAll('#stages > li').length === 2")
    assert other.pipeline() == PIPELINE


def test_a_link_with_an_invalid_pipeline_says_so(open_page):
    page = open_page("#p=sepiaTome")
    page.until("() => document.querySelector('#use-suggestion')")
    page.until("() => document.querySelector('#banner').textContent.includes('not valid')")
    page.click("#use-suggestion")
    page.until("() => document.querySelector('#stages [data-filter=sepiaTone]')")
