"""The events and analyses of a session, and the times of its frames; all bounded."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..events import Analysis, Event
from ..outcomes import Latency

#: The events that wait to be taken.
EVENT_LIMIT = 256
#: The results of analyses that wait to be taken.
ANALYSIS_LIMIT = 64
#: The frames whose times are kept.
LATENCY_WINDOW = 256


class Notices:
    """The events and analyses of a session that wait to be taken. The newest are kept."""

    def __init__(self) -> None:
        self.events: deque[Event] = deque(maxlen=EVENT_LIMIT)
        self.analyses: deque[Analysis] = deque(maxlen=ANALYSIS_LIMIT)
        #: The number of results of analyses that were lost because they were not taken in time.
        self.dropped_analyses = 0
        #: The callbacks of every event: objects with a method `resolve(event)`.
        self.callbacks: list[Any] = []
        #: The calls that are due.
        self.calls: list[tuple[Any, Any]] = []
        self._times: deque[tuple[float, int]] = deque(maxlen=LATENCY_WINDOW)

    def push_event(self, event: Event) -> None:
        """Adds an event."""
        self.events.append(event)
        self.calls.extend((callback, event) for callback in self.callbacks)

    def push_analysis(self, analysis: Analysis) -> None:
        """Adds the result of an analysis."""
        self.dropped_analyses += len(self.analyses) == ANALYSIS_LIMIT
        self.analyses.append(analysis)
        self.calls.extend((callback, analysis) for callback in self.callbacks)

    def push_times(self, round_trip: float, server_us: int) -> None:
        """Adds the seconds of a round trip, and the microseconds that the server spent."""
        self._times.append((round_trip, server_us))

    def latency(self) -> Latency:
        """Returns percentiles of the last frames' times."""
        trips = sorted(each[0] for each in self._times)
        server = sorted(each[1] / 1e6 for each in self._times)
        if not trips:
            return Latency(0.0, 0.0, 0.0, 0.0)
        middle, high = len(trips) // 2, min(len(trips) - 1, len(trips) * 95 // 100)
        return Latency(trips[middle], trips[high], server[middle], server[high])
