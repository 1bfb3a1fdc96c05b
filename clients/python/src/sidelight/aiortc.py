"""A video track of aiortc whose frames are filtered by Sidelight."""

from __future__ import annotations

import asyncio
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Dict, NamedTuple, Optional, Tuple

from aiortc import rtp
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from aiortc.rtcrtpreceiver import RemoteStreamTrack
from aiortc.rtcrtpsender import RTCRtpSender

from . import av
from ._newest_wins import BridgeStats, EndOfFrames, NewestWins
from ._packets import frame_of_packet, is_packet
from .errors import SidelightError
from .images import EncodedImage, Frame

if TYPE_CHECKING:
    from .aio import Session

__all__ = ["BridgeStats", "FilteredTrack"]


#: The limits of an encoder's bit rate.
_LOWEST, _HIGHEST = 20_000, 100_000_000
#: The seconds for which an estimate counts; peers send about one per second.
_ESTIMATE_SECONDS = 5
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

    The frames are I420, as aiortc's encoders need them; other formats are converted first. Sources of
    packets, such as a `MediaPlayer` with `decode=False`, are sent as they are. If the session's
    results are encoded, the track has packets, which aiortc sends without encoding them: the codec
    must be the negotiated one. See `follow`.

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
        #: The time and the bit rate of the last estimate of a sender's peer.
        self._estimates: Dict[int, Tuple[float, int]] = {}
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

    async def recv(self) -> Any:
        """Returns the newest filtered frame that was not returned yet, when there is one: an
        `av.VideoFrame`, or an `av.Packet` if the session's results are encoded.

        Raises `MediaStreamError` when the source has ended, the session has ended, or the track is
        stopped. `error` tells the second case.
        """
        if self.readyState != "live":
            raise MediaStreamError
        try:
            outcome, times = await self._bridge.next()
        except EndOfFrames:
            self.stop()
            raise MediaStreamError from None
        except Exception as error:
            self.stop()
            raise MediaStreamError(str(error)) from error
        frame: Any
        with outcome:
            image = outcome.image
            if isinstance(image, EncodedImage):
                frame = av.packet(image)
                frame.dts = times.pts
            else:
                frame = av.video_frame(image)
        frame.pts = times.pts
        if times.time_base is not None:
            frame.time_base = times.time_base
        return frame

    def follow(self, sender: RTCRtpSender) -> None:
        """Hands the requests of a sender's peer to the session's encoder: key frames (PLI, FIR) and
        the estimated bit rate (REMB), of several peers the lowest, and at most the one that the
        session's `EncoderOptions` state. For a session whose results are encoded.

            track.follow(connection.addTrack(track))

        aiortc has no event for them, so this replaces the sender's handler of RTCP packets.
        """
        handle = sender._handle_rtcp_packet

        async def handle_and_follow(packet: Any) -> None:
            if isinstance(packet, rtp.RtcpPsfbPacket):
                if packet.fmt in (rtp.RTCP_PSFB_PLI, rtp.RTCP_PSFB_FIR):
                    self._session.request_key_frame()
                elif packet.fmt == rtp.RTCP_PSFB_APP:
                    self._follow_estimate(sender, packet.fci)
            await handle(packet)

        setattr(sender, "_handle_rtcp_packet", handle_and_follow)  # noqa: B010

    def _follow_estimate(self, sender: RTCRtpSender, fci: bytes) -> None:
        now = time.monotonic()
        try:
            self._estimates[id(sender)] = now, rtp.unpack_remb_fci(fci)[0]
            # A peer that has left sends none.
            recent = [each for at, each in self._estimates.values() if now - at < _ESTIMATE_SECONDS]
            configured = self._session._machine.options.open.output.encoder.bit_rate
            highest = configured or _HIGHEST
            self._session.set_encoder(bit_rate=max(_LOWEST, min(*recent, highest)))
        except (ValueError, SidelightError):
            pass  # Another message, or a session that is over.

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
        times = _Time(source.pts, source.time_base)
        if is_packet(source):
            return frame_of_packet(source), times
        if source.format.name not in _I420:
            source = source.reformat(format="yuv420p")
        color = av.color_of(source)
        frame = self._session.frame(source.width, source.height, "i420", color=color)
        av.copy_into(frame.image, source)
        if times.pts is not None and times.time_base is not None:
            frame.capture_time_ns = round(times.pts * Fraction(times.time_base) * 1_000_000_000)
        return frame, times


async def _discard(track: MediaStreamTrack) -> None:
    try:
        while True:
            await track.recv()
    except MediaStreamError:
        pass
