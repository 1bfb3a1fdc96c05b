"""What was measured, and what of it may be compared."""

import statistics

from cells import Cell
from driver import Result


def median(runs: list[Result]) -> Result:
    return Result(*(statistics.median(getattr(run, name) for run in runs)
                    for name in Result.__dataclass_fields__))


class Results:
    """Runs by group and cell: only what ran in turns is compared, because the machine drifts."""

    def __init__(self):
        self._runs: dict[int, dict[Cell, list[Result]]] = {}

    def add(self, group: int, cell: Cell, result: Result) -> None:
        self._runs.setdefault(group, {}).setdefault(cell, []).append(result)

    def of(self, cell: Cell) -> Result | None:
        """The median of all runs of a cell."""
        runs = [run for cells in self._runs.values() for run in cells.get(cell, [])]
        return median(runs) if runs else None

    def pair(self, one: Cell, other: Cell) -> tuple[Result, Result] | None:
        """The medians of two cells over the groups that both ran in."""
        groups = [cells for cells in self._runs.values() if one in cells and other in cells]
        if not groups:
            return None
        return tuple(median([run for cells in groups for run in cells[cell]])
                     for cell in (one, other))

    def medians(self) -> dict[Cell, Result]:
        return {cell: self.of(cell) for cells in self._runs.values() for cell in cells}

    def counts(self) -> dict[Cell, int]:
        """How many runs a cell had."""
        counts: dict[Cell, int] = {}
        for cells in self._runs.values():
            for cell, runs in cells.items():
                counts[cell] = counts.get(cell, 0) + len(runs)
        return counts
