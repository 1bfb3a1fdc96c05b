"""Changes of the pipeline of a session without a server."""

import pytest
from support.steps import change, update
from support.unconnected import Answer, Unconnected

from sidelight import Stage
from sidelight.errors import ResourceExhausted
from sidelight.events import Rejected
from sidelight.v1 import session_pb2


def test_a_change_is_accepted_then_applied():
    session = Unconnected()
    session.open()
    record = change(session, Stage("sepiaTone"))
    accepted, applied = Answer(), Answer()
    session.machine.await_change(record, False, accepted)
    session.machine.await_change(record, True, applied)
    (message,) = session.written()
    assert message.select.request_id == record.request_id
    session.reply(accepted=session_pb2.Accepted(request_id=record.request_id, revision=2))
    assert accepted.values == [None] and record.revision == 2 and applied.values == []
    session.reply(
        applied=session_pb2.Applied(request_id=record.request_id, revision=2, first_sequence=9)
    )
    assert applied.values == [None] and record.first_sequence == 9
    assert session.machine.revision == 2


def test_an_applied_change_includes_those_before_it():
    session = Unconnected()
    session.open()
    first, second = change(session, Stage("a")), change(session, Stage("b"))
    session.reply(
        applied=session_pb2.Applied(request_id=second.request_id, revision=3, first_sequence=1)
    )
    assert first.first_sequence == second.first_sequence == 1


def test_a_refused_change_has_the_error():
    session = Unconnected()
    session.open()
    record = change(session, Stage("a"))
    answer = Answer()
    session.machine.await_change(record, True, answer)
    error = session_pb2.Error(request_id=record.request_id)
    error.status.code, error.status.message = 3, 'no "a"; did you mean b?'
    session.reply(error=error)
    assert answer.values == [None]
    assert record.error.code == "INVALID_ARGUMENT" and record.error.suggestion == "b"
    assert isinstance(session.machine.notices.events[-1], Rejected)


def test_updates_that_wait_are_merged():
    session = Unconnected()
    session.open(capacity=1)
    session.send()
    session.written()
    session.send()
    records = [update(session, x=index, **{f"y{index % 2}": index}) for index in range(1000)]
    session.filtered(1)
    session.outcomes()
    frame, merged = session.written()
    assert frame.frame.sequence == 2
    assert merged.update.request_id == records[-1].request_id
    values = {name: value.number for name, value in merged.update.stages[0].parameters.items()}
    assert values == {"x": 999, "y0": 998, "y1": 999}
    session.reply(accepted=session_pb2.Accepted(request_id=records[-1].request_id, revision=2))
    assert records[0].revision == records[-1].revision == 2


def test_changes_that_wait_are_bounded():
    session = Unconnected()
    session.open(capacity=1)
    session.send()
    session.written()
    session.send()
    with pytest.raises(ResourceExhausted, match="64"):
        for _ in range(65):
            change(session, Stage("a"))


def test_a_thousand_unanswered_changes_are_bounded_and_answered():
    session = Unconnected()
    session.open()
    records = []
    for _ in range(1000):
        records.append(change(session, Stage("a")))
        session.written()
    assert len(session.machine.changes._entries) <= 64
    session.reply(applied=session_pb2.Applied(request_id=1000, revision=1001, first_sequence=7))
    assert {each.first_sequence for each in records} == {7}
