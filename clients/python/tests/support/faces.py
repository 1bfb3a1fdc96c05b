"""One way to drive both faces of the package: tests are written once, in synchronous form."""

from __future__ import annotations

import asyncio
import inspect
import threading
from typing import Any

import sidelight
from sidelight import aio, sync

#: The seconds after which a call of the asyncio face fails its test.
LIMIT = 60
_PROXIED = (aio.Server, aio.Session, aio.Change, aio.Assets, aio.Sessions)


class SyncFace:
    """The synchronous face itself."""

    name = "sync"

    def connect(self, address: str, **options: Any) -> Any:
        return sidelight.connect(address, **options)

    def close(self) -> None:
        pass


class AioFace:
    """The asyncio face, on a loop in a thread."""

    name = "aio"

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def connect(self, address: str, **options: Any) -> Any:
        return self.call(aio.connect, address, **options)

    def call(self, function: Any, *arguments: Any, **options: Any) -> Any:
        """Calls a function on the loop's thread; awaits what it returns."""

        async def run() -> Any:
            result = function(*arguments, **options)
            return await result if inspect.isawaitable(result) else result

        return self._wrap(asyncio.run_coroutine_threadsafe(run(), self.loop).result(LIMIT))

    def get(self, target: Any, name: str) -> Any:
        """Reads an attribute on the loop's thread."""

        async def run() -> Any:
            return getattr(target, name)

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(LIMIT)

    def _wrap(self, result: Any) -> Any:
        if isinstance(result, _PROXIED):
            return _Proxy(self, result)
        if hasattr(result, "__anext__"):
            return self._iterate(result)
        return result

    def _iterate(self, items: Any) -> Any:
        try:
            while True:
                try:
                    yield self.call(items.__anext__)
                except StopAsyncIteration:
                    return
        finally:
            self.call(items.aclose)

    def close(self) -> None:
        """Ends the loop, whose tasks must have ended. grpcio's own end shortly after their calls."""

        async def left() -> Any:
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            return (await asyncio.wait(tasks, timeout=LIMIT / 2))[1] if tasks else tasks

        tasks = asyncio.run_coroutine_threadsafe(left(), self.loop).result(LIMIT)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(LIMIT)
        self.loop.close()
        assert not tasks, f"tasks are left: {tasks}"


class _Proxy:
    """An object of the asyncio face with blocking methods."""

    def __init__(self, face: AioFace, target: Any) -> None:
        self._face = face
        self._target = target

    def __getattr__(self, name: str) -> Any:
        value = self._face.get(self._target, name)
        if not callable(value):
            return self._face._wrap(value)
        return lambda *arguments, **options: self._face.call(value, *arguments, **options)

    def __enter__(self) -> Any:
        return self._face.call(self._target.__aenter__)

    def __exit__(self, *error: Any) -> Any:
        return self._face.call(self._target.__aexit__, *error)

    def __repr__(self) -> str:
        return repr(self._target)


FACES = {"sync": SyncFace, "aio": AioFace}

__all__ = ["FACES", "AioFace", "SyncFace", "sync"]
