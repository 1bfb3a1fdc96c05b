"""The order of encoded video in front of the socket: which frames may be left out. A pure state
machine.

Frames of predicted video depend on each other, so a frame that waits cannot be replaced by a newer
one, except by a key frame. Frames on which no other depends can. If too many wait, newer ones are
dropped up to the next key frame, which the application is asked for: a stream is never broken
without its notice.

A server without time drops disposable frames first. Then most of them are left out here, where they
cost it nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from ..events import KeyFrameReason
from ..images import EncodedImage
from ..outcomes import Dropped, DropReason
from .delivery import Pending

#: The frames of encoded video that may wait to be sent.
WAITING_LIMIT = 8
#: The shortest time between two requests for a key frame, in seconds; the server's is the same.
REQUEST_INTERVAL = 0.5
#: The most disposable frames that are left out before one is tried again.
LEFT_OUT_LIMIT = 16
#: The reasons of a server that has no time for a frame.
_NO_TIME = (
    DropReason.SUPERSEDED,
    DropReason.QUEUE_FULL,
    DropReason.LATE_ON_ARRIVAL,
    DropReason.LATE_IN_PIPELINE,
    DropReason.LATE_ON_OUTPUT,
    DropReason.NO_CREDIT,
)


def encoded(pending: Pending) -> Optional[EncodedImage]:
    """Returns a frame's picture if it is encoded video."""
    image = pending.frame.image
    return image if isinstance(image, EncodedImage) else None


class References:
    """The frames of one session that were offered and sent."""

    def __init__(self) -> None:
        #: Whether the last offered frame is encoded video.
        self.is_used = False
        self._has_overflowed = False
        #: The reason why only a key frame can be sent, if any.
        self._missing: Optional[KeyFrameReason] = KeyFrameReason.START
        #: The last sequence that was sent.
        self._last = 0
        #: The last sent frame of encoded video that others may depend on.
        self._last_reference = 0
        self._requested: Optional[float] = None
        self._reset_trial()

    def _reset_trial(self) -> None:
        #: The disposable frame whose outcome decides about the next ones; `None` if none was sent.
        self._tried: Optional[int] = None
        #: The disposable frames that are left out after that outcome, and those that remain.
        self._interval = 0
        self._remaining = 0

    def reset(self) -> None:
        """Records a new connection, whose stream begins with a key frame."""
        self._has_overflowed = False
        self._missing = KeyFrameReason.START
        self._requested = None
        self._reset_trial()

    # Offering

    def replaced(self, waiting: Sequence[Pending], pending: Pending) -> list[Any]:
        """Returns the waiting frames that a new frame replaces: no later one depends on them."""
        image = encoded(pending)
        self.is_used = image is not None
        if image is not None and image.is_key_frame:
            self._has_overflowed = False
            return list(waiting)
        replaced = []
        for each in waiting:
            other = encoded(each)
            if other is None or (other.is_disposable and not other.is_key_frame):
                replaced.append(each)
        return replaced

    def accepts(self, pending: Pending, waiting: int) -> bool:
        """Whether a frame can wait behind `waiting` others. A frame that cannot breaks the stream
        up to the next key frame, unless it is disposable."""
        image = encoded(pending)
        if image is None or image.is_key_frame:
            return True
        if self._has_overflowed:
            return False
        if waiting < WAITING_LIMIT:
            return True
        self._has_overflowed = not image.is_disposable
        return False

    def leaves_out(self, pending: Pending) -> bool:
        """Whether a frame is left out: no other depends on it, the server had no time for the last
        such frame, and it need not be processed."""
        image = encoded(pending)
        if not self._remaining or image is None or image.is_key_frame or not image.is_disposable:
            return False
        if pending.frame.must_process:
            return False
        self._remaining -= 1
        return True

    def lose(self) -> None:
        """Records that a frame is missing, on which the next ones up to a key frame depend."""
        self._has_overflowed = True

    # Sending

    def missing(self, pending: Pending) -> Optional[KeyFrameReason]:
        """Returns the reason why a frame cannot be sent before a key frame, if there is one."""
        image = encoded(pending)
        return None if image is None or image.is_key_frame else self._missing

    def dependencies(self, pending: Pending) -> Sequence[int]:
        """Returns the frames that a frame states to depend on, in front of its sending.

        The server takes a gap in the sequence for a loss, unless the frame states otherwise.
        """
        image = encoded(pending)
        if image is None or image.is_key_frame:
            return ()
        if image.depends_on or pending.sequence == self._last + 1:
            return image.depends_on
        return (self._last_reference,)

    def record_sent(self, pending: Pending) -> None:
        """Records that a frame was sent."""
        self._last = pending.sequence
        image = encoded(pending)
        if image is None:
            return
        if image.is_key_frame:
            self._missing = None
        if image.is_key_frame or not image.is_disposable:
            self._last_reference = pending.sequence
        elif self._tried is None and not pending.frame.must_process:
            # Those come back from a busy server too.
            self._tried = pending.sequence

    def record_outcome(self, sequence: int, outcome: Any) -> None:
        """Records the outcome of a frame that was sent."""
        if sequence != self._tried:
            return
        self._tried = None
        if type(outcome) is Dropped and outcome.reason in _NO_TIME:
            self._interval = min(max(1, 2 * self._interval), LEFT_OUT_LIMIT)
        else:
            self._interval = 0
        self._remaining = self._interval

    def record_unsent(self, pending: Pending) -> None:
        """Records that a frame could not be sent."""
        image = encoded(pending)
        if image is not None and (image.is_key_frame or not image.is_disposable):
            self._missing = self._missing or KeyFrameReason.DROPPED

    def may_request(self, now: float) -> bool:
        """Whether a key frame is requested now; so the caller requests it."""
        if self._requested is not None and now - self._requested < REQUEST_INTERVAL:
            return False
        self._requested = now
        return True
