"""`FilteredTrack` with sources that the test controls."""

from __future__ import annotations

import asyncio
import fractions
import os
import runpy
import signal
from pathlib import Path

import numpy
import pytest
from support.asynchronous import in_session, run
from support.running_server import RunningServer

pytest.importorskip("aiortc")

from aiortc.contrib.media import MediaRelay
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av import VideoFrame

import sidelight.aio
import sidelight.errors
from sidelight.aiortc import FilteredTrack

from .aiortc_support import BRIGHT, DARK, Camera, Pushed, eventually, grey, luma, until


@in_session
async def test_a_relay_sends_one_filtered_track_to_two_readers(session):
    track = FilteredTrack(Camera(), session)
    relay = MediaRelay()
    readers = relay.subscribe(track), relay.subscribe(track)
    for _ in range(3):
        for frame in await asyncio.gather(*(reader.recv() for reader in readers)):
            assert luma(frame) == BRIGHT
    track.stop()


def check_sum(stats) -> None:
    dropped = sum(stats.dropped.values())
    outcomes = stats.filtered + stats.passed_through + stats.degraded + dropped
    assert stats.received == stats.skipped + outcomes, stats


@in_session
async def test_frames_keep_their_times(session):
    source = Pushed()
    track = FilteredTrack(source, session)
    for pts in (0, 3000, 6001, 2**33):
        source.queue.put_nowait(grey(DARK, pts))
        frame = await track.recv()
        assert (frame.pts, frame.time_base) == (pts, fractions.Fraction(1, 90000))
        assert luma(frame) == BRIGHT
    track.stop()


@in_session
async def test_the_newest_of_a_backlog_is_filtered(session):
    """A backlog of 1000 frames costs at most every 30th frame, and ends with the newest."""
    source = Pushed()
    for pts in range(1000):
        source.queue.put_nowait(grey(DARK, pts))
    track = FilteredTrack(source, session)
    frame = await until(track, lambda frame: frame.pts == 999)
    assert luma(frame) == BRIGHT and source.queue.empty()
    check_sum(track.stats)
    assert track.stats.received == 1000 and track.stats.skipped > 900
    track.stop()


@in_session
async def test_a_reader_that_comes_late_gets_the_newest_frame(session):
    source = Pushed()
    track = FilteredTrack(source, session)
    for pts in range(20):
        source.queue.put_nowait(grey(DARK, pts))
        await eventually(lambda: track.stats.filtered > pts)
    assert (await track.recv()).pts == 19
    stats = track.stats
    assert (stats.overtaken, stats.delivered, stats.filtered) == (19, 1, 20)
    track.stop()


@in_session
async def test_dropped_frames_are_not_repeated(session):
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


@in_session
async def test_a_pause_may_pass_frames_through(session):
    source = Pushed()
    track = FilteredTrack(source, session)
    track.pause(pass_through=True)
    source.queue.put_nowait(grey(DARK, 1))
    assert luma(await track.recv()) == DARK
    track.resume()
    source.queue.put_nowait(grey(DARK, 2))
    assert luma(await track.recv()) == BRIGHT
    track.stop()


@in_session
async def test_the_end_of_the_source_follows_its_last_frame(session):
    source = Pushed()
    source.queue.put_nowait(grey(DARK, 1))
    source.queue.put_nowait(None)
    track = FilteredTrack(source, session)
    assert (await track.recv()).pts == 1
    with pytest.raises(MediaStreamError):
        await track.recv()
    assert track.readyState == "ended" and track.error is None
    check_sum(track.stats)


@in_session
async def test_a_stopped_track_reads_its_source_no_more(session):
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


@in_session
async def test_a_session_serves_one_track_after_another(session):
    """The frames that a stopped track gave up do not go to the next track."""
    for pts in range(1, 20):
        source = Pushed()
        track = FilteredTrack(source, session)
        source.queue.put_nowait(grey(DARK, 100 * pts))
        assert (await track.recv()).pts == 100 * pts
        received = session.counts.received
        source.queue.put_nowait(grey(DARK, 100 * pts + 1))
        while session.counts.received == received:
            await asyncio.sleep(0)
        track.stop()


@in_session
async def test_the_end_of_the_session_ends_the_track_with_its_error(session):
    source = Pushed()
    track = FilteredTrack(source, session)
    source.queue.put_nowait(grey(DARK, 1))
    await track.recv()
    await session.close()
    with pytest.raises(MediaStreamError):
        await track.recv()
    assert track.readyState == "ended"


def test_the_loss_of_the_session_ends_the_track_with_its_error():
    async def test():
        with RunningServer("--shared-memory") as running:
            async with sidelight.aio.connect(running.unix) as server:
                async with server.session("colorInvert", reconnect=False) as session:
                    source = Pushed()
                    track = FilteredTrack(source, session)
                    source.queue.put_nowait(grey(DARK, 1))
                    await track.recv()
                    os.kill(running.process.pid, signal.SIGKILL)
                    with pytest.raises(MediaStreamError):
                        await track.recv()
                    assert isinstance(track.error, sidelight.errors.Unavailable)

    run(test())


@in_session
async def test_sizes_may_change(session):
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


@in_session
async def test_other_formats_are_converted(session):
    source = Pushed()
    track = FilteredTrack(source, session)
    frame = VideoFrame.from_ndarray(numpy.full((48, 64, 3), 255, numpy.uint8), "rgb24")
    frame.pts, frame.time_base = 1, fractions.Fraction(1, 30)
    source.queue.put_nowait(frame)
    result = await track.recv()
    assert result.format.name == "yuv420p"
    assert abs(luma(result) - 16) <= 1
    track.stop()


def test_the_contrast_filters_every_frame_in_order(running_server):
    path = Path(__file__).parents[2] / "benchmarks/fifo_track.py"
    fifo_track = runpy.run_path(str(path))["FifoTrack"]

    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert", drop_policy="never_drop") as session:
                source = Pushed()
                for pts in range(40):
                    source.queue.put_nowait(grey(DARK, pts))
                track = fifo_track(source, session)
                frames = [await track.recv() for _ in range(40)]
                assert [frame.pts for frame in frames] == list(range(40))
                assert all(luma(frame) == BRIGHT for frame in frames)

    run(test())


def test_an_audio_track_is_refused():
    class Audio(MediaStreamTrack):
        kind = "audio"

        async def recv(self):
            raise MediaStreamError

    with pytest.raises(ValueError, match="'audio'; it must be 'video'"):
        FilteredTrack(Audio(), None)
