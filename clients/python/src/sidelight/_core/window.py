"""The messages that wait to be sent: frames wait for a credit, and the newest replaces the one that
waits. A pure state machine.

Messages are sent in order, so a change applies to the frames after it. A frame at the head waits
for a credit. Pings overtake it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional, Union

from ..errors import make_error
from ..v1 import session_pb2
from .changes import Entry
from .encoders import encode_encoder

#: The number of changes that may wait behind a frame; further ones are refused.
CONTROL_LIMIT = 64

# The states of the link.
NONE, OPENING, OPEN, DRAINING = range(4)


class PauseRequest(NamedTuple):
    """A message that pauses filtering, or ends a pause."""

    #: Whether frames pass through; `None` ends the pause.
    pass_through: Optional[bool]

    def encode(self) -> bytes:
        """Returns the message to send."""
        if self.pass_through is None:
            return session_pb2.ClientMessage(resume=session_pb2.Resume()).SerializeToString()
        pause = session_pb2.Pause(pass_through=self.pass_through)
        return session_pb2.ClientMessage(pause=pause).SerializeToString()


class Acknowledgement(NamedTuple):
    """The number up to which results have been taken."""

    sequence: int
    #: The name of the output; empty for the session's results.
    output: str = ""


class EncoderChange(NamedTuple):
    """A message that changes the encoder of the results."""

    message: session_pb2.SetEncoder

    def encode(self) -> bytes:
        """Returns the message to send."""
        return encode_encoder(self.message)


class RawMessage(NamedTuple):
    """A message that is encoded already."""

    data: bytes


Control = Union[Entry, PauseRequest, EncoderChange, RawMessage]


class Unsent(NamedTuple):
    """The messages that a lost connection leaves behind."""

    waiting: list[Any]
    controls: list[Control]
    is_kept: bool


class Window:
    """The queue of outgoing messages.

    - `newest_wins`: Whether a newer frame replaces the one that waits. Otherwise at most one waits,
      also for the next connection.
    - `limit`: The client's own limit of frames in flight; `None` for the server's alone.
    """

    def __init__(self, newest_wins: bool, limit: Optional[int] = None) -> None:
        self.newest_wins = newest_wins
        self._limit = limit
        self._queue: deque[Any] = deque()
        self._urgent: deque[bytes] = deque()
        self._controls = 0
        #: The newest result to acknowledge; `None` if none is due.
        self.acknowledgement: Optional[int] = None
        #: The newest result to acknowledge of named outputs.
        self.output_acknowledgements: dict[str, int] = {}
        #: Whether frames wait until outcomes of named outputs are taken.
        self.is_held = False
        #: The frames that wait, which are in the queue: one, or several of encoded video.
        self.waiting: deque[Any] = deque()
        self.link = NONE
        self.capacity = 0
        self.outstanding = 0
        self.is_finished = False
        self._is_abandoned = False

    # Offering

    @property
    def has_capacity(self) -> bool:
        """Whether an offered frame is refused, or accepted without displacing another."""
        if self.is_finished:
            return True
        if self.newest_wins and self.link != OPEN:
            return True
        return not self.waiting and (not self.newest_wins or self.outstanding < self.capacity)

    def push_frame(self, frame: Any, replaced: Iterable[Any] = ()) -> None:
        """Adds a frame, and removes those that it replaces."""
        for each in replaced:
            self._queue.remove(each)
            self.waiting.remove(each)
        self.waiting.append(frame)
        self._queue.append(frame)

    def require_space(self) -> None:
        """Raises `ResourceExhausted` if a change would have to wait, and no more may."""
        if self.keeps and self._controls >= CONTROL_LIMIT:
            raise make_error(
                "RESOURCE_EXHAUSTED",
                f"{CONTROL_LIMIT} changes wait to be sent; it must be fewer. Take outcomes, so "
                "that frames before them can be sent",
                limit=str(CONTROL_LIMIT),
            )

    @property
    def last_entry(self) -> Optional[Entry]:
        """The change at the end of the queue; `None` if something else is there."""
        last = self._queue[-1] if self._queue else None
        return last if isinstance(last, Entry) else None

    @property
    def last_encoder_change(self) -> Optional[EncoderChange]:
        """The change of an encoder at the end of the queue; `None` if something else is there."""
        last = self._queue[-1] if self._queue else None
        return last if isinstance(last, EncoderChange) else None

    def replace_last(self, request: PauseRequest) -> bool:
        """Replaces a message of the same kind at the end of the queue; returns whether there was
        one."""
        is_same = bool(self._queue) and type(self._queue[-1]) is type(request)
        if is_same:
            self._queue[-1] = request
        return is_same

    def push(self, control: Control) -> None:
        """Adds a message after those that wait."""
        if not self.is_finished:
            self._queue.append(control)
            self._controls += 1

    def push_urgent(self, data: bytes) -> None:
        """Adds a message that overtakes a waiting frame; equal ones wait once."""
        if self.link in (OPEN, DRAINING) and data not in self._urgent:
            self._urgent.append(data)

    def finish(self) -> None:
        """Refuses further messages; those that wait are still sent."""
        self.is_finished = True

    def abandon(self) -> None:
        """Refuses further messages, and discards those that wait when the link closes."""
        self.is_finished = self._is_abandoned = True

    @property
    def is_drained(self) -> bool:
        """Whether messages are refused and the queue is empty."""
        return self.is_finished and not self._queue

    @property
    def keeps(self) -> bool:
        """Whether a message that is added now waits to be sent."""
        return self.link == OPEN or not self.newest_wins

    # The link

    def open(self, capacity: int, first: list[bytes]) -> None:
        """Records that the connection is open, with messages to send before all others."""
        self.link = OPEN
        granted = max(1, capacity)
        self.capacity = granted if self._limit is None else min(granted, self._limit)
        for data in reversed(first):
            self._queue.appendleft(RawMessage(data))
            self._controls += 1

    def drain(self) -> None:
        """Records that the server accepts no more frames."""
        if self.link == OPEN:
            self.link = DRAINING

    def close(self) -> Unsent:
        """Records that the connection is lost. If frames may be dropped, all are discarded."""
        self.link = NONE
        self._urgent.clear()
        self.acknowledgement = None
        self.output_acknowledgements.clear()
        keeps = not self.newest_wins and not self._is_abandoned
        waiting, queue = list(self.waiting), self._queue
        # Messages that repeat changes are made again for the next connection.
        controls: list[Control] = [
            each for each in queue if isinstance(each, (Entry, PauseRequest))
        ]
        if keeps:
            repeated = RawMessage, EncoderChange
            self._queue = deque(each for each in queue if not isinstance(each, repeated))
            self._controls = len(controls)
            return Unsent(waiting, [], True)
        self._queue = deque()
        self._controls = 0
        self.waiting.clear()
        return Unsent(waiting, controls, False)

    # Sending

    @property
    def is_ready(self) -> bool:
        """Whether `next()` returns a message, or `is_over` is true."""
        if self.link in (NONE, OPENING):
            return self.link == NONE
        if self._urgent or self.acknowledgement is not None or self.output_acknowledgements:
            return True
        if self.link == DRAINING:
            return False
        if not self._queue:
            return self.is_finished
        return not self._is_frame(self._queue[0]) or self._may_send

    @property
    def is_over(self) -> bool:
        """Whether the last message was sent on this connection."""
        return self.link == NONE or (self.link == OPEN and self.is_drained and not self._urgent)

    @property
    def _may_send(self) -> bool:
        return self.outstanding < self.capacity and not self.is_held

    def _is_frame(self, element: Any) -> bool:
        return bool(self.waiting) and element is self.waiting[0]

    def next(self) -> Any:
        """Returns the next message; `None` if there is none now."""
        if self.link in (NONE, OPENING):
            return None
        if self.acknowledgement is not None:
            acknowledgement, self.acknowledgement = Acknowledgement(self.acknowledgement), None
            return acknowledgement
        if self.output_acknowledgements:
            output, sequence = self.output_acknowledgements.popitem()
            return Acknowledgement(sequence, output)
        if self._urgent:
            return RawMessage(self._urgent.popleft())
        queue = self._queue
        if self.link == DRAINING or not queue:
            return None
        head = queue[0]
        if self._is_frame(head):
            if not self._may_send:
                return None
            self.outstanding += 1
            self.waiting.popleft()
        else:
            self._controls -= 1
        return queue.popleft()
