"""A pipeline that takes longer than the time between frames."""

import pytest

from calltesting.barcode import OUTSIDE_STRIP
from calltesting.latency import delays
from calltesting.participant import CAMERA
from calltesting.programs import Sidelight

# Several times the time between two frames on a usual machine, with one core.
SLOW = ", ".join(f"{each}{OUTSIDE_STRIP}" for each in ["median", "zoomBlur(amount: 60)"] * 4)
# A queue would grow for this long, and then hold more than the greatest delay.
SECONDS = 12
GREATEST_DELAY_MILLISECONDS = 3_000
# The frames that a session may have without an outcome, and one that waits for them.
MOST_IN_FLIGHT = 8


@pytest.fixture(scope="module")
def sidelight():
    """A Sidelight process that accepts sessions also while frames demand more than its capacity."""
    with Sidelight("--max-load", "0") as running:
        yield running


def test_a_slow_filter_drops_frames_and_delays_none_more_than_the_first_ones(join):
    ana, ben = join("ana", frames_per_second=30), join("ben", frames_per_second=5)
    ana.read(CAMERA)
    ana.select_and_wait(SLOW)
    ben.read(ana.name)
    before = ana.statistics()
    ana.wait_for_frames(CAMERA, 30 * SECONDS)

    found = delays(ana.take(CAMERA), ben.take(ana.name))
    assert len(found.milliseconds) > SECONDS
    assert max(found.milliseconds) < GREATEST_DELAY_MILLISECONDS
    after = ana.statistics()
    assert sum(after.dropped.values()) > sum(before.dropped.values())
    for statistics in (before, after):
        in_flight = statistics["received"] - statistics.outcomes
        assert 0 <= in_flight <= MOST_IN_FLIGHT


def test_the_frames_that_were_received_are_the_sum_of_their_outcomes(join):
    ana, ben = join("ana", frames_per_second=30), join("ben", frames_per_second=5)
    ben.read(ana.name)
    ana.select_and_wait(SLOW)
    ben.wait_for_frames(ana.name, 10)
    # The camera stops, so that each frame that was received has its outcome.
    ana.page.run(
        """() => document.querySelector(".tile[data-self] video").srcObject.getTracks()
            .forEach((track) => track.stop())"""
    )
    ana.page.until(
        """() => {
            const value = (each) => Number(each?.dataset.value || 0);
            const stat = (name) => value(document.querySelector(`[data-stat="${name}"]`));
            const dropped = [...document.querySelectorAll("[data-dropped]")].map(value);
            return stat("received") === stat("filtered") + stat("passed-through")
                + stat("degraded") + dropped.reduce((sum, each) => sum + each, 0);
        }"""
    )
    stopped, later = ana.statistics(), ana.statistics()
    assert stopped["received"] == later["received"] == later.outcomes
