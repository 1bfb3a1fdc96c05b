"""`sidelightfilter` and a server that ends, does not answer, or is not there."""

from __future__ import annotations

import os
import signal

import numpy
import pytest
from support.running_server import RunningServer

from .gst_support import Gst, Player

CAPS = "video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1"
GREY = bytes([40]) * (64 * 48)
INVERTED = bytes([215]) * (64 * 48)


@pytest.fixture
def own_server():
    with RunningServer("--shared-memory") as server:
        yield server


def kill(server):
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()


def test_frames_pass_through_after_a_kill(own_server):
    with Player(CAPS, address=own_server.unix, pipeline="colorInvert") as player:
        assert player.filtered(GREY) == INVERTED
        kill(own_server)
        assert player.filtered(GREY) == GREY
        structure = player.message(Gst.MessageType.ELEMENT, "sidelight-connection").get_structure()
        assert structure.get_value("connected") is False and structure.get_value("error")
        for _ in range(5):
            assert player.filtered(GREY) == GREY


def test_filters_return_with_the_server(own_server):
    with Player(CAPS, address=own_server.unix, pipeline="") as player:
        player.filtered(GREY)
        player.filter.set_property("pipeline", "colorInvert")
        assert player.filtered(GREY) == INVERTED
        kill(own_server)
        assert player.filtered(GREY) == GREY
        again = RunningServer("--shared-memory")
        again.unix = own_server.unix
        with again:
            while True:
                message = player.message(Gst.MessageType.ELEMENT, "sidelight-connection")
                if message.get_structure().get_value("connected"):
                    break
            assert player.filtered(GREY) == INVERTED


def test_faces_stay_hidden_after_a_kill(own_server):
    with Player(CAPS, address=own_server.unix, pipeline="faceBlur") as player:
        player.push(GREY)
        player.pull()
        kill(own_server)
        player.push(GREY)
        structure = player.message(Gst.MessageType.ELEMENT, "sidelight-dropped").get_structure()
        assert structure.get_value("reason") == "disconnected"
        player.finish()


def test_frames_are_dropped_on_request(own_server):
    settings = {"address": own_server.unix, "pipeline": "colorInvert", "on_error": "drop"}
    with Player(CAPS, **settings) as player:
        assert player.filtered(GREY) == INVERTED
        kill(own_server)
        time = player.push(GREY)
        structure = player.message(Gst.MessageType.ELEMENT, "sidelight-dropped").get_structure()
        assert structure.get_value("reason") == "disconnected"
        assert structure.get_value("timestamp") == time
        player.finish()


def test_a_blur_replaces_frames_on_request(own_server):
    checks = bytes(40 if (x // 4 + y // 4) % 2 else 200 for y in range(48) for x in range(64))
    settings = {"address": own_server.unix, "pipeline": "colorInvert", "on_error": "blur"}
    with Player(CAPS, **settings) as player:
        player.filtered(checks)
        kill(own_server)
        blurred = player.filtered(checks)
        # Blocks of 16 by 16 pixels have one value each.
        blocks = numpy.frombuffer(blurred, numpy.uint8).reshape(3, 16, 4, 16)
        assert blurred != checks
        assert numpy.array_equal(blocks, numpy.broadcast_to(blocks[:, :1, :, :1], blocks.shape))


def test_the_stream_fails_on_request(own_server):
    settings = {"address": own_server.unix, "pipeline": "colorInvert", "on_error": "fail"}
    with Player(CAPS, **settings) as player:
        assert player.filtered(GREY) == INVERTED
        kill(own_server)
        player.push(GREY)
        error, _ = player.message(Gst.MessageType.ERROR).parse_error()
        assert error.matches(Gst.ResourceError.quark(), Gst.ResourceError.FAILED)


def test_a_missing_server_is_an_error(tmp_path):
    with Player(CAPS, address=f"unix:{tmp_path}/none") as player:
        player.push(GREY)
        error, _ = player.message(Gst.MessageType.ERROR).parse_error()
        assert error.matches(Gst.ResourceError.quark(), Gst.ResourceError.OPEN_READ_WRITE)
        assert f"{tmp_path}/none" in error.message


def test_a_server_that_does_not_answer_delays_no_stop(own_server):
    """A stopped process accepts connections and bytes, and does not answer."""
    with Player(CAPS, address=own_server.unix, pipeline="colorInvert") as player:
        assert player.filtered(GREY) == INVERTED
        os.kill(own_server.process.pid, signal.SIGSTOP)
        try:
            player.push(GREY)
            assert player.pipeline.set_state(Gst.State.NULL) == Gst.StateChangeReturn.SUCCESS
        finally:
            os.kill(own_server.process.pid, signal.SIGCONT)
