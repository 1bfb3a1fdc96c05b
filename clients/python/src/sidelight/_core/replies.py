"""The outcomes of frames, made from the server's messages or without a connection."""

from __future__ import annotations

from typing import Any, Optional

from ..errors import SidelightError, error_of_status
from ..images import EncodedImage
from ..outcomes import (
    REASONS,
    STAGES,
    Degraded,
    Dropped,
    DropReason,
    DropStage,
    Filtered,
    PassedThrough,
)
from .delivery import Pending
from .fallback import FallbackPolicy, mosaic
from .frames import omitted_picture, picture_of, sent_picture
from .slots import Slots

_KINDS: dict[int, type[Any]] = {1: Filtered, 2: PassedThrough, 3: Degraded}
_NO_TIMES = (0, 0, 0, 0.0)


def pixels_of(
    message: Any, slots: Optional[Slots], ring: Any, analysis_only: bool
) -> Optional[memoryview]:
    """Returns the pixels of a `FilteredFrame`; `None` if they equal the sent frame's.

    Raises `SidelightError` if they are missing where the pipeline may have hidden a part: the frame
    that was sent must not replace the result.
    """
    where = message.image.WhichOneof("pixels")
    if where == "inline":
        return memoryview(message.image.inline)
    if where == "shared_memory":
        if slots is None:
            raise SidelightError("the server names a slot without a ring", code="INTERNAL")
        slot, length = message.image.shared_memory.slot, message.image.shared_memory.length
        if slot >= slots.input_slots:
            if slot >= slots.input_slots + slots.output_slots or not 0 < length <= ring.slot_bytes:
                raise SidelightError("the server names an invalid slot", code="INTERNAL")
            slots.receive(slot, message.sequence)
            view: memoryview = ring.view(slot, length, message.sequence, slots.returned)
            return view
    is_unchanged = message.unmodified or _KINDS.get(message.disposition) is PassedThrough
    if not (is_unchanged or analysis_only):
        raise SidelightError("the server sends a result without pixels", code="INTERNAL")
    return None


def returned_outcome(
    pending: Pending,
    message: Any,
    view: Optional[memoryview],
    round_trip: float,
    is_omitted: bool = False,
) -> Any:
    """Returns the outcome of a frame that came back.

    - `message`: The `FilteredFrame`.
    - `view`: Its pixels; `None` if they equal the sent frame's.
    - `is_omitted`: Whether named outputs have the picture.
    """
    timing = message.timing
    times = (timing.queue_us, timing.process_us, timing.total_us, round_trip)
    failure = error_of_status(message.failure) if message.HasField("failure") else None
    kind = _KINDS.get(message.disposition, Filtered)
    if view is None:
        return kind(
            pending.sequence,
            pending.info,
            message.revision,
            omitted_picture if is_omitted else sent_picture,
            None if is_omitted else pending.frame.image,
            times,
            failure,
            owns_image=False,
        )
    return kind(
        pending.sequence,
        pending.info,
        message.revision,
        picture_of,
        (message.image, view),
        times,
        failure,
    )


def is_encoded_result(outcome: Any) -> bool:
    """Whether an outcome has a picture of encoded video, on which later ones may depend."""
    try:
        return type(outcome) is not Dropped and isinstance(outcome.image, EncodedImage)
    except (SidelightError, ValueError):  # The picture is invalid, or in the session's outputs.
        return False


def dropped_outcome(pending: Pending, message: Any, error: Optional[SidelightError]) -> Dropped:
    """Returns the outcome of a frame that the server dropped."""
    return Dropped(
        pending.sequence,
        pending.info,
        REASONS.get(message.reason, DropReason.UNKNOWN),
        STAGES.get(message.stage, DropStage.UNKNOWN),
        message.late_us / 1e6,
        error,
    )


def client_outcome(
    pending: Pending, policy: FallbackPolicy, stage: DropStage, error: Optional[SidelightError]
) -> Any:
    """Returns the outcome of a frame without connection, as the fallback policy says."""
    image = pending.frame.image
    if image.format.is_encoded:
        # A receiver lacks the frames that it depends on.
        policy = "drop"
    if policy == "pass_through":
        return PassedThrough(
            pending.sequence,
            pending.info,
            0,
            sent_picture,
            image,
            _NO_TIMES,
            error,
            owns_image=False,
        )
    if policy == "blur":
        try:
            # Computed now: the program may write the next picture into the memory of this one.
            blurred = mosaic(image)
        except ValueError:  # A file, or a picture that is released.
            pass
        else:
            return Degraded(
                pending.sequence, pending.info, 0, sent_picture, blurred, _NO_TIMES, error
            )
    return Dropped(pending.sequence, pending.info, DropReason.DISCONNECTED, stage, 0.0, error)
