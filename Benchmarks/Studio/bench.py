"""Measures the studio from the camera to the screen, by a number in the camera's picture.

    dev/bench-studio [--seconds N] [--size WxH] [--pipeline TEXT] [--check]

The studio's own figures are printed next to the measured ones. With `--check` the program fails if
a target is missed; the targets are for two processors without other work.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from calltesting import barcode
from calltesting.browser import Browser
from calltesting.camera import record
from studiotesting.page import StudioPage
from studiotesting.studio import Studio

SCRIPT = Path(__file__).with_name("barcodes.js")
FRAMES_PER_SECOND = 30
# Longer than any run, so that no number is repeated within one.
CAMERA_FRAMES = 1800
WARM_UP_SECONDS = 3
# The targets: milliseconds, and frames per second.
TARGET_P50, TARGET_P95, TARGET_FPS = 40, 100, 29


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures the studio from camera to screen.")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--size", default="640x360")
    parser.add_argument("--pipeline", default="sepiaTone(intensity: 0.8), vignette(intensity: 1)")
    parser.add_argument("--check", action="store_true", help="fail if a target is missed")
    options = parser.parse_args()
    if not 1 <= options.seconds <= CAMERA_FRAMES / FRAMES_PER_SECOND - WARM_UP_SECONDS:
        parser.error("--seconds must be from 1 to 57")
    result = measure(options.seconds, options.size, options.pipeline)
    print(json.dumps(result, indent=2))
    if options.check and not (
        result["p50_ms"] < TARGET_P50
        and result["p95_ms"] < TARGET_P95
        and result["shown_fps"] >= TARGET_FPS
    ):
        sys.exit(
            f"the targets are p50 {TARGET_P50} ms, p95 {TARGET_P95} ms, {TARGET_FPS} frames/s"
        )


def measure(seconds: float, size: str, pipeline: str) -> dict[str, object]:
    """Runs the studio with a fake camera, and returns the figures."""
    with tempfile.TemporaryDirectory() as folder:
        camera = record(Path(folder, "camera.y4m"), frames=CAMERA_FRAMES)
        with Browser(camera) as browser, Studio() as studio:
            page = StudioPage(browser, studio.url)
            page.wait_until_ready()
            page.use_camera(_outside_strip(pipeline))
            page.enter("#size", size)
            page.page.command("Runtime.evaluate", expression=SCRIPT.read_text())
            page.run("(layout) => studioBarcodes.start(layout)", barcode.layout())
            _pass(page, WARM_UP_SECONDS)
            page.run("() => studioBarcodes.clear()")
            _pass(page, seconds)
            found = page.run("() => studioBarcodes.stop()")
            own = page.run(
                """(ids) => Object.fromEntries(ids.map((id) =>
                    [id, Number(document.getElementById(id).dataset.value)]))""",
                ["latency-p50", "latency-p95", "fps", "server-time", "drop-rate"],
            )
    latencies = sorted(found["latencies"])
    return {
        "size": size,
        "pipeline": pipeline,
        "seconds": seconds,
        "p50_ms": round(_percentile(latencies, 0.5), 1),
        "p95_ms": round(_percentile(latencies, 0.95), 1),
        "shown_fps": round(found["shown"] / seconds, 1),
        "camera_fps": round(found["captured"] / seconds, 1),
        "frames": len(latencies),
        "page": own,
        "processors": os.cpu_count(),
        "load_average": [round(each, 1) for each in os.getloadavg()],
    }


def _outside_strip(pipeline: str) -> str:
    """Keeps the filters off the number in the picture."""
    return f"[{pipeline}]{barcode.OUTSIDE_STRIP}"


def _pass(page: StudioPage, seconds: float) -> None:
    """Lets time pass in the page."""
    page.run("(ms) => new Promise((resolve) => setTimeout(resolve, ms))", seconds * 1000)


def _percentile(values: list[float], part: float) -> float:
    return values[min(len(values) - 1, round(part * (len(values) - 1)))] if values else float("nan")


if __name__ == "__main__":
    main()
