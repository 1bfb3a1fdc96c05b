"""Waiting in threads."""

from __future__ import annotations

import _thread
from typing import Any, Optional


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
            return self._lock.acquire()
        return self._lock.acquire(timeout=max(0.0, min(timeout, _thread.TIMEOUT_MAX)))
