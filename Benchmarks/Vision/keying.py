"""ffmpeg's chromakey on the same frames, for comparison with chromaKey."""

import resource
import shutil
import subprocess
from pathlib import Path

import numpy as np

from programs import Drawn
from scenes import HEIGHT, WIDTH

COLOR = "0x00b040"


def available() -> bool:
    return shutil.which("ffmpeg") is not None


def version() -> str:
    text = subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True).stdout
    return " ".join(text.split()[:3])


def _run(drawn: Drawn, arguments: list, loops: int = 0) -> float:
    """Returns the processor time of a run in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-y", "-threads", "1", "-filter_threads", "1",
         "-filter_complex_threads", "1", "-stream_loop", str(loops), "-f", "rawvideo", "-pix_fmt",
         "yuv420p", "-s", f"{WIDTH}x{HEIGHT}", "-i", str(drawn.path), *arguments],
        check=True, stdin=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def time(drawn: Drawn, similarity: float, blend: float, background: Path | None) -> float:
    """Returns the milliseconds per frame of `chromakey`, and `overlay` if there is a background,
    minus a run without filters."""
    key = f"chromakey={COLOR}:{similarity}:{blend}"
    loops, sink = 2, ["-f", "null", "-"]
    plain = ["-vf", "null", *sink]
    if background:
        size = f"{WIDTH}x{HEIGHT}"
        filtered = [
            "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", size, "-i", str(background),
            "-filter_complex", f"[0]{key}[k];[1][k]overlay=format=yuv420", *sink]
    else:
        filtered = ["-vf", key, *sink]
    spent = _run(drawn, filtered, loops) - _run(drawn, plain, loops)
    return 1000 * spent / (drawn.scene.frames * (loops + 1))


def mattes(drawn: Drawn, similarity: float, blend: float, output: Path) -> np.ndarray:
    """Returns the alpha of all frames, 0-255."""
    # Debian's ffmpeg cannot extract the alpha alone from this format.
    key = f"chromakey={COLOR}:{similarity}:{blend},format=yuva420p"
    _run(drawn, ["-vf", key, "-f", "rawvideo", "-pix_fmt", "yuva420p", str(output)])
    frames = np.memmap(output, np.uint8, "r").reshape(-1, WIDTH * HEIGHT * 5 // 2)
    return frames[:, WIDTH * HEIGHT * 3 // 2:].reshape(-1, HEIGHT, WIDTH)
