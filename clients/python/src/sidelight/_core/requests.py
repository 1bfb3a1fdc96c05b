"""The calls without a session, as values: both faces make them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable, NamedTuple, Optional

from .._formats import FormatLike, PixelFormat
from .._image_messages import format_number, format_of, image_of, message_of
from .._validation import finite, integer, invalid
from ..catalogue import Filter
from ..events import Stats, stats_of
from ..images import Image
from ..outcomes import Degraded, Filtered, FrameInfo, PassedThrough
from ..output import Output
from ..pipelines import Pipeline, PipelineLike
from ..v1 import frame_filter_pb2
from .options import select_message, set_source

#: The seconds after which a call without a session fails, unless the caller sets another limit.
CALL_TIMEOUT = 30.0

_FRAME_FILTER = "/sidelight.v1.FrameFilter/"


class Operation(NamedTuple):
    """A unary call: its method, request, and the conversion of its response."""

    method: str
    request: Any
    response: Any
    convert: Callable[[Any], Any]


class CompiledPass(NamedTuple):
    """One pass over a frame."""

    name: str
    filters: tuple[str, ...]
    description: str


class CheckedPipeline(NamedTuple):
    """A valid pipeline."""

    #: The canonical text; empty if it is too long.
    text: str
    #: The stages.
    pipeline: Pipeline
    #: The passes that it compiles to. Empty: frames pass through.
    passes: tuple[CompiledPass, ...]
    #: The kernels of the stages, by the stages' paths. Their parameters follow from their texts.
    kernels: Mapping[str, Filter]


class Codec(NamedTuple):
    """A codec of encoded video."""

    format: PixelFormat
    #: The library and its version; empty if the server was built without it.
    library: str
    #: Whether frames of the format can be sent.
    decodes: bool
    #: Whether results can have the format.
    encodes: bool


class ServerInfo(NamedTuple):
    """The description of a server."""

    version: str
    features: tuple[str, ...]
    instruction_set: str
    #: The limits by name, as in the contract's `Limits`.
    limits: Mapping[str, int]
    #: The number of open sessions.
    sessions: int
    #: The arriving work relative to the server's capacity; above 1 frames are dropped.
    load: float
    #: The frame counts of all sessions since the start.
    frames: Stats
    #: The codecs of encoded video, also those that the server lacks.
    codecs: tuple[Codec, ...]


def apply(
    image: Image,
    pipeline: PipelineLike,
    output: Optional[Output],
    frame_index: int,
    participant: str,
) -> Operation:
    """Filters a still image."""
    if not isinstance(image, Image):
        raise invalid("image", image, "an Image")
    request = frame_filter_pb2.ApplyRequest(
        image=message_of(image), frame_index=frame_index, participant=participant
    )
    set_source(request, select_message(pipeline))
    if output is not None:
        request.output.CopyFrom(output.message())

    def convert(response: Any) -> Any:
        kind = {2: PassedThrough, 3: Degraded}.get(response.disposition, Filtered)
        timing = response.timing
        result = image_of(response.image, response.image.inline)
        return kind(
            frame_index,
            FrameInfo(),
            0,
            lambda image: image,
            result,
            (timing.queue_us, timing.process_us, timing.total_us, 0.0),
        )

    return Operation(_FRAME_FILTER + "Apply", request, frame_filter_pb2.ApplyResponse, convert)


def filters(category: Optional[str], participant: str) -> Operation:
    """Lists the filters."""
    request = frame_filter_pb2.ListFiltersRequest(category=category or "", participant=participant)

    def convert(response: Any) -> Mapping[str, Filter]:
        return {each.name: Filter.of(each) for each in response.filters}

    return Operation(
        _FRAME_FILTER + "ListFilters", request, frame_filter_pb2.ListFiltersResponse, convert
    )


def check(
    pipeline: PipelineLike, width: int, height: int, format: FormatLike, participant: str
) -> Operation:
    """Validates a pipeline."""
    request = frame_filter_pb2.CheckPipelineRequest(
        width=integer("width", width, 1, 16384),
        height=integer("height", height, 1, 16384),
        format=format_number(PixelFormat.of(format)),
        participant=participant,
    )
    select = select_message(pipeline)
    if select.WhichOneof("pipeline_source") == "pipeline_text":
        request.text = select.pipeline_text
    else:
        request.pipeline.CopyFrom(select.pipeline)

    def convert(response: Any) -> CheckedPipeline:
        passes = tuple(
            CompiledPass(each.name, tuple(each.filters), each.description)
            for each in response.passes
        )
        kernels = {each.stage: Filter.of(each.kernel) for each in response.kernels}
        return CheckedPipeline(response.text, Pipeline.of(response.pipeline), passes, kernels)

    return Operation(
        _FRAME_FILTER + "CheckPipeline", request, frame_filter_pb2.CheckPipelineResponse, convert
    )


def place(group: str, participant: str, cost: float) -> Operation:
    """Asks for the servers of the fleet."""
    request = frame_filter_pb2.PlaceRequest(
        group=group, participant=participant, cost=finite("cost", cost, 0, 1)
    )
    return Operation(
        _FRAME_FILTER + "Place",
        request,
        frame_filter_pb2.PlaceResponse,
        lambda response: list(response.addresses),
    )


def info() -> Operation:
    """Describes the server."""

    def convert(response: Any) -> ServerInfo:
        limits: dict[str, int] = {
            field.name: getattr(response.limits, field.name)
            for field in response.limits.DESCRIPTOR.fields
        }
        load = response.load
        return ServerInfo(
            response.version,
            tuple(response.features),
            response.instruction_set,
            limits,
            load.sessions,
            load.scheduler_load,
            stats_of(load.frames),
            tuple(
                Codec(format, each.library, each.decodes, each.encodes)
                for each in response.codecs
                for format in (format_of(each.format),)
                if format is not None
            ),
        )

    return Operation(
        _FRAME_FILTER + "GetServerInfo",
        frame_filter_pb2.GetServerInfoRequest(),
        frame_filter_pb2.GetServerInfoResponse,
        convert,
    )
