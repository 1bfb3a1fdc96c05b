from google.protobuf import duration_pb2 as _duration_pb2
from sidelight.v1 import catalogue_pb2 as _catalogue_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ASSET_KIND_CUBE: AssetKind
ASSET_KIND_FONT: AssetKind
ASSET_KIND_IMAGE: AssetKind
ASSET_KIND_KERNEL: AssetKind
ASSET_KIND_UNSPECIFIED: AssetKind
ASSET_ORIGIN_CALLER: AssetOrigin
ASSET_ORIGIN_PARTICIPANT: AssetOrigin
ASSET_ORIGIN_SERVER: AssetOrigin
ASSET_ORIGIN_UNSPECIFIED: AssetOrigin
DESCRIPTOR: _descriptor.FileDescriptor

class Asset(_message.Message):
    __slots__ = ["age", "entries", "file_bytes", "font", "height", "is_cube", "kernel", "kind", "memory_bytes", "name", "origin", "sha256", "width"]
    AGE_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    FILE_BYTES_FIELD_NUMBER: _ClassVar[int]
    FONT_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    IS_CUBE_FIELD_NUMBER: _ClassVar[int]
    KERNEL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    age: _duration_pb2.Duration
    entries: int
    file_bytes: int
    font: str
    height: int
    is_cube: bool
    kernel: _catalogue_pb2.FilterDescription
    kind: AssetKind
    memory_bytes: int
    name: str
    origin: AssetOrigin
    sha256: bytes
    width: int
    def __init__(self, name: _Optional[str] = ..., kind: _Optional[_Union[AssetKind, str]] = ..., origin: _Optional[_Union[AssetOrigin, str]] = ..., width: _Optional[int] = ..., height: _Optional[int] = ..., entries: _Optional[int] = ..., is_cube: bool = ..., file_bytes: _Optional[int] = ..., memory_bytes: _Optional[int] = ..., sha256: _Optional[bytes] = ..., age: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ..., font: _Optional[str] = ..., kernel: _Optional[_Union[_catalogue_pb2.FilterDescription, _Mapping[str, object]]] = ...) -> None: ...

class AssetHeader(_message.Message):
    __slots__ = ["name", "participant", "sha256", "size_bytes"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    name: str
    participant: str
    sha256: bytes
    size_bytes: int
    def __init__(self, name: _Optional[str] = ..., size_bytes: _Optional[int] = ..., sha256: _Optional[bytes] = ..., participant: _Optional[str] = ...) -> None: ...

class AssetLimits(_message.Message):
    __slots__ = ["lifetime", "max_assets", "max_assets_per_caller", "max_chunks", "max_file_bytes", "max_memory_bytes", "max_memory_bytes_per_caller", "max_pixels", "max_upload_bytes", "max_upload_bytes_per_caller", "upload_timeout"]
    LIFETIME_FIELD_NUMBER: _ClassVar[int]
    MAX_ASSETS_FIELD_NUMBER: _ClassVar[int]
    MAX_ASSETS_PER_CALLER_FIELD_NUMBER: _ClassVar[int]
    MAX_CHUNKS_FIELD_NUMBER: _ClassVar[int]
    MAX_FILE_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_MEMORY_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_MEMORY_BYTES_PER_CALLER_FIELD_NUMBER: _ClassVar[int]
    MAX_PIXELS_FIELD_NUMBER: _ClassVar[int]
    MAX_UPLOAD_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_UPLOAD_BYTES_PER_CALLER_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    lifetime: _duration_pb2.Duration
    max_assets: int
    max_assets_per_caller: int
    max_chunks: int
    max_file_bytes: int
    max_memory_bytes: int
    max_memory_bytes_per_caller: int
    max_pixels: int
    max_upload_bytes: int
    max_upload_bytes_per_caller: int
    upload_timeout: _duration_pb2.Duration
    def __init__(self, max_file_bytes: _Optional[int] = ..., max_pixels: _Optional[int] = ..., max_assets_per_caller: _Optional[int] = ..., max_assets: _Optional[int] = ..., max_memory_bytes_per_caller: _Optional[int] = ..., max_memory_bytes: _Optional[int] = ..., max_upload_bytes_per_caller: _Optional[int] = ..., max_upload_bytes: _Optional[int] = ..., max_chunks: _Optional[int] = ..., upload_timeout: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ..., lifetime: _Optional[_Union[_duration_pb2.Duration, _Mapping[str, object]]] = ...) -> None: ...

class DeleteAssetRequest(_message.Message):
    __slots__ = ["name", "participant"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    name: str
    participant: str
    def __init__(self, name: _Optional[str] = ..., participant: _Optional[str] = ...) -> None: ...

class DeleteAssetResponse(_message.Message):
    __slots__: list[str] = []
    def __init__(self) -> None: ...

class ListAssetsRequest(_message.Message):
    __slots__ = ["participant"]
    PARTICIPANT_FIELD_NUMBER: _ClassVar[int]
    participant: str
    def __init__(self, participant: _Optional[str] = ...) -> None: ...

class ListAssetsResponse(_message.Message):
    __slots__ = ["assets"]
    ASSETS_FIELD_NUMBER: _ClassVar[int]
    assets: _containers.RepeatedCompositeFieldContainer[Asset]
    def __init__(self, assets: _Optional[_Iterable[_Union[Asset, _Mapping[str, object]]]] = ...) -> None: ...

class PutAssetRequest(_message.Message):
    __slots__ = ["chunk", "header"]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    chunk: bytes
    header: AssetHeader
    def __init__(self, header: _Optional[_Union[AssetHeader, _Mapping[str, object]]] = ..., chunk: _Optional[bytes] = ...) -> None: ...

class PutAssetResponse(_message.Message):
    __slots__ = ["asset", "replaced"]
    ASSET_FIELD_NUMBER: _ClassVar[int]
    REPLACED_FIELD_NUMBER: _ClassVar[int]
    asset: Asset
    replaced: bool
    def __init__(self, asset: _Optional[_Union[Asset, _Mapping[str, object]]] = ..., replaced: bool = ...) -> None: ...

class AssetKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []

class AssetOrigin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__: list[str] = []
