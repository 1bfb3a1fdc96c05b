"""A session without I/O: frames, outcomes, changes, shared memory, loss and resumption."""

import pytest
from support.unconnected import Answer, FakeRing, Unconnected

from sidelight import Dropped, DropReason, DropStage, Filtered, Image, PassedThrough, Stage
from sidelight._core.delivery import DROP_LIMIT, FALLBACK_LIMIT
from sidelight._core.machine import OPENED, OVER
from sidelight._core.notices import ANALYSIS_LIMIT, EVENT_LIMIT
from sidelight._core.options import select_message
from sidelight._core.reconnect import OPEN_TIMEOUT, SILENCE_LIMIT
from sidelight.errors import Aborted, ResourceExhausted, SidelightError, Unavailable
from sidelight.events import ConnectionLost, Reconnected, Rejected, SessionState
from sidelight.v1 import session_pb2


def total(counts):
    return (
        counts.filtered
        + counts.passed_through
        + counts.degraded
        + sum(counts.dropped.values())
        + counts.in_flight
    )


def slot_frame(sequence, slot, disposition=1):
    frame = session_pb2.FilteredFrame(sequence=sequence, disposition=disposition)
    frame.image.format, frame.image.width, frame.image.height = 4, 2, 2
    frame.image.shared_memory.slot, frame.image.shared_memory.length = slot, 4
    return frame


# Frames


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


# Changes


def change(session, pipeline, if_revision=None):
    message = select_message(pipeline, if_revision)
    record = session.machine.change(message, if_revision is not None)
    session.perform()
    return record


def update(session, stage="s", **values):
    message = session_pb2.Update()
    parameters = message.stages.add(stage=stage).parameters
    for name, value in values.items():
        parameters[name].number = value
    return session.machine.change(message, False)


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


# Shared memory


def test_a_picture_is_copied_into_a_slot_and_inline_without_one():
    session, ring = Unconnected(), FakeRing(input_slots=1)
    session.open(capacity=4, ring=ring)
    session.send(Image("gray", 2, 2, b"abcd"))
    assert session.written()[0].frame.image.shared_memory.length == 4
    assert bytes(ring.memory[0][:4]) == b"abcd"
    session.send(Image("gray", 2, 2, b"ijkl"))
    assert session.written()[0].frame.image.inline == b"ijkl"


def test_a_frame_in_a_slot_is_sent_without_a_copy_and_passes_through_in_it():
    session, ring = Unconnected(), FakeRing()
    session.open(ring=ring)
    frame = session.link.lend_frame(2, 2, "gray", None, None)
    frame.image.data[:] = b"abcd"
    answer = Answer()
    session.machine.offer(frame, None, answer, 0)
    (message,) = session.written()
    assert message.frame.image.shared_memory.slot == 0
    session.reply(frame=slot_frame(1, 0, disposition=2))
    assert answer.value.image is frame.image


def test_pictures_in_output_slots_are_acknowledged_when_they_are_released():
    session, ring = Unconnected(), FakeRing(output_slots=2)
    session.open(capacity=1, ring=ring)
    outcomes = []
    for sequence in (1, 2):
        session.send()
        session.written()
        session.reply(frame=slot_frame(sequence, 1 + sequence))
        outcomes += session.outcomes()
    session.send()
    assert [each.WhichOneof("kind") for each in session.written()] == ["frame"]
    ring.give_back()
    session.filtered(3)
    session.outcomes()
    session.send()
    ack, frame = session.written()
    assert ack.ack.sequence == 2 and not ack.ack.held_slots
    assert outcomes[0].sequence == 1


@pytest.mark.parametrize("slot, length", [(9, 4), (2, 1 << 40), (2, 0)])
def test_slots_that_the_server_may_not_name_are_refused(slot, length):
    session = Unconnected()
    session.open(ring=FakeRing())
    session.send()
    session.written()
    frame = slot_frame(1, slot)
    frame.image.shared_memory.length = length
    with pytest.raises(SidelightError, match="slot"):
        session.reply(frame=frame)


# Loss


def test_frames_in_flight_and_waiting_get_their_outcomes_at_a_loss():
    session = Unconnected(fallback="drop")
    session.open(capacity=1)
    answer = Answer()
    session.send()
    session.written()
    session.send(waiter=answer)
    assert session.lose() is not None
    (outcome,) = session.outcomes()
    assert (outcome.reason, outcome.stage) == (DropReason.DISCONNECTED, DropStage.UNKNOWN)
    assert (answer.value.reason, answer.value.stage) == (
        DropReason.DISCONNECTED,
        DropStage.CLIENT,
    )
    session.send()
    assert session.outcomes()[0].reason is DropReason.DISCONNECTED
    counts = session.machine.delivery.counts()
    assert counts.received == 3 == total(counts)
    session.open(capacity=1)
    session.send()
    assert session.sent_frames() == [4]


def test_inputs_pass_through_without_connection():
    session = Unconnected(Stage("sepiaTone"))
    session.open()
    session.lose()
    image = Image("gray", 2, 2, b"abcd")
    session.send(image)
    (outcome,) = session.outcomes()
    assert isinstance(outcome, PassedThrough) and outcome.image is image
    assert outcome.failure.code == "UNAVAILABLE"


def test_pictures_without_connection_that_nobody_takes_are_bounded():
    session = Unconnected()
    session.open()
    session.lose()
    for _ in range(2000):
        session.send()
    outcomes = session.outcomes()
    assert [each.sequence for each in outcomes] == list(range(1, 2001))
    pictures = [each for each in outcomes if isinstance(each, PassedThrough)]
    assert len(pictures) == FALLBACK_LIMIT and pictures == outcomes[-FALLBACK_LIMIT:]
    counts = session.machine.delivery.counts()
    assert counts.received == 2000 == total(counts)
    assert counts.passed_through == FALLBACK_LIMIT


@pytest.mark.parametrize(
    "pipeline",
    [
        Stage("faceBlur"),
        "vignette, CIFaceBlur",
        Stage("virtualBackground"),
        '"face\\u{42}lur"',
    ],
)
def test_a_pipeline_that_protects_never_passes_inputs_through(pipeline):
    session = Unconnected(pipeline)
    session.open()
    session.lose()
    session.send()
    assert session.outcomes()[0].reason is DropReason.DISCONNECTED


def test_protection_counts_from_the_request_until_another_pipeline_is_in_force():
    session = Unconnected()
    session.open()
    protecting = change(session, Stage("faceBlur"))
    session.written()
    session.lose()
    session.send()
    assert isinstance(session.outcomes()[0], Dropped)
    session.open()
    replayed = session.written()
    assert [each.select.request_id for each in replayed] == [protecting.request_id]
    session.reply(applied=session_pb2.Applied(request_id=1, revision=2, first_sequence=1))
    plain = change(session, Stage("sepiaTone"))
    session.lose()
    session.send()
    assert isinstance(session.outcomes()[0], Dropped)
    session.open()
    session.reply(
        applied=session_pb2.Applied(request_id=plain.request_id, revision=3, first_sequence=1)
    )
    session.lose()
    session.send()
    assert isinstance(session.outcomes()[0], PassedThrough)


def test_an_operators_override_never_passes_inputs_through():
    session = Unconnected()
    session.open()
    state = session_pb2.State(state=4, revision=2, resume_token=b"newer")
    session.reply(state=state)
    assert session.machine.state is SessionState.OVERRIDDEN
    session.lose()
    session.send()
    assert isinstance(session.outcomes()[0], Dropped)
    assert session.open().resume_token == b"newer"
    session.lose()
    session.send()
    assert isinstance(session.outcomes()[0], Dropped)
    session.open()
    session.reply(state=session_pb2.State(state=1, revision=3))
    session.lose()
    session.send()
    assert isinstance(session.outcomes()[0], PassedThrough)


def test_a_session_resumes_with_the_newest_token_and_repeats_changes_since():
    session = Unconnected("sepiaTone")
    assert session.open().pipeline_text == "sepiaTone"
    first = change(session, "vignette")
    session.written()
    session.reply(
        applied=session_pb2.Applied(
            request_id=1, revision=2, first_sequence=1, resume_token=b"second"
        )
    )
    update(session, x=1)
    session.written()
    update(session, x=2)
    session.machine.request_pause(True)
    session.written()
    assert session.lose() is not None
    assert session.open().resume_token == b"second"
    replayed = session.written()
    assert [each.WhichOneof("kind") for each in replayed] == ["update", "update", "pause"]
    assert first.revision == 2
    events = [type(each) for each in session.machine.notices.events]
    assert (
        events[-2:] == [ConnectionLost, Reconnected] and session.machine.notices.events[-1].resumed
    )


def test_a_session_whose_token_is_refused_opens_with_what_was_selected():
    session = Unconnected("sepiaTone")
    session.open()
    change(session, "vignette")
    update(session, x=1)
    session.written()
    session.reply(applied=session_pb2.Applied(request_id=2, revision=3, first_sequence=1))
    session.lose()
    session.link.start(session.now, True)
    session.written()
    assert session.lose("FAILED_PRECONDITION") == 0
    opening = session.open()
    assert not opening.resume_token and opening.pipeline_text == "vignette"
    (replayed,) = session.written()
    assert replayed.update.stages[0].parameters["x"].number == 1
    assert not session.machine.notices.events[-1].resumed


def test_a_conditional_change_without_answer_is_refused_at_a_loss():
    session = Unconnected()
    session.open()
    record = change(session, Stage("a"), if_revision=1)
    answer = Answer()
    session.machine.await_change(record, False, answer)
    session.written()
    session.lose()
    assert answer.values == [None] and isinstance(record.error, Aborted)
    session.open()
    assert session.written() == []


def test_a_frame_that_may_not_be_dropped_waits_for_the_next_connection():
    session = Unconnected(drop_policy="never_drop", fallback="drop")
    session.open(capacity=1)
    session.send()
    session.written()
    session.send()
    session.lose()
    assert [each.sequence for each in session.outcomes()] == [1]
    session.open(capacity=1)
    assert session.sent_frames() == [2]


def test_a_finished_session_still_sends_a_frame_that_may_not_be_dropped():
    session = Unconnected(drop_policy="never_drop", fallback="drop")
    session.open(capacity=1)
    session.send()
    session.written()
    session.send()
    session.machine.finish()
    assert session.lose() is not None
    assert [each.sequence for each in session.outcomes()] == [1]
    session.open(capacity=1)
    assert session.sent_frames() == [2]
    session.filtered(2)
    assert len(session.outcomes()) == 1 and session.link.is_over
    assert session.lose() is None and session.machine.error is None


def test_a_finished_session_without_frames_to_send_is_over_at_a_loss():
    session = Unconnected()
    session.open()
    session.send()
    session.written()
    session.machine.finish()
    assert session.lose() is None
    assert session.machine.is_over and session.machine.error is None


def test_those_who_stop_waiting_for_a_change_are_forgotten():
    session = Unconnected()
    session.open()
    record = change(session, Stage("a"))
    for _ in range(100):
        answer = Answer()
        session.machine.await_change(record, True, answer)
        session.machine.stop_awaiting(record, answer)
    assert record.waiters == []


def test_an_error_that_is_raised_often_does_not_grow():
    session = Unconnected(reconnect=False)
    session.open()
    session.lose("INTERNAL")
    depths = []
    for _ in range(20):
        with pytest.raises(SidelightError) as raised:
            session.send()
        depths.append(len(raised.traceback))
    assert len(set(depths)) == 1


def test_credits_are_counted_right_after_a_loss_with_untaken_outcomes():
    session = Unconnected(fallback="drop")
    session.open(capacity=2)
    session.send()
    session.written()
    session.send()
    session.written()
    session.filtered(1)
    session.lose()
    session.open(capacity=2)
    session.send()
    assert session.sent_frames() == [3]
    session.send()
    assert session.sent_frames() == []
    assert [each.sequence for each in session.outcomes()] == [1, 2]
    assert session.sent_frames() == [4]


def test_an_outcome_of_a_frame_that_was_not_sent_is_ignored():
    session = Unconnected()
    session.open(capacity=1)
    session.send()
    session.written()
    session.send()
    session.filtered(2)
    session.reply(dropped=session_pb2.Dropped(first_sequence=2, last_sequence=9, reason=1))
    session.send()
    session.filtered(1)
    assert [each.sequence for each in session.outcomes()] == [1, 2]
    assert session.sent_frames() == [3]


def test_the_first_connection_is_attempted_once():
    session = Unconnected()
    session.link.start(session.now, True)
    over = Answer()
    session.machine.wait(OVER, over)
    assert session.lose() is None
    assert over.values == [None] and session.machine.error.code == "UNAVAILABLE"


def test_the_end_answers_everyone():
    session = Unconnected(reconnect=False)
    session.open(capacity=1)
    answer, applied = Answer(), Answer()
    session.send(waiter=answer)
    record = change(session, Stage("a"))
    session.machine.await_change(record, True, applied)
    session.written()
    assert session.lose("INTERNAL") is None
    assert answer.value.error.code == "INTERNAL" if isinstance(answer.value, Dropped) else True
    assert applied.values == [None] and record.error.code == "INTERNAL"
    with pytest.raises(SidelightError, match="lost"):
        session.send()


def test_effects_that_were_taken_do_not_change():
    session = Unconnected()
    session.open()
    for _ in range(2):
        taken = session.machine.take_effects()
        answer = Answer()
        session.machine.wait(OPENED, answer)
        assert not taken
        taken = session.machine.take_effects()
        assert taken == [(answer, None)]


# Time, events


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
