"""The shared memory of a session: its descriptor, and views of its slots.

A view is a `memoryview` of bytes. The slot is given back when the view and everything that was made
from it (planes, arrays) are gone.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import sys
import weakref
from collections import deque
from typing import Any, Optional

if sys.platform == "linux":
    import fcntl

    _SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW

__all__ = ["Ring", "fetch", "is_supported"]

#: The time limit of every step on the descriptor socket, in seconds.
TIMEOUT = 2.0
_VERSION = b"\x01"
_BUSY = b"\x03"
_ATTEMPTS = 3

is_supported = sys.platform == "linux" and hasattr(socket, "recv_fds")


class Ring:
    """The mapped slots of a session: input slots, then output slots.

    The memory stays mapped until the ring and the last view are gone.
    """

    def __init__(
        self, memory: mmap.mmap, input_slots: int, output_slots: int, slot_bytes: int
    ) -> None:
        self.input_slots = input_slots
        self.output_slots = output_slots
        self.slot_bytes = slot_bytes
        self._memory = memory
        self._kinds: dict[int, Any] = {}
        self._guards: dict[int, weakref.ref[Any]] = {}

    def view(
        self, slot: int, length: int, sequence: int, returned: deque[tuple[int, int]]
    ) -> memoryview:
        """Returns the first bytes of a slot, to read and write in place.

        When the view and everything made from it are gone, `(slot, sequence)` is appended to
        `returned`, by any thread.
        """
        kind = self._kinds.get(length)
        if kind is None:
            if len(self._kinds) >= 64:
                self._kinds.clear()
            kind = _slot_type(length)
            self._kinds[length] = kind
        # Views of an exporter refer to it, and it knows when the last of them is gone.
        exporter = kind.from_buffer(self._memory, slot * self.slot_bytes)
        exporter.slot = slot
        exporter.ring = self
        guards, key = self._guards, id(exporter)

        def give_back(_: object) -> None:
            del guards[key]
            returned.append((slot, sequence))

        guards[key] = weakref.ref(exporter, give_back)
        return memoryview(exporter).cast("B")

    def input_slot(self, view: memoryview) -> Optional[int]:
        """Returns the input slot of which a view shows the pixels; `None` if there is none."""
        exporter: Any = view.obj
        if getattr(exporter, "ring", None) is not self or view.nbytes != ctypes.sizeof(exporter):
            return None
        slot: int = exporter.slot
        return slot if slot < self.input_slots else None


def _slot_type(length: int) -> Any:
    """Returns a type of bytes in a slot, whose instances take attributes."""
    return type("SlotBytes", (ctypes.c_ubyte * length,), {})


def fetch(offer: Any, session_id: str) -> Ring:
    """Returns the ring of a `SharedMemoryOffer`. Blocks for a few seconds at most.

    Raises `OSError` if the ring is not available; pixels then travel inline.
    """
    name = session_id.encode()
    slots = offer.input_slots + offer.output_slots
    size = offer.slot_bytes * slots
    if len(offer.token) != 32 or len(name) > 255 or not 0 < slots <= 128 or not 0 < size < 1 << 62:
        raise OSError("the server offers an invalid ring")
    descriptor = _fetch_descriptor(offer.socket_path, offer.token, name)
    try:
        # Memory that shrinks would end this process when it is read.
        if fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _SEALS != _SEALS:
            raise OSError("the ring is not sealed")
        if os.fstat(descriptor).st_size < size:
            raise OSError("the ring is shorter than its slots")
        memory = mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)
    return Ring(memory, offer.input_slots, offer.output_slots, offer.slot_bytes)


def _fetch_descriptor(path: str, token: bytes, name: bytes) -> int:
    answer = b""
    for _ in range(_ATTEMPTS):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(TIMEOUT)
            connection.connect(path)
            connection.sendall(_VERSION + token + bytes((len(name),)) + name)
            answer, descriptors, *_ = socket.recv_fds(connection, 1, 1)
        if answer == b"\x00" and descriptors:
            return descriptors[0]
        for descriptor in descriptors:
            os.close(descriptor)
        if answer != _BUSY:
            break
    raise OSError(f"the server refuses the ring: {answer!r}")
