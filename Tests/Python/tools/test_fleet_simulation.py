"""The simulation of `make bench PART=fleet`."""

import sys

import pytest

from sidelight_testing.contract import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "Benchmarks/Fleet"))

import simulation  # noqa: E402
from simulation import Fleet, Moves  # noqa: E402


@pytest.mark.parametrize(
    "drill, moves",
    # A third of the sessions; and a third, half, and half, since the last server that started is empty.
    [("kill", 10), ("update", 40)],
)
def test_sessions_move_to_the_servers_with_the_fewest(drill, moves):
    assert simulation.nodes(Moves([0.1], 0.02), 30, 15, drill, runs=1)[1] == moves


def test_no_session_is_lost_with_a_server():
    fleet = Fleet(Moves([0.1], 0.02), 15)
    servers = [fleet.add() for _ in range(3)]
    for session in range(30):
        fleet.open(session)
    fleet.end(servers[0])
    assert servers[0] not in fleet.servers
    assert sorted(fleet.at) == list(range(30))
    assert [len(each.sessions) for each in fleet.servers] == [15, 15]


def test_a_move_costs_the_frames_of_its_time():
    # On average the time without a connection x the frame rate, however the frames lie in it.
    lost, moves = simulation.nodes(Moves([0.3], 0.0), 300, 10, "kill", runs=20)
    assert lost / moves == pytest.approx(3, rel=0.05)


def test_a_day_of_a_small_fleet():
    calm = simulation.day(Moves([0.1], 0.02), 200)
    rough = simulation.day(Moves([0.1], 0.02), 200, updates=2, failures=24)
    # The mean of the curve, in sessions of half an hour.
    assert calm.sessions == pytest.approx(200 * 0.6 * 48, rel=0.05)
    assert min(calm.servers) == 2 and max(calm.servers) > 4
    assert calm.lost_by_load == 0
    assert rough.moves > calm.moves and rough.lost_by_moves > calm.lost_by_moves
