"""Frames and their outcomes, with a real server."""

import threading

import pytest
from support.pictures import RAW_FORMATS, padded_image, random_image
from support.steps import total

from sidelight import (
    Dropped,
    DropReason,
    Filtered,
    Frame,
    Image,
    Output,
    PassedThrough,
    SidelightError,
    Stage,
)

INVERT = Stage("colorInvert")


def inverted(data):
    return bytes(255 - each for each in data)


@pytest.mark.parametrize("shared_memory", ["auto", False])
def test_a_frame_comes_back_filtered(server, shared_memory):
    with server.session(INVERT, shared_memory=shared_memory) as session:
        assert session.uses_shared_memory is (shared_memory == "auto")
        image = random_image("gray", 65, 33)
        outcome = session.filter(
            Frame(image, capture_time_ns=-7, rtp_timestamp=2**32 - 1, tags={"who": "ana"}),
            timeout=60,
        )
        assert isinstance(outcome, Filtered)
        assert bytes(outcome.image.data) == inverted(image.data)
        assert (outcome.sequence, outcome.revision) == (1, 1)
        assert outcome.frame.capture_time_ns == -7
        assert outcome.frame.rtp_timestamp == 2**32 - 1
        assert outcome.frame.tags == {"who": "ana"}
        assert 0 < outcome.timing.process <= outcome.timing.total <= outcome.timing.round_trip


@pytest.mark.parametrize("format", RAW_FORMATS)
@pytest.mark.parametrize("make", [random_image, padded_image])
def test_shared_memory_and_messages_give_the_same_pictures(server, format, make):
    image = make(format, 65, 33)
    results = []
    for shared_memory in ("auto", False):
        with server.session(Stage("sepiaTone"), shared_memory=shared_memory) as session:
            outcome = session.filter(image, timeout=60)
            assert isinstance(outcome, Filtered)
            assert outcome.image.format is image.format
            results.append(outcome.image.bytes())
    assert results[0] == results[1]


def test_a_frame_is_written_in_place(server):
    with server.session(INVERT) as session:
        frame = session.frame(64, 48, "gray")
        frame.planes[0][:] = bytes(range(48)) * 64
        outcome = session.filter(frame, timeout=60)
        assert bytes(outcome.image.data) == inverted(bytes(range(48)) * 64)
        assert bytes(frame.image.data) == bytes(range(48)) * 64


def test_an_unchanged_frame_comes_back_as_the_picture_that_was_sent(server):
    with server.session() as session:
        for image in (random_image("i420", 64, 48), session.frame(64, 48).image):
            outcome = session.filter(image, timeout=60)
            assert isinstance(outcome, PassedThrough) and outcome.failure is None
            assert outcome.image is image
            outcome.release()
            assert image.data.nbytes


def test_outcomes_come_in_order_and_add_up(server):
    with server.session(INVERT) as session:
        received = []

        def read():
            received.extend(session.outcomes())

        reader = threading.Thread(target=read)
        reader.start()
        sent = [
            session.send(Frame(random_image("gray", 320, 240), capture_time_ns=index))
            for index in range(300)
        ]
        session.finish()
        reader.join(60)
        assert not reader.is_alive()
        assert [each.sequence for each in received] == sent == list(range(1, 301))
        known = [each for each in received if each.frame.capture_time_ns is not None]
        assert all(each.frame.capture_time_ns == each.sequence - 1 for each in known)
        counts = session.counts
        assert counts.received == 300 == total(counts) and counts.in_flight == 0
        assert counts.filtered == sum(isinstance(each, Filtered) for each in received) > 0
        # The last frame of a burst is filtered.
        assert isinstance(received[-1], Filtered)


@pytest.mark.parametrize("kind", [list, iter])
def test_all_frames_are_filtered_in_order(server, kind):
    images = [Image("gray", 16, 16, bytes([index]) * 256) for index in range(60)]
    with server.session(INVERT, drop_policy="never_drop") as session:
        values = []
        for outcome in session.filter_all(kind(images)):
            with outcome:
                assert isinstance(outcome, Filtered)
                values.append(outcome.image.data[0])
        assert values == [255 - index for index in range(60)]
        assert session.counts.filtered == 60


def test_the_error_of_a_source_follows_its_outcomes(server):
    def source():
        yield random_image("gray", 8, 8)
        raise KeyError("camera")

    with server.session(INVERT) as session:
        outcomes = session.filter_all(source())
        assert isinstance(next(outcomes), Filtered)
        with pytest.raises(KeyError, match="camera"):
            next(outcomes)
        assert isinstance(session.filter(random_image("gray", 8, 8), timeout=60), Filtered)


def test_leaving_filter_all_early_leaves_the_session_usable(server):
    with server.session(INVERT, drop_policy="never_drop") as session:
        outcomes = session.filter_all(random_image("gray", 64, 64) for _ in range(1000))
        assert isinstance(next(outcomes), Filtered)
        outcomes.close()
        for _ in range(5):
            assert isinstance(session.filter(random_image("gray", 8, 8), timeout=60), Filtered)
        counts = session.counts
        assert counts.received == total(counts)


def test_size_and_format_may_change_between_frames(server):
    with server.session(INVERT) as session:
        for size in ((1, 1), (640, 480), (3, 5)):
            for format in RAW_FORMATS:
                outcome = session.filter(random_image(format, *size), timeout=60)
                assert isinstance(outcome, Filtered)
                assert (outcome.image.width, outcome.image.height) == size
                assert outcome.image.format.value == format


def test_pictures_larger_than_a_slot_travel_inline(server):
    with server.session(INVERT, slot_bytes=4096, slots=1) as session:
        assert session.uses_shared_memory
        image = random_image("gray", 300, 300)
        outcome = session.filter(image, timeout=60)
        assert bytes(outcome.image.data) == inverted(image.data)
        frame = session.frame(300, 300, "gray")
        frame.image.data[:] = image.data
        assert bytes(session.filter(frame, timeout=60).image.data) == inverted(image.data)


def test_results_have_the_requested_output(server):
    output = Output(format="bgra", width=32, height=16, fit="stretch")
    with server.session(INVERT, output=output) as session:
        image = session.filter(random_image("i420", 64, 48), timeout=60).image
        assert (image.format.value, image.width, image.height) == ("bgra", 32, 16)
    with server.session(INVERT, output=Output(format="jpeg")) as session:
        file = session.filter(random_image("i420", 64, 48), timeout=60).image
        assert file.format.value == "jpeg" and bytes(file.data[:2]) == b"\xff\xd8"
    with server.session(INVERT) as session:
        back = session.filter(Image.file(bytes(file.data)), timeout=60)
        assert isinstance(back, Filtered) and back.image.format.value == "jpeg"


def test_an_invalid_frame_is_a_drop_with_its_error(server):
    with server.session(INVERT) as session:
        damaged = Image.file(b"\xff\xd8\xff\xe0" + bytes(100))
        outcome = session.filter(damaged, timeout=60)
        assert isinstance(outcome, Dropped) and outcome.reason is DropReason.INVALID_FRAME
        assert outcome.error.code == "INVALID_ARGUMENT" and outcome.error.field
        tags = {str(index): "x" for index in range(17)}
        outcome = session.filter(Frame(random_image("gray", 8, 8), tags=tags), timeout=60)
        assert outcome.reason is DropReason.INVALID_FRAME and "tags" in outcome.error.field
        assert isinstance(session.filter(random_image("gray", 8, 8), timeout=60), Filtered)


def test_a_budget_that_cannot_be_kept_drops_the_frame_as_late(server):
    with server.session(Stage("median"), budget=2) as session:
        image = random_image("bgra", 1280, 720)
        for _ in range(3):
            session.filter(image, timeout=60)
        outcome = session.filter(Frame(image, budget=1e-6), timeout=60)
        assert isinstance(outcome, Dropped) and outcome.reason.name.startswith("LATE")
        assert outcome.is_late is (outcome.late > 0)
        assert isinstance(session.filter(Frame(image, budget=0), timeout=60), Filtered)


def test_other_objects_are_refused(server):
    with server.session(INVERT) as session:
        with pytest.raises(TypeError, match="Frame or an Image"):
            session.filter(b"pixels")


def test_invalid_options_name_the_option(server):
    for options in (
        {"drop_policy": "all"},
        {"fallback": "freeze"},
        {"slots": 65},
        {"max_fps": 0},
        {"failure_policy": "panic"},
        {"mailbox_depth": 0},
        {"stats_interval": 1e9},
        {"budget": 50},
        {"shared_memory": "yes"},
        {"allowed_filters": "sepiaTone"},
    ):
        (name,) = options
        with pytest.raises(SidelightError) as raised:
            server.session(**options)
        assert raised.value.field == name


def test_latency_is_measured(server):
    with server.session(INVERT) as session:
        assert session.latency.p50 == 0
        for _ in range(20):
            session.filter(random_image("gray", 64, 64), timeout=60)
        latency = session.latency
        assert 0 < latency.server_p50 < latency.p50 <= latency.p95
