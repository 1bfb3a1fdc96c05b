"""The methods of a server that both faces share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Literal, Optional, TypeVar, Union

from .._channel import Endpoint
from .._validation import budget_seconds, finite, integer, invalid, one_of
from ..composition import Composition
from ..errors import FailedPrecondition
from ..output import NamedOutput, Output
from ..pipelines import FAILURE_POLICIES, FailurePolicyLike, PipelineLike, failure_policy_of
from ..v1 import session_pb2
from .face import SessionBase
from .fallback import POLICIES, FallbackPolicy
from .options import COMPOSITION_WINDOW, SessionOptions, select_message
from .outputs import OUTPUT_LIMIT

#: The name of the handling of frames that are not filtered in time.
DropPolicy = Literal["newest_wins", "keep_oldest", "never_drop"]
_DROP_POLICIES = {
    "newest_wins": session_pb2.DROP_POLICY_NEWEST_WINS,
    "keep_oldest": session_pb2.DROP_POLICY_KEEP_OLDEST,
    "never_drop": session_pb2.DROP_POLICY_NEVER_DROP,
}
#: The list that permits no filter: on the wire an empty one permits all. No filter has this name.
_NO_FILTER = "-"
#: The results that may be unacknowledged, also of a named output; the server's window of bytes of
#: encoded video is smaller.
_OUTPUT_WINDOW = OUTPUT_LIMIT
#: The frames on their way of a session with encoded video, for links with a long round trip.
_FRAMES_IN_FLIGHT = 16
#: The size of a slot in bytes: 1080p BGRA fits.
SLOT_BYTES = 8 << 20

SessionType = TypeVar("SessionType", bound=SessionBase)  # type: ignore[type-arg]


class ServerBase(Generic[SessionType]):
    """A server. Connections are opened when they are needed; every session has its own."""

    def __init__(self, endpoint: Endpoint, session_type: type[SessionType]) -> None:
        if not isinstance(endpoint, Endpoint):
            raise TypeError("a server is created by connect(address)")
        self._endpoint = endpoint
        self._session_type = session_type

    @property
    def address(self) -> str:
        """The address."""
        return self._endpoint.address

    def session(
        self,
        pipeline: PipelineLike = None,
        *,
        label: str = "",
        participant: str = "",
        allowed_filters: Optional[Iterable[str]] = None,
        budget: Optional[float] = None,
        drop_policy: DropPolicy = "newest_wins",
        failure_policy: FailurePolicyLike = "pass_through",
        max_fps: Optional[float] = None,
        output: Optional[Output] = None,
        outputs: Iterable[NamedOutput] = (),
        composition: Optional[Composition] = None,
        analysis_only: bool = False,
        allow_degraded: bool = False,
        shared_memory: Union[Literal["auto"], bool] = "auto",
        slot_bytes: Optional[int] = None,
        slots: int = 6,
        frames_in_flight: Optional[int] = None,
        mailbox_depth: Optional[int] = None,
        reconnect: Union[bool, float] = True,
        fallback: FallbackPolicy = "pass_through",
        stats_interval: Optional[float] = None,
        resume_token: Optional[bytes] = None,
    ) -> SessionType:
        """Returns a session, which a `with` statement opens and closes. Without one, the first use
        opens it, and `close()` of the session or the server closes it.

        - `pipeline`: The first pipeline. `None`: every frame passes through.
        - `label`: A name of the track for logs and operators, at most 128 bytes.
        - `participant`: The participant whose video this is; the caller vouches for the name.
        - `allowed_filters`: The filters that the session may use: names, or prefixes that end in
          `*`. `None`: all that the server permits; an empty list: no filters.
        - `budget`: The seconds from receipt until a frame is useless and dropped, at most
          10. `None`: no limit.
        - `drop_policy`: "newest_wins" (live video: a newer frame replaces one that waits),
          "keep_oldest", or "never_drop" (files: sending waits instead).
        - `failure_policy`: The handling of frames for which a stage fails: "pass_through", "drop"
          or "blur".
        - `max_fps`: Frames per second, 0.01 to 1000; others are dropped evenly. `None`: no limit.
        - `output`: The format and size of results. `None`: the input's.
        - `outputs`: Named outputs, at most 4, which have the pictures: outcomes then have none, and
          pixels travel inline. Not with `output` or `analysis_only`.
        - `composition`: The results of other sessions, which the session filters in place of frames
          that are sent: read `outcomes()`. They are numbered from 1 on every connection.
        - `analysis_only`: Whether frames come back without pixels; outcomes then have the picture
          that was sent.
        - `allow_degraded`: Whether the server may use cheaper variants before it drops frames.
        - `shared_memory`: "auto" exchanges pixels in shared memory with a server on this host that
          offers it; `False` sends them inline.
        - `slot_bytes`: The largest picture in shared memory. `None`: 8 MiB.
        - `slots`: The number of pictures in shared memory in each direction, 1 to 64.
        - `frames_in_flight`: The limit, which the server may lower. `None`: the server's.
        - `mailbox_depth`: The frames that may wait at the server, 1 to 64. `None`: 1.
        - `reconnect`: Whether a lost session continues on a new connection; a number is the
          seconds after which attempts stop. The first connection is attempted once.
        - `fallback`: The outcome of frames without connection: "pass_through", "drop", or "blur",
          large blocks. While the pipeline hides faces or the background, or an operator's override
          is in force, "pass_through" drops.
        - `stats_interval`: The seconds between the server's counts, 0.1 to 3600. `None`: only at
          the end.
        - `resume_token`: A token of an earlier session, which this one continues.
        """
        if isinstance(allowed_filters, str):
            raise invalid("allowed_filters", allowed_filters, "a list of names")
        if allowed_filters is not None:
            allowed_filters = list(allowed_filters) or [_NO_FILTER]
        if drop_policy not in _DROP_POLICIES:
            raise one_of("drop_policy", drop_policy, _DROP_POLICIES)
        message = session_pb2.Open(
            label=label,
            participant=participant,
            allowed_filters=allowed_filters,
            drop_policy=_DROP_POLICIES[drop_policy],
            failure_policy=FAILURE_POLICIES[failure_policy_of("failure_policy", failure_policy)],
            allow_unmodified=composition is None,
            accepts_move=reconnect is not False and composition is None,
            analysis_only=bool(analysis_only),
            allow_degraded=bool(allow_degraded),
        )
        if budget is not None:
            message.budget_us = max(1, round(budget_seconds(budget) * 1e6))
        if max_fps is not None:
            message.max_fps = finite("max_fps", max_fps, 0.01, 1000)
        if output is not None:
            message.output.CopyFrom(output.message())
            if output.is_encoded:
                message.frames_in_flight = _FRAMES_IN_FLIGHT
        # Without a format the results of encoded frames are encoded.
        may_encode = output is None or output.format is None or output.is_encoded
        may_encode = may_encode and not analysis_only and not outputs
        for index, each in enumerate(outputs):
            if not isinstance(each, NamedOutput):
                raise invalid(f"outputs[{index}]", each, "a NamedOutput")
            message.outputs.append(each.message(f"outputs[{index}]"))
            may_encode = may_encode or (each.output is not None and each.output.is_encoded)
        if may_encode and drop_policy != "never_drop":
            message.output_window = _OUTPUT_WINDOW
        if composition is not None:
            if not isinstance(composition, Composition):
                raise invalid("composition", composition, "a Composition")
            message.composition.CopyFrom(composition.message())
            message.output_window = COMPOSITION_WINDOW
        if mailbox_depth is not None:
            message.mailbox_depth = integer("mailbox_depth", mailbox_depth, 1, 64)
        if stats_interval is not None:
            interval = round(finite("stats_interval", stats_interval, 0.1, 3600) * 1e9)
            message.stats_interval.FromNanoseconds(interval)
        if fallback not in POLICIES:
            raise one_of("fallback", fallback, POLICIES)
        if shared_memory not in ("auto", True, False):
            raise invalid("shared_memory", shared_memory, '"auto" or False')
        ring = session_pb2.SharedMemoryRequest(
            slot_bytes=SLOT_BYTES
            if slot_bytes is None
            else integer("slot_bytes", slot_bytes, 1, 1 << 30),
            input_slots=integer("slots", slots, 1, 64),
            output_slots=integer("slots", slots, 1, 64),
        )
        if frames_in_flight is not None:
            frames_in_flight = integer("frames_in_flight", frames_in_flight, 1, 4096)
            message.frames_in_flight = min(frames_in_flight, 64)
        options = SessionOptions(
            open=message,
            select=select_message(pipeline),
            resume_token=resume_token or b"",
            shared_memory=ring
            if shared_memory and not message.outputs and composition is None
            else None,
            frames_in_flight=frames_in_flight,
            fallback=fallback,
            reconnects=reconnect is not False,
            give_up_after=None
            if isinstance(reconnect, bool)
            else finite("reconnect", reconnect, 0, 1e9),
        )
        return self._make_session(options)

    def _closed_error(self) -> FailedPrecondition:
        return FailedPrecondition(f"the client of {self.address} is closed; connect again")

    def _make_session(self, options: SessionOptions) -> SessionType:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<Server {self.address}>"
