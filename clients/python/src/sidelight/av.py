"""Conversions between images and frames of PyAV.

Samples are never converted: formats, ranges and matrices that have no exact counterpart are
refused, so the conversion (`VideoFrame.reformat`) is yours. The display matrix of a frame is
not read; pass an orientation.

PyAV holds the planes of a frame in separate buffers, so formats with several planes are copied once
in each direction. `copy_into` copies into an existing image, for example from `Session.frame`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Optional

import av
import numpy as np
import numpy.typing as npt

from . import numpy as arrays
from ._formats import (
    AlphaMode,
    Color,
    ColorMatrix,
    ColorRange,
    FormatLike,
    Orientation,
    PixelFormat,
)
from ._packets import EncodedPacket, capture_time_of, frame_of_packet
from ._validation import invalid
from .images import EncodedImage, Frame, Image

__all__ = [
    "Decoder",
    "color_of",
    "copy_into",
    "encoded_frame",
    "frame",
    "image",
    "packet",
    "video_frame",
]

_FORMATS = {
    "yuv420p": PixelFormat.I420,
    "yuvj420p": PixelFormat.I420,
    "nv12": PixelFormat.NV12,
    "gray": PixelFormat.GRAY,
    "rgb24": PixelFormat.RGB,
    "bgra": PixelFormat.BGRA,
    "bgr0": PixelFormat.BGRA,
    "rgba": PixelFormat.RGBA,
    "rgb0": PixelFormat.RGBA,
}
_NAMES = {
    PixelFormat.I420: "yuv420p",
    PixelFormat.NV12: "nv12",
    PixelFormat.GRAY: "gray",
    PixelFormat.RGB: "rgb24",
    PixelFormat.BGRA: "bgra",
    PixelFormat.RGBA: "rgba",
}
_OPAQUE_NAMES = {PixelFormat.BGRA: "bgr0", PixelFormat.RGBA: "rgb0"}
# FFmpeg's AVColorRange and AVColorSpace.
_RANGES = {0: None, 1: ColorRange.VIDEO, 2: ColorRange.FULL}
_UNSPECIFIED_MATRIX = 2
_MATRICES = {
    1: ColorMatrix.BT709,
    _UNSPECIFIED_MATRIX: None,
    5: ColorMatrix.BT601,
    6: ColorMatrix.BT601,
}
_RANGE_NUMBERS = {None: 0, ColorRange.VIDEO: 1, ColorRange.FULL: 2}
_MATRIX_NUMBERS = {None: _UNSPECIFIED_MATRIX, ColorMatrix.BT709: 1, ColorMatrix.BT601: 5}
_NANOSECONDS = 1_000_000_000


def color_of(video: av.VideoFrame) -> Color:
    """Returns the colour interpretation of a frame of PyAV.

    A range or matrix that the frame does not specify is `None`: the server then assumes video range
    and BT.601. Matrices other than BT.601 and BT.709 are refused for YUV.
    """
    name = video.format.name
    format = _format(video)
    color_range = _RANGES.get(int(video.color_range))
    if format is PixelFormat.GRAY and color_range is ColorRange.VIDEO:
        raise invalid("video.color_range", "video range", 'full range for gray; use "yuv420p"')
    if not format.is_yuv:
        return Color(alpha=AlphaMode.OPAQUE if name in _OPAQUE_NAMES.values() else None)
    if name == "yuvj420p":
        color_range = ColorRange.FULL
    number = int(video.colorspace)
    if number not in _MATRICES:
        requirement = "BT.601 or BT.709; convert the frame first, or pass a color"
        raise invalid("video.colorspace", number, requirement)
    return Color(color_range, _MATRICES[number])


def image(
    video: av.VideoFrame,
    *,
    color: Optional[Color] = None,
    orientation: Optional[Orientation] = None,
) -> Image:
    """Returns the image of a frame of PyAV.

    The formats yuv420p, yuvj420p and nv12 are copied, without padding; gray, rgb24, bgra, bgr0,
    rgba and rgb0 are views of the frame's memory.

    - video: The frame. Other formats are refused; `video.reformat(format="yuv420p")` converts them.
    - color: The colour interpretation. `None`: the frame's; see `color_of`.
    - orientation: The orientation for display.
    """
    format = _format(video)
    if color is None:
        color = color_of(video)
    if len(format.planes) == 1:
        plane = video.planes[0]
        if plane.line_size > 0:
            layout = [(0, plane.line_size)]
            return Image(
                format,
                video.width,
                video.height,
                memoryview(plane),
                planes=layout,
                color=color,
                orientation=orientation,
            )
    result = Image.allocate(
        format, video.width, video.height, color=color, orientation=orientation
    )
    copy_into(result, video)
    return result


def copy_into(target: Image, video: av.VideoFrame) -> None:
    """Copies the samples of a frame of PyAV into an image of the same format and size.

    The colour interpretation of the image is not changed; create it with the frame's:
    `session.frame(width, height, "i420", color=color_of(video))`.
    """
    format = _format(video)
    if (target.format, target.width, target.height) != (format, video.width, video.height):
        size = f"{target.width}x{target.height} {target.format.value}"
        raise invalid("target", size, f"{video.width}x{video.height} {format.value}")
    for samples, plane in zip(arrays.planes(target), video.planes):
        samples[...] = _samples(plane, samples.shape)


def frame(
    video: av.VideoFrame,
    *,
    color: Optional[Color] = None,
    orientation: Optional[Orientation] = None,
) -> Frame:
    """Returns the image of a frame of PyAV with its presentation time as the capture time."""
    result = image(video, color=color, orientation=orientation)
    return Frame(result, capture_time_ns=capture_time_of(video))


def encoded_frame(
    packet: EncodedPacket, codec: FormatLike, *, orientation: Optional[Orientation] = None
) -> Frame:
    """Returns the frame of a packet that has no stream, such as a `CodecContext` encodes.

    `Session.send` takes packets of streams as they are. The bytes are not copied.

    - packet: An access unit. The encoder must not use B-frames (`bf=0`), which the server refuses,
      nor look ahead (`tune=zerolatency`, `lag-in-frames=0`).
    - codec: `"h264"`, `"vp8"`, `"vp9"` or `"av1"`.
    - orientation: The orientation for display.
    """
    return frame_of_packet(packet, codec, orientation)


def packet(
    image: EncodedImage,
    *,
    capture_time_ns: Optional[int] = None,
    time_base: Fraction = Fraction(1, 90_000),
) -> av.Packet[Any]:
    """Returns a packet of PyAV with a copy of a result's bytes, for a container or a call.

    - image: A result that is encoded video.
    - capture_time_ns: The presentation time, such as `outcome.frame.capture_time_ns`.
    - time_base: The unit of the presentation time.
    """
    if not isinstance(image, EncodedImage):
        raise invalid("image", image, "an EncodedImage")
    result = av.Packet(image.bytes())
    result.time_base = time_base
    if capture_time_ns is not None:
        result.pts = result.dts = round(Fraction(capture_time_ns, _NANOSECONDS) / time_base)
    result.is_keyframe = image.is_key_frame
    return result


class Decoder:
    """Decodes results that are encoded video, one picture per result, without delay.

    Hand it every result of a session in order: each one depends on those before it.
    """

    def __init__(self) -> None:
        self._format: Optional[PixelFormat] = None
        self._context: Any = None

    def decode(self, image: Image) -> Optional[av.VideoFrame]:
        """Returns the picture of a result; `None` before the first key frame.

        Raises `InvalidArgument` for a picture that is not encoded video, and PyAV's errors for
        bytes that it cannot decode.
        """
        if not isinstance(image, EncodedImage):
            raise invalid("image", image, "an EncodedImage")
        if image.format is not self._format:
            self._format = None
            if not image.is_key_frame:
                return None
            context = av.CodecContext.create(image.format.value, "r")
            # Neither threads nor reordering: they would hold pictures back.
            context.thread_count = 1
            context.options = {"flags": "low_delay"}
            self._format, self._context = image.format, context
        for picture in self._context.decode(av.Packet(image.bytes())):
            return picture  # type: ignore[no-any-return]
        return None


def video_frame(
    image: Image,
    *,
    like: Optional[av.VideoFrame] = None,
    capture_time_ns: Optional[int] = None,
    time_base: Fraction = Fraction(1, 90_000),
) -> av.VideoFrame:
    """Returns a frame of PyAV with a copy of an image's samples, its range and its matrix.

    - image: A raw image. Premultiplied alpha is refused, because FFmpeg's formats are straight.
    - like: A frame whose presentation time and time base are used, such as the filtered one.
    - capture_time_ns: The presentation time, in nanoseconds. Ignored with `like`.
    - time_base: The unit of the presentation time. Ignored with `like`.
    """
    if not image.format.is_raw:
        raise invalid("image.format", image.format.value, "a raw format; see Decoder")
    if image.format.has_alpha and image.color.alpha is AlphaMode.PREMULTIPLIED:
        raise invalid("image.color.alpha", "premultiplied", "straight or opaque")
    name = _NAMES[image.format]
    if image.color.alpha is AlphaMode.OPAQUE:
        name = _OPAQUE_NAMES.get(image.format, name)
    video = av.VideoFrame(image.width, image.height, name)
    for samples, plane in zip(arrays.planes(image), video.planes):
        _samples(plane, samples.shape)[...] = samples
    if image.format.is_yuv:
        matrix = _MATRIX_NUMBERS[image.color.matrix]
        if like is not None and _MATRICES.get(int(like.colorspace)) is image.color.matrix:
            matrix = int(like.colorspace)
        video.colorspace = matrix
        video.color_range = _RANGE_NUMBERS[image.color.range]
    if like is not None:
        video.pts = like.pts
        # PyAV refuses to set the time base that a new frame has.
        if like.time_base is not None:
            video.time_base = like.time_base
    elif capture_time_ns is not None:
        video.pts = round(Fraction(capture_time_ns, _NANOSECONDS) / time_base)
        video.time_base = time_base
    return video


def _format(video: av.VideoFrame) -> PixelFormat:
    format = _FORMATS.get(video.format.name)
    if format is None:
        raise invalid("video.format", video.format.name, "one of " + ", ".join(_FORMATS))
    return format


def _samples(plane: Any, shape: tuple[int, ...]) -> npt.NDArray[np.uint8]:
    """Returns a view of the samples of a plane, without padding."""
    strides = (plane.line_size, shape[2], 1) if len(shape) == 3 else (plane.line_size, 1)
    return np.ndarray(shape, np.uint8, memoryview(plane), 0, strides)
