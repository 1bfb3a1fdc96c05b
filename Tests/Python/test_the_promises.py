"""The commands that measure at length find what they are there to find."""

import re

import numpy as np
import pytest

import endurance
from promises.__main__ import BEGIN, END, MEASUREMENTS, PAGE, table
from promises.row import Row
from sidelight_testing.machine import Machine

MIB = 1 << 20
SECONDS = 600
TIMES = list(range(SECONDS))


def run(resident: list[float], p99: list[float], descriptors: int = 0) -> endurance.Endurance:
    """The result of a run with these figures."""
    result = endurance.Endurance(minutes=10, asked_load=0.7, rate=10, capacity=200)
    result.descriptors_gained = descriptors
    for index, value in enumerate(p99):
        end = (index + 1) * SECONDS / len(p99)
        result.parts.append(endurance.Minute(end, 1, 1, value, 0.7, 0, 40))
    endurance.judge(result, TIMES, [int(each * MIB) for each in resident])
    return result


def test_a_server_that_stays_as_it_is_has_endured():
    scatter = np.random.default_rng(1).normal(0, 0.2, SECONDS)
    # Memory that fills at first is no rise.
    resident = 80 - 30 * np.exp(-np.asarray(TIMES) / 20) + scatter
    assert run(list(resident), [5.0, 6.0, 5.5] * 3).failures == []


@pytest.mark.parametrize(
    "resident, p99, descriptors, fault",
    [
        ([80 + each / 600 for each in TIMES], [5.0] * 9, 0, "resident memory rises by 6.0 MiB/h"),
        ([80] * SECONDS, [5.0] * 9, 5, "5 descriptors leaked"),
        ([80] * SECONDS, [5.0] * 6 + [9.0] * 3, 0, "the p99 of the last third is 1.80 times"),
    ],
)
def test_what_rises_is_found(resident, p99, descriptors, fault):
    [found] = run(resident, p99, descriptors).failures
    assert found.startswith(fault)


def test_the_slope_is_that_of_the_line_and_its_error_that_of_the_scatter():
    found, error = endurance.slope([0, 1, 2, 3], [1, 3, 5, 7])
    assert (found, error) == (pytest.approx(2), pytest.approx(0))
    # By hand: residuals of 1, -1, -1, 1 about a slope of 0, and a sum of squares of 5 for x.
    found, error = endurance.slope([0, 1, 2, 3], [1, -1, -1, 1])
    assert (found, error) == (pytest.approx(0), pytest.approx((4 / 2 / 5) ** 0.5))


def test_every_promise_is_measured_and_stands_on_the_page():
    numbers = sorted(number for measured in MEASUREMENTS for number in measured)
    assert numbers == list(range(1, 16))
    text = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    rows = {int(each) for each in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    assert rows == set(numbers)


def test_the_table_says_what_was_missed_and_what_was_not_measured():
    rows = [
        Row(1, "one | two", "figure", "limit", True, "how"),
        Row(2, "p", "f", "l", False, "h"),
        Row(3, "p", "", "l", None, "why"),
    ]
    lines = table(rows, Machine.now(), "make slo").splitlines()[-3:]
    assert lines[0] == r"| 1 | one \| two | ok | figure | limit | how |"
    assert "**missed**" in lines[1] and "not measured" in lines[2]
