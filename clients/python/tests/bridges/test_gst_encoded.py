"""`sidelightfilter` with encoded video, and requests for key frames in both directions."""

from __future__ import annotations

import os
import signal
import threading

import pytest

pytest.importorskip("av")

import sidelight
import sidelight.av
from sidelight import Color, EncodedImage
from support.encoded_videos import HEIGHT, WIDTH, Encoder, difference, picture
from support.running_server import RunningServer
from support.videos import inverted

from .gst_support import SECONDS, Gst, Player, launch

from gi.repository import GstVideo

CAPS = {
    "h264": "video/x-h264,stream-format=byte-stream,alignment=au",
    "vp8": "video/x-vp8",
    "vp9": "video/x-vp9",
}
CLOSE = 6


def player(running_server, codec, **properties):
    size = f"width={WIDTH},height={HEIGHT},framerate=30/1"
    return Player(
        f"{CAPS[codec]},{size}",
        address=running_server.unix,
        pipeline="colorInvert",
        **properties,
    )


def pull(player, codec):
    """The next result, which must be marked as what it is."""
    sample = player.sink.emit("try-pull-sample", SECONDS * Gst.SECOND)
    assert sample is not None, player.errors()
    buffer = sample.get_buffer()
    image = EncodedImage(codec, buffer.extract_dup(0, buffer.get_size()))
    assert image.is_key_frame is not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)
    return image


@pytest.mark.parametrize("codec", CAPS)
def test_encoded_video_is_filtered(running_server, codec):
    encoder, decoder = Encoder(codec), sidelight.av.Decoder()
    with player(running_server, codec) as running:
        for index in range(6):
            running.push(bytes(encoder.packet()))
            image = pull(running, codec)
            assert image.is_key_frame is (index == 0)
            assert difference(inverted(picture(index)), decoder.decode(image)) < CLOSE


def test_a_move_loses_no_frame(servers):
    encoder, decoder = Encoder("vp8"), sidelight.av.Decoder()
    first, second = servers
    with sidelight.connect(first.tcp) as left, sidelight.connect(second.tcp) as joined:
        with player(first, "vp8", label="moving") as running:
            requested = key_frame_requests(running)
            index, more = 0, 5
            while more:
                running.push(bytes(encoder.packet(is_key_frame=requested.is_set())))
                requested.clear()
                shown = decoder.decode(pull(running, "vp8"))
                assert difference(inverted(picture(index)), shown) < CLOSE
                if index == 3:
                    [session] = left.sessions.list(label="moving")
                    assert left.sessions.move(session.session_id, second.tcp)
                index += 1
                more -= bool(joined.sessions.list(label="moving"))
            stats = running.filter.get_property("stats")
            assert stats.get_value("filtered") == index and stats.get_value("dropped") == 0


def key_frame_requests(running):
    """An event that requests for key frames from the encoder set."""
    requested = threading.Event()

    def see(pad, info):
        if GstVideo.video_event_is_force_key_unit(info.get_event()):
            requested.set()
        return Gst.PadProbeReturn.OK

    running.source.get_static_pad("src").add_probe(Gst.PadProbeType.EVENT_UPSTREAM, see)
    return requested


def test_a_missing_key_frame_is_requested_from_the_encoder(running_server):
    encoder = Encoder("vp8")
    encoder.packet()
    with player(running_server, "vp8") as running:
        requested = key_frame_requests(running)
        running.push(bytes(encoder.packet()))
        dropped = running.message(Gst.MessageType.ELEMENT, "sidelight-dropped")
        assert dropped.get_structure().get_value("reason") == "not_decodable"
        assert requested.wait(SECONDS)
        running.push(bytes(encoder.packet(is_key_frame=True)))
        assert pull(running, "vp8").is_key_frame


def test_a_malformed_frame_does_not_end_the_stream(running_server):
    encoder = Encoder("h264")
    with player(running_server, "h264") as running:
        running.push(bytes(encoder.packet()))
        assert pull(running, "h264").is_key_frame
        for data, reason in ((b"garbage", "invalid_frame"), (encoder.packet(), "not_decodable")):
            running.push(bytes(data))
            dropped = running.message(Gst.MessageType.ELEMENT, "sidelight-dropped")
            assert dropped.get_structure().get_value("reason") == reason
        running.push(bytes(encoder.packet(is_key_frame=True)))
        pull(running, "h264")


def test_the_colours_of_vp8_are_those_of_the_caps(running_server):
    for caps, color in (
        ("video/x-vp8,colorimetry=bt709", Color(range="video", matrix="bt709")),
        ("video/x-vp8,colorimetry=(string)1:4:0:0", Color(range="full", matrix="bt601")),
        ("video/x-vp8", Color()),
    ):
        video = sidelight._gst_frames.format_of_caps(Gst.Caps.from_string(caps))
        buffer = Gst.Buffer.new_wrapped(bytes(Encoder("vp8").packet()))
        assert sidelight._gst_frames.encoded_image(buffer, video).color == color
    caps = "video/x-vp8,framerate=30/1,colorimetry=bt2020"
    with Player(caps, address=running_server.unix) as running:
        running.push(bytes(Encoder("vp8").packet()))
        error, _ = running.message(Gst.MessageType.ERROR).parse_error()
        assert "colorimetry is bt2020" in error.message


def test_a_viewers_request_reaches_the_servers_encoder(running_server):
    encoder = Encoder("vp8")
    with player(running_server, "vp8") as running:
        running.push(bytes(encoder.packet()))
        assert pull(running, "vp8").is_key_frame
        event = GstVideo.video_event_new_upstream_force_key_unit(Gst.CLOCK_TIME_NONE, True, 1)
        assert running.sink.get_static_pad("sink").push_event(event)
        # At the earliest half a second after the last one.
        for _ in range(10_000):
            running.push(bytes(encoder.packet()))
            if pull(running, "vp8").is_key_frame:
                break
        else:
            pytest.fail("no key frame came")


def test_a_result_that_comes_too_late_breaks_no_stream(monkeypatch):
    encoder, decoder = Encoder("vp8"), sidelight.av.Decoder()
    with RunningServer() as server, player(server, "vp8") as running:
        running.push(bytes(encoder.packet()))
        decoder.decode(pull(running, "vp8"))
        with monkeypatch.context() as patience:
            patience.setattr(sidelight.gst, "_PATIENCE_WITHOUT_BUDGET", 0.01)
            os.kill(server.process.pid, signal.SIGSTOP)
            try:
                running.push(bytes(encoder.packet()))
                dropped = running.message(Gst.MessageType.ELEMENT, "sidelight-dropped")
            finally:
                os.kill(server.process.pid, signal.SIGCONT)
            assert dropped.get_structure().get_value("reason") == "no_answer"
        # The server sends a key frame at the earliest half a second after the last one.
        for index in range(2, 10_000):
            running.push(bytes(encoder.packet()))
            if not is_dropped(running):
                break
        image = pull(running, "vp8")
        assert image.is_key_frame
        assert difference(inverted(picture(index)), decoder.decode(image)) < CLOSE


def is_dropped(player):
    """Waits for the fate of the only frame in flight; returns whether it was dropped."""
    while True:
        message = player.bus.timed_pop_filtered(Gst.SECOND // 100, Gst.MessageType.ELEMENT)
        if message is not None and message.get_structure().get_name() == "sidelight-dropped":
            return True
        if player.sink.get_property("last-sample").get_buffer().pts == player.time:
            return False


def test_h264_without_start_codes_is_not_accepted(running_server):
    results = [
        launch(
            f"-q fakesrc num-buffers=0 ! video/x-h264,stream-format={form},alignment=au",
            f"! sidelightfilter address={running_server.unix} ! fakesink",
            check=False,
        )
        for form in ("byte-stream", "avc")
    ]
    assert [each.returncode for each in results] == [0, 1], results
    assert "could not link fakesrc0 to sidelightfilter0" in results[1].stdout
