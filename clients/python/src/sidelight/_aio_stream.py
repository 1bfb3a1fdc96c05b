"""The frames of an iterable, filtered: a task that sends, and a generator of outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Optional

from ._aio_waiter import Waiter
from ._core.machine import CAPACITY
from .outcomes import Outcome


async def filter_all(session: Any, frames: Any) -> AsyncIterator[Outcome]:
    """Yields the outcomes of frames; see `Session.filter_all`."""
    await session._ensure_open()
    capacity = max(1, session._machine.window.capacity)
    # Bounded by the number of free places, so the end of the frames never waits for one.
    waiting: asyncio.Queue[Any] = asyncio.Queue()
    places = asyncio.Semaphore(capacity)

    async def send() -> None:
        error: Optional[BaseException] = None
        try:
            async for frame in _each(frames):
                await session._wait(CAPACITY, None)
                waiter = Waiter()
                pending = await session._offer(frame, waiter)
                try:
                    await places.acquire()
                except asyncio.CancelledError:
                    session._abandon(pending, waiter)
                    raise
                waiting.put_nowait((pending, waiter))
        except BaseException as failure:  # Raised to the caller, after the outcomes.
            error = failure
            if not isinstance(failure, Exception):
                raise
        finally:
            waiting.put_nowait(error)

    sender = asyncio.get_running_loop().create_task(send())
    item: Any = None
    try:
        while True:
            item = await waiting.get()
            places.release()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            await item[1].wait()
            outcome, item = item[1].future.result(), None
            yield outcome
    finally:
        sender.cancel()
        if isinstance(item, tuple):
            session._abandon(*item)
        while not waiting.empty():
            item = waiting.get_nowait()
            if isinstance(item, tuple):
                session._abandon(*item)


async def _each(frames: Any) -> AsyncIterator[Any]:
    """Yields the elements of an asynchronous or a plain iterable."""
    if hasattr(frames, "__aiter__"):
        async for frame in frames:
            yield frame
    else:
        for frame in frames:
            yield frame
