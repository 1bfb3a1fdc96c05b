"""Stage IDs of any length: long ones are refused with the field and the limit."""

import grpc
import pytest
from google.protobuf import duration_pb2
from grpc_status import rpc_status

from robustness.strings.pipelines import MIB, named
from sidelight_testing import images
from sidelight_testing.answers import MAX_ANSWER_BYTES, answer_bytes, received_bytes, violation
from sidelight_testing.contract import frame_filter, sessions
from sidelight_testing.contract import pipeline as pipeline_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.process import resident_bytes
from sidelight_testing.session import Session

MAX_STAGE_ID_BYTES = 64
MAX_GROWTH_BYTES = 128 << 20
NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
PICTURE = images.noise("RGB24", 16, 16)
SECONDS = 60


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
            assert answer_bytes(error) < MAX_ANSWER_BYTES
    assert found.field == "open.pipeline.stages[0].id"
    assert str(MAX_STAGE_ID_BYTES) in found.description


@pytest.mark.parametrize("length", [65, 70, 1_000_000])
def test_a_refused_stage_id_is_not_kept(
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
        assert received_bytes(session) < MAX_ANSWER_BYTES * 2, "what was refused is repeated"
        assert len(errors) == 5, f"{length} bytes were accepted"
        assert growth < MAX_GROWTH_BYTES
    found = violation(errors[0].status)
    assert found.field == "select.pipeline.stages[0].id"
    assert str(MAX_STAGE_ID_BYTES) in found.description
    assert errors[0].request_id == 9


@pytest.mark.parametrize("length", [5 * MIB, 8 * MIB])
def test_a_message_over_a_mebibyte_without_pixels_ends_the_call(stub, length):
    with Session(stub, seconds=SECONDS) as session:
        session.select(named("x" * length))
        with pytest.raises(grpc.RpcError) as caught:
            session.receive_until("error")
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "max_control_message_bytes" in caught.value.details()
    assert answer_bytes(caught.value) < MAX_ANSWER_BYTES


def test_a_stage_id_is_limited_in_every_request(stub, operators):
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
            assert str(MAX_STAGE_ID_BYTES) in found.description


def test_a_stage_id_of_the_maximum_length_is_accepted(stub):
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
