"""Models in the configuration: a server starts with valid ones, and not with others."""

import subprocess

import pytest
import yaml

from sidelight_testing import onnx
from sidelight_testing.server import Server, binary

EX_USAGE = 64


def refusal(*arguments: object) -> str:
    """The log of a start that is refused."""
    finished = subprocess.run(
        [binary(), "serve", "--listen", "127.0.0.1:0", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert finished.returncode == EX_USAGE, finished
    assert not finished.stdout
    return finished.stderr


def test_a_server_without_vision_does_not_start_with_models(tmp_path, has_vision):
    if has_vision:
        pytest.skip("this server has Vision")
    file = tmp_path / "green.onnx"
    file.write_bytes(onnx.green(16, 9))
    message = refusal("--model", f"person=matte:{file}")
    assert f"model person ({file}): " in message and "built without Vision" in message


def test_a_server_starts_with_a_model(tmp_path, has_vision):
    if not has_vision:
        pytest.skip("this server is built without Vision")
    model = tmp_path / "green.onnx"
    model.write_bytes(onnx.green(16, 9))
    file = tmp_path / "settings.yaml"
    models = [{"name": "person", "task": "matte", "file": str(model), "runtime": "opencv"}]
    file.write_text(yaml.safe_dump({"models": models}))
    with Server("--config", file) as server:
        assert server.terminate() == 0, server.log
        assert "models loaded" in server.log and f"person=matte@opencv:{model}" in server.log


@pytest.mark.parametrize(
    "contents, remedy",
    [
        (None, "the file cannot be read"),
        (b"not a model", ""),
        (onnx.green(16, 9)[:-20], ""),
        (onnx.green(None, None), "export with fixed sizes"),
        (onnx.green(100_000, 100_000), "too many values"),
    ],
    ids=["missing", "text", "cut", "without sizes", "huge"],
)
def test_a_server_does_not_start_with_an_invalid_model(
    tmp_path, has_vision, contents, remedy
):
    if not has_vision:
        pytest.skip("this server is built without Vision")
    file = tmp_path / "model.onnx"
    if contents is not None:
        file.write_bytes(contents)
    message = refusal("--model", f"person=matte:{file}")
    assert f"model person ({file}): " in message and remedy in message


def test_a_model_for_another_task_is_refused(tmp_path, has_vision):
    if not has_vision:
        pytest.skip("this server is built without Vision")
    file = tmp_path / "model.onnx"
    file.write_bytes(onnx.green(16, 9))
    for task in ("faces", "landmarks"):
        assert f"model person ({file}): " in refusal("--model", f"person={task}:{file}")


def test_a_library_that_is_not_onnx_runtime_is_refused(tmp_path, has_vision):
    if not has_vision:
        pytest.skip("this server is built without Vision")
    file = tmp_path / "model.onnx"
    file.write_bytes(onnx.green(16, 9))
    library = tmp_path / "libonnxruntime.so"
    message = refusal("--model", f"person=matte:{file}", "--onnx-runtime", library)
    assert f"ONNX Runtime cannot be loaded from {library}" in message
