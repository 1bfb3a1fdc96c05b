"""The pixels of GStreamer buffers: their layouts and colours, and copies into and out of them."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional, Union

import gi  # pyright: ignore

gi.require_version("Gst", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstVideo  # pyright: ignore

from .errors import SidelightError
from .images import (
    Color,
    ColorMatrix,
    ColorRange,
    EncodedImage,
    Image,
    Layout,
    PixelFormat,
    Plane,
)

__all__ = [
    "FORMATS",
    "EncodedFormat",
    "UnsupportedColorimetry",
    "VideoFormat",
    "encoded_image",
    "format_of_caps",
    "is_key_frame",
    "read_into",
    "replace",
    "write_from",
]

#: The pixel formats by their names in caps.
FORMATS = {
    "I420": PixelFormat.I420,
    "NV12": PixelFormat.NV12,
    "BGRA": PixelFormat.BGRA,
    "RGBA": PixelFormat.RGBA,
    "RGB": PixelFormat.RGB,
    "GRAY8": PixelFormat.GRAY,
}

#: The codecs by the names of their caps.
CODECS = {
    "video/x-h264": PixelFormat.H264,
    "video/x-vp8": PixelFormat.VP8,
    "video/x-vp9": PixelFormat.VP9,
}

# By the nicknames of GStreamer's enumerations; "unknown" leaves the choice to the server.
_RANGES = {"unknown": None, "0-255": ColorRange.FULL, "16-235": ColorRange.VIDEO}
_MATRICES = {"unknown": None, "bt601": ColorMatrix.BT601, "bt709": ColorMatrix.BT709}


class UnsupportedColorimetry(ValueError):
    """Caps whose range or matrix the server has no name for."""


class VideoFormat(NamedTuple):
    """The format of frames, as caps describe it."""

    #: The layout of buffers without separate video metadata.
    layout: Layout
    #: The range and matrix.
    color: Color
    #: The size of a buffer, in bytes.
    size: int
    #: The duration of a frame in nanoseconds; 0 if the frame rate varies.
    duration_ns: int

    @classmethod
    def of_caps(cls, caps: Any) -> VideoFormat:
        """Returns the format of fixed caps.

        Raises `UnsupportedColorimetry` for a YUV format with another matrix than BT.601 or BT.709,
        and for grey of video range.
        """
        info = GstVideo.VideoInfo.new_from_caps(caps)
        name = info.finfo.name
        format = FORMATS[name]
        planes = [Plane(info.offset[i], info.stride[i]) for i in range(info.finfo.n_planes)]
        duration = Gst.SECOND * info.fps_d // info.fps_n if info.fps_n else 0
        return cls(
            Layout(format, info.width, info.height, planes),
            _color(format, info.colorimetry),
            info.size,
            duration,
        )


class EncodedFormat(NamedTuple):
    """The format of encoded frames, as caps describe it."""

    codec: PixelFormat
    #: The range and matrix of VP8; other streams state them.
    color: Color
    #: The duration of a frame in nanoseconds; 0 if the frame rate varies.
    duration_ns: int

    @property
    def size(self) -> Optional[int]:
        """Encoded frames need no size in shared memory."""
        return None


def format_of_caps(caps: Any) -> Union[VideoFormat, EncodedFormat]:
    """Returns the format of fixed caps.

    Raises `UnsupportedColorimetry` as `VideoFormat.of_caps` does; of encoded formats for VP8 only.
    """
    structure = caps.get_structure(0)
    codec = CODECS.get(structure.get_name())
    if codec is None:
        return VideoFormat.of_caps(caps)
    known, numerator, denominator = structure.get_fraction("framerate")
    duration = Gst.SECOND * denominator // numerator if known and numerator else 0
    color = Color()
    text = structure.get_string("colorimetry")
    if codec is PixelFormat.VP8 and text:
        colorimetry = GstVideo.VideoColorimetry()
        if not colorimetry.from_string(text):
            raise UnsupportedColorimetry(f"colorimetry is {text!r}; GStreamer has no such name")
        color = _color(PixelFormat.I420, colorimetry)
    return EncodedFormat(codec, color, duration)


def encoded_image(buffer: Any, video: EncodedFormat) -> EncodedImage:
    """Returns a picture with a copy of the bytes of a buffer."""
    is_droppable = buffer.has_flags(Gst.BufferFlags.DROPPABLE)
    content = buffer.extract_dup(0, buffer.get_size())
    is_disposable = True if is_droppable else None
    return EncodedImage(video.codec, content, is_disposable=is_disposable, color=video.color)


def is_key_frame(image: Image) -> bool:
    """Whether a result can be decoded without the ones before it."""
    return not isinstance(image, EncodedImage) or image.is_key_frame


def replace(buffer: Any, image: Image) -> None:
    """Replaces the bytes of a writable buffer by those of a result, an `EncodedImage`."""
    if not isinstance(image, EncodedImage):
        raise SidelightError(f"the output is {image!r}; it must be encoded", code="INTERNAL")
    buffer.remove_all_memory()
    buffer.insert_memory(-1, Gst.Buffer.new_wrapped(image.bytes()).get_all_memory())
    for flag, is_set in (
        (Gst.BufferFlags.DELTA_UNIT, not image.is_key_frame),
        (Gst.BufferFlags.DROPPABLE, False),
    ):
        if is_set:
            buffer.set_flags(flag)
        else:
            buffer.unset_flags(flag)


def _color(format: PixelFormat, colorimetry: Any) -> Color:
    text = colorimetry.to_string()
    range, matrix = colorimetry.range.value_nick, colorimetry.matrix.value_nick
    if format.is_yuv:
        if range in _RANGES and matrix in _MATRICES:
            return Color(range=_RANGES[range], matrix=_MATRICES[matrix])
        raise UnsupportedColorimetry(
            f"colorimetry is {text}; the matrix must be that of bt601 or bt709; "
            "insert videoconvert and caps with colorimetry=bt709 in front of sidelightfilter"
        )
    if range == "16-235":
        raise UnsupportedColorimetry(
            f"colorimetry is {text}; {format.value} must have the range 0-255; "
            "insert videoconvert and caps with colorimetry=1:4:0:0 in front of sidelightfilter"
        )
    return Color()


def read_into(image: Image, buffer: Any, video: VideoFormat) -> None:
    """Copies the pixels of a buffer into an image of the same format and size."""
    with buffer.map(Gst.MapFlags.READ) as mapped:
        _copy(mapped.data, _layout(buffer, video), image.data, image.layout)


def write_from(image: Image, buffer: Any, video: VideoFormat) -> None:
    """Copies the pixels of an image into a writable buffer of the same format and size."""
    layout = _layout(buffer, video)
    same = (image.format, image.width, image.height) == (layout.format, layout.width, layout.height)
    if not same:
        raise ValueError(f"the output is {image!r}; the buffer holds {layout!r}")
    with buffer.map(Gst.MapFlags.WRITE) as mapped:
        _copy(image.data, image.layout, mapped.data, layout)


def _layout(buffer: Any, video: VideoFormat) -> Layout:
    meta: Optional[Any] = GstVideo.buffer_get_video_meta(buffer)
    if meta is None:
        return video.layout
    planes = [Plane(meta.offset[i], meta.stride[i]) for i in range(meta.n_planes)]
    if planes == list(video.layout.planes):
        return video.layout
    return Layout(video.layout.format, meta.width, meta.height, planes)


def _copy(source: memoryview, source_layout: Layout, target: memoryview, layout: Layout) -> None:
    """Copies all planes: at once where the layouts agree, else by plane or by row."""
    if source_layout.planes == layout.planes:
        target[: layout.size] = source[: layout.size]
        return
    for index, (plane, source_plane) in enumerate(zip(layout.planes, source_layout.planes)):
        if plane.stride == source_plane.stride:
            target[layout.span(index)] = source[source_layout.span(index)]
            continue
        length = layout.row_bytes(index)
        to, start = plane.offset, source_plane.offset
        for _ in range(layout.rows(index)):
            target[to : to + length] = source[start : start + length]
            to += plane.stride
            start += source_plane.stride
