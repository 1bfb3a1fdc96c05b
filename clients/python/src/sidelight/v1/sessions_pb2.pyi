from google.protobuf import duration_pb2 as _duration_pb2
from sidelight.v1 import image_pb2 as _image_pb2
from sidelight.v1 import pipeline_pb2 as _pipeline_pb2
from sidelight.v1 import session_pb2 as _session_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CloseSessionRequest(_message.Message):
    __slots__ = ["reason", "session_id"]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    reason: str
    session_id: str
    def __init__(self, session_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class CloseSessionResponse(_message.Message):
    __slots__: list[str] = []
    def __init__(self) -> None: ...

class ListSessionsRequest(_message.Message):
    __slots__ = ["label", "page_size", "page_token", "participant"]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    label: str
    page_size: int
    page_token: str
    participant: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., label: _Optional[str] = ..., participant: _Optional[str] = ...) -> None: ...

class ListSessionsResponse(_message.Message):
    __slots__ = ["next_page_token", "sessions"]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    next_page_token: str
    sessions: _containers.RepeatedCompositeFieldContainer[SessionInfo]
    def __init__(self, sessions: _Optional[_Iterable[_Union[SessionInfo, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class MoveSessionRequest(_message.Message):
    __slots__ = ["address", "session_id"]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    address: str
    session_id: str
    def __init__(self, session_id: _Optional[str] = ..., address: _Optional[str] = ...) -> None: ...

class MoveSessionResponse(_message.Message):
    __slots__ = ["hands_over"]
    HANDS_OVER_FIELD_NUMBER: _ClassVar[int]
    hands_over: bool
    def __init__(self, hands_over: bool = ...) -> None: ...

class OverrideSessionRequest(_message.Message):
    __slots__ = ["caller", "participant", "pipeline", "pipeline_text", "reason", "session_id", "time_to_live"]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_TEXT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    TIME_TO_LIVE_FIELD_NUMBER: _ClassVar[int]
    caller: str
    participant: str
    pipeline: _pipeline_pb2.Pipeline
    pipeline_text: str
    reason: str
    session_id: str
    time_to_live: _duration_pb2.Duration
    def __init__(self, session_id: _Optional[str] = ..., pipeline: _Optional[_Union[_pipeline_pb2.Pipeline, _Mapping[str, object]]] = ..., pipeline_text: _Optional[str] = ..., time_to_live: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ..., reason: _Optional[str] = ..., participant: _Optional[str] = ..., caller: _Optional[str] = ...) -> None: ...

class OverrideSessionResponse(_message.Message):
    __slots__ = ["revision", "sessions"]
    class SessionRevision(_message.Message):
        __slots__ = ["revision", "session_id"]
        REVISION_FIELD_NUMBER: _ClassVar[int]
        SESSION_ID_FIELD_NUMBER: _ClassVar[int]
        revision: int
        session_id: str
        def __init__(self, session_id: _Optional[str] = ..., revision: _Optional[int] = ...) -> None: ...
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    revision: int
    sessions: _containers.RepeatedCompositeFieldContainer[OverrideSessionResponse.SessionRevision]
    def __init__(self, revision: _Optional[int] = ..., sessions: _Optional[_Iterable[_Union[OverrideSessionResponse.SessionRevision, _Mapping[str, object]]]] = ...) -> None: ...

class SessionInfo(_message.Message):
    __slots__ = ["age", "caller", "format", "height", "label", "last_total_us", "override_reason", "participant", "peer", "pipeline", "revision", "session_id", "state", "stats", "width"]
    AGE_FIELD_NUMBER: _ClassVar[int]
    CALLER_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    LAST_TOTAL_US_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATS_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    age: _duration_pb2.Duration
    caller: str
    format: _image_pb2.PixelFormat
    height: int
    label: str
    last_total_us: int
    override_reason: str
    participant: str
    peer: str
    pipeline: str
    revision: int
    session_id: str
    state: _session_pb2.SessionState
    stats: _session_pb2.Stats
    width: int
    def __init__(self, session_id: _Optional[str] = ..., label: _Optional[str] = ..., peer: _Optional[str] = ..., state: _Optional[_Union[_session_pb2.SessionState, str]] = ..., pipeline: _Optional[str] = ..., revision: _Optional[int] = ..., age: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ..., stats: _Optional[_Union[_session_pb2.Stats, _Mapping[str, object]]] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., format: _Optional[_Union[_image_pb2.PixelFormat, str]] = ..., last_total_us: _Optional[int] = ..., override_reason: _Optional[str] = ..., participant: _Optional[str] = ..., caller: _Optional[str] = ...) -> None: ...

class WatchSessionsRequest(_message.Message):
    __slots__ = ["interval", "session_id"]
    INTERVAL_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    interval: _duration_pb2.Duration
    session_id: str
    def __init__(self, interval: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ..., session_id: _Optional[str] = ...) -> None: ...

class WatchSessionsResponse(_message.Message):
    __slots__ = ["continues", "sessions"]
    CONTINUES_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    continues: bool
    sessions: _containers.RepeatedCompositeFieldContainer[SessionInfo]
    def __init__(self, sessions: _Optional[_Iterable[_Union[SessionInfo, _Mapping[str, object]]]] = ..., continues: bool = ...) -> None: ...
