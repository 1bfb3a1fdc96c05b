"""Compares the filter engine with its peers: `bench.py KERNELS PEERS [ROW ...]`, run by dev/bench kernels.

KERNELS is the program of the Swift package, PEERS the folder of the compiled peers. ROW selects rows by
a part of their keys. Without it all rows are measured, and the report is written to
Benchmarks/Results/kernels.md, or with SIDELIGHT_ISA=NAME to Benchmarks/Results/kernels-NAME.md."""

import datetime
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "Shared"))

import accuracy  # noqa: E402
import pictures  # noqa: E402
from driver import ROUNDS, THREADS, Peer, measure  # noqa: E402
from report import Report, number  # noqa: E402
from reporting import load_average, machine, table  # noqa: E402
from rows import ROWS  # noqa: E402


def start(kernels: Path, built: Path, folder: Path) -> list[Peer]:
    """Starts the available peers, and prints the names of the others."""
    commands = {
        "ours": [kernels],
        "loops": [built / "loops"],
        "opencv": [sys.executable, HERE / "peers/opencv_peer.py"],
        "ffmpeg": [built / "ffmpeg"],
        "vips": [sys.executable, HERE / "peers/vips_peer.py"],
        "libyuv": [built / "libyuv"],
    }
    peers = []
    for name, command in commands.items():
        try:
            peers.append(Peer(name, [*command, folder], per_thread_count=name == "vips"))
        except (OSError, RuntimeError) as error:
            print(f"skipped: {name} ({error})", file=sys.stderr)
    return peers


def gaussians(rows: list, peers: list[Peer], folder: Path) -> str:
    lines = []
    for row in rows:
        for peer in peers:
            path = folder / "result.raw"
            if row.sigma and peer.ask(f"result {row.key} {path}") is not None:
                whole, edges, worst = accuracy.of_gaussian(row.sigma, folder / "bgra.raw", path)
                lines.append([f"{row.title}: {peer.name}", f"{whole:.1f}", f"{edges:.1f}",
                              number(worst)])
    return table(["", "dB", "dB within sigma of the edges", "greatest error, levels"], lines)


def steady(ours: Peer) -> str:
    """Counts the buffers that 200 frames take after the ring was used once."""
    lines = []
    for key in ("five-bgra", "five-i420", "gaussian25", "unsharp", "zoom", "bloom"):
        if answer := ours.ask(f"steady {key}"):
            hits, misses = (int(word) for word in answer.split())
            title = next(row.title for row in ROWS if row.key == key)
            rate = 100 * hits / max(1, hits + misses)
            lines.append([title, str(hits + misses), str(misses), f"{rate:.1f} %"])
    return table(["200 frames in steady state", "buffers taken", "new", "hit rate"], lines)


def plans(ours: Peer) -> str:
    compiled, compiled_least, cached, cached_least = ours.ask("plans").split()
    return table(
        ["a plan of ten stages, us", "median", "least", "target"],
        [["compiled", compiled, compiled_least, "under 200: " + (
            "reached" if float(compiled) < 200 else "**missed**")],
         ["found in the cache", cached, cached_least, ""]]) + "\n" + filters(ours)


def filters(ours: Peer) -> str:
    count, median, slowest, name, text, size = ours.ask("filters").split()
    rows = [
        [f"{count} filters of the catalogue: median", median],
        [f"the slowest, {name}", slowest],
        ["the slowest kernel from text", text],
        ["the greatest memory of a kernel's plan, bytes", size],
    ]
    return table(["a filter checked and compiled for 1920x1080, ms", "median"], rows)


def transitions(ours: Peer) -> str:
    """Compares a frame of a transition with the frames of both plans."""
    lines = []
    for case in ours.ask("transitions").split(";"):
        title, times = case.split("=")
        earlier, later, mix, whole = (float(word) for word in times.split())
        lines.append([title, *(f"{time:.2f}" for time in (earlier, later, mix, whole)),
                      f"{whole / (earlier + later + mix):.2f}"])
    return table(
        ["a Gaussian to sepia, 1920x1080, one thread, ms", "earlier plan", "later plan", "mix",
         "whole frame", "/ sum"], lines)


def main() -> None:
    kernels, built, chosen = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    rows = [row for row in ROWS if not chosen or any(part in row.key for part in chosen)]
    if not rows:
        sys.exit("no such row; there are: " + " ".join(row.key for row in ROWS))
    about = f"{machine()}; load average before the run {load_average()}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pictures.write(folder)
        peers = start(kernels, built, folder)
        ours = peers[0]
        results = measure(rows, peers, lambda title: print(title, file=sys.stderr))
        report = Report(rows, peers, results)
        versions = "; ".join(peer.version for peer in peers)
        compiler = subprocess.run(
            ["swift", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
        sections = {
            "Targets": report.targets(), "Sidelight": report.ours(), "Peers": report.beside()}
        if any(row.sigma for row in rows):
            sections["Gaussians compared with exact arithmetic"] = gaussians(rows, peers, folder)
        if not chosen:
            sections["Memory and plans"] = steady(ours) + "\n" + plans(ours)
            sections["Transitions"] = transitions(ours)
        sections["Operations"] = report.says()
        for peer in peers:
            peer.close()
    text = "\n".join(f"## {title}\n\n{body}" for title, body in sections.items())
    print(text)
    if chosen:
        return
    intro = (HERE / "introduction.md").read_text().format(
        date=datetime.date.today().isoformat(), machine=about, versions=versions,
        compiler=compiler, rounds=ROUNDS, threads=THREADS)
    instructions = os.environ.get("SIDELIGHT_ISA")
    page = f"kernels-{instructions}.md" if instructions else "kernels.md"
    (ROOT / "Benchmarks/Results" / page).write_text(intro + "\n" + text)


if __name__ == "__main__":
    main()
