"""The comparisons and checks of `make bench PART=wire`, without a server."""

import sys

import pytest

from sidelight_testing.contract import REPOSITORY

sys.path[:0] = [str(REPOSITORY / "Benchmarks" / each) for each in ("Wire", "Shared")]

from cells import CPP, HD720, MEMORY, OURS, PARTS, TCP, Cell  # noqa: E402
from driver import Result  # noqa: E402
from report import Report  # noqa: E402
from results import Results  # noqa: E402
from targets import checks  # noqa: E402


def results_of(quick: bool) -> Results:
    """Returns results as if every frame had taken a millisecond."""
    results = Results()
    groups = [group for part in PARTS.values() for group in part(quick)]
    for index, group in enumerate(groups):
        for cell in group.cells * group.rounds:
            results.add(index, cell, Result(
                1000, 1, 2, least=99, most=100, server=0.5, client=0.5, work=1))
    return results


@pytest.mark.parametrize("quick", [False, True], ids=["the whole", "quick"])
def test_every_target_is_measured(quick):
    found = checks(results_of(quick))
    assert all(check.holds is not None for check in found)
    # Frames over TCP in every size, two rates and two figures; Unix socket; small frames; shared
    # memory in every size, compared with inline and with the kernel; JPEG; many sessions; no losses.
    sizes, slots = (2, 3) if quick else (3, 7)
    assert len(found) == 4 * sizes + 2 + 2 + 2 * slots + 2 + 1 + 1 + 1 + 1


def test_only_interleaved_runs_are_compared():
    results, ours = Results(), Cell(OURS, TCP, HD720)
    results.add(0, ours, Result(100, 1))
    results.add(1, ours.by(CPP), Result(1, 1))
    assert results.pair(ours, ours.by(CPP)) is None
    results.add(1, ours, Result(3, 1))
    assert results.pair(ours, ours.by(CPP)).ratio("fps") == (3, 3, 3)


def test_a_ratio_is_the_median_of_the_rounds():
    results, ours = Results(), Cell(OURS, TCP, HD720)
    for one, other in [(10, 10), (300, 100), (4, 2)]:
        results.add(0, ours, Result(one, 1))
        results.add(0, ours.by(CPP), Result(other, 1))
    assert results.pair(ours, ours.by(CPP)).ratio("fps") == (2, 1, 3)


def test_an_unsupported_case_is_neither_met_nor_missed():
    results = Results()
    for group in [*PARTS["memory"](True), *PARTS["jpeg"](True)]:
        for cell in group.cells:
            if cell.transport != MEMORY and not (cell.jpeg and cell.transport):
                results.add(0, cell, Result(1000, 1))
    report = Report(results)
    unknown = [check for check in report.checks if check.holds is None]
    assert [check.verdict for check in unknown] == ["not measured"] * 2
    assert "shared memory" in unknown[0].name and "JPEG" in unknown[1].name
