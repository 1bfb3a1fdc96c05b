"""The calls without a session, as values: both faces make them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from .._formats import FormatLike, PixelFormat
from .._image_messages import format_number, image_of, message_of
from .._validation import finite, integer, invalid
from ..catalogue import Filter
from ..events import SessionState, Stats
from ..images import Image
from ..outcomes import Degraded, Filtered, FrameInfo, PassedThrough
from ..output import Output
from ..pipelines import Pipeline, PipelineLike
from ..v1 import assets_pb2, frame_filter_pb2, sessions_pb2
from .messages import stats_of
from .options import select_message, set_source

#: The size of an upload's chunks in bytes.
CHUNK_BYTES = 256 << 10
#: The seconds after which a call without a session fails, unless the caller sets another limit.
CALL_TIMEOUT = 30.0

_FRAME_FILTER = "/sidelight.v1.FrameFilter/"
_ASSETS = "/sidelight.v1.Assets/"
_SESSIONS = "/sidelight.v1.Sessions/"


class Operation(NamedTuple):
    """A unary call: its method, request, and the conversion of its response."""

    method: str
    request: Any
    response: Any
    convert: Callable[[Any], Any]


class CompiledPass(NamedTuple):
    """One pass over a frame."""

    name: str
    filters: Tuple[str, ...]
    description: str


class CheckedPipeline(NamedTuple):
    """A valid pipeline."""

    #: The canonical text; empty if it is too long.
    text: str
    #: The stages.
    pipeline: Pipeline
    #: The passes that it compiles to. Empty: frames pass through.
    passes: Tuple[CompiledPass, ...]


class ServerInfo(NamedTuple):
    """The description of a server."""

    version: str
    features: Tuple[str, ...]
    instruction_set: str
    #: The limits by name, as in the contract's `Limits`.
    limits: Mapping[str, int]
    #: The number of open sessions.
    sessions: int
    #: The arriving work relative to the server's capacity; above 1 frames are dropped.
    load: float
    #: The frame counts of all sessions since the start.
    frames: Stats


class Asset(NamedTuple):
    """An asset that pipelines can name."""

    name: str
    #: "image" or "cube".
    kind: str
    #: "caller", "participant" or "server".
    origin: str
    width: int
    height: int
    #: The entries along an edge of a table; 0 for an image.
    entries: int
    file_bytes: int
    memory_bytes: int
    sha256: bytes
    #: The seconds since the upload; `None` for assets of the server.
    age: Optional[float]


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

    #: The new revision of each session that changed, by the session's name.
    revisions: Mapping[str, int]


def apply(
    image: Image, pipeline: PipelineLike, output: Optional[Output], frame_index: int,
    participant: str,
) -> Operation:
    """Filters a still image."""
    if not isinstance(image, Image):
        raise invalid("image", image, "an Image")
    request = frame_filter_pb2.ApplyRequest(
        image=message_of(image), frame_index=frame_index, participant=participant
    )
    set_source(request, select_message(pipeline))
    if output is not None:
        request.output.CopyFrom(output.message())

    def convert(response: Any) -> Any:
        kind = {2: PassedThrough, 3: Degraded}.get(response.disposition, Filtered)
        timing = response.timing
        result = image_of(response.image, response.image.inline)
        return kind(
            frame_index, FrameInfo(), 0, lambda image: image, result,
            (timing.queue_us, timing.process_us, timing.total_us, 0.0),
        )

    return Operation(
        _FRAME_FILTER + "Apply", request, frame_filter_pb2.ApplyResponse, convert
    )


def filters(category: Optional[str], participant: str) -> Operation:
    """Lists the filters."""
    request = frame_filter_pb2.ListFiltersRequest(
        category=category or "", participant=participant
    )

    def convert(response: Any) -> Mapping[str, Filter]:
        return {each.name: Filter.of(each) for each in response.filters}

    return Operation(
        _FRAME_FILTER + "ListFilters", request, frame_filter_pb2.ListFiltersResponse, convert
    )


def check(
    pipeline: PipelineLike, width: int, height: int, format: FormatLike, participant: str
) -> Operation:
    """Validates a pipeline."""
    request = frame_filter_pb2.CheckPipelineRequest(
        width=integer("width", width, 1, 16384),
        height=integer("height", height, 1, 16384),
        format=format_number(PixelFormat.of(format)),
        participant=participant,
    )
    select = select_message(pipeline)
    if select.WhichOneof("pipeline_source") == "pipeline_text":
        request.text = select.pipeline_text
    else:
        request.pipeline.CopyFrom(select.pipeline)

    def convert(response: Any) -> CheckedPipeline:
        passes = tuple(
            CompiledPass(each.name, tuple(each.filters), each.description)
            for each in response.passes
        )
        return CheckedPipeline(response.text, Pipeline.of(response.pipeline), passes)

    return Operation(
        _FRAME_FILTER + "CheckPipeline", request, frame_filter_pb2.CheckPipelineResponse, convert
    )


def info() -> Operation:
    """Describes the server."""

    def convert(response: Any) -> ServerInfo:
        limits: Dict[str, int] = {
            field.name: getattr(response.limits, field.name)
            for field in response.limits.DESCRIPTOR.fields
        }
        load = response.load
        return ServerInfo(
            response.version, tuple(response.features), response.instruction_set, limits,
            load.sessions, load.scheduler_load, stats_of(load.frames),
        )

    return Operation(
        _FRAME_FILTER + "GetServerInfo",
        frame_filter_pb2.GetServerInfoRequest(),
        frame_filter_pb2.GetServerInfoResponse,
        convert,
    )


# Assets

PUT_ASSET = _ASSETS + "PutAsset"


def asset_upload(name: str, data: Any, participant: str) -> List[Any]:
    """Returns the messages of an upload.

    - `data`: The file's bytes, or its path.
    """
    if isinstance(data, (str, os.PathLike)):
        with open(data, "rb") as file:
            content = memoryview(file.read())
    else:
        content = memoryview(data).cast("B")
    header = assets_pb2.AssetHeader(
        name=name,
        size_bytes=content.nbytes,
        sha256=hashlib.sha256(content).digest(),
        participant=participant,
    )
    messages = [assets_pb2.PutAssetRequest(header=header)]
    for start in range(0, content.nbytes, CHUNK_BYTES):
        chunk = content[start : start + CHUNK_BYTES].tobytes()
        messages.append(assets_pb2.PutAssetRequest(chunk=chunk))
    return messages


def asset_of(message: Any) -> Asset:
    """Returns an asset of a message."""
    return Asset(
        message.name,
        {1: "image", 2: "cube"}.get(message.kind, "unknown"),
        {1: "caller", 2: "server", 3: "participant"}.get(message.origin, "unknown"),
        message.width,
        message.height,
        message.entries,
        message.file_bytes,
        message.memory_bytes,
        message.sha256,
        message.age.ToTimedelta().total_seconds() if message.HasField("age") else None,
    )


def list_assets(participant: str) -> Operation:
    """Lists the assets that pipelines can name."""
    return Operation(
        _ASSETS + "ListAssets",
        assets_pb2.ListAssetsRequest(participant=participant),
        assets_pb2.ListAssetsResponse,
        lambda response: [asset_of(each) for each in response.assets],
    )


def delete_asset(name: str, participant: str) -> Operation:
    """Deletes an asset."""
    return Operation(
        _ASSETS + "DeleteAsset",
        assets_pb2.DeleteAssetRequest(name=name, participant=participant),
        assets_pb2.DeleteAssetResponse,
        lambda response: None,
    )


# Sessions

WATCH_SESSIONS = _SESSIONS + "WatchSessions"


def session_of(message: Any) -> SessionInfo:
    """Returns a session of a message."""
    from .._image_messages import format_of

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

    def convert(response: Any) -> Tuple[List[SessionInfo], str]:
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
        self._sessions: List[SessionInfo] = []

    def add(self, data: bytes) -> Optional[Sequence[SessionInfo]]:
        """Adds a message; returns the snapshot that it completes."""
        message = sessions_pb2.WatchSessionsResponse.FromString(data)
        self._sessions += [session_of(each) for each in message.sessions]
        if message.continues:
            return None
        sessions, self._sessions = self._sessions, []
        return sessions


def override(
    session_id: Optional[str], participant: Optional[str], pipeline: Any,
    duration: Optional[float], reason: str, caller: str,
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


