"""Y4M, the uncompressed video that programs pass to each other in pipes.

    ffmpeg -i in.mp4 -pix_fmt yuv420p -f yuv4mpegpipe - | python -m sidelight stream sepiaTone

4:2:0 and grey video with 8 bits per sample can be read. The header and samples are never changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import BinaryIO, Optional

from ._formats import Color, ColorRange, PixelFormat
from .errors import InvalidArgument
from .images import Image

__all__ = ["Reader", "Writer", "Y4MError"]

_FORMATS = {"420": PixelFormat.I420, "mono": PixelFormat.GRAY}
_SITINGS = ("420", "420jpeg", "420mpeg2", "420paldv")
_RANGES = {"FULL": ColorRange.FULL, "LIMITED": ColorRange.VIDEO}
#: The longest line of a header, in bytes.
_MAX_LINE = 1024


class Y4MError(ValueError):
    """A video that is not Y4M, or a form of it that is not supported."""


class Reader:
    """Reads frames of a Y4M video.

        reader = Reader(sys.stdin.buffer)
        for image in reader:
            ...
    """

    def __init__(self, stream: BinaryIO) -> None:
        """Reads the header. Raises `Y4MError` if it is invalid."""
        self._stream = stream
        #: The header, with its line break.
        self.header = stream.readline(_MAX_LINE)
        fields = self.header.decode("ascii", "replace").split()
        if not fields or fields[0] != "YUV4MPEG2" or not self.header.endswith(b"\n"):
            raise Y4MError("the input is not a Y4M video; use -f yuv4mpegpipe with ffmpeg")
        tags = {field[0]: field[1:] for field in fields[1:] if field[0] != "X"}
        extensions = dict(
            field[1:].split("=", 1) for field in fields[1:] if field[0] == "X" and "=" in field
        )
        sampling = tags.get("C", "420")
        if sampling not in _SITINGS and sampling != "mono":
            raise Y4MError(
                f"the video has the samples C{sampling}; only 4:2:0 and mono with 8 bits are "
                "supported: use -pix_fmt yuv420p with ffmpeg"
            )
        #: The format of the frames: I420 or grey.
        self.format = _FORMATS["mono" if sampling == "mono" else "420"]
        if tags.get("I", "p")[:1] not in ("p", "?"):
            raise Y4MError("the video is interlaced; use -vf yadif with ffmpeg")
        try:
            #: The width in pixels.
            self.width = int(tags["W"])
            #: The height in pixels.
            self.height = int(tags["H"])
            size = Image.packed_size(self.format, self.width, self.height)
        except (KeyError, ValueError, InvalidArgument):
            raise Y4MError(f"the header has no valid width and height: {fields}") from None
        self._size = size
        try:
            rate = Fraction(tags.get("F", "0:1").replace(":", "/"))
        except (ValueError, ZeroDivisionError):
            rate = Fraction(0)
        #: The frames per second; 0 if it is not known.
        self.rate = rate
        color_range = _RANGES.get(extensions.get("COLORRANGE", ""))
        if self.format is PixelFormat.GRAY:
            color_range = None
        #: The colour interpretation: the range, if the header states it.
        self.color = Color(color_range)

    def read(self, image: Optional[Image] = None) -> Optional[Image]:
        """Reads the next frame; returns `None` at the end of the video.

        - image: An image without padding, of the format and size of the video, that takes the
          samples. `None`: a new one.
        """
        line = self._stream.readline(_MAX_LINE)
        if not line:
            return None
        if not line.startswith(b"FRAME") or not line.endswith(b"\n"):
            raise Y4MError(f"expected FRAME, found {line[:40]!r}")
        if image is None:
            image = Image.allocate(self.format, self.width, self.height, color=self.color)
        target, start = image.data[: self._size], 0
        while start < self._size:
            count = self._stream.readinto(target[start:])  # type: ignore[attr-defined]
            if not count:
                raise Y4MError("the video ends in the middle of a frame")
            start += count
        return image

    def __iter__(self) -> Iterator[Image]:
        while (image := self.read()) is not None:
            yield image


class Writer:
    """Writes frames of a Y4M video."""

    def __init__(self, stream: BinaryIO, header: bytes) -> None:
        """Writes a header, for example of the `Reader` of a video of the same size."""
        self._stream = stream
        stream.write(header)

    def write(self, image: Image) -> None:
        """Writes a frame."""
        self._stream.write(b"FRAME\n")
        if image.layout.is_packed:
            self._stream.write(image.data[: image.layout.size])
        else:
            self._stream.write(image.bytes())
