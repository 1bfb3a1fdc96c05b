"""`FilteredTrack` between two aiortc peers of this process, over loopback."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest
from support.asynchronous import run
from support.running_server import RunningServer

pytest.importorskip("aiortc")

from aiortc import RTCPeerConnection

import sidelight.aio
from sidelight.aiortc import FilteredTrack

from .aiortc_support import BRIGHT, DARK, Camera, eventually, luma, until


async def connect(offering: RTCPeerConnection, answering: RTCPeerConnection) -> None:
    await offering.setLocalDescription(await offering.createOffer())
    await answering.setRemoteDescription(offering.localDescription)
    await answering.setLocalDescription(await answering.createAnswer())
    await offering.setRemoteDescription(answering.localDescription)


class Call:
    """A caller with a camera, and a call server that sends the filtered camera back."""

    def __init__(self, session) -> None:
        self.caller, self.server = RTCPeerConnection(), RTCPeerConnection()
        self._returned: asyncio.Future = asyncio.get_running_loop().create_future()
        self.camera = Camera()
        self.caller.addTrack(self.camera)
        self.caller.on("track", self._returned.set_result)

        @self.server.on("track")
        def on_track(track):
            self.source = track
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
            assert not [task for task in asyncio.all_tasks() if "_newest_wins" in repr(task)]

    run(test())


def test_the_queue_of_a_remote_track_stays_empty_after_a_stop(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert") as session, Call(session) as call:
                await call.returned.recv()
                call.filtered.stop()
                sent = call.camera.sent
                await eventually(lambda: call.camera.sent >= sent + 20)
                assert call.source._queue.qsize() < 5

    run(test())
