"""A processor for the video frames of LiveKit's Python SDK.

Tested against the SDK's own tracks, streams and sources, which need no server; not against rooms.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, AsyncIterable, AsyncIterator, Dict, Optional, Tuple

from livekit import rtc

from ._newest_wins import BridgeStats, EndOfFrames, NewestWins
from .images import Color, ColorMatrix, ColorRange, Frame, Image, Orientation, PixelFormat

if TYPE_CHECKING:
    from .aio import Session

__all__ = ["BridgeStats", "VideoProcessor", "image", "video_frame"]

_FORMATS = {
    rtc.VideoBufferType.I420: PixelFormat.I420,
    rtc.VideoBufferType.NV12: PixelFormat.NV12,
    rtc.VideoBufferType.RGBA: PixelFormat.RGBA,
    rtc.VideoBufferType.BGRA: PixelFormat.BGRA,
    rtc.VideoBufferType.RGB24: PixelFormat.RGB,
}
_TYPES = {format: type for type, format in _FORMATS.items()}
# WebRTC's conversions use this range and matrix at every size.
_COLOR = Color(range=ColorRange.VIDEO, matrix=ColorMatrix.BT601)
_ROTATIONS = {
    rtc.VideoRotation.VIDEO_ROTATION_0: 0,
    rtc.VideoRotation.VIDEO_ROTATION_90: 90,
    rtc.VideoRotation.VIDEO_ROTATION_180: 180,
    rtc.VideoRotation.VIDEO_ROTATION_270: 270,
}


def image(frame: rtc.VideoFrame, *, rotation: int = 0) -> Image:
    """Returns an image with the pixels of a frame, without a copy.

    Frames of other types than I420, NV12, RGBA, BGRA and RGB24 are converted to I420.

    - rotation: The clockwise rotation for display in degrees: 0, 90, 180 or 270.
    """
    if frame.type not in _FORMATS:
        frame = frame.convert(rtc.VideoBufferType.I420)
    format = _FORMATS[frame.type]
    return Image(
        format,
        frame.width,
        frame.height,
        frame.data,
        color=_COLOR if format.is_yuv else None,
        orientation=Orientation(rotation=rotation),
    )


def video_frame(image: Image) -> rtc.VideoFrame:
    """Returns a frame with a copy of the pixels of an image, which is not a file and not grey."""
    if image.format not in _TYPES:
        raise ValueError(f"image.format is {image.format.value}; a VideoFrame has no such type")
    return rtc.VideoFrame(image.width, image.height, _TYPES[image.format], image.bytes())


class VideoProcessor:
    """Filters the frames of a `VideoStream` with a session.

        source = rtc.VideoSource(1280, 720)
        stream = rtc.VideoStream(track, capacity=1)
        await sidelight.livekit.VideoProcessor(session).run(stream, source)

    The newest frame wins, in front of the session and behind it, so frames do not queue. Give the
    stream a `capacity`: the SDK's default is a queue without a bound.

    The session serves this processor only. The processor does not close it.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._bridge: Optional[_Bridge] = None

    @property
    def stats(self) -> Optional[BridgeStats]:
        """The frames of the newest stream so far; `None` before the first."""
        return None if self._bridge is None else self._bridge.stats

    async def process(
        self, stream: AsyncIterable[rtc.VideoFrameEvent]
    ) -> AsyncIterator[rtc.VideoFrameEvent]:
        """Yields filtered frames with the timestamps, rotations and metadata of their sources.

        Dropped frames are left out. Ends with the stream. Raises the error that ends the session.
        """
        events = stream.__aiter__()
        bridge: _Bridge = NewestWins(
            self._session, events.__anext__, (StopAsyncIteration,), _convert
        )
        self._bridge = bridge
        try:
            while True:
                try:
                    outcome, event = await bridge.next()
                except EndOfFrames:
                    return
                with outcome:
                    yield dataclasses.replace(event, frame=video_frame(outcome.image))
        finally:
            bridge.close()

    async def run(
        self, stream: AsyncIterable[rtc.VideoFrameEvent], source: rtc.VideoSource
    ) -> None:
        """Captures the filtered frames of a stream into a source, until the stream ends."""
        async for event in self.process(stream):
            # Older versions of the SDK have no metadata.
            metadata = getattr(event, "metadata", None)
            more: Dict[str, Any] = {} if metadata is None else {"metadata": metadata}
            rotation: Any = event.rotation
            source.capture_frame(
                event.frame, timestamp_us=event.timestamp_us, rotation=rotation, **more
            )


_Bridge = NewestWins[rtc.VideoFrameEvent, rtc.VideoFrameEvent]


def _convert(event: rtc.VideoFrameEvent) -> Tuple[Frame, rtc.VideoFrameEvent]:
    rotation = _ROTATIONS.get(event.rotation, 0)  # type: ignore[call-overload]
    frame = Frame(
        image(event.frame, rotation=rotation), capture_time_ns=event.timestamp_us * 1000
    )
    return frame, event
