"""The fields of frames in messages, encoded by hand, and the pictures of replies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._image_messages import description, image_of
from ..images import EncodedImage, Frame, Image
from ..outcomes import FrameInfo
from .wire import length_delimited, varint

_NO_INFO = FrameInfo()
_MASK = (1 << 64) - 1


class DescriptionCache:
    """The encoded description of an image without its pixels; the last one is kept."""

    def __init__(self) -> None:
        self._key: Any = None
        self._encoded = b""

    def encode(self, image: Image) -> bytes:
        """Returns the encoded fields of an image, except its pixels."""
        planes = image.layout.planes if image.format.is_raw else None
        key = (image.format, image.width, image.height, planes, image.color, image.orientation)
        if key != self._key:
            self._encoded = description(image).SerializeToString()
            self._key = key
        return self._encoded


def place_of(image: EncodedImage, dependencies: Sequence[int]) -> bytes:
    """Returns the encoded field of an image for its place in a stream."""
    content = b"\x08\x01" if image.is_key_frame else b""
    if dependencies:
        content += length_delimited(3, b"".join(map(varint, dependencies)))
    return length_delimited(7, content)


def info_of(frame: Frame) -> FrameInfo:
    """Returns what outcomes repeat of a frame."""
    if frame.capture_time_ns is None and not frame.rtp_timestamp and not frame.tags:
        return _NO_INFO
    return FrameInfo(frame.capture_time_ns, frame.rtp_timestamp, frame.tags or {})


def metadata_of(frame: Frame, trace: Any) -> bytes:
    """Returns the encoded fields of a frame, except its sequence and image.

    - `trace`: The `traceparent`, or a pair with the `tracestate`; `None` without a trace.
    """
    parts = []
    if frame.capture_time_ns:
        parts += [b"\x18", varint(frame.capture_time_ns & _MASK)]
    if frame.rtp_timestamp:
        parts += [b"\x25", frame.rtp_timestamp.to_bytes(4, "little")]
    if frame.budget is not None:
        microseconds = round(frame.budget * 1e6)
        # 0 disables the limit, so a budget above it is at least a microsecond.
        parts += [b"\x28", varint(max(1, microseconds) if frame.budget else 0)]
    if trace:
        parent, state = trace if isinstance(trace, tuple) else (trace, "")
        content = length_delimited(1, parent.encode())
        if state:
            content += length_delimited(2, state.encode())
        parts.append(length_delimited(6, content))
    if frame.priority:
        parts += [b"\x38", varint((frame.priority << 1 ^ frame.priority >> 31) & 0xFFFFFFFF)]
    if frame.must_process:
        parts.append(b"\x40\x01")
    if frame.tags:
        for key, value in frame.tags.items():
            entry = length_delimited(1, key.encode()) + length_delimited(2, value.encode())
            parts.append(length_delimited(9, entry))
    return b"".join(parts)


def picture_of(source: tuple[Any, Any]) -> Image:
    """Returns the picture of a reply: its description, and a view of its pixels."""
    message, view = source
    return image_of(message, view)


def sent_picture(image: Image) -> Image:
    """Returns the picture that was sent."""
    return image


def omitted_picture(_: None) -> Image:
    """Raises `ValueError`: a session with named outputs has no other pictures."""
    raise ValueError("the picture is in the session's outputs; read outputs()")
