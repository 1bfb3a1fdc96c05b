"""Images and frames: pixel data of any object with the buffer protocol, and its description."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Optional, Union

from ._formats import (
    AlphaMode,
    Color,
    ColorMatrix,
    ColorRange,
    FormatLike,
    FormatName,
    Orientation,
    PixelFormat,
    PlaneShape,
)
from ._encoded_frames import frame_facts
from ._layouts import MAX_DIMENSION, Layout, Plane
from ._validation import budget_seconds, integer, invalid

__all__ = [
    "MAX_DIMENSION",
    "AlphaMode",
    "Color",
    "ColorMatrix",
    "ColorRange",
    "EncodedImage",
    "FormatLike",
    "FormatName",
    "Frame",
    "Image",
    "Layout",
    "Orientation",
    "PixelFormat",
    "Plane",
    "PlaneShape",
]

_DEFAULT_COLOR = Color()
_UPRIGHT = Orientation()


class Image:
    """An image: its description, and a view of its pixel data.

    The pixel data is not copied. Do not change it between sending a frame and its outcome.
    """

    __slots__ = (
        "__weakref__",
        "_data",
        "_layout",
        "color",
        "format",
        "height",
        "orientation",
        "width",
    )

    #: The format.
    format: PixelFormat
    #: The width in pixels. 0 for a file whose size is not known.
    width: int
    #: The height in pixels. 0 for a file whose size is not known.
    height: int
    #: The colour interpretation.
    color: Color
    #: The orientation for display.
    orientation: Orientation

    def __init__(
        self,
        format: FormatLike,
        width: int,
        height: int,
        data: Any,
        *,
        planes: Optional[Iterable[tuple[int, int]]] = None,
        color: Optional[Color] = None,
        orientation: Optional[Orientation] = None,
    ) -> None:
        """Creates an image from pixel data.

        - format: The format.
        - width: The width in pixels, 1 to 16384. 0 for a file.
        - height: The height in pixels, 1 to 16384. 0 for a file.
        - data: A contiguous object with the buffer protocol: bytes, bytearray, memoryview, mmap, a
          numpy array. For files the content of the file.
        - planes: Offset and stride of every plane, in bytes. `None`: planes are contiguous and
          without padding.
        - color: The colour interpretation. `None`: the defaults of `Color`.
        - orientation: The orientation for display. `None`: as stored.
        """
        self.format = PixelFormat.of(format)
        self.color = _DEFAULT_COLOR if color is None else color
        self.orientation = _UPRIGHT if orientation is None else orientation
        self._data: Optional[memoryview] = _bytes_view(data)
        self._layout: Optional[Layout] = None
        length = self._data.nbytes
        if self.format.is_encoded and not isinstance(self, EncodedImage):
            raise invalid("format", self.format.value, "a raw or file format; use EncodedImage")
        if not self.format.is_raw:
            if planes is not None:
                raise invalid("planes", planes, "None for a file")
            if not length:
                raise invalid("data", b"", "the content of a file or frame")
            self.width = integer("width", width, 0, MAX_DIMENSION)
            self.height = integer("height", height, 0, MAX_DIMENSION)
            return
        if planes is None:
            layout = Layout.packed(self.format, width, height)
            if length != layout.size:
                what = f"{layout.width}x{layout.height} {self.format.value} without padding"
                raise invalid("len(data)", length, f"{layout.size}, the size of {what}")
        else:
            layout = Layout(self.format, width, height, planes)
            if length < layout.size:
                raise invalid("len(data)", length, f"at least {layout.size}, where the planes end")
        self._layout = layout
        self.width, self.height = layout.width, layout.height

    @classmethod
    def allocate(
        cls,
        format: FormatLike,
        width: int,
        height: int,
        *,
        color: Optional[Color] = None,
        orientation: Optional[Orientation] = None,
    ) -> Image:
        """Creates an image with new pixel data, all bytes 0, without padding."""
        data = bytearray(cls.packed_size(format, width, height))
        return cls(format, width, height, data, color=color, orientation=orientation)

    @classmethod
    def file(cls, data: Any) -> Image:
        """Creates an image from a JPEG or PNG file, which its first bytes tell.

        - data: The content of the file, or its path.
        """
        if isinstance(data, (str, os.PathLike)):
            with open(data, "rb") as file:
                data = file.read()
        head = bytes(_bytes_view(data)[:8])
        if head.startswith(b"\xff\xd8\xff"):
            return cls(PixelFormat.JPEG, 0, 0, data)
        if head == b"\x89PNG\r\n\x1a\n":
            return cls(PixelFormat.PNG, 0, 0, data)
        raise invalid("data", head, "the content of a JPEG or PNG file, or its path")

    @staticmethod
    def packed_size(format: FormatLike, width: int, height: int) -> int:
        """Returns the length of the pixel data of a raw image without padding, in bytes."""
        return Layout.packed(format, width, height).size

    @property
    def data(self) -> memoryview:
        """The pixel data, as a one-dimensional view of bytes.

        Raises `ValueError` after `release`.
        """
        if self._data is None:
            raise ValueError("the image is released; copy what you keep with Image.copy()")
        return self._data

    @property
    def layout(self) -> Layout:
        """The positions of the planes. Raises `ValueError` for a file or encoded video."""
        if self._layout is None:
            raise ValueError(f"a {self.format.value} picture has no planes")
        return self._layout

    @property
    def planes(self) -> tuple[memoryview, ...]:
        """The planes; see `plane`."""
        return tuple(map(self.plane, range(len(self.format.planes))))

    def plane(self, index: int) -> memoryview:
        """Returns the bytes of a plane, from its first to its last sample.

        Rows are `layout.planes[index].stride` bytes apart. Without padding the plane consists of
        the rows only, so `image.plane(0)[:] = luma` sets all samples. `sidelight.numpy.planes`
        returns arrays with rows and columns.
        """
        return self.data[self.layout.span(index)]

    def rows(self, index: int) -> Iterator[memoryview]:
        """Returns the rows of a plane, without padding."""
        plane, stride = self.plane(index), self.layout.planes[index].stride
        length = self.layout.row_bytes(index)
        return (
            plane[start : start + length]
            for start in range(0, stride * self.layout.rows(index), stride)
        )

    def bytes(self) -> bytes:
        """Returns a copy of the pixel data without padding, or of the file."""
        if self._layout is None or self._layout.is_packed:
            data = self.data if self._layout is None else self.data[: self._layout.size]
            return data.tobytes()
        return b"".join(row for index in range(len(self.format.planes)) for row in self.rows(index))

    def copy(self) -> Image:
        """Returns an image with a copy of the pixel data, without padding."""
        return type(self)(
            self.format,
            self.width,
            self.height,
            bytearray(self.bytes()),
            color=self.color,
            orientation=self.orientation,
        )

    def release(self) -> None:
        """Ends the use of the pixel data. Reading it afterwards raises `ValueError`."""
        self._data = None

    def __repr__(self) -> str:
        size = f"{self.width}x{self.height} " if self.width else ""
        state = "released" if self._data is None else f"{self._data.nbytes} bytes"
        return f"<Image {size}{self.format.value}, {state}>"


class EncodedImage(Image):
    """A picture of a stream of encoded video, as a camera's encoder or a call delivers it.

    The frames of a stream depend on each other, so send all of them, in order, the first one a key
    frame. Where one is missing, the event `KeyFrameNeeded` asks for a key frame.
    """

    __slots__ = ("depends_on", "is_disposable", "is_key_frame", "temporal_layer")

    #: Whether it is a key frame, which depends on no other.
    is_key_frame: bool
    #: Whether no later frame depends on it, so it may be dropped without damage.
    is_disposable: bool
    #: The temporal layer, 0 for the lowest. Only in results.
    temporal_layer: int
    #: The numbers of the frames that it depends on. Empty: all before it.
    depends_on: tuple[int, ...]

    def __init__(
        self,
        format: FormatLike,
        data: Any,
        *,
        is_key_frame: Optional[bool] = None,
        is_disposable: Optional[bool] = None,
        depends_on: Iterable[int] = (),
        width: int = 0,
        height: int = 0,
        color: Optional[Color] = None,
        orientation: Optional[Orientation] = None,
    ) -> None:
        """Creates a picture to send.

        - format: `"h264"`, `"vp8"`, `"vp9"` or `"av1"`.
        - data: The access unit, as `PixelFormat` describes it: an object with the buffer protocol.
        - is_key_frame: Whether it is a key frame. `None`: as its bytes say.
        - is_disposable: Whether no later frame depends on it. `None`: as the bytes of H.264 say;
          frames of other codecs are not.
        - depends_on: The numbers, as `Session.send` returns them, of the frames that it depends on,
          at most 64. State them only to leave out frames on purpose, such as a temporal layer.
        - width: The width in pixels, or 0 for the width in the stream.
        - height: The height in pixels, or 0 for the height in the stream.
        - color: The range and matrix of VP8, whose streams state none; other streams do. `None`: the
          defaults of `Color`.
        - orientation: The orientation for display. `None`: as stored.

        Raises `InvalidArgument` for bytes that are not a frame of the codec.
        """
        codec = PixelFormat.of(format)
        if not codec.is_encoded:
            raise invalid("format", codec.value, "one of h264, vp8, vp9, av1")
        super().__init__(codec, width, height, data, color=color, orientation=orientation)
        facts = frame_facts(codec, self.data)
        self.is_key_frame = facts.is_key_frame if is_key_frame is None else bool(is_key_frame)
        self.is_disposable = facts.is_disposable if is_disposable is None else bool(is_disposable)
        self.temporal_layer = 0
        self.depends_on = tuple(
            integer(f"depends_on[{index}]", each, 1, 2**64 - 1)
            for index, each in enumerate(depends_on)
        )
        if len(self.depends_on) > 64:
            raise invalid("len(depends_on)", len(self.depends_on), "at most 64")

    def copy(self) -> EncodedImage:
        """Returns an image with a copy of the bytes."""
        result = EncodedImage(
            self.format,
            self.bytes(),
            is_key_frame=self.is_key_frame,
            is_disposable=self.is_disposable,
            depends_on=self.depends_on,
            width=self.width,
            height=self.height,
            color=self.color,
            orientation=self.orientation,
        )
        result.temporal_layer = self.temporal_layer
        return result


class Frame:
    """An image to filter, and the data that accompanies it."""

    __slots__ = (
        "__weakref__",
        "budget",
        "capture_time_ns",
        "image",
        "must_process",
        "priority",
        "rtp_timestamp",
        "tags",
        "trace",
    )

    #: The image.
    image: Image
    #: The capture time in nanoseconds, on any clock. Returned unchanged with the outcome.
    capture_time_ns: Optional[int]
    #: The RTP timestamp, 32 bits. Returned unchanged with the outcome.
    rtp_timestamp: int
    #: The time from the server's receipt until the output is useless, in seconds. 0 disables the
    #: limit, 10 is the most; `None` selects the session's budget.
    budget: Optional[float]
    #: The priority among the waiting frames of the session.
    priority: int
    #: Whether the frame is exempt from displacement, budgets and the session's frame rate.
    must_process: bool
    #: Application data. Returned unchanged with the outcome.
    tags: Optional[Mapping[str, str]]
    #: The W3C `traceparent` of the frame, or a pair of `traceparent` and `tracestate`. `None`: the
    #: current OpenTelemetry span, if there is one.
    trace: Union[str, tuple[str, str], None]

    def __init__(
        self,
        image: Image,
        *,
        capture_time_ns: Optional[int] = None,
        rtp_timestamp: int = 0,
        budget: Optional[float] = None,
        priority: int = 0,
        must_process: bool = False,
        tags: Optional[Mapping[str, str]] = None,
        trace: Union[str, tuple[str, str], None] = None,
    ) -> None:
        if not isinstance(image, Image):
            raise invalid("frame.image", image, "an Image")
        self.image = image
        if capture_time_ns is not None:
            capture_time_ns = integer("capture_time_ns", capture_time_ns, -(2**63), 2**63 - 1)
        self.capture_time_ns = capture_time_ns
        self.rtp_timestamp = integer("rtp_timestamp", rtp_timestamp, 0, 2**32 - 1)
        self.budget = None if budget is None else budget_seconds(budget)
        self.priority = integer("priority", priority, -(2**31), 2**31 - 1)
        self.must_process = bool(must_process)
        self.tags = tags
        self.trace = trace

    @property
    def planes(self) -> tuple[memoryview, ...]:
        """The planes of the image; see `Image.plane`."""
        return self.image.planes

    def __repr__(self) -> str:
        return f"<Frame {self.image!r}>"


def _bytes_view(data: Any) -> memoryview:
    try:
        view = memoryview(data)
    except TypeError:
        raise invalid("data", type(data).__name__, "an object with the buffer protocol") from None
    if not view.c_contiguous:
        raise invalid(
            "data",
            f"a view with strides {view.strides}",
            "contiguous; pass the strides as planes, or use sidelight.numpy.image",
        )
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")
