"""A moderator's override of a participant applies to all of its sessions: open ones, later ones and
resumed ones, until it ends."""

import grpc
import numpy as np
import pytest

from sidelight_testing import images
from sidelight_testing.contract import service, sessions, sessions_service
from sidelight_testing.contract import session as messages
from sidelight_testing.server import connect
from sidelight_testing.session import Session, pipeline

SECONDS = 60
REASON = "a face is not to be seen"
PICTURE = images.noise("RGB24", 16, 16)
OWN, FORCED = pipeline("grayscale"), pipeline("colorInvert")
INVERTED = 255 - images.rgb(PICTURE)


@pytest.fixture
def connection(server):
    with connect(server.addresses["tcp"]) as channel:
        yield channel


@pytest.fixture
def operators(connection):
    """The operators' service. Overrides of the tests end afterwards."""
    stub = sessions_service.SessionsStub(connection)
    yield stub
    for name in ("ana", "ben"):
        stub.OverrideSession(sessions.OverrideSessionRequest(participant=name), timeout=SECONDS)


def override(operators, forced=FORCED, **target: object) -> sessions.OverrideSessionResponse:
    request = sessions.OverrideSessionRequest(pipeline=forced, reason=REASON, **target)
    request.time_to_live.seconds = 600
    return operators.OverrideSession(request, timeout=SECONDS)


def end(operators, **target: object) -> sessions.OverrideSessionResponse:
    return operators.OverrideSession(sessions.OverrideSessionRequest(**target), timeout=SECONDS)


def open_session(connection, participant: str, **fields: object) -> Session:
    stub = service.FrameFilterStub(connection)
    fields = {"pipeline": OWN, "drop_policy": messages.DROP_POLICY_NEVER_DROP} | fields
    if "resume_token" in fields:
        del fields["pipeline"]
    return Session(stub, seconds=SECONDS, participant=participant, **fields)


def is_forced(session: Session) -> bool:
    """Sends a frame, and returns whether it comes back as forced; otherwise it must be grey."""
    session.send_frame(PICTURE)
    colors = images.rgb(session.receive_until("frame").image)
    if (colors == INVERTED).all():
        return True
    assert np.ptp(colors, axis=-1).max() == 0
    return False


def run(connection, participant: str, **fields: object) -> tuple[bool, bytes]:
    """Opens a session for one frame. Returns whether it was forced, and the session's token."""
    with open_session(connection, participant, **fields) as session:
        forced = is_forced(session)
        token = session.opened.resume_token
        session.finish()
        return forced, token


def test_open_later_and_resumed_sessions_are_overridden(connection, operators):
    _, before = run(connection, "ana")
    with (
        open_session(connection, "ana", label="one") as first,
        open_session(connection, "ben", label="one") as other,
        open_session(connection, "ana") as second,
    ):
        response = override(operators, participant="ana")
        assert response.revision == 0
        assert [(each.session_id, each.revision) for each in response.sessions] == [
            (first.opened.session_id, 2), (second.opened.session_id, 2)
        ]  # fmt: skip
        assert is_forced(first) and is_forced(second) and not is_forced(other)
        request = sessions.ListSessionsRequest(participant="ana")
        listed = operators.ListSessions(request, timeout=SECONDS).sessions
        assert [each.override_reason for each in listed] == [REASON, REASON]
        # The participant cannot leave it with a selection, another label, or an older token.
        first.select(pipeline("grayscale"))
        assert is_forced(first)
        assert run(connection, "ana", label="another")[0]
        assert run(connection, "ana", resume_token=before)[0]
        assert not run(connection, "ben")[0]
        assert not run(connection, "")[0]
        response = end(operators, participant="ana")
        assert [each.session_id for each in response.sessions] == [
            first.opened.session_id, second.opened.session_id
        ]  # fmt: skip
        assert not is_forced(first) and not is_forced(second)
    assert not run(connection, "ana")[0]


def test_an_ended_override_is_not_restored_by_a_token(connection, operators):
    override(operators, participant="ana")
    forced, token = run(connection, "ana")
    assert forced
    end(operators, participant="ana")
    assert not run(connection, "ana", resume_token=token)[0]
    assert not end(operators, participant="ana").sessions


def test_the_caller_selects_among_participants_of_one_name(connection, operators):
    with open_session(connection, "ana") as session:
        assert not override(operators, participant="ana", caller="sub:other@test").sessions
        assert not is_forced(session)
        [changed] = override(operators, participant="ana", caller="ipv4:127.0.0.1").sessions
        assert changed.session_id == session.opened.session_id
        assert is_forced(session)
        assert not end(operators, participant="ana", caller="sub:other@test").sessions
        assert is_forced(session)
        end(operators, participant="ana", caller="ipv4:127.0.0.1")
        assert not is_forced(session)


def test_one_session_leaves_the_override_of_its_participant(connection, operators):
    with open_session(connection, "ana") as session:
        override(operators, participant="ana")
        token = session.opened.resume_token
        response = end(operators, session_id=session.opened.session_id)
        assert response.revision == 3
        assert not is_forced(session)
    assert not run(connection, "ana", resume_token=token)[0]
    assert run(connection, "ana")[0]


@pytest.mark.parametrize("target, words", [
    ({"session_id": "x", "participant": "ana"}, "participant: is set in addition to session_id"),
    ({"caller": "x"}, "caller: is set without a participant"),
    ({"participant": "ana", "caller": "x" * 513}, "caller: has 513 bytes; the limit is 512"),
])  # fmt: skip
def test_an_unclear_target_is_refused(operators, target, words):
    with pytest.raises(grpc.RpcError) as caught:
        override(operators, **target)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert caught.value.details().startswith(words)
