"""The outcomes of frames: values, exactly one for every frame, in the order of sending."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Dict, NamedTuple, Optional, Union

if TYPE_CHECKING:
    from .errors import SidelightError
    from .images import Image

__all__ = [
    "Counts",
    "Degraded",
    "DropReason",
    "DropStage",
    "Dropped",
    "Filtered",
    "FrameInfo",
    "Latency",
    "Outcome",
    "PassedThrough",
    "Timing",
]


class DropReason(enum.Enum):
    """The reason why a frame was dropped."""

    #: A reason of a newer server.
    UNKNOWN = 0
    #: A newer frame displaced it: at the server, or at the stage `CLIENT` before it was sent. Also
    #: disposable encoded video that this client left out (`CLIENT`) while the server had no time.
    SUPERSEDED = 1
    #: Frames that take precedence waited.
    QUEUE_FULL = 2
    #: Its budget could not hold the expected work.
    LATE_ON_ARRIVAL = 3
    #: Its budget was spent before or between the passes.
    LATE_IN_PIPELINE = 4
    #: Its budget was spent before it was written.
    LATE_ON_OUTPUT = 5
    #: More frames were in flight than the server grants.
    NO_CREDIT = 6
    #: A limit on frames or bytes per second was exceeded.
    RATE_LIMITED = 7
    #: The session is paused.
    PAUSED = 8
    #: The frame is invalid; `Dropped.error` says why.
    INVALID_FRAME = 9
    #: A stage failed, and the policy is to drop; `Dropped.error` says why.
    STAGE_FAILED = 10
    #: The server is shutting down.
    DRAINING = 11
    #: It was filtered, but a newer one displaced it before it was read.
    OUTPUT_SUPERSEDED = 12
    #: It depends on a frame of encoded video that is missing or damaged.
    NOT_DECODABLE = 13
    #: There was no connection, or it was lost before the outcome arrived.
    DISCONNECTED = 100


class DropStage(enum.Enum):
    """The place at which a frame was dropped."""

    #: A stage of a newer server, or one that a lost connection leaves unknown.
    UNKNOWN = 0
    #: On arrival at the server.
    ARRIVAL = 1
    #: Waiting at the server.
    MAILBOX = 2
    #: In the pipeline.
    PIPELINE = 3
    #: Waiting at the server to be sent back.
    OUTBOX = 4
    #: In this client, before it was sent.
    CLIENT = 100


class FrameInfo(NamedTuple):
    """The description of a sent frame, without its pixels."""

    #: The capture time in nanoseconds, on the sender's clock; `None` if it was not set.
    capture_time_ns: Optional[int] = None
    #: The RTP timestamp.
    rtp_timestamp: int = 0
    #: The application's data.
    tags: Mapping[str, str] = {}


class Timing(NamedTuple):
    """The times of a frame, in seconds."""

    #: From receipt at the server to the start of processing.
    queue: float
    #: Processing.
    process: float
    #: From receipt at the server to hand-over to its transport.
    total: float
    #: From the call that sent the frame to the arrival of its outcome.
    round_trip: float


class Latency(NamedTuple):
    """Percentiles of the times of the last frames that came back, in seconds; 0 without frames."""

    #: The median of the round trips.
    p50: float
    #: The 95th percentile of the round trips.
    p95: float
    #: The median of the time that the server spent.
    server_p50: float
    #: The 95th percentile of the time that the server spent.
    server_p95: float


class Counts(NamedTuple):
    """The outcomes so far. Without frames in flight, `received` is the sum of all others."""

    received: int
    filtered: int
    passed_through: int
    degraded: int
    dropped: Mapping[DropReason, int]
    in_flight: int


class _Returned:
    """A frame that came back with a picture."""

    __slots__ = (
        "sequence",
        "frame",
        "revision",
        "failure",
        "_image",
        "_make",
        "_owns_image",
        "_source",
        "_times",
        "__weakref__",
    )

    #: The number of the frame.
    sequence: int
    #: The sent frame's description.
    frame: FrameInfo
    #: The revision of the pipeline that was applied; 0 if it was not filtered.
    revision: int
    #: The failure because of which the picture is not the pipeline's; `None` without one.
    failure: Optional[SidelightError]

    def __init__(
        self,
        sequence: int,
        frame: FrameInfo,
        revision: int,
        make: Callable[[Any], Image],
        source: Any,
        times: Any,
        failure: Optional[SidelightError] = None,
        owns_image: bool = True,
    ) -> None:
        self.sequence = sequence
        self.frame = frame
        self.revision = revision
        self.failure = failure
        self._image: Optional[Image] = None
        self._make: Optional[Callable[[Any], Image]] = make
        self._source = source
        self._times = times
        self._owns_image = owns_image

    @property
    def image(self) -> Image:
        """The picture. Raises `ValueError` after `release()`."""
        image = self._image
        if image is None:
            if self._make is None:
                raise ValueError(
                    f"the picture of frame {self.sequence} is released; read it before release()"
                )
            image = self._image = self._make(self._source)
            self._source = None
        return image

    @property
    def timing(self) -> Timing:
        """The times of the frame."""
        queue, process, total, round_trip = self._times
        return Timing(queue / 1e6, process / 1e6, total / 1e6, round_trip)

    def release(self) -> None:
        """Gives the picture's memory back; reading the picture afterwards raises `ValueError`.

        Arrays and planes that were made from the picture stay valid: a slot of shared memory
        returns to the server when the last of them is gone. A second call has no effect.
        """
        if self._owns_image and self._image is not None:
            self._image.release()
        self._image = self._make = self._source = None

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(sequence={self.sequence}, revision={self.revision})"


class Filtered(_Returned):
    """A frame that the pipeline filtered."""

    __slots__ = ()


class PassedThrough(_Returned):
    """A frame that came back unchanged: nothing to do, a pause, a failed stage, or no connection.

    `failure` is set for the last two.
    """

    __slots__ = ()


class Degraded(_Returned):
    """A frame from a cheaper variant of the pipeline; with `failure`, a blur replaces it."""

    __slots__ = ()


class Dropped:
    """A frame without a picture."""

    __slots__ = ("sequence", "frame", "reason", "stage", "late", "error")

    def __init__(
        self,
        sequence: int,
        frame: FrameInfo,
        reason: DropReason,
        stage: DropStage,
        late: float = 0.0,
        error: Optional[SidelightError] = None,
    ) -> None:
        #: The number of the frame.
        self.sequence = sequence
        #: The sent frame's description.
        self.frame = frame
        #: The reason.
        self.reason = reason
        #: The place.
        self.stage = stage
        #: The seconds by which it exceeded its budget; 0 if time was not the reason.
        self.late = late
        #: The error of an invalid frame, a failed stage or a lost connection; otherwise `None`.
        self.error = error

    @property
    def is_late(self) -> bool:
        """Whether the frame exceeded its budget."""
        return self.late > 0

    def release(self) -> None:
        """Has no effect without a picture."""

    def __enter__(self) -> Dropped:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __repr__(self) -> str:
        return (
            f"Dropped(sequence={self.sequence}, reason={self.reason.name}, "
            f"stage={self.stage.name}, late={self.late})"
        )


#: The outcome of a frame.
Outcome = Union[Filtered, PassedThrough, Degraded, Dropped]

#: The reasons and stages by the contract's number.
REASONS: dict[int, DropReason] = {each.value: each for each in DropReason if each.value < 100}
STAGES: dict[int, DropStage] = {each.value: each for each in DropStage if each.value < 100}
