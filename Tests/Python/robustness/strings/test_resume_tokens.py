"""Resume tokens of the longest pipelines that a server accepts."""

import grpc
import pytest

from robustness.strings.pipelines import named
from sidelight_testing.contract import pipeline as pipeline_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.contract import sessions, sessions_service
from sidelight_testing.floods import legal_stages
from sidelight_testing.session import Session, pipeline

SECONDS = 60


def pipelines() -> dict[str, object]:
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


@pytest.mark.parametrize("name", pipelines())
def test_the_token_of_each_accepted_pipeline_is_accepted(channel, stub, name):
    tested = pipelines()[name]
    with Session(stub, seconds=SECONDS, opens=False) as session:
        session.send(open=messages.Open(pipeline=tested))
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
