"""Measures calls between browsers, filtered by Sidelight; dev/bench call calls this.

`dev/bench call [--quick] [--seconds N] [--runs N] [--soak MINUTES] [--only PART]...`
"""

import argparse
import sys
import tempfile
from pathlib import Path

from calltesting.barcode import OUTSIDE_STRIP
from calltesting.camera import Camera, record
from sidelight_testing.machine import Machine

from . import report, soak, trial

PARTS = ("latency", "slow", "soak")
PIPELINE = "sepiaTone(intensity: 0.8), vignette"
# Waits and does not compute: a browser with too little processor time sends fewer frames, and then
# no frames queue.
SLOW_PIPELINE = f"slow(seconds: {report.SLOW_SECONDS})"
# Of a call without a budget: longer than any delay that is measured.
NO_BUDGET_MILLISECONDS = 60_000


def outside_strip(pipeline: str) -> str:
    """Returns a pipeline that leaves the frame number alone."""
    return f"[{pipeline}]{OUTSIDE_STRIP}"


def compare(arguments: argparse.Namespace, camera: Camera) -> report.Comparison:
    """Runs the calls; the kinds take turns."""
    comparison = report.Comparison([], [], [], None, None)
    for _ in range(arguments.runs if "latency" in arguments.only else 0):
        for bridge, results in (
            ("newest", comparison.without), ("sidelight", comparison.with_sidelight),
            ("encoded", comparison.encoded),
        ):
            results.append(run(bridge, PIPELINE, arguments, camera))
    if "slow" in arguments.only:
        comparison.slow_newest, comparison.slow_fifo = (
            run(bridge, SLOW_PIPELINE, arguments, camera) for bridge in ("sidelight", "fifo")
        )
    return comparison


def run(
    bridge: str, pipeline: str, arguments: argparse.Namespace, camera: Camera
) -> trial.Result:
    """Runs a call, and prints what it measured."""
    is_slow = pipeline == SLOW_PIPELINE
    settings = trial.Settings(
        bridge, outside_strip(pipeline), arguments.seconds,
        warm_up_seconds=0 if is_slow else arguments.warm_up,
        budget_milliseconds=NO_BUDGET_MILLISECONDS if is_slow else 100,
        has_custom_filter=is_slow,
    )
    result = trial.run(settings, camera)
    print(
        f"{bridge}, {pipeline[:30]}: p50 {result.delays.p50:.1f}, p95 {result.delays.p95:.1f} ms, "
        f"{len(result.delays.milliseconds)} frames, {result.delays.unmatched} without a time, "
        f"{result.frames_per_second:.1f} frames/s of {result.sent_per_second:.1f}, "
        f"share {result.share}, "
        f"processors {result.processors}, dropped {result.dropped}",
        flush=True,
    )
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one short run of each call")
    parser.add_argument("--seconds", type=float, help="duration of a call (default 20)")
    parser.add_argument("--runs", type=int, help="calls of each kind (default 5)")
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="calls that come and go")
    parser.add_argument("--only", choices=PARTS, action="append", help="may be repeated")
    parser.add_argument("--output", type=Path, required=True, help="the page to write")
    arguments = parser.parse_args()
    arguments.seconds = arguments.seconds or (10 if arguments.quick else 20)
    arguments.runs = arguments.runs or (1 if arguments.quick else 5)
    arguments.warm_up = 4 if arguments.quick else 10
    arguments.only = arguments.only or ["latency", "slow", *(["soak"] if arguments.soak else [])]
    machine = Machine.now()
    with tempfile.TemporaryDirectory(prefix="sidelight-camera-") as folder:
        camera = record(Path(folder) / "camera.y4m", frames=1800)
        comparison = compare(arguments, camera)
        soaked = soak.run(arguments.soak or 1, camera) if "soak" in arguments.only else None
    given = " ".join(each for each in sys.argv[1:] if not each.startswith("--output"))
    command = "make bench PART=call" + (f' ARGUMENTS="{given}"' if given else "")
    former = arguments.output.read_text() if arguments.output.is_file() else ""
    report.write(
        arguments.output, report.page(comparison, soaked, machine, command, PIPELINE, former)
    )
    missed = list(soaked.failures) if soaked else []
    if comparison.with_sidelight:
        missed += [each.text for each in report.requirements(comparison) if not each.holds]
    for each in missed:
        print(f"missed: {each}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
