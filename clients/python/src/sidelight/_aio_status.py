"""The status of a call of the asyncio face."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Optional

import grpc
import grpc.aio

#: The details of the status that gRPC substitutes when a write fails.
_SUBSTITUTE = "Internal error from Core"
#: The seconds to wait for the status that a substitute precedes.
_PATIENCE, _INTERVAL = 2.0, 0.01


class CallStatus:
    """The status with which the server or the connection ended a call.

    A write that fails because the call ends at the same moment sets a substitute in gRPC
    (https://github.com/grpc/grpc/issues/36066), before the call's own status or in place of it.
    """

    def __init__(self, call: Any) -> None:
        self._call = call
        self._first: Optional[grpc.aio.AioRpcError] = None
        call.add_done_callback(self._record)

    def _record(self, _: Any) -> None:
        """Records the first status, before a substitute can replace it."""
        self._first = self._current()

    def _current(self) -> grpc.aio.AioRpcError:
        call = self._call
        return grpc.aio.AioRpcError(
            _value(call.code()),
            _value(call.initial_metadata()),
            _value(call.trailing_metadata()),
            _value(call.details()),
        )

    async def own(self, error: grpc.RpcError) -> Any:
        """Returns the call's own error in place of the one that it raised; `None` for success."""
        found: Any = self._first or error
        waited = 0.0
        while found.details() == _SUBSTITUTE and waited < _PATIENCE:
            await asyncio.sleep(_INTERVAL)
            waited += _INTERVAL
            found = self._current()
        return None if found.code() is grpc.StatusCode.OK else found


def _value(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Returns the value of a coroutine that does not wait."""
    try:
        coroutine.send(None)
    except StopIteration as result:
        return result.value
    coroutine.close()
    raise RuntimeError("gRPC has no status of a call that is done")
