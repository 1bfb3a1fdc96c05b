"""`VideoProcessor` with LiveKit's own frames, tracks, streams and sources; no room is needed."""

from __future__ import annotations

import asyncio

import pytest
from support.asynchronous import in_session, run

pytest.importorskip("livekit.rtc")

from livekit import rtc

import sidelight.aio
from sidelight.images import Image, PixelFormat
from sidelight.livekit import VideoProcessor, image, video_frame

TYPES = {
    rtc.VideoBufferType.I420: "i420",
    rtc.VideoBufferType.NV12: "nv12",
    rtc.VideoBufferType.RGBA: "rgba",
    rtc.VideoBufferType.BGRA: "bgra",
    rtc.VideoBufferType.RGB24: "rgb",
}


def grey(luma, width=64, height=48):
    size = width * height
    chroma = -(-width // 2) * -(-height // 2)
    data = bytearray([luma]) * size + bytearray([128]) * (2 * chroma)
    return rtc.VideoFrame(width, height, rtc.VideoBufferType.I420, data)


def event(luma, timestamp_us=0, rotation=rtc.VideoRotation.VIDEO_ROTATION_0):
    return rtc.VideoFrameEvent(grey(luma), timestamp_us, rotation)


async def stream(queue):
    """The events of a queue, until `None`."""
    while True:
        item = await queue.get()
        if item is None:
            return
        yield item


@pytest.mark.parametrize("width, height", [(64, 48), (33, 17)])
@pytest.mark.parametrize("type, name", TYPES.items())
def test_frames_become_images_and_back(type, name, width, height):
    size = Image.packed_size(name, width, height)
    data = bytearray(index * 7 % 251 for index in range(size))
    frame = rtc.VideoFrame(width, height, type, data)
    result = image(frame)
    assert (result.format, result.width, result.height) == (PixelFormat.of(name), width, height)
    assert result.bytes() == data
    frame.data[0] ^= 255
    assert result.data[0] == frame.data[0], "the image is a copy"
    back = video_frame(result)
    assert (back.type, back.width, back.height, back.data) == (type, width, height, frame.data)


def test_other_types_are_converted():
    frame = rtc.VideoFrame(16, 8, rtc.VideoBufferType.I444, bytearray([90]) * (16 * 8 * 3))
    result = image(frame)
    assert result.format is PixelFormat.I420 and result.bytes() == bytes([90]) * (16 * 8 * 3 // 2)


def test_grey_images_are_refused():
    with pytest.raises(ValueError, match="image.format is gray"):
        video_frame(Image("gray", 2, 2, b"1234"))


@in_session
async def test_events_keep_timestamps_and_rotations(session):
    queue: asyncio.Queue = asyncio.Queue()
    processor = VideoProcessor(session)
    output = processor.process(stream(queue))
    for timestamp, rotation in ((5, 0), (10_000_005, 1), (20_000_000, 3)):
        queue.put_nowait(event(60, timestamp, rotation))
        result = await output.__anext__()
        assert (result.timestamp_us, result.rotation) == (timestamp, rotation)
        assert result.frame.data[0] == 191
    queue.put_nowait(None)
    with pytest.raises(StopAsyncIteration):
        await output.__anext__()
    stats = processor.stats
    assert (stats.received, stats.filtered, stats.delivered) == (3, 3, 3)


@in_session
async def test_nothing_queues_in_front_of_a_slow_reader(session):
    """The reader asks after 300 frames, and gets the newest."""
    queue: asyncio.Queue = asyncio.Queue()
    processor = VideoProcessor(session)
    output = processor.process(stream(queue))
    queue.put_nowait(event(60, 0))
    assert (await output.__anext__()).timestamp_us == 0
    for timestamp in range(1, 301):
        queue.put_nowait(event(60, timestamp))
    newest = await output.__anext__()
    while newest.timestamp_us != 300:
        newest = await output.__anext__()
    assert queue.empty()
    stats = processor.stats
    assert stats.received == 301 and stats.skipped > 250
    await output.aclose()
    assert session.is_connected


def test_a_track_is_filtered_into_a_source(running_server):
    """The SDK's own local tracks and streams, from a source to a source."""

    async def test():
        camera, result = rtc.VideoSource(64, 48), rtc.VideoSource(64, 48)
        track = rtc.LocalVideoTrack.create_video_track("camera", camera)
        filtered = rtc.LocalVideoTrack.create_video_track("filtered", result)
        source = rtc.VideoStream(track, capacity=1)
        viewer = rtc.VideoStream(filtered, capacity=1)

        async def film():
            timestamp = 1_000_000
            while True:
                camera.capture_frame(grey(60), timestamp_us=timestamp)
                timestamp += 33_000
                await asyncio.sleep(0.033)

        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session:
                filming = asyncio.ensure_future(film())
                running = asyncio.ensure_future(VideoProcessor(session).run(source, result))
                seen = 0
                async for got in viewer:
                    assert got.frame.type == rtc.VideoBufferType.I420
                    assert got.frame.data[0] == 191
                    seen += 1
                    if seen == 10:
                        break
                filming.cancel()
                await source.aclose()
                running.cancel()
                await viewer.aclose()

    run(test())
