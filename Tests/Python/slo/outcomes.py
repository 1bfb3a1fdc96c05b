"""Rows 1, 2, 4: outcomes, and robustness against input."""

import os
import re
import subprocess

import stress
from sidelight_testing.server import Server

from .row import SWIFT_TESTS, Row, Settings, not_measured


def one_outcome_a_frame(settings: Settings) -> Row:
    """Row 1: the model-based client of the Swift tests."""
    objective = "every accepted frame has exactly one outcome; received = sum of outcomes"
    limit = "no violation"
    if not SWIFT_TESTS.exists():
        return not_measured(1, objective, limit, "the Swift tests are not built")
    frames = int(settings.either(30_000, 1_000_000))
    found = subprocess.run(
        [SWIFT_TESTS, "--testing-library", "swift-testing", "--filter", "ModelTests"],
        env=os.environ | {"SIDELIGHT_MODEL_FRAMES": str(frames)},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    log = found.stdout + found.stderr
    holds = found.returncode == 0
    seeds = re.findall(r"SIDELIGHT_MODEL_SEED=(\d+)", log)
    summary = re.search(r"^model: (.*)$", log, re.MULTILINE)
    # There is no summary of few frames, which cannot have every outcome.
    kinds = f", {len(summary[1].split(', '))} kinds of outcome and ending" if summary else ""
    misses = "no violation" if holds else f"sessions that violate it, by their seeds: {seeds}"
    return Row(
        1,
        objective,
        f"{frames:,} frames of random clients{kinds}: {misses}",
        limit,
        holds,
        f"`dev/test model {frames}`",
    )


def no_input_stops_it(settings: Settings) -> list[Row]:
    """Rows 2 and 4: the stress test."""
    minutes = settings.either(0.2, 1)
    with Server("--shared-memory") as server:
        found = stress.run_stress_test(server, sessions=60, minutes=minutes, rate=2)
    hurt = [each for each in found.failures if "memory" not in each]
    how = f'`make test PART=stress ARGUMENTS="--sessions 60 --rate 2 --minutes {minutes:g}"`'
    inputs = f"{found.attacks:,} attacks of {found.kinds} kinds next to 60 sessions: "
    inputs += (
        "; ".join(hurt)
        if hurt
        else f"the server runs, {found.frames:,} of {found.frames:,} frames returned"
    )
    ratio = found.after_bytes / found.baseline_bytes
    memory = (
        f"{found.baseline_bytes >> 20} MiB before, {found.highest_bytes >> 20} at most, "
        f"{found.after_bytes >> 20} after ({ratio:.2f} times)"
    )
    return [
        Row(
            2,
            "no input ends the process",
            inputs,
            "runs, no frame of other sessions lost",
            not hurt,
            how + "; libFuzzer by `make fuzz`",
        ),
        Row(
            4,
            "RSS within 20 % of the baseline 30 s after the load",
            memory,
            "1.2 times",
            ratio <= stress.MAX_BASELINE_RATIO,
            how,
        ),
    ]
