"""`FilteredTrack` between real aiortc peers, and with sources that the test controls."""

from __future__ import annotations

import asyncio
import fractions
import os
import signal

import numpy
import pytest
from support.running_server import RunningServer

pytest.importorskip("aiortc")

from aiortc import RTCPeerConnection, VideoStreamTrack  # noqa: E402
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack  # noqa: E402
from av import VideoFrame  # noqa: E402

import sidelight.aio  # noqa: E402
from sidelight.aiortc import FilteredTrack  # noqa: E402

# Of video range, so that their sum is 16 + 235.
DARK, BRIGHT = 60, 191
SECONDS = 60


def run(test):
    """Runs an asynchronous test with a time limit."""
    return asyncio.run(asyncio.wait_for(test, SECONDS))


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

    async def recv(self) -> VideoFrame:
        pts, time_base = await self.next_timestamp()
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


async def connect(offering: RTCPeerConnection, answering: RTCPeerConnection) -> None:
    await offering.setLocalDescription(await offering.createOffer())
    await answering.setRemoteDescription(offering.localDescription)
    await answering.setLocalDescription(await answering.createAnswer())
    await offering.setRemoteDescription(answering.localDescription)


async def until(track, wanted) -> VideoFrame:
    """Returns the first frame of a track that a condition accepts."""
    while True:
        frame = await track.recv()
        if wanted(frame):
            return frame


async def eventually(condition) -> None:
    """Lets the event loop run until a condition holds."""
    while not condition():
        await asyncio.sleep(0.001)


class Call:
    """A caller with a camera, and a call server that sends the filtered camera back."""

    def __init__(self, session) -> None:
        self.caller, self.server = RTCPeerConnection(), RTCPeerConnection()
        self._returned: asyncio.Future = asyncio.get_running_loop().create_future()
        self.caller.addTrack(Camera())
        self.caller.on("track", self._returned.set_result)

        @self.server.on("track")
        def on_track(track):
            self.filtered = FilteredTrack(track, session)
            self.server.addTrack(self.filtered)

    async def __aenter__(self):
        await connect(self.caller, self.server)
        self.returned = await self._returned
        return self

    async def __aexit__(self, *_):
        await self.caller.close()
        await self.server.close()


def test_a_call_is_filtered(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session, Call(session) as call:
                first = await until(call.returned, lambda frame: abs(luma(frame) - BRIGHT) < 6)
                assert (first.width, first.height) == (320, 240)
                session.select("")
                await until(call.returned, lambda frame: abs(luma(frame) - DARK) < 6)
                stats = call.filtered.stats
                assert stats.filtered and stats.passed_through and stats.delivered
                assert stats.latency_p95 >= stats.latency_p50 > 0

    run(test())


def test_a_call_goes_on_after_a_kill_and_is_filtered_again(tmp_path):
    async def test():
        with RunningServer("--shared-memory") as running:
            async with sidelight.aio.connect(running.unix) as server:
                async with server.session("colorInvert") as session, Call(session) as call:
                    await until(call.returned, lambda frame: abs(luma(frame) - BRIGHT) < 6)
                    os.kill(running.process.pid, signal.SIGKILL)
                    running.process.wait()
                    await until(call.returned, lambda frame: abs(luma(frame) - DARK) < 6)
                    again = RunningServer("--shared-memory")
                    again.unix = running.unix
                    with again:
                        await until(call.returned, lambda frame: abs(luma(frame) - BRIGHT) < 6)
                        assert call.filtered.readyState == "live"

    run(test())


def test_the_end_of_a_call_ends_the_track(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                async with Call(session) as call:
                    await call.returned.recv()
                    ended = asyncio.Event()
                    call.filtered.on("ended", ended.set)
                await ended.wait()
                assert call.filtered.readyState == "ended" and call.filtered.error is None
                assert session.is_connected
            assert len(asyncio.all_tasks()) == 1 or not [
                task for task in asyncio.all_tasks() if "_newest_wins" in repr(task)
            ]

    run(test())


def check_sum(stats) -> None:
    dropped = sum(stats.dropped.values())
    outcomes = stats.filtered + stats.passed_through + stats.degraded + dropped
    assert stats.received == stats.skipped + outcomes, stats


def test_frames_keep_their_times(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                source = Pushed()
                track = FilteredTrack(source, session)
                for pts in (0, 3000, 6001, 2**33):
                    source.queue.put_nowait(grey(DARK, pts))
                    frame = await track.recv()
                    assert (frame.pts, frame.time_base) == (pts, fractions.Fraction(1, 90000))
                    assert luma(frame) == BRIGHT
                track.stop()

    run(test())


def test_the_newest_of_a_backlog_is_filtered(running_server):
    """A backlog of 1000 frames costs at most every 30th frame, and ends with the newest."""

    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                source = Pushed()
                for pts in range(1000):
                    source.queue.put_nowait(grey(DARK, pts))
                track = FilteredTrack(source, session)
                frame = await until(track, lambda frame: frame.pts == 999)
                assert luma(frame) == BRIGHT and source.queue.empty()
                check_sum(track.stats)
                assert track.stats.received == 1000 and track.stats.skipped > 900
                track.stop()

    run(test())


def test_a_reader_that_comes_late_gets_the_newest_frame(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                source = Pushed()
                track = FilteredTrack(source, session)
                for pts in range(20):
                    source.queue.put_nowait(grey(DARK, pts))
                    await eventually(lambda: track.stats.filtered > pts)
                assert (await track.recv()).pts == 19
                stats = track.stats
                assert (stats.overtaken, stats.delivered, stats.filtered) == (19, 1, 20)
                track.stop()

    run(test())


def test_dropped_frames_are_not_repeated(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                source = Pushed()
                track = FilteredTrack(source, session)
                source.queue.put_nowait(grey(DARK, 1))
                assert (await track.recv()).pts == 1
                track.pause()
                waiting = asyncio.ensure_future(track.recv())
                source.queue.put_nowait(grey(DARK, 2))
                await eventually(lambda: track.stats.dropped)
                assert not waiting.done()
                track.resume()
                source.queue.put_nowait(grey(DARK, 3))
                assert (await waiting).pts == 3
                check_sum(track.stats)
                track.stop()

    run(test())


def test_a_pause_may_pass_frames_through(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                source = Pushed()
                track = FilteredTrack(source, session)
                track.pause(pass_through=True)
                source.queue.put_nowait(grey(DARK, 1))
                assert luma(await track.recv()) == DARK
                track.resume()
                source.queue.put_nowait(grey(DARK, 2))
                assert luma(await track.recv()) == BRIGHT
                track.stop()

    run(test())


def test_the_end_of_the_source_follows_its_last_frame(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                source = Pushed()
                source.queue.put_nowait(grey(DARK, 1))
                source.queue.put_nowait(None)
                track = FilteredTrack(source, session)
                assert (await track.recv()).pts == 1
                with pytest.raises(MediaStreamError):
                    await track.recv()
                assert track.readyState == "ended" and track.error is None
                check_sum(track.stats)

    run(test())


def test_a_stopped_track_reads_its_source_no_more(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                source = Pushed()
                track = FilteredTrack(source, session)
                source.queue.put_nowait(grey(DARK, 1))
                await track.recv()
                waiting = asyncio.ensure_future(track.recv())
                await asyncio.sleep(0)
                track.stop()
                with pytest.raises(MediaStreamError):
                    await waiting
                source.queue.put_nowait(grey(DARK, 2))
                with pytest.raises(MediaStreamError):
                    await track.recv()
                assert source.queue.qsize() == 1 and source.readyState == "live"
                # The session serves other frames.
                assert (await session.filter(session.frame(8, 8, "gray"))).image.width == 8

    run(test())


def test_the_end_of_the_session_ends_the_track_with_its_error(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                source = Pushed()
                track = FilteredTrack(source, session)
                source.queue.put_nowait(grey(DARK, 1))
                await track.recv()
                await session.close()
                with pytest.raises(MediaStreamError):
                    await track.recv()
                assert track.readyState == "ended"

    run(test())


def test_sizes_and_formats_may_change(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                source = Pushed()
                track = FilteredTrack(source, session)
                for width, height in ((64, 48), (33, 17), (640, 360)):
                    frame = VideoFrame(width, height, "yuv420p")
                    for index, plane in enumerate(frame.planes):
                        plane.update(bytes([DARK if index == 0 else 128]) * plane.buffer_size)
                    frame.pts, frame.time_base = width, fractions.Fraction(1, 30)
                    source.queue.put_nowait(frame)
                    result = await track.recv()
                    assert (result.width, result.height, result.pts) == (width, height, width)
                    assert numpy.all(numpy.asarray(result.planes[0])[:width] == BRIGHT)
                track.stop()

    run(test())


def test_an_audio_track_is_refused():
    class Audio(MediaStreamTrack):
        kind = "audio"

        async def recv(self):
            raise MediaStreamError

    with pytest.raises(ValueError, match="'audio'; it must be 'video'"):
        FilteredTrack(Audio(), None)
