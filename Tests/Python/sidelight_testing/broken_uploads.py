"""Uploads of assets that no client should make, as a raw peer makes them."""

import hashlib

from .contract import assets as messages
from .protobuf import field
from .raw import message

PUT_ASSET = "/sidelight.v1.Assets/PutAsset"
# The least table there is.
TABLE = b"LUT_1D_SIZE 2\n1 1 1\n0 0 0\n"


def header(size_bytes: int = len(TABLE), name: str = "x", sha256: bytes = b"") -> bytes:
    """How an upload begins."""
    fields = messages.AssetHeader(name=name, size_bytes=size_bytes, sha256=sha256)
    return _part(messages.PutAssetRequest(header=fields))


def chunk(content: bytes) -> bytes:
    """How it goes on."""
    return _part(messages.PutAssetRequest(chunk=content))


def _part(request: messages.PutAssetRequest) -> bytes:
    return message(request.SerializeToString())


# The bytes sent in a call of `PutAsset`, whether the client then closes its side, and the statuses
# that may follow.
BROKEN_UPLOADS = {
    "an upload of nothing": ([], True, {9}),
    "an upload without a header": ([chunk(TABLE)], False, {9}),
    "an upload of two headers": ([header(), header()], False, {9}),
    "an upload whose header comes last": ([chunk(TABLE), header()], True, {9}),
    "a part that is neither header nor chunk": ([header(), message(b"")], False, {9}),
    "a part of the future": ([header(), message(field(9, b"future"))], False, {9}),
    "an empty chunk": ([header(), chunk(b"")], False, {9}),
    "a header and no file": ([header()], True, {3}),
    "less of a file than was stated": ([header(), chunk(TABLE[:-1])], True, {3}),
    "more of a file than was stated": ([header(), chunk(TABLE + b"\n")], False, {3}),
    "a file of no bytes": ([header(0)], True, {3}),
    "a file over the limit": ([header((16 << 20) + 1)], False, {3}),
    "a file of 2^64 - 1 bytes": ([header(2**64 - 1)], False, {3}),
    "more chunks than may be": ([header(10_000)] + [chunk(b"#")] * 8193, False, {3}),
    "a digest of 31 bytes": ([header(sha256=bytes(31))], False, {3}),
    "a digest of a megabyte": ([header(sha256=bytes(900_000))], False, {3}),
    "another file's digest": ([header(sha256=bytes(32)), chunk(TABLE)], True, {3}),
    "a digest of the file but for a bit": (
        [header(sha256=bytes([1]) + hashlib.sha256(TABLE).digest()[1:]), chunk(TABLE)], True, {3},
    ),
    "an asset without a name": ([header(name="")], False, {3}),
    "an asset named as a path": ([header(name="../../etc/passwd")], False, {3}),
    "an asset named as the frame": ([header(name="source")], False, {3}),
    "an asset with a name of many bytes": ([header(name="x" * 900_000)], False, {3}),
    "an asset named in no UTF-8": ([message(field(1, field(1, b"\xff\xfe")))], False, {3, 13}),
    "a chunk over the limit of a message": ([header(3 << 20), chunk(bytes(2 << 20))], False, {8}),
    "a chunk of 4 GiB": ([header(), message(b"abc", length=2**32 - 1)], False, {8}),
    "a chunk that is cut off": ([header(), message(b"abc", length=100)], True, {3}),
    "a chunk longer than its message": ([header(), message(b"\x12\x7f#")], False, {3, 13}),
    "a chunk that is said to be compressed": ([header(), message(b"abc", flags=1)], False, {12}),
    "a bomb of headers of assets": ([message(field(1, b"") * 200_000)], False, {8}),
    "a bomb of chunks": ([header(), message(field(2, b"") * 200_000)], False, {8}),
}
