"""The rate of encoded video to send, over a simulated link: the cases of
Tests/WireTests/EncoderRateControllerTests.swift."""

from collections import deque

import pytest
from support.simulated_stream import SimulatedStream

from sidelight import EncoderTarget
from sidelight._core.rates import RateController

WIDE = EncoderTarget(20_000_000, 1280, 720, 30)
SMALL = EncoderTarget(2_000_000, 640, 360, 30)


def falling_link():
    """A link whose rate falls from 10 to 2 Mbit/s at 10 s, and returns at 20 s."""
    return SimulatedStream(lambda time: 2e6 if 10 <= time < 20 else 10e6)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def test_no_frame_becomes_older_than_400_ms_when_the_link_falls_to_a_fifth():
    stream = falling_link()
    controller = RateController(WIDE._replace(bit_rate=8_000_000))
    frames = [each for each in stream.run(controller, 35) if each.captured > 2]
    assert max(each.age for each in frames) <= 0.4
    settled = [each.age for each in frames if 12 <= each.captured < 20]
    assert len(settled) >= 220
    assert percentile(settled, 0.95) <= stream.round_trip + 0.15


def test_the_bit_rate_returns_to_most_of_the_link_within_10_s():
    frames = falling_link().run(RateController(WIDE), 40)
    low = mean(each.target.bit_rate for each in frames if 12 <= each.captured < 20)
    assert low >= 0.75 * 2e6
    returned = next(
        each for each in frames if each.captured > 20 and each.target.bit_rate >= 8_000_000
    )
    assert returned.captured < 30
    # It stays there, and below the link.
    later = mean(
        each.target.bit_rate for each in frames if each.captured > returned.captured + 2
    )
    assert 7e6 < later < 10.5e6


@pytest.mark.parametrize("round_trip, share", [(0.05, 0.99), (0.1, 0.95)])
def test_a_lost_packet_in_a_hundred_costs_few_frames_and_no_bit_rate(round_trip, share):
    stream = SimulatedStream(lambda time: 5e6, round_trip, loss=0.01)
    frames = stream.run(RateController(SMALL), 60)
    assert len(frames) >= share * stream.captured
    assert mean(each.target.bit_rate for each in frames) >= 0.9 * 2e6


def test_a_link_slower_than_the_first_bit_rate_is_found():
    stream = SimulatedStream(lambda time: 0.5e6)
    frames = [each for each in stream.run(RateController(WIDE), 30) if each.captured > 5]
    assert percentile([each.age for each in frames], 0.95) <= stream.round_trip + 0.25
    assert all(each.target.bit_rate < 800_000 for each in frames)


def test_a_quiet_scene_is_not_evidence_that_the_link_carries_more():
    stream = SimulatedStream(lambda time: 10e6, activity=lambda time: 0.1 if 3 <= time < 20 else 1)
    frames = stream.run(RateController(WIDE), 22)
    rates = {each.target.bit_rate for each in frames if 4 <= each.captured < 20}
    assert len(rates) == 1 and rates.pop() < 10_000_000


def test_a_path_that_becomes_longer_lowers_the_bit_rate_only_for_a_while():
    stream = SimulatedStream(lambda time: 5e6, detour=(10, 0.1))
    frames = stream.run(RateController(SMALL), 40)
    assert {each.target.bit_rate for each in frames if each.captured > 25} == {2_000_000}
    assert len(frames) >= 0.97 * stream.captured


def test_key_frames_do_not_lower_the_bit_rate():
    stream = SimulatedStream(lambda time: 5e6, key_frame_interval=60)
    assert {each.target.bit_rate for each in stream.run(RateController(SMALL), 30)} == {2_000_000}


def test_frames_in_flight_during_a_cut_do_not_lower_the_bit_rate_for_long():
    stream = SimulatedStream(lambda time: 0.001e6 if 10 <= time < 15 else 5e6)
    frames = stream.run(RateController(SMALL), 30)
    assert {each.target.bit_rate for each in frames if each.captured > 25} == {2_000_000}
    # The window, not a queue of 5 s, held what was captured meanwhile.
    assert not [each for each in frames if 10.5 <= each.captured < 15]


def test_the_time_of_the_server_does_not_count_as_the_links():
    stream = SimulatedStream(
        lambda time: 5e6, processing=lambda time: 0.08 if int(time) % 2 else 0.01
    )
    frames = stream.run(RateController(SMALL), 30)
    assert mean(each.target.bit_rate for each in frames if each.captured > 5) >= 0.97 * 2e6


def test_results_that_take_their_own_time_on_the_way_back_do_not_close_the_window():
    stream = SimulatedStream(lambda time: 10e6, processing=lambda time: 0.025, jitter=0.02)
    frames = stream.run(RateController(WIDE._replace(bit_rate=8_000_000)), 20)
    assert mean(each.target.bit_rate for each in frames if each.captured > 8) >= 0.95 * 8e6


def test_the_window_closes_without_acknowledgements_and_opens_with_them():
    controller = RateController(SMALL)
    sequence = 0
    while controller.may_send(sequence * 0.033) and sequence < 100:
        sequence += 1
        controller.sent(sequence, 8300, sequence * 0.033)
    assert 3 <= sequence < 10
    now = sequence * 0.033
    controller.acknowledged(sequence, now)
    assert controller.may_send(now)
    # An acknowledgement of what is acknowledged already changes nothing.
    controller.acknowledged(1, now)
    assert controller.may_send(now)


def test_frames_that_were_dropped_leave_the_window():
    controller = RateController(SMALL)
    for sequence in range(1, 11):
        controller.sent(sequence, 8300, 0.0)
    before = controller.current
    assert not controller.may_send(0.5)
    controller.discarded(10, 0.5)
    assert controller.may_send(0.5) and controller.current == before


def test_late_acknowledgements_never_widen_the_window():
    counts = []
    for interval in (0.0, 1 / 60):
        controller, sequence = RateController(SMALL._replace(bit_rate=1_000_000, frame_rate=60)), 1
        controller.sent(1, 2083, 0.0)
        controller.acknowledged(1, 0.03)
        for frame in range(100):
            if controller.may_send(0.04 + frame * interval):
                sequence += 1
                controller.sent(sequence, 2083, 0.04 + frame * interval)
        counts.append(sequence)
    assert counts[1] <= counts[0]


def test_frames_that_were_dropped_count_as_delivered():
    """A receiver that drops every second frame, over a link that carries all: the window is full at
    times, because frames are large and the round trip is long."""
    means = []
    for is_dropping in (False, True):
        controller, sequence, arrivals, rates = RateController(SMALL), 0, deque(), []
        for frame in range(600):
            now = frame / 30
            while arrivals and arrivals[0][0] <= now:
                at, arrived = arrivals.popleft()
                if is_dropping and arrived % 2:
                    controller.discarded(arrived, at)
                else:
                    controller.acknowledged(arrived, at)
            # A picture larger than the mean now and then closes the window.
            if controller.may_send(now):
                sequence += 1
                size = controller.current.bit_rate / 8 / 30 * (6 if sequence % 8 == 0 else 0.8)
                controller.sent(sequence, size, now)
                arrivals.append((now + 0.1, sequence))
            rates.append(controller.current.bit_rate)
        means.append(mean(rates[len(rates) // 2 :]))
    assert means[1] > 0.9 * means[0], means


def test_a_frame_larger_than_the_window_is_sent_alone():
    controller = RateController(SMALL)
    controller.sent(1, 1_000_000, 0.0)
    assert not controller.may_send(0.033)
    controller.acknowledged(1, 2.0)
    assert controller.may_send(2.0)


def test_pictures_become_smaller_before_they_become_fewer():
    last = target = EncoderTarget(4_000_000, 1280, 720, 30)
    for bit_rate in range(4_000_000, 3999, -4000):
        current = RateController(target, 1000, bit_rate).current
        assert current.bit_rate == bit_rate
        assert current.width <= last.width and current.frame_rate <= last.frame_rate
        assert current.width % 2 == 0 and current.height % 2 == 0
        assert current.frame_rate == 30 or current.width == 320
        last = current
    assert last[1:] == (320, 180, 7.5)


@pytest.mark.parametrize("bit_rate", [250_000, 500_000, 4_000_000])
def test_half_of_the_wished_bit_rate_keeps_the_wished_size(bit_rate):
    target = EncoderTarget(bit_rate, 1280, 720, 30)
    assert RateController(target, start_bit_rate=bit_rate // 2).current.width == 1280


def test_a_bit_rate_around_a_limit_does_not_change_the_size_again_and_again():
    # 720p becomes smaller below 829 kbit/s.
    stream = SimulatedStream(lambda time: 1.05e6 if int(time / 2) % 2 else 0.85e6)
    widths = [each.target.width for each in stream.run(RateController(WIDE), 60)]
    assert 1 <= sum(first != second for first, second in zip(widths, widths[1:])) <= 6


def test_new_wishes_apply_at_once_if_they_are_lower():
    controller = RateController(SMALL)
    target = SMALL._replace(bit_rate=500_000, frame_rate=15)
    controller.set_target(target, 1.0)
    assert controller.current == target
