"""The methods of a server that both faces share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Literal, Optional, TypeVar, Union

from .._channel import Endpoint
from ..errors import FailedPrecondition
from ..output import Output
from ..pipelines import FailurePolicyLike, PipelineLike
from .face import SessionBase
from .fallback import FallbackPolicy
from .options import DropPolicy, SessionOptions

SessionType = TypeVar("SessionType", bound=SessionBase)  # type: ignore[type-arg]


class ServerBase(Generic[SessionType]):
    """A server. Connections are opened when they are needed; each session has its own."""

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
          `*`. `None`: all that the server permits; an empty list: none.
        - `budget`: The seconds from receipt until a frame is useless and dropped, at most
          10. `None`: no limit.
        - `drop_policy`: "newest_wins" (live video: a newer frame replaces one that waits),
          "keep_oldest", or "never_drop" (files: sending waits instead).
        - `failure_policy`: The handling of frames for which a stage fails: "pass_through", "drop"
          or "blur".
        - `max_fps`: Frames per second, 0.01 to 1000; others are dropped evenly. `None`: no limit.
        - `output`: The format and size of results. `None`: those of the input.
        - `analysis_only`: Whether frames come back without pixels; outcomes then have the picture
          that was sent.
        - `allow_degraded`: Whether the server may use cheaper variants before it drops frames.
        - `shared_memory`: "auto" exchanges pixels in shared memory with a server on this host that
          offers it; `False` sends them inline.
        - `slot_bytes`: The largest picture in shared memory. `None`: 8 MiB.
        - `slots`: The number of pictures in shared memory in each direction, 1 to 64.
        - `frames_in_flight`: This client's own limit. `None`: the server's.
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
        options = SessionOptions(
            pipeline,
            label=label,
            participant=participant,
            allowed_filters=allowed_filters,
            budget=budget,
            drop_policy=drop_policy,
            failure_policy=failure_policy,
            max_fps=max_fps,
            output=output,
            analysis_only=analysis_only,
            allow_degraded=allow_degraded,
            shared_memory=shared_memory,
            slot_bytes=slot_bytes,
            slots=slots,
            frames_in_flight=frames_in_flight,
            mailbox_depth=mailbox_depth,
            reconnect=reconnect,
            fallback=fallback,
            stats_interval=stats_interval,
            resume_token=resume_token,
        )
        return self._make_session(options)

    def _closed_error(self) -> FailedPrecondition:
        return FailedPrecondition(f"the client of {self.address} is closed; connect again")

    def _make_session(self, options: SessionOptions) -> SessionType:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<Server {self.address}>"
