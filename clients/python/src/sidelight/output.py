"""The format and size of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from ._formats import FormatLike, PixelFormat
from ._image_messages import format_number
from ._validation import integer, one_of
from .v1 import pipeline_pb2

__all__ = ["Output"]

_FITS = {
    "fit": pipeline_pb2.FIT_MODE_ASPECT_FIT,
    "fill": pipeline_pb2.FIT_MODE_ASPECT_FILL,
    "stretch": pipeline_pb2.FIT_MODE_STRETCH,
}
_SUBSAMPLINGS = {
    "420": pipeline_pb2.CHROMA_SUBSAMPLING_420,
    "422": pipeline_pb2.CHROMA_SUBSAMPLING_422,
    "444": pipeline_pb2.CHROMA_SUBSAMPLING_444,
}


@dataclass(frozen=True)
class Output:
    """The format and size of filtered pictures. Pictures that pass through keep their own."""

    #: The format. `None`: the input's.
    format: Optional[FormatLike] = None
    #: The width in pixels, 1 to 16384. `None`: the input's, or as the height requires.
    width: Optional[int] = None
    #: The height in pixels, 1 to 16384. `None`: the input's, or as the width requires.
    height: Optional[int] = None
    #: The handling of another aspect ratio: "fit" (between bars), "fill" (cropped) or "stretch".
    fit: Literal["fit", "fill", "stretch"] = "fit"
    #: Whether rotation and mirroring are applied to the pixels.
    upright: bool = False
    #: The quality of JPEG files, 1 to 100. `None`: 80.
    jpeg_quality: Optional[int] = None
    #: The chroma of JPEG files: "420", "422" or "444".
    jpeg_subsampling: Literal["420", "422", "444"] = "420"

    def message(self, field: str = "output") -> pipeline_pb2.OutputSpec:
        """Returns the message; errors begin with `field`."""
        message = pipeline_pb2.OutputSpec(upright=self.upright)
        if self.format is not None:
            message.format = format_number(PixelFormat.of(self.format, f"{field}.format"))
        if self.width is not None:
            message.width = integer(f"{field}.width", self.width, 1, 16384)
        if self.height is not None:
            message.height = integer(f"{field}.height", self.height, 1, 16384)
        if self.fit not in _FITS:
            raise one_of(f"{field}.fit", self.fit, _FITS)
        message.fit = _FITS[self.fit]
        if self.jpeg_quality is not None:
            message.jpeg_quality = integer(f"{field}.jpeg_quality", self.jpeg_quality, 1, 100)
        if self.jpeg_subsampling not in _SUBSAMPLINGS:
            raise one_of(f"{field}.jpeg_subsampling", self.jpeg_subsampling, _SUBSAMPLINGS)
        message.jpeg_subsampling = _SUBSAMPLINGS[self.jpeg_subsampling]
        return message
