"""The frames of an iterable, filtered: a thread that sends, and a generator of outcomes."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, Optional

from ._core.blocking import Waiter
from ._core.machine import CAPACITY
from .outcomes import Outcome

#: The seconds after which the thread looks whether outcomes are still wanted.
_CHECK_INTERVAL = 0.5


def filter_all(session: Any, frames: Iterable[Any]) -> Iterator[Outcome]:
    """Yields the outcomes of frames; see `Session.filter_all`."""
    session._ensure_open()
    capacity = max(1, session._machine.window.capacity)
    waiting: queue.Queue[Any] = queue.Queue(capacity)
    stopped = threading.Event()

    def put(item: Any) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=_CHECK_INTERVAL)
                return True
            except queue.Full:
                continue
        return False

    def send() -> None:
        error: Optional[BaseException] = None
        try:
            for frame in frames:
                session._wait(CAPACITY, None)
                if stopped.is_set():
                    return
                waiter = Waiter()
                pending = session._offer(frame, waiter)
                if not put((pending, waiter)):
                    session._discard(pending, waiter)
                    return
        except BaseException as failure:  # Raised to the caller, after the outcomes.
            error = failure
        put(error)

    sender = threading.Thread(target=send, name="sidelight frames", daemon=True)
    sender.start()
    try:
        while True:
            try:
                # The limit lets a waiting main thread handle an interrupt.
                item = waiting.get(timeout=_CHECK_INTERVAL)
            except queue.Empty:
                continue
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            item[1].wait()
            yield item[1].value
    finally:
        stopped.set()
        while not waiting.empty():
            item = waiting.get_nowait()
            if isinstance(item, tuple):
                session._discard(*item)
