from google.protobuf import duration_pb2 as _duration_pb2
from google.rpc import status_pb2 as _status_pb2
from sidelight.v1 import image_pb2 as _image_pb2
from sidelight.v1 import pipeline_pb2 as _pipeline_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

COMPOSITION_LAYOUT_GRID: CompositionLayout
COMPOSITION_LAYOUT_PICTURE_IN_PICTURE: CompositionLayout
COMPOSITION_LAYOUT_SIDE_BY_SIDE: CompositionLayout
COMPOSITION_LAYOUT_UNSPECIFIED: CompositionLayout
DESCRIPTOR: _descriptor.FileDescriptor
DISPOSITION_DEGRADED: Disposition
DISPOSITION_FILTERED: Disposition
DISPOSITION_PASSED_THROUGH: Disposition
DISPOSITION_UNSPECIFIED: Disposition
DROP_POLICY_KEEP_OLDEST: DropPolicy
DROP_POLICY_NEVER_DROP: DropPolicy
DROP_POLICY_NEWEST_WINS: DropPolicy
DROP_POLICY_UNSPECIFIED: DropPolicy
DROP_REASON_DRAINING: DropReason
DROP_REASON_INVALID_FRAME: DropReason
DROP_REASON_LATE_IN_PIPELINE: DropReason
DROP_REASON_LATE_ON_ARRIVAL: DropReason
DROP_REASON_LATE_ON_OUTPUT: DropReason
DROP_REASON_NOT_DECODABLE: DropReason
DROP_REASON_NO_CREDIT: DropReason
DROP_REASON_OUTPUT_SUPERSEDED: DropReason
DROP_REASON_PAUSED: DropReason
DROP_REASON_QUEUE_FULL: DropReason
DROP_REASON_RATE_LIMITED: DropReason
DROP_REASON_STAGE_FAILED: DropReason
DROP_REASON_SUPERSEDED: DropReason
DROP_REASON_UNSPECIFIED: DropReason
DROP_STAGE_ARRIVAL: DropStage
DROP_STAGE_MAILBOX: DropStage
DROP_STAGE_OUTBOX: DropStage
DROP_STAGE_PIPELINE: DropStage
DROP_STAGE_UNSPECIFIED: DropStage
KEY_FRAME_REASON_DAMAGE: KeyFrameReason
KEY_FRAME_REASON_LOSS: KeyFrameReason
KEY_FRAME_REASON_START: KeyFrameReason
KEY_FRAME_REASON_TOO_SLOW: KeyFrameReason
KEY_FRAME_REASON_UNSPECIFIED: KeyFrameReason
SESSION_STATE_DRAINING: SessionState
SESSION_STATE_MOVE: SessionState
SESSION_STATE_OVERRIDDEN: SessionState
SESSION_STATE_PAUSED: SessionState
SESSION_STATE_RUNNING: SessionState
SESSION_STATE_UNSPECIFIED: SessionState
TRANSITION_CURVE_EASE_IN: TransitionCurve
TRANSITION_CURVE_EASE_IN_OUT: TransitionCurve
TRANSITION_CURVE_EASE_OUT: TransitionCurve
TRANSITION_CURVE_LINEAR: TransitionCurve
TRANSITION_CURVE_UNSPECIFIED: TransitionCurve
TRANSITION_END_CAPTURE_TIME: TransitionEnd
TRANSITION_END_COMPLETED: TransitionEnd
TRANSITION_END_MEMORY: TransitionEnd
TRANSITION_END_NO_TIME: TransitionEnd
TRANSITION_END_OUTPUT_DIFFERS: TransitionEnd
TRANSITION_END_PROTECTION: TransitionEnd
TRANSITION_END_SCENE: TransitionEnd
TRANSITION_END_STAGE_FAILED: TransitionEnd
TRANSITION_END_UNSPECIFIED: TransitionEnd
TRANSITION_KIND_DISSOLVE: TransitionKind
TRANSITION_KIND_FADE: TransitionKind
TRANSITION_KIND_UNSPECIFIED: TransitionKind
TRANSITION_KIND_WIPE: TransitionKind
WIPE_DIRECTION_DOWN: WipeDirection
WIPE_DIRECTION_LEFT: WipeDirection
WIPE_DIRECTION_RIGHT: WipeDirection
WIPE_DIRECTION_UNSPECIFIED: WipeDirection
WIPE_DIRECTION_UP: WipeDirection

class Accepted(_message.Message):
    __slots__ = ["request_id", "revision"]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    request_id: int
    revision: int
    def __init__(self, request_id: _Optional[int] = ..., revision: _Optional[int] = ...) -> None: ...

class Ack(_message.Message):
    __slots__ = ["held_slots", "output", "sequence"]
    HELD_SLOTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    held_slots: _containers.RepeatedScalarFieldContainer[int]
    output: str
    sequence: int
    def __init__(self, sequence: _Optional[int] = ..., held_slots: _Optional[_Iterable[int]] = ..., output: _Optional[str] = ...) -> None: ...

class Activate(_message.Message):
    __slots__ = ["if_revision", "request_id", "stages", "transition"]
    class StagesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: bool
        def __init__(self, key: _Optional[str] = ..., value: bool = ...) -> None: ...
    IF_REVISION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    TRANSITION_FIELD_NUMBER: _ClassVar[int]
    if_revision: int
    request_id: int
    stages: _containers.ScalarMap[str, bool]
    transition: Transition
    def __init__(self, stages: _Optional[_Mapping[str, bool]] = ..., if_revision: _Optional[int] = ..., request_id: _Optional[int] = ..., transition: _Optional[_Union[Transition, _Mapping[str, object]]] = ...) -> None: ...

class Advice(_message.Message):
    __slots__ = ["bottleneck", "suggested_fps", "suggested_scale"]
    BOTTLENECK_FIELD_NUMBER: _ClassVar[int]
    SUGGESTED_FPS_FIELD_NUMBER: _ClassVar[int]
    SUGGESTED_SCALE_FIELD_NUMBER: _ClassVar[int]
    bottleneck: str
    suggested_fps: float
    suggested_scale: float
    def __init__(self, bottleneck: _Optional[str] = ..., suggested_fps: _Optional[float] = ..., suggested_scale: _Optional[float] = ...) -> None: ...

class Analysis(_message.Message):
    __slots__ = ["age_us", "detections", "figures", "filter", "rows", "sequence", "stage", "words"]
    class FiguresEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    class RowsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _pipeline_pb2.Vector
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_pipeline_pb2.Vector, _Mapping[str, object]]] = ...) -> None: ...
    class WordsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    AGE_US_FIELD_NUMBER: _ClassVar[int]
    DETECTIONS_FIELD_NUMBER: _ClassVar[int]
    FIGURES_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    ROWS_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    age_us: int
    detections: _containers.RepeatedCompositeFieldContainer[Detection]
    figures: _containers.ScalarMap[str, float]
    filter: str
    rows: _containers.MessageMap[str, _pipeline_pb2.Vector]
    sequence: int
    stage: str
    words: _containers.ScalarMap[str, str]
    def __init__(self, sequence: _Optional[int] = ..., stage: _Optional[str] = ..., filter: _Optional[str] = ..., age_us: _Optional[int] = ..., figures: _Optional[_Mapping[str, float]] = ..., detections: _Optional[_Iterable[_Union[Detection, _Mapping[str, object]]]] = ..., rows: _Optional[_Mapping[str, _pipeline_pb2.Vector]] = ..., words: _Optional[_Mapping[str, str]] = ...) -> None: ...

class Applied(_message.Message):
    __slots__ = ["first_sequence", "request_id", "resume_token", "revision"]
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    first_sequence: int
    request_id: int
    resume_token: bytes
    revision: int
    def __init__(self, revision: _Optional[int] = ..., first_sequence: _Optional[int] = ..., request_id: _Optional[int] = ..., resume_token: _Optional[bytes] = ...) -> None: ...

class ClientMessage(_message.Message):
    __slots__ = ["ack", "activate", "frame", "open", "pause", "ping", "request_key_frame", "resume", "select", "set_composition", "set_encoder", "update"]
    ACK_FIELD_NUMBER: _ClassVar[int]
    ACTIVATE_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    PING_FIELD_NUMBER: _ClassVar[int]
    REQUEST_KEY_FRAME_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    SELECT_FIELD_NUMBER: _ClassVar[int]
    SET_COMPOSITION_FIELD_NUMBER: _ClassVar[int]
    SET_ENCODER_FIELD_NUMBER: _ClassVar[int]
    UPDATE_FIELD_NUMBER: _ClassVar[int]
    ack: Ack
    activate: Activate
    frame: Frame
    open: Open
    pause: Pause
    ping: Ping
    request_key_frame: RequestKeyFrame
    resume: Resume
    select: Select
    set_composition: SetComposition
    set_encoder: SetEncoder
    update: Update
    def __init__(self, frame: _Optional[_Union[Frame, _Mapping[str, object]]] = ..., ack: _Optional[_Union[Ack, _Mapping[str, object]]] = ..., open: _Optional[_Union[Open, _Mapping[str, object]]] = ..., select: _Optional[_Union[Select, _Mapping[str, object]]] = ..., update: _Optional[_Union[Update, _Mapping[str, object]]] = ..., activate: _Optional[_Union[Activate, _Mapping[str, object]]] = ..., pause: _Optional[_Union[Pause, _Mapping[str, object]]] = ..., resume: _Optional[_Union[Resume, _Mapping[str, object]]] = ..., ping: _Optional[_Union[Ping, _Mapping[str, object]]] = ..., set_encoder: _Optional[_Union[SetEncoder, _Mapping[str, object]]] = ..., request_key_frame: _Optional[_Union[RequestKeyFrame, _Mapping[str, object]]] = ..., set_composition: _Optional[_Union[SetComposition, _Mapping[str, object]]] = ...) -> None: ...

class Composition(_message.Message):
    __slots__ = ["fit", "frame_rate", "height", "layout", "sources", "width"]
    FIT_FIELD_NUMBER: _ClassVar[int]
    FRAME_RATE_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    SOURCES_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    fit: _pipeline_pb2.FitMode
    frame_rate: float
    height: int
    layout: CompositionLayout
    sources: _containers.RepeatedCompositeFieldContainer[CompositionSource]
    width: int
    def __init__(self, width: _Optional[int] = ..., height: _Optional[int] = ..., frame_rate: _Optional[float] = ..., layout: _Optional[_Union[CompositionLayout, str]] = ..., fit: _Optional[_Union[_pipeline_pb2.FitMode, str]] = ..., sources: _Optional[_Iterable[_Union[CompositionSource, _Mapping[str, object]]]] = ...) -> None: ...

class CompositionCell(_message.Message):
    __slots__ = ["height", "width", "x", "y"]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    height: float
    width: float
    x: float
    y: float
    def __init__(self, x: _Optional[float] = ..., y: _Optional[float] = ..., width: _Optional[float] = ..., height: _Optional[float] = ...) -> None: ...

class CompositionSource(_message.Message):
    __slots__ = ["cell", "label", "participant"]
    CELL_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    cell: CompositionCell
    label: str
    participant: str
    def __init__(self, participant: _Optional[str] = ..., label: _Optional[str] = ..., cell: _Optional[_Union[CompositionCell, _Mapping[str, object]]] = ...) -> None: ...

class Detection(_message.Message):
    __slots__ = ["confidence", "height", "kind", "tracking_id", "width", "x", "y"]
    CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    TRACKING_ID_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    confidence: float
    height: float
    kind: str
    tracking_id: int
    width: float
    x: float
    y: float
    def __init__(self, kind: _Optional[str] = ..., tracking_id: _Optional[int] = ..., confidence: _Optional[float] = ..., x: _Optional[float] = ..., y: _Optional[float] = ..., width: _Optional[float] = ..., height: _Optional[float] = ...) -> None: ...

class Dropped(_message.Message):
    __slots__ = ["count", "diagnostic", "first_sequence", "last_sequence", "late_us", "output", "reason", "stage"]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    DIAGNOSTIC_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    LAST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    LATE_US_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    count: int
    diagnostic: _status_pb2.Status
    first_sequence: int
    last_sequence: int
    late_us: int
    output: str
    reason: DropReason
    stage: DropStage
    def __init__(self, first_sequence: _Optional[int] = ..., last_sequence: _Optional[int] = ..., count: _Optional[int] = ..., reason: _Optional[_Union[DropReason, str]] = ..., stage: _Optional[_Union[DropStage, str]] = ..., late_us: _Optional[int] = ..., diagnostic: _Optional[_Union[_status_pb2.Status, _Mapping[str, object]]] = ..., output: _Optional[str] = ...) -> None: ...

class Error(_message.Message):
    __slots__ = ["request_id", "status"]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    request_id: int
    status: _status_pb2.Status
    def __init__(self, request_id: _Optional[int] = ..., status: _Optional[_Union[_status_pb2.Status, _Mapping[str, object]]] = ...) -> None: ...

class FilteredFrame(_message.Message):
    __slots__ = ["capture_time_ns", "disposition", "failure", "image", "output", "reencoded", "revision", "rtp_timestamp", "sequence", "tags", "timing", "unmodified"]
    class TagsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    CAPTURE_TIME_NS_FIELD_NUMBER: _ClassVar[int]
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    REENCODED_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    RTP_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TIMING_FIELD_NUMBER: _ClassVar[int]
    UNMODIFIED_FIELD_NUMBER: _ClassVar[int]
    capture_time_ns: int
    disposition: Disposition
    failure: _status_pb2.Status
    image: _image_pb2.Image
    output: str
    reencoded: bool
    revision: int
    rtp_timestamp: int
    sequence: int
    tags: _containers.ScalarMap[str, str]
    timing: FrameTiming
    unmodified: bool
    def __init__(self, sequence: _Optional[int] = ..., image: _Optional[_Union[_image_pb2.Image, _Mapping[str, object]]] = ..., capture_time_ns: _Optional[int] = ..., rtp_timestamp: _Optional[int] = ..., revision: _Optional[int] = ..., disposition: _Optional[_Union[Disposition, str]] = ..., unmodified: bool = ..., timing: _Optional[_Union[FrameTiming, _Mapping[str, object]]] = ..., tags: _Optional[_Mapping[str, str]] = ..., failure: _Optional[_Union[_status_pb2.Status, _Mapping[str, object]]] = ..., reencoded: bool = ..., output: _Optional[str] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ["budget_us", "capture_time_ns", "image", "must_process", "priority", "rtp_timestamp", "sequence", "tags", "trace"]
    class TagsEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    BUDGET_US_FIELD_NUMBER: _ClassVar[int]
    CAPTURE_TIME_NS_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    MUST_PROCESS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    RTP_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    TAGS_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    budget_us: int
    capture_time_ns: int
    image: _image_pb2.Image
    must_process: bool
    priority: int
    rtp_timestamp: int
    sequence: int
    tags: _containers.ScalarMap[str, str]
    trace: TraceContext
    def __init__(self, sequence: _Optional[int] = ..., image: _Optional[_Union[_image_pb2.Image, _Mapping[str, object]]] = ..., capture_time_ns: _Optional[int] = ..., rtp_timestamp: _Optional[int] = ..., budget_us: _Optional[int] = ..., trace: _Optional[_Union[TraceContext, _Mapping[str, object]]] = ..., priority: _Optional[int] = ..., must_process: bool = ..., tags: _Optional[_Mapping[str, str]] = ...) -> None: ...

class FrameTiming(_message.Message):
    __slots__ = ["process_us", "queue_us", "total_us"]
    PROCESS_US_FIELD_NUMBER: _ClassVar[int]
    QUEUE_US_FIELD_NUMBER: _ClassVar[int]
    TOTAL_US_FIELD_NUMBER: _ClassVar[int]
    process_us: int
    queue_us: int
    total_us: int
    def __init__(self, queue_us: _Optional[int] = ..., process_us: _Optional[int] = ..., total_us: _Optional[int] = ...) -> None: ...

class Glide(_message.Message):
    __slots__ = ["curve", "duration"]
    CURVE_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    curve: TransitionCurve
    duration: _duration_pb2.Duration
    def __init__(self, duration: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ..., curve: _Optional[_Union[TransitionCurve, str]] = ...) -> None: ...

class KeyFrameNeeded(_message.Message):
    __slots__ = ["reason", "sequence"]
    REASON_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    reason: KeyFrameReason
    sequence: int
    def __init__(self, sequence: _Optional[int] = ..., reason: _Optional[_Union[KeyFrameReason, str]] = ...) -> None: ...

class Limits(_message.Message):
    __slots__ = ["control_bytes_per_second", "control_units_per_second", "http2_frame_bytes", "max_allowed_filters", "max_concurrent_streams", "max_consecutive_errors", "max_dimension", "max_label_bytes", "max_message_bytes", "max_name_bytes", "max_outputs", "max_page_size", "max_parameters", "max_participant_bytes", "max_pipeline_bytes", "max_pipeline_depth", "max_pipeline_text_bytes", "max_pixels", "max_reason_bytes", "max_resume_token_bytes", "max_sessions", "max_sources", "max_stage_id_bytes", "max_stages", "max_tag_bytes", "max_tags", "max_text_bytes", "max_transition_duration", "max_vector_values", "stream_window_bytes"]
    CONTROL_BYTES_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    CONTROL_UNITS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    HTTP2_FRAME_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_ALLOWED_FILTERS_FIELD_NUMBER: _ClassVar[int]
    MAX_CONCURRENT_STREAMS_FIELD_NUMBER: _ClassVar[int]
    MAX_CONSECUTIVE_ERRORS_FIELD_NUMBER: _ClassVar[int]
    MAX_DIMENSION_FIELD_NUMBER: _ClassVar[int]
    MAX_LABEL_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_NAME_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    MAX_PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    MAX_PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    MAX_PARTICIPANT_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_PIPELINE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_PIPELINE_DEPTH_FIELD_NUMBER: _ClassVar[int]
    MAX_PIPELINE_TEXT_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_PIXELS_FIELD_NUMBER: _ClassVar[int]
    MAX_REASON_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_RESUME_TOKEN_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_SESSIONS_FIELD_NUMBER: _ClassVar[int]
    MAX_SOURCES_FIELD_NUMBER: _ClassVar[int]
    MAX_STAGES_FIELD_NUMBER: _ClassVar[int]
    MAX_STAGE_ID_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_TAGS_FIELD_NUMBER: _ClassVar[int]
    MAX_TAG_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_TEXT_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_TRANSITION_DURATION_FIELD_NUMBER: _ClassVar[int]
    MAX_VECTOR_VALUES_FIELD_NUMBER: _ClassVar[int]
    STREAM_WINDOW_BYTES_FIELD_NUMBER: _ClassVar[int]
    control_bytes_per_second: int
    control_units_per_second: int
    http2_frame_bytes: int
    max_allowed_filters: int
    max_concurrent_streams: int
    max_consecutive_errors: int
    max_dimension: int
    max_label_bytes: int
    max_message_bytes: int
    max_name_bytes: int
    max_outputs: int
    max_page_size: int
    max_parameters: int
    max_participant_bytes: int
    max_pipeline_bytes: int
    max_pipeline_depth: int
    max_pipeline_text_bytes: int
    max_pixels: int
    max_reason_bytes: int
    max_resume_token_bytes: int
    max_sessions: int
    max_sources: int
    max_stage_id_bytes: int
    max_stages: int
    max_tag_bytes: int
    max_tags: int
    max_text_bytes: int
    max_transition_duration: _duration_pb2.Duration
    max_vector_values: int
    stream_window_bytes: int
    def __init__(self, max_message_bytes: _Optional[int] = ..., max_dimension: _Optional[int] = ..., max_pixels: _Optional[int] = ..., max_stages: _Optional[int] = ..., max_consecutive_errors: _Optional[int] = ..., stream_window_bytes: _Optional[int] = ..., http2_frame_bytes: _Optional[int] = ..., max_concurrent_streams: _Optional[int] = ..., max_sessions: _Optional[int] = ..., max_pipeline_depth: _Optional[int] = ..., max_stage_id_bytes: _Optional[int] = ..., max_name_bytes: _Optional[int] = ..., max_text_bytes: _Optional[int] = ..., max_vector_values: _Optional[int] = ..., max_parameters: _Optional[int] = ..., max_pipeline_bytes: _Optional[int] = ..., max_pipeline_text_bytes: _Optional[int] = ..., max_label_bytes: _Optional[int] = ..., max_tags: _Optional[int] = ..., max_tag_bytes: _Optional[int] = ..., max_reason_bytes: _Optional[int] = ..., max_resume_token_bytes: _Optional[int] = ..., max_page_size: _Optional[int] = ..., control_units_per_second: _Optional[int] = ..., control_bytes_per_second: _Optional[int] = ..., max_participant_bytes: _Optional[int] = ..., max_allowed_filters: _Optional[int] = ..., max_transition_duration: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ..., max_outputs: _Optional[int] = ..., max_sources: _Optional[int] = ...) -> None: ...

class Move(_message.Message):
    __slots__ = ["addresses", "time_left"]
    ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    TIME_LEFT_FIELD_NUMBER: _ClassVar[int]
    addresses: _containers.RepeatedScalarFieldContainer[str]
    time_left: _duration_pb2.Duration
    def __init__(self, addresses: _Optional[_Iterable[str]] = ..., time_left: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ...) -> None: ...

class Open(_message.Message):
    __slots__ = ["accepts_move", "allow_degraded", "allow_unmodified", "allowed_filters", "analysis_only", "budget_us", "composition", "drop_policy", "failure_policy", "frames_in_flight", "label", "mailbox_depth", "max_fps", "output", "output_window", "outputs", "participant", "pipeline", "pipeline_text", "resume_token", "shared_memory", "stats_interval"]
    ACCEPTS_MOVE_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_FILTERS_FIELD_NUMBER: _ClassVar[int]
    ALLOW_DEGRADED_FIELD_NUMBER: _ClassVar[int]
    ALLOW_UNMODIFIED_FIELD_NUMBER: _ClassVar[int]
    ANALYSIS_ONLY_FIELD_NUMBER: _ClassVar[int]
    BUDGET_US_FIELD_NUMBER: _ClassVar[int]
    COMPOSITION_FIELD_NUMBER: _ClassVar[int]
    DROP_POLICY_FIELD_NUMBER: _ClassVar[int]
    FAILURE_POLICY_FIELD_NUMBER: _ClassVar[int]
    FRAMES_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    MAILBOX_DEPTH_FIELD_NUMBER: _ClassVar[int]
    MAX_FPS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_TEXT_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SHARED_MEMORY_FIELD_NUMBER: _ClassVar[int]
    STATS_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    accepts_move: bool
    allow_degraded: bool
    allow_unmodified: bool
    allowed_filters: _containers.RepeatedScalarFieldContainer[str]
    analysis_only: bool
    budget_us: int
    composition: Composition
    drop_policy: DropPolicy
    failure_policy: _pipeline_pb2.FailurePolicy
    frames_in_flight: int
    label: str
    mailbox_depth: int
    max_fps: float
    output: _pipeline_pb2.OutputSpec
    output_window: int
    outputs: _containers.RepeatedCompositeFieldContainer[Output]
    participant: str
    pipeline: _pipeline_pb2.Pipeline
    pipeline_text: str
    resume_token: bytes
    shared_memory: SharedMemoryRequest
    stats_interval: _duration_pb2.Duration
    def __init__(self, pipeline: _Optional[_Union[_pipeline_pb2.Pipeline, _Mapping[str, object]]] = ..., pipeline_text: _Optional[str] = ..., label: _Optional[str] = ..., drop_policy: _Optional[_Union[DropPolicy, str]] = ..., mailbox_depth: _Optional[int] = ..., budget_us: _Optional[int] = ..., output: _Optional[_Union[_pipeline_pb2.OutputSpec, _Mapping[str, object]]] = ..., allow_unmodified: bool = ..., analysis_only: bool = ..., failure_policy: _Optional[_Union[_pipeline_pb2.FailurePolicy, str]] = ..., allow_degraded: bool = ..., max_fps: _Optional[float] = ..., stats_interval: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ..., output_window: _Optional[int] = ..., shared_memory: _Optional[_Union[SharedMemoryRequest, _Mapping[str, object]]] = ..., resume_token: _Optional[bytes] = ..., participant: _Optional[str] = ..., allowed_filters: _Optional[_Iterable[str]] = ..., outputs: _Optional[_Iterable[_Union[Output, _Mapping[str, object]]]] = ..., composition: _Optional[_Union[Composition, _Mapping[str, object]]] = ..., frames_in_flight: _Optional[int] = ..., accepts_move: bool = ...) -> None: ...

class Opened(_message.Message):
    __slots__ = ["budget_us", "drop_policy", "frames_in_flight", "limits", "mailbox_depth", "output_window", "resume_token", "revision", "session_id", "shared_memory", "shared_memory_refusal"]
    BUDGET_US_FIELD_NUMBER: _ClassVar[int]
    DROP_POLICY_FIELD_NUMBER: _ClassVar[int]
    FRAMES_IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    MAILBOX_DEPTH_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_WINDOW_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    SESSION_ID_FIELD_NUMBER: _ClassVar[int]
    SHARED_MEMORY_FIELD_NUMBER: _ClassVar[int]
    SHARED_MEMORY_REFUSAL_FIELD_NUMBER: _ClassVar[int]
    budget_us: int
    drop_policy: DropPolicy
    frames_in_flight: int
    limits: Limits
    mailbox_depth: int
    output_window: int
    resume_token: bytes
    revision: int
    session_id: str
    shared_memory: SharedMemoryOffer
    shared_memory_refusal: _status_pb2.Status
    def __init__(self, session_id: _Optional[str] = ..., frames_in_flight: _Optional[int] = ..., revision: _Optional[int] = ..., limits: _Optional[_Union[Limits, _Mapping[str, object]]] = ..., drop_policy: _Optional[_Union[DropPolicy, str]] = ..., mailbox_depth: _Optional[int] = ..., budget_us: _Optional[int] = ..., output_window: _Optional[int] = ..., resume_token: _Optional[bytes] = ..., shared_memory: _Optional[_Union[SharedMemoryOffer, _Mapping[str, object]]] = ..., shared_memory_refusal: _Optional[_Union[_status_pb2.Status, _Mapping[str, object]]] = ...) -> None: ...

class Output(_message.Message):
    __slots__ = ["max_fps", "name", "output", "pipeline", "pipeline_text"]
    MAX_FPS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_TEXT_FIELD_NUMBER: _ClassVar[int]
    max_fps: float
    name: str
    output: _pipeline_pb2.OutputSpec
    pipeline: _pipeline_pb2.Pipeline
    pipeline_text: str
    def __init__(self, name: _Optional[str] = ..., output: _Optional[_Union[_pipeline_pb2.OutputSpec, _Mapping[str, object]]] = ..., pipeline: _Optional[_Union[_pipeline_pb2.Pipeline, _Mapping[str, object]]] = ..., pipeline_text: _Optional[str] = ..., max_fps: _Optional[float] = ...) -> None: ...

class Pause(_message.Message):
    __slots__ = ["pass_through"]
    PASS_THROUGH_FIELD_NUMBER: _ClassVar[int]
    pass_through: bool
    def __init__(self, pass_through: bool = ...) -> None: ...

class Ping(_message.Message):
    __slots__ = ["client_time_ns", "id"]
    CLIENT_TIME_NS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    client_time_ns: int
    id: int
    def __init__(self, id: _Optional[int] = ..., client_time_ns: _Optional[int] = ...) -> None: ...

class Pong(_message.Message):
    __slots__ = ["client_time_ns", "id", "server_received_ns", "server_sent_ns"]
    CLIENT_TIME_NS_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    SERVER_RECEIVED_NS_FIELD_NUMBER: _ClassVar[int]
    SERVER_SENT_NS_FIELD_NUMBER: _ClassVar[int]
    client_time_ns: int
    id: int
    server_received_ns: int
    server_sent_ns: int
    def __init__(self, id: _Optional[int] = ..., client_time_ns: _Optional[int] = ..., server_received_ns: _Optional[int] = ..., server_sent_ns: _Optional[int] = ...) -> None: ...

class RequestKeyFrame(_message.Message):
    __slots__ = ["output"]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    output: str
    def __init__(self, output: _Optional[str] = ...) -> None: ...

class Resume(_message.Message):
    __slots__: list[str] = []
    def __init__(self) -> None: ...

class Select(_message.Message):
    __slots__ = ["if_revision", "pipeline", "pipeline_text", "request_id", "transition"]
    IF_REVISION_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_TEXT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSITION_FIELD_NUMBER: _ClassVar[int]
    if_revision: int
    pipeline: _pipeline_pb2.Pipeline
    pipeline_text: str
    request_id: int
    transition: Transition
    def __init__(self, pipeline: _Optional[_Union[_pipeline_pb2.Pipeline, _Mapping[str, object]]] = ..., pipeline_text: _Optional[str] = ..., if_revision: _Optional[int] = ..., request_id: _Optional[int] = ..., transition: _Optional[_Union[Transition, _Mapping[str, object]]] = ...) -> None: ...

class ServerMessage(_message.Message):
    __slots__ = ["accepted", "advice", "analysis", "applied", "dropped", "error", "frame", "key_frame_needed", "opened", "pong", "state", "stats", "transition_ended"]
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    ANALYSIS_FIELD_NUMBER: _ClassVar[int]
    APPLIED_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    KEY_FRAME_NEEDED_FIELD_NUMBER: _ClassVar[int]
    OPENED_FIELD_NUMBER: _ClassVar[int]
    PONG_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATS_FIELD_NUMBER: _ClassVar[int]
    TRANSITION_ENDED_FIELD_NUMBER: _ClassVar[int]
    accepted: Accepted
    advice: Advice
    analysis: Analysis
    applied: Applied
    dropped: Dropped
    error: Error
    frame: FilteredFrame
    key_frame_needed: KeyFrameNeeded
    opened: Opened
    pong: Pong
    state: State
    stats: Stats
    transition_ended: TransitionEnded
    def __init__(self, frame: _Optional[_Union[FilteredFrame, _Mapping[str, object]]] = ..., dropped: _Optional[_Union[Dropped, _Mapping[str, object]]] = ..., analysis: _Optional[_Union[Analysis, _Mapping[str, object]]] = ..., opened: _Optional[_Union[Opened, _Mapping[str, object]]] = ..., applied: _Optional[_Union[Applied, _Mapping[str, object]]] = ..., stats: _Optional[_Union[Stats, _Mapping[str, object]]] = ..., advice: _Optional[_Union[Advice, _Mapping[str, object]]] = ..., state: _Optional[_Union[State, _Mapping[str, object]]] = ..., error: _Optional[_Union[Error, _Mapping[str, object]]] = ..., pong: _Optional[_Union[Pong, _Mapping[str, object]]] = ..., accepted: _Optional[_Union[Accepted, _Mapping[str, object]]] = ..., transition_ended: _Optional[_Union[TransitionEnded, _Mapping[str, object]]] = ..., key_frame_needed: _Optional[_Union[KeyFrameNeeded, _Mapping[str, object]]] = ...) -> None: ...

class SetComposition(_message.Message):
    __slots__ = ["composition", "request_id"]
    COMPOSITION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    composition: Composition
    request_id: int
    def __init__(self, composition: _Optional[_Union[Composition, _Mapping[str, object]]] = ..., request_id: _Optional[int] = ...) -> None: ...

class SetEncoder(_message.Message):
    __slots__ = ["bit_rate", "frame_rate", "height", "output", "request_id", "width"]
    BIT_RATE_FIELD_NUMBER: _ClassVar[int]
    FRAME_RATE_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    bit_rate: int
    frame_rate: float
    height: int
    output: str
    request_id: int
    width: int
    def __init__(self, bit_rate: _Optional[int] = ..., frame_rate: _Optional[float] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., request_id: _Optional[int] = ..., output: _Optional[str] = ...) -> None: ...

class SharedMemoryOffer(_message.Message):
    __slots__ = ["input_slots", "output_slots", "slot_bytes", "socket_path", "token"]
    INPUT_SLOTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SLOTS_FIELD_NUMBER: _ClassVar[int]
    SLOT_BYTES_FIELD_NUMBER: _ClassVar[int]
    SOCKET_PATH_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    input_slots: int
    output_slots: int
    slot_bytes: int
    socket_path: str
    token: bytes
    def __init__(self, socket_path: _Optional[str] = ..., token: _Optional[bytes] = ..., input_slots: _Optional[int] = ..., output_slots: _Optional[int] = ..., slot_bytes: _Optional[int] = ...) -> None: ...

class SharedMemoryRequest(_message.Message):
    __slots__ = ["input_slots", "output_slots", "slot_bytes"]
    INPUT_SLOTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_SLOTS_FIELD_NUMBER: _ClassVar[int]
    SLOT_BYTES_FIELD_NUMBER: _ClassVar[int]
    input_slots: int
    output_slots: int
    slot_bytes: int
    def __init__(self, slot_bytes: _Optional[int] = ..., input_slots: _Optional[int] = ..., output_slots: _Optional[int] = ...) -> None: ...

class State(_message.Message):
    __slots__ = ["message", "move", "resume_token", "revision", "state"]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MOVE_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    message: str
    move: Move
    resume_token: bytes
    revision: int
    state: SessionState
    def __init__(self, state: _Optional[_Union[SessionState, str]] = ..., message: _Optional[str] = ..., resume_token: _Optional[bytes] = ..., revision: _Optional[int] = ..., move: _Optional[_Union[Move, _Mapping[str, object]]] = ...) -> None: ...

class Stats(_message.Message):
    __slots__ = ["bytes_in", "bytes_out", "degraded", "dropped", "filtered", "final", "ignored_messages", "in_flight", "output", "outputs", "passed_through", "received"]
    class DropCount(_message.Message):
        __slots__ = ["count", "reason"]
        COUNT_FIELD_NUMBER: _ClassVar[int]
        REASON_FIELD_NUMBER: _ClassVar[int]
        count: int
        reason: DropReason
        def __init__(self, reason: _Optional[_Union[DropReason, str]] = ..., count: _Optional[int] = ...) -> None: ...
    BYTES_IN_FIELD_NUMBER: _ClassVar[int]
    BYTES_OUT_FIELD_NUMBER: _ClassVar[int]
    DEGRADED_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    FILTERED_FIELD_NUMBER: _ClassVar[int]
    FINAL_FIELD_NUMBER: _ClassVar[int]
    IGNORED_MESSAGES_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    PASSED_THROUGH_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    bytes_in: int
    bytes_out: int
    degraded: int
    dropped: _containers.RepeatedCompositeFieldContainer[Stats.DropCount]
    filtered: int
    final: bool
    ignored_messages: int
    in_flight: int
    output: str
    outputs: _containers.RepeatedCompositeFieldContainer[Stats]
    passed_through: int
    received: int
    def __init__(self, received: _Optional[int] = ..., filtered: _Optional[int] = ..., passed_through: _Optional[int] = ..., degraded: _Optional[int] = ..., dropped: _Optional[_Iterable[_Union[Stats.DropCount, _Mapping[str, object]]]] = ..., in_flight: _Optional[int] = ..., ignored_messages: _Optional[int] = ..., bytes_in: _Optional[int] = ..., bytes_out: _Optional[int] = ..., final: bool = ..., output: _Optional[str] = ..., outputs: _Optional[_Iterable[_Union[Stats, _Mapping[str, object]]]] = ...) -> None: ...

class TraceContext(_message.Message):
    __slots__ = ["traceparent", "tracestate"]
    TRACEPARENT_FIELD_NUMBER: _ClassVar[int]
    TRACESTATE_FIELD_NUMBER: _ClassVar[int]
    traceparent: str
    tracestate: str
    def __init__(self, traceparent: _Optional[str] = ..., tracestate: _Optional[str] = ...) -> None: ...

class Transition(_message.Message):
    __slots__ = ["curve", "direction", "duration", "kind", "seed", "softness"]
    CURVE_FIELD_NUMBER: _ClassVar[int]
    DIRECTION_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    SOFTNESS_FIELD_NUMBER: _ClassVar[int]
    curve: TransitionCurve
    direction: WipeDirection
    duration: _duration_pb2.Duration
    kind: TransitionKind
    seed: int
    softness: float
    def __init__(self, duration: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ..., curve: _Optional[_Union[TransitionCurve, str]] = ..., kind: _Optional[_Union[TransitionKind, str]] = ..., direction: _Optional[_Union[WipeDirection, str]] = ..., softness: _Optional[float] = ..., seed: _Optional[int] = ...) -> None: ...

class TransitionEnded(_message.Message):
    __slots__ = ["end", "first_sequence", "request_id", "revision"]
    END_FIELD_NUMBER: _ClassVar[int]
    FIRST_SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    end: TransitionEnd
    first_sequence: int
    request_id: int
    revision: int
    def __init__(self, revision: _Optional[int] = ..., request_id: _Optional[int] = ..., first_sequence: _Optional[int] = ..., end: _Optional[_Union[TransitionEnd, str]] = ...) -> None: ...

class Update(_message.Message):
    __slots__ = ["glide", "if_revision", "request_id", "stages"]
    class StageParameters(_message.Message):
        __slots__ = ["parameters", "stage"]
        class ParametersEntry(_message.Message):
            __slots__ = ["key", "value"]
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: _pipeline_pb2.ParameterValue
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_pipeline_pb2.ParameterValue, _Mapping[str, object]]] = ...) -> None: ...
        PARAMETERS_FIELD_NUMBER: _ClassVar[int]
        STAGE_FIELD_NUMBER: _ClassVar[int]
        parameters: _containers.MessageMap[str, _pipeline_pb2.ParameterValue]
        stage: str
        def __init__(self, stage: _Optional[str] = ..., parameters: _Optional[_Mapping[str, _pipeline_pb2.ParameterValue]] = ...) -> None: ...
    GLIDE_FIELD_NUMBER: _ClassVar[int]
    IF_REVISION_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    glide: Glide
    if_revision: int
    request_id: int
    stages: _containers.RepeatedCompositeFieldContainer[Update.StageParameters]
    def __init__(self, stages: _Optional[_Iterable[_Union[Update.StageParameters, _Mapping[str, object]]]] = ..., if_revision: _Optional[int] = ..., request_id: _Optional[int] = ..., glide: _Optional[_Union[Glide, _Mapping[str, object]]] = ...) -> None: ...

class DropPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class CompositionLayout(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class Disposition(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class DropReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class DropStage(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class TransitionKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class TransitionCurve(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class WipeDirection(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class KeyFrameReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class TransitionEnd(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class SessionState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
