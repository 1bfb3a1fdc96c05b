"""The programs that filter the frames of a scene: Sidelight and its peers."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from scenes import HEIGHT, WIDTH, Painter, Scene, i420, rgba

HERE = Path(__file__).parent
#: Milliseconds between frames, and until the result of a search arrives: two frames later.
INTERVAL = 1000 / 30
JOB_TIME = 60
FRAME_BYTES = {"i420": WIDTH * HEIGHT * 3 // 2, "rgba8": WIDTH * HEIGHT * 4}


@dataclass
class Drawn:
    """The frames of a scene in a file."""

    scene: Scene
    format: str
    path: Path

    @property
    def frames(self) -> np.memmap:
        return frames_of(self.path, self.format)


def frames_of(path: Path, format: str) -> np.memmap:
    return np.memmap(path, np.uint8, "r").reshape(-1, FRAME_BYTES[format])


def draw(painter: Painter, scene: Scene, folder: Path, format: str = "i420") -> Drawn:
    """Draws the frames of a scene, and writes them to a file of the folder."""
    path = folder / f"{scene.name}.{format}"
    encode = i420 if format == "i420" else rgba
    with open(path, "wb") as file:
        for moment in scene.moments():
            file.write(encode(painter.draw(scene.background, moment)[0]).tobytes())
    return Drawn(scene, format, path)


class Program:
    """A process that answers requests; see Sources/Vision.swift and peers/peer.py."""

    def __init__(self, name: str, command: list):
        self.name = name
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if name != "Sidelight" else sys.stderr, text=True)
        self.version = self.ask("hello")

    def ask(self, line: str) -> str:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise RuntimeError(f"{self.name} ended at: {line}")
        return answer

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


class Sidelight(Program):
    """The Swift program with the assets of a room."""

    def __init__(self, program: Path, arguments: list):
        super().__init__("Sidelight", [program, *arguments])

    def run(self, work: str, drawn: Drawn, output: Path | None = None,
            interval: float = INTERVAL, job_time: float = JOB_TIME) -> dict | None:
        """Returns the figures; `None` if the work is not available, with the reason printed."""
        answer = self.ask(
            f"run {work} {drawn.format} {WIDTH} {HEIGHT} {drawn.scene.frames} {interval:.3f} "
            f"{job_time:.3f} {drawn.path} {output or '-'}")
        if answer.startswith("skip"):
            print(f"skipped: {work} ({answer[5:]})", file=sys.stderr)
            return None
        return json.loads(answer)


class Peer(Program):
    def run(self, work: str, drawn: Drawn, output: Path | None = None) -> dict | None:
        answer = self.ask(
            f"run {work} {drawn.scene.frames} {drawn.path} {output or '-'}")
        return None if answer.startswith("skip") else json.loads(answer)
