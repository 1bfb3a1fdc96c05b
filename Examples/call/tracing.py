"""One trace from the page to the frame: spans of the page and of the call server.

The page sends the context of its span with a command, and the span itself when it has ended. The
command's span here is its child, and the next frame's spans at Sidelight are children of that.
Without OpenTelemetry nothing is recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    trace = None

_processor: Any = None


def start() -> None:
    """Exports spans by OTLP over HTTP, as the variables `OTEL_EXPORTER_OTLP_...` say. Does nothing
    if the SDK and its exporter are not installed."""
    global _processor
    if trace is None:
        return
    _processor = BatchSpanProcessor(OTLPSpanExporter())
    provider = TracerProvider(resource=Resource.create({"service.name": "call-server"}))
    provider.add_span_processor(_processor)
    trace.set_tracer_provider(provider)


@contextmanager
def span(name: str, traceparent: str | None) -> Iterator[None]:
    """Records a span below one of the page. Without a parent there is no span."""
    if trace is None or not traceparent:
        yield
        return
    with trace.get_tracer("call").start_as_current_span(name, _context(traceparent)):
        yield


def report(name: str, traceparent: str, start_ms: float, end_ms: float) -> None:
    """Exports a span that ended in the page."""
    if _processor is None:
        return
    _processor.on_end(
        ReadableSpan(
            name=f"page: {name}",
            context=trace.get_current_span(_context(traceparent)).get_span_context(),
            resource=Resource.create({"service.name": "call-page"}),
            start_time=int(start_ms * 1e6),
            end_time=int(end_ms * 1e6),
        )
    )


def _context(traceparent: str) -> Any:
    return TraceContextTextMapPropagator().extract({"traceparent": traceparent})
