"""The changes of a session's pipeline: what is selected, what the server has not answered, and what
is requested again after a lost connection. A pure state machine."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any, Optional

from ..errors import SidelightError
from ..v1 import session_pb2
from .protection import EVERYTHING, NOTHING
from .selection import Selection, merge_update


class ChangeRecord:
    """The answers to one requested change, and those who wait for them."""

    __slots__ = ("request_id", "revision", "first_sequence", "error", "waiters", "__weakref__")

    def __init__(self, request_id: int) -> None:
        self.request_id = request_id
        #: The revision that includes the change; `None` until it is accepted.
        self.revision: Optional[int] = None
        #: The first frame that was filtered using the change; `None` until it is applied.
        self.first_sequence: Optional[int] = None
        #: The reason why it was refused; `None` if it was not.
        self.error: Optional[SidelightError] = None
        #: Pairs of whether the waiter waits for `applied`, and the waiter.
        self.waiters: list[Any] = []


class Entry:
    """A change that is not in force yet."""

    __slots__ = ("request_id", "message", "is_conditional", "is_sent", "is_accepted", "records")

    def __init__(self, request_id: int, message: Any, is_conditional: bool) -> None:
        self.request_id = request_id
        #: A `Select`, an `Update` or an `Activate`.
        self.message = message
        self.is_conditional = is_conditional
        self.is_sent = False
        self.is_accepted = False
        #: The record of every call that this change contains.
        self.records: weakref.WeakSet[ChangeRecord] = weakref.WeakSet()

    def encode(self) -> bytes:
        """Returns the message to send."""
        self.message.request_id = self.request_id
        return encode_change(self.message)


class ChangeLog:
    """The selection that is known to be in force, and the changes since.

    - `select`: The first selection.
    - `token`: The token of an earlier session, whose pipeline is in force instead. The client does
      not know it, so it counts as protecting until another one is in force.
    """

    #: The number of unanswered changes beyond which the oldest counts as accepted.
    LIMIT = 64

    def __init__(self, select: session_pb2.Select, token: bytes = b"") -> None:
        self._confirmed = Selection(select)
        self._entries: deque[Entry] = deque()
        self._next_id = 1
        #: The last change that counts as accepted without an answer, and so is in no token.
        self._folded_id = 0
        self._folded: weakref.WeakSet[ChangeRecord] = weakref.WeakSet()
        #: The parts that a lost change, or the pipeline of an earlier session, may hide.
        self._undecided: frozenset[str] = EVERYTHING if token else NOTHING
        #: Whether a change took effect that the session's next connection does not know.
        self._has_newer_changes = False
        #: The newest token.
        self.token = token
        #: Whether `selection` replaces a token that the server refuses.
        self.can_drop_token = not token or not _is_empty(select)

    # Requests

    def can_merge(self, message: Any, is_conditional: bool, last: Optional[Entry]) -> bool:
        """Whether a change can be merged into the last one that waits to be sent: an update that
        follows an update with the same glide, so a slider does not fill the queue."""
        return (
            last is not None
            and not is_conditional
            and not last.is_conditional
            and not last.is_sent
            and isinstance(message, session_pb2.Update)
            and isinstance(last.message, session_pb2.Update)
            and message.HasField("glide") == last.message.HasField("glide")
            and message.glide == last.message.glide
            and bool(self._entries)
            and self._entries[-1] is last
        )

    def record(
        self, message: Any, is_conditional: bool, mergeable: Optional[Entry]
    ) -> tuple[Optional[Entry], ChangeRecord]:
        """Records a change; returns its entry and its record.

        - `mergeable`: An entry that `can_merge` says the change can be merged into; `None` for a
          separate one. There is no new entry then.
        """
        record = ChangeRecord(self._next_id)
        self._next_id += 1
        if mergeable is not None:
            merge_update(mergeable.message, message)
            mergeable.request_id = record.request_id
            mergeable.records.add(record)
            return None, record
        entry = Entry(record.request_id, message, is_conditional)
        entry.records.add(record)
        self._entries.append(entry)
        if len(self._entries) > self.LIMIT:
            before = self.protection
            oldest = self._entries.popleft()
            self._confirm(oldest.message)
            self._folded_id = oldest.request_id
            self._folded |= oldest.records
            if self.protection != before:
                self._undecided = before
        return entry, record

    # Answers

    def accept(self, request_id: int) -> Iterator[ChangeRecord]:
        """Records that the server accepted a change; yields its records."""
        for entry in self._entries:
            if entry.request_id == request_id:
                entry.is_accepted = True
                yield from list(entry.records)
                return
        yield from [each for each in self._folded if each.request_id == request_id]

    def apply(self, request_id: int) -> Iterator[ChangeRecord]:
        """Records that a change and all before it are in force; yields their records."""
        if request_id >= self._folded_id > 0:
            self._folded_id = 0
            yield from list(self._folded)
            self._folded.clear()
        while self._entries and self._entries[0].request_id <= request_id:
            entry = self._entries.popleft()
            self._has_newer_changes = True
            self._confirm(entry.message)
            if isinstance(entry.message, session_pb2.Select):
                self._undecided = NOTHING
            yield from list(entry.records)

    def _confirm(self, message: Any) -> None:
        self._confirmed.apply(message)
        if isinstance(message, session_pb2.Select):
            self.can_drop_token = True

    def reject(self, request_id: int) -> Iterator[ChangeRecord]:
        """Removes a change that the server refused; yields its records."""
        for entry in list(self._entries):
            if entry.request_id == request_id:
                self._entries.remove(entry)
                yield from list(entry.records)
                return

    def start(self) -> None:
        """Records that a connection is being opened with the newest token."""
        self._has_newer_changes = False

    @property
    def are_repeatable(self) -> bool:
        """Whether all changes that are not in force can be requested again on another connection."""
        return not any(map(_is_undecidable, self._entries))

    def lose(self) -> list[Entry]:
        """Removes and returns the changes that a lost connection makes undecidable."""
        lost = [each for each in self._entries if _is_undecidable(each)]
        if lost:
            self._undecided = self.protection
            for entry in lost:
                self._entries.remove(entry)
        return lost

    def records(self) -> Iterator[ChangeRecord]:
        """Yields the records of all changes that are not in force."""
        yield from list(self._folded)
        for entry in self._entries:
            yield from list(entry.records)

    # State

    def selection(self) -> session_pb2.Select:
        """Returns the selection to open a session with if no token restores it."""
        return self._confirmed.select

    def replay(self, is_resumed: bool) -> list[bytes]:
        """Returns the messages that request again, on a new connection, what it does not know."""
        messages = []
        newer = self._has_newer_changes
        for message in self._confirmed.messages():
            if isinstance(message, session_pb2.Select):
                is_known = not newer or not self.can_drop_token
            else:
                is_known = is_resumed and not newer
            if self._folded_id or not is_known:
                message.request_id = self._folded_id
                messages.append(encode_change(message))
        for entry in self._entries:
            if entry.is_sent:
                if entry.is_conditional:
                    entry.message.ClearField("if_revision")
                messages.append(entry.encode())
        return messages

    @property
    def protection(self) -> frozenset[str]:
        """The parts of frames that the pipeline may hide, an operator's override aside.

        A protection counts from the request of a change until a change that ends it is in force.
        """
        hidden = self._confirmed.protection | self._undecided
        if self._entries:
            selection = self._confirmed.copy()
            for entry in self._entries:
                selection.apply(entry.message)
                hidden |= selection.protection
        return hidden


def _is_undecidable(entry: Entry) -> bool:
    """Whether a change required a revision, was sent and is not answered, so it must not be requested
    twice."""
    return entry.is_sent and entry.is_conditional and not entry.is_accepted


def _is_empty(select: session_pb2.Select) -> bool:
    return not select.pipeline_text and not select.pipeline.stages


def encode_change(message: Any) -> bytes:
    """Returns a `ClientMessage` with a `Select`, an `Update` or an `Activate`."""
    if isinstance(message, session_pb2.Select):
        return session_pb2.ClientMessage(select=message).SerializeToString()
    if isinstance(message, session_pb2.Update):
        return session_pb2.ClientMessage(update=message).SerializeToString()
    return session_pb2.ClientMessage(activate=message).SerializeToString()
