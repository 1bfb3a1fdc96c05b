"""The process: its connection to the host, and the loop that filters frames."""

from __future__ import annotations

import atexit
import contextlib
import io
import mmap
import os
import queue
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

import grpc

from .._formats import PixelFormat
from .._version import __version__
from ..errors import InvalidArgument
from ..v1 import filter_process_pb2 as contract
from ..v1 import session_pb2
from ._definitions import Definition, Worker, defined
from ._metadata import Face, FrameContext, Results
from ._pictures import copied, fill, view

__all__ = ["serve"]

_METHOD = "/sidelight.v1.FilterHost/Attach"
_SOCKET = "SIDELIGHT_FILTER_SOCKET"
_VERSION = 1
# The limits of the contract.
_MAX_MESSAGE_BYTES = 1 << 10
_MAX_DETAIL_BYTES = 64 << 10
_MAX_VALUES = 256
_MAX_FACES = 64

_was_called = False


def serve() -> None:
    """Serves the filters of this process until its host, `sidelight`, ends it.

    Runs the functions in the calling thread. Prints a hint and exits if there is no host.
    """
    global _was_called
    _was_called = True
    definitions = defined()
    if not definitions:
        raise InvalidArgument("this process has no filters; decorate a function with @filter")
    if _SOCKET not in os.environ:
        _explain(definitions)
    # Lines reach the host's log when they are printed, and no text is an error.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, errors="backslashreplace")
    outgoing: queue.SimpleQueue[Optional[contract.ProcessMessage]] = queue.SimpleQueue()
    hello = contract.ProcessMessage.Hello(
        versions=[_VERSION],
        token=os.environ.get("SIDELIGHT_FILTER_TOKEN", ""),
        filters=[definition.offer for definition in definitions],
        library=f"sidelight {__version__} for Python",
    )
    outgoing.put(contract.ProcessMessage(hello=hello))
    memory = _mapped(int(os.environ.get("SIDELIGHT_FILTER_MEMORY", "-1")))
    with grpc.insecure_channel(f"unix:{os.environ[_SOCKET]}") as channel:
        call = channel.stream_stream(
            _METHOD,
            request_serializer=contract.ProcessMessage.SerializeToString,
            response_deserializer=contract.HostMessage.FromString,
        )(iter(outgoing.get, None))
        inbox = _Inbox(call)
        _Loop(definitions, memory, inbox, outgoing).run()
        outgoing.put(None)
    if inbox.refusal:
        print(f"the host refused the filters: {inbox.refusal}", file=sys.stderr)
        raise SystemExit(1)


def _mapped(descriptor: int) -> mmap.mmap:
    try:
        return mmap.mmap(descriptor, os.fstat(descriptor).st_size)
    finally:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _explain(definitions: list[Definition]) -> None:
    """Says how a file is started that was started by hand."""
    script = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else "filters.py"
    lines = [f"{script} serves filters to a host:", *(f"  {each}" for each in definitions)]
    lines.append(f"Start it with: sidelight serve --filter-process 'python3 {script}'")
    print("\n".join(lines), file=sys.stderr)
    raise SystemExit(2)


def _warn_without_serve() -> None:
    # An exception that ended the program says more.
    if _was_called or hasattr(sys, "last_type") or not defined():
        return
    if _SOCKET in os.environ or any(each.target.__module__ == "__main__" for each in defined()):
        print("filters are defined, but serve() was not called; call it last", file=sys.stderr)


atexit.register(_warn_without_serve)


class _Queued:
    """A message of the host that waits for the loop."""

    __slots__ = ("arrival", "is_cancelled", "kind", "message")

    def __init__(self, kind: str, message: Any) -> None:
        self.kind = kind
        self.message = message
        self.arrival = time.monotonic()
        self.is_cancelled = False


class _Inbox:
    """The messages of the host, which a thread reads while a function runs."""

    def __init__(self, call: Any) -> None:
        self._call = call
        self._changed = threading.Condition()
        self._messages: deque[_Queued] = deque()
        self._is_closed = False
        #: The reason why the host refused the process; empty if it did not.
        self.refusal = ""
        threading.Thread(target=self._read, name="sidelight-host", daemon=True).start()

    def take(self) -> Optional[_Queued]:
        """Waits for the next message; `None` when the host has ended the call."""
        with self._changed:
            while not self._messages and not self._is_closed:
                self._changed.wait()
            # The host does not wait for results any more.
            return None if self._is_closed else self._messages.popleft()

    def take_frames(self, accepts: Any, limit: int) -> list[_Queued]:
        """Takes at most `limit` of the frames that a function accepts."""
        taken: list[_Queued] = []
        with self._changed:
            for queued in list(self._messages):
                if len(taken) < limit and queued.kind == "frame" and accepts(queued.message):
                    self._messages.remove(queued)
                    taken.append(queued)
        return taken

    def wait(self, seconds: float) -> None:
        """Waits for a message, at most for some time."""
        with self._changed:
            if not self._is_closed:
                self._changed.wait(seconds)

    def _read(self) -> None:
        is_welcome = False
        try:
            for message in self._call:
                kind = message.WhichOneof("kind")
                with self._changed:
                    if kind == "welcome":
                        is_welcome = True
                    elif kind == "cancel":
                        self._cancel(message.cancel.frame)
                    elif kind is not None:
                        self._messages.append(_Queued(kind, getattr(message, kind)))
                        self._changed.notify()
        except grpc.RpcError as error:
            # A host that is gone has said why in its log.
            if not is_welcome and error.code() is not grpc.StatusCode.UNAVAILABLE:
                self.refusal = error.details() or str(error.code())
        finally:
            with self._changed:
                self._is_closed = True
                self._changed.notify()

    def _cancel(self, frame: int) -> None:
        for queued in self._messages:
            if queued.kind == "frame" and queued.message.frame == frame:
                queued.is_cancelled = True


class _Session:
    """A session of a filter."""

    __slots__ = ("definition", "label", "values", "worker")

    def __init__(self, definition: Definition, message: Any) -> None:
        self.definition = definition
        self.label = message.label
        self.values = definition.values(message.parameters)
        self.worker = Worker(definition)


class _Loop:
    """Opens sessions and filters their frames, in the order of the host's messages."""

    def __init__(
        self,
        definitions: list[Definition],
        memory: mmap.mmap,
        inbox: _Inbox,
        outgoing: queue.SimpleQueue[Optional[contract.ProcessMessage]],
    ) -> None:
        self._definitions = {each.name: each for each in definitions}
        self._memory = memory
        self._inbox = inbox
        self._outgoing = outgoing
        self._sessions: dict[int, _Session] = {}
        #: The seconds of the last call of a function with batches, by name.
        self._durations: dict[str, float] = {}

    def run(self) -> None:
        """Returns when the host has ended the call."""
        while True:
            queued = self._inbox.take()
            if queued is None:
                break
            if queued.kind == "frame":
                self._filter(queued)
            elif queued.kind == "open_session":
                self._open(queued.message)
            elif queued.kind == "close_session":
                self._close(queued.message.session)
        for session in list(self._sessions):
            self._close(session)

    def _open(self, message: Any) -> None:
        try:
            definition = self._definitions.get(message.filter)
            if definition is None:
                raise LookupError(f"this process has no filter {message.filter}")
            self._sessions[message.session] = _Session(definition, message)
        except Exception as error:
            line, detail = _described(error)
            refused = contract.ProcessMessage.Refused(
                session=message.session, message=line, detail=detail
            )
            self._outgoing.put(contract.ProcessMessage(refused=refused))
            return
        opened = contract.ProcessMessage.Opened(session=message.session)
        self._outgoing.put(contract.ProcessMessage(opened=opened))

    def _close(self, number: int) -> None:
        session = self._sessions.pop(number, None)
        if session is not None:
            try:
                session.worker.close()
            except Exception:
                traceback.print_exc()

    def _filter(self, first: _Queued) -> None:
        session = self._sessions.get(first.message.session)
        if session is None:
            # The host answers the frames of sessions that were refused.
            return
        self._update(first.message)
        frames = [first]
        if session.definition.batch > 1:
            frames = self._gathered(first, session)
        answered = [frame for frame in frames if frame.is_cancelled]
        for frame in answered:
            self._fail(frame.message, "the frame was cancelled", "", 0)
        frames = [frame for frame in frames if not frame.is_cancelled]
        if frames:
            self._call([frame.message for frame in frames], session)

    def _update(self, message: Any) -> None:
        if message.HasField("parameters"):
            session = self._sessions[message.session]
            session.values = session.definition.values(message.parameters.values)

    def _gathered(self, first: _Queued, session: _Session) -> list[_Queued]:
        """Returns the frames of a batch, after waiting for them."""
        definition = session.definition

        def belongs(message: Any) -> bool:
            other = self._sessions.get(message.session)
            if other is None or other.definition is not definition:
                return False
            self._update(message)
            return other.values == session.values

        wait = definition.wait
        if first.message.budget_us:
            spare = first.message.budget_us / 1e6 - self._durations.get(definition.name, 0.0)
            # The answer needs time too.
            wait = min(wait, 0.8 * spare)
        end = first.arrival + wait
        # A session has one frame at a time.
        limit = min(
            definition.batch, sum(each.definition is definition for each in self._sessions.values())
        )
        frames = [first]
        while True:
            frames += self._inbox.take_frames(belongs, limit - len(frames))
            left = end - time.monotonic()
            if len(frames) >= limit or left <= 0:
                return frames
            self._inbox.wait(left)

    def _call(self, frames: list[Any], session: _Session) -> None:
        """Calls the function for a frame or a batch, and answers."""
        definition = session.definition
        started = time.perf_counter()
        is_writable = definition.kind == "filter"
        pictures = [
            view(self._memory, definition.format, frame.input, is_writable) for frame in frames
        ]
        originals = [copied(each) for each in pictures] if is_writable and len(frames) > 1 else []
        try:
            contexts = []
            if definition.context_argument is not None:
                contexts = [
                    FrameContext(frame, self._sessions[frame.session].label) for frame in frames
                ]
            if definition.batch > 1:
                returned = session.worker(pictures, contexts, session.values)
                if returned is None:
                    returned = [None] * len(frames)
                elif len(returned) != len(frames):
                    raise ValueError(
                        f"the function returned {len(returned)} results for {len(frames)} frames"
                    )
            else:
                context = contexts[0] if contexts else None
                returned = [session.worker(pictures[0], context, session.values)]
        except Exception as error:
            if len(frames) == 1:
                self._fail_with(error, frames[0], started)
                return
            # A picture of one session must not fail frames of others.
            for picture, original in zip(pictures, originals):
                fill(picture, original)
            for frame in frames:
                self._call([frame], self._sessions[frame.session])
            return
        for frame, picture, result in zip(frames, pictures, returned):
            try:
                message = self._store(definition, frame, picture, result)
            except Exception as error:
                self._fail_with(error, frame, started)
                continue
            message.frame = frame.frame
            message.process_us = _microseconds(started)
            self._outgoing.put(contract.ProcessMessage(result=message))
        self._durations[definition.name] = _microseconds(started) / 1e6

    def _store(
        self, definition: Definition, frame: Any, picture: Any, result: Any
    ) -> contract.ProcessMessage.Result:
        """Writes a returned picture or matte; returns the message with other results."""
        message = contract.ProcessMessage.Result()
        if definition.kind == "analysis":
            message.analysis.CopyFrom(_analysis(result))
        elif definition.kind == "face finder":
            message.faces.extend(_faces(result))
        elif definition.kind == "matte":
            fill(view(self._memory, PixelFormat.GRAY, frame.output, True), result)
        elif frame.HasField("output"):
            if result is None and definition.returns_none is not None:
                raise TypeError("the filter returned None instead of a picture")
            target = view(self._memory, definition.format, frame.output, True)
            fill(target, picture if result is None else result)
        elif result is not None:
            raise TypeError(
                f"the filter is annotated to return None, but returned {type(result).__name__}"
            )
        return message

    def _fail_with(self, error: Exception, frame: Any, started: float) -> None:
        line, detail = _described(error)
        self._fail(frame, line, detail, _microseconds(started))

    def _fail(self, frame: Any, message: str, detail: str, elapsed: int) -> None:
        failed = contract.ProcessMessage.Failed(
            frame=frame.frame, message=message, detail=detail, process_us=elapsed
        )
        self._outgoing.put(contract.ProcessMessage(failed=failed))


def _analysis(result: Any) -> session_pb2.Analysis:
    """Returns the message of an analysis' results."""
    if isinstance(result, Mapping):
        words = {name: value for name, value in result.items() if isinstance(value, str)}
        figures = {name: value for name, value in result.items() if name not in words}
        result = Results(figures, words=words)
    if not isinstance(result, Results):
        raise TypeError(
            f"the analysis returned {type(result).__name__} instead of Results or a dictionary"
        )
    count = sum(map(len, (result.figures, result.detections, result.words, result.rows)))
    if count > _MAX_VALUES:
        raise ValueError(f"the analysis returned {count} results; at most {_MAX_VALUES} are possible")
    message = session_pb2.Analysis(words=result.words)
    for name, figure in result.figures.items():
        message.figures[name] = float(figure)
    for name, row in result.rows.items():
        message.rows[name].values.extend(map(float, row))
    for each in result.detections:
        message.detections.add(
            kind=each.kind,
            tracking_id=each.tracking_id,
            confidence=each.confidence,
            x=each.x,
            y=each.y,
            width=each.width,
            height=each.height,
        )
    return message


def _faces(result: Any) -> list[contract.ProcessMessage.Face]:
    """Returns the messages of a face finder's result."""
    if not isinstance(result, Sequence) or not all(isinstance(each, Face) for each in result):
        raise TypeError(
            f"the face finder returned {type(result).__name__} instead of a list of Face"
        )
    if len(result) > _MAX_FACES:
        raise ValueError(
            f"the face finder returned {len(result)} faces; at most {_MAX_FACES} are possible"
        )
    messages = []
    for face in result:
        message = contract.ProcessMessage.Face(
            x=face.x, y=face.y, width=face.width, height=face.height, confidence=face.confidence
        )
        if face.landmarks is not None:
            (left_x, left_y), (right_x, right_y), (mouth_x, mouth_y) = face.landmarks
            message.landmarks.CopyFrom(
                contract.ProcessMessage.Landmarks(
                    left_eye_x=left_x,
                    left_eye_y=left_y,
                    right_eye_x=right_x,
                    right_eye_y=right_y,
                    mouth_x=mouth_x,
                    mouth_y=mouth_y,
                )
            )
        messages.append(message)
    return messages


def _described(error: Exception) -> tuple[str, str]:
    """Returns the last line of a traceback, and the part of it that is not of this module."""
    steps: Any = error.__traceback__
    while steps is not None and _is_own(steps.tb_frame.f_code.co_filename):
        steps = steps.tb_next
    # An error of this package's own checks says all in its message.
    lines = traceback.format_exception(type(error), error, steps) if steps else []
    last = traceback.format_exception_only(type(error), error)[-1].strip()
    return _shortened(last, _MAX_MESSAGE_BYTES), _shortened("".join(lines), _MAX_DETAIL_BYTES)


_FOLDER = str(Path(__file__).parent)


def _is_own(path: str) -> bool:
    return os.path.dirname(path) == _FOLDER


def _shortened(text: str, limit: int) -> str:
    """Returns the end of a text, which says most."""
    data = text.encode(errors="replace")
    return text if len(data) <= limit else data[-limit:].decode(errors="ignore")


def _microseconds(started: float) -> int:
    return round((time.perf_counter() - started) * 1e6)
