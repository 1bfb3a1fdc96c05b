"""Gradual changes of a session's pipeline: transitions between pipelines, and glides of parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Optional, TypeVar, Union

from ._validation import finite, integer, one_of
from .v1 import session_pb2

__all__ = ["Curve", "Glide", "GlideLike", "Transition", "TransitionLike"]

_Value = TypeVar("_Value")

#: The progress of a change over time.
Curve = Literal["linear", "ease_in", "ease_out", "ease_in_out"]

#: The longest duration, in seconds.
MAX_DURATION = 60.0

_CURVES = {
    "linear": session_pb2.TRANSITION_CURVE_LINEAR,
    "ease_in": session_pb2.TRANSITION_CURVE_EASE_IN,
    "ease_out": session_pb2.TRANSITION_CURVE_EASE_OUT,
    "ease_in_out": session_pb2.TRANSITION_CURVE_EASE_IN_OUT,
}
_KINDS = {
    "fade": session_pb2.TRANSITION_KIND_FADE,
    "wipe": session_pb2.TRANSITION_KIND_WIPE,
    "dissolve": session_pb2.TRANSITION_KIND_DISSOLVE,
}
_DIRECTIONS = {
    "right": session_pb2.WIPE_DIRECTION_RIGHT,
    "left": session_pb2.WIPE_DIRECTION_LEFT,
    "down": session_pb2.WIPE_DIRECTION_DOWN,
    "up": session_pb2.WIPE_DIRECTION_UP,
}


class Transition:
    """A gradual change from one pipeline to another.

    - `duration`: Seconds, more than 0 and at most 60, of the frames' capture times.
    - `kind`: `"fade"`, `"wipe"` or `"dissolve"`.
    - `curve`: The progress over time: `"linear"`, `"ease_in"`, `"ease_out"` or `"ease_in_out"`.
    - `direction`: The direction in which the edge of a wipe moves: `"right"`, `"left"`, `"down"` or
      `"up"`.
    - `softness`: The width of a wipe's edge as a fraction of the frame, or the share of a dissolve's
      progress in which a cell changes: 0 to 1. `None` is 0.1.
    - `seed`: The order in which the cells of a dissolve change.
    """

    def __init__(
        self,
        duration: float,
        kind: Literal["fade", "wipe", "dissolve"] = "fade",
        *,
        curve: Curve = "linear",
        direction: Optional[Literal["right", "left", "down", "up"]] = None,
        softness: Optional[float] = None,
        seed: int = 0,
    ) -> None:
        message = session_pb2.Transition(
            kind=_choice("transition.kind", kind, _KINDS),
            curve=_choice("transition.curve", curve, _CURVES),
            seed=integer("transition.seed", seed, 0, 2**32 - 1),
        )
        _set_duration(message, "transition.duration", duration)
        if direction is not None:
            message.direction = _choice("transition.direction", direction, _DIRECTIONS)
        if softness is not None:
            message.softness = finite("transition.softness", softness, 0, 1)
        self._message = message

    def message(self) -> session_pb2.Transition:
        """Returns the message that the server receives."""
        return self._message

    def __repr__(self) -> str:
        kind = next(name for name, kind in _KINDS.items() if kind == self._message.kind)
        return f"Transition({self._message.duration.ToNanoseconds() / 1e9:g}, {kind!r})"


class Glide:
    """A gradual change of parameters from their old values to new ones.

    - `duration`: Seconds, more than 0 and at most 60, of the frames' capture times.
    - `curve`: The progress over time, as in a `Transition`.
    """

    def __init__(self, duration: float, *, curve: Curve = "linear") -> None:
        message = session_pb2.Glide(curve=_choice("glide.curve", curve, _CURVES))
        _set_duration(message, "glide.duration", duration)
        self._message = message

    def message(self) -> session_pb2.Glide:
        """Returns the message that the server receives."""
        return self._message

    def __repr__(self) -> str:
        return f"Glide({self._message.duration.ToNanoseconds() / 1e9:g})"


#: A transition, or the seconds of a fade.
TransitionLike = Union[Transition, float]
#: A glide, or its seconds.
GlideLike = Union[Glide, float]


def transition_message(transition: TransitionLike) -> session_pb2.Transition:
    """Returns the message of a transition."""
    if not isinstance(transition, Transition):
        transition = Transition(transition)
    return transition.message()


def glide_message(glide: GlideLike) -> session_pb2.Glide:
    """Returns the message of a glide."""
    return (glide if isinstance(glide, Glide) else Glide(glide)).message()


def _choice(field: str, value: str, choices: Mapping[str, _Value]) -> _Value:
    try:
        return choices[value]
    except (KeyError, TypeError):
        raise one_of(field, value, choices) from None


def _set_duration(
    message: Union[session_pb2.Transition, session_pb2.Glide], field: str, seconds: float
) -> None:
    message.duration.FromNanoseconds(round(finite(field, seconds, 1e-9, MAX_DURATION) * 1e9))
