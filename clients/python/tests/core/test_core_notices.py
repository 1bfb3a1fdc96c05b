"""Time limits and events of a session without a server."""

from support.unconnected import Unconnected

from sidelight import PassedThrough
from sidelight._core.notices import ANALYSIS_LIMIT, EVENT_LIMIT
from sidelight._core.reconnect import OPEN_TIMEOUT, SILENCE_LIMIT
from sidelight.v1 import session_pb2


def test_a_connection_that_does_not_open_is_given_up():
    session = Unconnected()
    session.link.start(0, True)
    assert session.link.tick(OPEN_TIMEOUT) is None
    assert session.link.tick(OPEN_TIMEOUT + 0.1).code == "DEADLINE_EXCEEDED"


def test_a_silent_server_is_pinged_and_then_given_up():
    session = Unconnected()
    session.now = 0
    session.open()
    assert session.link.tick(4) is None and session.written() == []
    assert session.link.tick(6) is None
    assert [each.WhichOneof("kind") for each in session.written()] == ["ping"]
    session.now = 7
    session.reply(pong=session_pb2.Pong())
    assert session.link.tick(12.5) is None
    assert [each.WhichOneof("kind") for each in session.written()] == ["ping"]
    assert session.link.tick(12.4 + SILENCE_LIMIT) is None
    assert session.link.tick(12.6 + SILENCE_LIMIT).code == "UNAVAILABLE"


def test_events_and_analyses_are_bounded_and_the_newest_are_kept():
    session = Unconnected()
    session.open()
    for index in range(1000):
        session.reply(analysis=session_pb2.Analysis(sequence=index))
        session.reply(advice=session_pb2.Advice(bottleneck=str(index)))
    machine = session.machine.notices
    assert len(machine.events) == EVENT_LIMIT and machine.events[-1].bottleneck == "999"
    assert len(machine.analyses) == ANALYSIS_LIMIT and machine.analyses[-1].sequence == 999
    assert machine.dropped_analyses == 1000 - ANALYSIS_LIMIT


def test_messages_of_unknown_kinds_are_ignored():
    session = Unconnected()
    session.open()
    assert session.link.receive(b"\xfa\x0f\x00", session.now) is None


def test_while_the_server_drains_frames_get_the_fallback():
    session = Unconnected()
    session.open()
    session.reply(state=session_pb2.State(state=3))
    session.send()
    assert isinstance(session.outcomes()[0], PassedThrough)
