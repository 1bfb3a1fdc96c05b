"""Frames and outcomes of a session without a server."""

import pytest
from support.steps import slot_frame, total
from support.unconnected import Answer, FakeRing, Unconnected

from sidelight import Dropped, DropReason, DropStage, Filtered, Image, PassedThrough
from sidelight._core.delivery import DROP_LIMIT
from sidelight.errors import Unavailable
from sidelight.v1 import session_pb2


def test_outcomes_come_in_the_order_of_sending_with_what_was_sent():
    session = Unconnected()
    session.open(capacity=4)
    for index in range(4):
        session.send(capture_time_ns=index, tags={"n": str(index)})
        assert session.sent_frames() == [index + 1]
    session.reply(
        dropped=session_pb2.Dropped(
            first_sequence=2, last_sequence=3, reason=5, stage=4, late_us=2000
        )
    )
    assert session.outcomes() == []
    session.filtered(1)
    session.filtered(4, 2)
    outcomes = session.outcomes()
    assert [each.sequence for each in outcomes] == [1, 2, 3, 4]
    assert [each.frame.tags["n"] for each in outcomes] == ["0", "1", "2", "3"]
    assert [type(each) for each in outcomes] == [Filtered, Dropped, Dropped, PassedThrough]
    assert outcomes[1].reason is DropReason.LATE_ON_OUTPUT
    assert outcomes[1].stage is DropStage.OUTBOX and outcomes[1].late == 0.002
    assert bytes(outcomes[0].image.data) == b"done"


def test_untaken_outcomes_hold_back_frames():
    session = Unconnected()
    session.open(capacity=2)
    for sequence in (1, 2):
        session.send()
        assert session.sent_frames() == [sequence]
        session.filtered(sequence)
    session.send()
    assert session.sent_frames() == []
    assert session.machine.take_outcome().sequence == 1
    assert session.sent_frames() == [3]


def test_a_caller_that_waits_gets_its_outcome_and_the_credit_returns_at_once():
    session = Unconnected()
    session.open(capacity=1)
    first, second = Answer(), Answer()
    session.send(waiter=first)
    assert session.sent_frames() == [1]
    session.send(waiter=second)
    session.filtered(1)
    assert first.value.sequence == 1
    assert session.sent_frames() == [2]
    session.filtered(2)
    assert second.value.sequence == 2 and session.outcomes() == []


def test_the_newest_frame_replaces_the_one_that_waits():
    session = Unconnected()
    session.open(capacity=1)
    for index in range(4):
        session.send(capture_time_ns=index)
        session.sent_frames()
    session.filtered(1)
    assert [type(each) for each in session.outcomes()] == [Filtered, Dropped, Dropped]
    assert session.sent_frames() == [4]
    counts = session.machine.delivery.counts()
    assert counts.dropped == {DropReason.SUPERSEDED: 2}
    assert counts.received == 4 == total(counts)


def test_dropped_frames_that_nobody_takes_are_bounded_and_counted():
    session = Unconnected()
    session.open(capacity=1)
    for index in range(5000):
        session.send(capture_time_ns=index)
        session.sent_frames()
    assert len(session.machine.delivery._queue) < DROP_LIMIT + 10
    session.filtered(1)
    outcomes = session.outcomes()
    assert [each.sequence for each in outcomes] == list(range(1, 5000))
    assert {each.reason for each in outcomes[1:]} == {DropReason.SUPERSEDED}
    assert outcomes[1].frame.capture_time_ns == 1
    counts = session.machine.delivery.counts()
    assert counts.received == 5000 == total(counts)


def test_frames_that_may_not_be_dropped_wait():
    session = Unconnected(drop_policy="never_drop")
    session.open(capacity=1)
    assert session.send() and session.sent_frames() == [1]
    assert session.send() is not None
    assert session.send() is None
    session.filtered(1)
    session.outcomes()
    assert session.sent_frames() == [2]
    assert session.send() is not None


def test_an_outcome_that_nobody_waits_for_any_more_is_released():
    session = Unconnected()
    ring = FakeRing()
    session.open(capacity=1, ring=ring)
    answer = Answer()
    pending = session.send(waiter=answer)
    session.written()
    session.machine.abandon(pending)
    session.reply(frame=slot_frame(1, 2))
    assert answer.values == []
    session.send()
    assert session.sent_frames() == [2]


def test_a_released_picture_is_dropped_and_the_session_goes_on():
    session = Unconnected()
    session.open(capacity=1)
    image = Image("gray", 2, 2, bytes(4))
    session.send(image)
    image.release()
    session.send()
    assert session.sent_frames() == [2]
    (outcome,) = session.outcomes()
    assert outcome.reason is DropReason.SUPERSEDED
    image = Image("gray", 2, 2, bytes(4))
    session.filtered(2)
    session.outcomes()
    session.send(image)
    image.release()
    assert session.sent_frames() == []
    (outcome,) = session.outcomes()
    assert outcome.reason is DropReason.INVALID_FRAME and "release" in outcome.error.message
    session.send()
    assert session.sent_frames() == [4]


def test_after_finish_frames_are_refused_and_sent_ones_have_outcomes():
    session = Unconnected()
    session.open(capacity=1)
    session.send()
    session.machine.finish()
    with pytest.raises(Unavailable, match="finished"):
        session.send()
    assert session.machine.has_more_outcomes
    assert session.sent_frames() == [1] and session.link.is_over
    session.filtered(1)
    session.outcomes()
    assert not session.machine.has_more_outcomes
