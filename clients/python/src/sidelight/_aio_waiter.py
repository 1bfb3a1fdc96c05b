"""Waiting in tasks."""

from __future__ import annotations

import asyncio
from typing import Any, Optional


class Waiter:
    """A task that waits for one value."""

    __slots__ = ("future",)

    def __init__(self) -> None:
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def resolve(self, value: Any) -> None:
        """Sets the value. Called once, on the loop's thread."""
        if not self.future.done():
            self.future.set_result(value)
        elif value is not None:
            value.release()

    async def wait(self, timeout: Optional[float] = None) -> bool:
        """Returns whether the value is set, at the latest after a number of seconds."""
        if timeout is None:
            await self.future
            return True
        done, _ = await asyncio.wait((self.future,), timeout=timeout)
        return bool(done)
