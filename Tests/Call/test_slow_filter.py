"""A custom filter that takes longer than the time between frames."""

import pytest

from calltesting.barcode import OUTSIDE_STRIP
from calltesting.custom_filters import CustomFilters
from calltesting.latency import delays
from calltesting.participant import CAMERA
from calltesting.programs import CallServer

# Six times the time between two frames of the camera.
SLOW = f"slow(seconds: 0.2){OUTSIDE_STRIP}"
# A queue would grow for this long, and its last frame would be delayed by five sixths of it.
SECONDS = 12
GREATEST_DELAY_MILLISECONDS = 3_000
# The frames that a session may have without an outcome, and one that waits for them.
MOST_IN_FLIGHT = 8


@pytest.fixture
def sidelight():
    """The server with the slow filter. One for every test: a server whose load is too high refuses
    further sessions."""
    with CustomFilters() as running:
        yield running


@pytest.fixture
def call_server(sidelight):
    """A call server per test, whose frames may be late: the tests look at their delays."""
    with CallServer(sidelight.address, "--budget", "2000") as running:
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
    # The filter was used: frames were neither passed through nor degraded.
    assert after["filtered"] >= before["filtered"] + SECONDS
    for name in ("passed-through", "degraded"):
        assert after[name] == before[name]
    assert sum(after.dropped.values()) > sum(before.dropped.values())
    for statistics in (before, after):
        in_flight = statistics["received"] - statistics.outcomes
        assert 0 <= in_flight <= MOST_IN_FLIGHT


def test_the_frames_that_were_received_are_the_sum_of_their_outcomes(join):
    ana, ben = join("ana", frames_per_second=30), join("ben", frames_per_second=5)
    ben.read(ana.name)
    ana.select_and_wait(SLOW)
    ben.wait_for_frames(ana.name, 10)
    # The camera stops, so every frame that was received has its outcome.
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
    assert sum(later.dropped.values()) > 0
