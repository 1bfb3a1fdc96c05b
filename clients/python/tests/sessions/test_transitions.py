"""Gradual changes of the pipeline, with a real server."""

import pytest
from support.pictures import random_image

from sidelight import (
    Frame,
    Glide,
    InvalidArgument,
    Stage,
    Transition,
    TransitionEnd,
    TransitionEnded,
)

INVERT = Stage("colorInvert", id="look")
FRAME_NS = 40_000_000


@pytest.fixture
def image():
    return random_image("gray", 64, 48)


def pictures(session, image, count):
    """Returns the results of frames that were captured every 40 ms."""
    results = []
    for index in range(count):
        frame = Frame(image, capture_time_ns=10**9 + index * FRAME_NS)
        results.append(session.filter(frame, timeout=60).image.bytes())
    return results


def mixed(first, second, weight):
    return [(1 - weight) * a + weight * b for a, b in zip(first, second)]


def test_a_fade_is_the_mix_of_both_results_and_its_end_is_an_event(server, image):
    plain = image.bytes()
    inverted = bytes(255 - level for level in plain)
    with server.session(drop_policy="never_drop") as session:
        session.filter(image, timeout=60)
        change = session.select(INVERT, transition=0.4)
        results = pictures(session, image, 11)
        for index, result in enumerate(results):
            expected = mixed(plain, inverted, index / 10)
            assert max(abs(a - b) for a, b in zip(result, expected)) <= 1
        for event in session.events():
            if isinstance(event, TransitionEnded):
                break
        assert event == (change.revision, change.request_id, 12, TransitionEnd.COMPLETED)


@pytest.mark.parametrize(
    "transition",
    [
        Transition(0.4, "wipe", direction="left", softness=0.5, curve="ease_in_out"),
        Transition(0.4, "dissolve", softness=0, seed=3),
    ],
)
def test_wipes_and_dissolves_lead_from_one_picture_to_the_other(server, image, transition):
    plain = image.bytes()
    inverted = bytes(255 - level for level in plain)
    with server.session(drop_policy="never_drop") as session:
        session.filter(image, timeout=60)
        session.select(INVERT, transition=transition)
        results = pictures(session, image, 11)
    assert results[0] == plain and results[10] == inverted
    assert plain != results[5] != inverted


def test_a_stage_fades_in_and_parameters_glide(server, image):
    plain = image.bytes()
    inverted = bytes(255 - level for level in plain)
    with server.session(INVERT.off(), drop_policy="never_drop") as session:
        session.filter(image, timeout=60)
        session.activate("look", True, transition=Transition(0.4))
        half = pictures(session, image, 6)[5]
        assert max(abs(a - b) for a, b in zip(half, mixed(plain, inverted, 0.5))) <= 1
    brighter = Stage("colorControls", {"brightness": 0.0}, id="look")
    with server.session(brighter, drop_policy="never_drop") as session:
        session.filter(image, timeout=60)
        session.update("look.brightness", 0.4, glide=Glide(0.4, curve="linear"))
        half = pictures(session, image, 6)[5]
    with server.session(Stage("colorControls", {"brightness": 0.2})) as session:
        assert session.filter(image, timeout=60).image.bytes() == half


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda: Transition(0), "transition.duration"),
        (lambda: Transition(61), "transition.duration"),
        (lambda: Transition("soon"), "transition.duration"),
        (lambda: Transition(1, "spin"), "transition.kind"),
        (lambda: Transition(1, curve="bounce"), "transition.curve"),
        (lambda: Transition(1, "wipe", direction="in"), "transition.direction"),
        (lambda: Transition(1, "wipe", softness=2), "transition.softness"),
        (lambda: Transition(1, "dissolve", seed=-1), "transition.seed"),
        (lambda: Glide(float("nan")), "glide.duration"),
    ],
)
def test_invalid_values_are_refused_before_they_are_sent(change, field):
    with pytest.raises(InvalidArgument) as raised:
        change()
    assert raised.value.field == field


def test_the_server_refuses_what_a_kind_does_not_have(server, image):
    with server.session(drop_policy="never_drop") as session:
        change = session.select(INVERT, transition=Transition(1, direction="up"))
        with pytest.raises(InvalidArgument) as raised:
            change.accepted(timeout=60)
        assert raised.value.field == "select.transition.direction"
        assert session.filter(image, timeout=60).revision == 1
