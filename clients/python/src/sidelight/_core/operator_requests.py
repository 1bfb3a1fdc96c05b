"""The calls of the service for operators, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

from .._formats import PixelFormat
from .._image_messages import format_of
from .._validation import finite, invalid
from ..events import SessionState, Stats, stats_of
from ..v1 import sessions_pb2
from .options import select_message, set_source
from .requests import Operation

_SESSIONS = "/sidelight.v1.Sessions/"
WATCH_SESSIONS = _SESSIONS + "WatchSessions"


class SessionInfo(NamedTuple):
    """An open session, as operators see it."""

    session_id: str
    label: str
    participant: str
    caller: str
    peer: str
    state: SessionState
    #: The text of the pipeline in force, truncated to 2048 bytes.
    pipeline: str
    revision: int
    #: The seconds since the session was opened.
    age: float
    stats: Stats
    width: int
    height: int
    format: Optional[PixelFormat]
    #: The reason for the override in force; empty without one.
    override_reason: str


class Override(NamedTuple):
    """An override that was set or ended."""

    #: The new revision of every session that changed, by the session's name.
    revisions: Mapping[str, int]


def session_of(message: Any) -> SessionInfo:
    """Returns a session of a message."""
    states = {each.value: each for each in SessionState}
    return SessionInfo(
        message.session_id,
        message.label,
        message.participant,
        message.caller,
        message.peer,
        states.get(message.state, SessionState.UNKNOWN),
        message.pipeline,
        message.revision,
        message.age.ToTimedelta().total_seconds(),
        stats_of(message.stats),
        message.width,
        message.height,
        format_of(message.format),
        message.override_reason,
    )


def list_sessions(label: str, participant: str, page_token: str) -> Operation:
    """Lists a page of the open sessions: the sessions, and the token of the next page."""
    request = sessions_pb2.ListSessionsRequest(
        label=label, participant=participant, page_token=page_token, page_size=1000
    )

    def convert(response: Any) -> tuple[list[SessionInfo], str]:
        return [session_of(each) for each in response.sessions], response.next_page_token

    return Operation(
        _SESSIONS + "ListSessions", request, sessions_pb2.ListSessionsResponse, convert
    )


def watch_sessions(interval: float, session_id: str) -> Any:
    """Returns the request for snapshots."""
    request = sessions_pb2.WatchSessionsRequest(session_id=session_id)
    request.interval.FromNanoseconds(round(finite("interval", interval, 0.1, 3600) * 1e9))
    return request


class Snapshots:
    """Joins the messages of snapshots."""

    def __init__(self) -> None:
        self._sessions: list[SessionInfo] = []

    def add(self, data: bytes) -> Optional[Sequence[SessionInfo]]:
        """Adds a message; returns the snapshot that it completes."""
        message = sessions_pb2.WatchSessionsResponse.FromString(data)
        self._sessions += [session_of(each) for each in message.sessions]
        if message.continues:
            return None
        sessions, self._sessions = self._sessions, []
        return sessions


def override(
    session_id: Optional[str],
    participant: Optional[str],
    pipeline: Any,
    duration: Optional[float],
    reason: str,
    caller: str,
) -> Operation:
    """Forces a pipeline, or ends an override.

    - `duration`: The seconds of the override; `None` ends the override.
    """
    if bool(session_id) == bool(participant):
        raise invalid(
            "session_id", session_id, "set, or participant instead; exactly one of the two"
        )
    request = sessions_pb2.OverrideSessionRequest(
        session_id=session_id or "", participant=participant or "", reason=reason, caller=caller
    )
    if duration is not None:
        set_source(request, select_message(pipeline))
        seconds = finite("for_", duration, 1, 86400)
        request.time_to_live.FromNanoseconds(round(seconds * 1e9))

    def convert(response: Any) -> Override:
        revisions = {each.session_id: each.revision for each in response.sessions}
        if session_id and not revisions:
            revisions[session_id] = response.revision
        return Override(revisions)

    return Operation(
        _SESSIONS + "OverrideSession", request, sessions_pb2.OverrideSessionResponse, convert
    )


def close(session_id: str, reason: str) -> Operation:
    """Ends a session."""
    request = sessions_pb2.CloseSessionRequest(session_id=session_id, reason=reason)
    return Operation(
        _SESSIONS + "CloseSession", request, sessions_pb2.CloseSessionResponse, lambda _: None
    )


def move(session_id: str, address: str) -> Operation:
    """Asks a session's client to continue elsewhere: whether it does so without a gap."""
    request = sessions_pb2.MoveSessionRequest(session_id=session_id, address=address)

    def convert(response: Any) -> bool:
        return bool(response.hands_over)

    return Operation(_SESSIONS + "MoveSession", request, sessions_pb2.MoveSessionResponse, convert)
