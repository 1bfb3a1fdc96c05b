"""Sessions that must not show a picture that the server did not decide on. Without a server."""

import pytest
from support.steps import change, slot_frame
from support.unconnected import Answer, FakeRing, Unconnected

from sidelight import Degraded, DropReason, Image, PassedThrough
from sidelight.errors import FailedPrecondition, SidelightError, make_error
from sidelight.v1 import session_pb2


def refused(session, code, reason):
    """Refuses an attempt to open a session; returns the seconds until the next one."""
    session.link.start(session.now, True)
    session.written()
    error = make_error(code, "refused", details={"reason": reason})
    delay = session.link.end(error, session.now, 0.0)
    session.perform()
    return delay


def test_a_session_is_opened_again_until_its_asset_is_there():
    session = Unconnected('colorCube(asset: "look.cube")', reconnect=60)
    session.open()
    session.lose()
    for _ in range(3):
        assert refused(session, "INVALID_ARGUMENT", "UNKNOWN_ASSET") is not None
    assert session.open().resume_token == b"token"
    assert not session.machine.is_over


def test_a_session_whose_first_pipeline_names_no_asset_is_refused():
    session = Unconnected('colorCube(asset: "look.cube")')
    assert refused(session, "INVALID_ARGUMENT", "UNKNOWN_ASSET") is None
    assert session.machine.error.code == "INVALID_ARGUMENT"


def test_the_pipeline_of_an_earlier_session_counts_as_protecting():
    session = Unconnected(resume_token=b"earlier")
    session.open()
    assert session.machine.protects
    session.lose()
    session.send()
    assert session.outcomes()[0].reason is DropReason.DISCONNECTED
    session.open()
    record = change(session, "vignette")
    session.reply(
        applied=session_pb2.Applied(request_id=record.request_id, revision=2, first_sequence=1)
    )
    session.lose()
    session.send()
    assert isinstance(session.outcomes()[0], PassedThrough) and not session.machine.protects


def test_an_earlier_session_is_not_continued_without_its_pipeline():
    session = Unconnected(resume_token=b"earlier")
    session.open()
    session.lose()
    assert refused(session, "FAILED_PRECONDITION", "") is None
    assert isinstance(session.machine.error, FailedPrecondition)


def test_an_earlier_session_continues_with_the_pipeline_that_was_given():
    session = Unconnected("sepiaTone", resume_token=b"earlier")
    session.open()
    session.lose()
    assert refused(session, "FAILED_PRECONDITION", "") == 0
    opening = session.open()
    assert not opening.resume_token and opening.pipeline_text == "sepiaTone"


@pytest.mark.parametrize("fallback", ["pass_through", "blur"])
def test_a_paused_session_drops_frames_without_connection(fallback):
    session = Unconnected("sepiaTone", fallback=fallback)
    session.open()
    session.machine.request_pause(False)
    session.lose()
    session.send()
    assert session.outcomes()[0].reason is DropReason.DISCONNECTED
    session.machine.request_pause(True)
    session.send()
    assert isinstance(session.outcomes()[0], (PassedThrough, Degraded))


def test_pauses_behind_a_frame_are_one_message():
    session = Unconnected()
    session.open(capacity=1)
    session.send()
    session.written()
    session.send()
    for _ in range(200):
        session.machine.request_pause(False)
        session.machine.request_pause(None)
    session.filtered(1)
    session.outcomes()
    assert [each.WhichOneof("kind") for each in session.written()] == ["frame", "resume"]


def test_a_pause_is_refused_where_too_many_changes_wait():
    session = Unconnected()
    session.open(capacity=1)
    session.send()
    session.written()
    session.send()
    for _ in range(64):
        change(session, "vignette")
    with pytest.raises(SidelightError, match="64 changes wait"):
        session.machine.request_pause(False)


def test_a_released_picture_is_dropped_where_it_cannot_be_blurred():
    session = Unconnected(fallback="blur")
    session.open(capacity=2)
    image = Image("gray", 2, 2, b"abcd")
    session.send(image)
    session.written()
    session.send()
    image.release()
    session.lose()
    dropped, blurred = session.outcomes()
    assert dropped.reason is DropReason.DISCONNECTED and isinstance(blurred, Degraded)


@pytest.mark.parametrize("disposition", [1, 3])
@pytest.mark.parametrize("slot", [None, 0, 99])
def test_a_result_without_pixels_never_becomes_the_input(disposition, slot):
    session, answer = Unconnected("faceBlur"), Answer()
    session.open(ring=FakeRing())
    session.send(waiter=answer)
    session.written()
    frame = slot_frame(1, slot or 0, disposition)
    if slot is None:
        frame.image.ClearField("shared_memory")
    with pytest.raises(SidelightError):
        session.reply(frame=frame)
    session.lose("INTERNAL")
    assert answer.value.reason is DropReason.DISCONNECTED


@pytest.mark.parametrize("name, value", [("rtp_timestamp", 1 << 32), ("tags", {"n": 1})])
def test_a_frame_with_an_invalid_attribute_is_dropped(name, value):
    session = Unconnected()
    session.open(capacity=1)
    pending = session.send()
    setattr(pending.frame, name, value)
    assert session.written() == []
    (outcome,) = session.outcomes()
    assert outcome.reason is DropReason.INVALID_FRAME and outcome.error.field == "frame"
    session.send()
    assert session.sent_frames() == [2]
