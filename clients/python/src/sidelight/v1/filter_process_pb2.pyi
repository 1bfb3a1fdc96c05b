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
FILTER_KIND_ANALYSIS: FilterKind
FILTER_KIND_FACES: FilterKind
FILTER_KIND_MATTE: FilterKind
FILTER_KIND_PICTURE: FilterKind
FILTER_KIND_UNSPECIFIED: FilterKind

class FilterOffer(_message.Message):
    __slots__ = ["every_nth", "fills_output", "filter", "format", "is_stateful", "keeps_positions", "kind", "output"]
    EVERY_NTH_FIELD_NUMBER: _ClassVar[int]
    FILLS_OUTPUT_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    IS_STATEFUL_FIELD_NUMBER: _ClassVar[int]
    KEEPS_POSITIONS_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    every_nth: int
    fills_output: bool
    filter: _catalogue_pb2.FilterDescription
    format: _image_pb2.PixelFormat
    is_stateful: bool
    keeps_positions: bool
    kind: FilterKind
    output: OutputSize
    def __init__(self, filter: _Optional[_Union[_catalogue_pb2.FilterDescription, _Mapping[str, object]]] = ..., kind: _Optional[_Union[FilterKind, str]] = ..., format: _Optional[_Union[_image_pb2.PixelFormat, str]] = ..., output: _Optional[_Union[OutputSize, _Mapping[str, object]]] = ..., is_stateful: bool = ..., every_nth: _Optional[int] = ..., fills_output: bool = ..., keeps_positions: bool = ...) -> None: ...

class HostMessage(_message.Message):
    __slots__ = ["cancel", "close_session", "frame", "open_session", "welcome"]
    class Cancel(_message.Message):
        __slots__ = ["frame"]
        FRAME_FIELD_NUMBER: _ClassVar[int]
        frame: int
        def __init__(self, frame: _Optional[int] = ...) -> None: ...
    class CloseSession(_message.Message):
        __slots__ = ["session"]
        SESSION_FIELD_NUMBER: _ClassVar[int]
        session: int
        def __init__(self, session: _Optional[int] = ...) -> None: ...
    class Frame(_message.Message):
        __slots__ = ["arrival_time_ns", "budget_us", "capture_time_ns", "color", "faces", "frame", "index", "input", "orientation", "output", "parameters", "sequence", "session"]
        ARRIVAL_TIME_NS_FIELD_NUMBER: _ClassVar[int]
        BUDGET_US_FIELD_NUMBER: _ClassVar[int]
        CAPTURE_TIME_NS_FIELD_NUMBER: _ClassVar[int]
        COLOR_FIELD_NUMBER: _ClassVar[int]
        FACES_FIELD_NUMBER: _ClassVar[int]
        FRAME_FIELD_NUMBER: _ClassVar[int]
        INDEX_FIELD_NUMBER: _ClassVar[int]
        INPUT_FIELD_NUMBER: _ClassVar[int]
        ORIENTATION_FIELD_NUMBER: _ClassVar[int]
        OUTPUT_FIELD_NUMBER: _ClassVar[int]
        PARAMETERS_FIELD_NUMBER: _ClassVar[int]
        SEQUENCE_FIELD_NUMBER: _ClassVar[int]
        SESSION_FIELD_NUMBER: _ClassVar[int]
        arrival_time_ns: int
        budget_us: int
        capture_time_ns: int
        color: _image_pb2.ColorDescription
        faces: _containers.RepeatedCompositeFieldContainer[_session_pb2.Detection]
        frame: int
        index: int
        input: HostMessage.Picture
        orientation: _image_pb2.Orientation
        output: HostMessage.Picture
        parameters: HostMessage.Parameters
        sequence: int
        session: int
        def __init__(self, frame: _Optional[int] = ..., session: _Optional[int] = ..., input: _Optional[_Union[HostMessage.Picture, _Mapping[str, object]]] = ..., output: _Optional[_Union[HostMessage.Picture, _Mapping[str, object]]] = ..., budget_us: _Optional[int] = ..., parameters: _Optional[_Union[HostMessage.Parameters, _Mapping[str, object]]] = ..., sequence: _Optional[int] = ..., index: _Optional[int] = ..., capture_time_ns: _Optional[int] = ..., arrival_time_ns: _Optional[int] = ..., orientation: _Optional[_Union[_image_pb2.Orientation, _Mapping[str, object]]] = ..., color: _Optional[_Union[_image_pb2.ColorDescription, _Mapping[str, object]]] = ..., faces: _Optional[_Iterable[_Union[_session_pb2.Detection, _Mapping[str, object]]]] = ...) -> None: ...
    class OpenSession(_message.Message):
        __slots__ = ["filter", "label", "parameters", "session"]
        class ParametersEntry(_message.Message):
            __slots__ = ["key", "value"]
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: _pipeline_pb2.ParameterValue
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_pipeline_pb2.ParameterValue, _Mapping[str, object]]] = ...) -> None: ...
        FILTER_FIELD_NUMBER: _ClassVar[int]
        LABEL_FIELD_NUMBER: _ClassVar[int]
        PARAMETERS_FIELD_NUMBER: _ClassVar[int]
        SESSION_FIELD_NUMBER: _ClassVar[int]
        filter: str
        label: str
        parameters: _containers.MessageMap[str, _pipeline_pb2.ParameterValue]
        session: int
        def __init__(self, session: _Optional[int] = ..., filter: _Optional[str] = ..., parameters: _Optional[_Mapping[str, _pipeline_pb2.ParameterValue]] = ..., label: _Optional[str] = ...) -> None: ...
    class Parameters(_message.Message):
        __slots__ = ["values"]
        class ValuesEntry(_message.Message):
            __slots__ = ["key", "value"]
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: _pipeline_pb2.ParameterValue
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_pipeline_pb2.ParameterValue, _Mapping[str, object]]] = ...) -> None: ...
        VALUES_FIELD_NUMBER: _ClassVar[int]
        values: _containers.MessageMap[str, _pipeline_pb2.ParameterValue]
        def __init__(self, values: _Optional[_Mapping[str, _pipeline_pb2.ParameterValue]] = ...) -> None: ...
    class Picture(_message.Message):
        __slots__ = ["height", "planes", "width"]
        HEIGHT_FIELD_NUMBER: _ClassVar[int]
        PLANES_FIELD_NUMBER: _ClassVar[int]
        WIDTH_FIELD_NUMBER: _ClassVar[int]
        height: int
        planes: _containers.RepeatedCompositeFieldContainer[_image_pb2.Plane]
        width: int
        def __init__(self, width: _Optional[int] = ..., height: _Optional[int] = ..., planes: _Optional[_Iterable[_Union[_image_pb2.Plane, _Mapping[str, object]]]] = ...) -> None: ...
    class Welcome(_message.Message):
        __slots__ = ["memory_bytes", "version"]
        MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
        VERSION_FIELD_NUMBER: _ClassVar[int]
        memory_bytes: int
        version: int
        def __init__(self, version: _Optional[int] = ..., memory_bytes: _Optional[int] = ...) -> None: ...
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    CLOSE_SESSION_FIELD_NUMBER: _ClassVar[int]
    FRAME_FIELD_NUMBER: _ClassVar[int]
    OPEN_SESSION_FIELD_NUMBER: _ClassVar[int]
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    cancel: HostMessage.Cancel
    close_session: HostMessage.CloseSession
    frame: HostMessage.Frame
    open_session: HostMessage.OpenSession
    welcome: HostMessage.Welcome
    def __init__(self, welcome: _Optional[_Union[HostMessage.Welcome, _Mapping[str, object]]] = ..., open_session: _Optional[_Union[HostMessage.OpenSession, _Mapping[str, object]]] = ..., frame: _Optional[_Union[HostMessage.Frame, _Mapping[str, object]]] = ..., cancel: _Optional[_Union[HostMessage.Cancel, _Mapping[str, object]]] = ..., close_session: _Optional[_Union[HostMessage.CloseSession, _Mapping[str, object]]] = ...) -> None: ...

class OutputSize(_message.Message):
    __slots__ = ["height", "scale", "width"]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    SCALE_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    height: int
    scale: float
    width: int
    def __init__(self, width: _Optional[int] = ..., height: _Optional[int] = ..., scale: _Optional[float] = ...) -> None: ...

class ProcessMessage(_message.Message):
    __slots__ = ["failed", "hello", "opened", "refused", "result"]
    class Face(_message.Message):
        __slots__ = ["confidence", "height", "landmarks", "width", "x", "y"]
        CONFIDENCE_FIELD_NUMBER: _ClassVar[int]
        HEIGHT_FIELD_NUMBER: _ClassVar[int]
        LANDMARKS_FIELD_NUMBER: _ClassVar[int]
        WIDTH_FIELD_NUMBER: _ClassVar[int]
        X_FIELD_NUMBER: _ClassVar[int]
        Y_FIELD_NUMBER: _ClassVar[int]
        confidence: float
        height: float
        landmarks: ProcessMessage.Landmarks
        width: float
        x: float
        y: float
        def __init__(self, x: _Optional[float] = ..., y: _Optional[float] = ..., width: _Optional[float] = ..., height: _Optional[float] = ..., confidence: _Optional[float] = ..., landmarks: _Optional[_Union[ProcessMessage.Landmarks, _Mapping[str, object]]] = ...) -> None: ...
    class Failed(_message.Message):
        __slots__ = ["detail", "frame", "message", "process_us"]
        DETAIL_FIELD_NUMBER: _ClassVar[int]
        FRAME_FIELD_NUMBER: _ClassVar[int]
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        PROCESS_US_FIELD_NUMBER: _ClassVar[int]
        detail: str
        frame: int
        message: str
        process_us: int
        def __init__(self, frame: _Optional[int] = ..., message: _Optional[str] = ..., detail: _Optional[str] = ..., process_us: _Optional[int] = ...) -> None: ...
    class Hello(_message.Message):
        __slots__ = ["filters", "library", "token", "versions"]
        FILTERS_FIELD_NUMBER: _ClassVar[int]
        LIBRARY_FIELD_NUMBER: _ClassVar[int]
        TOKEN_FIELD_NUMBER: _ClassVar[int]
        VERSIONS_FIELD_NUMBER: _ClassVar[int]
        filters: _containers.RepeatedCompositeFieldContainer[FilterOffer]
        library: str
        token: str
        versions: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, versions: _Optional[_Iterable[int]] = ..., token: _Optional[str] = ..., filters: _Optional[_Iterable[_Union[FilterOffer, _Mapping[str, object]]]] = ..., library: _Optional[str] = ...) -> None: ...
    class Landmarks(_message.Message):
        __slots__ = ["left_eye_x", "left_eye_y", "mouth_x", "mouth_y", "right_eye_x", "right_eye_y"]
        LEFT_EYE_X_FIELD_NUMBER: _ClassVar[int]
        LEFT_EYE_Y_FIELD_NUMBER: _ClassVar[int]
        MOUTH_X_FIELD_NUMBER: _ClassVar[int]
        MOUTH_Y_FIELD_NUMBER: _ClassVar[int]
        RIGHT_EYE_X_FIELD_NUMBER: _ClassVar[int]
        RIGHT_EYE_Y_FIELD_NUMBER: _ClassVar[int]
        left_eye_x: float
        left_eye_y: float
        mouth_x: float
        mouth_y: float
        right_eye_x: float
        right_eye_y: float
        def __init__(self, left_eye_x: _Optional[float] = ..., left_eye_y: _Optional[float] = ..., right_eye_x: _Optional[float] = ..., right_eye_y: _Optional[float] = ..., mouth_x: _Optional[float] = ..., mouth_y: _Optional[float] = ...) -> None: ...
    class Opened(_message.Message):
        __slots__ = ["session"]
        SESSION_FIELD_NUMBER: _ClassVar[int]
        session: int
        def __init__(self, session: _Optional[int] = ...) -> None: ...
    class Refused(_message.Message):
        __slots__ = ["detail", "message", "session"]
        DETAIL_FIELD_NUMBER: _ClassVar[int]
        MESSAGE_FIELD_NUMBER: _ClassVar[int]
        SESSION_FIELD_NUMBER: _ClassVar[int]
        detail: str
        message: str
        session: int
        def __init__(self, session: _Optional[int] = ..., message: _Optional[str] = ..., detail: _Optional[str] = ...) -> None: ...
    class Result(_message.Message):
        __slots__ = ["analysis", "faces", "frame", "process_us"]
        ANALYSIS_FIELD_NUMBER: _ClassVar[int]
        FACES_FIELD_NUMBER: _ClassVar[int]
        FRAME_FIELD_NUMBER: _ClassVar[int]
        PROCESS_US_FIELD_NUMBER: _ClassVar[int]
        analysis: _session_pb2.Analysis
        faces: _containers.RepeatedCompositeFieldContainer[ProcessMessage.Face]
        frame: int
        process_us: int
        def __init__(self, frame: _Optional[int] = ..., process_us: _Optional[int] = ..., analysis: _Optional[_Union[_session_pb2.Analysis, _Mapping[str, object]]] = ..., faces: _Optional[_Iterable[_Union[ProcessMessage.Face, _Mapping[str, object]]]] = ...) -> None: ...
    FAILED_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    OPENED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    failed: ProcessMessage.Failed
    hello: ProcessMessage.Hello
    opened: ProcessMessage.Opened
    refused: ProcessMessage.Refused
    result: ProcessMessage.Result
    def __init__(self, hello: _Optional[_Union[ProcessMessage.Hello, _Mapping[str, object]]] = ..., opened: _Optional[_Union[ProcessMessage.Opened, _Mapping[str, object]]] = ..., refused: _Optional[_Union[ProcessMessage.Refused, _Mapping[str, object]]] = ..., result: _Optional[_Union[ProcessMessage.Result, _Mapping[str, object]]] = ..., failed: _Optional[_Union[ProcessMessage.Failed, _Mapping[str, object]]] = ...) -> None: ...

class FilterKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
