"""Tracks whose frames a test controls."""

from __future__ import annotations

import asyncio
import fractions

import numpy
import pytest

pytest.importorskip("aiortc")

from aiortc import VideoStreamTrack
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av import VideoFrame

# Of video range, so their sum is 16 + 235.
DARK, BRIGHT = 60, 191


def grey(luma: int, pts: int = 0, width: int = 64, height: int = 48) -> VideoFrame:
    planes = numpy.full((height * 3 // 2, width), 128, numpy.uint8)
    planes[:height] = luma
    frame = VideoFrame.from_ndarray(planes, format="yuv420p")
    frame.pts, frame.time_base = pts, fractions.Fraction(1, 90000)
    return frame


def luma(frame: VideoFrame) -> float:
    return float(frame.to_ndarray()[: frame.height, : frame.width].mean())


class Camera(VideoStreamTrack):
    """A camera of 30 dark frames per second."""

    sent = 0

    async def recv(self) -> VideoFrame:
        pts, time_base = await self.next_timestamp()
        self.sent += 1
        frame = grey(DARK, width=320, height=240)
        frame.pts, frame.time_base = pts, time_base
        return frame


class Pushed(MediaStreamTrack):
    """A track with an unbounded queue, as aiortc's remote tracks have one."""

    kind = "video"

    def __init__(self) -> None:
        super().__init__()
        self.queue: asyncio.Queue = asyncio.Queue()

    async def recv(self) -> VideoFrame:
        frame = await self.queue.get()
        if frame is None:
            self.stop()
            raise MediaStreamError
        return frame


async def eventually(condition) -> None:
    """Lets the event loop run until a condition holds."""
    while not condition():
        await asyncio.sleep(0.001)


async def until(track, wanted) -> VideoFrame:
    """Returns the first frame of a track that a condition accepts."""
    while True:
        frame = await track.recv()
        if wanted(frame):
            return frame
