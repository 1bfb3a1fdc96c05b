"""A session without I/O: events in, messages and effects out. Times are parameters.

A face calls the methods under one lock, and afterwards performs `take_effects()` without it: pairs
of a waiter, which has a method `resolve(value)`, and its value.

States of the link: none -> opening -> open -> draining -> none, and from each back to none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

from ..errors import FailedPrecondition, SidelightError, Unavailable, make_error
from ..events import (
    EncoderTarget,
    KeyFrameNeeded,
    KeyFrameReason,
    OutputOutcome,
    Rejected,
    SessionState,
    Stats,
)
from ..images import Frame, Image
from .._packets import frame_of_packet, is_packet
from ..outcomes import Dropped, DropReason, DropStage, FrameInfo
from ..v1 import session_pb2
from .changes import ChangeLog, ChangeRecord, Entry
from .delivery import ABANDONED, Delivery, Pending
from .encoders import EncoderLog, merge
from .fallback import Fallback, FallbackPolicy
from .frames import info_of
from .notices import Notices
from .options import SessionOptions
from .outputs import OUTPUT_LIMIT, SERVER_LIMIT, OutputQueue
from .reconnect import OPEN_TIMEOUT, Reconnector, move_timeout
from .rates import RateController
from .references import References, encoded
from .replies import client_outcome, is_encoded_result
from .window import DRAINING, OPEN, EncoderChange, PauseRequest, RawMessage, Window

if TYPE_CHECKING:
    from .link import Link

#: The raw results that are acknowledged together: a message for every one would cost too much. The
#: server's window has room for more.
_RAW_RESULTS = 16
#: The relative change of a bit rate that is reported.
_LEAST_CHANGE = 0.05

# The conditions that callers wait for.
MESSAGE, OUTCOME, CAPACITY, OPENED, EVENT, ANALYSIS, OUTPUT, OVER, FINISHED, MOVED, ALONE = range(11)


class SessionMachine:
    """The state of one session: what waits to be sent, what is in flight, what is known."""

    def __init__(self, options: SessionOptions, has_credentials: bool = False) -> None:
        self.options = options
        self.window = Window(
            options.open.drop_policy == session_pb2.DROP_POLICY_NEWEST_WINS, options.frames_in_flight
        )
        self.delivery = Delivery()
        self.changes = ChangeLog(options.select, options.resume_token)
        self.references = References()
        #: The changed settings of encoders, with which the next connection begins.
        self.encoders = EncoderLog(options.open.composition if options.composes else None)
        #: The values for the application's encoder; `None` if it does not ask for them.
        self.rates: Optional[RateController] = None
        self._announced_target: Optional[EncoderTarget] = None
        #: Whether the server waits for acknowledgements of results.
        self.acknowledges = False
        #: The number of the last result that was acknowledged.
        self._acknowledged = 0
        self.fallback = Fallback(options.fallback)
        self.reconnector = Reconnector(options.reconnects, options.give_up_after, has_credentials)
        self.state = SessionState.RUNNING
        #: The last request that was sent, or that the next connection sends first.
        self.pause: Optional[PauseRequest] = None
        #: Whether a pause drops frames, from its request on.
        self._drops_frames = False
        self.stats: Optional[Stats] = None
        self.pending: dict[int, Pending] = {}
        self.notices = Notices()
        self.outputs = OutputQueue(each.name for each in options.open.outputs)
        self._never_drops = options.open.drop_policy == session_pb2.DROP_POLICY_NEVER_DROP
        self.session_id = ""
        #: The revision in force, as far as it is known.
        self.revision = 0
        #: The connection on which messages are sent; set by it.
        self.link: Optional[Link] = None
        #: The first frame of that connection.
        self.first_sequence = 1
        #: The connection of a move, from the begin of its opening until the move.
        self.candidate: Optional[Link] = None
        #: The open connection to which the session moves.
        self.next: Optional[Link] = None
        #: The connections that the session has left, with the frames that they may return.
        self.retired: list[tuple[Link, range]] = []
        #: Those connections and the current one, in the order of their frames; ended ones stay while
        #: an earlier one may return outcomes in outputs.
        self.output_links: list[Link] = []
        #: The server's preferred addresses, from the request to move until it is fulfilled.
        self.move_addresses: Optional[list[str]] = None
        #: The seconds that an attempt to open a connection of that move may take.
        self.move_timeout = OPEN_TIMEOUT
        #: Whether a face has not noticed the request.
        self.is_move_requested = False
        #: Whether a face fulfils a request.
        self.is_moving = False
        #: Whether a connection was opened once.
        self.was_opened = False
        #: The error of the last connection; `None` while there is one.
        self.link_error: Optional[SidelightError] = None
        self.is_over = False
        #: The error that ended the session; `None` if it ended as requested, or goes on.
        self.error: Optional[SidelightError] = None
        self._next_sequence = 1
        self._effects: list[tuple[Any, Any]] = []
        self._waiting: dict[int, list[Any]] = {}
        self._discards = False

    # Waiting

    def is_satisfied(self, condition: int) -> bool:
        """Whether a condition is true."""
        if condition == MESSAGE:
            return self.window.is_ready
        if condition == OUTCOME:
            return self.delivery.is_ready or self.is_over or self._has_last_outcome
        if condition == CAPACITY:
            return self.is_over or self.window.has_capacity
        if condition == OPENED:
            return self.was_opened or self.is_over
        if condition == EVENT:
            return bool(self.notices.events) or self.is_over
        if condition == ANALYSIS:
            return bool(self.notices.analyses) or self.is_over
        if condition == OUTPUT:
            return self.outputs.is_ready or self.is_over
        if condition == MOVED:
            return self.is_over  # `wake` tells of a move.
        if condition == ALONE:
            return not self.retired or self.is_over
        if condition == FINISHED:
            return self.window.is_drained or self.is_over
        return self.is_over

    def wait(self, condition: int, waiter: Any) -> None:
        """Resolves a waiter as soon as a condition is true."""
        if self.is_satisfied(condition):
            self._effects.append((waiter, None))
        else:
            self._waiting.setdefault(condition, []).append(waiter)

    def wake(self, condition: int) -> None:
        """Resolves the waiters of a condition, which then check what else has changed."""
        self._effects += [(waiter, None) for waiter in self._waiting.pop(condition, ())]

    def stop_waiting(self, condition: int, waiter: Any) -> None:
        """Removes a waiter."""
        waiters = self._waiting.get(condition, ())
        if waiter in waiters:
            self._waiting[condition].remove(waiter)

    def take_effects(self) -> Sequence[tuple[Any, Any]]:
        """Returns the waiters to resolve, with their values."""
        if self.next is not None:
            self._move_if_possible()
        waiting = self._waiting
        if waiting:
            for condition in [each for each in waiting if self.is_satisfied(each)]:
                for waiter in waiting.pop(condition):
                    self._effects.append((waiter, None))
        if not self._effects and not self.notices.calls:
            return ()
        effects = self._effects + self.notices.calls
        # New lists: the caller goes through the effects while other threads add more.
        self._effects, self.notices.calls = [], []
        return effects

    # Frames

    def offer(self, frame: Any, trace: Any, waiter: Any, now: float) -> Optional[Pending]:
        """Accepts a frame; returns `None` if its policy requires to wait for capacity.

        Raises the session's error if it is over.
        """
        if isinstance(frame, Image):
            frame = Frame(frame)
        elif is_packet(frame):
            frame = frame_of_packet(frame)
        elif not isinstance(frame, Frame):
            raise TypeError(
                f"frame is {type(frame).__name__}; it must be a Frame or an Image, or an encoded "
                "packet of PyAV"
            )
        window = self.window
        if self.options.composes:
            raise FailedPrecondition(
                "the session has a composition and takes no frames; send them in another one"
            )
        if window.is_finished or self.is_over:
            raise self.refusal(self._end_message("frames"))
        newest_wins = window.newest_wins
        if not newest_wins and window.waiting:
            return None
        sequence = self._next_sequence
        self._next_sequence = sequence + 1
        pending = Pending(sequence, frame, info_of(frame), now, waiter)
        pending.trace = frame.trace or trace
        self.delivery.add(pending)
        if newest_wins and window.link != OPEN:
            self.settle_at_client(pending, DropReason.DISCONNECTED, DropStage.CLIENT)
            return pending
        replaced = self.references.replaced(window.waiting, pending)
        if not self.references.accepts(pending, len(window.waiting) - len(replaced)):
            self.drop_undecodable(pending, KeyFrameReason.DROPPED)
            return pending
        if newest_wins and self.references.leaves_out(pending):
            self.settle_at_client(pending, DropReason.SUPERSEDED, DropStage.CLIENT)
            return pending
        self.pending[sequence] = pending
        window.push_frame(pending, replaced)
        if self.next is not None:
            self.request_move_key_frame(now)
        for each in replaced:
            del self.pending[each.sequence]
            self.settle_at_client(each, DropReason.SUPERSEDED, DropStage.CLIENT)
        return pending

    def drop_malformed(self, error: SidelightError, waiter: Any, now: float) -> Pending:
        """Drops a frame of encoded video that is malformed, in place of `offer`: the stream goes on
        with the next key frame, which is requested.

        Raises the session's error if it is over.
        """
        if self.window.is_finished or self.is_over:
            raise self.refusal(self._end_message("frames"))
        pending = Pending(self._next_sequence, None, FrameInfo(), now, waiter)
        self._next_sequence += 1
        self.delivery.add(pending)
        self.references.lose()
        self.request_input_key_frame(pending.sequence, KeyFrameReason.DAMAGE, now)
        self.settle_at_client(pending, DropReason.INVALID_FRAME, DropStage.CLIENT, error)
        return pending

    def drop_undecodable(self, pending: Pending, reason: KeyFrameReason) -> None:
        """Drops a frame of encoded video that the server could not decode, and requests a key
        frame."""
        image = encoded(pending)
        if image is None or not image.is_disposable:
            self.request_input_key_frame(pending.sequence, reason, pending.submitted)
        self.settle_at_client(pending, DropReason.NOT_DECODABLE, DropStage.CLIENT)

    def request_input_key_frame(self, sequence: int, reason: KeyFrameReason, now: float) -> None:
        """Asks the application for a key frame, at most every half second."""
        if self.references.may_request(now):
            self.notices.push_event(KeyFrameNeeded(sequence, reason))

    @property
    def next_sequence(self) -> int:
        """The number of the next frame."""
        return self._next_sequence

    def take_sent(self, sequence: int) -> Optional[Pending]:
        """Removes and returns a frame that was sent and has no outcome; `None` without one."""
        pending = self.pending.get(sequence)
        if pending is None or not pending.holds_credit:
            return None
        return self.pending.pop(sequence)

    @property
    def has_frames_in_flight(self) -> bool:
        """Whether a frame was sent on the current connection and has no outcome."""
        first = self.first_sequence
        return any(each.holds_credit and each.sequence >= first for each in self.pending.values())

    def abandon(self, pending: Pending) -> bool:
        """Records that an outcome is no longer wanted; returns whether there is one already, which
        the caller discards."""
        if pending.frame is None:
            return True
        if pending.waiter is not None:
            pending.waiter = ABANDONED
        return False

    def discard(self, outcome: Any) -> None:
        """Releases an outcome that its caller did not take. Without a result of encoded video the
        later ones cannot be decoded, so a key frame is requested."""
        if is_encoded_result(outcome):
            self.request_key_frame()
        outcome.release()

    def take_outcome(self) -> Any:
        """Returns the next outcome in order; `None` if there is none now."""
        pending = self.delivery.take()
        if pending is None:
            return None
        self._return_credit(pending)
        return pending.outcome

    @property
    def _has_last_outcome(self) -> bool:
        """Whether the last outcome was taken."""
        return self.window.is_finished and self.delivery.is_empty

    @property
    def has_more_outcomes(self) -> bool:
        """Whether outcomes may follow."""
        return not self.delivery.is_empty or not (self.window.is_finished or self.is_over)

    def _return_credit(self, pending: Pending) -> None:
        if pending.holds_credit:
            pending.holds_credit = False
            self.window.outstanding = max(0, self.window.outstanding - 1)
            # Outcomes without pixels need no acknowledgement.
            if self.acknowledges and not self.options.open.outputs and (
                self.options.composes
                or self._may_encode
                or pending.sequence - self._acknowledged >= _RAW_RESULTS
            ):
                self._acknowledged = self.window.acknowledgement = pending.sequence

    @property
    def _may_encode(self) -> bool:
        """Whether results are encoded video, as far as it is known."""
        output = self.options.open.output
        return self.references.is_used or output.HasField("encoder") or output.format != 0

    def settle_composed(self, pending: Pending, outcome: Any) -> None:
        """Adds the outcome of a frame that the server made."""
        self.delivery.add(pending)
        if type(outcome) is not Dropped:
            # Taking it acknowledges the picture.
            pending.holds_credit = True
            return self.settle(pending, outcome)
        self.delivery.count(outcome)
        self.delivery.settle_at_client(pending, outcome)
        if self._discards:
            self.discard_outcomes()

    def settle(self, pending: Pending, outcome: Any) -> None:
        """Sets the outcome of a frame that was sent. It is in `pending` no longer."""
        self.references.record_outcome(pending.sequence, outcome)
        self.delivery.count(outcome)
        pending.frame = None
        waiter = pending.waiter
        if waiter is not None:
            self._return_credit(pending)
            if waiter is ABANDONED:
                self.discard(outcome)
            else:
                self._effects.append((waiter, outcome))
            return
        pending.outcome = outcome
        if self._discards:
            self.discard_outcomes()

    def settle_at_client(
        self,
        pending: Pending,
        reason: DropReason,
        stage: DropStage,
        error: Optional[SidelightError] = None,
    ) -> None:
        """Sets the outcome of a frame that the server did not decide."""
        outcome: Any
        if reason is DropReason.DISCONNECTED:
            error = error or self.error or self.link_error
            drops = self._drops_frames
            policy: FallbackPolicy = "drop"
            if not drops:
                policy = self.fallback.choose(self.changes.protection)
            outcome = client_outcome(pending, policy, stage, error)
        else:
            outcome = Dropped(pending.sequence, pending.info, reason, stage, 0.0, error)
        self.delivery.count(outcome)
        pending.frame = None
        pending.holds_credit = False
        if pending.waiter is not None:
            self._effects.append((pending.waiter, outcome))
        else:
            self.delivery.settle_at_client(pending, outcome)
            if self._discards:
                self.discard_outcomes()

    @property
    def protects(self) -> bool:
        """Whether no input is shown while there is no connection."""
        return self.fallback.protects(self.changes.protection)

    def discard_outcomes(self) -> None:
        """Takes and releases all outcomes, now and later, so frames that wait for their
        credits are sent."""
        self._discards = True
        self._hold_frames()
        for pending in self.delivery.take_all():
            self._return_credit(pending)
            pending.outcome.release()

    # Notices

    def push_output(self, outcome: OutputOutcome) -> None:
        """Adds the outcome of a frame in a named output.

        Under "never_drop", frames wait while an output has `OUTPUT_LIMIT` of them; outcomes that
        the frames in flight may still have are kept too.
        """
        more = self.window.capacity + SERVER_LIMIT if self._never_drops else 0
        self.outputs.push(outcome, OUTPUT_LIMIT + more)
        self._hold_frames()

    def _hold_frames(self) -> None:
        self.window.is_held = self._never_drops and self.outputs.is_full and not self._discards

    def take(self, condition: int) -> tuple[Any, bool]:
        """Returns the next event, analysis or outcome of an output, `None` if there is none now;
        and whether more may follow.

        - `condition`: `EVENT`, `ANALYSIS` or `OUTPUT`.
        """
        item: Any
        if condition == OUTPUT:
            item = self.outputs.take()
            if item is not None:
                self._hold_frames()
                if self.acknowledges and type(item.outcome) is not Dropped:
                    self.window.output_acknowledgements[item.output] = item.outcome.sequence
        else:
            items = self.notices.events if condition == EVENT else self.notices.analyses
            item = items.popleft() if items else None
        return item, not self.is_over

    # Changes

    @property
    def _queues(self) -> bool:
        """Whether messages that are added now wait behind earlier ones, to be sent on this connection
        or on the one that the session is about to move to."""
        link = self.window.link
        return link == OPEN or (link == DRAINING and self.is_moving)

    def change(self, message: Any, is_conditional: bool) -> ChangeRecord:
        """Requests a change of the pipeline.

        Raises `ResourceExhausted` if too many changes wait to be sent.
        """
        window = self.window
        if window.is_finished or self.is_over:
            raise self.refusal(self._end_message("changes"))
        keeps = window.keeps or self._queues
        mergeable = window.last_entry if keeps else None
        if not self.changes.can_merge(message, is_conditional, mergeable):
            mergeable = None
        if mergeable is None:
            window.require_space()
        entry, record = self.changes.record(message, is_conditional, mergeable)
        if entry is None:
            return record
        if keeps:
            window.push(entry)
        else:
            # Requested when the session is open again.
            entry.is_sent = True
            self.reject_lost_changes()
        return record

    def request_pause(self, pass_through: Optional[bool]) -> None:
        """Requests a pause, or with `None` its end.

        Raises `ResourceExhausted` if too many changes wait to be sent.
        """
        request = PauseRequest(pass_through)
        if not self.window.replace_last(request):
            self.window.require_space()
            if self.window.keeps or self._queues:
                self.window.push(request)
            else:
                self.pause = request
        self._drops_frames = pass_through is False

    def set_encoder(self, change: session_pb2.SetEncoder) -> None:
        """Changes the encoder of the results or of a named output, on this connection and on later
        ones.

        Raises `ResourceExhausted` if too many changes wait to be sent.
        """
        window = self.window
        if window.is_finished or self.is_over:
            raise self.refusal(self._end_message("changes"))
        if not self.encoders.complete(change):
            return
        last = window.last_encoder_change
        if last is not None and last.message.output == change.output:
            merge(last.message, change)
            return
        queues = self._queues
        if queues:
            window.require_space()
            window.push(EncoderChange(change))
        self.encoders.record(change, queues)

    def set_composition(self, composition: session_pb2.Composition) -> None:
        """Changes the composition, on this connection and on later ones.

        Raises `FailedPrecondition` in a session without one, and `ResourceExhausted` if too many
        changes wait to be sent.
        """
        if not self.options.composes:
            raise FailedPrecondition("the session was opened without a composition")
        window = self.window
        if window.is_finished or self.is_over:
            raise self.refusal(self._end_message("changes"))
        queues = self._queues
        if queues:
            window.require_space()
        message = self.encoders.record_composition(composition)
        if queues:
            window.push(RawMessage(message))

    def request_key_frame(self, output: str = "") -> None:
        """Requests a key frame of the results, or of a named output. A new connection begins with
        one."""
        request = session_pb2.RequestKeyFrame(output=output)
        message = session_pb2.ClientMessage(request_key_frame=request)
        self.window.push_urgent(message.SerializeToString())

    # The application's encoder

    def adapt_encoder(self, target: EncoderTarget, now: float) -> None:
        """Begins to adapt the application's encoder, or changes the wished values."""
        if self.rates is None:
            self.rates = RateController(target)
        else:
            self.rates.set_target(target, now)
        self._announced_target = None
        self.announce_target()

    def restart_rates(self) -> None:
        """Forgets the frames on a lost connection, and keeps the bit rate."""
        if self.rates is not None:
            bit_rate = self.rates.current.bit_rate
            self.rates = RateController(self.rates.target, start_bit_rate=bit_rate)

    def may_encode(self, now: float) -> bool:
        """Whether the connection takes another frame."""
        if self.window.newest_wins and self.window.link != OPEN:
            return False
        if self.window.waiting:
            return False  # It waits for a credit, and so would this one.
        return self.rates is None or self.rates.may_send(now)

    def announce_target(self) -> None:
        """Reports values for the encoder that differ from the last ones by more than noise."""
        if self.rates is None:
            return
        target, last = self.rates.current, self._announced_target
        if last is not None and target[1:] == last[1:]:
            change = abs(target.bit_rate / last.bit_rate - 1)
            is_highest = target.bit_rate == self.rates.target.bit_rate != last.bit_rate
            if change < _LEAST_CHANGE and not is_highest:
                return
        self._announced_target = target
        self.notices.push_event(target)

    def await_change(self, record: ChangeRecord, applied: bool, waiter: Any) -> None:
        """Resolves a waiter when a change is accepted or applied, or refused."""
        record.waiters.append((applied, waiter))
        self.answer(record)

    def stop_awaiting(self, record: ChangeRecord, waiter: Any) -> None:
        """Removes a waiter for a change."""
        record.waiters = [each for each in record.waiters if each[1] is not waiter]

    def answer(self, record: ChangeRecord) -> None:
        """Resolves those who wait for a change and have their answer."""
        kept = []
        for applied, waiter in record.waiters:
            known = record.first_sequence if applied else record.revision
            if record.error is not None or known is not None:
                self._effects.append((waiter, None))
            else:
                kept.append((applied, waiter))
        record.waiters = kept

    def fail(self, records: Any, error: SidelightError) -> None:
        """Records that changes are refused."""
        for record in records:
            if record.first_sequence is None and record.error is None:
                record.error = error
            self.answer(record)

    def reject_lost_changes(self) -> None:
        for entry in self.changes.lose():
            error = make_error(
                "ABORTED",
                f"the connection was lost before the server answered change {entry.request_id}, "
                "which requires a revision; it may or may not be in force",
            )
            self.fail(list(entry.records), error)
            self.notices.push_event(Rejected(entry.request_id, error))

    # The end

    def _end_message(self, what: str) -> str:
        if self.is_over:
            return "the session is over; create another one"
        return f"the session is finished and accepts no more {what}; create another one"

    def refusal(self, message: str) -> SidelightError:
        """Returns the error that ended the session, or one with a message, to be raised."""
        # Without the places where it was raised before, which it would collect.
        return (self.error or Unavailable(message)).with_traceback(None)

    def finish(self) -> None:
        """Refuses further frames and changes; those that wait are still sent."""
        self.window.finish()

    # Moving

    def request_move(self, addresses: Sequence[str], time_left: Optional[float]) -> None:
        """Records that the server asks to continue elsewhere.

        - `time_left`: The seconds after which it ends the session; `None` if it does not tell.
        """
        if self.options.open.accepts_move:
            self.move_addresses = list(addresses)
            self.move_timeout = move_timeout(time_left)
            self.is_move_requested = not self.is_moving
            self.is_moving = True

    @property
    def _first_waiting(self) -> Optional[Pending]:
        waiting = self.window.waiting
        return waiting[0] if waiting else None

    @property
    def _starts_anew(self) -> bool:
        """Whether the next frame depends on no earlier one."""
        first = self._first_waiting
        if first is None:
            return not self.references.is_used
        image = encoded(first)
        return image is None or image.is_key_frame

    def _move_if_possible(self) -> None:
        """Moves to the next connection as soon as no frame is lost by it, and changes without an
        answer can be repeated there."""
        window = self.window
        is_open = window.link == OPEN and not window.is_drained and self._starts_anew
        if (is_open or window.link == DRAINING) and self.changes.are_repeatable:
            first = self._first_waiting
            end = self.next_sequence if first is None else first.sequence
            link = self.link
            if link is not None:
                link.is_retired = True
                self.retired.append((link, range(self.first_sequence, end)))
            self.move()

    def move(self) -> None:
        """Moves to the next connection."""
        link, self.next = self.next, None
        if link is None:
            return
        self.link = link
        self.candidate = None
        self.move_addresses = None
        self.is_moving = False
        link.begin()
        self.wake(MESSAGE)
        self.wake(MOVED)
        self._push_held_outputs()
        self.wake(ALONE)  # Whoever waits for it serves the connection that was left.

    def restart_move(self) -> None:
        """Leaves the connection of a move, which does not know the newest state. A face opens
        another one if the move is still requested."""
        link, self.candidate, self.next = self.candidate, None, None
        if link is not None:
            link.is_stale = True
            self.wake(MOVED)

    def request_move_key_frame(self, now: float) -> None:
        """Asks the application for the key frame with which the session can move."""
        if not self._starts_anew:
            first = self._first_waiting
            sequence = self.next_sequence if first is None else first.sequence
            self.request_input_key_frame(sequence, KeyFrameReason.START, now)

    def end_link(self, link: Link) -> None:
        """Records the end of a connection that is not the current one. Frames that it has not
        returned are lost."""
        if self.candidate is link:
            self.candidate = self.next = None
        self.wake(MOVED)
        for entry in [each for each in self.retired if each[0] is link]:
            self.retired.remove(entry)
            for sequence in entry[1]:
                pending = self.pending.pop(sequence, None)
                if pending is not None:
                    self.window.outstanding = max(0, self.window.outstanding - 1)
                    self.settle_at_client(pending, DropReason.DISCONNECTED, DropStage.UNKNOWN)
        self._push_held_outputs()

    def _push_held_outputs(self) -> None:
        """Adds the outcomes in outputs that no longer wait for those of earlier connections."""
        links = self.output_links
        while links:
            links[0].push_held_outputs()
            if links[0] is self.link or any(each is links[0] for each, _ in self.retired):
                return
            links.pop(0)

    def lose_connection(self, error: SidelightError) -> None:
        """Records that the connection is lost. Frames in flight get their outcomes, and changes
        that waited are requested again when the session continues."""
        self.link_error = error
        self.move_addresses = None
        self.is_move_requested = self.is_moving = False
        if self.next is None:
            self.restart_move()
        unsent = self.window.close()
        for control in unsent.controls:
            if isinstance(control, PauseRequest):
                self.pause = control
            elif isinstance(control, Entry):
                control.is_sent = True
        self.reject_lost_changes()
        for pending in list(self.pending.values()):
            if pending.sequence < self.first_sequence:
                continue
            is_waiting = pending in unsent.waiting
            if not (is_waiting and unsent.is_kept):
                del self.pending[pending.sequence]
                stage = DropStage.CLIENT if is_waiting else DropStage.UNKNOWN
                self.settle_at_client(pending, DropReason.DISCONNECTED, stage)
        # Outcomes that arrived and are not taken keep their credits.
        self.window.outstanding = self.delivery.credits

    def end(self, error: Optional[SidelightError]) -> None:
        """Ends the session. Frames without outcome get theirs."""
        if self.is_over:
            return
        self.error = error
        self.window.abandon()
        for link, _ in list(self.retired):
            self.end_link(link)
        self.lose_connection(error or Unavailable("the session is over"))
        self.is_over = True
        self.fail(
            list(self.changes.records()),
            error or Unavailable("the session ended before a frame was filtered with the change"),
        )
