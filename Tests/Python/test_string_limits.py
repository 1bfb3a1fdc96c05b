"""Strings of any length in every field that takes one. The server refuses those that are too long
by a short answer that names field and limit, and neither keeps nor repeats them."""

import time

import grpc
import pytest
from google.protobuf import duration_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from sidelight_testing import images
from sidelight_testing.contract import assets as asset_messages
from sidelight_testing.contract import (
    assets_service,
    error_details,
    frame_filter,
    service,
    sessions,
    sessions_service,
)
from sidelight_testing.contract import pipeline as pipeline_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.floods import legal_stages
from sidelight_testing.process import resident_bytes
from sidelight_testing.server import Server
from sidelight_testing.session import Session, pipeline

MIB = 1 << 20
MOST_STAGE_ID_BYTES = 64
# The limit of an answer to a session that needs nothing repeated that it said.
MOST_ANSWER_BYTES = 8 << 10
MOST_GROWTH_BYTES = 128 << 20
NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
PICTURE = images.noise("RGB24", 16, 16)
SECONDS = 30
# A little less than the largest message of a method that takes no pixels.
LONG = "x" * (MIB - 1024)


@pytest.fixture(scope="module")
def server():
    """A server of this file's own: on it long strings must leave nothing behind."""
    with Server() as running:
        yield running
        assert running.process.poll() is None, f"the server ended:\n{running.log}"


@pytest.fixture
def channel(server):
    """A connection whose client takes answers of any length: they are for the test to judge."""
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(server.addresses["tcp"], options) as channel:
        yield channel


@pytest.fixture
def stub(channel):
    return service.FrameFilterStub(channel)


@pytest.fixture
def operators(server):
    """An operator with the default settings of gRPC's own library: 4 MiB for each answer."""
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        yield sessions_service.SessionsStub(channel)


def named(identifier: str):
    """A pipeline of one stage with an id."""
    look = pipeline("colorInvert")
    look.stages[0].id = identifier
    return look


def violation(status) -> error_details.BadRequest.FieldViolation:
    """The field violation of an INVALID_ARGUMENT status."""
    assert status.code == grpc.StatusCode.INVALID_ARGUMENT.value[0], status.message[:1000]
    request = error_details.BadRequest()
    assert any(detail.Unpack(request) for detail in status.details), status.message[:1000]
    return request.field_violations[0]


def answer_bytes(error: grpc.RpcError) -> int:
    """The bytes of a status: sentence and details."""
    details = (len(key) + len(value) for key, value in error.trailing_metadata() or ())
    return len((error.details() or "").encode()) + sum(details)


def received_bytes(session: Session) -> int:
    """The bytes of all messages after `opened`."""
    return sum(each.ByteSize() for each in session.transcript.all)


# Stage ids.


@pytest.mark.parametrize("length", [65, 70, 1_000_000])
def test_a_stage_id_that_is_too_long_does_not_open_a_session(stub, length):
    with Session(stub, seconds=SECONDS, opens=False) as session:
        session.send(open=messages.Open(pipeline=named("x" * length)))
        try:
            answered = session.receive()
            raise AssertionError(f"the session opened with {answered.ByteSize()} bytes")
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error.details()[:1000]
            found = violation(rpc_status.from_call(error))
            assert answer_bytes(error) < MOST_ANSWER_BYTES
    assert found.field == "open.pipeline.stages[0].id"
    assert str(MOST_STAGE_ID_BYTES) in found.description


@pytest.mark.parametrize("length", [65, 70, 1_000_000])
def test_a_stage_id_that_is_too_long_is_refused_and_costs_nothing_later(
    server, stub, operators, length
):
    with Session(stub, seconds=SECONDS, drop_policy=NEVER_DROP) as session:
        before = resident_bytes(server.process)
        for _ in range(5):
            session.select(named("x" * length), request_id=9)
            for _ in range(5):
                session.send(pause=messages.Pause())
                session.send(resume=messages.Resume())
        session.send(ping=messages.Ping(id=1))
        session.receive_until("pong")
        errors, growth = session.transcript.errors, resident_bytes(server.process) - before
        # The request that any operator's tool sends, while the session is there.
        listed = operators.ListSessions(sessions.ListSessionsRequest(), timeout=SECONDS).sessions
        assert session.opened.session_id in {each.session_id for each in listed}
        assert received_bytes(session) < MOST_ANSWER_BYTES * 2, "what was refused is repeated"
        assert len(errors) == 5, f"{length} bytes were accepted"
        assert growth < MOST_GROWTH_BYTES
    found = violation(errors[0].status)
    assert found.field == "select.pipeline.stages[0].id"
    assert str(MOST_STAGE_ID_BYTES) in found.description
    assert errors[0].request_id == 9


@pytest.mark.parametrize("length", [5 * MIB, 8 * MIB])
def test_a_message_with_more_than_a_mebibyte_beside_its_pixels_ends_the_call(stub, length):
    with Session(stub, seconds=SECONDS) as session:
        session.select(named("x" * length))
        with pytest.raises(grpc.RpcError) as caught:
            session.receive_until("error")
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "max_control_message_bytes" in caught.value.details()
    assert answer_bytes(caught.value) < MOST_ANSWER_BYTES


def test_a_stage_id_is_limited_wherever_a_pipeline_is_taken(stub, operators):
    nested = pipeline_messages.Pipeline()
    nested.stages.add(pipeline=named("x" * 65))
    with Session(stub, seconds=SECONDS) as session:
        session.select(nested)
        found = violation(session.receive_until("error").status)
        assert found.field == "select.pipeline.stages[0].pipeline.stages[0].id"
        requests = [
            lambda: stub.Apply(
                frame_filter.ApplyRequest(image=PICTURE, pipeline=named("x" * 65)), timeout=SECONDS
            ),
            lambda: stub.CheckPipeline(
                frame_filter.CheckPipelineRequest(pipeline=named("x" * 65)), timeout=SECONDS
            ),
            lambda: operators.OverrideSession(
                sessions.OverrideSessionRequest(
                    session_id=session.opened.session_id, pipeline=named("x" * 65),
                    time_to_live=duration_pb2.Duration(seconds=60),
                ),
                timeout=SECONDS,
            ),
        ]
        for request in requests:
            with pytest.raises(grpc.RpcError) as caught:
                request()
            found = violation(rpc_status.from_call(caught.value))
            assert found.field == "pipeline.stages[0].id"
            assert str(MOST_STAGE_ID_BYTES) in found.description


def test_a_stage_id_of_the_greatest_length_is_accepted(stub):
    # Bytes count, and not characters.
    for identifier in ("x" * 64, "é" * 32):
        with Session(stub, seconds=SECONDS, pipeline=named(identifier)) as session:
            session.send(activate=messages.Activate(stages={identifier: False}))
            session.send_frame(PICTURE)
            session.finish()
            assert not session.transcript.errors
    with Session(stub, seconds=SECONDS) as session:
        session.select(named("é" * 33))
        session.receive_until("error")


# Tokens.


def looks() -> dict[str, object]:
    """Pipelines that a server accepts or refuses; with each that it accepts a session resumes."""
    result = {
        "64 stages of long legal content": legal_stages(),
        "64 stages in the longest nesting": pipeline(),
        "ids of 10,000 bytes": legal_stages(),
        "an id of 1,000,000 bytes": named("x" * 1_000_000),
        "an id of 70 bytes": named("x" * 70),
    }
    for stage in legal_stages().stages:
        stage.region.width.value = stage.region.height.value = 1 / 3
        stage.region.width.unit = stage.region.height.unit = pipeline_messages.LENGTH_UNIT_WIDTH
        stage.mix = 1 / 3
        stage.failure_policy = pipeline_messages.FAILURE_POLICY_BLUR
        stage.active = False
        result["64 stages in the longest nesting"].stages.append(stage)
    for stage in result["ids of 10,000 bytes"].stages:
        stage.id = stage.id.ljust(10_000, "y")
    return result


def in_force(channel, opened: messages.Opened) -> str:
    """The pipeline of a session, as operators see it."""
    request = sessions.ListSessionsRequest()
    listed = sessions_service.SessionsStub(channel).ListSessions(request, timeout=SECONDS).sessions
    (own,) = [each for each in listed if each.session_id == opened.session_id]
    return own.pipeline


@pytest.mark.parametrize("name", looks())
def test_the_token_of_each_pipeline_that_is_accepted_is_accepted(channel, stub, name):
    look = looks()[name]
    with Session(stub, seconds=SECONDS, opens=False) as session:
        session.send(open=messages.Open(pipeline=look))
        try:
            opened = session.receive().opened
        except grpc.RpcError as refused:
            assert refused.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert "legal" not in name, refused
            return
        before = in_force(channel, opened)
    with Session(stub, seconds=SECONDS, resume_token=opened.resume_token) as resumed:
        assert resumed.opened.revision == 1
        assert in_force(channel, resumed.opened) == before
        resumed.finish()


# Everything else that is a string.


def filters(name: str, **parameters: object):
    values = {key: pipeline_messages.ParameterValue(text=text) for key, text in parameters.items()}
    return pipeline_messages.Pipeline(
        stages=[
            pipeline_messages.Stage(filter=pipeline_messages.Filter(name=name, parameters=values))
        ]
    )


LONG_PIPELINES = {
    "a filter's name": filters(LONG),
    "a parameter's name": filters("sepiaTone", **{LONG: "much"}),
    "a choice": filters("boxBlur", border=LONG),
    "the text of a number": filters("sepiaTone", intensity=LONG),
    "the name of an asset": filters("overlay", asset=LONG),
}


@pytest.mark.parametrize("name", LONG_PIPELINES)
def test_a_long_string_in_a_pipeline_is_refused_in_short(stub, name):
    look = LONG_PIPELINES[name]
    with Session(stub, seconds=SECONDS, opens=False) as session:
        session.send(open=messages.Open(pipeline=look))
        error = session.fail()
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert violation(rpc_status.from_call(error)).field.startswith("open.pipeline.stages[0]")
    assert answer_bytes(error) < MOST_ANSWER_BYTES
    with Session(stub, seconds=SECONDS) as session:
        session.select(look)
        status = session.receive_until("error").status
        assert violation(status).field.startswith("select.pipeline.stages[0]")
        session.finish()
        assert received_bytes(session) < MOST_ANSWER_BYTES
    with pytest.raises(grpc.RpcError) as caught:
        stub.CheckPipeline(frame_filter.CheckPipelineRequest(pipeline=look), timeout=SECONDS)
    assert violation(rpc_status.from_call(caught.value)).field.startswith("pipeline.stages[0]")
    assert answer_bytes(caught.value) < MOST_ANSWER_BYTES


TEXT = pipeline_messages.ParameterValue(text=LONG)
NUMBER = pipeline_messages.ParameterValue(number=1)
LONG_CHANGES = {
    "the stage of an update": {
        "update": messages.Update(stages=[{"stage": LONG, "parameters": {"intensity": NUMBER}}])
    },
    "the parameter of an update": {
        "update": messages.Update(stages=[{"stage": "look", "parameters": {LONG: NUMBER}}])
    },
    "the text of an update": {
        "update": messages.Update(stages=[{"stage": "look", "parameters": {"intensity": TEXT}}])
    },
    "the stage of an activation": {"activate": messages.Activate(stages={LONG: True})},
}


@pytest.mark.parametrize("name", LONG_CHANGES)
def test_a_long_string_in_a_change_is_refused_in_short(stub, name):
    look = pipeline("sepiaTone")
    look.stages[0].id = "look"
    with Session(stub, seconds=SECONDS, pipeline=look) as session:
        session.send(**LONG_CHANGES[name])
        status = session.receive_until("error").status
        (kind,) = LONG_CHANGES[name]
        assert violation(status).field.startswith(f"{kind}.")
        session.finish()
        assert received_bytes(session) < MOST_ANSWER_BYTES


@pytest.mark.parametrize(
    "fields, field, code",
    [
        ({"label": LONG}, "open.label", "INVALID_ARGUMENT"),
        ({"resume_token": LONG.encode()}, "open.resume_token", "INVALID_ARGUMENT"),
    ],
)
def test_a_long_option_of_a_session_is_refused_in_short(stub, fields, field, code):
    with Session(stub, seconds=SECONDS, opens=False) as session:
        session.send(open=messages.Open(**fields))
        error = session.fail()
    assert error.code() == getattr(grpc.StatusCode, code)
    assert error.details().startswith(field)
    assert answer_bytes(error) < MOST_ANSWER_BYTES


@pytest.mark.parametrize(
    "fields, is_refused",
    [
        ({"tags": {"key": LONG}}, True),
        ({"tags": {LONG: "value"}}, True),
        ({"trace": messages.TraceContext(traceparent=LONG)}, False),
        ({"trace": messages.TraceContext(tracestate=LONG)}, False),
    ],
    ids=["a tag", "a tag's key", "traceparent", "tracestate"],
)
def test_a_long_string_of_a_frame_is_not_repeated(stub, fields, is_refused):
    with Session(stub, seconds=SECONDS, drop_policy=NEVER_DROP) as session:
        session.send_frame(PICTURE, **fields)
        transcript = session.finish()
        assert received_bytes(session) < MOST_ANSWER_BYTES
    if is_refused:
        (drop,) = transcript.dropped
        assert drop.reason == messages.DROP_REASON_INVALID_FRAME
        assert violation(drop.diagnostic).field.startswith("frame.tags")
    else:
        assert len(transcript.frames) == 1


MOMENT = duration_pb2.Duration(seconds=60)
LONG_REQUESTS = {
    "the text of CheckPipeline": (
        lambda channel: service.FrameFilterStub(channel).CheckPipeline(
            frame_filter.CheckPipelineRequest(text=LONG), timeout=SECONDS),
        "INVALID_ARGUMENT",
    ),
    "the category of ListFilters": (
        lambda channel: service.FrameFilterStub(channel).ListFilters(
            frame_filter.ListFiltersRequest(category=LONG), timeout=SECONDS),
        "INVALID_ARGUMENT",
    ),
    "the name of DescribeFilter": (
        lambda channel: service.FrameFilterStub(channel).DescribeFilter(
            frame_filter.DescribeFilterRequest(name=LONG), timeout=SECONDS),
        "INVALID_ARGUMENT",
    ),
    "the pipeline of Apply": (
        lambda channel: service.FrameFilterStub(channel).Apply(
            frame_filter.ApplyRequest(image=PICTURE, pipeline=filters(LONG)), timeout=SECONDS),
        "INVALID_ARGUMENT",
    ),
    "the session of WatchSessions": (
        lambda channel: list(sessions_service.SessionsStub(channel).WatchSessions(
            sessions.WatchSessionsRequest(session_id=LONG), timeout=SECONDS)),
        "INVALID_ARGUMENT",
    ),
    "the session of OverrideSession": (
        lambda channel: sessions_service.SessionsStub(channel).OverrideSession(
            sessions.OverrideSessionRequest(session_id=LONG), timeout=SECONDS),
        "INVALID_ARGUMENT",
    ),
    "the name of PutAsset": (
        lambda channel: assets_service.AssetsStub(channel).PutAsset(
            iter([asset_messages.PutAssetRequest(
                header=asset_messages.AssetHeader(name=LONG, size_bytes=1))]), timeout=SECONDS),
        "INVALID_ARGUMENT",
    ),
    "the name of DeleteAsset": (
        lambda channel: assets_service.AssetsStub(channel).DeleteAsset(
            asset_messages.DeleteAssetRequest(name=LONG), timeout=SECONDS),
        "INVALID_ARGUMENT",
    ),
    "the service of a health check": (
        lambda channel: health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(service=LONG), timeout=SECONDS),
        "NOT_FOUND",
    ),
}


@pytest.mark.parametrize("name", LONG_REQUESTS)
def test_a_long_string_of_a_request_is_refused_in_short(channel, name):
    call, code = LONG_REQUESTS[name]
    with pytest.raises(grpc.RpcError) as caught:
        call(channel)
    assert caught.value.code() == getattr(grpc.StatusCode, code), caught.value.details()[:1000]
    assert answer_bytes(caught.value) < MOST_ANSWER_BYTES


def test_a_long_reason_of_an_override_is_refused_in_short(stub, operators):
    with Session(stub, seconds=SECONDS) as session:
        with pytest.raises(grpc.RpcError) as caught:
            operators.OverrideSession(
                sessions.OverrideSessionRequest(
                    session_id=session.opened.session_id, pipeline=pipeline("colorInvert"),
                    time_to_live=MOMENT, reason=LONG,
                ),
                timeout=SECONDS,
            )
        assert violation(rpc_status.from_call(caught.value)).field == "reason"
        assert answer_bytes(caught.value) < MOST_ANSWER_BYTES


def test_a_server_that_was_sent_long_strings_keeps_none(server, stub):
    def attack():
        for look in [named("x" * 8 * MIB), *LONG_PIPELINES.values()]:
            with Session(stub, seconds=SECONDS, opens=False) as session:
                session.send(open=messages.Open(pipeline=look))
                with pytest.raises(grpc.RpcError):
                    session.receive()
                    session.receive()

    attack()
    time.sleep(1)
    before = resident_bytes(server.process)
    for _ in range(5):
        attack()
    assert resident_bytes(server.process) - before < MOST_GROWTH_BYTES
