"""The call server of `Examples/call` with another bridge than Sidelight's, for comparison.

The variable `CALL_BRIDGE` names it:

- `newest`: without Sidelight; the newest frame of the sender goes to the viewers, as it is.
- `fifo`: through Sidelight, every frame in the order of arrival. No frame is dropped.
"""

import os
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path[:0] = [
    str(REPOSITORY / "Examples/call"), str(REPOSITORY / "clients/python/benchmarks")
]

import call_server
from aiortc import MediaStreamTrack
from av import VideoFrame
from fifo_track import FifoTrack
from sidelight.aio import Server, Session


class NewestTrack(MediaStreamTrack):
    """A track with the newest frames of another one. The session has no frames."""

    kind = "video"

    def __init__(self, track: MediaStreamTrack, _: Session) -> None:
        super().__init__()
        self._track = track

    async def recv(self) -> VideoFrame:
        """Returns the newest frame of the source, when there is one."""
        frame = await self._track.recv()
        # The source's queue has no bound, and no public method that tells whether it is empty.
        while not self._track._queue.empty():
            frame = await self._track.recv()
        return frame


def _never_drop(open_session: Any) -> Any:
    def session(self: Server, *arguments: Any, **options: Any) -> Session:
        options |= {"drop_policy": "never_drop", "budget": None}
        return open_session(self, *arguments, **options)

    return session


if __name__ == "__main__":
    bridge = os.environ["CALL_BRIDGE"]
    call_server.FilteredTrack = {"newest": NewestTrack, "fifo": FifoTrack}[bridge]
    if bridge == "fifo":
        Server.session = _never_drop(Server.session)
    call_server.main()
