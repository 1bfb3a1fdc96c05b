"""A server that exports traces, and frames that have some."""

import grpc
from opentelemetry import propagate, trace

from . import images
from .collector import Collector
from .contract import frame_filter, service
from .contract import session as messages
from .server import Server
from .session import Session, pipeline

PIPELINE = pipeline("sepiaTone", ("gaussianBlur", {"radius": 4}))


def server_that_traces(collector: Collector, **environment: str) -> Server:
    return Server(
        environment={
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            **environment,
        }
    )


def context_of(span) -> messages.TraceContext:
    """The trace context that a frame carries, as OpenTelemetry's own propagator writes it."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier, context=trace.set_span_in_context(span))
    return messages.TraceContext(**carrier)


def filter_frames(server: Server, contexts, **open_fields) -> None:
    """Sends a frame per context, one at a time, through a session."""
    picture = images.noise("RGB24", 320, 180)
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        with Session(service.FrameFilterStub(channel), pipeline=PIPELINE, **open_fields) as session:
            for context in contexts:
                session.send_frame(picture, **({"trace": context} if context else {}))
                session.receive_until("frame")
            session.finish()


def passes_of(server: Server) -> list[str]:
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        answer = service.FrameFilterStub(channel).CheckPipeline(
            frame_filter.CheckPipelineRequest(
                pipeline=PIPELINE, width=320, height=180, format="PIXEL_FORMAT_RGB24"
            )
        )
        return [each.name for each in answer.passes]
