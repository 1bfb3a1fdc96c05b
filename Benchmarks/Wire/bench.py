"""Compares the transports with their peers; dev/bench wire calls this with the programs that it built."""

import argparse
import datetime
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Shared"))

from cells import PARTS  # noqa: E402
from driver import PINS, Driver, Result, Skipped  # noqa: E402
from report import Report  # noqa: E402
from reporting import load_average, machine  # noqa: E402
from results import Results  # noqa: E402


def measure(driver: Driver, parts: list[str], quick: bool) -> tuple[Results, dict[str, str]]:
    """Returns the results, and the reasons for cells without results."""
    results, skipped = Results(), {}
    groups = [group for part in parts for group in PARTS[part](quick)]
    for index, group in enumerate(groups):
        for cell in group.cells * group.rounds:
            if cell.label in skipped:
                continue
            try:
                result = driver.run(cell, group.warm_up, group.seconds)
            except (Skipped, RuntimeError, OSError, subprocess.SubprocessError) as reason:
                skipped[cell.label] = str(reason)
                print(f"skipped: {cell.label}: {reason}", file=sys.stderr)
                continue
            results.add(index, cell, result)
            report_progress(cell.label, result)
    return results, skipped


def report_progress(label: str, result: Result) -> None:
    print(f"{label}: {result.fps:.1f} a second, p50 {result.p50:.3f} p99 {result.p99:.3f} ms, CPU "
          f"{result.server:.3f} + {result.client:.3f} ms, RSS {result.server_memory:.0f} + "
          f"{result.client_memory:.0f} MiB, dropped {result.dropped}", file=sys.stderr)


def left_out(skipped: dict[str, str]) -> str:
    """Lists the omitted cells by reason."""
    reasons: dict[str, list[str]] = {}
    for words, reason in skipped.items():
        reasons.setdefault(reason, []).append(words)
    return "\n".join(f"- {reason}: {'; '.join(cells)}." for reason, cells in reasons.items())


def stop(*_) -> None:
    raise KeyboardInterrupt


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sidelight", type=Path, required=True)
    parser.add_argument("--wire", type=Path, required=True)
    parser.add_argument("--peers", type=Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--only", action="append", choices=list(PARTS))
    parser.add_argument("--pin", choices=list(PINS))
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, stop)

    seconds = options.seconds or (0.6 if options.quick else 1.6)
    warm_up = 0.3 if options.quick else 0.4
    driver = Driver(options.sidelight, options.wire, options.peers, options.python, warm_up, seconds,
                    options.pin)
    load, begin = load_average(), time.monotonic()
    versions = driver.versions()
    parts = [part for part in PARTS if not options.only or part in options.only]
    results, skipped = measure(driver, parts, options.quick)
    report = Report(results)

    selection = ["--quick"] if options.quick else []
    selection += [word for part in options.only or [] for word in ("--only", part)]
    selection += ["--pin", options.pin] if options.pin else []
    selection += ["--seconds", f"{options.seconds:g}"] if options.seconds else []
    command = "make bench PART=wire" + (f' ARGUMENTS="{" ".join(selection)}"' if selection else "")
    plots = report.plots()
    text = (HERE / "introduction.md").read_text().format(
        command=command, date=datetime.date.today().isoformat(), machine=machine(), load=load,
        took=f"{time.monotonic() - begin:.0f}", seconds=seconds, warm_up=warm_up,
        versions="; ".join(f"{name}: {version}" for name, version in versions.items()),
        plots="\n\n".join(f"![{name}](wire-{name}.svg)" for name in plots),
        verdicts=report.verdicts(), frames=report.frames_a_second(), every=report.every(),
        standalone=report.standalone(), left_out=left_out(skipped) or "Nothing.")
    print(text)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "wire.md").write_text(text)
    for name, drawing in plots.items():
        (options.output / f"wire-{name}.svg").write_text(drawing)
    sys.exit(0 if all(check.holds is not False for check in report.checks) else 1)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
