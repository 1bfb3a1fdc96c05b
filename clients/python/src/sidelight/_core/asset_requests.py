"""The calls of the service for assets, as values."""

from __future__ import annotations

import hashlib
import os
from typing import Any, NamedTuple, Optional

from ..catalogue import Filter
from ..v1 import assets_pb2
from .requests import Operation

#: The size of an upload's chunks in bytes.
CHUNK_BYTES = 256 << 10

_ASSETS = "/sidelight.v1.Assets/"
PUT_ASSET = _ASSETS + "PutAsset"


class Asset(NamedTuple):
    """An asset that pipelines can name."""

    name: str
    #: "image", "cube" or "kernel".
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
    #: The name, summary, reach and parameters of a kernel; `None` for other kinds.
    kernel: Optional[Filter]


def asset_upload(name: str, data: Any, participant: str) -> list[Any]:
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
        {1: "image", 2: "cube", 4: "font", 5: "kernel"}.get(message.kind, "unknown"),
        {1: "caller", 2: "server", 3: "participant"}.get(message.origin, "unknown"),
        message.width,
        message.height,
        message.entries,
        message.file_bytes,
        message.memory_bytes,
        message.sha256,
        message.age.ToTimedelta().total_seconds() if message.HasField("age") else None,
        Filter.of(message.kernel) if message.HasField("kernel") else None,
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
