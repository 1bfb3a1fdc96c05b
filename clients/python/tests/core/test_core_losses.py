"""Lost connections of a session without a server."""

import pytest
from support.steps import change, total, update
from support.unconnected import Answer, Unconnected

from sidelight import Dropped, DropReason, DropStage, Image, PassedThrough, Stage
from sidelight._core.delivery import FALLBACK_LIMIT
from sidelight._core.machine import OPENED, OVER
from sidelight.errors import Aborted, SidelightError
from sidelight.events import ConnectionLost, Reconnected, SessionState
from sidelight.v1 import session_pb2


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
