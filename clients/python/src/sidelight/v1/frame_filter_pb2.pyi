from google.protobuf import duration_pb2 as _duration_pb2
from sidelight.v1 import assets_pb2 as _assets_pb2
from sidelight.v1 import catalogue_pb2 as _catalogue_pb2
from sidelight.v1 import image_pb2 as _image_pb2
from sidelight.v1 import pipeline_pb2 as _pipeline_pb2
from sidelight.v1 import session_pb2 as _session_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
TRANSPORT_EXECUTOR_CONCURRENT: TransportExecutor
TRANSPORT_EXECUTOR_EVENT_LOOPS: TransportExecutor
TRANSPORT_EXECUTOR_UNSPECIFIED: TransportExecutor

class AllocatorSettings(_message.Message):
    __slots__ = ["arenas", "idle_release_ms", "map_threshold_bytes", "top_pad_bytes", "trim_threshold_bytes"]
    ARENAS_FIELD_NUMBER: _ClassVar[int]
    IDLE_RELEASE_MS_FIELD_NUMBER: _ClassVar[int]
    MAP_THRESHOLD_BYTES_FIELD_NUMBER: _ClassVar[int]
    TOP_PAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    TRIM_THRESHOLD_BYTES_FIELD_NUMBER: _ClassVar[int]
    arenas: int
    idle_release_ms: int
    map_threshold_bytes: int
    top_pad_bytes: int
    trim_threshold_bytes: int
    def __init__(self, map_threshold_bytes: _Optional[int] = ..., trim_threshold_bytes: _Optional[int] = ..., top_pad_bytes: _Optional[int] = ..., arenas: _Optional[int] = ..., idle_release_ms: _Optional[int] = ...) -> None: ...

class ApplyRequest(_message.Message):
    __slots__ = ["capture_time_ns", "frame_index", "image", "output", "participant", "pipeline", "pipeline_text"]
    CAPTURE_TIME_NS_FIELD_NUMBER: _ClassVar[int]
    FRAME_INDEX_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_TEXT_FIELD_NUMBER: _ClassVar[int]
    capture_time_ns: int
    frame_index: int
    image: _image_pb2.Image
    output: _pipeline_pb2.OutputSpec
    participant: str
    pipeline: _pipeline_pb2.Pipeline
    pipeline_text: str
    def __init__(self, image: _Optional[_Union[_image_pb2.Image, _Mapping[str, object]]] = ..., pipeline: _Optional[_Union[_pipeline_pb2.Pipeline, _Mapping[str, object]]] = ..., pipeline_text: _Optional[str] = ..., output: _Optional[_Union[_pipeline_pb2.OutputSpec, _Mapping[str, object]]] = ..., frame_index: _Optional[int] = ..., participant: _Optional[str] = ..., capture_time_ns: _Optional[int] = ...) -> None: ...

class ApplyResponse(_message.Message):
    __slots__ = ["disposition", "image", "timing"]
    DISPOSITION_FIELD_NUMBER: _ClassVar[int]
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    TIMING_FIELD_NUMBER: _ClassVar[int]
    disposition: _session_pb2.Disposition
    image: _image_pb2.Image
    timing: _session_pb2.FrameTiming
    def __init__(self, image: _Optional[_Union[_image_pb2.Image, _Mapping[str, object]]] = ..., disposition: _Optional[_Union[_session_pb2.Disposition, str]] = ..., timing: _Optional[_Union[_session_pb2.FrameTiming, _Mapping[str, object]]] = ...) -> None: ...

class CheckPipelineRequest(_message.Message):
    __slots__ = ["color", "format", "height", "participant", "pipeline", "text", "width"]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    color: _image_pb2.ColorDescription
    format: _image_pb2.PixelFormat
    height: int
    participant: str
    pipeline: _pipeline_pb2.Pipeline
    text: str
    width: int
    def __init__(self, pipeline: _Optional[_Union[_pipeline_pb2.Pipeline, _Mapping[str, object]]] = ..., text: _Optional[str] = ..., format: _Optional[_Union[_image_pb2.PixelFormat, str]] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., color: _Optional[_Union[_image_pb2.ColorDescription, _Mapping[str, object]]] = ..., participant: _Optional[str] = ...) -> None: ...

class CheckPipelineResponse(_message.Message):
    __slots__ = ["estimated_cost_us", "kernels", "omitted_passes", "passes", "pipeline", "text"]
    ESTIMATED_COST_US_FIELD_NUMBER: _ClassVar[int]
    KERNELS_FIELD_NUMBER: _ClassVar[int]
    OMITTED_PASSES_FIELD_NUMBER: _ClassVar[int]
    PASSES_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    estimated_cost_us: int
    kernels: _containers.RepeatedCompositeFieldContainer[KernelStage]
    omitted_passes: int
    passes: _containers.RepeatedCompositeFieldContainer[CompiledPass]
    pipeline: _pipeline_pb2.Pipeline
    text: str
    def __init__(self, pipeline: _Optional[_Union[_pipeline_pb2.Pipeline, _Mapping[str, object]]] = ..., text: _Optional[str] = ..., passes: _Optional[_Iterable[_Union[CompiledPass, _Mapping[str, object]]]] = ..., estimated_cost_us: _Optional[int] = ..., omitted_passes: _Optional[int] = ..., kernels: _Optional[_Iterable[_Union[KernelStage, _Mapping[str, object]]]] = ...) -> None: ...

class CompiledPass(_message.Message):
    __slots__ = ["description", "filters", "name"]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    description: str
    filters: _containers.RepeatedScalarFieldContainer[str]
    name: str
    def __init__(self, name: _Optional[str] = ..., filters: _Optional[_Iterable[str]] = ..., description: _Optional[str] = ...) -> None: ...

class DescribeFilterRequest(_message.Message):
    __slots__ = ["name"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class DescribeFilterResponse(_message.Message):
    __slots__ = ["filter"]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    filter: _catalogue_pb2.FilterDescription
    def __init__(self, filter: _Optional[_Union[_catalogue_pb2.FilterDescription, _Mapping[str, object]]] = ...) -> None: ...

class GetServerInfoRequest(_message.Message):
    __slots__: list[str] = []
    def __init__(self) -> None: ...

class GetServerInfoResponse(_message.Message):
    __slots__ = ["asset_limits", "codecs", "features", "instruction_set", "limits", "load", "transport", "version"]
    ASSET_LIMITS_FIELD_NUMBER: _ClassVar[int]
    CODECS_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTION_SET_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    LOAD_FIELD_NUMBER: _ClassVar[int]
    TRANSPORT_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    asset_limits: _assets_pb2.AssetLimits
    codecs: _containers.RepeatedCompositeFieldContainer[VideoCodec]
    features: _containers.RepeatedScalarFieldContainer[str]
    instruction_set: str
    limits: _session_pb2.Limits
    load: Load
    transport: TransportSettings
    version: str
    def __init__(self, version: _Optional[str] = ..., limits: _Optional[_Union[_session_pb2.Limits, _Mapping[str, object]]] = ..., features: _Optional[_Iterable[str]] = ..., load: _Optional[_Union[Load, _Mapping[str, object]]] = ..., instruction_set: _Optional[str] = ..., transport: _Optional[_Union[TransportSettings, _Mapping[str, object]]] = ..., asset_limits: _Optional[_Union[_assets_pb2.AssetLimits, _Mapping[str, object]]] = ..., codecs: _Optional[_Iterable[_Union[VideoCodec, _Mapping[str, object]]]] = ...) -> None: ...

class KernelStage(_message.Message):
    __slots__ = ["kernel", "nanoseconds_per_pixel", "stage"]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    NANOSECONDS_PER_PIXEL_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    kernel: _catalogue_pb2.FilterDescription
    nanoseconds_per_pixel: float
    stage: str
    def __init__(self, stage: _Optional[str] = ..., kernel: _Optional[_Union[_catalogue_pb2.FilterDescription, _Mapping[str, object]]] = ..., nanoseconds_per_pixel: _Optional[float] = ...) -> None: ...

class ListFiltersRequest(_message.Message):
    __slots__ = ["category", "participant"]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    category: str
    participant: str
    def __init__(self, category: _Optional[str] = ..., participant: _Optional[str] = ...) -> None: ...

class ListFiltersResponse(_message.Message):
    __slots__ = ["filters"]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    filters: _containers.RepeatedCompositeFieldContainer[_catalogue_pb2.FilterDescription]
    def __init__(self, filters: _Optional[_Iterable[_Union[_catalogue_pb2.FilterDescription, _Mapping[str, object]]]] = ...) -> None: ...

class Load(_message.Message):
    __slots__ = ["asset_bytes", "assets", "compute_threads", "frames", "pool_bytes_idle", "pool_bytes_in_use", "pool_hit_rate", "scheduler_load", "sessions", "shared_memory_bytes"]
    ASSETS_FIELD_NUMBER: _ClassVar[int]
    ASSET_BYTES_FIELD_NUMBER: _ClassVar[int]
    COMPUTE_THREADS_FIELD_NUMBER: _ClassVar[int]
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    POOL_BYTES_IDLE_FIELD_NUMBER: _ClassVar[int]
    POOL_BYTES_IN_USE_FIELD_NUMBER: _ClassVar[int]
    POOL_HIT_RATE_FIELD_NUMBER: _ClassVar[int]
    SCHEDULER_LOAD_FIELD_NUMBER: _ClassVar[int]
    SESSIONS_FIELD_NUMBER: _ClassVar[int]
    SHARED_MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    asset_bytes: int
    assets: int
    compute_threads: int
    frames: _session_pb2.Stats
    pool_bytes_idle: int
    pool_bytes_in_use: int
    pool_hit_rate: float
    scheduler_load: float
    sessions: int
    shared_memory_bytes: int
    def __init__(self, sessions: _Optional[int] = ..., compute_threads: _Optional[int] = ..., pool_bytes_in_use: _Optional[int] = ..., pool_bytes_idle: _Optional[int] = ..., pool_hit_rate: _Optional[float] = ..., scheduler_load: _Optional[float] = ..., frames: _Optional[_Union[_session_pb2.Stats, _Mapping[str, object]]] = ..., shared_memory_bytes: _Optional[int] = ..., assets: _Optional[int] = ..., asset_bytes: _Optional[int] = ...) -> None: ...

class PlaceRequest(_message.Message):
    __slots__ = ["cost", "group", "participant"]
    COST_FIELD_NUMBER: _ClassVar[int]
    GROUP_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    cost: float
    group: str
    participant: str
    def __init__(self, group: _Optional[str] = ..., participant: _Optional[str] = ..., cost: _Optional[float] = ...) -> None: ...

class PlaceResponse(_message.Message):
    __slots__ = ["addresses", "time_to_live"]
    ADDRESSES_FIELD_NUMBER: _ClassVar[int]
    TIME_TO_LIVE_FIELD_NUMBER: _ClassVar[int]
    addresses: _containers.RepeatedScalarFieldContainer[str]
    time_to_live: _duration_pb2.Duration
    def __init__(self, addresses: _Optional[_Iterable[str]] = ..., time_to_live: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ...) -> None: ...

class TransportSettings(_message.Message):
    __slots__ = ["allocator", "event_loops", "executor", "flush_bytes", "flush_delay_us", "http2_frame_bytes", "max_concurrent_streams", "max_message_bytes", "profile", "receive_buffer_bytes", "stream_window_bytes", "unix_socket_buffer_bytes"]
    ALLOCATOR_FIELD_NUMBER: _ClassVar[int]
    EVENT_LOOPS_FIELD_NUMBER: _ClassVar[int]
    EXECUTOR_FIELD_NUMBER: _ClassVar[int]
    FLUSH_BYTES_FIELD_NUMBER: _ClassVar[int]
    FLUSH_DELAY_US_FIELD_NUMBER: _ClassVar[int]
    HTTP2_FRAME_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_CONCURRENT_STREAMS_FIELD_NUMBER: _ClassVar[int]
    MAX_MESSAGE_BYTES_FIELD_NUMBER: _ClassVar[int]
    PROFILE_FIELD_NUMBER: _ClassVar[int]
    RECEIVE_BUFFER_BYTES_FIELD_NUMBER: _ClassVar[int]
    STREAM_WINDOW_BYTES_FIELD_NUMBER: _ClassVar[int]
    UNIX_SOCKET_BUFFER_BYTES_FIELD_NUMBER: _ClassVar[int]
    allocator: AllocatorSettings
    event_loops: int
    executor: TransportExecutor
    flush_bytes: int
    flush_delay_us: int
    http2_frame_bytes: int
    max_concurrent_streams: int
    max_message_bytes: int
    profile: str
    receive_buffer_bytes: int
    stream_window_bytes: int
    unix_socket_buffer_bytes: int
    def __init__(self, profile: _Optional[str] = ..., max_message_bytes: _Optional[int] = ..., stream_window_bytes: _Optional[int] = ..., http2_frame_bytes: _Optional[int] = ..., max_concurrent_streams: _Optional[int] = ..., receive_buffer_bytes: _Optional[int] = ..., flush_delay_us: _Optional[int] = ..., flush_bytes: _Optional[int] = ..., executor: _Optional[_Union[TransportExecutor, str]] = ..., event_loops: _Optional[int] = ..., unix_socket_buffer_bytes: _Optional[int] = ..., allocator: _Optional[_Union[AllocatorSettings, _Mapping[str, object]]] = ...) -> None: ...

class VideoCodec(_message.Message):
    __slots__ = ["decodes", "encodes", "format", "library"]
    DECODES_FIELD_NUMBER: _ClassVar[int]
    ENCODES_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    LIBRARY_FIELD_NUMBER: _ClassVar[int]
    decodes: bool
    encodes: bool
    format: _image_pb2.PixelFormat
    library: str
    def __init__(self, format: _Optional[_Union[_image_pb2.PixelFormat, str]] = ..., library: _Optional[str] = ..., decodes: bool = ..., encodes: bool = ...) -> None: ...

class TransportExecutor(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
