from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ALPHA_MODE_OPAQUE: AlphaMode
ALPHA_MODE_PREMULTIPLIED: AlphaMode
ALPHA_MODE_STRAIGHT: AlphaMode
ALPHA_MODE_UNSPECIFIED: AlphaMode
COLOR_MATRIX_BT601: ColorMatrix
COLOR_MATRIX_BT709: ColorMatrix
COLOR_MATRIX_UNSPECIFIED: ColorMatrix
COLOR_RANGE_FULL: ColorRange
COLOR_RANGE_UNSPECIFIED: ColorRange
COLOR_RANGE_VIDEO: ColorRange
DESCRIPTOR: _descriptor.FileDescriptor
PIXEL_FORMAT_AV1: PixelFormat
PIXEL_FORMAT_BGRA8: PixelFormat
PIXEL_FORMAT_GRAY8: PixelFormat
PIXEL_FORMAT_H264: PixelFormat
PIXEL_FORMAT_I420: PixelFormat
PIXEL_FORMAT_JPEG: PixelFormat
PIXEL_FORMAT_NV12: PixelFormat
PIXEL_FORMAT_PNG: PixelFormat
PIXEL_FORMAT_RGB24: PixelFormat
PIXEL_FORMAT_RGBA8: PixelFormat
PIXEL_FORMAT_UNSPECIFIED: PixelFormat
PIXEL_FORMAT_VP8: PixelFormat
PIXEL_FORMAT_VP9: PixelFormat
ROTATION_180: Rotation
ROTATION_270: Rotation
ROTATION_90: Rotation
ROTATION_UNSPECIFIED: Rotation

class ColorDescription(_message.Message):
    __slots__ = ["alpha", "matrix", "range"]
    ALPHA_FIELD_NUMBER: _ClassVar[int]
    MATRIX_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    alpha: AlphaMode
    matrix: ColorMatrix
    range: ColorRange
    def __init__(self, range: _Optional[_Union[ColorRange, str]] = ..., matrix: _Optional[_Union[ColorMatrix, str]] = ..., alpha: _Optional[_Union[AlphaMode, str]] = ...) -> None: ...

class EncodedPicture(_message.Message):
    __slots__ = ["depends_on", "key_frame", "temporal_layer"]
    DEPENDS_ON_FIELD_NUMBER: _ClassVar[int]
    KEY_FRAME_FIELD_NUMBER: _ClassVar[int]
    TEMPORAL_LAYER_FIELD_NUMBER: _ClassVar[int]
    depends_on: _containers.RepeatedScalarFieldContainer[int]
    key_frame: bool
    temporal_layer: int
    def __init__(self, key_frame: bool = ..., temporal_layer: _Optional[int] = ..., depends_on: _Optional[_Iterable[int]] = ...) -> None: ...

class Image(_message.Message):
    __slots__ = ["color", "encoded", "format", "height", "inline", "orientation", "planes", "shared_memory", "width"]
    COLOR_FIELD_NUMBER: _ClassVar[int]
    ENCODED_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    INLINE_FIELD_NUMBER: _ClassVar[int]
    ORIENTATION_FIELD_NUMBER: _ClassVar[int]
    PLANES_FIELD_NUMBER: _ClassVar[int]
    SHARED_MEMORY_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    color: ColorDescription
    encoded: EncodedPicture
    format: PixelFormat
    height: int
    inline: bytes
    orientation: Orientation
    planes: _containers.RepeatedCompositeFieldContainer[Plane]
    shared_memory: SharedMemorySlot
    width: int
    def __init__(self, format: _Optional[_Union[PixelFormat, str]] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., planes: _Optional[_Iterable[_Union[Plane, _Mapping[str, object]]]] = ..., color: _Optional[_Union[ColorDescription, _Mapping[str, object]]] = ..., orientation: _Optional[_Union[Orientation, _Mapping[str, object]]] = ..., encoded: _Optional[_Union[EncodedPicture, _Mapping[str, object]]] = ..., inline: _Optional[bytes] = ..., shared_memory: _Optional[_Union[SharedMemorySlot, _Mapping[str, object]]] = ...) -> None: ...

class Orientation(_message.Message):
    __slots__ = ["mirrored", "rotation"]
    MIRRORED_FIELD_NUMBER: _ClassVar[int]
    ROTATION_FIELD_NUMBER: _ClassVar[int]
    mirrored: bool
    rotation: Rotation
    def __init__(self, rotation: _Optional[_Union[Rotation, str]] = ..., mirrored: bool = ...) -> None: ...

class Plane(_message.Message):
    __slots__ = ["offset", "stride"]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    STRIDE_FIELD_NUMBER: _ClassVar[int]
    offset: int
    stride: int
    def __init__(self, offset: _Optional[int] = ..., stride: _Optional[int] = ...) -> None: ...

class SharedMemorySlot(_message.Message):
    __slots__ = ["length", "slot"]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    SLOT_FIELD_NUMBER: _ClassVar[int]
    length: int
    slot: int
    def __init__(self, slot: _Optional[int] = ..., length: _Optional[int] = ...) -> None: ...

class PixelFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ColorRange(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class ColorMatrix(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class AlphaMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class Rotation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
