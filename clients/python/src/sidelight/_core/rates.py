"""Adapts the application's encoder to the connection: a pure state machine.

A port of Sources/Wire/Sessions/EncoderRateController.swift, which explains it; the constants have
the same names and values. Times are seconds, sizes are bytes, rates are bits per second.
"""

from __future__ import annotations

import math
from collections import deque
from typing import NamedTuple, Optional

from ..events import EncoderTarget

#: The excess from which the link may be slower than the bit rate.
_CONGESTED_EXCESS = 0.05
#: The rate at which the bucket leaks, relative to the bit rate.
_LEAK = 1.25
#: The largest excess without a queue.
_CLEAR_EXCESS = 0.01
#: The part of the expected delay by which frames must arrive earlier for the bit rate to grow.
_MARGIN = 0.15
#: The part of the round trip, and the time, for which the excess must persist.
_PERSISTENCE_ROUND_TRIPS, _PERSISTENCE_SECONDS = 0.75, 0.03
#: The multiple of the bit rate at which frames arrive together, and how long that counts.
_BURST_FACTOR, _BURST_SECONDS = 1.5, 0.3
#: The time over which the delivered rate is measured.
_MEASUREMENT_ROUND_TRIPS, _MEASUREMENT_SECONDS = 2.0, 0.25
#: The time after which the oldest frame without acknowledgement makes the window narrow.
_PATIENCE = 0.08
#: The frame intervals that the window covers after the shortest round trip.
_SLACK = 2.2
#: The frames beyond a round trip for which the window has room, up to a size.
_FLOOR_FRAMES, _FLOOR_BYTES = 6.0, 64_000.0
#: The time for which the window has room while acknowledgements are late, up to a size.
_LATE_SECONDS, _LATE_BYTES = 0.2, 24_000.0
#: The part of the delivered rate to which the bit rate falls.
_DRAIN = 0.85
#: The relative growth per second, and near the rate that was too high.
_GROWTH_FREE, _GROWTH_NEAR = 0.5, 0.1
#: The part of the bit rate that the encoder must have used in the last second.
_USED = 0.7
#: The time after which a shortest round trip is forgotten.
_MEMORY = 10.0
#: The time without refusals after which the bit rate grows, and the time after which the rate that
#: was too high is forgotten.
_CALM_GROWTH, _CALM_CONGESTION = 0.2, 4.0
#: The refusals in a second from which the bit rate falls.
_MAX_REFUSALS = 4
#: The falls in a row after which the round trip is measured again.
_MAX_FALLS = 3

_SCALES = (1.0, 0.75, 0.5, 0.375, 0.25)
_FRAME_RATES = (0.5, 0.25)
#: The bits per pixel below which a smaller picture looks better.
_BITS_PER_PIXEL = 0.03
#: A larger level needs this much more than its lowest bit rate, for this time.
_RISE_FACTOR, _RISE_SECONDS = 1.5, 2.0

#: The lowest and the first bit rate.
MIN_BIT_RATE, START_BIT_RATE = 100_000, 2_000_000


class _InFlight(NamedTuple):
    """A frame without acknowledgement."""

    sequence: int
    bytes: float
    sent: float
    #: The delay over a link of the bit rate, without its shortest round trip.
    expected: float


class RateController:
    """The values for one encoder.

    - `target`: The wished values, which are the maximum.
    - `min_bit_rate`: The lowest bit rate.
    - `start_bit_rate`: The first bit rate.
    """

    def __init__(
        self,
        target: EncoderTarget,
        min_bit_rate: int = MIN_BIT_RATE,
        start_bit_rate: float = START_BIT_RATE,
    ) -> None:
        self.target = target
        self._min_bit_rate = float(min(min_bit_rate, target.bit_rate))
        self._bit_rate = max(float(min(start_bit_rate, target.bit_rate)), self._min_bit_rate)
        self._levels = _Levels(target)
        self._levels.choose(self._bit_rate, 0.0)
        self._in_flight: deque[_InFlight] = deque()
        self._in_flight_bytes = 0.0
        #: The bytes that wait for a link of the bit rate, at the time of the last frame.
        self._bucket_bytes, self._bucket_time = 0.0, 0.0
        #: The times and sizes of the frames of the last second.
        self._recent: deque[tuple[float, float]] = deque()
        self._recent_bytes = 0.0
        self._frame_bytes = 0.0
        #: The shortest round trips: of an older and of a newer time, which began at a time.
        self._older: Optional[float] = None
        self._newer: Optional[float] = None
        self._since = 0.0
        #: The times and sizes of the acknowledgements of the last time of measurement.
        self._acknowledgements: deque[tuple[float, float]] = deque()
        #: The time of the first acknowledgement with excess, without a later one that has none.
        self._congested_since: Optional[float] = None
        #: The time at which late frames arrived together.
        self._last_burst = -math.inf
        self._reset_falls()
        #: The delivered rate when the bit rate fell last, and that time.
        self._congestion: Optional[tuple[float, float]] = None
        #: The times at which the window had no room for a frame, in the last second.
        self._refusals: deque[float] = deque()
        self._last_sequence = 0
        #: The time that the receiver has frames before it acknowledges them.
        self._processing = 0.0

    def _reset_falls(self) -> None:
        """Forgets the falls of the bit rate since the last acknowledgement without excess."""
        self._falls = 0
        #: The bit rate before the first.
        self._falls_bit_rate = 0.0
        #: The last frame that was sent before the last fall: earlier ones say nothing about it.
        self._falls_sequence = 0
        #: The shortest delay of later frames.
        self._falls_shortest = math.inf

    @property
    def current(self) -> EncoderTarget:
        """The values to encode the next frame with."""
        return self._levels.current._replace(bit_rate=int(self._bit_rate))

    def set_target(self, target: EncoderTarget, now: float) -> None:
        """Changes the wished values. A bit rate above the new one falls to it."""
        self.target = target
        self._bit_rate = min(self._bit_rate, float(target.bit_rate))
        self._levels = _Levels(target)
        self._levels.choose(self._bit_rate, now)

    # Frames

    def may_send(self, now: float) -> bool:
        """Returns whether another frame may be encoded and sent now. Call it only with a frame: a
        refusal shows that the window is full."""
        if not self._in_flight:
            return True
        oldest = self._in_flight[0]
        # Without an acknowledgement the oldest frame is at least this late.
        round_trip = self._round_trip
        late = now - oldest.sent - (math.inf if round_trip is None else round_trip)
        late -= oldest.expected + self._processing
        is_late = self._congested_since is not None or late > _CONGESTED_EXCESS + _PATIENCE
        window = self._narrow_window if is_late else self._window
        if self._in_flight_bytes + self._next_bytes <= window:
            return True
        while self._refusals and now - self._refusals[0] > 1:
            self._refusals.popleft()
        # A caller may ask for the same frame again.
        interval = 1 / self._levels.current.frame_rate
        if not self._refusals or now - self._refusals[-1] > interval / 2:
            self._refusals.append(now)
        return False

    def sent(self, sequence: int, size: float, now: float) -> None:
        """Records a frame that is sent."""
        drained = _LEAK * (now - self._bucket_time) * self._bit_rate / 8
        self._bucket_bytes = max(0.0, self._bucket_bytes - drained) + size
        self._bucket_time = now
        expected = self._bucket_bytes * 8 / self._bit_rate
        self._in_flight.append(_InFlight(sequence, size, now, expected))
        self._in_flight_bytes += size
        self._last_sequence = sequence
        self._frame_bytes = 0.9 * self._frame_bytes + 0.1 * size if self._frame_bytes else size
        self._recent.append((now, size))
        self._recent_bytes += size
        while now - self._recent[0][0] > 1:
            self._recent_bytes -= self._recent.popleft()[1]

    def acknowledged(self, sequence: int, now: float, processing: float = 0.0) -> None:
        """Records the acknowledgement of all frames up to a number.

        - `processing`: The time that the receiver had the last one.
        """
        last, size = self._remove(sequence)
        if last is None:
            return
        # Rises at once, and falls slowly.
        self._processing = max(processing, 0.9 * self._processing + 0.1 * processing)
        delay = max(0.0, now - last.sent - processing)
        self._record_round_trip(delay, now)
        round_trip = self._round_trip
        excess = delay - (delay if round_trip is None else round_trip) - last.expected
        acknowledgements = self._acknowledgements
        gap = now - (acknowledgements[-1][0] if acknowledgements else now)
        self._record_delivered(size, delay, now)
        if excess > _CONGESTED_EXCESS:
            # Frames that arrive together have waited for a lost packet, not for the link.
            if size * 8 > _BURST_FACTOR * self._bit_rate * gap:
                self._last_burst = now
            self._record_excess(last, delay, now)
        else:
            self._congested_since = None
            if excess < _CLEAR_EXCESS:
                self._reset_falls()
            if self._refusals and now - self._refusals[-1] < _CALM_GROWTH:
                self._limit_to_delivered(excess > _CLEAR_EXCESS, now)
            elif excess < -_MARGIN * last.expected:
                self._grow(min(0.1, gap), now)
        self._levels.choose(self._bit_rate, now)

    def discarded(self, sequence: int, now: float) -> None:
        """Records that frames up to a number arrived, and were dropped: their bytes count as
        delivered, and their delay tells nothing."""
        last, size = self._remove(sequence)
        if last is not None:
            self._record_delivered(size, self._round_trip or 0.0, now)

    def _record_delivered(self, size: float, delay: float, now: float) -> None:
        acknowledgements = self._acknowledgements
        acknowledgements.append((now, size))
        # One from before remains: its time is the beginning.
        measurement = max(_MEASUREMENT_SECONDS, _MEASUREMENT_ROUND_TRIPS * delay)
        while len(acknowledgements) > 2 and now - acknowledgements[1][0] > measurement:
            acknowledgements.popleft()

    def _remove(self, sequence: int) -> tuple[Optional[_InFlight], float]:
        """Removes the frames up to a number; returns the last one, and the size of all."""
        last, size = None, 0.0
        while self._in_flight and self._in_flight[0].sequence <= sequence:
            last = self._in_flight.popleft()
            size += last.bytes
        self._in_flight_bytes -= size
        return last, size

    # The window

    @property
    def _window(self) -> float:
        """The bytes that may be without acknowledgement."""
        round_trip = 0.1 if self._round_trip is None else self._round_trip
        frame_rate = self._levels.current.frame_rate
        round_trip += self._processing
        size = self._bit_rate / 8 * (round_trip + _SLACK / frame_rate)
        frames = _FLOOR_FRAMES + round_trip * frame_rate
        return max(size, min(frames * self._next_bytes, _FLOOR_BYTES))

    @property
    def _narrow_window(self) -> float:
        """The window while acknowledgements are late: the bytes on the way, with a short queue."""
        round_trip = 0.1 if self._round_trip is None else self._round_trip
        size = self._bit_rate / 8 * (round_trip + self._processing)
        size = max(size, min(self._bit_rate / 8 * _LATE_SECONDS, _LATE_BYTES))
        return min(size, self._window)

    @property
    def _next_bytes(self) -> float:
        """The size that the next frame may have. Encoders meet their rate over several frames."""
        mean = self._bit_rate / 8 / self._levels.current.frame_rate
        return 1.2 * (min(mean, self._frame_bytes) if self._frame_bytes else mean)

    # The bit rate

    @property
    def _round_trip(self) -> Optional[float]:
        known = [each for each in (self._older, self._newer) if each is not None]
        return min(known) if known else None

    def _record_round_trip(self, delay: float, now: float) -> None:
        if self._newer is not None and now - self._since < _MEMORY:
            self._newer = min(self._newer, delay)
        else:
            self._older, self._newer, self._since = self._newer, delay, now

    @property
    def _is_used(self) -> bool:
        """Whether the encoder has used the bit rate in the last second."""
        if not self._recent:
            return False
        # The last frame's own interval has not passed yet.
        time = self._recent[-1][0] - self._recent[0][0] + 1 / self._levels.current.frame_rate
        return self._recent_bytes * 8 >= _USED * self._bit_rate * max(time, 0.2)

    def _delivered_rate(self, now: float) -> float:
        """The acknowledged bits per second in the last time of measurement."""
        if not self._acknowledgements:
            return 0.0
        first, size = self._acknowledgements[0]
        total = sum(each[1] for each in self._acknowledgements) - size
        return total * 8 / max(now - first, _PERSISTENCE_SECONDS)

    def _grow(self, elapsed: float, now: float) -> None:
        if self._congestion is not None and now - self._congestion[1] > _CALM_CONGESTION:
            self._congestion = None
        if not self._is_used:
            return
        growth = _GROWTH_FREE
        if self._congestion is not None and abs(self._bit_rate / self._congestion[0] - 0.9) < 0.2:
            growth = _GROWTH_NEAR
        self._bit_rate = min(float(self.target.bit_rate), self._bit_rate * (1 + growth * elapsed))

    def _limit_to_delivered(self, has_queue: bool, now: float) -> None:
        """Lowers the bit rate if the window often has no room: the queue then hides in the
        shortest round trip."""
        rate = self._delivered_rate(now)
        if len(self._refusals) < _MAX_REFUSALS or now - self._last_burst <= 1:
            return
        if rate >= (1 if has_queue else 0.93) * self._bit_rate:
            return
        self._refusals.clear()
        self._fall(max(0.9 * rate, 0.7 * self._bit_rate), rate, now)

    def _record_excess(self, frame: _InFlight, delay: float, now: float) -> None:
        """Lowers the bit rate if the excess persists."""
        since = now if self._congested_since is None else self._congested_since
        self._congested_since = since
        if frame.sequence <= self._falls_sequence and self._falls:
            return
        self._falls_shortest = min(self._falls_shortest, delay)
        round_trip = delay if self._round_trip is None else self._round_trip
        persistence = max(_PERSISTENCE_ROUND_TRIPS * round_trip, _PERSISTENCE_SECONDS)
        if now - since < persistence or now - self._last_burst <= _BURST_SECONDS:
            return
        if self._falls >= _MAX_FALLS:
            # The window was narrow, so the queue is short: this is the path.
            self._older, self._newer, self._since = None, self._falls_shortest, now
            self._bit_rate = max(self._bit_rate, _DRAIN * self._falls_bit_rate)
            self._reset_falls()
            self._congested_since = self._congestion = None
            return
        if not self._falls:
            self._falls_bit_rate = self._bit_rate
        self._falls += 1
        self._falls_sequence = self._last_sequence
        self._falls_shortest = math.inf
        rate = self._delivered_rate(now)
        is_carried = rate > 0.9 * self._bit_rate
        self._fall(0.95 * self._bit_rate if is_carried else _DRAIN * rate, rate, now)

    def _fall(self, bit_rate: float, delivered: float, now: float) -> None:
        # A rate of 0 near which nothing grows.
        self._congestion = (max(delivered, 1.0), now)
        lowest = min(self._min_bit_rate, float(self.target.bit_rate))
        self._bit_rate = max(lowest, min(self._bit_rate, bit_rate))


class _Levels:
    """The sizes and frame rates for falling bit rates: first smaller pictures, then fewer."""

    def __init__(self, target: EncoderTarget) -> None:
        rate = max(1, target.width * target.height) * max(1.0, target.frame_rate)
        # The client may wish fewer bits; its own size is then right for half of them.
        bits = min(_BITS_PER_PIXEL, target.bit_rate / rate / 2)
        steps = [(scale, 1.0) for scale in _SCALES]
        steps += [(_SCALES[-1], frames) for frames in _FRAME_RATES]
        #: The levels, and the bit rates below which the next one looks better.
        self._levels: list[tuple[EncoderTarget, float]] = []
        for scale, frames in steps:
            width, height = target.width, target.height
            if scale < 1:
                # Video with subsampled chroma has even sizes.
                width = max(2, int(target.width * scale / 2) * 2)
                height = max(2, int(target.height * scale / 2) * 2)
            frame_rate = max(1.0, target.frame_rate) * frames
            level = EncoderTarget(target.bit_rate, width, height, frame_rate)
            self._levels.append((level, width * height * frame_rate * bits))
        self._index = 0
        #: The time since which the bit rate suffices for a larger level.
        self._sufficient_since: Optional[float] = None

    @property
    def current(self) -> EncoderTarget:
        return self._levels[self._index][0]

    def choose(self, bit_rate: float, now: float) -> None:
        """Chooses the level of a bit rate: a smaller one at once, a larger one after a time."""
        while self._index < len(self._levels) - 1 and bit_rate < self._levels[self._index][1]:
            self._index += 1
            self._sufficient_since = None
        if not self._index or bit_rate < self._levels[self._index - 1][1] * _RISE_FACTOR:
            self._sufficient_since = None
            return
        if self._sufficient_since is None:
            self._sufficient_since = now
        if now - self._sufficient_since >= _RISE_SECONDS:
            self._index -= 1
            self._sufficient_since = None
