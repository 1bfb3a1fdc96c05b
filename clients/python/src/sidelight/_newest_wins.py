"""The movement of live frames from a source through a session to one reader, without a queue."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Deque,
    Dict,
    Generic,
    Mapping,
    NamedTuple,
    Optional,
    Tuple,
    Type,
    TypeVar,
    Union,
)

from ._packets import is_packet
from .errors import InvalidArgument
from .images import EncodedImage
from .outcomes import Degraded, Dropped, DropReason, Filtered, PassedThrough

if TYPE_CHECKING:
    from .aio import Session
    from .images import Frame

__all__ = ["BridgeStats", "EndOfFrames", "NewestWins"]

#: The number of frames that are skipped at once before one is sent all the same, so a source
#: that never waits is filtered too.
_MAX_SKIPPED = 30
_LATENCIES = 256
#: The encoded results that may wait for the reader.
_WAITING_LIMIT = 8

S = TypeVar("S")
M = TypeVar("M")

#: An outcome with a picture.
Returned = Union[Filtered, PassedThrough, Degraded]


class EndOfFrames(Exception):
    """The end of the source, or of the bridge."""


class BridgeStats(NamedTuple):
    """The frames of a bridge so far.

    Without frames in flight, `received` is the sum of `skipped`, `filtered`, `passed_through`,
    `degraded` and `dropped`; the frames that came back are `delivered`, `overtaken` or waiting.
    """

    #: From the source.
    received: int
    #: Not sent, because the source had a newer frame already.
    skipped: int
    filtered: int
    passed_through: int
    degraded: int
    dropped: Mapping[DropReason, int]
    #: Came back, but were replaced by a newer frame before the reader asked.
    overtaken: int
    #: Taken by the reader.
    delivered: int
    #: The median time from receipt to delivery of the last frames, in seconds; 0 without frames.
    latency_p50: float
    #: The 95th percentile of that time, in seconds.
    latency_p95: float


class _Sent(Generic[M]):
    """A frame without an outcome."""

    __slots__ = ("metadata", "received", "sequence")

    def __init__(self, metadata: M, received: float) -> None:
        self.metadata = metadata
        #: The time of receipt, in seconds of the performance counter.
        self.received = received
        #: `None` while it is being sent.
        self.sequence: Optional[int] = None


class NewestWins(Generic[S, M]):
    """Reads a source without a pause, and keeps at most one frame in front of the session (its own
    newest-wins window) and one behind it.

    Frames of encoded video depend on each other: none is skipped, and a few results wait for the
    reader. If it is too slow, those up to the next key frame are left out, which is requested.

    All members belong to one event loop. The session serves no other frames meanwhile, and stays
    open afterwards.

    - `receive`: Returns the next frame of the source.
    - `ends`: The exceptions of `receive` that mark the end of the source.
    - `convert`: Returns the frame to send, and what the reader needs to know about the source.
    """

    def __init__(
        self,
        session: Session,
        receive: Callable[[], Awaitable[S]],
        ends: Tuple[Type[BaseException], ...],
        convert: Callable[[S], Tuple[Frame, M]],
    ) -> None:
        self._session = session
        self._receive = receive
        self._ends = ends
        self._convert = convert
        self._tasks: Tuple[asyncio.Task[None], ...] = ()
        self._changed: Optional[asyncio.Event] = None
        # Outcomes are in the order of sending. Bounded by the session's window.
        self._sent: Deque[_Sent[Any]] = deque()
        self._ready: Deque[Tuple[Returned, _Sent[M]]] = deque()
        # An earlier bridge of the session may have had the first key frame.
        self._needs_key_frame = True
        self._source_ended = False
        self._ended = False
        #: The error that ended the bridge; `None` while it is open, or if the source ended.
        self.error: Optional[BaseException] = None
        self._received = self._skipped = self._overtaken = self._delivered = 0
        self._returned: Dict[type, int] = {Filtered: 0, PassedThrough: 0, Degraded: 0}
        self._dropped: Dict[DropReason, int] = {}
        self._latencies: Deque[float] = deque(maxlen=_LATENCIES)

    @property
    def stats(self) -> BridgeStats:
        """The frames so far."""
        ordered = sorted(self._latencies) or [0.0]
        return BridgeStats(
            self._received,
            self._skipped,
            self._returned[Filtered],
            self._returned[PassedThrough],
            self._returned[Degraded],
            dict(self._dropped),
            self._overtaken,
            self._delivered,
            ordered[len(ordered) // 2],
            ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)],
        )

    def start(self) -> None:
        """Starts reading the source, in the running event loop. A second call has no effect."""
        if self._tasks or self._ended:
            return
        self._changed = asyncio.Event()
        self._tasks = (
            asyncio.ensure_future(self._run(self._read())),
            asyncio.ensure_future(self._run(self._collect())),
        )

    async def next(self) -> Tuple[Returned, M]:
        """Returns the newest frame that came back, when there is one that was not returned yet.

        Raises `EndOfFrames`, or the error that ended the session.
        """
        self.start()
        while not self._ready:
            if self._ended:
                raise self.error or EndOfFrames()
            assert self._changed is not None
            self._changed.clear()
            await self._changed.wait()
        outcome, sent = self._ready.popleft()
        self._delivered += 1
        self._latencies.append(time.perf_counter() - sent.received)
        return outcome, sent.metadata

    def close(self) -> None:
        """Stops reading the source and gives up the frames in flight. The session stays open."""
        self._end(None)
        self._overtake()

    async def _run(self, work: Awaitable[None]) -> None:
        try:
            await work
        except self._ends:
            self._source_ended = True
            if not self._sent:
                self._end(None)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._end(error)

    async def _read(self) -> None:
        upcoming = asyncio.ensure_future(self._receive())
        has_packets = False
        try:
            while True:
                source = await upcoming
                self._received += 1
                for _ in range(0 if is_packet(source) else _MAX_SKIPPED):
                    upcoming = asyncio.ensure_future(self._receive())
                    # A source with a backlog returns its next frame without waiting.
                    await asyncio.sleep(0)
                    if not upcoming.done() or upcoming.exception() is not None:
                        break
                    source = upcoming.result()
                    self._received += 1
                    self._skipped += 1
                else:
                    upcoming = asyncio.ensure_future(self._receive())
                received = time.perf_counter()
                try:
                    frame, metadata = self._convert(source)
                except InvalidArgument as error:
                    # A stream that begins so has another format, which is an error.
                    if not (has_packets and is_packet(source) and error.field == "data"):
                        raise
                    self._drop(error, received)
                    continue
                has_packets = is_packet(source)
                sent = _Sent(metadata, received)
                self._sent.append(sent)
                sent.sequence = await self._session.send(frame)
        finally:
            if not upcoming.cancel() and not upcoming.cancelled():
                upcoming.exception()

    def _drop(self, error: InvalidArgument, received: float) -> None:
        """Drops a malformed packet."""
        machine = self._session._machine
        sent: _Sent[None] = _Sent(None, received)
        self._sent.append(sent)
        pending = self._session._update(machine.drop_malformed, error, None, time.monotonic())
        sent.sequence = pending.sequence

    async def _collect(self) -> None:
        async for outcome in self._session.outcomes():
            first = self._sent[0].sequence if self._sent else outcome.sequence + 1
            if first is not None and outcome.sequence < first:
                # A frame that an earlier bridge of the session gave up.
                outcome.release()
                continue
            sent = self._sent.popleft()
            if isinstance(outcome, Dropped):
                self._dropped[outcome.reason] = self._dropped.get(outcome.reason, 0) + 1
            else:
                self._returned[type(outcome)] += 1
                self._deliver(outcome, sent)
            if self._source_ended and not self._sent:
                break
        self._end(None)

    def _deliver(self, outcome: Returned, sent: _Sent[M]) -> None:
        """Keeps a result for the reader, and leaves out those that it replaces."""
        image = outcome.image
        is_delta = isinstance(image, EncodedImage) and not image.is_key_frame
        if is_delta and (self._needs_key_frame or len(self._ready) >= _WAITING_LIMIT):
            self._needs_key_frame = True
            self._overtaken += 1
            outcome.release()
            self._session.request_key_frame()
            return
        if not is_delta:
            self._needs_key_frame = False
            self._overtaken += self._overtake()
        self._ready.append((outcome, sent))
        self._wake()

    def _overtake(self) -> int:
        """Releases the results that wait for the reader; returns their number."""
        count = len(self._ready)
        while self._ready:
            self._ready.popleft()[0].release()
        return count

    def _end(self, error: Optional[BaseException]) -> None:
        if self._ended:
            return
        self._ended = True
        self.error = error
        current = asyncio.current_task() if self._tasks else None
        for task in self._tasks:
            if task is not current:
                task.cancel()
        self._wake()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
