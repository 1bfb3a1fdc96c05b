"""The facts about frames of encoded video that a sender needs, read from their first bytes.

The server checks frames in full; this package only finds key frames and disposable frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ._formats import PixelFormat
from ._validation import invalid

__all__ = ["FrameFacts", "frame_facts"]


class FrameFacts(NamedTuple):
    """The facts about a frame."""

    is_key_frame: bool
    #: Whether no later frame depends on it; `False` also where its bytes do not tell simply.
    is_disposable: bool = False


def frame_facts(codec: PixelFormat, data: memoryview) -> FrameFacts:
    """Returns the facts about a frame.

    Raises `InvalidArgument` for bytes that do not begin like a frame of the codec.
    """
    if codec is PixelFormat.H264:
        return _h264(data)
    if codec is PixelFormat.VP8:
        # RFC 6386, section 9.1.
        return FrameFacts(data[0] & 1 == 0)
    if codec is PixelFormat.VP9:
        return _vp9(data)
    return _av1(data)


def _h264(data: memoryview) -> FrameFacts:
    """ITU-T H.264, section 7.3.1 and annex B."""
    if bytes(data[:3]) == b"\0\0\1" or bytes(data[:4]) == b"\0\0\0\1":
        for header in _nal_headers(data):
            kind = header & 31
            if kind in (1, 5):
                return FrameFacts(kind == 5, header >> 5 & 3 == 0)
    raise invalid(
        "data",
        bytes(data[:8]),
        "an access unit of H.264 with start codes (Annex B). Packets of MP4 and Matroska files have "
        "lengths instead; the bitstream filter h264_mp4toannexb converts them",
    )


def _nal_headers(data: memoryview) -> Iterator[int]:
    content, at = bytes(data), 0
    while True:
        at = content.find(b"\0\0\1", at) + 3
        if at < 3 or at >= len(content):
            return
        yield content[at]


def _vp9(data: memoryview) -> FrameFacts:
    """VP9 Bitstream & Decoding Process Specification, section 6.2."""
    first = data[0]
    if first >> 6 != 2:
        raise invalid("data", bytes(data[:1]), "a frame of VP9")
    if first >> 4 & 3 == 3:
        raise invalid("data", bytes(data[:1]), "a frame of VP9 of profile 0")
    shows_existing, is_delta = first >> 3 & 1, first >> 2 & 1
    return FrameFacts(not shows_existing and not is_delta)


def _av1(data: memoryview) -> FrameFacts:
    """AV1 Bitstream & Decoding Process Specification, section 5.3 to 5.9."""
    at, end = 0, data.nbytes
    is_reduced = False
    try:
        while at < end:
            header = data[at]
            kind, has_extension, has_size = header >> 3 & 15, header >> 2 & 1, header >> 1 & 1
            at += 1 + has_extension
            size = end - at
            if has_size:
                size = shift = 0
                while True:
                    byte = data[at]
                    at += 1
                    size |= (byte & 127) << shift
                    shift += 7
                    if byte < 128 or shift > 28:
                        break
            if header & 0x80 or size > end - at:
                break
            if kind == 1:  # sequence header: profile, still picture, reduced header
                is_reduced = bool(data[at] >> 3 & 1)
            if kind in (3, 6):  # frame header, frame
                shows_existing, frame_type = data[at] >> 7, data[at] >> 5 & 3
                return FrameFacts(is_reduced or (not shows_existing and frame_type == 0))
            at += size
    except IndexError:
        pass
    raise invalid("data", f"{end} bytes without a frame", "a temporal unit of AV1")
