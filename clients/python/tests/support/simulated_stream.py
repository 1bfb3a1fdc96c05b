"""A stream of encoded frames over a simulated TCP connection: a link with a rate, a delay and lost
packets, and an encoder that follows the controller. Deterministic.

A port of Tests/WireTests/SimulatedStream.swift, with the same random numbers.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable

_MASK = (1 << 64) - 1


@dataclass
class Sent:
    """A frame that was sent."""

    captured: float
    arrived: float
    #: The values that it was encoded with.
    target: Any

    @property
    def age(self) -> float:
        return self.arrived - self.captured


@dataclass
class SimulatedStream:
    """The link and the encoder."""

    #: The link's bits per second at a time.
    rate: Callable[[float], float]
    #: The time of an empty packet there and back.
    round_trip: float = 0.05
    #: The part of the packets that is lost.
    loss: float = 0.0
    #: The part of its bit rate that the encoder uses at a time: less than 1 in a quiet scene.
    activity: Callable[[float], float] = lambda time: 1.0
    #: The frames between two key frames.
    key_frame_interval: float = math.inf
    #: The time from which the way is longer, and the additional seconds.
    detour: tuple[float, float] = (math.inf, 0.0)
    #: The seconds that the receiver processes a frame sent at a time. Acknowledgements report them.
    processing: Callable[[float], float] = lambda time: 0.0
    #: The longest additional time of an acknowledgement: a result has its own time on the way back.
    jitter: float = 0.0
    _random: int = 0x9E37_79B9_7F4A_7C15
    #: The time at which the link has sent everything.
    _free: float = 0.0
    _last_arrival: float = 0.0
    frames: list[Sent] = field(default_factory=list)
    captured: int = 0

    def run(self, controller: Any, seconds: float) -> list[Sent]:
        """Runs the stream; returns the frames that were sent."""
        acknowledgements: deque[tuple[float, int, float]] = deque()
        next_capture, waiting = 0.0, None
        while True:
            acknowledged = acknowledgements[0][0] if acknowledgements else math.inf
            now = min(acknowledged, next_capture)
            if now >= seconds:
                return self.frames
            if now == acknowledged:
                _, sequence, processing = acknowledgements.popleft()
                controller.acknowledged(sequence, now, processing)
            else:
                waiting = now
                self.captured += 1
                next_capture += 1 / controller.current.frame_rate
            # The newest picture waits, and is encoded when it may be sent.
            if waiting is None or not controller.may_send(now):
                continue
            target = controller.current
            mean = target.bit_rate / 8 / target.frame_rate
            number = len(self.frames)
            is_key = number % self.key_frame_interval == 0
            size = mean * self.activity(now)
            size *= 5 if is_key else 0.8 + 0.4 * self._next_random()
            controller.sent(number, int(size), now)
            arrival = self._transfer(size, now)
            processing = self.processing(now)
            after = arrival + self.round_trip / 2 + 0.005 + processing
            if self.jitter:
                after += self.jitter * self._next_random()
                after = max(after, acknowledgements[-1][0] if acknowledgements else now)
            acknowledgements.append((after, number, processing))
            self.frames.append(Sent(waiting, arrival, target))
            waiting = None

    def _transfer(self, size: float, now: float) -> float:
        """Returns the time at which bytes have arrived, in order."""
        left, time = size * 8, max(self._free, now)
        while left > 0:
            # Steps at which the rate may change.
            step = 0.001
            left -= self.rate(time) * step
            time += step + (left / self.rate(time) if left < 0 else 0)
        self._free = time
        arrival = time + self.round_trip / 2
        if time >= self.detour[0]:
            arrival += self.detour[1]
        packets = int(size / 1400) + 1
        for packet in range(packets):
            if self._next_random() < self.loss:
                # The packets behind a lost one report it; a lost last packet is missed later.
                recovery = self.round_trip * (1.1 if packet < packets - 1 else 2.2)
                if self._next_random() < self.loss:
                    recovery += 0.2 + self.round_trip
                arrival = max(arrival, time + self.round_trip / 2 + recovery)
        self._last_arrival = max(self._last_arrival, arrival)
        return self._last_arrival

    def _next_random(self) -> float:
        self._random ^= self._random << 13 & _MASK
        self._random ^= self._random >> 7
        self._random ^= self._random << 17 & _MASK
        return (self._random >> 11) / 9_007_199_254_740_992
