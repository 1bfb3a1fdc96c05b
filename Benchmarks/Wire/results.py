"""The results, and which of them may be compared."""

import statistics
from collections import Counter
from dataclasses import dataclass

from cells import Cell
from driver import Result


def median(runs: list[Result]) -> Result:
    return Result(*(statistics.median(getattr(run, name) for run in runs)
                    for name in Result.__dataclass_fields__))


@dataclass
class Pair:
    """The results of two cells that ran in turns, by round."""

    rounds: list[tuple[Result, Result]]

    def ratio(self, figure: str) -> tuple[float, float, float]:
        """Returns the ratio of a figure of the first cell to the second: the median over the rounds,
        the minimum and the maximum."""
        ratios = [getattr(one, figure) / max(getattr(other, figure), 1e-9)
                  for one, other in self.rounds]
        return statistics.median(ratios), min(ratios), max(ratios)

    def medians(self, figure: str) -> tuple[float, float]:
        """Returns the medians of a figure of both cells."""
        return tuple(statistics.median(getattr(run, figure) for run in runs)
                     for runs in zip(*self.rounds))


class Results:
    """Runs by group and cell. Only runs that took turns are compared, because the machine's speed varies."""

    def __init__(self):
        self._runs: dict[int, dict[Cell, list[Result]]] = {}

    def add(self, group: int, cell: Cell, result: Result) -> None:
        self._runs.setdefault(group, {}).setdefault(cell, []).append(result)

    def of(self, cell: Cell) -> Result | None:
        """Returns the median of all runs of a cell."""
        runs = [run for each, run in self.every() if each == cell]
        return median(runs) if runs else None

    def pair(self, one: Cell, other: Cell) -> Pair | None:
        """Returns two cells, over the groups that contain both."""
        groups = [cells for cells in self._runs.values() if one in cells and other in cells]
        rounds = [both for cells in groups for both in zip(cells[one], cells[other])]
        return Pair(rounds) if rounds else None

    def every(self) -> list[tuple[Cell, Result]]:
        """Returns every run."""
        return [(cell, run) for cells in self._runs.values() for cell, runs in cells.items()
                for run in runs]

    def medians(self) -> dict[Cell, Result]:
        return {cell: self.of(cell) for cell in self.counts()}

    def counts(self) -> dict[Cell, int]:
        """Returns the number of runs of every cell."""
        return Counter(cell for cell, _ in self.every())
