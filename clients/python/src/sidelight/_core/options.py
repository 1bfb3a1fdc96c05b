"""The options of a session, checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Optional, Union

from .._validation import budget_seconds, finite, integer, invalid, one_of
from ..output import Output
from ..pipelines import (
    FAILURE_POLICIES,
    FailurePolicyLike,
    PipelineLike,
    failure_policy_of,
    source_of,
)
from ..v1 import session_pb2
from .fallback import POLICIES, FallbackPolicy

#: The name of the handling of frames that are not filtered in time.
DropPolicy = Literal["newest_wins", "keep_oldest", "never_drop"]
_DROP_POLICIES = {
    "newest_wins": session_pb2.DROP_POLICY_NEWEST_WINS,
    "keep_oldest": session_pb2.DROP_POLICY_KEEP_OLDEST,
    "never_drop": session_pb2.DROP_POLICY_NEVER_DROP,
}
#: The list that permits no filter: on the wire an empty one permits all. No filter has this name.
_NO_FILTER = "-"
#: The size of a slot in bytes: 1080p BGRA fits.
SLOT_BYTES = 8 << 20


class SessionOptions:
    """The options of `Server.session`, as messages and checked values."""

    def __init__(
        self,
        pipeline: PipelineLike,
        *,
        label: str,
        participant: str,
        allowed_filters: Optional[Iterable[str]],
        budget: Optional[float],
        drop_policy: DropPolicy,
        failure_policy: FailurePolicyLike,
        max_fps: Optional[float],
        output: Optional[Output],
        analysis_only: bool,
        allow_degraded: bool,
        shared_memory: Union[Literal["auto"], bool],
        slot_bytes: Optional[int],
        slots: int,
        frames_in_flight: Optional[int],
        mailbox_depth: Optional[int],
        reconnect: Union[bool, float],
        fallback: FallbackPolicy,
        stats_interval: Optional[float],
        resume_token: Optional[bytes],
    ) -> None:
        if drop_policy not in _DROP_POLICIES:
            raise one_of("drop_policy", drop_policy, _DROP_POLICIES)
        if fallback not in POLICIES:
            raise one_of("fallback", fallback, POLICIES)
        if shared_memory not in ("auto", True, False):
            raise invalid("shared_memory", shared_memory, '"auto" or False')
        self.select = select_message(pipeline)
        self.newest_wins = drop_policy == "newest_wins"
        self.fallback: FallbackPolicy = fallback
        self.reconnects = reconnect is not False
        #: The seconds after a loss at which attempts stop; `None` disables the limit.
        self.give_up_after: Optional[float] = None
        if not isinstance(reconnect, bool):
            self.give_up_after = finite("reconnect", reconnect, 0, 1e9)
        self.frames_in_flight: Optional[int] = None
        if frames_in_flight is not None:
            self.frames_in_flight = integer("frames_in_flight", frames_in_flight, 1, 4096)
        self.resume_token = resume_token or b""
        self.wants_shared_memory = shared_memory in ("auto", True)
        self.analysis_only = bool(analysis_only)
        self._shared_memory = session_pb2.SharedMemoryRequest(
            slot_bytes=SLOT_BYTES
            if slot_bytes is None
            else integer("slot_bytes", slot_bytes, 1, 1 << 30),
            input_slots=integer("slots", slots, 1, 64),
            output_slots=integer("slots", slots, 1, 64),
        )
        if isinstance(allowed_filters, str):
            raise invalid("allowed_filters", allowed_filters, "a list of names")
        if allowed_filters is not None:
            allowed_filters = list(allowed_filters) or [_NO_FILTER]
        message = session_pb2.Open(
            label=label,
            participant=participant,
            allowed_filters=allowed_filters,
            drop_policy=_DROP_POLICIES[drop_policy],
            failure_policy=FAILURE_POLICIES[failure_policy_of("failure_policy", failure_policy)],
            allow_unmodified=True,
            analysis_only=self.analysis_only,
            allow_degraded=bool(allow_degraded),
        )
        if budget is not None:
            message.budget_us = max(1, round(budget_seconds(budget) * 1e6))
        if max_fps is not None:
            message.max_fps = finite("max_fps", max_fps, 0.01, 1000)
        if output is not None:
            message.output.CopyFrom(output.message())
        if mailbox_depth is not None:
            message.mailbox_depth = integer("mailbox_depth", mailbox_depth, 1, 64)
        if stats_interval is not None:
            interval = round(finite("stats_interval", stats_interval, 0.1, 3600) * 1e9)
            message.stats_interval.FromNanoseconds(interval)
        self._open = message

    def open_message(
        self, select: session_pb2.Select, token: bytes, with_shared_memory: bool
    ) -> bytes:
        """Returns the message that opens the session."""
        message = session_pb2.Open()
        message.CopyFrom(self._open)
        set_source(message, select)
        message.resume_token = token
        if with_shared_memory:
            message.shared_memory.CopyFrom(self._shared_memory)
        return session_pb2.ClientMessage(open=message).SerializeToString()


def select_message(pipeline: PipelineLike, if_revision: Optional[int] = None) -> Any:
    """Returns the message that selects a pipeline."""
    message = session_pb2.Select()
    source = source_of(pipeline)
    if isinstance(source, str):
        message.pipeline_text = source
    else:
        message.pipeline.CopyFrom(source)
    if if_revision is not None:
        message.if_revision = integer("if_revision", if_revision, 0, 2**64 - 1)
    return message


def set_source(message: Any, select: session_pb2.Select) -> None:
    """Sets the pipeline of a message to a selected one."""
    if select.WhichOneof("pipeline_source") == "pipeline_text":
        message.pipeline_text = select.pipeline_text
    else:
        message.pipeline.CopyFrom(select.pipeline)
