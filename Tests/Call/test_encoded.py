"""A call whose videos Sidelight encodes, once for all receivers."""

from collections.abc import Iterator

import av
import pytest
from aiortc import VideoStreamTrack

from calltesting.looks import GRAYSCALE, INVERTED
from calltesting.programs import CallServer, Sidelight
from calltesting.visitor import Visitor, awaited

FRAMES = 30


@pytest.fixture(scope="module")
def call_server(sidelight: Sidelight) -> Iterator[CallServer]:
    """A call server that does not encode."""
    with CallServer(sidelight.address, "--budget", "2000", "--encoded") as running:
        yield running


def test_each_receiver_sees_a_whole_stream_from_where_it_joins(join):
    ana, ben = join("ana"), join("ben")
    ana.select_and_wait(INVERTED.pipeline)
    for viewer in (ben, join("cem")):
        viewer.read(ana.name)
        viewer.wait_for_look(ana.name, INVERTED.condition)
        viewer.take(ana.name)
        viewer.wait_for_frames(ana.name, FRAMES)
        frames = viewer.take(ana.name)
        assert all(INVERTED.shows(frame) for frame in frames)
        assert all(frame["number"] is not None for frame in frames)


def test_a_change_is_seen_by_a_receiver_that_has_a_stream(join):
    ana, ben = join("ana"), join("ben")
    ben.read(ana.name)
    for look in (INVERTED, GRAYSCALE):
        ana.select_and_wait(look.pipeline)
        ben.wait_for_look(ana.name, look.condition)


@awaited
async def test_a_snapshot_is_a_frame_of_the_stream(call_server):
    async with Visitor(call_server.address) as ana:
        track = VideoStreamTrack()  # green
        await ana.join("red", "ana", track)
        await ana.command(command="select", text="colorInvert")
        await ana.wait_for_filtered(FRAMES)
        async with ana.http.get(f"{ana.resources}/snapshot") as response:
            assert (response.status, response.content_type) == (200, "image/png")
            content = await response.read()
        (picture,) = av.CodecContext.create("png", "r").decode(av.Packet(content))
        red, green, blue = picture.to_ndarray(format="rgb24").mean(axis=(0, 1))
        assert min(red, blue) > 2 * green
        track.stop()


@awaited
async def test_a_preview_that_was_off_continues_with_a_whole_picture(call_server):
    def is_green(frame):
        red, green, blue = frame.to_ndarray(format="rgb24").mean(axis=(0, 1))
        return green > 2 * max(red, blue)

    async with Visitor(call_server.address) as ana:
        track = VideoStreamTrack()  # green
        await ana.join("red", "ana", track)
        (transceiver,) = ana._connection.getTransceivers()
        preview = transceiver.receiver.track
        await ana.command(command="select", text="colorInvert")
        while is_green(await preview.recv()):
            pass
        await ana.command(command="preview", on=False)
        await ana.command(command="select", text="")
        await ana.wait_for_filtered(FRAMES)
        await ana.command(command="preview", on=True)
        # The picture does not change, so frames after it alone would not show it.
        while not is_green(await preview.recv()):
            pass
        track.stop()
