"""The events of a session other than the outcomes of frames, and their messages."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Optional, Union

from .errors import SidelightError, error_of_status
from .outcomes import REASONS, DropReason, Outcome

__all__ = [
    "Accepted",
    "Advice",
    "Analysis",
    "Applied",
    "ConnectionLost",
    "Detection",
    "EncoderTarget",
    "Event",
    "KeyFrameNeeded",
    "KeyFrameReason",
    "OutputOutcome",
    "Reconnected",
    "Rejected",
    "SessionState",
    "StateChanged",
    "Stats",
    "TransitionEnd",
    "TransitionEnded",
]


class Accepted(NamedTuple):
    """A change that the server accepted."""

    #: The number of the change.
    request_id: int
    #: The revision that the change created.
    revision: int


class Applied(NamedTuple):
    """A change that is in force."""

    #: The revision in force.
    revision: int
    #: The first frame that was filtered using it.
    first_sequence: int
    #: The number of the change; 0 for the first pipeline and for an operator's override.
    request_id: int


class Rejected(NamedTuple):
    """A change that was refused; the pipeline before it stays in force."""

    #: The number of the change.
    request_id: int
    #: The reason.
    error: SidelightError


def rejected_of(message: Any) -> Rejected:
    """Returns a refused change."""
    return Rejected(message.request_id, error_of_status(message.status))


class TransitionEnd(enum.Enum):
    """The reason why a transition is over. All but `COMPLETED` are cuts to the new pipeline."""

    #: A reason of a newer server.
    UNKNOWN = 0
    #: Its duration has passed.
    COMPLETED = 1
    #: The work of both pipelines would have made a frame late.
    NO_TIME = 2
    #: One of the pipelines hides faces or backgrounds, and a mix would show a part of them.
    PROTECTION = 3
    #: The results of the pipelines differ in size or format.
    OUTPUT_DIFFERS = 4
    #: A stage of the earlier pipeline failed.
    STAGE_FAILED = 5
    #: Both pipelines together would hold more memory than one pipeline may.
    MEMORY = 6
    #: The capture times went back, or did not advance.
    CAPTURE_TIME = 7
    #: A stage separates people from the background, which two pipelines at a time cannot do.
    SCENE = 8


class TransitionEnded(NamedTuple):
    """A transition that is over. One that another change replaces is not reported."""

    #: The revision that it led to.
    revision: int
    #: The number of the change.
    request_id: int
    #: The first frame that shows only the new pipeline.
    first_sequence: int
    #: The reason.
    end: TransitionEnd


def transition_ended_of(message: Any) -> TransitionEnded:
    """Returns the end of a transition."""
    try:
        end = TransitionEnd(message.end)
    except ValueError:
        end = TransitionEnd.UNKNOWN
    return TransitionEnded(message.revision, message.request_id, message.first_sequence, end)


class Detection(NamedTuple):
    """An object that an analysis detected, in pixels of the frame."""

    kind: str
    tracking_id: int
    #: 0 to 1.
    confidence: float
    x: float
    y: float
    width: float
    height: float


def detections_of(messages: Iterable[Any]) -> tuple[Detection, ...]:
    """Returns the objects of messages."""
    return tuple(
        Detection(
            each.kind,
            each.tracking_id,
            each.confidence,
            each.x,
            each.y,
            each.width,
            each.height,
        )
        for each in messages
    )


class Analysis(NamedTuple):
    """The result of an analysis stage for one frame."""

    #: The frame.
    sequence: int
    #: The id of the stage, or its position without one.
    stage: str
    #: The name of the filter.
    filter: str
    #: The seconds from receipt of the frame to the result.
    age: float
    #: Numbers by name.
    figures: Mapping[str, float]
    #: Detected objects.
    detections: Sequence[Detection]
    #: Lists of numbers by name, such as a histogram.
    rows: Mapping[str, Sequence[float]]
    #: Texts by name.
    words: Mapping[str, str]


def analysis_of(message: Any) -> Analysis:
    """Returns the result of an analysis stage."""
    return Analysis(
        message.sequence,
        message.stage,
        message.filter,
        message.age_us / 1e6,
        dict(message.figures),
        detections_of(message.detections),
        {name: tuple(vector.values) for name, vector in message.rows.items()},
        dict(message.words),
    )


class Advice(NamedTuple):
    """A recommendation of the server at which no frames would be lost."""

    #: The pass that takes the most time, "queue", or "output".
    bottleneck: str
    #: Frames per second; `None` without a recommendation.
    suggested_fps: Optional[float]
    #: The scale of width and height; `None` without a recommendation.
    suggested_scale: Optional[float]


def advice_of(message: Any) -> Advice:
    """Returns a recommendation."""
    return Advice(
        message.bottleneck, message.suggested_fps or None, message.suggested_scale or None
    )


class SessionState(enum.Enum):
    """The state of a session."""

    #: A state of a newer server.
    UNKNOWN = 0
    #: Frames are filtered.
    RUNNING = 1
    #: Frames are not filtered.
    PAUSED = 2
    #: The server is shutting down.
    DRAINING = 3
    #: An operator's override is in force.
    OVERRIDDEN = 4


class StateChanged(NamedTuple):
    """A change of the session's state."""

    state: SessionState
    #: The reason, for a person.
    message: str
    #: The revision in force.
    revision: int


_STATES: dict[int, SessionState] = {each.value: each for each in SessionState}


def state_of(message: Any) -> StateChanged:
    """Returns a change of the session's state."""
    return StateChanged(
        _STATES.get(message.state, SessionState.UNKNOWN), message.message, message.revision
    )


class KeyFrameReason(enum.Enum):
    """The reason why a key frame is needed."""

    #: A reason of a newer server.
    UNKNOWN = 0
    #: The stream begins without one: the session was opened or resumed, or paused.
    START = 1
    #: A frame is missing.
    LOSS = 2
    #: A frame is damaged.
    DAMAGE = 3
    #: Decoding takes more time than the budgets of the frames leave.
    TOO_SLOW = 4
    #: This client dropped a frame that others depend on, because too many waited to be sent.
    DROPPED = 100


class KeyFrameNeeded(NamedTuple):
    """A request to encode the next frame as a key frame: frames before it cannot be decoded.

    Repeated at most every half second while none arrives.
    """

    #: The first frame that cannot be decoded.
    sequence: int
    reason: KeyFrameReason


class EncoderTarget(NamedTuple):
    """The values for an encoder of frames to send: as wishes the maximum, as an event those that
    the connection carries. See `Session.adapt_encoder`."""

    #: The bits per second.
    bit_rate: int
    #: The width in pixels.
    width: int
    #: The height in pixels.
    height: int
    #: The frames per second.
    frame_rate: float


_KEY_FRAME_REASONS: dict[int, KeyFrameReason] = {each.value: each for each in KeyFrameReason}


def key_frame_needed_of(message: Any) -> KeyFrameNeeded:
    """Returns the server's request for a key frame."""
    reason = _KEY_FRAME_REASONS.get(message.reason, KeyFrameReason.UNKNOWN)
    return KeyFrameNeeded(message.sequence, reason)


class Stats(NamedTuple):
    """The server's counts of a session; since the last connection was opened."""

    received: int
    filtered: int
    passed_through: int
    degraded: int
    dropped: Mapping[DropReason, int]
    in_flight: int
    bytes_in: int
    bytes_out: int
    #: Whether these are the last counts.
    final: bool


def stats_of(message: Any) -> Stats:
    """Returns counts."""
    dropped: dict[DropReason, int] = {}
    for each in message.dropped:
        reason = REASONS.get(each.reason, DropReason.UNKNOWN)
        dropped[reason] = dropped.get(reason, 0) + each.count
    return Stats(
        message.received,
        message.filtered,
        message.passed_through,
        message.degraded,
        dropped,
        message.in_flight,
        message.bytes_in,
        message.bytes_out,
        message.final,
    )


class OutputOutcome(NamedTuple):
    """The outcome of a frame in a named output. A run of dropped frames is one outcome, with the
    number of the last. A lost connection loses the outcomes of frames in flight."""

    #: The name of the output.
    output: str
    #: The outcome; a picture that came back has `image`.
    outcome: Outcome


class ConnectionLost(NamedTuple):
    """The loss of the connection, or a failed attempt to open it again."""

    error: SidelightError
    #: The number of the attempt that follows, counted from 1.
    attempt: int
    #: The seconds until that attempt.
    retry_in: float


class Reconnected(NamedTuple):
    """A connection that was opened again."""

    session_id: str
    #: Whether the server restored its state, including an operator's override. Otherwise the
    #: session was opened again with the pipeline that was selected last.
    resumed: bool


#: An event of a session.
Event = Union[
    Accepted,
    Applied,
    Rejected,
    TransitionEnded,
    Analysis,
    Advice,
    StateChanged,
    KeyFrameNeeded,
    EncoderTarget,
    Stats,
    ConnectionLost,
    Reconnected,
]
