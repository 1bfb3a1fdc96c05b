"""A video track of aiortc whose frames are filtered by Sidelight."""

from __future__ import annotations

import asyncio
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Tuple

from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from aiortc.rtcrtpreceiver import RemoteStreamTrack
from av import VideoFrame

from . import av
from ._newest_wins import BridgeStats, EndOfFrames, NewestWins
from .images import Frame

if TYPE_CHECKING:
    from .aio import Session

__all__ = ["BridgeStats", "FilteredTrack"]


_I420 = ("yuv420p", "yuvj420p")


class _Time(NamedTuple):
    """The presentation time of a frame."""

    pts: Optional[int]
    time_base: Any


class FilteredTrack(MediaStreamTrack):
    """A track with the frames of another one, filtered by a session.

        @peer.on("track")
        def on_track(track):
            if track.kind == "video":
                other.addTrack(FilteredTrack(track, session))

    The newest frame wins everywhere, so latency stays bounded under any load: the queue of a
    remote track, which has no bound, is read without a pause; the session drops frames that wait;
    and an encoder that is slower than the filter gets the newest frame.

    The frames are I420, as aiortc's encoders need them; other formats are converted first.

    A frame that is dropped is not repeated: `recv()` waits for the next one. The frames keep their
    `pts` and `time_base`.

    The session serves this track only. The track does not close it.
    """

    kind = "video"

    def __init__(self, track: MediaStreamTrack, session: Session) -> None:
        """Creates the track. Within a running event loop it starts to read `track` at once,
        otherwise with the first `recv()`.

        - track: The source, a video track. Do not read it elsewhere; use `aiortc.MediaRelay` where
          a source has several readers.
        - session: A session without other frames, of the same event loop.
        """
        super().__init__()
        if track.kind != "video":
            raise ValueError(f"track.kind is {track.kind!r}; it must be 'video'")
        self._source = track
        self._session = session
        self._bridge: NewestWins[Any, _Time] = NewestWins(
            session, track.recv, (MediaStreamError,), self._convert
        )
        self._draining: Optional[asyncio.Task[None]] = None
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        self._bridge.start()

    @property
    def stats(self) -> BridgeStats:
        """The frames so far."""
        return self._bridge.stats

    @property
    def error(self) -> Optional[BaseException]:
        """The error that ended the track; `None` while it is live, and after the source's end."""
        return self._bridge.error

    async def recv(self) -> VideoFrame:
        """Returns the newest filtered frame that was not returned yet, when there is one.

        Raises `MediaStreamError` when the source has ended, the session has ended, or the track is
        stopped. `error` tells the second case.
        """
        if self.readyState != "live":
            raise MediaStreamError
        try:
            outcome, time = await self._bridge.next()
        except EndOfFrames:
            self.stop()
            raise MediaStreamError from None
        except Exception as error:
            self.stop()
            raise MediaStreamError(str(error)) from error
        with outcome:
            frame = av.video_frame(outcome.image)
        frame.pts = time.pts
        if time.time_base is not None:
            frame.time_base = time.time_base
        return frame

    def pause(self, pass_through: bool = False) -> None:
        """Pauses filtering. Frames are dropped as `PAUSED`, so the picture freezes; or, with
        `pass_through`, they come back unchanged."""
        self._session.pause(pass_through)

    def resume(self) -> None:
        """Ends a pause."""
        self._session.resume()

    def stop(self) -> None:
        """Ends the track, and gives up the frames in flight.

        A remote source is read until it ends, and its frames are discarded: otherwise its queue
        would grow. Other sources are not read any more. Neither is stopped.
        """
        if self.readyState != "live":
            return
        super().stop()
        self._bridge.close()
        if isinstance(self._source, RemoteStreamTrack) and self._source.readyState == "live":
            try:
                self._draining = asyncio.get_running_loop().create_task(_discard(self._source))
            except RuntimeError:
                pass

    def _convert(self, source: Any) -> Tuple[Frame, _Time]:
        time = _Time(source.pts, source.time_base)
        if source.format.name not in _I420:
            source = source.reformat(format="yuv420p")
        color = av.color_of(source)
        frame = self._session.frame(source.width, source.height, "i420", color=color)
        av.copy_into(frame.image, source)
        if time.pts is not None and time.time_base is not None:
            frame.capture_time_ns = round(time.pts * Fraction(time.time_base) * 1_000_000_000)
        return frame, time


async def _discard(track: MediaStreamTrack) -> None:
    try:
        while True:
            await track.recv()
    except MediaStreamError:
        pass
