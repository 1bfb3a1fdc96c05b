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
    capacity = max(1, session.options.frames_in_flight)
    waiting: asyncio.Queue[Any] = asyncio.Queue(capacity)

    async def send() -> None:
        error: Optional[BaseException] = None
        try:
            async for frame in _each(frames):
                await session._wait(CAPACITY, None)
                waiter = Waiter()
                pending = await session._offer(frame, waiter)
                try:
                    await waiting.put((pending, waiter))
                except asyncio.CancelledError:
                    session._abandon(pending, waiter)
                    raise
        except Exception as failure:  # Raised to the caller, after the outcomes.
            error = failure
        await waiting.put(error)

    sender = asyncio.get_running_loop().create_task(send())
    item: Any = None
    try:
        while True:
            item = await waiting.get()
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
