"""Uploads as any client would make them, and pictures to upload."""

import hashlib
import io
import os
from pathlib import Path

import numpy as np
import PIL.Image

from .contract import assets as messages

CHUNK_BYTES = 64 << 10


def upload(name: str, content: bytes, chunk_bytes: int = CHUNK_BYTES, **header: object):
    """The messages of an upload: a header, then chunks."""
    fields = {"name": name, "size_bytes": len(content), **header}
    yield messages.PutAssetRequest(header=messages.AssetHeader(**fields))
    for start in range(0, len(content), chunk_bytes):
        yield messages.PutAssetRequest(chunk=content[start : start + chunk_bytes])


def put(stub, name: str, content: bytes, **options: object):
    """Puts a file, with its digest to be verified."""
    digest = hashlib.sha256(content).digest()
    return stub.PutAsset(upload(name, content, sha256=digest, **options), timeout=60)


def png(pixels: np.ndarray) -> bytes:
    """A PNG of rows by columns by channels."""
    return encoded(PIL.Image.fromarray(pixels), "PNG")


def encoded(picture: PIL.Image.Image, kind: str, **options: object) -> bytes:
    """A picture's file."""
    file = io.BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def sticker(size: int = 160) -> np.ndarray:
    """A round sticker with a soft edge, straight alpha: a face where there are pictures, else a drawn
    one."""
    media = os.environ.get("SIDELIGHT_TEST_MEDIA")
    y, x = np.mgrid[:size, :size]
    if media and (path := Path(media) / "astronaut.png").is_file():
        face = PIL.Image.open(path).convert("RGB").crop((130, 20, 330, 220)).resize((size, size))
        colors = np.asarray(face)
    else:
        waves = [np.sin(x / 9), np.sin(y / 7), np.sin((x + y) / 11)]
        colors = np.stack([128 + 127 * wave for wave in waves], axis=-1)
    distance = np.hypot(x - (size - 1) / 2, y - (size - 1) / 2)
    alpha = np.clip((size / 2 - distance) / (size / 10), 0, 1) * 255
    return np.concatenate([colors, alpha[..., None]], axis=-1).round().astype(np.uint8)


def cube_file(table: np.ndarray, title: str = "Test") -> bytes:
    """A `.cube` file of a table indexed by blue, green, red: red runs fastest."""
    lines = [f'TITLE "{title}"', f"LUT_3D_SIZE {table.shape[0]}"]
    lines += [" ".join(f"{value:.7f}" for value in entry) for entry in table.reshape(-1, 3)]
    return ("\n".join(lines) + "\n").encode()
