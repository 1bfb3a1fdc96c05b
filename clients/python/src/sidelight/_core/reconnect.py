"""Decides whether, when and with which token a lost session is opened again. Pure; times and random
numbers are parameters.

Waits are random between half a ceiling and the ceiling, which doubles from attempt to attempt.
"""

from __future__ import annotations

from typing import NamedTuple, Optional

from ..errors import SidelightError

#: The ceiling of the first wait, in seconds.
INITIAL_DELAY = 0.05
#: The highest ceiling, in seconds. A connection that is open for as long ends the series of
#: attempts.
MAX_DELAY = 2.0
#: The time limit of an attempt, in seconds.
OPEN_TIMEOUT = 5.0
#: The least time limit of an attempt to open the connection of a move, in seconds.
MIN_MOVE_TIMEOUT = 0.3
#: The attempts of a series that began with silence which follow each other at once, each with the
#: time of the fastest opening so far and a part of a second. A packet that opens a connection is
#: otherwise repeated only after a second or more, when the network may long be back.
SILENT_ATTEMPTS = 10
_SILENT_OPENING = (0.25, 1.5)
#: The seconds without an answer to a ping after which the connection counts as lost.
SILENCE_LIMIT = 3.0
#: The seconds of silence after which frames in flight on a connection that was left count as lost. It
#: is longer because no ping tells a slow server from a lost one.
LEFT_SILENCE_LIMIT = 10.0

_TRANSIENT = frozenset(
    ("UNAVAILABLE", "CANCELLED", "UNKNOWN", "INTERNAL", "ABORTED", "DEADLINE_EXCEEDED")
)
# The reasons of errors: a pipeline names an asset that the server does not have; the pipeline of an
# operator's override, which a session without its token would escape, is no longer valid.
_UNKNOWN_ASSET = "UNKNOWN_ASSET"
_OVERRIDE_INVALID = "OVERRIDE_INVALID"


def move_delay(attempt: int, random: float) -> float:
    """Returns the seconds before an attempt to open the connection of a move, so the sessions of a
    server do not move at the same moment.

    - `random`: A uniform random number from 0 to 1.
    """
    ceiling: float = INITIAL_DELAY * 2 ** min(attempt, 4)
    return ceiling * random


def move_timeout(time_left: Optional[float]) -> float:
    """Returns the seconds that an attempt to open the connection of a move may take, so an address
    that does not answer leaves time for others.

    - `time_left`: The seconds after which the server ends the session; `None` if it is unknown.
    """
    if time_left is None:
        return OPEN_TIMEOUT
    return min(OPEN_TIMEOUT, max(MIN_MOVE_TIMEOUT, time_left / 4))


class Retry(NamedTuple):
    """Another attempt."""

    #: The number of the attempt after a loss, from 1.
    number: int
    #: The seconds to wait.
    delay: float


class Reconnector:
    """The series of attempts of a session.

    - `is_enabled`: Whether a lost session is opened again.
    - `give_up_after`: The seconds after a loss at which attempts stop; `None` disables the limit.
    - `has_credentials`: Whether calls carry tokens, which may expire.
    """

    def __init__(
        self, is_enabled: bool, give_up_after: Optional[float], has_credentials: bool
    ) -> None:
        self._is_enabled = is_enabled
        self._give_up_after = give_up_after
        self._has_credentials = has_credentials
        self._opened: Optional[float] = None
        self._lost: Optional[float] = None
        self._number = 0
        #: Whether the last connection or attempt ended in silence.
        self._is_silent = False
        #: The seconds that the fastest opening took.
        self._opening: Optional[float] = None
        #: Whether the next attempt presents the resume token.
        self.uses_token = True

    @property
    def open_timeout(self) -> float:
        """The seconds that the current attempt may take."""
        if not self._is_silent or self._number > SILENT_ATTEMPTS or self._opening is None:
            return OPEN_TIMEOUT
        seconds, factor = _SILENT_OPENING
        return min(OPEN_TIMEOUT, seconds + factor * self._opening)

    def open(self, now: float, duration: float) -> None:
        """Records that an attempt succeeded, after `duration` seconds."""
        self._opened = now
        self._opening = duration if self._opening is None else min(duration, self._opening)
        self.uses_token = True

    def lose(
        self,
        error: SidelightError,
        now: float,
        random: float,
        can_drop_token: bool,
        is_silent: bool = False,
    ) -> Optional[Retry]:
        """Records that the connection is lost or an attempt failed; returns the next attempt.

        - `random`: A uniform random number from 0 to 1.
        - `can_drop_token`: Whether the failed attempt presented a resume token, without which the
          session can be opened too.
        - `is_silent`: Whether nothing came from the server, which is no sign of overload.
        """
        self._is_silent = is_silent
        opened, self._opened = self._opened, None
        if not self._is_enabled:
            return None
        # A connection that is lost soon after it opened belongs to the series before it.
        if opened is not None and (self._lost is None or now - opened >= MAX_DELAY):
            self._number = 0
            self._lost = None
        delay = 0.0
        reason = error.details.get("reason")
        if error.code == "FAILED_PRECONDITION":
            if opened is not None or not can_drop_token or reason == _OVERRIDE_INVALID:
                return None
            self.uses_token = False
            return Retry(self._number, 0.0)
        if error.code == "RESOURCE_EXHAUSTED":
            # Without a delay, the session itself exceeds a limit.
            if error.retry_after is None:
                return None
            delay = error.retry_after
        elif error.code == "UNAUTHENTICATED":
            # A token that was accepted has expired; the next call asks for a new one.
            if opened is None or not self._has_credentials:
                return None
        elif reason == _UNKNOWN_ASSET:
            # A restarted server has no uploads; the application can upload them again.
            if opened is not None:
                return None
        elif error.code not in _TRANSIENT:
            return None
        if self._lost is None:
            self._lost = now
        if self._give_up_after is not None and now - self._lost >= self._give_up_after:
            return None
        doubled = max(0, self._number - SILENT_ATTEMPTS) if is_silent else self._number
        ceiling: float = min(MAX_DELAY, INITIAL_DELAY * 2 ** min(doubled, 16))
        self._number += 1
        return Retry(self._number, delay + ceiling * (0.5 + random / 2))
