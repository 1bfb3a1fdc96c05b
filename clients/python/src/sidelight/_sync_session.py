"""A session of the synchronous face: threads around the core.

One thread reads the server's messages and opens lost connections again; gRPC's own thread writes.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Iterator
from typing import Any, Callable, Optional

import grpc

from . import _ring
from ._channel import Endpoint, error_of_call
from ._core.blocking import Waiter
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
from ._sync_stream import filter_all
from ._packets import FrameLike
from ._tracing import current_traceparent
from .errors import DeadlineExceeded, SidelightError, Unavailable
from .events import Analysis, Event, OutputOutcome
from .outcomes import Outcome

__all__ = ["Change", "Session"]


class Change(ChangeBase):
    """A requested change of the pipeline."""

    def accepted(self, timeout: Optional[float] = None) -> int:
        """Waits for the server's acceptance; returns the revision.

        Raises the server's error if the change is refused, `DeadlineExceeded` after `timeout`
        seconds."""
        return self._wait(False, timeout)

    def applied(self, timeout: Optional[float] = None) -> int:
        """Waits for the first frame that is filtered using the change; returns its sequence.

        Raises the server's error if the change is refused, `DeadlineExceeded` after `timeout`
        seconds."""
        return self._wait(True, timeout)

    def _wait(self, applied: bool, timeout: Optional[float]) -> int:
        left = self._session._ensure_open(timeout)
        waiter = Waiter()
        machine = self._session._machine
        self._session._update(machine.await_change, self._record, applied, waiter)
        try:
            if not waiter.wait(left):
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
        self._thread: Optional[threading.Thread] = None
        #: Several threads may use the session first.
        self._starting = threading.Lock()
        #: The threads of moves.
        self._movers: list[threading.Thread] = []

    # Opening and closing

    def open(self) -> Session:
        """Opens the session. A `with` statement calls it; the first use does the same."""
        if self._is_over:
            raise self._machine.refusal("the session is over; create another one")
        try:
            self._start_and_wait(None)
        except BaseException:  # An interrupt; the `with` statement closes only what it opened.
            self._abort()
            raise
        return self

    def _ensure_open(self, timeout: Optional[float] = None) -> Optional[float]:
        """Opens a session that is used for the first time; returns the rest of a time limit."""
        machine = self._machine
        if machine.was_opened or machine.window.is_finished:
            return timeout
        started = now()
        self._start_and_wait(timeout)
        return None if timeout is None else max(0.0, timeout - (now() - started))

    def _start_and_wait(self, timeout: Optional[float]) -> None:
        with self._starting:
            if self._thread is None:
                self._watch(self)
                self._thread = threading.Thread(
                    target=self._run, name="sidelight session", daemon=True
                )
                self._thread.start()
        if not self._wait(OPENED, timeout):
            raise DeadlineExceeded(f"the session is not open after {timeout:g} s")
        if not self._machine.was_opened:
            raise self._machine.refusal("the session ended before it was opened")

    def close(self) -> None:
        """Ends the session after the outcomes of frames in flight, at the latest after two seconds.
        Outcomes that are not taken are released. A second call has no effect."""
        if self._thread is None:
            self._update(self._machine.end, None)
            return
        self._update(self._machine.finish)
        self._update(self._machine.discard_outcomes)
        if not self._wait(OVER, CLOSE_TIMEOUT):
            self._abort()
        if threading.current_thread() not in [self._thread, *self._movers]:
            for thread in [self._thread, *self._movers]:
                thread.join(CLOSE_TIMEOUT)

    def __enter__(self) -> Session:
        return self.open()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            self._abort()
        self.close()

    @property
    def _is_over(self) -> bool:
        return self._machine.is_over

    # The connection

    def _run(self) -> None:
        self._serve_from(self._update(self._start_connection))

    def _serve_from(self, connection: Connection) -> None:
        """Serves a connection and those that follow its loss, until the session is over or has moved
        to another connection, whose thread goes on."""
        is_left = False
        try:
            while True:
                error = self._serve(connection)
                if error is None and connection.link.is_current:
                    self._wait(ALONE, None)
                delay = self._update(self._end_connection, connection, error, random.random())
                is_left = not connection.link.is_current
                if is_left or delay is None or self._wait(FINISHED, delay):
                    return
                connection = self._update(self._start_connection)
        finally:
            if not is_left:
                self._update(self._machine.end, None)

    def _move(self) -> None:
        """Opens the connection of a move, and goes on with it."""
        attempt = 0
        while not self._wait(OVER, move_delay(attempt, random.random())):
            connection = self._update(self._start_move, attempt)
            if connection is None:
                return
            self._serve_from(connection)
            if connection.link.was_used:
                return
            if not connection.link.is_stale:
                attempt += 1

    def _start_mover(self) -> None:
        self._machine.is_move_requested = False
        thread = threading.Thread(target=self._move, name="sidelight move", daemon=True)
        self._movers = [each for each in self._movers if each.is_alive()] + [thread]
        thread.start()

    def _serve(self, connection: Connection) -> Optional[SidelightError]:
        """Serves one connection until it ends; returns its error."""
        channel: Any = None
        try:
            metadata = connection.endpoint.metadata()
            channel = connection.endpoint.channel(grpc)
            call = channel.stream_stream(METHOD)(self._messages(connection), metadata=metadata)
            connection.call = call
            if self._machine.is_over:
                call.cancel()
            for data in call:
                fetch = self._update(connection.link.receive, data, now())
                if fetch is not None:
                    self._finish_opening(connection, fetch)
                if self._machine.is_move_requested:
                    self._start_mover()
            return None
        except grpc.RpcError as error:
            return connection.error or error_of_call(error)
        except SidelightError as error:
            return error
        except Exception as error:  # A reply that cannot be read, or a machine without sockets.
            return SidelightError(f"the connection failed: {error!r}", code="INTERNAL")
        finally:
            if connection.call is not None:
                connection.call.cancel()
            if channel is not None:
                channel.close()

    def _finish_opening(self, connection: Connection, fetch: Any) -> None:
        ring = None
        if _ring.is_supported:
            try:
                ring = _ring.fetch(fetch.offer, fetch.session_id)
            except OSError:
                ring = None
        self._update(connection.link.finish_opening, ring, now())

    def _messages(self, connection: Connection) -> Iterator[bytes]:
        """Yields the messages of one connection. Runs on gRPC's thread."""
        while True:
            message, waiter = self._update(self._next_message, connection, Waiter)
            if message is not None:
                yield message
            elif waiter is None:
                return
            else:
                waiter.wait()

    # Waiting

    def _wait(self, condition: int, timeout: Optional[float]) -> bool:
        """Returns whether a condition is true, at the latest after `timeout` seconds."""
        waiter = Waiter()
        self._update(self._machine.wait, condition, waiter)
        try:
            if waiter.wait(timeout):
                return True
        except BaseException:
            self._update(self._machine.stop_waiting, condition, waiter)
            raise
        self._update(self._machine.stop_waiting, condition, waiter)
        return False

    # Frames

    def _offer(self, frame: FrameLike, waiter: Any) -> Pending:
        self._ensure_open()
        trace = current_traceparent()
        while True:
            pending: Optional[Pending] = self._update(
                self._machine.offer, frame, trace, waiter, now()
            )
            if pending is not None:
                return pending
            self._wait(CAPACITY, None)

    def filter(self, frame: FrameLike, *, timeout: Optional[float] = None) -> Outcome:
        """Sends a frame and returns its outcome.

        - `timeout`: The seconds after which `DeadlineExceeded` is raised; the frame's outcome is
          then discarded, and a key frame requested if it is encoded video. `None`: no limit.
        """
        left = self._ensure_open(timeout)
        waiter = Waiter()
        pending = self._offer(frame, waiter)
        try:
            if waiter.wait(left):
                outcome: Outcome = waiter.value
                return outcome
        except BaseException:
            self._discard(pending, waiter)
            raise
        if self._abandon(pending, waiter):
            return waiter.value  # type: ignore[no-any-return]
        raise DeadlineExceeded(f"frame {pending.sequence} has no outcome after {timeout:g} s")

    def _abandon(self, pending: Pending, waiter: Waiter) -> bool:
        """Gives up an outcome; returns whether it came meanwhile."""
        if not self._update(self._machine.abandon, pending):
            return False
        return waiter.wait()  # Another thread is about to resolve it.

    def _discard(self, pending: Pending, waiter: Waiter) -> None:
        """Discards an outcome that is no longer wanted."""
        if self._abandon(pending, waiter):
            self._update(self._machine.discard, waiter.value)

    def filter_all(self, frames: Iterable[FrameLike]) -> Iterator[Outcome]:
        """Sends frames and yields their outcomes, in order.

        Frames are taken from `frames` on a separate thread, as soon as the session has capacity, so
        a slow source delays no outcome. The drop policy applies: with "never_drop" every frame
        is filtered.
        """
        return filter_all(self, frames)

    def send(self, frame: FrameLike) -> int:
        """Sends a frame and returns its sequence; `outcomes()` has its outcome.

        Never waits under "newest_wins": without a credit the frame replaces the one that waits. The
        other policies wait until no other frame waits. Do not change the picture before its
        outcome. Without a reader of `outcomes()`, no more frames are sent than the server grants.

        - `frame`: A picture, or a packet of a stream of PyAV. A few frames of encoded video wait
          instead of replacing each other, because they depend on each other; see `KeyFrameNeeded`.
        """
        return self._offer(frame, None).sequence

    def outcomes(self) -> Iterator[Outcome]:
        """Yields the outcomes of frames that `send` sent, in order, until the last one
        after `finish()`, or until the session ends. Raises the error that ended the session.

        If the sender may fail, call `finish()` in a `finally` clause. In asyncio, the error of the
        only task that sends is also raised here, after the outcomes that are due."""
        self._ensure_open()
        while True:
            outcome, has_more = self._update(self._take_outcome)
            if outcome is not None:
                yield outcome
            elif not has_more:
                break
            else:
                self._wait(OUTCOME, None)
        if self._machine.error is not None:
            raise self._machine.error.with_traceback(None)

    def _take_outcome(self) -> Any:
        outcome = self._machine.take_outcome()
        return outcome, self._machine.has_more_outcomes

    # Events

    def events(self) -> Iterator[Event]:
        """Yields the session's events, except analyses, until it is over. The newest 256 wait to be
        taken."""
        return self._drain(EVENT)

    def analyses(self) -> Iterator[Analysis]:
        """Yields the results of analysis stages, until the session is over. The newest 64 wait to
        be taken; `dropped_analyses` counts the others."""
        return self._drain(ANALYSIS)

    def outputs(self) -> Iterator[OutputOutcome]:
        """Yields the outcomes of frames in named outputs, until the session is over.

        The newest 64 of an output wait to be taken; `dropped_outputs` counts the others. Under
        "never_drop" the session's frames wait instead, and with them `filter` and `send`, so read
        in another thread or task."""
        return self._drain(OUTPUT)

    def _drain(self, condition: int) -> Iterator[Any]:
        self._ensure_open()
        while True:
            item, has_more = self._update(self._machine.take, condition)
            if item is not None:
                yield item
            elif not has_more:
                return
            else:
                self._wait(condition, None)
