"""Sidelight's client: sends live video to a server and gets filtered frames back.

    import sidelight

    with sidelight.connect("127.0.0.1:50051") as server:
        with server.session("sepiaTone(intensity: 0.8)") as session:
            outcome = session.filter(frame)

`sidelight.aio` has the same methods for asyncio.
"""

from __future__ import annotations

from . import aio, sync
from ._core.asset_requests import Asset
from ._core.face import Opened
from ._core.fallback import FallbackPolicy
from ._core.operator_requests import Override, SessionInfo
from ._core.requests import CheckedPipeline, Codec, CompiledPass, ServerInfo
from ._core.server import DropPolicy
from ._version import __version__
from .composition import Composition, CompositionSource
from .errors import (
    Aborted,
    DeadlineExceeded,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
    SidelightError,
    Unauthenticated,
    Unavailable,
)
from .events import (
    Accepted,
    Advice,
    Analysis,
    Applied,
    ConnectionLost,
    Detection,
    EncoderTarget,
    Event,
    KeyFrameNeeded,
    KeyFrameReason,
    OutputOutcome,
    Reconnected,
    Rejected,
    SessionState,
    StateChanged,
    Stats,
    TransitionEnd,
    TransitionEnded,
)
from .images import (
    AlphaMode,
    Color,
    ColorMatrix,
    ColorRange,
    EncodedImage,
    FormatLike,
    FormatName,
    Frame,
    Image,
    Layout,
    Orientation,
    PixelFormat,
    Plane,
)
from .outcomes import (
    Counts,
    Degraded,
    Dropped,
    DropReason,
    DropStage,
    Filtered,
    FrameInfo,
    Latency,
    Outcome,
    PassedThrough,
    Timing,
)
from .output import EncoderOptions, NamedOutput, Output
from .pipelines import (
    RGBA,
    FailurePolicy,
    FailurePolicyLike,
    Pipeline,
    PipelineLike,
    Point,
    Region,
    Stage,
    WorkingSpace,
    height,
    px,
    short_side,
    width,
)
from .sync import Server, Session, connect
from .transitions import Glide, Transition

__all__ = [
    "RGBA",
    "Aborted",
    "Accepted",
    "Advice",
    "AlphaMode",
    "Analysis",
    "Applied",
    "Asset",
    "CheckedPipeline",
    "Codec",
    "Color",
    "ColorMatrix",
    "ColorRange",
    "CompiledPass",
    "Composition",
    "CompositionSource",
    "ConnectionLost",
    "Counts",
    "DeadlineExceeded",
    "Degraded",
    "Detection",
    "DropPolicy",
    "DropReason",
    "DropStage",
    "Dropped",
    "EncodedImage",
    "EncoderOptions",
    "EncoderTarget",
    "Event",
    "FailedPrecondition",
    "FailurePolicy",
    "FailurePolicyLike",
    "FallbackPolicy",
    "Filtered",
    "FormatLike",
    "FormatName",
    "Frame",
    "FrameInfo",
    "Glide",
    "Image",
    "InvalidArgument",
    "Latency",
    "KeyFrameNeeded",
    "KeyFrameReason",
    "Layout",
    "NamedOutput",
    "NotFound",
    "Opened",
    "Orientation",
    "Outcome",
    "Output",
    "OutputOutcome",
    "Override",
    "PassedThrough",
    "PermissionDenied",
    "Pipeline",
    "PipelineLike",
    "PixelFormat",
    "Plane",
    "Point",
    "Reconnected",
    "Region",
    "Rejected",
    "ResourceExhausted",
    "Server",
    "ServerInfo",
    "Session",
    "SessionInfo",
    "SessionState",
    "SidelightError",
    "Stage",
    "StateChanged",
    "Stats",
    "Timing",
    "Transition",
    "TransitionEnd",
    "TransitionEnded",
    "Unauthenticated",
    "Unavailable",
    "WorkingSpace",
    "__version__",
    "aio",
    "connect",
    "height",
    "px",
    "short_side",
    "sync",
    "width",
]
