"""Encoders of PyAV, as a program that sends encoded video has them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Optional

import av
import pytest

import sidelight.av
from sidelight import Frame, Image

#: The encoders by codec, the first one that PyAV has, and their options for live video.
_ENCODERS: dict[str, list[tuple[str, dict[str, str]]]] = {
    "h264": [
        (
            "libx264",
            {
                "preset": "ultrafast",
                "tune": "zerolatency",
                "profile": "baseline",
                "forced-idr": "1",
            },
        )
    ],
    "vp8": [("libvpx", {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0"})],
    "vp9": [("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0"})],
    "av1": [
        ("libaom-av1", {"usage": "realtime", "cpu-used": "8", "lag-in-frames": "0"}),
        ("libsvtav1", {"preset": "12", "svtav1-params": "pred-struct=1:lookahead=0:rc=2"}),
    ],
}
WIDTH, HEIGHT = 96, 64
_KEY_FRAME = 1  # FFmpeg's AV_PICTURE_TYPE_I


def picture(index: int, width: int = WIDTH, height: int = HEIGHT) -> Image:
    """Smooth waves that move by eight pixels per frame."""
    wave = [round(120 + 60 * math.sin((column + 8 * index) / 12)) for column in range(width)]
    luma = b"".join(bytes(each + row // 4 for each in wave) for row in range(height))
    samples = width // 2 * (height // 2)
    return Image("i420", width, height, luma + bytes([110]) * samples + bytes([150]) * samples)


class Encoder:
    """An encoder whose packets follow its pictures without delay."""

    def __init__(
        self, codec: str, width: int = WIDTH, height: int = HEIGHT, **options: str
    ) -> None:
        self.codec = codec
        for name, defaults in _ENCODERS[codec]:
            try:
                context: Any = av.CodecContext.create(name, "w")
            except ValueError:
                continue
            context.width, context.height, context.pix_fmt = width, height, "yuv420p"
            context.time_base, context.framerate = Fraction(1, 30), Fraction(30)
            context.bit_rate = 800_000
            context.options = {"g": "1000", "bf": "0", **defaults, **options}
            self.context = context
            break
        else:
            pytest.skip(f"PyAV has no encoder for {codec}")
        self._count = 0

    def packet(self, is_key_frame: bool = False, image: Optional[Image] = None) -> Any:
        """Encodes the next picture."""
        image = image or picture(self._count, self.context.width, self.context.height)
        video = sidelight.av.video_frame(image)
        video.pts = self._count
        if is_key_frame:
            video.pict_type = _KEY_FRAME
        self._count += 1
        (packet,) = self.context.encode(video)
        return packet

    def frame(self, is_key_frame: bool = False, **options: Any) -> Frame:
        """Encodes the next picture, as a frame to send."""
        return sidelight.av.encoded_frame(self.packet(is_key_frame, **options), self.codec)


def difference(first: Image, second: Any) -> float:
    """The mean difference of the luma of an image and of a frame of PyAV."""
    other = sidelight.av.image(second)
    assert (first.width, first.height) == (other.width, other.height)
    pairs = zip(first.plane(0), other.plane(0))
    return sum(abs(left - right) for left, right in pairs) / (first.width * first.height)
