"""A session of the asyncio face: tasks around the core.

One task reads the server's messages and opens lost connections again. One task writes: a message
that is written while another is being written would end the call.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any, Callable, Optional, Set, Union

import grpc
import grpc.aio

from . import _ring
from ._aio_status import CallStatus
from ._aio_stream import filter_all
from ._aio_waiter import Waiter
from ._channel import Endpoint, error_of_call
from ._core.delivery import Pending
from ._core.face import CLOSE_TIMEOUT, METHOD, ChangeBase, Connection, SessionBase, now
from ._core.machine import (
    ALONE,
    ANALYSIS,
    CAPACITY,
    EVENT,
    FINISHED,
    OPENED,
    OUTCOME,
    OUTPUT,
    OVER,
)
from ._core.options import SessionOptions
from ._core.reconnect import move_delay
from ._packets import FrameLike
from ._tracing import current_traceparent
from .errors import DeadlineExceeded, SidelightError, Unavailable
from .events import Analysis, Event, OutputOutcome
from .outcomes import Outcome

__all__ = ["Change", "Session"]

#: The end of a stream. Not in all type stubs.
_END: Any = getattr(grpc.aio, "EOF")  # noqa: B009
#: Keeps gRPC's thread for the rest of the process.
_keep_grpc: Any = grpc.aio.init_grpc_aio


class Change(ChangeBase):
    """A requested change of the pipeline."""

    async def accepted(self, timeout: Optional[float] = None) -> int:
        """Waits for the server's acceptance; returns the revision.

        Raises the server's error if the change is refused, `DeadlineExceeded` after `timeout`
        seconds."""
        return await self._wait(False, timeout)

    async def applied(self, timeout: Optional[float] = None) -> int:
        """Waits for the first frame that is filtered using the change; returns its sequence.

        Raises the server's error if the change is refused, `DeadlineExceeded` after `timeout`
        seconds."""
        return await self._wait(True, timeout)

    async def _wait(self, applied: bool, timeout: Optional[float]) -> int:
        left = await self._session._ensure_open(timeout)
        waiter = Waiter()
        machine = self._session._machine
        self._session._update(machine.await_change, self._record, applied, waiter)
        try:
            if not await waiter.wait(left):
                message = f"change {self.request_id} has no answer after {timeout:g} s"
                raise DeadlineExceeded(message)
        finally:
            self._session._update(machine.stop_awaiting, self._record, waiter)
        return self._result(applied)


class Session(SessionBase[Change]):
    __doc__ = SessionBase.__doc__

    def __init__(
        self, endpoint: Endpoint, options: SessionOptions, watch: Callable[[Session], None]
    ) -> None:
        super().__init__(endpoint, options, Change)
        self._watch = watch
        self._task: Optional[asyncio.Task[None]] = None
        #: The tasks of moves.
        self._movers: Set[asyncio.Task[None]] = set()
        #: The tasks that send and have not ended, and the last one that ended.
        self._senders: Set[asyncio.Task[Any]] = set()
        self._last_sender: Optional[asyncio.Task[Any]] = None

    # Opening and closing

    async def open(self) -> Session:
        """Opens the session. An `async with` statement calls it; the first use does the same."""
        if self._is_over:
            raise self._machine.refusal("the session is over; create another one")
        try:
            await self._start_and_wait(None)
        except asyncio.CancelledError:
            self._abort()
            raise
        return self

    async def _ensure_open(self, timeout: Optional[float] = None) -> Optional[float]:
        """Opens a session that is used for the first time; returns the rest of a time limit."""
        machine = self._machine
        if machine.was_opened or machine.window.is_finished:
            return timeout
        started = now()
        await self._start_and_wait(timeout)
        return None if timeout is None else max(0.0, timeout - (now() - started))

    async def _start_and_wait(self, timeout: Optional[float]) -> None:
        if self._task is None:
            self._watch(self)
            self._task = asyncio.get_running_loop().create_task(self._run())
        if not await self._wait(OPENED, timeout):
            raise DeadlineExceeded(f"the session is not open after {timeout:g} s")
        if not self._machine.was_opened:
            raise self._machine.refusal("the session ended before it was opened")

    async def close(self) -> None:
        """Ends the session after the outcomes of frames in flight, at the latest after two seconds.
        Outcomes that are not taken are released. A second call has no effect."""
        if self._task is None:
            self._update(self._machine.end, None)
            return
        self._update(self._machine.finish)
        self._update(self._machine.discard_outcomes)
        try:
            if not await self._wait(OVER, CLOSE_TIMEOUT):
                self._abort()
        except asyncio.CancelledError:
            self._abort()
            raise
        tasks = {self._task, *self._movers}
        if asyncio.current_task() not in tasks:
            await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT)
            for task in tasks:
                task.cancel()

    async def __aenter__(self) -> Session:
        return await self.open()

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            self._abort()
        await self.close()

    @property
    def _is_over(self) -> bool:
        return self._machine.is_over

    # The connection

    async def _run(self) -> None:
        await self._serve_from(self._update(self._start_connection))

    async def _serve_from(self, connection: Connection) -> None:
        """Serves a connection and those that follow its loss, until the session is over or has moved
        to another connection, whose task goes on."""
        is_left = False
        try:
            while True:
                error = await self._serve(connection)
                if error is None and connection.link.is_current:
                    await self._wait(ALONE, None)
                delay = self._update(self._end_connection, connection, error, random.random())
                is_left = not connection.link.is_current
                if is_left or delay is None or await self._wait(FINISHED, delay):
                    return
                connection = self._update(self._start_connection)
        finally:
            if not is_left:
                self._update(self._machine.end, None)

    async def _move(self) -> None:
        """Opens the connection of a move, and goes on with it."""
        attempt = 0
        while not await self._wait(OVER, move_delay(attempt, random.random())):
            connection = self._update(self._start_move, attempt)
            if connection is None:
                return
            await self._serve_from(connection)
            if connection.link.was_used:
                return
            if not connection.link.is_stale:
                attempt += 1

    def _start_mover(self) -> None:
        self._machine.is_move_requested = False
        task = asyncio.get_running_loop().create_task(self._move())
        self._movers.add(task)
        task.add_done_callback(self._movers.discard)

    async def _serve(self, connection: Connection) -> Optional[SidelightError]:
        """Serves one connection until it ends; returns its error."""
        channel: Any = None
        status: Any = None
        writer: Optional[asyncio.Task[None]] = None
        try:
            metadata = connection.endpoint.metadata()
            channel = connection.endpoint.channel(grpc.aio)
            call = channel.stream_stream(METHOD)(metadata=metadata)
            connection.call = call
            status = CallStatus(call)
            if self._machine.is_over:
                call.cancel()
            writer = asyncio.get_running_loop().create_task(self._write(call, connection))
            while True:
                data = await call.read()
                if data is _END:
                    break
                fetch = self._update(connection.link.receive, data, now())
                if fetch is not None:
                    await self._finish_opening(connection, fetch)
                if self._machine.is_move_requested:
                    self._start_mover()
            return None
        except grpc.RpcError as error:
            own = error if status is None else await status.own(error)
            return connection.error or (None if own is None else error_of_call(own))
        except SidelightError as error:
            return error
        except asyncio.CancelledError:
            if connection.is_aborted:  # The call was cancelled, not this task.
                return connection.error or Unavailable("the call was cancelled")
            raise
        except Exception as error:  # A reply that cannot be read, or a machine without sockets.
            return SidelightError(f"the connection failed: {error!r}", code="INTERNAL")
        finally:
            if connection.is_aborted:
                # A write to a lost server ends when the system gives up, after minutes. Releasing the
                # last channel would wait for it and block the event loop, so gRPC's thread gets
                # another user.
                _keep_grpc()
            if connection.call is not None:
                connection.call.cancel()
            if writer is not None:
                writer.cancel()
            if channel is not None:
                await channel.close()

    async def _finish_opening(self, connection: Connection, fetch: Any) -> None:
        ring = None
        if _ring.is_supported:
            loop = asyncio.get_running_loop()
            try:
                ring = await loop.run_in_executor(None, _ring.fetch, fetch.offer, fetch.session_id)
            except OSError:
                ring = None
        self._update(connection.link.finish_opening, ring, now())

    async def _write(self, call: Any, connection: Connection) -> None:
        """Writes the messages of one connection."""
        while True:
            try:
                message, waiter = self._update(self._next_message, connection, Waiter)
            except Exception as error:
                if not connection.has_ended:
                    failure = SidelightError(f"the connection failed: {error!r}", code="INTERNAL")
                    connection.abort(failure)
                return
            if message is None and waiter is not None:
                await waiter.wait()
                continue
            try:
                if message is not None:
                    await call.write(message)
                    continue
                if not connection.has_ended:
                    await call.done_writing()
            except Exception:  # The call has ended; the reader reports its status.
                pass
            return

    # Waiting

    async def _wait(self, condition: int, timeout: Optional[float]) -> bool:
        """Returns whether a condition is true, at the latest after `timeout` seconds."""
        waiter = Waiter()
        self._update(self._machine.wait, condition, waiter)
        try:
            return await waiter.wait(timeout)
        finally:
            self._update(self._machine.stop_waiting, condition, waiter)

    # Frames

    async def _offer(self, frame: FrameLike, waiter: Any) -> Pending:
        await self._ensure_open()
        trace = current_traceparent()
        while True:
            pending: Optional[Pending] = self._update(
                self._machine.offer, frame, trace, waiter, now()
            )
            if pending is not None:
                return pending
            await self._wait(CAPACITY, None)

    async def filter(
        self, frame: FrameLike, *, timeout: Optional[float] = None
    ) -> Outcome:
        """Sends a frame and returns its outcome.

        - `timeout`: The seconds after which `DeadlineExceeded` is raised; the frame's outcome is
          then discarded, and a key frame requested if it is encoded video. `None`: no limit.
        """
        left = await self._ensure_open(timeout)
        waiter = Waiter()
        pending = await self._offer(frame, waiter)
        try:
            if await waiter.wait(left):
                outcome: Outcome = waiter.future.result()
                return outcome
        except BaseException:
            self._abandon(pending, waiter)
            raise
        self._abandon(pending, waiter)
        raise DeadlineExceeded(f"frame {pending.sequence} has no outcome after {timeout:g} s")

    def _abandon(self, pending: Pending, waiter: Waiter) -> None:
        """Discards an outcome that is no longer wanted."""
        is_settled = self._update(self._machine.abandon, pending)
        waiter.future.cancel()
        if not waiter.future.cancelled():
            self._update(self._machine.discard, waiter.future.result())
        elif is_settled:
            # It came between the cancellation of the task and this call, and is released.
            self._update(self._machine.request_key_frame)

    def filter_all(
        self, frames: Union[AsyncIterable[FrameLike], Iterable[FrameLike]]
    ) -> AsyncIterator[Outcome]:
        """Sends frames and yields their outcomes, in order.

        Frames are taken from `frames` in a separate task, as soon as the session has capacity, so
        a slow source delays no outcome. The drop policy applies: with "never_drop" every frame
        is filtered.
        """
        return filter_all(self, frames)

    async def send(self, frame: FrameLike) -> int:
        """Sends a frame and returns its sequence; `outcomes()` has its outcome.

        Never waits under "newest_wins": without a credit the frame replaces the one that waits. The
        other policies wait until no other frame waits. Do not change the picture before its
        outcome. Without a reader of `outcomes()`, no more frames are sent than the server grants.

        - `frame`: A picture, or a packet of a stream of PyAV. A few frames of encoded video wait
          instead of replacing each other, because they depend on each other; see `KeyFrameNeeded`.
        """
        task = asyncio.current_task()
        if task is not None and task not in self._senders:
            self._senders.add(task)
            self._last_sender = None
            task.add_done_callback(self._end_sender)
        return (await self._offer(frame, None)).sequence

    def _end_sender(self, task: asyncio.Task[Any]) -> None:
        self._senders.discard(task)
        if not self._senders:
            self._last_sender = task
            self._update(self._machine.wake, OUTCOME)

    async def outcomes(self) -> AsyncIterator[Outcome]:
        """Yields the outcomes of frames that `send` sent, in order, until the last one
        after `finish()`, or until the session ends. Raises the error that ended the session.

        If the sender may fail, call `finish()` in a `finally` clause. In asyncio, the error of the
        only task that sends is also raised here, after the outcomes that are due."""
        await self._ensure_open()
        while True:
            outcome, has_more = self._update(self._take_outcome)
            if outcome is not None:
                yield outcome
                continue
            if not has_more:
                break
            failure = self._sender_failure()
            if failure is not None:
                raise failure
            await self._wait(OUTCOME, None)
        if self._machine.error is not None:
            raise self._machine.error.with_traceback(None)

    def _sender_failure(self) -> Optional[BaseException]:
        task = self._last_sender
        if task is None or task.cancelled() or not self._machine.delivery.is_empty:
            return None
        return task.exception()

    def _take_outcome(self) -> Any:
        outcome = self._machine.take_outcome()
        return outcome, self._machine.has_more_outcomes

    # Events

    def events(self) -> AsyncIterator[Event]:
        """Yields the session's events, except analyses, until it is over. The newest 256 wait to be
        taken."""
        return self._drain(EVENT)

    def analyses(self) -> AsyncIterator[Analysis]:
        """Yields the results of analysis stages, until the session is over. The newest 64 wait to
        be taken; `dropped_analyses` counts the others."""
        return self._drain(ANALYSIS)

    def outputs(self) -> AsyncIterator[OutputOutcome]:
        """Yields the outcomes of frames in named outputs, until the session is over.

        The newest 64 of an output wait to be taken; `dropped_outputs` counts the others. Under
        "never_drop" the session's frames wait instead, and with them `filter` and `send`, so read
        in another thread or task."""
        return self._drain(OUTPUT)

    async def _drain(self, condition: int) -> AsyncIterator[Any]:
        await self._ensure_open()
        while True:
            item, has_more = self._update(self._machine.take, condition)
            if item is not None:
                yield item
            elif not has_more:
                return
            else:
                await self._wait(condition, None)
