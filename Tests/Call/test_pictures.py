"""Pictures of participants: uploads, also hostile ones, their deletion, and snapshots."""

import asyncio
import struct
import zlib
from pathlib import Path

import av
import numpy as np
import pytest
from aiortc import VideoStreamTrack

from calltesting.programs import REPOSITORY, CallServer, Sidelight
from calltesting.visitor import Refused, Visitor, awaited

HAT = (REPOSITORY / "Examples/media/hat.png").read_bytes()
USE_HAT = "overlay(asset: hat)"
# The frames after which the newest one is filtered.
FRAMES = 10
MOST_PICTURES = 8
MOST_BYTES, MOST_BYTES_OF_ALL = 16 << 20, 32 << 20
# The call server, whose uploads may take a short time only.
IMPATIENT = Path(__file__).parent / "impatient_call_server.py"


def png(width, height, rows=None):
    """A grey PNG whose rows are not compressed. Without rows only the header is true."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    content = zlib.compress(b"".join(b"\0" + row for row in rows or ()), 0)
    chunks = [(b"IHDR", header), (b"IDAT", content), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


def noise(width, height):
    """A PNG of random pixels, one byte each."""
    pixels = np.random.default_rng(1).integers(0, 256, (height, width), np.uint8)
    return png(width, height, [row.tobytes() for row in pixels])


@pytest.fixture(scope="module")
def sidelight():
    """A Sidelight process with the limits of `make call`, which are for all participants together."""
    limits = ["--max-assets-per-caller", "512", "--max-asset-bytes-per-caller", "1GiB"]
    with Sidelight(*limits) as running:
        yield running


@pytest.fixture
def visitor(call_server):
    return Visitor(call_server.address)


@awaited
async def test_the_pictures_of_a_participant_are_its_own(visitor, call_server):
    async with visitor as ana, Visitor(call_server.address) as ben:
        await ana.join("red", "ana")
        await ben.join("red", "ben")
        assert (await ana.put("hat", HAT))[0] == 200
        await ana.command(command="select", text=USE_HAT)
        with pytest.raises(Refused, match="hat"):
            await ben.command(command="select", text=USE_HAT)


@awaited
async def test_the_pictures_are_deleted_when_the_name_is_used_again(visitor, call_server):
    async with visitor as ana:
        await ana.join("red", "ana")
        assert (await ana.put("hat", HAT))[0] == 200
        resources = ana.resources
        await ana.leave()
        async with Visitor(call_server.address) as other:
            await other.join("red", "ana")
            with pytest.raises(Refused, match="hat"):
                await other.command(command="select", text=USE_HAT)
            # The path of the former participant is no longer valid, for uploads neither.
            ana.resources = resources
            assert (await ana.put("hat", HAT))[0] == 404
            assert other.resources != resources


@awaited
async def test_an_upload_that_outlasts_its_participant_is_refused(visitor, call_server):
    async with visitor as ana, Visitor(call_server.address) as other:
        await ana.join("red", "ana")
        begun, rest = asyncio.Event(), asyncio.Event()

        async def body():
            yield HAT[:1000]
            begun.set()
            await rest.wait()
            yield HAT[1000:]

        upload = asyncio.create_task(ana.put("hat", body()))
        await begun.wait()
        # The upload is under way: an answer came to a later request.
        await ana.filters()
        await ana.leave()
        await other.join("red", "ana")
        rest.set()
        status, text = await upload
        assert status == 400 and "the participant has left" in text
        with pytest.raises(Refused, match="hat"):
            await other.command(command="select", text=USE_HAT)


# Contents that are not pictures, or not accepted ones.
HOSTILE = {
    "nothing": b"",
    "a page": b"<!doctype html><script>alert(1)</script>",
    "a drawing": b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>',
    "the start of a picture": HAT[: len(HAT) // 2],
    "a picture of zeros": b"\x89PNG\r\n\x1a\n" + bytes(1000),
    "a picture that states a huge size": png(60_000, 60_000),
    "a JPEG that ends": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00",
}
# Encoded names that are not valid names of assets.
NAMES = ["..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "a%00b", "a%0Ab", "%20", "source", "x" * 65,
         "%F0%9F%98%80", "a%22%20onload%3D%22b"]


@pytest.mark.parametrize("kind", HOSTILE)
@awaited
async def test_a_hostile_picture_is_refused_and_the_call_goes_on(visitor, kind):
    async with visitor as ana:
        await ana.join("red", "ana")
        status, text = await ana.put("hat", HOSTILE[kind])
        assert status == 400 and '"code"' in text, text
        with pytest.raises(Refused, match="hat"):
            await ana.command(command="select", text=USE_HAT)
        assert (await ana.put("hat", HAT))[0] == 200
        await ana.command(command="select", text=USE_HAT)


@awaited
async def test_hostile_names_are_refused(visitor):
    async with visitor as ana:
        await ana.join("red", "ana")
        for name in NAMES:
            status, text = await ana.put_encoded(name, HAT)
            assert status == 400 and '"code"' in text, (name, text)
        assert (await ana.put("hat", HAT))[0] == 200


@awaited
async def test_the_number_and_the_size_of_the_pictures_are_limited(visitor):
    async with visitor as ana:
        await ana.join("red", "ana")
        for number in range(MOST_PICTURES):
            assert (await ana.put(f"hat{number}", HAT))[0] == 200
        status, text = await ana.put("hat", HAT)
        assert status == 400 and f"must be at most {MOST_PICTURES}" in text
        # One may be replaced.
        assert (await ana.put("hat0", HAT))[0] == 200


@awaited
async def test_the_bytes_of_a_picture_and_of_all_are_limited(visitor):
    async with visitor as ana:
        await ana.join("red", "ana")
        assert (await ana.put("one", bytes(MOST_BYTES + 1)))[0] == 413

        async def chunks():
            for _ in range(MOST_BYTES // (1 << 20) + 1):
                yield bytes(1 << 20)

        assert (await ana.put("one", chunks()))[0] == 413
        picture = noise(3500, 2500)
        count = MOST_BYTES_OF_ALL // len(picture)
        assert 2 <= count < MOST_PICTURES
        for number in range(count):
            status, text = await ana.put(f"noise{number}", picture)
            assert status == 200, text
        status, text = await ana.put("more", picture)
        assert status == 400 and f"most {MOST_BYTES_OF_ALL}" in text


@awaited
async def test_an_upload_that_does_not_come_makes_the_next_one_wait_for_a_time_only(sidelight):
    with CallServer(sidelight.address, program=IMPATIENT) as call_server:
        async with Visitor(call_server.address) as ana:
            await ana.join("red", "ana")
            begun, end = asyncio.Event(), asyncio.Event()

            async def body():
                yield HAT[:1000]
                begun.set()
                await end.wait()

            stalled = asyncio.create_task(ana.put("slow", body()))
            await begun.wait()
            # The next one is in memory only when the first one is not any longer.
            following = asyncio.create_task(ana.put("hat", HAT))
            first, _ = await asyncio.wait(
                {stalled, following}, return_when=asyncio.FIRST_COMPLETED
            )
            assert first == {stalled}
            status, text = stalled.result()
            assert status == 408 and "send it again" in text
            end.set()
            assert (await following)[0] == 200


@awaited
async def test_a_snapshot_is_the_filtered_frame_and_ends_with_the_participation(visitor):
    async with visitor as ana:
        track = VideoStreamTrack()  # green
        await ana.join("red", "ana", track)
        await ana.command(command="select", text="colorInvert")
        await ana.wait_for_filtered(FRAMES)
        snapshot = f"{ana.resources}/snapshot"
        async with ana.http.get(snapshot) as response:
            assert (response.status, response.content_type) == (200, "image/png")
            content = await response.read()
        (picture,) = av.CodecContext.create("png", "r").decode(av.Packet(content))
        red, green, blue = picture.to_ndarray(format="rgb24").mean(axis=(0, 1))
        assert min(red, blue) > 2 * green
        await ana.leave()
        track.stop()
        async with ana.http.get(snapshot) as response:
            assert response.status == 404 and "has left" in await response.text()
