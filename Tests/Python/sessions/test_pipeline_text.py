"""Pipelines as text in every request that takes one, and the errors under their characters."""

import grpc
import pytest
from google.protobuf import duration_pb2
from grpc_status import rpc_status

from sidelight_testing import images
from sidelight_testing.answers import MAX_ANSWER_BYTES, answer_bytes, error_info, violation
from sidelight_testing.contract import frame_filter, sessions, sessions_service
from sidelight_testing.contract import session as messages
from sidelight_testing.session import Session, pipeline, value

NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
PICTURE = images.noise("RGB24", 24, 16)
SECONDS = 60
TEXT = "warm: sepiaTone(intensity: 0.5), [colorInvert @mix(0.75)]"


@pytest.fixture
def operators(server):
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        yield sessions_service.SessionsStub(channel)


@pytest.fixture
def expected(stub):
    """The picture under the pipeline of the text, sent as a message."""
    checked = stub.CheckPipeline(frame_filter.CheckPipelineRequest(text=TEXT), timeout=SECONDS)
    request = frame_filter.ApplyRequest(image=PICTURE, pipeline=checked.pipeline)
    image = stub.Apply(request, timeout=SECONDS).image.inline
    assert image != PICTURE.inline
    return image


def override(operators, session: Session, text: str) -> None:
    """Forces a pipeline on a session."""
    operators.OverrideSession(
        sessions.OverrideSessionRequest(
            session_id=session.opened.session_id, pipeline_text=text,
            time_to_live=duration_pb2.Duration(seconds=60),
        ),
        timeout=SECONDS,
    )


# Where a text can be sent: a function that returns the status of its refusal, and the field.


def refused_open(stub, operators, text):
    with Session(stub, seconds=SECONDS, opens=False) as session:
        session.send(open=messages.Open(pipeline_text=text))
        return rpc_status.from_call(session.fail())


def refused_selection(stub, operators, text):
    with Session(stub, seconds=SECONDS) as session:
        session.select_text(text, request_id=7)
        error = session.receive_until("error")
        assert error.request_id == 7
        session.finish()
        assert not session.transcript.accepted
        return error.status


def refused_still(stub, operators, text):
    with pytest.raises(grpc.RpcError) as caught:
        request = frame_filter.ApplyRequest(image=PICTURE, pipeline_text=text)
        stub.Apply(request, timeout=SECONDS)
    assert answer_bytes(caught.value) < MAX_ANSWER_BYTES
    return rpc_status.from_call(caught.value)


def refused_override(stub, operators, text):
    with Session(stub, seconds=SECONDS) as session:
        with pytest.raises(grpc.RpcError) as caught:
            override(operators, session, text)
        assert not session.finish().states
        return rpc_status.from_call(caught.value)


def refused_check(stub, operators, text):
    with pytest.raises(grpc.RpcError) as caught:
        stub.CheckPipeline(frame_filter.CheckPipelineRequest(text=text), timeout=SECONDS)
    return rpc_status.from_call(caught.value)


PLACES = {
    "open": (refused_open, "open.pipeline_text"),
    "select": (refused_selection, "select.pipeline_text"),
    "Apply": (refused_still, "pipeline_text"),
    "OverrideSession": (refused_override, "pipeline_text"),
    "CheckPipeline": (refused_check, "text"),
}


def test_a_text_filters_as_its_message_does(stub, expected):
    with Session(stub, pipeline_text=TEXT, drop_policy=NEVER_DROP) as session:
        session.send_frame(PICTURE)
        (frame,) = session.finish().frames
    assert frame.image.inline == expected
    with Session(stub, drop_policy=NEVER_DROP) as session:
        session.send_frame(PICTURE)
        session.select_text(TEXT, request_id=3)
        session.send_frame(PICTURE)
        transcript = session.finish()
    assert [frame.image.inline for frame in transcript.frames] == [PICTURE.inline, expected]
    assert [(each.request_id, each.revision) for each in transcript.accepted] == [(3, 2)]
    assert [each.request_id for each in transcript.applied] == [0, 3]
    request = frame_filter.ApplyRequest(image=PICTURE, pipeline_text=TEXT)
    assert stub.Apply(request, timeout=SECONDS).image.inline == expected


def test_an_operator_forces_a_text(stub, operators, expected):
    fields = {"pipeline": pipeline("grayscale"), "drop_policy": NEVER_DROP}
    with Session(stub, **fields) as session:
        override(operators, session, TEXT)
        assert session.receive_until("state").state == messages.SESSION_STATE_OVERRIDDEN
        # The participant's own change is accepted, and does not show.
        session.select_text("colorInvert", request_id=5)
        assert session.receive_until("accepted").request_id == 5
        session.send_frame(PICTURE)
        (frame,) = session.finish().frames
    assert frame.image.inline == expected


def test_a_session_is_resumed_with_the_text_that_it_selected(stub, expected):
    with Session(stub, drop_policy=NEVER_DROP) as session:
        session.select_text(TEXT)
        session.send_frame(PICTURE)
        token = session.receive_until("applied").resume_token
        session.finish()
    with Session(stub, resume_token=token, drop_policy=NEVER_DROP) as session:
        session.send_frame(PICTURE)
        session.send(activate=messages.Activate(stages={"warm": False}))
        session.send_frame(PICTURE)
        frames = session.finish().frames
    assert frames[0].image.inline == expected
    assert frames[1].image.inline not in (expected, PICTURE.inline)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "before, rest, suggestion",
    [
        ("sepiaTone, ", "gausianBlur", "gaussianBlur"),
        ("sepiaTone(", "intensty: 1)", "intensity"),
        ("vignette,\n\tsepiaTone(intensity: ", "99)", ""),
        ("sepiaTone ", "; vignette", ""),
        ('"né→": ', "sepiaTon", "sepiaTone"),
        ('"né→": sepiaTone,\n "µ": [', "bluum]", "bloom"),
    ],
)
def test_an_error_is_under_its_character(stub, operators, place, before, rest, suggestion):
    refuse, field = PLACES[place]
    status = refuse(stub, operators, before + rest)
    named = violation(status)
    assert named.field == field and named.description
    assert status.message.startswith(f"{field}: ")
    info = error_info(status)
    assert info.domain == "sidelight.v1" and info.reason
    lines = before.split("\n")
    assert info.metadata["field"] == field
    assert int(info.metadata["line"]) == len(lines)
    assert int(info.metadata["column"]) == len(lines[-1]) + 1
    assert int(info.metadata["utf8_offset"]) == len(before.encode())
    assert info.metadata.get("suggestion", "") == suggestion


@pytest.mark.parametrize("place", PLACES)
def test_a_text_has_limits(stub, operators, info, place):
    refuse, field = PLACES[place]
    limit = info.limits.max_pipeline_text_bytes
    for text, stated, exceeded in [
        ("vignette" + " " * limit, limit + 8, limit),
        (", ".join(["vignette"] * (info.limits.max_stages + 1)), None, info.limits.max_stages),
        ("[" * 20 + "vignette" + "]" * 20, None, info.limits.max_pipeline_depth),
    ]:
        status = refuse(stub, operators, text)
        assert violation(status).field == field
        metadata = error_info(status).metadata
        assert metadata["limit"] == str(exceeded)
        assert stated is None or metadata["value"] == str(stated)
    with Session(stub, pipeline_text="vignette" + " " * (limit - 8)) as session:
        session.finish()


@pytest.mark.parametrize(
    "change, field, reason, expected_parts",
    [
        (
            {"select": {"pipeline": pipeline("sepiaTon")}},
            "select.pipeline.stages[0].filter.name", "UNKNOWN_FILTER",
            {"value": "sepiaTon", "suggestion": "sepiaTone"},
        ),
        (
            {"select": {"pipeline": pipeline(("sepiaTone", {"intensity": 9}))}},
            'select.pipeline.stages[0].filter.parameters["intensity"]', "OUT_OF_LIMITS",
            {"value": "9.0", "limit": "-8.0 ... 8.0"},
        ),
        (
            {"select": {"pipeline": pipeline(*["vignette"] * 65)}},
            "select.pipeline.stages", "OUT_OF_RANGE", {"value": "65", "limit": "64"},
        ),
        (
            {"activate": {"stages": {"worm": True}}},
            'activate.stages["worm"]', "UNKNOWN_STAGE", {"value": "worm", "suggestion": "warm"},
        ),
        (
            {"ack": {"held_slots": list(range(300))}},
            "ack.held_slots", "OUT_OF_RANGE", {"value": "300"},
        ),
    ],
)
def test_errors_of_messages_have_parts_for_programs(stub, change, field, reason, expected_parts):
    with Session(stub, pipeline_text="warm: sepiaTone") as session:
        session.send(**change)
        status = session.receive_until("error").status
    assert violation(status).field == field
    info = error_info(status)
    assert info.reason == reason and info.metadata["field"] == field
    assert expected_parts.items() <= dict(info.metadata).items()
    assert "line" not in info.metadata


def test_a_condition_that_fails_states_the_revision_in_force(stub):
    with Session(stub) as session:
        session.select_text("vignette", if_revision=9)
        status = session.receive_until("error").status
    assert status.code == grpc.StatusCode.ABORTED.value[0]
    metadata = error_info(status).metadata
    assert metadata["value"] == "9" and metadata["limit"] == "1"


@pytest.mark.parametrize("is_paused", [False, True])
def test_changes_are_answered_at_once_in_order_without_frames(stub, is_paused):
    with Session(stub, pipeline_text="warm: sepiaTone") as session:
        if is_paused:
            session.send(pause=messages.Pause())
            session.receive_until("state")
        for number, kind, change in [
            (1, "accepted", {"select": messages.Select(pipeline_text="warm: sepiaTone, bloom")}),
            (2, "error", {"select": messages.Select(pipeline_text="sepiaTone(")}),
            (3, "accepted", {"update": messages.Update(stages=[{"stage": "warm"}])}),
            (4, "error", {"activate": messages.Activate(stages={"cold": True})}),
            (5, "accepted", {"activate": messages.Activate(stages={"warm": False})}),
        ]:
            (message,) = change.values()
            message.request_id = number
            session.send(**change)
            answer = session.receive()
            assert answer.WhichOneof("kind") == kind
            assert getattr(answer, kind).request_id == number
        transcript = session.finish()
    assert [each.revision for each in transcript.accepted] == [2, 3, 4]
    assert not transcript.applied


def test_a_slider_is_accepted_before_it_is_applied(stub):
    with Session(stub, pipeline_text="warm: sepiaTone", drop_policy=NEVER_DROP) as session:
        for number in range(1, 101):
            stage = {"stage": "warm", "parameters": {"intensity": value(number / 100)}}
            session.send(update=messages.Update(stages=[stage], request_id=number))
            session.send_frame(PICTURE)
        transcript = session.finish()
    assert len(transcript.frames) == 100 and not transcript.errors
    seen = {1: 0}
    for message in transcript.all:
        match message.WhichOneof("kind"):
            case "accepted":
                seen[message.accepted.revision] = message.accepted.request_id
            case "applied":
                assert seen[message.applied.revision] == message.applied.request_id
    assert sorted(seen) == list(range(1, 102))


def test_the_features_name_texts_and_acceptances(info):
    assert {"process.accepted", "process.pipeline_text"} <= set(info.features)
