"""Changes of the pipeline, pauses and their answers, with a real server."""

import threading

import pytest
from support.pictures import random_image

from sidelight import Aborted, Dropped, DropReason, Filtered, Image, InvalidArgument, Stage
from sidelight.events import Applied, Rejected, SessionState, StateChanged

INVERT = Stage("colorInvert", id="look")
SEPIA = Stage("sepiaTone", {"intensity": 1.0}, id="look")


@pytest.fixture
def image():
    return random_image("bgra", 64, 48)


def test_a_selection_applies_to_exactly_the_frames_after_it(server):
    black, white = Image("gray", 16, 16, bytes(256)), bytes([255]) * 256
    with server.session() as session:
        for index in range(1, 40):
            change = session.select(INVERT if index % 2 else None)
            outcome = session.filter(black, timeout=60)
            assert change.applied(timeout=60) == outcome.sequence == index
            assert bytes(outcome.image.data) == (white if index % 2 else bytes(256))
            assert outcome.revision == change.revision == index + 1


def test_a_selection_during_the_write_of_a_frame_is_written_after_it(server):
    large = Image.allocate("bgra", 2560, 1440)
    with server.session(shared_memory=False, drop_policy="never_drop") as session:
        outcomes = []

        def read():
            outcomes.extend(session.outcomes())

        reader = threading.Thread(target=read)
        reader.start()
        for index in range(12):
            session.send(large)
            session.select(INVERT if index % 2 else SEPIA)
            session.update("look.intensity", 0.5)
        session.finish()
        reader.join(60)
        assert [each.sequence for each in outcomes] == list(range(1, 13))
        assert not any(isinstance(each, Dropped) for each in outcomes)
        assert session.counts.filtered >= 11


def test_a_wrong_name_is_refused_with_a_suggestion_and_the_session_goes_on(server, image):
    with server.session(INVERT) as session:
        change = session.select(Stage("sepiaTome"))
        with pytest.raises(InvalidArgument) as raised:
            change.accepted(timeout=60)
        error = raised.value
        assert error.suggestion == "sepiaTone" and "sepiaTome" in error.message
        assert error.field == "select.pipeline.stages[0].filter.name"
        assert change.error is error
        with pytest.raises(InvalidArgument):
            change.applied(timeout=60)
        outcome = session.filter(image, timeout=60)
        assert isinstance(outcome, Filtered) and outcome.revision == 1


def test_parameters_are_updated(server, image):
    with server.session(SEPIA) as session:
        full = session.filter(image, timeout=60).image.bytes()
        session.update("look.intensity", 0.0)
        none = session.filter(image, timeout=60).image.bytes()
        session.update({"look": {"intensity": 1.0}})
        assert session.filter(image, timeout=60).image.bytes() == full != none
        with pytest.raises(InvalidArgument, match="stage"):
            session.update("other.intensity", 1.0).accepted(timeout=60)
        with pytest.raises(InvalidArgument):
            session.update("look", 1.0)


def test_stages_are_turned_off_and_on(server, image):
    with server.session(INVERT) as session:
        inverted = session.filter(image, timeout=60).image.bytes()
        session.activate("look", False)
        assert session.filter(image, timeout=60).image.bytes() == image.bytes()
        session.activate({"look": True})
        assert session.filter(image, timeout=60).image.bytes() == inverted


def test_a_slider_that_moves_often_loses_no_frame(server, image):
    with server.session(SEPIA) as session:
        for index in range(200):
            session.update("look.intensity", (index + 1) / 200)
            session.update("look.intensity", (index + 1) / 200)
            if index % 4 == 0:
                assert isinstance(session.filter(image, timeout=60), Filtered)
        last = session.update("look.intensity", 0.25)
        outcome = session.filter(image, timeout=60)
        assert last.applied(timeout=60) <= outcome.sequence
        assert session.counts.dropped == {}


def test_a_change_that_requires_another_revision_is_refused(server, image):
    with server.session(INVERT) as session:
        session.filter(image, timeout=60)
        with pytest.raises(Aborted):
            session.select(SEPIA, if_revision=7).accepted(timeout=60)
        change = session.select(SEPIA, if_revision=1)
        outcome = session.filter(image, timeout=60)
        assert change.accepted(timeout=60) == outcome.revision == 2


def test_a_change_is_accepted_without_a_frame(server):
    with server.session(INVERT) as session:
        change = session.select(SEPIA)
        assert change.accepted(timeout=60) == 2
        assert change.revision == 2


def test_pipelines_are_texts_too(server, image):
    with server.session(INVERT) as session:
        expected = session.filter(image, timeout=60).image.bytes()
    with server.session("look: colorInvert") as session:
        assert session.filter(image, timeout=60).image.bytes() == expected
        session.select("sepiaTone(intensity: 0)")
        session.filter(image, timeout=60)
        with pytest.raises(InvalidArgument) as raised:
            session.select("vignette, sepiaTome(intensity: 1)").accepted(timeout=60)
        assert (raised.value.line, raised.value.column) == (1, 11)
        assert raised.value.suggestion == "sepiaTone"


def test_an_invalid_first_pipeline_is_the_error_of_opening(server):
    session = server.session(Stage("sepiaTome"))
    with pytest.raises(InvalidArgument) as raised:
        session.open()
    assert raised.value.suggestion == "sepiaTone"
    session.close()


def test_a_pause_drops_frames_or_passes_them_through(server, image):
    with server.session(INVERT) as session:
        inverted = session.filter(image, timeout=60).image.bytes()
        session.pause()
        outcome = session.filter(image, timeout=60)
        assert isinstance(outcome, Dropped) and outcome.reason is DropReason.PAUSED
        session.pause(pass_through=True)
        assert session.filter(image, timeout=60).image.bytes() == image.bytes()
        session.resume()
        assert session.filter(image, timeout=60).image.bytes() == inverted


def test_events_report_changes_and_states(server, image):
    with server.session(INVERT) as session:
        seen, paused = [], threading.Event()

        def see(event):
            seen.append(event)
            if isinstance(event, StateChanged) and event.state is SessionState.PAUSED:
                paused.set()

        remove = session.on_event(see)
        session.select(SEPIA)
        session.filter(image, timeout=60)
        rejected = session.select(Stage("nothing"))
        with pytest.raises(InvalidArgument):
            rejected.accepted(timeout=60)
        session.pause()
        assert paused.wait(20)
        remove()
        session.resume()
        applied = [each for each in seen if isinstance(each, Applied)]
        assert [each.revision for each in applied] == [2]
        (refused,) = [each for each in seen if isinstance(each, Rejected)]
        assert refused.request_id == rejected.request_id
        events = session.events()
        first = next(events)
        events.close()
        assert first in seen


def test_a_callback_that_fails_does_not_end_the_session(server, image, caplog):
    with server.session(INVERT) as session:
        session.on_event(lambda event: 1 / 0)
        session.select(SEPIA)
        for _ in range(2):
            assert isinstance(session.filter(image, timeout=60), Filtered)
    assert "ZeroDivisionError" in caplog.text


def test_analyses_arrive_while_frames_pass(server, image):
    with server.session(Stage("brightnessStatistics"), analysis_only=True) as session:
        analyses, found = session.analyses(), None
        for _ in range(30):
            outcome = session.filter(image, timeout=60)
            assert outcome.image is image
        found = next(analyses)
        analyses.close()
        assert found.filter == "brightnessStatistics" and 1 <= found.sequence <= 30
        assert found.figures and all(isinstance(each, float) for each in found.figures.values())
        assert found.age >= 0


def test_the_servers_counts_arrive(server, image):
    with server.session(INVERT, stats_interval=0.1) as session:
        assert session.stats() is None
        session.filter(image, timeout=60)
        events = session.events()
        while getattr(next(events), "filtered", 0) != 1:
            pass
        events.close()
        assert session.stats().received == 1 and session.stats().bytes_in == image.data.nbytes
