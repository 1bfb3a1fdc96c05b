"""`sidelightfilter` while it plays: properties, messages, queries, flushes and the end."""

from __future__ import annotations

import pytest

import sidelight
from sidelight.images import Image

from .gst_support import Gst, Player, launch

CAPS = "video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1"
GREY = bytes([40]) * (64 * 48)
INVERTED = bytes([215]) * (64 * 48)


@pytest.fixture
def player(running_server):
    with Player(CAPS, address=running_server.unix, pipeline="colorInvert") as player:
        yield player


def test_an_empty_pipeline_changes_nothing(running_server):
    with Player(CAPS, address=running_server.unix) as player:
        assert player.filtered(GREY) == GREY
        stats = player.filter.get_property("stats")
    assert stats.get_value("passed-through") == 1 and stats.get_value("filtered") == 0


def test_a_change_while_playing_applies_to_the_next_frame(player):
    assert player.filtered(GREY) == INVERTED
    for _ in range(20):
        player.filter.set_property("pipeline", "")
        assert player.filtered(GREY) == GREY
        player.filter.set_property("pipeline", "colorInvert")
        assert player.filtered(GREY) == INVERTED
    assert player.filter.get_property("pipeline") == "colorInvert"


def test_a_refused_change_warns_and_keeps_the_filters(player):
    assert player.filtered(GREY) == INVERTED
    player.filter.set_property("pipeline", "colorInvrt")
    error, _ = player.message(Gst.MessageType.WARNING).parse_warning()
    assert "colorInvert" in error.message
    assert player.filtered(GREY) == INVERTED


def test_applied_changes_are_announced(player):
    player.filtered(GREY)
    player.filter.set_property("pipeline", "sepiaTone")
    player.filtered(GREY)
    for revision in (1, 2):
        message = player.message(Gst.MessageType.ELEMENT, "sidelight-applied")
        assert message.src == player.filter
        assert message.get_structure().get_value("revision") == revision


def test_an_invalid_policy_is_an_error(running_server):
    with Player(CAPS, address=running_server.unix, on_error="explode") as player:
        error, _ = player.message(Gst.MessageType.ERROR).parse_error()
    assert "on-error is 'explode'; it must be one of pass-through" in error.message


def test_the_buffer_keeps_its_times_and_flags(player):
    buffer = Gst.Buffer.new_wrapped(GREY)
    buffer.pts, buffer.duration, buffer.offset = 7 * Gst.SECOND, 5, 3
    buffer.set_flags(Gst.BufferFlags.MARKER)
    player.source.emit("push-buffer", buffer)
    result = player.sink.emit("try-pull-sample", 60 * Gst.SECOND).get_buffer()
    assert (result.pts, result.duration, result.offset) == (7 * Gst.SECOND, 5, 3)
    assert result.has_flags(Gst.BufferFlags.MARKER)


def test_the_input_of_other_readers_is_not_changed(running_server):
    """A buffer that `tee` shares is not writable; the other branch must keep its pixels."""
    pipeline = Gst.parse_launch(
        f"appsrc name=source format=time caps=\"{CAPS}\" ! tee name=t "
        f"t. ! queue ! appsink name=plain sync=false t. ! queue ! sidelightfilter "
        f"address={running_server.unix} pipeline=colorInvert ! appsink name=filtered sync=false"
    )
    pipeline.set_state(Gst.State.PLAYING)
    try:
        pipeline.get_by_name("source").emit("push-buffer", Gst.Buffer.new_wrapped(GREY))
        for name, wanted in (("filtered", INVERTED), ("plain", GREY)):
            sink = pipeline.get_by_name(name)
            buffer = sink.emit("try-pull-sample", 60 * Gst.SECOND).get_buffer()
            assert buffer.extract_dup(0, buffer.get_size()) == wanted
    finally:
        pipeline.set_state(Gst.State.NULL)


def test_late_frames_are_dropped_and_announced(running_server):
    """A frame of 20 million pixels cannot be blurred within a millisecond."""
    caps = "video/x-raw,format=GRAY8,width=5000,height=4000,framerate=30/1"
    settings = dict(address=running_server.unix, pipeline="gaussianBlur(radius: 50)", budget=1)
    with Player(caps, **settings) as player:
        time = player.push(bytes(5000 * 4000))
        message = player.message(Gst.MessageType.ELEMENT, "sidelight-dropped")
        structure = message.get_structure()
        assert structure.get_value("timestamp") == time
        assert structure.get_value("reason").startswith("late_")
        assert structure.get_value("stage") in ("arrival", "mailbox", "pipeline", "outbox")
        stats = player.filter.get_property("stats")
        assert stats.get_value("dropped") == 1 == stats.get_value("received")
        player.filter.set_property("budget", 0)
        player.filter.set_property("pipeline", "")
        _, data = (player.push(bytes(5000 * 4000)), player.pull())[1]
        assert len(data) == 5000 * 4000


@pytest.mark.parametrize("budget, own", [(70, 70 * Gst.MSECOND), (0, Gst.SECOND // 30)])
def test_latency_is_that_of_the_source_and_the_budget(running_server, budget, own):
    player = Player(CAPS, address=running_server.unix, budget=budget)
    player.source.set_property("is-live", True)
    player.source.set_property("min-latency", 5 * Gst.MSECOND)
    with player:
        player.filtered(GREY)
        query = Gst.Query.new_latency()
        assert player.filter.get_static_pad("src").query(query)
        _, least, _ = query.parse_latency()
        assert least == 5 * Gst.MSECOND + own


def test_other_queries_are_answered_too(player):
    player.filtered(GREY)
    query = Gst.Query.new_caps(Gst.Caps.new_any())
    assert player.filter.get_static_pad("src").query(query)
    assert "GRAY8" in query.parse_caps_result().to_string()


def test_the_end_of_the_stream_follows_all_frames(player):
    times = [player.push(GREY) for _ in range(3)]
    player.source.emit("end-of-stream")
    assert [player.pull()[0] for _ in range(3)] == times
    player.message(Gst.MessageType.EOS)
    assert player.sink.get_property("eos")
    stats = player.filter.get_property("stats")
    assert stats.get_value("received") == 3 == stats.get_value("filtered")


def test_frames_flow_again_after_a_flushing_seek(running_server):
    player = Player(CAPS, address=running_server.unix, pipeline="colorInvert")
    player.source.set_property("stream-type", 1)
    player.source.connect("seek-data", lambda source, position: True)
    with player:
        assert player.filtered(GREY) == INVERTED
        for _ in range(5):
            player.push(GREY)
            assert player.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH, 0)
            time = player.push(GREY)
            while True:
                at, data = player.pull()
                assert data == INVERTED
                if at == time:
                    break


def test_a_restarted_element_opens_a_new_session(player):
    assert player.filtered(GREY) == INVERTED
    player.pipeline.set_state(Gst.State.NULL)
    kept = player.filter.get_property("stats")
    assert kept.get_value("filtered") == 1
    player.filter.set_property("pipeline", "")
    player.pipeline.set_state(Gst.State.PLAYING)
    assert player.filtered(GREY) == GREY


def test_a_busy_stream_stops_without_errors(running_server):
    pipeline = Gst.parse_launch(
        "videotestsrc ! video/x-raw,format=I420,width=640,height=360 ! sidelightfilter "
        f"address={running_server.unix} pipeline=colorInvert ! fakesink"
    )
    bus = pipeline.get_bus()
    for _ in range(20):
        pipeline.set_state(Gst.State.PLAYING)
        # The first frame is filtered, and others follow.
        kind = Gst.MessageType.ELEMENT | Gst.MessageType.ERROR
        assert bus.timed_pop_filtered(20 * Gst.SECOND, kind).type == Gst.MessageType.ELEMENT
        assert pipeline.set_state(Gst.State.READY) == Gst.StateChangeReturn.SUCCESS
        assert bus.pop_filtered(Gst.MessageType.ERROR) is None
    pipeline.set_state(Gst.State.NULL)


def test_the_server_knows_the_label(running_server):
    with Player(CAPS, address=running_server.unix, label="stage left") as player:
        player.filtered(GREY)
        with sidelight.connect(running_server.tcp) as server:
            labels = [session.label for session in server.sessions.list()]
    assert "stage left" in labels


def test_the_one_line_plugin_file_of_the_documentation_works(running_server, tmp_path, monkeypatch):
    folder = tmp_path / "python"
    folder.mkdir()
    (folder / "filters.py").write_text("from sidelight.gst import __gstelementfactory__\n")
    monkeypatch.setattr("sidelight.gst.plugin_path", lambda: str(tmp_path))
    element = f"sidelightfilter address={running_server.unix} pipeline=sepiaTone"
    result = launch(f"videotestsrc num-buffers=2 ! {element} ! fakesink")
    assert "Got EOS" in result.stdout


def test_a_picture_equals_the_filtered_still_image(player, running_server):
    gradient = bytes(range(64)) * 48
    with sidelight.connect(running_server.tcp) as server:
        image = Image("gray", 64, 48, gradient)
        wanted = server.apply(image, "colorInvert").image.bytes()
    assert player.filtered(gradient) == wanted
