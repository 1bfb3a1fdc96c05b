"""A moderator's override outlives the connection of the client, whichever resume token the client
opens its next session with. It ends in its time, or when the moderator ends it."""

import time

import grpc
import numpy as np
import pytest
from google.protobuf import duration_pb2

from sidelight_testing import images
from sidelight_testing.contract import service, sessions, sessions_service
from sidelight_testing.contract import session as messages
from sidelight_testing.server import connect
from sidelight_testing.session import Session, pipeline

NEVER_DROP = messages.DROP_POLICY_NEVER_DROP
OVERRIDDEN = messages.SESSION_STATE_OVERRIDDEN
SECONDS = 60
LONG, SHORT = 600, 4
REASON = "a face is not to be seen"
PICTURE = images.noise("RGB24", 16, 16)
OWN, FORCED = pipeline("grayscale"), pipeline("colorInvert")
INVERTED = 255 - images.rgb(PICTURE)


@pytest.fixture
def operators(server):
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        yield sessions_service.SessionsStub(channel)


def override(operators, session: Session, seconds: int = LONG) -> None:
    """Forces a pipeline on a session."""
    operators.OverrideSession(
        sessions.OverrideSessionRequest(
            session_id=session.opened.session_id, pipeline=FORCED, reason=REASON,
            time_to_live=duration_pb2.Duration(seconds=seconds),
        ),
        timeout=SECONDS,
    )


def end_override(operators, session: Session) -> None:
    request = sessions.OverrideSessionRequest(session_id=session.opened.session_id)
    operators.OverrideSession(request, timeout=SECONDS)


class Connection:
    """A session on a separate connection, and the tokens that it was given: the first, and the
    newest."""

    def __init__(self, server, **fields: object) -> None:
        self._server = server
        self._fields = fields

    def __enter__(self) -> "Connection":
        self._channel = connect(self._server.addresses["tcp"])
        stub = service.FrameFilterStub(self._channel)
        self.session = Session(stub, seconds=SECONDS, drop_policy=NEVER_DROP, **self._fields)
        self.first_token = self.session.opened.resume_token
        assert self.first_token
        return self

    def __exit__(self, *_: object) -> None:
        # The connection is cut off, as where a network fails.
        self._channel.close()

    @property
    def newest_token(self) -> bytes:
        """The last token among the messages so far."""
        token = self.first_token
        for each in self.session.transcript.all:
            if each.WhichOneof("kind") in ("applied", "state"):
                token = getattr(each, each.WhichOneof("kind")).resume_token or token
        return token

    def filtered(self) -> np.ndarray:
        """Sends a frame, and returns the colours that come back."""
        sequence = self.session.send_frame(PICTURE)
        frame = self.session.receive_until("frame")
        assert frame.sequence == sequence
        return images.rgb(frame.image)

    def states(self) -> list:
        return self.session.transcript.states


def overridden_session(server, operators, seconds: int = LONG) -> dict[str, bytes]:
    """Runs a session that is overridden and then loses its connection. Returns its tokens: one from
    before the override, and the newest."""
    with Connection(server, pipeline=OWN) as before:
        gray = before.filtered()
        assert (gray[..., 0] == gray[..., 1]).all()
        old = before.newest_token
        override(operators, before.session, seconds)
        assert before.session.receive_until("state").state == OVERRIDDEN
        assert (before.filtered() == INVERTED).all()
        return {"before": old, "newest": before.newest_token}


def info(operators, connection: Connection):
    """A session as operators see it."""
    listed = operators.ListSessions(sessions.ListSessionsRequest(), timeout=SECONDS).sessions
    wanted = connection.session.opened.session_id
    return next(each for each in listed if each.session_id == wanted)


def check_overridden(operators, connection: Connection) -> None:
    """The very first frame is filtered as forced; client and operators are notified."""
    assert (connection.filtered() == INVERTED).all(), "the session runs unfiltered"
    states = connection.states()
    assert states and states[-1].state == OVERRIDDEN, states
    assert REASON in states[-1].message
    seen = info(operators, connection)
    assert seen.state == OVERRIDDEN
    assert seen.override_reason == REASON
    assert seen.pipeline.startswith("colorInvert")


def check_not_overridden(operators, connection: Connection) -> None:
    """The participant's own pipeline is in force."""
    gray = connection.filtered()
    assert (gray[..., 0] == gray[..., 1]).all() and (gray[..., 1] == gray[..., 2]).all()
    assert all(each.state != OVERRIDDEN for each in connection.states())
    seen = info(operators, connection)
    assert seen.state == messages.SESSION_STATE_RUNNING
    assert seen.override_reason == ""
    assert seen.pipeline.startswith("grayscale")


@pytest.mark.parametrize("which", ["before", "newest"])
def test_an_override_applies_at_once_after_a_resume(server, operators, which):
    tokens = overridden_session(server, operators)
    with Connection(server, resume_token=tokens[which]) as after:
        check_overridden(operators, after)


def test_an_override_survives_several_connections(server, operators):
    tokens = overridden_session(server, operators)
    for _ in range(3):
        with Connection(server, resume_token=tokens["before"]) as after:
            check_overridden(operators, after)
            newest = after.newest_token
        with Connection(server, resume_token=newest) as after:
            check_overridden(operators, after)


def test_the_first_resume_token_does_not_escape_an_override(server, operators):
    # The override comes one connection and one selection later.
    with Connection(server, pipeline=OWN) as first:
        oldest = first.first_token
    with Connection(server, resume_token=oldest) as second:
        second.session.select(pipeline("colorInvert", "grayscale"))
        second.filtered()
        override(operators, second.session)
        assert second.session.receive_until("state").state == OVERRIDDEN
    with Connection(server, resume_token=oldest) as third:
        check_overridden(operators, third)


@pytest.mark.parametrize("which", ["before", "newest"])
def test_an_override_expires_after_a_resume(server, operators, which):
    begin = time.monotonic()
    tokens = overridden_session(server, operators, seconds=SHORT)
    with Connection(server, resume_token=tokens[which]) as after:
        check_overridden(operators, after)
        # The end is noticed with a frame that comes after it.
        while (after.filtered() == INVERTED).all():
            assert time.monotonic() - begin < SHORT + 5
            time.sleep(0.05)
        assert time.monotonic() - begin > SHORT - 0.1
        assert after.states()[-1].state == messages.SESSION_STATE_RUNNING
    with Connection(server, resume_token=tokens[which]) as later:
        check_not_overridden(operators, later)


@pytest.mark.parametrize("which", ["before", "newest"])
def test_an_override_expires_while_the_client_is_away(server, operators, which):
    tokens = overridden_session(server, operators, seconds=SHORT)
    time.sleep(SHORT + 0.2)
    with Connection(server, resume_token=tokens[which]) as after:
        check_not_overridden(operators, after)


@pytest.mark.parametrize("which", ["before", "newest"])
def test_an_ended_override_does_not_apply_to_any_token(server, operators, which):
    tokens = overridden_session(server, operators)
    with Connection(server, resume_token=tokens[which]) as after:
        check_overridden(operators, after)
        tokens["of the second connection"] = after.newest_token
        end_override(operators, after.session)
        state = after.session.receive_until("state")
        assert state.state == messages.SESSION_STATE_RUNNING
        tokens["after the end"] = after.newest_token
    for token in tokens.values():
        with Connection(server, resume_token=token) as last:
            check_not_overridden(operators, last)


def test_an_override_does_not_apply_to_other_sessions(server, operators):
    overridden_session(server, operators)
    with Connection(server, pipeline=OWN) as other:
        check_not_overridden(operators, other)
        own = other.newest_token
    with Connection(server, resume_token=own) as other:
        check_not_overridden(operators, other)
