"""The methods of a session that both faces share: those that never wait."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any, Callable, Generic, NamedTuple, Optional, TypeVar, Union

from .._channel import Endpoint
from .._formats import Color, FormatLike, Orientation
from .._validation import integer, invalid, one_of
from ..composition import Composition
from ..errors import FailedPrecondition, SidelightError, error_of_status
from ..events import EncoderTarget, Stats
from ..images import Frame
from ..outcomes import Counts, Latency
from ..output import bit_rate_of, frame_rate_of
from ..pipelines import PipelineLike, Updates, Value, activation, update_message
from ..transitions import GlideLike, TransitionLike, glide_message, transition_message
from ..v1 import session_pb2
from .changes import ChangeRecord
from .link import Link
from .machine import MESSAGE, MOVED, SessionMachine
from .options import SessionOptions, select_message
from .window import OPEN

_LOG = logging.getLogger("sidelight")

METHOD = "/sidelight.v1.FrameFilter/Process"
#: The seconds that `close()` waits for the outcomes of frames in flight.
CLOSE_TIMEOUT = 2.0


class Opened(NamedTuple):
    """The options that the server granted."""

    frames_in_flight: int
    mailbox_depth: int
    #: The budget in seconds; `None` without a limit.
    budget: Optional[float]
    #: The limits of the server by name, as in the contract's `Limits`.
    limits: Mapping[str, int]
    #: The reason why there is no shared memory; `None` if there is, or if it was not requested.
    shared_memory_refusal: Optional[SidelightError]


class Connection:
    """A connection of a session, with its call."""

    def __init__(self, link: Link, endpoint: Endpoint) -> None:
        self.link = link
        self.endpoint = endpoint
        self.call: Any = None
        self.has_ended = False
        self.is_aborted = False
        #: The error with which it was aborted; `None` without one.
        self.error: Optional[SidelightError] = None

    def abort(self, error: Optional[SidelightError]) -> None:
        """Ends the call with an error."""
        self.error, self.is_aborted = error, True
        call = self.call
        if call is not None:
            call.cancel()


class ChangeBase:
    """A requested change of the pipeline."""

    def __init__(self, session: Any, record: ChangeRecord) -> None:
        self._session = session
        self._record = record

    @property
    def request_id(self) -> int:
        """The number that events of the change carry."""
        return self._record.request_id

    @property
    def revision(self) -> Optional[int]:
        """The revision that includes the change; `None` until it is accepted."""
        return self._record.revision

    @property
    def error(self) -> Optional[SidelightError]:
        """The reason why the change was refused; `None` if it was not, or not yet."""
        return self._record.error

    def _result(self, applied: bool) -> int:
        value = self._record.first_sequence if applied else self._record.revision
        if value is None:
            error = self._record.error or FailedPrecondition("the change has no answer")
            raise error.with_traceback(None)
        return value

    def __repr__(self) -> str:
        return f"<Change {self.request_id}, revision {self.revision}>"


class _Callback:
    """A function that is called with every event."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def resolve(self, event: Any) -> None:
        """Calls the function, and logs its error."""
        try:
            self._function(event)
        except Exception:
            _LOG.exception("a callback of a session failed for %r", event)


ChangeType = TypeVar("ChangeType", bound=ChangeBase)


class SessionBase(Generic[ChangeType]):
    """A session: one track of video, filtered by one pipeline at a time.

    Every frame has exactly one outcome, in the order of sending.
    """

    def __init__(
        self, endpoint: Endpoint, options: SessionOptions, change_type: type[ChangeType]
    ) -> None:
        self._change_type = change_type
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._machine = SessionMachine(options, endpoint.has_credentials)
        #: The connections that have not ended.
        self._connections: list[Connection] = []
        Link(self._machine)

    @property
    def _link(self) -> Link:
        """The current connection."""
        link = self._machine.link
        assert link is not None
        return link

    def _update(self, operation: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a method of the machine or the link, and resolves those who waited for it."""
        self._lock.acquire()
        try:
            return operation(*arguments)
        finally:
            effects = self._machine.take_effects()
            self._lock.release()
            for waiter, value in effects:
                waiter.resolve(value)

    # Connections

    def _start_connection(self) -> Connection:
        """Begins to open the session's connection."""
        self._link.start(now(), self._endpoint.is_local)
        connection = Connection(self._link, self._endpoint)
        self._connections.append(connection)
        return connection

    def _start_move(self, attempt: int) -> Optional[Connection]:
        """Begins to open the connection of a move, at the next of the server's addresses and the
        session's own; `None` if that is not wanted any more."""
        machine = self._machine
        addresses = machine.move_addresses
        if addresses is None or machine.is_over or machine.next is not None:
            return None
        if not all(each.link.was_used for each in self._connections):
            return None
        endpoints = [each for each in map(self._endpoint.at, addresses) if each is not None]
        endpoints.append(self._endpoint)
        endpoint = endpoints[attempt % len(endpoints)]
        link = Link(machine, self._link)
        link.start(now(), endpoint.is_local)
        connection = Connection(link, endpoint)
        self._connections.append(connection)
        return connection

    def _end_connection(
        self, connection: Connection, error: Optional[SidelightError], random: float
    ) -> Optional[float]:
        """Records that a connection has ended. Returns the seconds after which the session is opened
        again; `None` if it is over, or uses another connection."""
        connection.has_ended = True
        self._connections.remove(connection)
        if connection.link.is_current:
            return connection.link.end(error, now(), random)
        self._machine.end_link(connection.link)
        return None

    def _next_message(self, connection: Connection, make_waiter: Callable[[], Any]) -> Any:
        """Returns the next message of a connection, or a waiter for it; neither after the last."""
        machine, link = self._machine, connection.link
        if connection.has_ended:
            return None, None
        message = link.next_message(now())
        if message is not None:
            return message, None
        if link.is_over or (machine.is_over and not link.is_current):
            return None, None
        waiter = make_waiter()
        machine.wait(MESSAGE if link.is_current else MOVED, waiter)
        return None, waiter

    def _tick(self) -> None:
        """Checks the time limits of the connections. Called every `TICK_INTERVAL`."""
        for connection in list(self._connections):
            error = self._update(connection.link.tick, now())
            if error is not None:
                connection.abort(error)

    def _abort(self) -> None:
        """Ends the session at once."""
        self._update(self._machine.end, None)
        for connection in list(self._connections):
            connection.abort(None)

    # State

    @property
    def id(self) -> str:
        """The name of the session at the server. Changes with the connection."""
        return self._machine.session_id

    @property
    def revision(self) -> int:
        """The revision of the pipeline in force; 0 before the session is open."""
        return self._machine.revision

    @property
    def options(self) -> Opened:
        """The options that the server granted."""
        opened = self._link.opened
        if opened is None:
            raise FailedPrecondition("the session is not open; open it with `with` or open()")
        refusal = None
        if opened.HasField("shared_memory_refusal"):
            refusal = error_of_status(opened.shared_memory_refusal)
        limits: dict[str, int] = {
            field.name: getattr(opened.limits, field.name)
            for field in opened.limits.DESCRIPTOR.fields
        }
        return Opened(
            opened.frames_in_flight,
            opened.mailbox_depth,
            opened.budget_us / 1e6 if opened.budget_us else None,
            limits,
            refusal,
        )

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection that takes frames."""
        return self._machine.window.link == OPEN

    @property
    def uses_shared_memory(self) -> bool:
        """Whether pixels travel in shared memory."""
        return self._link.ring is not None

    @property
    def protects(self) -> bool:
        """Whether the pipeline may hide faces or the background, or an override is in force.

        No original is then shown while there is no connection, whatever `fallback` is. A protection
        counts from the request of a change until another pipeline is in force.
        """
        with self._lock:
            return self._machine.protects

    @property
    def error(self) -> Optional[SidelightError]:
        """The error that ended the session; `None` if it goes on or ended as requested."""
        return self._machine.error

    @property
    def resume_token(self) -> bytes:
        """The newest token, with which `Server.session` continues this session elsewhere."""
        return self._machine.changes.token

    @property
    def counts(self) -> Counts:
        """The outcomes so far.

        `received` is the sum of all others, including those that wait to be taken."""
        with self._lock:
            return self._machine.delivery.counts()

    @property
    def latency(self) -> Latency:
        """Percentiles of the times of the last 256 frames that came back."""
        with self._lock:
            return self._machine.notices.latency()

    @property
    def dropped_analyses(self) -> int:
        """The number of results of analyses that were lost because they were not taken in time."""
        return self._machine.notices.dropped_analyses

    @property
    def dropped_outputs(self) -> int:
        """The number of outcomes of named outputs that were lost because they were not taken in
        time; 0 under "never_drop"."""
        return self._machine.outputs.dropped

    def stats(self) -> Optional[Stats]:
        """Returns the server's last counts; `None` before the first.

        They come every `stats_interval` seconds, and at the end."""
        return self._machine.stats

    # Frames

    def frame(
        self,
        width: int,
        height: int,
        format: FormatLike = "i420",
        *,
        color: Optional[Color] = None,
        orientation: Optional[Orientation] = None,
    ) -> Frame:
        """Returns a frame to write a picture into, which is then sent without a copy.

        It is in shared memory if the session is open and has any, and a slot is free. Its bytes are
        0 or come from an earlier picture. The frame keeps its slot until it and all its planes are
        gone, so create it when its picture is about to be written.
        """
        result: Frame = self._update(
            self._link.lend_frame, width, height, format, color, orientation
        )
        return result

    # Changes

    def select(
        self,
        pipeline: PipelineLike,
        *,
        transition: Optional[TransitionLike] = None,
        if_revision: Optional[int] = None,
    ) -> ChangeType:
        """Replaces the pipeline for the frames that are sent after this call. Returns at once.

        - `pipeline`: A text, a stage, a list of stages, a `Pipeline`, or `None`.
        - `transition`: The transition to it, or the seconds of a fade; `None` for a cut.
        - `if_revision`: The revision that must be in force; otherwise the change is refused.
        """
        message = select_message(pipeline, if_revision)
        if transition is not None:
            message.transition.CopyFrom(transition_message(transition))
        return self._change(message)

    def update(
        self,
        changes: Union[str, Updates],
        value: Optional[Value] = None,
        *,
        glide: Optional[GlideLike] = None,
        if_revision: Optional[int] = None,
    ) -> ChangeType:
        """Changes parameters of stages, which keep their state. Returns at once.

        `update("s0.scale", 24)` or `update({"s0": {"scale": 24}})`: all change, or the call fails.
        Updates that wait to be sent are merged, so a slider may call this as often as it moves.

        - `glide`: Moves the parameters to their values over time: a `Glide` or its seconds.
        """
        message = session_pb2.Update(stages=update_message(changes, value))
        if glide is not None:
            message.glide.CopyFrom(glide_message(glide))
        if if_revision is not None:
            message.if_revision = if_revision
        return self._change(message)

    def activate(
        self,
        changes: Union[str, Mapping[str, bool]],
        active: Optional[bool] = None,
        *,
        transition: Optional[TransitionLike] = None,
        if_revision: Optional[int] = None,
    ) -> ChangeType:
        """Turns stages on and off; they keep their state. Returns at once.

        `activate("s0", False)` or `activate({"s0": False})`: all are changed, or the call fails.

        - `transition`: As that of `select`.
        """
        message = session_pb2.Activate(stages=activation(changes, active))
        if transition is not None:
            message.transition.CopyFrom(transition_message(transition))
        if if_revision is not None:
            message.if_revision = if_revision
        return self._change(message)

    def _change(self, message: Any) -> ChangeType:
        is_conditional = message.HasField("if_revision")
        record = self._update(self._machine.change, message, is_conditional)
        return self._change_type(self, record)

    def pause(self, pass_through: bool = False) -> None:
        """Stops filtering until `resume()`.

        - `pass_through`: Whether frames come back unchanged; otherwise they are dropped.
        """
        self._update(self._machine.request_pause, bool(pass_through))

    def resume(self) -> None:
        """Ends a pause."""
        self._update(self._machine.request_pause, None)

    # Encoded video

    def set_encoder(
        self,
        *,
        bit_rate: Optional[int] = None,
        frame_rate: Optional[float] = None,
        width: Optional[int] = None,
        height: Optional[int] = None,
        output: str = "",
    ) -> None:
        """Changes the encoder of the results for the frames after this call. Returns at once; a
        change that the server refuses is an event `Rejected` with the number 0.

        A call server passes its estimate of the receivers' rate on. `None` keeps a value.

        - `bit_rate`: Bits per second, 20,000 to 100,000,000.
        - `frame_rate`: The frames per second that the bit rate is for, 1 to 240.
        - `width`, `height`: The size of the results, 1 to 16384, as in `Output`. The next result is
          a key frame if it changes.
        - `output`: The name of the output, in a session with named outputs.
        """
        self._check_output(output, is_required=True)
        message = session_pb2.SetEncoder(output=output)
        if bit_rate is not None:
            message.bit_rate = bit_rate_of("bit_rate", bit_rate)
        if frame_rate is not None:
            message.frame_rate = frame_rate_of("frame_rate", frame_rate)
        if width is not None:
            message.width = integer("width", width, 1, 16384)
        if height is not None:
            message.height = integer("height", height, 1, 16384)
        self._update(self._machine.set_encoder, message)

    def set_composition(self, composition: Composition) -> None:
        """Replaces the composition for later pictures. Returns at once; a change that the server
        refuses is an event `Rejected` with the number 0."""
        if not isinstance(composition, Composition):
            raise invalid("composition", composition, "a Composition")
        self._update(self._machine.set_composition, composition.message())

    def request_key_frame(self, *, output: str = "") -> None:
        """Requests a key frame of the results, for a viewer that joins or has lost a frame (PLI).

        Without a connection it has no effect: a connection begins with a key frame.

        - `output`: The name of a named output; by default all.
        """
        self._check_output(output, is_required=False)
        self._update(self._machine.request_key_frame, output)

    def _check_output(self, output: str, is_required: bool) -> None:
        names = self._machine.outputs.names
        if output in names or (output == "" and not (is_required and names)):
            return
        if names:
            raise one_of("output", output, names)
        raise invalid("output", output, "empty: the session has no named outputs")

    def adapt_encoder(self, target: EncoderTarget) -> None:
        """Adapts this program's encoder to the connection: from now on, events `EncoderTarget` and
        `encoder_target` tell its bit rate, size and frame rate, as acknowledgements allow.

        - `target`: The wished values, which are the maximum. A later call replaces them. The bit
          rate is 20,000 to 100,000,000, the frame rate 1 to 240.
        """
        wished = EncoderTarget(
            bit_rate_of("target.bit_rate", target.bit_rate),
            integer("target.width", target.width, 1, 16384),
            integer("target.height", target.height, 1, 16384),
            frame_rate_of("target.frame_rate", target.frame_rate),
        )
        self._update(self._machine.adapt_encoder, wished, now())

    @property
    def encoder_target(self) -> EncoderTarget:
        """The values to encode the next frame to send with.

        Raises `FailedPrecondition` without `adapt_encoder`."""
        rates = self._machine.rates
        if rates is None:
            raise FailedPrecondition("the encoder is not adapted; call adapt_encoder(target)")
        with self._lock:
            return rates.current

    def may_encode(self) -> bool:
        """Whether the connection takes another encoded frame now. Ask before each picture, and leave
        it out instead of encoding it for a queue. Without `adapt_encoder`: whether there is a
        connection."""
        result: bool = self._update(self._machine.may_encode, now())
        return result

    # Events and the end

    def on_event(self, callback: Callable[[Any], Any]) -> Callable[[], None]:
        """Calls a function with every event and analysis, on the thread that reads them.

        The function must return soon, must not call the session's waiting methods, and its errors
        are logged. Returns a function that ends the calls.
        """
        entry = _Callback(callback)
        with self._lock:
            self._machine.notices.callbacks.append(entry)

        def remove() -> None:
            with self._lock:
                if entry in self._machine.notices.callbacks:
                    self._machine.notices.callbacks.remove(entry)

        return remove

    def finish(self) -> None:
        """Refuses further frames and changes. The session ends when those that were sent have
        their outcomes."""
        self._update(self._machine.finish)

    def __repr__(self) -> str:
        state = "over" if self._machine.is_over else "open" if self.is_connected else "connecting"
        return f"<Session {self.id or 'unopened'}, {state}>"


def now() -> float:
    """Returns the time of the monotonic clock, in seconds."""
    return time.monotonic()
