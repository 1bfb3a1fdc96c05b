"""Encoded packets of PyAV, recognised by their attributes, so PyAV is not needed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Optional, Protocol, Union

from ._formats import FormatLike, Orientation, PixelFormat
from ._validation import invalid
from .images import EncodedImage, Frame, Image

__all__ = ["EncodedPacket", "FrameLike", "capture_time_of", "frame_of_packet", "is_packet"]

#: The formats by the names of FFmpeg's codecs, encoders and decoders.
_CODECS = {
    "h264": PixelFormat.H264,
    "libx264": PixelFormat.H264,
    "libopenh264": PixelFormat.H264,
    "vp8": PixelFormat.VP8,
    "libvpx": PixelFormat.VP8,
    "vp9": PixelFormat.VP9,
    "libvpx-vp9": PixelFormat.VP9,
    "av1": PixelFormat.AV1,
    "libaom-av1": PixelFormat.AV1,
    "libsvtav1": PixelFormat.AV1,
    "libdav1d": PixelFormat.AV1,
    "librav1e": PixelFormat.AV1,
}
_NANOSECONDS = 1_000_000_000


class EncodedPacket(Protocol):
    """A packet of PyAV: an access unit, with the buffer protocol."""

    @property
    def pts(self) -> Any:
        """The presentation time."""

    @property
    def dts(self) -> Any:
        """The decoding time."""

    @property
    def time_base(self) -> Any:
        """The unit of times."""

    @property
    def is_keyframe(self) -> Any:
        """Whether it is a key frame."""

    @property
    def stream(self) -> Any:
        """The stream, whose codec the packet has."""


#: A picture to filter.
FrameLike = Union[Frame, Image, EncodedPacket]


def is_packet(value: Any) -> bool:
    """Whether an object is a packet of PyAV."""
    return hasattr(value, "is_keyframe") and hasattr(value, "dts") and hasattr(value, "stream")


def capture_time_of(timed: Any) -> Optional[int]:
    """Returns the presentation time of a packet or frame of PyAV in nanoseconds; `None` without."""
    unit = timed.time_base
    if timed.pts is None or unit is None:
        return None
    seconds: Fraction = timed.pts * Fraction(unit.numerator, unit.denominator)
    return round(seconds * _NANOSECONDS)


def frame_of_packet(
    packet: Any,
    codec: Optional[FormatLike] = None,
    orientation: Optional[Orientation] = None,
) -> Frame:
    """Returns the frame of a packet, with its presentation time as the capture time.

    - `codec`: The codec. `None`: that of the packet's stream.
    """
    if codec is None:
        context = getattr(packet.stream, "codec_context", None)
        if context is None:
            raise invalid(
                "packet.stream",
                None,
                'set; a packet of a CodecContext needs sidelight.av.encoded_frame(packet, "vp8")',
            )
        codec = _CODECS.get(context.name)
        if codec is None:
            raise invalid("packet.stream", context.name, "of h264, vp8, vp9 or av1")
    image = EncodedImage(
        codec,
        memoryview(packet),
        is_disposable=True if getattr(packet, "is_disposable", False) else None,
        orientation=orientation,
    )
    return Frame(image, capture_time_ns=capture_time_of(packet))
