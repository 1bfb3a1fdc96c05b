"""The outcomes of frames that were sent without waiting, in the order of sending; and all counts.

A pure state machine. Outcomes that are not taken are bounded: outcomes of sent frames hold their
credits, dropped frames are kept as runs beyond a limit, and pictures that replace frames
without connection as the newest few.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Optional

from ..outcomes import (
    Counts,
    Degraded,
    Dropped,
    DropReason,
    DropStage,
    Filtered,
    FrameInfo,
    PassedThrough,
)

#: The number of frames dropped in this client whose descriptions are kept until they are taken.
DROP_LIMIT = 256
#: The number of pictures that replace frames without connection and wait to be taken.
FALLBACK_LIMIT = 4

_NO_INFO = FrameInfo()


class Pending:
    """A frame whose outcome is not known, or not taken."""

    __slots__ = (
        "sequence",
        "frame",
        "info",
        "submitted",
        "waiter",
        "outcome",
        "holds_credit",
        "trace",
    )

    def __init__(self, sequence: int, frame: Any, info: FrameInfo, submitted: float, waiter: Any):
        self.sequence = sequence
        self.frame = frame
        self.info = info
        self.submitted = submitted
        #: The caller that waits for this outcome; `None` if outcomes are read in order.
        self.waiter = waiter
        self.outcome: Any = None
        self.holds_credit = False
        self.trace: Any = None


class _Run:
    """Dropped frames without descriptions, first to last."""

    __slots__ = ("first", "last", "reason", "stage")

    def __init__(self, first: int, reason: DropReason, stage: DropStage) -> None:
        self.first = self.last = first
        self.reason = reason
        self.stage = stage


class Delivery:
    """The outcomes that wait to be taken."""

    def __init__(self) -> None:
        self._queue: deque[Any] = deque()
        self._fallbacks: deque[Pending] = deque()
        self._kept_drops = 0
        self.received = 0
        self.filtered = 0
        self.passed_through = 0
        self.degraded = 0
        self.dropped: dict[DropReason, int] = {}

    def add(self, pending: Pending) -> None:
        """Adds a frame. One with a waiter is only counted."""
        self.received += 1
        if pending.waiter is None:
            self._queue.append(pending)

    def count(self, outcome: Any) -> None:
        """Counts an outcome."""
        kind = type(outcome)
        if kind is Filtered:
            self.filtered += 1
        elif kind is PassedThrough:
            self.passed_through += 1
        elif kind is Degraded:
            self.degraded += 1
        else:
            self.dropped[outcome.reason] = self.dropped.get(outcome.reason, 0) + 1

    def settle_at_client(self, pending: Pending, outcome: Any) -> None:
        """Sets the outcome of a frame without credit, and keeps the queue bounded."""
        pending.outcome = outcome
        if type(outcome) is not Dropped:
            self._fallbacks.append(pending)
            if len(self._fallbacks) > FALLBACK_LIMIT:
                self._drop_fallback(self._fallbacks.popleft())
            return
        self._kept_drops += 1
        if self._kept_drops > DROP_LIMIT:
            self._merge(pending, outcome)

    def _drop_fallback(self, pending: Pending) -> None:
        """Replaces a picture that was not taken by a drop."""
        outcome = pending.outcome
        if type(outcome) is PassedThrough:
            self.passed_through -= 1
        else:
            self.degraded -= 1
        outcome.release()
        dropped = Dropped(
            pending.sequence,
            pending.info,
            DropReason.DISCONNECTED,
            DropStage.CLIENT,
            0.0,
            outcome.failure,
        )
        self.count(dropped)
        pending.outcome = dropped
        self._kept_drops += 1
        if self._kept_drops > DROP_LIMIT:
            self._merge(pending, dropped)

    def _merge(self, pending: Pending, outcome: Dropped) -> None:
        """Replaces a dropped frame by a part of a run. It is near the end of the queue."""
        queue = self._queue
        index = len(queue) - 1
        while index >= 0 and queue[index] is not pending:
            index -= 1
        if index < 0:
            return
        self._kept_drops -= 1
        previous = queue[index - 1] if index else None
        if (
            type(previous) is _Run
            and previous.last + 1 == pending.sequence
            and previous.reason is outcome.reason
            and previous.stage is outcome.stage
        ):
            previous.last = pending.sequence
            del queue[index]
        else:
            queue[index] = _Run(pending.sequence, outcome.reason, outcome.stage)

    # Taking

    @property
    def is_ready(self) -> bool:
        """Whether an outcome can be taken."""
        queue = self._queue
        return bool(queue) and (type(queue[0]) is _Run or queue[0].outcome is not None)

    @property
    def is_empty(self) -> bool:
        """Whether no outcome is due."""
        return not self._queue

    def take(self) -> Optional[Any]:
        """Returns the next frame with its outcome; `None` if there is none now."""
        queue = self._queue
        if not queue:
            return None
        head = queue[0]
        if type(head) is _Run:
            pending = Pending(head.first, None, _NO_INFO, 0.0, None)
            pending.outcome = Dropped(head.first, _NO_INFO, head.reason, head.stage)
            if head.first == head.last:
                queue.popleft()
            else:
                head.first += 1
            return pending
        if head.outcome is None:
            return None
        queue.popleft()
        if not head.holds_credit:
            if type(head.outcome) is Dropped:
                self._kept_drops -= 1
            elif self._fallbacks and self._fallbacks[0] is head:
                self._fallbacks.popleft()
        return head

    @property
    def credits(self) -> int:
        """The number of outcomes that hold a credit until they are taken."""
        return sum(type(each) is Pending and each.holds_credit for each in self._queue)

    def take_all(self) -> list[Any]:
        """Returns all frames that can be taken."""
        taken: list[Any] = []
        while True:
            pending = self.take()
            if pending is None:
                return taken
            taken.append(pending)

    def counts(self) -> Counts:
        """Returns the counts so far."""
        dropped = dict(self.dropped)
        done = self.filtered + self.passed_through + self.degraded + sum(dropped.values())
        return Counts(
            self.received,
            self.filtered,
            self.passed_through,
            self.degraded,
            dropped,
            self.received - done,
        )


class _AbandonedWaiter:
    """The waiter of a caller that gave up: outcomes are released."""

    def resolve(self, outcome: Any) -> None:
        """Releases an outcome."""
        outcome.release()


#: The waiter of frames whose outcome is no longer wanted.
ABANDONED = _AbandonedWaiter()
