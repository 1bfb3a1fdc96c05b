"""The messages that wait to be sent."""

import pytest

from sidelight import ResourceExhausted
from sidelight._core.window import (
    CONTROL_LIMIT,
    DRAINING,
    NONE,
    Acknowledgement,
    RawMessage,
    Window,
)


def opened(newest_wins=True, capacity=2, limit=None):
    window = Window(newest_wins, limit)
    window.open(capacity, [])
    return window


def test_frames_wait_for_a_credit_and_the_newest_replaces_the_one_that_waits():
    window = opened(capacity=1)
    window.push_frame("a")
    assert window.next() == "a"
    window.push_frame("b")
    assert not window.is_ready and window.next() is None
    window.push_frame("c", ["b"])
    window.outstanding -= 1
    assert window.is_ready and window.next() == "c"


@pytest.mark.parametrize("limit, capacity", [(None, 4), (2, 2), (9, 4)])
def test_the_smaller_limit_of_frames_in_flight_holds(limit, capacity):
    window = opened(capacity=4, limit=limit)
    sent = 0
    for _ in range(9):
        if not window.waiting:
            window.push_frame(object())
        if window.next() is not None:
            sent += 1
    assert sent == capacity


def test_a_change_is_sent_after_the_frame_before_it():
    window = opened(capacity=0)
    assert window.capacity == 1
    window.push_frame("a")
    window.next()
    window.push_frame("b")
    window.push(RawMessage(b"change"))
    assert window.next() is None
    window.outstanding = 0
    assert window.next() == "b"
    assert window.next() == RawMessage(b"change")


def test_a_newer_frame_is_sent_after_the_change_before_it():
    window = opened(capacity=1)
    window.push_frame("a")
    window.next()
    window.push_frame("b")
    window.push(RawMessage(b"change"))
    window.push_frame("c", ["b"])
    assert window.next() == RawMessage(b"change")
    window.outstanding = 0
    assert window.next() == "c"


def test_pings_overtake_a_frame_without_credit_and_equal_ones_wait_once():
    window = opened(capacity=1)
    window.push_frame("a")
    window.next()
    window.push_frame("b")
    for message in (b"ping", b"key frame", b"ping"):
        window.push_urgent(message)
    assert window.next() == RawMessage(b"ping")
    assert window.next() == RawMessage(b"key frame")
    assert window.next() is None


def test_several_frames_of_encoded_video_wait():
    window = opened(capacity=2)
    for frame in "abc":
        window.push_frame(frame)
    assert [window.next(), window.next(), window.next()] == ["a", "b", None]
    window.push_frame("d", ["c"])
    window.push_frame("e")
    window.outstanding = 0
    assert [window.next(), window.next()] == ["d", "e"]


def test_the_newest_acknowledgement_is_sent_first():
    window = opened(capacity=1)
    window.push(RawMessage(b"change"))
    window.acknowledgement = 3
    window.acknowledgement = 4
    assert window.is_ready and window.next() == Acknowledgement(4)
    assert window.next() == RawMessage(b"change")


def test_changes_behind_a_frame_are_bounded():
    window = opened()
    for _ in range(CONTROL_LIMIT):
        window.require_space()
        window.push(RawMessage(b""))
    with pytest.raises(ResourceExhausted, match="64 changes wait"):
        window.require_space()
    window.next()
    window.require_space()


def test_a_finished_window_is_over_when_all_is_sent():
    window = opened(capacity=1)
    window.push_frame("a")
    window.finish()
    assert not window.is_over and not window.is_drained
    assert window.next() == "a"
    assert window.is_over and window.is_ready and window.is_drained


def test_a_lost_connection_keeps_the_waiting_frame_only_if_none_may_be_dropped():
    for newest_wins in (True, False):
        window = opened(newest_wins, capacity=1)
        window.push_frame("a")
        window.next()
        window.push_frame("b")
        unsent = window.close()
        assert window.link == NONE and window.is_over
        assert unsent.waiting == ["b"] and unsent.is_kept is not newest_wins
        window.outstanding = 0
        window.open(1, [b"first"])
        assert window.next() == RawMessage(b"first")
        assert window.next() == (None if newest_wins else "b")


def test_nothing_is_sent_while_the_server_drains():
    window = opened()
    window.push_frame("a")
    window.drain()
    assert window.link == DRAINING and window.next() is None and not window.is_ready
    window.push_urgent(b"ping")
    assert window.next() == RawMessage(b"ping")
