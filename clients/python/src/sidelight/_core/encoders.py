"""The requested changes of the encoders of results and of the composition: those that the server has
accepted, and those that it has not answered. A pure state machine.

A port of Sources/Client/Session/EncoderChangeLog.swift.
"""

from __future__ import annotations

from typing import Optional

from ..v1 import session_pb2

#: The numbers of these changes begin here; changes of the pipeline have smaller ones.
_FIRST_REQUEST = 1 << 63


class EncoderLog:
    """The changes by output, of which fields that are 0 keep their values."""

    def __init__(self, composition: Optional[session_pb2.Composition] = None) -> None:
        #: The composition that a new connection is opened with; `None` without one.
        self.composition = composition
        self._compositions: list[session_pb2.SetComposition] = []
        self._accepted: dict[str, session_pb2.SetEncoder] = {}
        self._unanswered: list[session_pb2.SetEncoder] = []
        self._next_id = _FIRST_REQUEST

    def complete(self, change: session_pb2.SetEncoder) -> bool:
        """Adds the other half of a size, and removes a size that was requested before; returns
        whether something is left to change."""
        if change.width or change.height:
            width, height = self._size(change.output)
            size = change.width or width, change.height or height
            if size == (width, height):
                size = 0, 0
            change.width, change.height = size
        return bool(change.bit_rate or change.frame_rate or change.width or change.height)

    def _size(self, output: str) -> tuple[int, int]:
        """The size that was requested last."""
        changes = [each for each in (self._accepted.get(output), *self._unanswered) if each]
        for each in reversed(changes):
            if each.output == output and (each.width or each.height):
                return each.width, each.height
        return 0, 0

    def record(self, change: session_pb2.SetEncoder, is_sent: bool) -> None:
        """Records a change, and sets its number.

        - `is_sent`: Whether it is sent on this connection. Otherwise the next one begins with it,
          and it replaces changes of the same fields.
        """
        change.request_id = self._next_id
        self._next_id += 1
        if not is_sent:
            self._unanswered = [each for each in self._unanswered if not _replaces(change, each)]
        self._unanswered.append(change)

    def record_composition(self, composition: session_pb2.Composition) -> bytes:
        """Records a change of the composition; returns the message to send."""
        change = session_pb2.SetComposition(composition=composition, request_id=self._next_id)
        self._next_id += 1
        self._compositions.append(change)
        return _encode_composition(change)

    def resolve(self, request_id: int, is_accepted: bool) -> bool:
        """Records the server's answer; returns whether the number is of a change that is
        recorded here."""
        for each in self._compositions:
            if each.request_id == request_id:
                self._compositions.remove(each)
                if is_accepted:
                    self.composition = each.composition
                break
        for change in self._unanswered:
            if change.request_id == request_id:
                self._unanswered.remove(change)
                if is_accepted:
                    merge(self._accepted.setdefault(change.output, change), change)
                break
        return request_id >= _FIRST_REQUEST

    def replay(self) -> list[bytes]:
        """Returns the messages that a new connection begins with."""
        messages = []
        for accepted in self._accepted.values():
            accepted.request_id = 0
            messages.append(accepted)
        encoders = [encode_encoder(each) for each in messages + self._unanswered]
        return encoders + [_encode_composition(each) for each in self._compositions]


def merge(change: session_pb2.SetEncoder, later: session_pb2.SetEncoder) -> None:
    """Adds a later change of the same output to one."""
    change.bit_rate = later.bit_rate or change.bit_rate
    change.frame_rate = later.frame_rate or change.frame_rate
    if later.width or later.height:
        change.width, change.height = later.width, later.height


def encode_encoder(change: session_pb2.SetEncoder) -> bytes:
    """Returns the message to send."""
    return session_pb2.ClientMessage(set_encoder=change).SerializeToString()


def _encode_composition(change: session_pb2.SetComposition) -> bytes:
    return session_pb2.ClientMessage(set_composition=change).SerializeToString()


def _replaces(later: session_pb2.SetEncoder, change: session_pb2.SetEncoder) -> bool:
    """Whether a change sets all that an earlier one does."""
    return (
        later.output == change.output
        and (not change.bit_rate or bool(later.bit_rate))
        and (not change.frame_rate or bool(later.frame_rate))
        and (not (change.width or change.height) or bool(later.width or later.height))
    )
