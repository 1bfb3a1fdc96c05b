"""Connections that hang while frames are in flight, without a server."""

import pytest
from support.unconnected import Unconnected

from sidelight._core.link import STALL_LIMIT, TICK_INTERVAL
from sidelight._core.reconnect import INITIAL_DELAY, MAX_DELAY, OPEN_TIMEOUT, SILENT_ATTEMPTS
from sidelight.events import ConnectionLost


def opened(round_trip: float = 0.05, **options) -> Unconnected:
    """A session whose first frame has come back after a time."""
    session = Unconnected(**options)
    session.open(capacity=4)
    session.send()
    session.written()
    session.now += round_trip
    session.filtered(1)
    return session


def hang(session: Unconnected, seconds: float = 60):
    """Lets time pass until the connection is given up; returns its error, and the messages that
    were written meanwhile."""
    written, end = [], session.now + seconds
    while session.now < end:
        session.now += TICK_INTERVAL
        error = session.link.tick(session.now)
        written += session.written()
        if error is not None:
            return error, written
    return None, written


def test_a_connection_that_hangs_with_frames_in_flight_is_given_up_after_a_second():
    session = opened()
    session.send()
    session.written()
    started = session.now
    error, written = hang(session)
    assert error.code == "UNAVAILABLE" and "in flight" in str(error)
    assert STALL_LIMIT <= session.now - started < STALL_LIMIT + 3 * TICK_INTERVAL
    # The server was asked before.
    assert [each.WhichOneof("kind") for each in written] == ["ping"]


def test_an_answer_of_the_server_shows_that_it_is_only_busy():
    session = opened()
    session.send()
    session.written()
    for _ in range(100):
        session.now += TICK_INTERVAL
        assert session.link.tick(session.now) is None
        for message in session.written():
            session.reply(pong={"id": message.ping.id})


def test_a_connection_without_frames_in_flight_does_not_hang():
    session = opened()
    error, _ = hang(session, 4)
    assert error is None


def test_the_first_frame_may_take_longer():
    session = Unconnected()
    session.open()
    session.send()
    session.written()
    error, _ = hang(session, 4)
    assert error is None


def test_frames_that_usually_take_long_are_waited_for():
    session = opened(round_trip=2.0)
    session.send()
    session.written()
    error, _ = hang(session, 4)
    assert error is None


def test_a_session_that_drops_no_frame_is_not_replaced():
    session = opened(drop_policy="never_drop")
    session.send()
    session.written()
    error, _ = hang(session, 4)
    assert error is None


def test_a_pause_of_this_process_is_not_one_of_the_server():
    session = opened()
    session.send()
    session.written()
    session.now += TICK_INTERVAL
    assert session.link.tick(session.now) is None
    session.now += 30
    assert session.link.tick(session.now) is None


def lose_in_silence(session: Unconnected, random: float = 1.0) -> float:
    error, _ = hang(session)
    delay = session.link.end(error, session.now, random)
    session.perform()
    session.now += delay
    return delay


def test_attempts_follow_each_other_at_once_while_the_network_is_silent():
    session = opened()
    session.send()
    session.written()
    assert lose_in_silence(session) <= INITIAL_DELAY
    for _ in range(SILENT_ATTEMPTS - 1):
        session.link.start(session.now, False)
        started = session.now
        assert lose_in_silence(session) <= INITIAL_DELAY
        assert session.now - started < 0.6
    # Later ones have time, for a server that has become slow.
    session.link.start(session.now, False)
    lose_in_silence(session)
    session.link.start(session.now, False)
    started = session.now
    delay = lose_in_silence(session)
    assert INITIAL_DELAY < delay <= MAX_DELAY
    assert session.now - started - delay == pytest.approx(OPEN_TIMEOUT, abs=2 * TICK_INTERVAL)


def test_a_server_that_pauses_again_is_waited_for_longer():
    session = opened()
    times = []
    for _ in range(3):
        session.send()
        session.written()
        started = session.now
        lose_in_silence(session)
        times.append(session.now - started)
        assert session.open(capacity=4).resume_token == b"token"
    assert times[1] > 1.6 * times[0] and times[2] > 1.3 * times[1]
    lost = [each for each in session.machine.notices.events if isinstance(each, ConnectionLost)]
    assert len(lost) == 3
