"""Measures the studio in Chromium; dev/bench studio calls this.

`dev/bench studio [--quick] [--seconds N] [--runs N] [--only PART]...`
"""

import argparse
import sys
import tempfile
from pathlib import Path

from calltesting.camera import Camera, record
from sidelight_testing.machine import Machine

from . import first_minute, report, trial

PARTS = ("latency", "first-minute")
FRAMES_PER_SECOND = 30
# Longer than any run, so no number is repeated within one.
CAMERA_FRAMES = 1800
WARM_UP_SECONDS = 3
# The size and the pipeline of every row; the first one has requirements.
ROWS = [
    ("640x360", "sepiaTone(intensity: 0.8), vignette"),
    ("640x360", ""),
    ("640x360", "gaussianBlur(radius: 8), crystallize(radius: 8)"),
    ("1280x720", "sepiaTone(intensity: 0.8), vignette"),
]


def measure_latency(
    seconds: float, runs: int, camera: Camera
) -> dict[trial.Settings, list[trial.Result]]:
    """Runs the studio with every pipeline in turn, and prints what it measured."""
    results: dict[trial.Settings, list[trial.Result]] = {
        trial.Settings(size, pipeline, seconds, WARM_UP_SECONDS): [] for size, pipeline in ROWS
    }
    for _ in range(runs):
        for settings, found in results.items():
            result = trial.run(settings, camera)
            found.append(result)
            print(
                f"{settings.size}, {settings.pipeline or 'no filter'}: "
                f"p50 {result.percentile(50):.1f}, p95 {result.percentile(95):.1f} ms, "
                f"{result.shown_per_second:.1f} of {result.captured_per_second:.1f} frames/s, "
                f"{len(result.latencies)} frames, page {result.page}, "
                f"processors {result.processors}",
                flush=True,
            )
    return results


def measure_first_minute(runs: int, camera: Camera) -> list[list[first_minute.Step]]:
    """Goes through the first steps a number of times, and prints their times."""
    minutes = []
    for _ in range(runs):
        steps = first_minute.run(camera)
        minutes.append(steps)
        print("; ".join(f"{step.name}: {step.seconds:.2f} s" for step in steps), flush=True)
    return minutes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short run of each kind")
    parser.add_argument("--seconds", type=float, help="duration of a run (default 20)")
    parser.add_argument("--runs", type=int, help="runs of each kind (default 5)")
    parser.add_argument("--only", choices=PARTS, action="append", help="may be repeated")
    parser.add_argument("--output", type=Path, required=True, help="the page to write")
    arguments = parser.parse_args()
    seconds = arguments.seconds or (5 if arguments.quick else 20)
    most = CAMERA_FRAMES / FRAMES_PER_SECOND - 2 * WARM_UP_SECONDS
    if not 1 <= seconds <= most:
        parser.error(f"--seconds is {seconds:g}; it must be from 1 to {most:g}")
    runs = arguments.runs or (1 if arguments.quick else 5)
    only = arguments.only or PARTS
    machine = Machine.now()
    with tempfile.TemporaryDirectory(prefix="sidelight-camera-") as folder:
        camera = record(Path(folder) / "camera.y4m", frames=CAMERA_FRAMES)
        results = measure_latency(seconds, runs, camera) if "latency" in only else {}
        minutes = measure_first_minute(runs, camera) if "first-minute" in only else []
    given = " ".join(each for each in sys.argv[1:] if not each.startswith("--output"))
    command = "make bench PART=studio" + (f' ARGUMENTS="{given}"' if given else "")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(report.page(results, minutes, machine, command))
    print(arguments.output)
    if not results:
        return 0
    missed = [
        each.text for each in report.requirements(next(iter(results.values()))) if not each.holds
    ]
    for each in missed:
        print(f"missed: {each}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
