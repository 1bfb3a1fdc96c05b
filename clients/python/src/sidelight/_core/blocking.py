"""Waiting in threads."""

from __future__ import annotations

import _thread
from typing import Any, Optional


# The longest time in seconds until a waiting main thread handles a signal.
_SIGNAL_INTERVAL = 0.5


class Waiter:
    """A thread that waits for one value."""

    __slots__ = ("_lock", "value")

    def __init__(self) -> None:
        self._lock = _thread.allocate_lock()
        self._lock.acquire()
        self.value: Any = None

    def resolve(self, value: Any) -> None:
        """Sets the value. Called once."""
        self.value = value
        self._lock.release()

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Returns whether the value is set, at the latest after a number of seconds."""
        if timeout is None:
            # The system may deliver a signal, such as an interrupt, to another thread. Python then
            # handles it in the main thread, once that thread runs.
            while not self._lock.acquire(timeout=_SIGNAL_INTERVAL):
                pass
            return True
        return self._lock.acquire(timeout=max(0.0, min(timeout, _thread.TIMEOUT_MAX)))
