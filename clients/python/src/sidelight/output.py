"""The format and size of results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from ._formats import FormatLike, PixelFormat
from ._image_messages import format_number
from ._validation import finite, integer, invalid, one_of
from .pipelines import PipelineLike, source_of
from .v1 import pipeline_pb2, session_pb2

__all__ = ["EncoderOptions", "NamedOutput", "Output"]

#: The numbers of the handlings of another aspect ratio.
FITS = {
    "fit": pipeline_pb2.FIT_MODE_ASPECT_FIT,
    "fill": pipeline_pb2.FIT_MODE_ASPECT_FILL,
    "stretch": pipeline_pb2.FIT_MODE_STRETCH,
}
_SUBSAMPLINGS = {
    "420": pipeline_pb2.CHROMA_SUBSAMPLING_420,
    "422": pipeline_pb2.CHROMA_SUBSAMPLING_422,
    "444": pipeline_pb2.CHROMA_SUBSAMPLING_444,
}
_EFFORTS = {
    "fast": pipeline_pb2.ENCODER_EFFORT_FAST,
    "balanced": pipeline_pb2.ENCODER_EFFORT_BALANCED,
    "best": pipeline_pb2.ENCODER_EFFORT_BEST,
}


@dataclass(frozen=True)
class EncoderOptions:
    """The settings of the encoder of results that are encoded video.

    With them all results are encoded, also frames that pass through.
    """

    #: The bits per second, 20,000 to 100,000,000. `None`: by size and frame rate.
    bit_rate: Optional[int] = None
    #: The frames per second that the bit rate is for, 1 to 240. `None`: the session's `max_fps`, or
    #: 30.
    frame_rate: Optional[float] = None
    #: The frames from a key frame to the next, at most. `None`: key frames only where a receiver
    #: needs one.
    key_frame_interval: Optional[int] = None
    #: The number of temporal layers, 1 to 3. Frames of the top layer can be left out on the way.
    temporal_layers: int = 1
    #: The processor time for quality: "fast", "balanced" or "best".
    effort: Literal["fast", "balanced", "best"] = "fast"

    def message(self, field: str = "encoder") -> pipeline_pb2.EncoderSpec:
        """Returns the message; errors begin with `field`."""
        message = pipeline_pb2.EncoderSpec(
            temporal_layers=integer(f"{field}.temporal_layers", self.temporal_layers, 1, 3)
        )
        if self.bit_rate is not None:
            message.bit_rate = bit_rate_of(f"{field}.bit_rate", self.bit_rate)
        if self.frame_rate is not None:
            message.frame_rate = frame_rate_of(f"{field}.frame_rate", self.frame_rate)
        if self.key_frame_interval is not None:
            message.key_frame_interval = integer(
                f"{field}.key_frame_interval", self.key_frame_interval, 1, 2**32 - 1
            )
        if self.effort not in _EFFORTS:
            raise one_of(f"{field}.effort", self.effort, _EFFORTS)
        message.effort = _EFFORTS[self.effort]
        return message


def bit_rate_of(field: str, value: object) -> int:
    """Returns a bit rate of an encoder."""
    return integer(field, value, 20_000, 100_000_000)


def frame_rate_of(field: str, value: object) -> float:
    """Returns a frame rate of an encoder."""
    return finite(field, value, 1, 240)


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
    #: The encoder of results that are encoded video. `None`: the server's defaults.
    encoder: Optional[EncoderOptions] = None

    @property
    def is_encoded(self) -> bool:
        """Whether results are encoded video."""
        if self.format is None:
            return self.encoder is not None
        return PixelFormat.of(self.format, "output.format").is_encoded

    def message(self, field: str = "output") -> pipeline_pb2.OutputSpec:
        """Returns the message; errors begin with `field`."""
        message = pipeline_pb2.OutputSpec(upright=self.upright)
        if self.format is not None:
            message.format = format_number(PixelFormat.of(self.format, f"{field}.format"))
        if self.width is not None:
            message.width = integer(f"{field}.width", self.width, 1, 16384)
        if self.height is not None:
            message.height = integer(f"{field}.height", self.height, 1, 16384)
        if self.fit not in FITS:
            raise one_of(f"{field}.fit", self.fit, FITS)
        message.fit = FITS[self.fit]
        if self.jpeg_quality is not None:
            message.jpeg_quality = integer(f"{field}.jpeg_quality", self.jpeg_quality, 1, 100)
        if self.jpeg_subsampling not in _SUBSAMPLINGS:
            raise one_of(f"{field}.jpeg_subsampling", self.jpeg_subsampling, _SUBSAMPLINGS)
        message.jpeg_subsampling = _SUBSAMPLINGS[self.jpeg_subsampling]
        if self.encoder is not None:
            if not isinstance(self.encoder, EncoderOptions):
                raise invalid(f"{field}.encoder", self.encoder, "EncoderOptions")
            message.encoder.CopyFrom(self.encoder.message(f"{field}.encoder"))
        return message


@dataclass(frozen=True)
class NamedOutput:
    """A named output of a session: the session's result, filtered and converted once more."""

    #: The name: printable characters, unique in the session, at most 64 bytes.
    name: str
    #: The format and size. `None`: the input's.
    output: Optional[Output] = None
    #: The pipeline of this output, applied to the session's result. Without analyses, custom filters
    #: and filters that follow faces, people, codes or the light.
    pipeline: PipelineLike = None
    #: Frames per second by capture times, 0.01 to 1000; others are left out. `None`: no limit.
    max_fps: Optional[float] = None

    def message(self, field: str) -> session_pb2.Output:
        """Returns the message; errors begin with `field`."""
        message = session_pb2.Output(name=self.name)
        if self.output is not None:
            message.output.CopyFrom(self.output.message(f"{field}.output"))
        source = source_of(self.pipeline)
        if isinstance(source, str):
            message.pipeline_text = source
        else:
            message.pipeline.CopyFrom(source)
        if self.max_fps is not None:
            message.max_fps = finite(f"{field}.max_fps", self.max_fps, 0.01, 1000)
        return message
