"""Memory and descriptors of a long stream through `sidelightfilter`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gi", reason="PyGObject comes with the system's Python only")

SOAK = Path(__file__).parents[2] / "benchmarks/soak_gst.py"
FRAMES = 4000


@pytest.mark.parametrize("caps", ["I420,width=322,height=181", "BGRA,width=320,height=180"])
def test_memory_and_descriptors_stay_flat_over_4000_frames(running_server, caps):
    result = subprocess.run(
        [sys.executable, str(SOAK), "--address", running_server.unix, "--interval", "0.1"]
        + ["--frames", str(FRAMES), "--restart", "500", "--caps", f"video/x-raw,format={caps}"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr
    assert json.loads(result.stdout.splitlines()[-1])["frames"] >= FRAMES
