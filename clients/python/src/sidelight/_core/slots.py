"""The owner of every slot of a ring, as the client sees it. A pure state machine."""

from __future__ import annotations

from collections import deque
from typing import Optional


class Slots:
    """The slots of one ring.

    An input slot is free when neither a frame in flight nor a picture of the client uses it. An
    output slot belongs to the client from the outcome that names it, and is held while a picture of
    the client uses it.

    `returned` takes the slots of pictures that are gone. It may be appended to by any thread and
    from a garbage collection, at any time; all other members need the session's lock.
    """

    def __init__(self, input_slots: int, output_slots: int) -> None:
        self.input_slots = input_slots
        self.output_slots = output_slots
        #: Slots, with the sequence of the frame for output slots and -1 for input slots.
        self.returned: deque[tuple[int, int]] = deque()
        self._lent = [False] * input_slots
        self._sequences: list[Optional[int]] = [None] * input_slots
        #: The output slots whose pictures are still used, with their frames.
        self._held: dict[int, int] = {}
        #: Output slots that were received since the last acknowledgement, or listed in it.
        self._unacknowledged = 0
        self._newest = 0

    def collect(self) -> None:
        """Takes back the slots of pictures that are gone."""
        returned = self.returned
        while returned:
            slot, sequence = returned.popleft()
            if sequence < 0:
                self._lent[slot] = False
            elif self._held.get(slot) == sequence:
                del self._held[slot]

    # Input slots

    def lend(self) -> Optional[int]:
        """Lends the first free slot, until it is in `returned`; `None` if all are in use."""
        self.collect()
        for slot in range(self.input_slots):
            if not self._lent[slot] and self._sequences[slot] is None:
                self._lent[slot] = True
                return slot
        return None

    def send(self, slot: int, sequence: int) -> bool:
        """Records that a frame is about to name the slot; `False` if one in flight names it."""
        if self._sequences[slot] is not None:
            return False
        self._sequences[slot] = sequence
        return True

    def settle(self, first: int, last: int) -> None:
        """Records that frames have their outcomes. Their slots belong to the client again."""
        sequences = self._sequences
        for slot in range(self.input_slots):
            sequence = sequences[slot]
            if sequence is not None and first <= sequence <= last:
                sequences[slot] = None

    # Output slots

    def receive(self, slot: int, sequence: int) -> None:
        """Records that a picture arrived in an output slot."""
        self._held[slot] = sequence
        self._unacknowledged += 1
        self._newest = max(self._newest, sequence)

    def acknowledgement(self, needed: int) -> Optional[tuple[int, tuple[int, ...]]]:
        """Returns the newest received frame and the slots that are still held, if the server may
        have fewer free slots than `needed` and some are unused; otherwise `None`.

        A message per picture would double the number of messages.
        """
        if self.output_slots - self._unacknowledged >= needed:
            return None
        self.collect()
        if len(self._held) == self._unacknowledged:
            return None
        return self._newest, self.held()

    def held(self) -> tuple[int, ...]:
        """Returns the slots that are still held, to be listed in an acknowledgement."""
        self.collect()
        self._unacknowledged = len(self._held)
        return tuple(sorted(self._held))
