"""The processor time and the bytes of a stream of 720p on a server, by the form of its frames."""

import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import PIL.Image

from fleet import ADMIN_PORT, Calls, Fleet
from reporting import table
from sidelight_testing.contract import REPOSITORY
from sidelight_testing.server import binary

SIZE = (1280, 720)
FRAME_RATE = 30
SECONDS = 10
PIPELINE = "vintage"
#: Of encoded video, in bits per second.
BIT_RATE = "2.5M"
PICTURE = REPOSITORY / "Examples/media/office.jpg"
ENCODER = ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-lag-in-frames", "0"]


def ffmpeg(*arguments: object) -> None:
    subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)], check=True, timeout=120)


def counts(fleet: Fleet) -> list[float]:
    """Processor seconds, frames, and bytes in and out of the only server."""
    url = f"http://{fleet.nodes[0].host}:{ADMIN_PORT}/metrics"
    with urllib.request.urlopen(url, timeout=10) as answer:
        text = answer.read().decode()
    return [
        sum(map(float, re.findall(rf"^{name}.* (\S+)$", text, re.MULTILINE)))
        for name in (
            "process_cpu_seconds_total", r"sidelight_frames_total",
            r'sidelight_frame_bytes_total\{direction="in"', r'sidelight_frame_bytes_total\{direction="out"',
        )
    ]


def live(fleet: Fleet, picture: Path | None) -> None:
    with Calls(fleet, "servers", 3, FRAME_RATE, SIZE, PIPELINE, picture=picture) as calls:
        time.sleep(SECONDS)
        calls.finish()


def stream(fleet: Fleet, video: Path) -> None:
    """Sends a video as it is, and receives the result encoded, as fast as possible."""
    result = video.with_name("result.mkv")
    subprocess.run(
        [*fleet.call_nodes[0].command, binary(), "stream", video, result, "--pipeline", PIPELINE,
         "--server", fleet.servers[0].addresses["tcp"], "--codec", "vp8", "--bit-rate", BIT_RATE],
        check=True, capture_output=True, timeout=120,
    )


def rows(keys: Path) -> str:
    """A table, or the reason why there is none."""
    if not shutil.which("ffmpeg"):
        return "Not measured: ffmpeg is not installed.\n"
    lines = []
    with tempfile.TemporaryDirectory(prefix="sidelight-fleet-") as name, Fleet(keys, 0, 1) as fleet:
        folder = Path(name)
        # A camera that moves, with noise, as pictures of a sensor have.
        view = (f"scale=1600:-2,crop={SIZE[0]}:{SIZE[1]}:x='100+80*sin(t)':y='20+15*cos(t)',"
                "noise=alls=4:allf=t,format=yuv420p")
        camera = ["-loop", "1", "-framerate", FRAME_RATE, "-t", SECONDS, "-i", PICTURE, "-vf", view]
        ffmpeg(*camera, "-frames:v", 1, folder / "picture.png")
        PIL.Image.open(folder / "picture.png").convert("RGB").save(folder / "picture.jpg", quality=80)
        ffmpeg(*camera, *ENCODER, "-b:v", BIT_RATE, folder / "video.webm")
        for form, run in (
            ("raw, TCP", lambda: live(fleet, None)),
            ("JPEG", lambda: live(fleet, folder / "picture.jpg")),
            ("VP8", lambda: stream(fleet, folder / "video.webm")),
        ):
            before = counts(fleet)
            run()
            seconds, frames, *sizes = (after - at for at, after in zip(before, counts(fleet)))
            kilobytes = [each / frames / 1000 for each in sizes]
            lines.append([
                form, f"{seconds / frames * 1000:.1f}", *(f"{each:,.1f}" for each in kilobytes),
                f"{kilobytes[0] * 8 * FRAME_RATE / 1000:.1f}", f"{seconds / frames * FRAME_RATE:.3f}",
                f"{sum(kilobytes) * FRAME_RATE * 3600 / 1e6:.1f}",
            ])
    return table(["form", "processor, ms a frame", "kB in", "kB out", "Mbit/s in",
                  "core hours an hour", "GB an hour"], lines)
