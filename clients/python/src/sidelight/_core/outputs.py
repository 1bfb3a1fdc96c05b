"""The outcomes of named outputs that wait to be taken, bounded for every output. A pure state
machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Optional

from ..errors import SidelightError
from ..events import OutputOutcome
from ..outcomes import Dropped

#: The outcomes of an output that wait to be taken.
OUTPUT_LIMIT = 64
#: The outcomes of an output that the server may still have after the outcome of a frame, at most.
SERVER_LIMIT = 16


class OutputQueue:
    """The outcomes of all outputs, in the order of arrival.

    - `names`: The names of the outputs.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._queue: deque[OutputOutcome] = deque()
        self._counts = dict.fromkeys(names, 0)
        #: The number of outcomes that were lost because they were not taken in time.
        self.dropped = 0

    @property
    def names(self) -> list[str]:
        """The names of the outputs."""
        return list(self._counts)

    @property
    def is_ready(self) -> bool:
        """Whether an outcome can be taken."""
        return bool(self._queue)

    @property
    def is_full(self) -> bool:
        """Whether `OUTPUT_LIMIT` outcomes of an output wait."""
        return max(self._counts.values(), default=0) >= OUTPUT_LIMIT

    def push(self, outcome: OutputOutcome, limit: int) -> None:
        """Adds an outcome. Beyond `limit` of its output, an older one is lost.

        Raises `SidelightError` for an output that was not requested.
        """
        name = outcome.output
        if name not in self._counts:
            raise SidelightError(f"the server names an unknown output: {name!r}", code="INTERNAL")
        self._queue.append(outcome)
        self._counts[name] += 1
        if self._counts[name] > limit:
            self._lose(name)

    def _lose(self, name: str) -> None:
        """Removes the oldest drop of an output, or without one the oldest picture, on which later
        ones may depend."""
        own = [index for index, each in enumerate(self._queue) if each.output == name]
        drops = [index for index in own if type(self._queue[index].outcome) is Dropped]
        index = (drops or own)[0]
        self._queue[index].outcome.release()
        del self._queue[index]
        self._counts[name] -= 1
        self.dropped += 1

    def take(self) -> Optional[OutputOutcome]:
        """Returns the oldest outcome; `None` if there is none now."""
        if not self._queue:
            return None
        outcome = self._queue.popleft()
        self._counts[outcome.output] -= 1
        return outcome
