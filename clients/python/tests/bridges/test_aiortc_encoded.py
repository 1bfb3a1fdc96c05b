"""`FilteredTrack` with packets instead of pictures, in and out."""

from __future__ import annotations

import asyncio
from fractions import Fraction
from typing import Optional

import pytest
from support.asynchronous import run
from support.encoded_videos import HEIGHT, WIDTH, Encoder, difference, picture
from support.videos import inverted

pytest.importorskip("aiortc")

import av
from aiortc import rtp
from aiortc.mediastreams import MediaStreamError

import sidelight.aio
import sidelight.av
from sidelight import DropReason, EncodedImage, EncoderOptions, Output
from sidelight._newest_wins import _WAITING_LIMIT
from sidelight.aiortc import FilteredTrack
from sidelight.events import KeyFrameNeeded

from .aiortc_support import BRIGHT, Pushed, eventually, luma, until
from .test_aiortc_calls import Call

CLOSE = 6
VP8 = Output(format="vp8", encoder=EncoderOptions(bit_rate=500_000))


def in_session(output=None):
    """A test with a session that inverts colours."""

    def decorated(test):
        def wrapped(running_server):
            async def within():
                async with sidelight.aio.connect(running_server.unix) as server:
                    async with server.session("colorInvert", output=output) as session:
                        await test(session)

            run(within())

        wrapped.__name__, wrapped.__doc__ = test.__name__, test.__doc__
        return wrapped

    return decorated


class Packets(Pushed):
    """A track of packets that have a stream, as a player without decoding returns them."""

    def __init__(self, codec: str = "vp8") -> None:
        super().__init__()
        self._encoder = Encoder(codec)
        self._container = av.open("/dev/null", "w", format="matroska")
        self._stream = self._container.add_stream(self._encoder.context.name, rate=30)

    def push(self, packet: Optional[av.Packet] = None, is_key_frame: bool = False) -> None:
        packet = packet or self._encoder.packet(is_key_frame)
        packet.stream, packet.time_base = self._stream, Fraction(1, 30)
        self.queue.put_nowait(packet)


def image_of(packet):
    return EncodedImage("vp8", bytes(packet))


@in_session()
async def test_packets_are_filtered_without_a_decoder(session):
    source, decoder = Packets(), sidelight.av.Decoder()
    track = FilteredTrack(source, session)
    for index in range(5):
        source.push()
        packet = await track.recv()
        assert (packet.pts, packet.time_base) == (index, Fraction(1, 30))
        assert packet.is_keyframe is (index == 0)
        shown = decoder.decode(image_of(packet))
        assert difference(inverted(picture(index)), shown) < CLOSE
    track.stop()


@in_session()
async def test_a_malformed_packet_does_not_end_the_track(session):
    source = Packets("h264")
    track = FilteredTrack(source, session)
    source.push()
    assert (await track.recv()).is_keyframe
    source.push(av.Packet(b"garbage"))
    source.push()
    await eventually(lambda: sum(track.stats.dropped.values()) == 2)
    assert track.stats.dropped == {DropReason.INVALID_FRAME: 1, DropReason.NOT_DECODABLE: 1}
    source.push(is_key_frame=True)
    assert (await track.recv()).pts == 2
    track.stop()


@in_session()
async def test_a_stream_of_another_format_ends_the_track_with_a_reason(session):
    source = Packets("h264")
    track = FilteredTrack(source, session)
    source.push(av.Packet(b"garbage"))
    with pytest.raises(MediaStreamError):
        await track.recv()
    assert "h264_mp4toannexb" in str(track.error)


@in_session()
async def test_a_backlog_of_packets_is_not_skipped(session):
    source = Packets()
    for _ in range(5):
        source.push()
    track = FilteredTrack(source, session)
    await eventually(lambda: track.stats.received == 5)
    assert track.stats.skipped == 0
    track.stop()


def test_a_move_loses_no_packet(servers):
    async def test():
        addresses = [each.tcp for each in servers]
        async with sidelight.aio.connect(addresses[0]) as server:
            async with server.session("colorInvert") as session:
                requests = []
                session.on_event(lambda each: requests.append(isinstance(each, KeyFrameNeeded)))
                source, decoder = Packets(), sidelight.av.Decoder()
                track = FilteredTrack(source, session)
                before, index, left = session.id, 0, 5
                while left:
                    source.push(is_key_frame=any(requests))
                    requests.clear()
                    packet = await track.recv()
                    assert packet.pts == index
                    shown = decoder.decode(image_of(packet))
                    assert difference(inverted(picture(index)), shown) < CLOSE
                    if index == 3:
                        assert await server.sessions.move(before, addresses[1])
                    index += 1
                    left -= session.id != before
                assert track.stats.filtered == index and not track.stats.dropped
                track.stop()

    run(asyncio.wait_for(test(), 50))


@in_session(VP8)
async def test_a_slow_reader_gets_no_damaged_stream(session):
    source, decoder = Pushed(), sidelight.av.Decoder()
    track = FilteredTrack(source, session)

    async def push(index):
        video = sidelight.av.video_frame(picture(index))
        video.pts, video.time_base = index, Fraction(1, 30)
        source.queue.put_nowait(video)
        # The server's encoder follows the connection, and may leave frames out.
        await eventually(
            lambda: track.stats.filtered + sum(track.stats.dropped.values()) > index
        )

    count = 0
    while track.stats.overtaken < 3:
        await push(count)
        count += 1
    assert track.stats.filtered == _WAITING_LIMIT + 3
    # The key frame that is requested comes half a second after the last one, and replaces all.
    while track.stats.overtaken < track.stats.filtered - 1:
        await push(count)
        count += 1
    packet = await track.recv()
    assert packet.is_keyframe and packet.pts == count - 1
    shown = decoder.decode(image_of(packet))
    assert (shown.width, shown.height) == (WIDTH, HEIGHT)
    assert difference(inverted(picture(packet.pts)), shown) < CLOSE
    track.stop()


@in_session(VP8)
async def test_the_second_track_of_a_session_begins_with_a_key_frame(session):
    for _ in range(2):
        source = Pushed()
        track = FilteredTrack(source, session)
        index = 0
        while not track.stats.delivered:
            video = sidelight.av.video_frame(picture(index))
            video.pts, video.time_base = index, Fraction(1, 30)
            source.queue.put_nowait(video)
            index += 1
            await eventually(
                lambda: track.stats.filtered + sum(track.stats.dropped.values()) == index
            )
            if track.stats.overtaken < track.stats.filtered:
                assert (await track.recv()).is_keyframe
        track.stop()


def test_a_call_is_sent_as_the_server_encodes_it(running_server):
    async def test():
        async with sidelight.aio.connect(running_server.unix) as server:
            async with server.session("colorInvert", output=VP8) as session, Call(session) as call:
                (sender,) = call.server.getSenders()
                call.filtered.follow(sender)
                first = await until(call.returned, lambda frame: abs(luma(frame) - BRIGHT) < 8)
                assert (first.width, first.height) == (320, 240)
                changes = []
                session.request_key_frame = lambda: changes.append("key frame")
                session.set_encoder = lambda **values: changes.append(values)
                (receiver,) = call.caller.getReceivers()
                await receiver._send_rtcp_pli(sender._ssrc)
                await eventually(lambda: changes)
                for estimate, expected in ((300_000, 300_000), (1_000, 20_000), (9_000_000, 500_000)):
                    await sender._handle_rtcp_packet(
                        rtp.RtcpPsfbPacket(
                            fmt=rtp.RTCP_PSFB_APP,
                            ssrc=1,
                            media_ssrc=0,
                            fci=rtp.pack_remb_fci(estimate, [sender._ssrc]),
                        )
                    )
                    assert changes[-1]["bit_rate"] == pytest.approx(expected, rel=0.01)
                assert changes[0] == "key frame"

    run(asyncio.wait_for(test(), 50))
