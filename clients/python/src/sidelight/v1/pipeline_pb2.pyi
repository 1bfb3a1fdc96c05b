from sidelight.v1 import image_pb2 as _image_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

CHROMA_SUBSAMPLING_420: ChromaSubsampling
CHROMA_SUBSAMPLING_422: ChromaSubsampling
CHROMA_SUBSAMPLING_444: ChromaSubsampling
CHROMA_SUBSAMPLING_UNSPECIFIED: ChromaSubsampling
DESCRIPTOR: _descriptor.FileDescriptor
ENCODER_EFFORT_BALANCED: EncoderEffort
ENCODER_EFFORT_BEST: EncoderEffort
ENCODER_EFFORT_FAST: EncoderEffort
ENCODER_EFFORT_UNSPECIFIED: EncoderEffort
FAILURE_POLICY_BLUR: FailurePolicy
FAILURE_POLICY_DROP: FailurePolicy
FAILURE_POLICY_PASS_THROUGH: FailurePolicy
FAILURE_POLICY_UNSPECIFIED: FailurePolicy
FIT_MODE_ASPECT_FILL: FitMode
FIT_MODE_ASPECT_FIT: FitMode
FIT_MODE_STRETCH: FitMode
FIT_MODE_UNSPECIFIED: FitMode
LENGTH_UNIT_HEIGHT: LengthUnit
LENGTH_UNIT_PIXELS: LengthUnit
LENGTH_UNIT_SHORT_SIDE: LengthUnit
LENGTH_UNIT_UNSPECIFIED: LengthUnit
LENGTH_UNIT_WIDTH: LengthUnit
WORKING_SPACE_SRGB_GAMMA: WorkingSpace
WORKING_SPACE_SRGB_LINEAR: WorkingSpace
WORKING_SPACE_UNSPECIFIED: WorkingSpace

class Color(_message.Message):
    __slots__ = ["alpha", "blue", "green", "red"]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    BLUE_FIELD_NUMBER: _ClassVar[int]
    GREEN_FIELD_NUMBER: _ClassVar[int]
    RED_FIELD_NUMBER: _ClassVar[int]
    alpha: float
    blue: float
    green: float
    red: float
    def __init__(self, red: _Optional[float] = ..., green: _Optional[float] = ..., blue: _Optional[float] = ..., alpha: _Optional[float] = ...) -> None: ...

class EncoderSpec(_message.Message):
    __slots__ = ["bit_rate", "effort", "frame_rate", "key_frame_interval", "temporal_layers"]
    BIT_RATE_FIELD_NUMBER: _ClassVar[int]
    EFFORT_FIELD_NUMBER: _ClassVar[int]
    FRAME_RATE_FIELD_NUMBER: _ClassVar[int]
    KEY_FRAME_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    TEMPORAL_LAYERS_FIELD_NUMBER: _ClassVar[int]
    bit_rate: int
    effort: EncoderEffort
    frame_rate: float
    key_frame_interval: int
    temporal_layers: int
    def __init__(self, bit_rate: _Optional[int] = ..., frame_rate: _Optional[float] = ..., key_frame_interval: _Optional[int] = ..., temporal_layers: _Optional[int] = ..., effort: _Optional[_Union[EncoderEffort, str]] = ...) -> None: ...

class Filter(_message.Message):
    __slots__ = ["name", "parameters"]
    class ParametersEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: ParameterValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ParameterValue, _Mapping[str, object]]] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    name: str
    parameters: _containers.MessageMap[str, ParameterValue]
    def __init__(self, name: _Optional[str] = ..., parameters: _Optional[_Mapping[str, ParameterValue]] = ...) -> None: ...

class Length(_message.Message):
    __slots__ = ["unit", "value"]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    unit: LengthUnit
    value: float
    def __init__(self, value: _Optional[float] = ..., unit: _Optional[_Union[LengthUnit, str]] = ...) -> None: ...

class OutputSpec(_message.Message):
    __slots__ = ["encoder", "fit", "format", "height", "jpeg_quality", "jpeg_subsampling", "upright", "width"]
    ENCODER_FIELD_NUMBER: _ClassVar[int]
    FIT_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    JPEG_QUALITY_FIELD_NUMBER: _ClassVar[int]
    JPEG_SUBSAMPLING_FIELD_NUMBER: _ClassVar[int]
    UPRIGHT_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    encoder: EncoderSpec
    fit: FitMode
    format: _image_pb2.PixelFormat
    height: int
    jpeg_quality: int
    jpeg_subsampling: ChromaSubsampling
    upright: bool
    width: int
    def __init__(self, format: _Optional[_Union[_image_pb2.PixelFormat, str]] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., fit: _Optional[_Union[FitMode, str]] = ..., upright: bool = ..., jpeg_quality: _Optional[int] = ..., jpeg_subsampling: _Optional[_Union[ChromaSubsampling, str]] = ..., encoder: _Optional[_Union[EncoderSpec, _Mapping[str, object]]] = ...) -> None: ...

class ParameterValue(_message.Message):
    __slots__ = ["color", "flag", "length", "number", "point", "text", "vector"]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    FLAG_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    POINT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    VECTOR_FIELD_NUMBER: _ClassVar[int]
    color: Color
    flag: bool
    length: Length
    number: float
    point: Point
    text: str
    vector: Vector
    def __init__(self, number: _Optional[float] = ..., length: _Optional[_Union[Length, _Mapping[str, object]]] = ..., point: _Optional[_Union[Point, _Mapping[str, object]]] = ..., color: _Optional[_Union[Color, _Mapping[str, object]]] = ..., vector: _Optional[_Union[Vector, _Mapping[str, object]]] = ..., flag: bool = ..., text: _Optional[str] = ...) -> None: ...

class Pipeline(_message.Message):
    __slots__ = ["stages", "working_space"]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    WORKING_SPACE_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedCompositeFieldContainer[Stage]
    working_space: WorkingSpace
    def __init__(self, stages: _Optional[_Iterable[_Union[Stage, _Mapping[str, object]]]] = ..., working_space: _Optional[_Union[WorkingSpace, str]] = ...) -> None: ...

class Point(_message.Message):
    __slots__ = ["x", "y"]
    X_FIELD_NUMBER: _ClassVar[int]
    Y_FIELD_NUMBER: _ClassVar[int]
    x: Length
    y: Length
    def __init__(self, x: _Optional[_Union[Length, _Mapping[str, object]]] = ..., y: _Optional[_Union[Length, _Mapping[str, object]]] = ...) -> None: ...

class Region(_message.Message):
    __slots__ = ["height", "origin", "width"]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    height: Length
    origin: Point
    width: Length
    def __init__(self, origin: _Optional[_Union[Point, _Mapping[str, object]]] = ..., width: _Optional[_Union[Length, _Mapping[str, object]]] = ..., height: _Optional[_Union[Length, _Mapping[str, object]]] = ...) -> None: ...

class Stage(_message.Message):
    __slots__ = ["active", "failure_policy", "filter", "id", "mix", "pipeline", "region"]
    ACTIVE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_POLICY_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    MIX_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    REGION_FIELD_NUMBER: _ClassVar[int]
    active: bool
    failure_policy: FailurePolicy
    filter: Filter
    id: str
    mix: float
    pipeline: Pipeline
    region: Region
    def __init__(self, id: _Optional[str] = ..., active: bool = ..., mix: _Optional[float] = ..., region: _Optional[_Union[Region, _Mapping[str, object]]] = ..., filter: _Optional[_Union[Filter, _Mapping[str, object]]] = ..., pipeline: _Optional[_Union[Pipeline, _Mapping[str, object]]] = ..., failure_policy: _Optional[_Union[FailurePolicy, str]] = ...) -> None: ...

class Vector(_message.Message):
    __slots__ = ["values"]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...

class WorkingSpace(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class FailurePolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class LengthUnit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class EncoderEffort(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class FitMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ChromaSubsampling(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
