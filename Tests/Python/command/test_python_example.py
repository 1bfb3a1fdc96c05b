"""The Python examples: their results, and the README, which shows one of them.

The tests of the Python package, clients/python/tests, run the other examples of the package.
"""

import os
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from sidelight_testing import images, portraits
from sidelight_testing.contract import REPOSITORY, frame_filter

EXAMPLE = REPOSITORY / "Examples/python/filter_video.py"
PACKAGE = REPOSITORY / "clients/python/src"
ATTENDANCE = REPOSITORY / "clients/python/examples/attendance.py"
WIDTH, HEIGHT, FRAMES = 38, 22, 12
HEADER = b"YUV4MPEG2 W38 H22 F30:1 Ip A1:1 C420jpeg\n"


def run(server, environment, pipeline: str, video: bytes) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, EXAMPLE, server.addresses["tcp"], pipeline],
        input=video,
        capture_output=True,
        timeout=60,
        env=environment,
    )


@pytest.fixture(scope="module")
def pictures():
    return [images.noise("I420", WIDTH, HEIGHT, seed=index).inline for index in range(FRAMES)]


def test_it_filters_every_frame_of_a_video(server, with_contract, pictures):
    video = HEADER + b"".join(b"FRAME\n" + picture for picture in pictures)
    finished = run(server, with_contract, "colorInvert, colorControls(contrast: 1)", video)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr.decode() == f"{FRAMES} frames filtered\n"
    assert finished.stdout.startswith(HEADER)
    results = finished.stdout[len(HEADER) :].split(b"FRAME\n", 1)[1]
    size = len(pictures[0])
    for index, picture in enumerate(pictures):
        start = index * (size + len(b"FRAME\n"))
        luma = np.frombuffer(results[start:][: WIDTH * HEIGHT], dtype=np.uint8).astype(np.int16)
        sent = np.frombuffer(picture[: WIDTH * HEIGHT], dtype=np.uint8).astype(np.int16)
        assert np.abs(luma - (251 - sent).clip(0, 255)).max() <= 1


def test_it_reports_an_invalid_pipeline(server, with_contract):
    finished = run(server, with_contract, "sepiaTome", HEADER)
    assert finished.returncode == 1
    assert "sepiaTone" in finished.stderr.decode()


def i420(colors: np.ndarray) -> bytes:
    """A picture as a frame of a grey Y4M video."""
    luma = (colors @ [0.2126, 0.7152, 0.0722]).round().astype(np.uint8)
    return luma.tobytes() + bytes([128]) * (luma.size // 2)


def test_attendance_is_reported(server, vision):
    with subprocess.Popen(
        [sys.executable, ATTENDANCE, server.addresses["tcp"]],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=False,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    ) as process:
        is_present = threading.Event()
        lines = []

        def read() -> None:
            for line in process.stdout:
                lines.append(line.decode().strip())
                is_present.set()
            is_present.set()

        reader = threading.Thread(target=read)
        reader.start()
        size = f"W{portraits.WIDTH} H{portraits.HEIGHT}"
        process.stdin.write(f"YUV4MPEG2 {size} F30:1 Ip A1:1 C420jpeg\n".encode())
        frame = b"FRAME\n" + i420(portraits.scene())
        deadline = time.monotonic() + 60
        while not is_present.wait(1 / 30) and time.monotonic() < deadline:
            process.stdin.write(frame)
            process.stdin.flush()
        process.stdin.close()
        reader.join(timeout=60)
        assert process.wait(timeout=60) == 0
    assert lines[0] == "1 is present"
    assert re.fullmatch(r"1 was present for [\d.]+ s at the end", lines[-1])


def test_attendance_reports_a_server_without_vision(server, has_vision):
    if has_vision:
        pytest.skip("this server has Vision")
    finished = subprocess.run(
        [sys.executable, ATTENDANCE, server.addresses["tcp"]],
        input=HEADER, capture_output=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
    )
    assert finished.returncode == 1 and b"built without Vision" in finished.stderr


def test_the_readme_shows_the_program_as_it_is():
    readme = (REPOSITORY / "README.md").read_text()
    section = readme.split("## From any language with gRPC", 1)[1]
    shown = section.split("```python\n", 1)[1].split("```", 1)[0]
    program = " ".join(EXAMPLE.read_text().split())
    for part in shown.split("\n\n"):
        assert " ".join(part.split()) in program, part


def test_the_pipelines_of_the_readme_are_valid(stub):
    section = (REPOSITORY / "README.md").read_text().split("## Pipelines as text", 1)[1]
    rows = [line for line in section.split("\n## ", 1)[0].splitlines() if line.startswith("| `")]
    texts = [text for row in rows for text in re.findall("`([^`]+)`", row.split(" | ")[0])]
    assert len(texts) >= 6
    for text in texts:
        request = frame_filter.CheckPipelineRequest(text=text)
        assert stub.CheckPipeline(request, timeout=60).pipeline.stages
