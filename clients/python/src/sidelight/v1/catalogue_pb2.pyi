from sidelight.v1 import pipeline_pb2 as _pipeline_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor
FIDELITY_APPROXIMATION: Fidelity
FIDELITY_CUSTOM: Fidelity
FIDELITY_FORMULA: Fidelity
FIDELITY_MODELLED: Fidelity
FIDELITY_UNSPECIFIED: Fidelity
PARAMETER_KIND_ASSET: ParameterKind
PARAMETER_KIND_CHOICE: ParameterKind
PARAMETER_KIND_COLOR: ParameterKind
PARAMETER_KIND_FLAG: ParameterKind
PARAMETER_KIND_LENGTH: ParameterKind
PARAMETER_KIND_NUMBER: ParameterKind
PARAMETER_KIND_POINT: ParameterKind
PARAMETER_KIND_TEXT: ParameterKind
PARAMETER_KIND_UNSPECIFIED: ParameterKind
PARAMETER_KIND_VECTOR: ParameterKind
PARAMETER_UNIT_KELVIN: ParameterUnit
PARAMETER_UNIT_PIXELS: ParameterUnit
PARAMETER_UNIT_RADIANS: ParameterUnit
PARAMETER_UNIT_STOPS: ParameterUnit
PARAMETER_UNIT_UNSPECIFIED: ParameterUnit
REACH_FRAME: Reach
REACH_NEIGHBORHOOD: Reach
REACH_PIXEL: Reach
REACH_UNSPECIFIED: Reach

class ChoiceDefaults(_message.Message):
    __slots__ = ["parameter", "values"]
    class ValuesEntry(_message.Message):
        __slots__ = ["key", "value"]
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _pipeline_pb2.ParameterValue
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_pipeline_pb2.ParameterValue, _Mapping[str, object]]] = ...) -> None: ...
    PARAMETER_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    parameter: str
    values: _containers.MessageMap[str, _pipeline_pb2.ParameterValue]
    def __init__(self, parameter: _Optional[str] = ..., values: _Optional[_Mapping[str, _pipeline_pb2.ParameterValue]] = ...) -> None: ...

class FilterDescription(_message.Message):
    __slots__ = ["category", "core_image_name", "examples", "fidelity", "formula", "keywords", "name", "parameters", "reach", "requirement", "summary"]
    CATEGORY_FIELD_NUMBER: _ClassVar[int]
    CORE_IMAGE_NAME_FIELD_NUMBER: _ClassVar[int]
    EXAMPLES_FIELD_NUMBER: _ClassVar[int]
    FIDELITY_FIELD_NUMBER: _ClassVar[int]
    FORMULA_FIELD_NUMBER: _ClassVar[int]
    KEYWORDS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    REACH_FIELD_NUMBER: _ClassVar[int]
    REQUIREMENT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    category: str
    core_image_name: str
    examples: _containers.RepeatedCompositeFieldContainer[_pipeline_pb2.Pipeline]
    fidelity: Fidelity
    formula: str
    keywords: str
    name: str
    parameters: _containers.RepeatedCompositeFieldContainer[ParameterDescription]
    reach: Reach
    requirement: str
    summary: str
    def __init__(self, name: _Optional[str] = ..., summary: _Optional[str] = ..., category: _Optional[str] = ..., reach: _Optional[_Union[Reach, str]] = ..., fidelity: _Optional[_Union[Fidelity, str]] = ..., formula: _Optional[str] = ..., parameters: _Optional[_Iterable[_Union[ParameterDescription, _Mapping[str, object]]]] = ..., core_image_name: _Optional[str] = ..., requirement: _Optional[str] = ..., keywords: _Optional[str] = ..., examples: _Optional[_Iterable[_Union[_pipeline_pb2.Pipeline, _Mapping[str, object]]]] = ...) -> None: ...

class NumberRange(_message.Message):
    __slots__ = ["maximum", "minimum"]
    MAXIMUM_FIELD_NUMBER: _ClassVar[int]
    MINIMUM_FIELD_NUMBER: _ClassVar[int]
    maximum: float
    minimum: float
    def __init__(self, minimum: _Optional[float] = ..., maximum: _Optional[float] = ...) -> None: ...

class ParameterDescription(_message.Message):
    __slots__ = ["asset_kind", "choice_defaults", "choices", "default_value", "kind", "limits", "name", "slider", "summary", "unit", "vector_length"]
    ASSET_KIND_FIELD_NUMBER: _ClassVar[int]
    CHOICES_FIELD_NUMBER: _ClassVar[int]
    CHOICE_DEFAULTS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_VALUE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SLIDER_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    VECTOR_LENGTH_FIELD_NUMBER: _ClassVar[int]
    asset_kind: str
    choice_defaults: ChoiceDefaults
    choices: _containers.RepeatedScalarFieldContainer[str]
    default_value: _pipeline_pb2.ParameterValue
    kind: ParameterKind
    limits: NumberRange
    name: str
    slider: NumberRange
    summary: str
    unit: ParameterUnit
    vector_length: int
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[ParameterKind, str]] = ..., default_value: _Optional[_Union[_pipeline_pb2.ParameterValue, _Mapping[str, object]]] = ..., slider: _Optional[_Union[NumberRange, _Mapping[str, object]]] = ..., limits: _Optional[_Union[NumberRange, _Mapping[str, object]]] = ..., unit: _Optional[_Union[ParameterUnit, str]] = ..., choices: _Optional[_Iterable[str]] = ..., vector_length: _Optional[int] = ..., summary: _Optional[str] = ..., asset_kind: _Optional[str] = ..., choice_defaults: _Optional[_Union[ChoiceDefaults, _Mapping[str, object]]] = ...) -> None: ...

class Fidelity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class Reach(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ParameterKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ParameterUnit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
