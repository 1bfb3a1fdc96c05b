"""Events, made from the server's messages."""

from __future__ import annotations

from typing import Any

from ..errors import error_of_status
from ..events import (
    Advice,
    Analysis,
    Detection,
    Rejected,
    SessionState,
    StateChanged,
    Stats,
    TransitionEnd,
    TransitionEnded,
)
from ..outcomes import REASONS, DropReason

_STATES: dict[int, SessionState] = {each.value: each for each in SessionState}


def analysis_of(message: Any) -> Analysis:
    """Returns the result of an analysis stage."""
    return Analysis(
        message.sequence,
        message.stage,
        message.filter,
        message.age_us / 1e6,
        dict(message.figures),
        tuple(
            Detection(
                each.kind,
                each.tracking_id,
                each.confidence,
                each.x,
                each.y,
                each.width,
                each.height,
            )
            for each in message.detections
        ),
        {name: tuple(vector.values) for name, vector in message.rows.items()},
        dict(message.words),
    )


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


def advice_of(message: Any) -> Advice:
    """Returns a recommendation."""
    return Advice(
        message.bottleneck, message.suggested_fps or None, message.suggested_scale or None
    )


def state_of(message: Any) -> StateChanged:
    """Returns a change of the session's state."""
    return StateChanged(
        _STATES.get(message.state, SessionState.UNKNOWN), message.message, message.revision
    )


def rejected_of(message: Any) -> Rejected:
    """Returns a refused change."""
    return Rejected(message.request_id, error_of_status(message.status))


def transition_ended_of(message: Any) -> TransitionEnded:
    """Returns the end of a transition."""
    try:
        end = TransitionEnd(message.end)
    except ValueError:
        end = TransitionEnd.UNKNOWN
    return TransitionEnded(message.revision, message.request_id, message.first_sequence, end)
