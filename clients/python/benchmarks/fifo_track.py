"""A track that filters every frame in the order of arrival: the usual bridge, as a contrast.

For each `recv()` it takes the oldest frame of its source and waits until that frame is filtered.
While the filter or the encoder is slower than the source, the queue of a remote track grows without
a bound, and with it the latency. The benchmark of calls measures that next to
`sidelight.aiortc.FilteredTrack`. Do not use it in a program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av import VideoFrame

from sidelight import av
from sidelight.outcomes import Dropped

if TYPE_CHECKING:
    from sidelight.aio import Session

__all__ = ["FifoTrack"]


class FifoTrack(MediaStreamTrack):
    """A track with all frames of another one, filtered in order.

    Open the session with `drop_policy="never_drop"`; frames that are dropped nevertheless are left
    out.
    """

    kind = "video"

    def __init__(self, track: MediaStreamTrack, session: Session) -> None:
        super().__init__()
        self._source = track
        self._session = session

    async def recv(self) -> VideoFrame:
        """Returns the next frame of the source, filtered."""
        while self.readyState == "live":
            source = await self._source.recv()
            if not isinstance(source, VideoFrame):
                raise TypeError(f"the source sends {type(source).__name__}; it must be VideoFrame")
            with await self._session.filter(av.frame(source)) as outcome:
                if not isinstance(outcome, Dropped):
                    return av.video_frame(outcome.image, like=source)
        raise MediaStreamError
