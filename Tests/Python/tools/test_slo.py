"""The soak test and the table of service-level objectives report violations."""

import re

import numpy as np
import pytest

import soak
from slo.__main__ import BEGIN, END, MEASUREMENTS, PAGE, table
from slo.row import Row
from sidelight_testing.machine import Machine

MIB = 1 << 20
SECONDS = 600
TIMES = list(range(SECONDS))


def run(resident: list[float], p99: list[float], descriptors: int = 0) -> soak.SoakTest:
    """Returns the result of a soak test with these figures."""
    result = soak.SoakTest(minutes=10, asked_load=0.7, rate=10, capacity=200)
    result.descriptors_gained = descriptors
    for index, value in enumerate(p99):
        end = (index + 1) * SECONDS / len(p99)
        result.parts.append(soak.Minute(end, 1, 1, value, 0.7, 0, 40, 0))
    soak.judge(result, TIMES, [int(each * MIB) for each in resident])
    return result


def test_steady_figures_pass():
    scatter = np.random.default_rng(1).normal(0, 0.2, SECONDS)
    # Memory that only rises at first is not a failure.
    resident = 80 - 30 * np.exp(-np.asarray(TIMES) / 20) + scatter
    assert run(list(resident), [5.0, 6.0, 5.5] * 3).failures == []


@pytest.mark.parametrize(
    "resident, p99, descriptors, failure",
    [
        ([80 + each / 600 for each in TIMES], [5.0] * 9, 0, "resident memory rises by 6.0 MiB/h"),
        ([80] * SECONDS, [5.0] * 9, 5, "5 descriptors leaked"),
        ([80] * SECONDS, [5.0] * 6 + [9.0] * 3, 0, "the p99 of the last third is 1.80 times"),
    ],
)
def test_a_figure_above_its_limit_is_a_failure(resident, p99, descriptors, failure):
    [found] = run(resident, p99, descriptors).failures
    assert found.startswith(failure)


def test_the_slope_and_its_standard_error():
    found, error = soak.slope([0, 1, 2, 3], [1, 3, 5, 7])
    assert (found, error) == (pytest.approx(2), pytest.approx(0))
    # By hand: residuals of 1, -1, -1, 1 about a slope of 0, and a sum of squares of 5 for x.
    found, error = soak.slope([0, 1, 2, 3], [1, -1, -1, 1])
    assert (found, error) == (pytest.approx(0), pytest.approx((4 / 2 / 5) ** 0.5))


def test_every_objective_is_measured_and_in_the_document():
    numbers = sorted(number for measured in MEASUREMENTS for number in measured)
    assert numbers == list(range(1, 16))
    text = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    rows = {int(each) for each in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    assert rows == set(numbers)


def test_the_table_marks_missed_and_unmeasured_objectives():
    rows = [
        Row(1, "one | two", "figure", "limit", True, "how"),
        Row(2, "p", "f", "l", False, "h"),
        Row(3, "p", "", "l", None, "why"),
    ]
    lines = table(rows, Machine.now(), "make bench PART=slo").splitlines()[-3:]
    assert lines[0] == r"| 1 | one \| two | ok | figure | limit | how |"
    assert "**missed**" in lines[1] and "not measured" in lines[2]
