"""The side of a session that faces its connection: opening, messages in both directions, loss."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

from ..errors import (
    DeadlineExceeded,
    InvalidArgument,
    SidelightError,
    Unavailable,
    error_of_status,
    make_error,
)
from ..events import (
    Accepted,
    Applied,
    ConnectionLost,
    KeyFrameReason,
    OutputOutcome,
    Reconnected,
    SessionState,
    advice_of,
    analysis_of,
    key_frame_needed_of,
    rejected_of,
    state_of,
    stats_of,
    transition_ended_of,
)
from ..images import EncodedImage, FormatLike, Frame, Image, PixelFormat
from ..outcomes import DropReason, DropStage, FrameInfo
from ..v1 import session_pb2
from .changes import Entry
from .delivery import Pending
from .frames import DescriptionCache, metadata_of, place_of
from .machine import SessionMachine
from .notices import LATENCY_WINDOW
from .reconnect import LEFT_SILENCE_LIMIT, SILENCE_LIMIT
from .references import encoded
from .replies import dropped_outcome, pixels_of, returned_outcome
from .slots import Slots
from .window import OPEN, OPENING, Acknowledgement, EncoderChange, PauseRequest
from .wire import decode_reply, encode_ack, encode_frame, encode_slot_frame

_PING = session_pb2.ClientMessage(ping=session_pb2.Ping()).SerializeToString()
#: The seconds between pings of a silent connection.
PING_INTERVAL = 5.0
#: The seconds between calls of `tick`.
TICK_INTERVAL = 0.1
#: The shortest silence, in seconds, after which a connection with frames in flight is replaced.
STALL_LIMIT = 1.0

#: The states in which a server does not keep a session.
_LEAVING = (session_pb2.SESSION_STATE_DRAINING, session_pb2.SESSION_STATE_MOVE)
#: The messages about a session that are kept until it continues on the connection of a move.
_KEPT_NOTICES = frozenset(("state", "accepted", "applied", "error"))


class FetchRing(NamedTuple):
    """A ring to fetch; `Link.finish_opening` takes it."""

    offer: Any
    session_id: str


class RoundTrip:
    """The usual time from a frame to its outcome, in seconds: mean and deviation as in RFC 6298."""

    def __init__(self) -> None:
        self._mean: Optional[float] = None
        self._deviation = 0.0

    def record(self, time: float) -> None:
        """Adds a measurement."""
        if self._mean is None:
            self._mean, self._deviation = time, time / 2
        else:
            self._deviation += (abs(time - self._mean) - self._deviation) / 4
            self._mean += (time - self._mean) / 8

    @property
    def upper_bound(self) -> Optional[float]:
        """The time that few outcomes exceed; `None` before the first measurement."""
        return None if self._mean is None else self._mean + 4 * self._deviation


class Link:
    """A connection of a session: the current one, the one of a move, or one that was left and still
    returns outcomes. The current one is used again after a loss.

    - `left`: The connection that a move leaves; `None` without a move.
    """

    def __init__(self, machine: SessionMachine, left: Optional[Link] = None) -> None:
        self._machine = machine
        if left is None:
            machine.link = self
        else:
            machine.candidate = self
        #: Whether it was opened with an older state than the newest, so the session does not move to
        #: it.
        self.is_stale = False
        #: Whether the session has moved to another connection.
        self.is_retired = False
        #: Whether messages were sent on it.
        self.was_used = False
        #: The messages about the session that came before it continued on this connection.
        self._early_notices: list[Any] = []
        #: The outcomes in outputs that wait for those of earlier connections.
        self._held_outputs: list[OutputOutcome] = []
        self._descriptions = DescriptionCache()
        self._open_message: Optional[bytes] = None
        self._opened: Any = None
        self._presented_token = False
        self._started = 0.0
        self._last_activity = 0.0
        #: The time since which the session has been on another connection.
        self._left: Optional[float] = None
        self._pinged: Optional[float] = None
        #: The time since which frames in flight wait without any message of the server.
        self._silent_since: Optional[float] = None
        self._is_silent = False
        self._ticked = 0.0
        self._stall_limit = STALL_LIMIT
        self._round_trip: RoundTrip = RoundTrip() if left is None else left._round_trip
        #: The times at which the last frames were submitted, for their outcomes in outputs.
        self._submitted: dict[int, float] = {} if left is None else left._submitted
        #: The ring of this connection; `None` if pixels travel inline.
        self.ring: Any = None
        self.slots: Optional[Slots] = None
        #: The server's answer to `open`; `None` before the first.
        self.opened: Any = None

    # Opening

    def start(self, now: float, is_local: bool) -> None:
        """Begins to open a connection.

        - `is_local`: Whether the server is on this host, so shared memory can be requested.
        """
        machine = self._machine
        token = machine.changes.token if machine.reconnector.uses_token else b""
        self._presented_token = bool(token)
        self._open_message = machine.options.open_message(
            machine.changes.selection(), token, is_local, machine.encoders.composition
        )
        self._opened = None
        self._started = self._last_activity = now
        self._pinged = self._silent_since = None
        self._is_silent = False
        self.ring = self.slots = None
        machine.changes.start()
        if self.is_current:
            machine.window.link = OPENING

    @property
    def is_current(self) -> bool:
        """Whether messages are sent on this connection."""
        return self._machine.link is self

    def finish_opening(self, ring: Any, now: float) -> None:
        """Records that the connection is open. The session moves to it as soon as it can without
        losing a frame, unless it is its only one.

        - `ring`: The memory of the ring; `None` if pixels travel inline.
        """
        machine = self._machine
        self.opened = self._opened
        if ring is not None:
            self.ring = ring
            self.slots = Slots(ring.input_slots, ring.output_slots)
        machine.reconnector.open(now, now - self._started)
        if self.is_current:
            self.begin()
            if machine.was_opened and machine.references.is_used:
                machine.request_input_key_frame(
                    machine.next_sequence, KeyFrameReason.START, now
                )
            machine.was_opened = True
        elif self.is_stale or machine.move_addresses is None:
            raise Unavailable("the connection is not needed any more")
        else:
            machine.next = self
            machine.request_move_key_frame(now)

    def begin(self) -> None:
        """Begins to send messages on the connection."""
        machine, opened = self._machine, self.opened
        if self not in machine.output_links:
            machine.output_links.append(self)
        self.was_used = True
        waiting = machine.window.waiting
        machine.first_sequence = waiting[0].sequence if waiting else machine.next_sequence
        machine.session_id = opened.session_id
        machine.revision = opened.revision
        machine.changes.token = opened.resume_token
        machine.fallback.reconnect()
        machine.state = SessionState.RUNNING
        machine.link_error = None
        first = machine.changes.replay(self._presented_token)
        if machine.pause is not None:
            first.append(machine.pause.encode())
        first += machine.encoders.replay()
        machine.acknowledges = opened.output_window > 0
        machine.references.reset()
        machine.restart_rates()
        machine.window.open(opened.frames_in_flight, first)
        if machine.was_opened:
            machine.notices.push_event(Reconnected(opened.session_id, self._presented_token))
        early, self._early_notices = self._early_notices, []
        for reply in early:
            self._receive_notice(reply.WhichOneof("kind"), reply)

    # To the server

    @property
    def is_over(self) -> bool:
        """Whether the last message was sent on this connection."""
        return self.is_retired or self.is_stale or (self.is_current and self._machine.window.is_over)

    def next_message(self, now: float) -> Optional[bytes]:
        """Returns the next message to write; `None` if there is none now."""
        if self._open_message is not None and not self.is_stale:
            message, self._open_message = self._open_message, None
            return message
        if not self.is_current:
            return None
        machine = self._machine
        window = machine.window
        if self.slots is not None and window.link == OPEN:
            # Before a frame only if the server has no slot for it. While the queue is empty, the
            # server is busy with a frame or idle, so an early acknowledgement costs no time.
            needed = window.outstanding + (1 if window.is_ready else 3)
            acknowledgement = self.slots.acknowledgement(needed)
            if acknowledgement is not None:
                return encode_ack(*acknowledgement)
        if not window.is_ready:
            return None
        while True:
            element = window.next()
            if element is None:
                return None
            if type(element) is Pending:
                reason = machine.references.missing(element)
                if reason is not None:
                    self._take_back(element)
                    machine.drop_undecodable(element, reason)
                    continue
                element.holds_credit = True
                try:
                    message = self._encode(element)
                except Exception as error:  # The attributes of a frame can be set to anything.
                    self._refuse(element, error)
                    continue
                machine.references.record_sent(element)
                if machine.rates is not None and encoded(element) is not None:
                    machine.rates.sent(element.sequence, len(message), now)
                return message
            if isinstance(element, Acknowledgement):
                held = () if self.slots is None else self.slots.held()
                return encode_ack(element.sequence, held, element.output)
            if isinstance(element, Entry):
                element.is_sent = True
                return element.encode()
            if isinstance(element, PauseRequest):
                machine.pause = element
                return element.encode()
            if isinstance(element, EncoderChange):
                return element.encode()
            data: bytes = element.data
            return data

    def _encode(self, pending: Pending) -> bytes:
        frame: Frame = pending.frame
        image = frame.image
        data = image.data
        description = self._descriptions.encode(image)
        metadata = metadata_of(frame, pending.trace)
        if isinstance(image, EncodedImage):
            dependencies = self._machine.references.dependencies(pending)
            description += place_of(image, dependencies)
            return encode_frame(pending.sequence, metadata, description, data)
        slots, ring = self.slots, self.ring
        if slots is not None and data.nbytes <= ring.slot_bytes:
            slot = ring.input_slot(data)
            if slot is None or not slots.send(slot, pending.sequence):
                slot = slots.lend()
                if slot is not None:
                    ring.view(slot, data.nbytes, -1, slots.returned)[:] = data
                    slots.send(slot, pending.sequence)
            if slot is not None:
                return encode_slot_frame(pending.sequence, metadata, description, slot, data.nbytes)
        return encode_frame(pending.sequence, metadata, description, data)

    def _refuse(self, pending: Pending, error: Exception) -> None:
        """Drops a frame that cannot be sent, for example because its picture is released."""
        machine = self._machine
        self._take_back(pending)
        machine.references.record_unsent(pending)
        if not isinstance(error, SidelightError):
            field = "frame.image" if isinstance(error, ValueError) else "frame"
            message = f"{field} cannot be sent: {error}"
            error = InvalidArgument(message, field=field)
        machine.settle_at_client(pending, DropReason.INVALID_FRAME, DropStage.CLIENT, error)

    def _take_back(self, pending: Pending) -> None:
        """Removes a frame that was about to be sent."""
        self._machine.pending.pop(pending.sequence, None)
        self._machine.window.outstanding -= 1

    def lend_frame(
        self, width: int, height: int, format: FormatLike, color: Any, orientation: Any
    ) -> Frame:
        """Returns a frame in a free slot; in other memory without a free and large enough slot."""
        slots, ring = self.slots, self.ring
        kind = PixelFormat.of(format)
        if slots is not None:
            size = Image.packed_size(kind, width, height)
            slot = slots.lend() if size <= ring.slot_bytes else None
            if slot is not None:
                view = ring.view(slot, size, -1, slots.returned)
                return Frame(Image(kind, width, height, view, color=color, orientation=orientation))
        return Frame(Image.allocate(kind, width, height, color=color, orientation=orientation))

    # From the server

    def receive(self, data: bytes, now: float) -> Optional[FetchRing]:
        """Handles a message; returns a ring to fetch before `finish_opening`, if there is one."""
        self._last_activity = now
        reply, pixels = decode_reply(data)
        kind = reply.WhichOneof("kind")
        # Outcomes of named outputs return no credit.
        if kind in ("frame", "dropped") and getattr(reply, kind).output:
            self._receive_output(kind, getattr(reply, kind), pixels, now)
        elif kind in ("frame", "dropped") and self._machine.options.composes:
            self._receive_composed(kind, getattr(reply, kind), pixels)
        elif kind == "frame":
            self._receive_frame(reply.frame, pixels, now)
        elif kind == "dropped":
            self._receive_dropped(reply.dropped, now)
        elif kind == "opened":
            self._check_outputs(reply.opened)
            self._check_composition(reply.opened)
            self._opened = reply.opened
            if reply.opened.HasField("shared_memory"):
                return FetchRing(reply.opened.shared_memory, reply.opened.session_id)
            self.finish_opening(None, now)
        elif kind is not None and self._is_pending:
            self._receive_early(kind, reply)
        elif kind is not None and (kind == "analysis" or not self.is_retired):
            self._receive_notice(kind, reply)
        return None

    @property
    def _is_pending(self) -> bool:
        """Whether the session has not continued on this connection of a move."""
        return not self.is_current and not self.is_retired

    def _receive_early(self, kind: str, reply: Any) -> None:
        """Keeps a message that says something about the session only once it continues here.

        Raises `Unavailable` if it does not, because the server leaves it.
        """
        if kind == "state" and reply.state.state in _LEAVING:
            if self._machine.next is self:
                self._machine.next = None
            raise Unavailable("the server of a move leaves the session")
        if kind in _KEPT_NOTICES:
            self._early_notices.append(reply)

    def _check_outputs(self, opened: Any) -> None:
        """Raises `SidelightError` if the server has ignored named outputs: the pictures would be
        lost."""
        count, limit = len(self._machine.options.open.outputs), opened.limits.max_outputs
        if count > limit:
            has = f"has at most {limit}" if limit else "does not have"
            raise make_error(
                "UNIMPLEMENTED",
                f"the server {has} named outputs, and the session requests {count}; update the "
                "server, or open a session for every output",
                limit=str(limit),
            )

    def _check_composition(self, opened: Any) -> None:
        """Raises `SidelightError` if the server would wait for frames."""
        if self._machine.options.composes and not opened.limits.max_sources:
            raise make_error(
                "UNIMPLEMENTED", "the server does not have compositions; update the server"
            )

    def _receive_composed(self, kind: str, message: Any, pixels: Optional[memoryview]) -> None:
        machine = self._machine
        if kind == "dropped":
            error = error_of_status(message.diagnostic) if message.HasField("diagnostic") else None
            for sequence in range(message.first_sequence, message.last_sequence + 1):
                dropped = Pending(sequence, None, FrameInfo(), 0.0, None)
                machine.settle_composed(dropped, dropped_outcome(dropped, message, error))
            return
        info = FrameInfo(message.capture_time_ns or None, message.rtp_timestamp, {})
        pending = Pending(message.sequence, None, info, 0.0, None)
        view = pixels
        has_pixels = message.image.WhichOneof("pixels") is not None
        if view is None and has_pixels:
            view = memoryview(message.image.inline)
        outcome = returned_outcome(pending, message, view, 0.0, is_omitted=view is None)
        machine.settle_composed(pending, outcome)

    def _receive_frame(self, message: Any, pixels: Optional[memoryview], now: float) -> None:
        machine, sequence = self._machine, message.sequence
        if self.slots is not None:
            self.slots.settle(sequence, sequence)
        view = pixels
        options = machine.options.open
        if view is None and not options.outputs:
            view = pixels_of(message, self.slots, self.ring, options.analysis_only)
        pending = machine.take_sent(sequence)
        if pending is None:
            return
        if machine.rates is not None and self.is_current:
            machine.rates.acknowledged(sequence, now, message.timing.total_us / 1e6)
            machine.announce_target()
        round_trip = now - pending.submitted
        if options.outputs:
            self._submitted[sequence] = pending.submitted
            if len(self._submitted) > LATENCY_WINDOW:
                del self._submitted[next(iter(self._submitted))]
        self._round_trip.record(round_trip)
        machine.notices.push_times(round_trip, message.timing.total_us)
        outcome = returned_outcome(pending, message, view, round_trip, bool(options.outputs))
        machine.settle(pending, outcome)

    def _receive_dropped(self, message: Any, now: float) -> None:
        first, last = message.first_sequence, message.last_sequence
        if self.slots is not None:
            self.slots.settle(first, last)
        error = error_of_status(message.diagnostic) if message.HasField("diagnostic") else None
        machine = self._machine
        if machine.rates is not None and self.is_current:
            machine.rates.discarded(last, now)
        for sequence in [each for each in machine.pending if first <= each <= last]:
            pending = machine.take_sent(sequence)
            if pending is not None:
                machine.settle(pending, dropped_outcome(pending, message, error))

    def _receive_output(
        self, kind: str, message: Any, pixels: Optional[memoryview], now: float
    ) -> None:
        outcome: Any
        if kind == "dropped":
            error = error_of_status(message.diagnostic) if message.HasField("diagnostic") else None
            pending = Pending(message.last_sequence, None, FrameInfo(), 0.0, None)
            outcome = dropped_outcome(pending, message, error)
        else:
            view = memoryview(message.image.inline) if pixels is None else pixels
            times = message.capture_time_ns or None, message.rtp_timestamp
            info = FrameInfo(*times, dict(message.tags))
            pending = Pending(message.sequence, None, info, 0.0, None)
            sent = self._machine.pending.get(message.sequence)
            submitted = sent.submitted if sent else self._submitted.get(message.sequence, now)
            outcome = returned_outcome(pending, message, view, now - submitted)
        if self._machine.output_links[:1] != [self]:
            self._held_outputs.append(OutputOutcome(message.output, outcome))
        else:
            self._machine.push_output(OutputOutcome(message.output, outcome))

    def push_held_outputs(self) -> None:
        """Adds the outcomes in outputs that have waited for those of earlier connections."""
        held, self._held_outputs = self._held_outputs, []
        for outcome in held:
            self._machine.push_output(outcome)

    def _receive_notice(self, kind: str, reply: Any) -> None:
        machine = self._machine
        if kind == "analysis":
            machine.notices.push_analysis(analysis_of(reply.analysis))
        elif kind == "accepted":
            accepted = reply.accepted
            for record in machine.changes.accept(accepted.request_id):
                record.revision = accepted.revision
                machine.answer(record)
            is_encoder = machine.encoders.resolve(accepted.request_id, True)
            if accepted.request_id and not is_encoder:  # 0: a change that is repeated.
                machine.notices.push_event(Accepted(accepted.request_id, accepted.revision))
        elif kind == "applied":
            self._apply(reply.applied)
        elif kind == "error":
            rejected = rejected_of(reply.error)
            machine.fail(list(machine.changes.reject(rejected.request_id)), rejected.error)
            if machine.encoders.resolve(rejected.request_id, False):
                rejected = rejected._replace(request_id=0)
            machine.notices.push_event(rejected)
        elif kind == "state":
            self._change_state(reply.state)
        elif kind == "stats":
            machine.stats = stats_of(reply.stats)
            machine.notices.push_event(machine.stats)
        elif kind == "key_frame_needed":
            machine.notices.push_event(key_frame_needed_of(reply.key_frame_needed))
        elif kind == "advice":
            machine.notices.push_event(advice_of(reply.advice))
        elif kind == "transition_ended":
            machine.notices.push_event(transition_ended_of(reply.transition_ended))

    def _apply(self, applied: Any) -> None:
        machine = self._machine
        machine.revision = applied.revision
        if applied.resume_token:
            machine.changes.token = applied.resume_token
        for record in machine.changes.apply(applied.request_id):
            if record.revision is None:
                record.revision = applied.revision
            record.first_sequence = applied.first_sequence
            machine.answer(record)
        machine.fallback.apply()
        machine.notices.push_event(
            Applied(applied.revision, applied.first_sequence, applied.request_id)
        )

    def _change_state(self, message: Any) -> None:
        machine = self._machine
        if message.resume_token:
            machine.changes.token = message.resume_token
        if message.state == session_pb2.SESSION_STATE_MOVE:
            move, time_left = message.move, None
            if move.HasField("time_left"):
                time_left = move.time_left.seconds + move.time_left.nanos / 1e9
            machine.request_move(move.addresses, time_left)
            return
        changed = state_of(message)
        machine.revision = changed.revision or machine.revision
        is_overridden = changed.state is SessionState.OVERRIDDEN
        if is_overridden or (
            machine.fallback.is_overridden
            and changed.state in (SessionState.RUNNING, SessionState.PAUSED)
        ):
            # Overrides belong to a server: only the newest token brings this one, or its end, to another.
            machine.restart_move()
        if is_overridden:
            machine.fallback.set_override(True)
        elif changed.state in (SessionState.RUNNING, SessionState.PAUSED):
            machine.fallback.set_override(False)
        elif changed.state is SessionState.DRAINING and machine.options.reconnects:
            machine.window.drain()
        if changed.state is not machine.state:
            machine.state = changed.state
            machine.notices.push_event(changed)

    # Time and loss

    def tick(self, now: float) -> Optional[SidelightError]:
        """Pings a silent server. Returns the error of a connection that does not open in time, or
        on which the server does not answer; it is to be ended. Call it every `TICK_INTERVAL`."""
        error = self._check_times(now)
        self._is_silent = error is not None
        return error

    def _check_times(self, now: float) -> Optional[SidelightError]:
        link = self._machine.window.link
        timeout = self._machine.reconnector.open_timeout
        if not self.is_current:
            if self.is_stale:
                return Unavailable("the connection is not needed any more")
            timeout = self._machine.move_timeout
            if self.opened is None and now - self._started > timeout:
                return DeadlineExceeded(f"the session was not opened within {timeout:.2g} s")
            if self.is_retired:
                if self._left is None:
                    self._left = now
                if now - max(self._left, self._last_activity) > LEFT_SILENCE_LIMIT:
                    return Unavailable(f"the server has been silent for {LEFT_SILENCE_LIMIT:g} s")
            return None
        if link == OPENING and now - self._started > timeout:
            return DeadlineExceeded(f"the session was not opened within {timeout:.2g} s")
        if link != OPEN:
            return None
        if self._is_stalled(now):
            return Unavailable(
                f"no message came for {now - (self._silent_since or now):.2g} s while frames were "
                "in flight"
            )
        if self._pinged is not None and self._last_activity >= self._pinged:
            self._pinged = None
        if self._pinged is None:
            if now - self._last_activity >= PING_INTERVAL:
                self._pinged = now
                self._machine.window.push_urgent(_PING)
        elif now - self._pinged >= SILENCE_LIMIT:
            return Unavailable(f"the server has been silent for {SILENCE_LIMIT:g} s")
        return None

    def _is_stalled(self, now: float) -> bool:
        """Whether the outcomes of frames in flight are missing for much longer than usual. Pings
        before, because a server may be busy with a frame."""
        machine = self._machine
        usual = self._round_trip.upper_bound
        if usual is None or not machine.window.newest_wins or not machine.has_frames_in_flight:
            self._silent_since = None
            return False
        # After a pause of this process, messages may wait to be read.
        was_paused = now - self._ticked > STALL_LIMIT / 2
        self._ticked = now
        if (
            was_paused
            or self._silent_since is None
            or self._last_activity >= self._silent_since
        ):
            self._silent_since = now
            return False
        limit = max(self._stall_limit, 2 * usual)
        silence = now - self._silent_since
        if self._pinged is None and silence >= limit / 2:
            self._pinged = now
            machine.window.push_urgent(_PING)
        return silence >= limit

    def end(self, error: Optional[SidelightError], now: float, random: float) -> Optional[float]:
        """Records that the connection ended; `None` without an error.

        Returns the seconds after which `start` opens another one; `None` if the session is over.

        - `random`: A uniform random number from 0 to 1.
        """
        machine = self._machine
        self.ring = self.slots = None
        next_link = machine.next
        if error is not None and next_link is not None and not machine.is_over:
            machine.lose_connection(error)
            machine.move()
            return None
        if error is None or machine.is_over or not machine.was_opened:
            machine.end(error)
            return None
        can_drop_token = self._presented_token and machine.changes.can_drop_token
        if self._is_silent and self._opened is not None:
            # A server that often pauses for so long is not left as early again.
            is_young = now - self._started < SILENCE_LIMIT
            self._stall_limit = min(SILENCE_LIMIT, 2 * self._stall_limit if is_young else STALL_LIMIT)
        retry = machine.reconnector.lose(error, now, random, can_drop_token, self._is_silent)
        if retry is None:
            machine.end(error)
            return None
        machine.lose_connection(error)
        if machine.window.is_drained:
            machine.end(None)
            return None
        machine.notices.push_event(ConnectionLost(error, retry.number, retry.delay))
        return retry.delay
