"""A client's error ends its frame or request, and the session continues; only an invalid order of
messages ends the call."""

import grpc
import numpy as np
import pytest
from grpc_status import rpc_status

from sidelight_testing import images
from sidelight_testing.contract import error_details, frame_filter
from sidelight_testing.contract import image as image_messages
from sidelight_testing.contract import pipeline as pipeline_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.session import Session, pipeline

NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
INVALID_ARGUMENT = grpc.StatusCode.INVALID_ARGUMENT
SOUND = images.noise("I420", 16, 16)


def changed(image, **fields: object):
    """A copy of an image with other fields."""
    copy = image_messages.Image()
    copy.CopyFrom(image)
    for name, value in fields.items():
        setattr(copy, name, value)
    return copy


def with_planes(image, *planes: tuple[int, int]):
    """A copy of an image that says that its planes lie elsewhere."""
    copy = changed(image)
    copy.planes.extend(image_messages.Plane(offset=each[0], stride=each[1]) for each in planes)
    return copy


def violation(status) -> error_details.BadRequest.FieldViolation:
    """The field violation in a status's details."""
    assert status.code == INVALID_ARGUMENT.value[0], status
    request = error_details.BadRequest()
    assert any(detail.Unpack(request) for detail in status.details), status
    return request.field_violations[0]


# The error in a frame, and the field that the diagnostic must name.
INVALID_FRAMES = {
    "no format": (changed(SOUND, format=0), "frame.image.format"),
    "an unknown format": (changed(SOUND, format=99), "frame.image.format"),
    "no width": (changed(SOUND, width=0), "frame.image.width"),
    "no height": (changed(SOUND, height=0), "frame.image.height"),
    "a width beyond the limit": (changed(SOUND, width=1 << 20), "frame.image.width"),
    "sizes whose product overflows": (
        changed(SOUND, width=2**32 - 1, height=2**32 - 1),
        "frame.image.width",
    ),
    "too few bytes": (changed(SOUND, inline=SOUND.inline[:-1]), "frame.image.inline"),
    "too many bytes": (changed(SOUND, inline=SOUND.inline + b"\0"), "frame.image.inline"),
    "no bytes": (changed(SOUND, inline=b""), "frame.image.inline"),
    "no pixels": (image_messages.Image(format=5, width=16, height=16), "frame.image.pixels"),
    "a stride under the width": (
        with_planes(SOUND, (0, 15), (256, 8), (320, 8)),
        "frame.image.planes",
    ),
    "a plane past the end": (with_planes(SOUND, (0, 16), (256, 8), (321, 8)), "frame.image.planes"),
    "an offset at the end of the world": (
        with_planes(SOUND, (0, 16), (256, 8), (2**32 - 1, 8)),
        "frame.image.planes",
    ),
    "a stride at the end of the world": (
        with_planes(SOUND, (0, 2**32 - 1), (256, 8), (320, 8)),
        "frame.image.planes",
    ),
    "too few planes": (with_planes(SOUND, (0, 16)), "frame.image.planes"),
    "too many planes": (with_planes(SOUND, *[(0, 16)] * 4), "frame.image.planes"),
    "shared memory without a ring": (
        image_messages.Image(
            format=5, width=16, height=16, shared_memory=image_messages.SharedMemorySlot()
        ),
        "frame.image.pixels",
    ),
}


@pytest.mark.parametrize("fault", INVALID_FRAMES)
def test_an_invalid_frame_ends_that_frame_and_not_the_session(stub, fault):
    image, field = INVALID_FRAMES[fault]
    with Session(stub, pipeline=pipeline("colorInvert"), drop_policy=NEVER_DROP) as session:
        session.send_frame(SOUND)
        session.send_frame(image)
        session.send_frame(SOUND)
        transcript = session.finish()
    assert transcript.outcomes(session.sent) == [(1, "frame"), (2, "dropped"), (3, "frame")]
    (drop,) = transcript.dropped
    assert drop.reason == messages.DROP_REASON_INVALID_FRAME
    assert drop.stage == messages.DROP_STAGE_ARRIVAL
    found = violation(drop.diagnostic)
    assert found.field.startswith(field), found
    assert found.description
    (count,) = transcript.stats[-1].dropped
    assert (count.reason, count.count) == (messages.DROP_REASON_INVALID_FRAME, 1)


def test_a_frame_over_a_limit_is_dropped_with_the_limit(stub, info):
    limit = info.limits.max_dimension
    with Session(stub, drop_policy=NEVER_DROP) as session:
        assert session.opened.limits == info.limits
        session.send_frame(changed(SOUND, width=limit + 1))
        (drop,) = session.finish().dropped
    assert str(limit) in violation(drop.diagnostic).description


@pytest.mark.parametrize("repeated", [5, 4])
def test_a_sequence_number_that_does_not_increase_is_refused(stub, repeated):
    with Session(stub, drop_policy=NEVER_DROP) as session:
        for sequence in (5, repeated, 6):
            session.send_frame(SOUND, sequence=sequence)
        transcript = session.finish()
    assert [frame.sequence for frame in transcript.frames] == [5, 6]
    (drop,) = transcript.dropped
    assert (drop.first_sequence, drop.count) == (repeated, 1)
    assert violation(drop.diagnostic).field == "frame.sequence"


def deep(levels: int):
    """A filter inside so many nested pipelines."""
    result = pipeline("grayscale")
    for _ in range(levels):
        result = pipeline_messages.Pipeline(stages=[pipeline_messages.Stage(pipeline=result)])
    return result


def parameter(name: str, key: str, **kind: object):
    """A filter with one parameter of any kind."""
    value = pipeline_messages.ParameterValue(**kind)
    return pipeline_messages.Pipeline(
        stages=[
            pipeline_messages.Stage(
                filter=pipeline_messages.Filter(name=name, parameters={key: value})
            )
        ]
    )


# The error in a selection, and what the path of the fault must start with and hold.
FIRST = "select.pipeline.stages[0]"
INVALID_SELECTIONS = {
    "an unknown filter": (pipeline("sepiaTome"), FIRST, "sepiaTone"),
    "no filter name": (pipeline(""), FIRST, ""),
    "an empty stage": (
        pipeline_messages.Pipeline(stages=[pipeline_messages.Stage()]),
        FIRST,
        "",
    ),
    "an unknown parameter": (pipeline(("sepiaTone", {"intesity": 1})), FIRST, "intensity"),
    "a value that is no number": (
        parameter("sepiaTone", "intensity", number=float("nan")),
        FIRST,
        "",
    ),
    "an infinite value": (parameter("sepiaTone", "intensity", number=float("inf")), FIRST, ""),
    "an enormous value": (parameter("sepiaTone", "intensity", number=1e308), FIRST, ""),
    "a value of another type": (parameter("sepiaTone", "intensity", text="much"), FIRST, ""),
    "a value of no type": (parameter("sepiaTone", "intensity"), FIRST, ""),
    "a radius of a thousand million": (pipeline(("gaussianBlur", {"radius": 1e9})), FIRST, ""),
    "a fault in the second stage": (
        pipeline("grayscale", "nothing"),
        "select.pipeline.stages[1]",
        "",
    ),
    "too many stages": (pipeline(*["grayscale"] * 65), "select.pipeline", "64"),
    "a thousand stages": (pipeline(*["grayscale"] * 1000), "select.pipeline", "64"),
    "pipelines too deep": (deep(9), "select.pipeline", ""),
}


@pytest.mark.parametrize("fault", INVALID_SELECTIONS)
def test_an_invalid_selection_is_refused_and_the_old_one_stays(stub, fault):
    wanted, path, hint = INVALID_SELECTIONS[fault]
    with Session(stub, pipeline=pipeline("colorInvert"), drop_policy=NEVER_DROP) as session:
        session.select(wanted, request_id=77)
        session.send_frame(SOUND)
        transcript = session.finish()
    (error,) = transcript.errors
    assert error.request_id == 77
    found = violation(error.status)
    assert found.field.startswith(path), found
    assert hint in found.description
    (frame,) = transcript.frames
    assert frame.revision == 1
    inverted = 251 - images.samples(SOUND)[0].clip(16, 235).astype(np.int16)
    actual = images.samples(frame.image)[0].clip(16, 235).astype(np.int16)
    assert np.abs(actual - inverted).max() <= 1


@pytest.mark.parametrize("fault", INVALID_SELECTIONS)
def test_a_session_does_not_open_on_an_invalid_pipeline(stub, fault):
    wanted, path, hint = INVALID_SELECTIONS[fault]
    with Session(stub, opens=False) as session:
        session.send(open=messages.Open(pipeline=wanted))
        error = session.fail()
    assert error.code() == INVALID_ARGUMENT
    found = violation(rpc_status.from_call(error))
    assert found.field.startswith(path.replace("select.", "open.")), found
    assert hint in found.description


def test_a_selection_can_be_made_conditional_on_the_revision_in_force(stub):
    with Session(stub, drop_policy=NEVER_DROP) as session:
        session.select(pipeline("colorInvert"), request_id=1, if_revision=1)
        session.select(pipeline("grayscale"), request_id=2, if_revision=1)
        session.send_frame(SOUND)
        transcript = session.finish()
    (error,) = transcript.errors
    assert (error.request_id, error.status.code) == (2, grpc.StatusCode.ABORTED.value[0])
    assert [applied.request_id for applied in transcript.applied] == [1]


BROKEN_ORDERS = {
    "a frame before open": [{"frame": messages.Frame(sequence=1, image=SOUND)}],
    "a selection before open": [{"select": messages.Select()}],
    "a ping before open": [{"ping": messages.Ping(id=1)}],
    "a second open": [{"open": messages.Open()}, {"open": messages.Open()}],
}


@pytest.mark.parametrize("order", BROKEN_ORDERS)
def test_a_broken_order_of_messages_ends_the_call(stub, order):
    with Session(stub, opens=False) as session:
        for message in BROKEN_ORDERS[order]:
            session.send(**message)
        error = session.fail()
    assert error.code() == grpc.StatusCode.FAILED_PRECONDITION
    assert "open" in error.details()


def test_an_empty_message_ends_the_call(stub):
    with Session(stub) as session:
        session.send()
        assert session.fail().code() == INVALID_ARGUMENT


def test_an_unknown_message_type_is_ignored_and_counted(stub):
    unknown = messages.ClientMessage.FromString(b"\xfa\x07\x03abc")  # field 127, three bytes
    with Session(stub, drop_policy=NEVER_DROP) as session:
        session._queue.put(unknown)
        session.send_frame(SOUND)
        transcript = session.finish()
    assert len(transcript.frames) == 1
    assert transcript.stats[-1].ignored_messages == 1


def test_too_many_consecutive_errors_end_the_session(stub, info):
    limit = info.limits.max_consecutive_errors
    with Session(stub, drop_policy=NEVER_DROP) as session:
        for _ in range(limit + 1):
            session.send_frame(changed(SOUND, width=0))
        error = session.fail()
    assert error.code() == INVALID_ARGUMENT
    assert str(limit) in error.details()


def test_a_valid_frame_resets_the_error_count(stub, info):
    limit = info.limits.max_consecutive_errors
    with Session(stub, drop_policy=NEVER_DROP) as session:
        for _ in range(2):
            for _ in range(limit):
                session.send_frame(changed(SOUND, width=0))
            session.send_frame(SOUND)
        transcript = session.finish()
    assert len(transcript.frames) == 2
    assert sum(drop.count for drop in transcript.dropped) == 2 * limit


def test_a_message_over_the_limit_is_refused_with_the_limit(stub, info):
    limit = info.limits.max_message_bytes
    image = changed(SOUND, inline=bytes(limit))
    with Session(stub) as session:
        session.send_frame(image)
        error = session.fail()
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(limit) in error.details()


def test_an_image_over_the_limit_is_refused_with_the_limit(stub, info):
    limit = info.limits.max_message_bytes
    request = frame_filter.ApplyRequest(image=changed(SOUND, inline=bytes(limit)))
    with pytest.raises(grpc.RpcError) as caught:
        stub.Apply(request, timeout=60)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert str(limit) in caught.value.details()


def test_tags_beyond_their_limit_are_refused(stub):
    with Session(stub, drop_policy=NEVER_DROP) as session:
        session.send_frame(SOUND, tags={f"tag {number}": "" for number in range(17)})
        session.send_frame(SOUND, tags={"long": "x" * 1024})
        session.send_frame(SOUND, tags={"": "x" * 1024})
        transcript = session.finish()
    assert [frame.sequence for frame in transcript.frames] == [3]
    assert {violation(drop.diagnostic).field for drop in transcript.dropped} == {"frame.tags"}


@pytest.mark.parametrize(
    "traceparent", ["", "00", "garbage", "00-" + "0" * 32 + "-" + "0" * 16, "\u2603" * 999]
)
def test_an_invalid_trace_context_is_ignored(stub, traceparent):
    with Session(stub, drop_policy=NEVER_DROP) as session:
        session.send_frame(SOUND, trace=messages.TraceContext(traceparent=traceparent))
        assert len(session.finish().frames) == 1
