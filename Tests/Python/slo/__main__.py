"""Measures every service-level objective, and writes the table into docs/design/reliability.md.

`dev/bench slo [--quick] [--minutes 10] [--only ROW]... [--output FILE]`
"""

import argparse
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from sidelight_testing.contract import REPOSITORY
from sidelight_testing.machine import Machine

from . import long_running, memory, outcomes, peers, realtime, workers
from .row import Row, Settings

PAGE = REPOSITORY / "docs/design/reliability.md"
BEGIN, END = "<!-- slo: begin -->", "<!-- slo: end -->"

MEASUREMENTS: dict[tuple[int, ...], Callable[[Settings], Row | list[Row]]] = {
    (1,): outcomes.one_outcome_a_frame,
    (2, 4): outcomes.no_input_stops_it,
    (3,): memory.memory_of_a_session,
    (5,): realtime.overload,
    (6,): realtime.nothing_after_its_deadline,
    (7,): peers.a_hostile_neighbour,
    (8,): peers.silent_peers,
    (9,): peers.pings,
    (10,): peers.drain,
    (11,): workers.workers,
    (12,): long_running.resuming,
    (13,): realtime.deadlines,
    (14,): long_running.identity,
    (15,): long_running.soak,
}


def measure(settings: Settings, only: list[int]) -> list[Row]:
    rows: list[Row] = []
    for numbers, measurement in MEASUREMENTS.items():
        if only and not set(only) & set(numbers):
            continue
        start = time.monotonic()
        try:
            found = measurement(settings)
        except Exception as error:  # a row that fails does not hide the others
            traceback.print_exc()
            found = [
                Row(number, "", f"the measurement failed: {error!r}"[:300], "", False, "")
                for number in numbers
            ]
        for row in found if isinstance(found, list) else [found]:
            rows.append(row)
            print(
                f"{row.number:2} {row.verdict}: {row.figure or row.how} "
                f"({time.monotonic() - start:.0f} s)",
                flush=True,
            )
    return sorted(rows, key=lambda row: row.number)


def table(rows: list[Row], machine: Machine, command: str) -> str:
    def cell(text: str) -> str:
        return text.replace("|", "\\|").replace("\n", " ")

    lines = [
        f"Written by `{command}`. {machine} Server and clients share the machine, over loopback.",
        "",
        "| # | objective | | measured | limit | how |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = (str(row.number), row.objective, row.verdict, row.figure, row.limit, row.how)
        lines.append("| " + " | ".join(map(cell, cells)) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="all rows in six minutes, with fewer samples"
    )
    parser.add_argument("--minutes", type=float, help="duration of the pings of row 9")
    parser.add_argument(
        "--only", type=int, action="append", default=[], help="this row; may be repeated"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="write the table to this file (default: the page, if all rows are measured)",
    )
    arguments = parser.parse_args()
    machine = Machine.now()
    rows = measure(Settings(arguments.quick, arguments.minutes), arguments.only)
    given = (["--quick"] if arguments.quick else []) + (
        [f"--minutes {arguments.minutes:g}"] if arguments.minutes else []
    )
    given += [f"--only {row}" for row in arguments.only]
    command = "make bench PART=slo" + (f' ARGUMENTS="{" ".join(given)}"' if given else "")
    text = table(rows, machine, command)
    if arguments.output or arguments.only:
        if arguments.output:
            arguments.output.write_text(text + "\n")
        else:
            print(text)
    else:
        page = PAGE.read_text()
        before, _, rest = page.partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")
    return 1 if any(row.holds is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
