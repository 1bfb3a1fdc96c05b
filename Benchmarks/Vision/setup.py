"""The assets, models and peers of a run."""

import os
import sys
from pathlib import Path

import cv2
import numpy as np

from person import ROOT
from programs import HERE, Peer, Program, Sidelight
from scenes import Painter, rgba

MEDIA = Path(os.environ["SIDELIGHT_TEST_MEDIA"]) if os.environ.get("SIDELIGHT_TEST_MEDIA") else None
#: The folder of `make models`.
MODELS = Path(os.environ.get("SIDELIGHT_BENCH_MODELS") or ROOT / "out/models")
MATTE_MODEL = "selfie_segmentation_landscape.onnx"


def onnx_runtime() -> Path | None:
    """Returns the library in the Python package."""
    try:
        import onnxruntime
    except ImportError:
        return None
    found = sorted((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"))
    return found[0] if found else None


def marker() -> np.ndarray:
    """Returns a magenta disc, RGBA."""
    y, x = np.mgrid[:128, :128]
    pixels = np.zeros((128, 128, 4), np.uint8)
    pixels[..., :3] = (255, 0, 255)
    pixels[..., 3] = 255 * np.clip(62 - np.hypot(x - 63.5, y - 63.5), 0, 1)
    return pixels


class Setup:
    """Starts programs, with the assets in a folder."""

    def __init__(self, program: Path, folder: Path, painter: Painter, mediapipe: Path):
        self.program, self.folder, self.mediapipe = program, folder, mediapipe
        self.assets: list[str] = []
        self._asset("marker", marker())
        for name in ("glasses", "moustache", "hat"):
            picture = cv2.imread(str(ROOT / f"Examples/media/{name}.png"), cv2.IMREAD_UNCHANGED)
            self._asset(name, cv2.cvtColor(picture, cv2.COLOR_BGRA2RGBA))
        gradient = cv2.imread(str(ROOT / "Examples/media/gradient.jpg"))
        self._asset("background", rgba(gradient))
        self.rooms = {
            name: self._file(f"room-{name}", rgba(painter.room(name)))
            for name in painter.backgrounds}
        self.models: list[str] = []
        model, library = MODELS / MATTE_MODEL, onnx_runtime()
        if model.exists():
            self.models += ["--model", f"opencv=matte@opencv:{model}"]
            if library:
                self.models += [
                    "--model", f"onnxruntime=matte@onnxruntime:{model}", "--onnx-runtime", library]
        if not model.exists():
            print(f"skipped: mattes of models (there is no {model}; make models)", file=sys.stderr)
        elif not library:
            print("skipped: ONNX Runtime (its Python package is not installed)", file=sys.stderr)

    def sidelight(self, room: str = "wall", *options: str) -> Sidelight:
        return Sidelight(
            self.program,
            [*self.assets, "--asset", f"room={self.rooms[room]}", *self.models, *options])

    def face_models(self) -> list[str]:
        """Returns the options that make Sidelight find faces with the models."""
        tasks = {
            "face_detection_full_range_sparse.onnx": "faces",
            "face_detection_short_range.onnx": "faces", "face_landmark.onnx": "landmarks"}
        if not all((MODELS / name).exists() for name in tasks):
            return []
        return [word for name, task in tasks.items()
                for word in ("--model", f"{Path(name).stem}={task}:{MODELS / name}")]

    def peers(self) -> dict[str, Program]:
        """Starts the available peers, and prints the names of the others."""
        commands = {
            "OpenCV": [sys.executable, HERE / "peers/opencv_peer.py"],
            "MediaPipe": [self.mediapipe, HERE / "peers/mediapipe_peer.py"]}
        peers = {}
        for name, command in commands.items():
            try:
                peers[name] = Peer(name, command)
            except (OSError, RuntimeError) as error:
                print(f"skipped: {name} ({error})", file=sys.stderr)
        return peers

    def _asset(self, name: str, pixels: np.ndarray) -> None:
        self.assets += ["--asset", f"{name}={self._file(name, pixels)}"]

    def _file(self, name: str, pixels: np.ndarray) -> str:
        path = self.folder / f"{name}.rgba"
        np.ascontiguousarray(pixels).tofile(path)
        return f"{pixels.shape[1]}x{pixels.shape[0]}:{path}"
