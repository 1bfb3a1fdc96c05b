"""Invalid asset files."""

import struct
import zlib

import numpy as np
import PIL.Image

from . import assets


def chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def bomb(width: int, height: int) -> bytes:
    """A short PNG that states a large picture."""
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    pixels = zlib.compress(bytes(1 << 20))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def jpeg_bomb() -> bytes:
    """A short JPEG that states 65,000 by 65,000 pixels."""
    file = bytearray(assets.encoded(PIL.Image.new("RGB", (16, 16)), "JPEG"))
    at = file.index(b"\xff\xc0")
    file[at + 5 : at + 9] = struct.pack(">HH", 65000, 65000)
    return bytes(file)


def noisy(size: int = 64) -> PIL.Image.Image:
    colors = np.random.default_rng(2).integers(0, 256, (size, size, 3), dtype=np.uint8)
    return PIL.Image.fromarray(colors)


def corrupt(file: bytes) -> bytes:
    middle = len(file) // 2
    return file[:middle] + bytes(64) + file[middle + 64 :]


# The uploaded bytes, the reason of the refusal, and a word of its message.
BROKEN_FILES = {
    "an image bomb": (lambda: bomb(16000, 16000), "ASSET_TOO_LARGE", "16000x16000"),
    "a picture wider than any": (lambda: bomb(1 << 30, 1), "ASSET_TOO_LARGE", "1073741824"),
    "a picture just over the limit": (lambda: bomb(4097, 2160), "ASSET_TOO_LARGE", "8847360"),
    "a picture without pixels": (lambda: bomb(0, 5), "ASSET_UNREADABLE", "0x5"),
    "a JPEG bomb": (jpeg_bomb, "ASSET_TOO_LARGE", "65000x65000"),
    "a PNG that is cut off": (
        lambda: assets.encoded(noisy(), "PNG")[:-40], "ASSET_UNREADABLE", "ends",
    ),
    "a PNG of its signature": (lambda: b"\x89PNG\r\n\x1a\n", "ASSET_UNREADABLE", "ends"),
    "a corrupt PNG": (lambda: corrupt(assets.encoded(noisy(), "PNG")), "ASSET_UNREADABLE", ""),
    "a JPEG that is cut off": (
        lambda: assets.encoded(noisy(), "JPEG")[:-200], "ASSET_UNREADABLE", "",
    ),
    "a corrupt JPEG": (
        lambda: corrupt(assets.encoded(noisy(), "JPEG")), "ASSET_UNREADABLE", "",
    ),
    "a CMYK JPEG": (
        lambda: assets.encoded(noisy().convert("CMYK"), "JPEG"), "ASSET_UNREADABLE", "CMYK",
    ),
    "a GIF": (lambda: assets.encoded(noisy().convert("P"), "GIF"), "ASSET_UNREADABLE", ".cube"),
    "zeros": (lambda: bytes(4096), "ASSET_UNREADABLE", ".cube"),
    "noise": (
        lambda: np.random.default_rng(5).bytes(100_000), "ASSET_UNREADABLE", ".cube",
    ),
    "a table that states more than it has": (
        lambda: b"LUT_3D_SIZE 129\n0 0 0\n", "ASSET_UNREADABLE", "1 entries",
    ),
    "a keyword of a million accents": (
        lambda: ("A" + "\u0301" * 1_000_000).encode(), "ASSET_UNREADABLE", "not a keyword",
    ),
    "a number of a million accents": (
        lambda: ("LUT_1D_SIZE 2\n0 0" + "\u0301" * 1_000_000).encode(), "ASSET_UNREADABLE", "line 2",
    ),
    "a table of one endless line": (
        lambda: b"LUT_1D_SIZE 2\n" + b"0 " * 500_000, "ASSET_UNREADABLE", "line 2",
    ),
}
