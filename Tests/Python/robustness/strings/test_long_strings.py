"""Long strings in every field that takes one. The server refuses them with a short answer that
contains the field and the limit, and neither keeps nor repeats them."""

import time

import grpc
import pytest
from google.protobuf import duration_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from robustness.strings.pipelines import LONG, LONG_PIPELINES, MIB, named, with_filter
from sidelight_testing import images
from sidelight_testing.answers import MAX_ANSWER_BYTES, answer_bytes, received_bytes, violation
from sidelight_testing.contract import assets as asset_messages
from sidelight_testing.contract import (
    assets_service,
    frame_filter,
    service,
    sessions,
    sessions_service,
)
from sidelight_testing.contract import pipeline as pipeline_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.process import resident_bytes
from sidelight_testing.session import Session, pipeline

MAX_GROWTH_BYTES = 128 << 20
NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
PICTURE = images.noise("RGB24", 16, 16)
SECONDS = 60


@pytest.mark.parametrize("name", LONG_PIPELINES)
def test_a_long_string_in_a_pipeline_has_a_short_error(stub, name):
    look = LONG_PIPELINES[name]
    with Session(stub, seconds=SECONDS, opens=False) as session:
        session.send(open=messages.Open(pipeline=look))
        error = session.fail()
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert violation(rpc_status.from_call(error)).field.startswith("open.pipeline.stages[0]")
    assert answer_bytes(error) < MAX_ANSWER_BYTES
    with Session(stub, seconds=SECONDS) as session:
        session.select(look)
        status = session.receive_until("error").status
        assert violation(status).field.startswith("select.pipeline.stages[0]")
        session.finish()
        assert received_bytes(session) < MAX_ANSWER_BYTES
    with pytest.raises(grpc.RpcError) as caught:
        stub.CheckPipeline(frame_filter.CheckPipelineRequest(pipeline=look), timeout=SECONDS)
    assert violation(rpc_status.from_call(caught.value)).field.startswith("pipeline.stages[0]")
    assert answer_bytes(caught.value) < MAX_ANSWER_BYTES


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
def test_a_long_string_in_a_change_has_a_short_error(stub, name):
    look = pipeline("sepiaTone")
    look.stages[0].id = "look"
    with Session(stub, seconds=SECONDS, pipeline=look) as session:
        session.send(**LONG_CHANGES[name])
        status = session.receive_until("error").status
        (kind,) = LONG_CHANGES[name]
        assert violation(status).field.startswith(f"{kind}.")
        session.finish()
        assert received_bytes(session) < MAX_ANSWER_BYTES


@pytest.mark.parametrize(
    "fields, field, code",
    [
        ({"label": LONG}, "open.label", "INVALID_ARGUMENT"),
        ({"resume_token": LONG.encode()}, "open.resume_token", "INVALID_ARGUMENT"),
    ],
)
def test_a_long_session_option_has_a_short_error(stub, fields, field, code):
    with Session(stub, seconds=SECONDS, opens=False) as session:
        session.send(open=messages.Open(**fields))
        error = session.fail()
    assert error.code() == getattr(grpc.StatusCode, code)
    assert error.details().startswith(field)
    assert answer_bytes(error) < MAX_ANSWER_BYTES


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
        assert received_bytes(session) < MAX_ANSWER_BYTES
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
            frame_filter.ApplyRequest(image=PICTURE, pipeline=with_filter(LONG)), timeout=SECONDS),
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
    "the session of CloseSession": (
        lambda channel: sessions_service.SessionsStub(channel).CloseSession(
            sessions.CloseSessionRequest(session_id=LONG), timeout=SECONDS),
        "INVALID_ARGUMENT",
    ),
    "the address of MoveSession": (
        lambda channel: sessions_service.SessionsStub(channel).MoveSession(
            sessions.MoveSessionRequest(address=LONG), timeout=SECONDS),
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
def test_a_long_string_in_a_request_has_a_short_error(channel, name):
    call, code = LONG_REQUESTS[name]
    with pytest.raises(grpc.RpcError) as caught:
        call(channel)
    assert caught.value.code() == getattr(grpc.StatusCode, code), caught.value.details()[:1000]
    assert answer_bytes(caught.value) < MAX_ANSWER_BYTES


def test_a_long_override_reason_has_a_short_error(stub, operators):
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
        assert answer_bytes(caught.value) < MAX_ANSWER_BYTES


def test_long_strings_are_not_kept_in_memory(server, stub):
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
    assert resident_bytes(server.process) - before < MAX_GROWTH_BYTES
