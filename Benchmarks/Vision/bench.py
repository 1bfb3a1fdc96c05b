"""Measures the filters of faces and backgrounds: `bench.py VISION MEDIAPIPE [--server SIDELIGHT]
[PART ...]`, run by dev/bench vision.

VISION is the program of the Swift package, MEDIAPIPE the Python in which MediaPipe is installed,
SIDELIGHT the command for the sessions. Parts: faces, privacy, mattes, links, sessions. Without parts all
are measured, and the report is written to Benchmarks/Results/vision.md."""

import argparse
import datetime
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Shared"))

import attacks  # noqa: E402
import faces  # noqa: E402
import links  # noqa: E402
import mattes  # noqa: E402
import privacy  # noqa: E402
import sessions  # noqa: E402
from person import ROOT  # noqa: E402
from reporting import load_average, machine  # noqa: E402
from scenes import Painter  # noqa: E402
from setup import MEDIA, Setup  # noqa: E402
from targets import Targets  # noqa: E402

PARTS = ("faces", "privacy", "mattes", "links", "sessions")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("vision", type=Path)
    parser.add_argument("mediapipe", type=Path)
    parser.add_argument("--server", type=Path)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    options = parser.parse_args()
    chosen = options.parts or PARTS
    about = f"{machine()}; load average before the run {load_average()}"
    targets = Targets()
    sections: dict[str, str] = {}
    with tempfile.TemporaryDirectory(dir=ROOT / ".build/benchmarks") as name:
        folder = Path(name)
        painter = Painter(MEDIA)
        setup = Setup(options.vision, folder, painter, options.mediapipe)
        peers = setup.peers()
        versions = [setup.sidelight().version, *(peer.version for peer in peers.values())]
        if "faces" in chosen:
            sections |= faces.measure(setup, painter, peers, targets)
        if "privacy" in chosen:
            sections |= privacy.measure(setup, painter, targets)
            sections |= privacy.measure_motion(setup, painter, targets)
            sections |= privacy.measure_load(setup, painter, targets)
            if options.server:
                sections |= attacks.measure(options.server, painter, targets)
        if "mattes" in chosen:
            sections |= mattes.measure(setup, painter, peers, targets)
        if "links" in chosen and options.server:
            sections |= links.measure(options.server, painter, folder, targets)
        for peer in peers.values():
            peer.close()
    if "sessions" in chosen and options.server:
        sections |= sessions.measure(options.server, targets)
    sections = {"Targets": targets.table()} | sections
    text = "\n".join(f"## {title}\n\n{body}" for title, body in sections.items())
    print(text)
    if options.parts:
        return
    compiler = subprocess.run(
        ["swift", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    introduction = (HERE / "introduction.md").read_text().format(
        date=datetime.date.today().isoformat(), machine=about, versions="; ".join(versions),
        compiler=compiler)
    (ROOT / "Benchmarks/Results/vision.md").write_text(introduction + "\n" + text)


if __name__ == "__main__":
    main()
