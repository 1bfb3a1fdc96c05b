"""One trace from the page to the frame: spans of the page and of the call server.

The page sends the context of its span with a command, and the span itself when it has ended. The
command's span here is its child, and the next frame's spans at Sidelight are children of that.
Without OpenTelemetry spans are not recorded.
"""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sidelight import Frame
    from sidelight.aio import Session

try:
    from opentelemetry import trace
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    trace = None  # type: ignore[assignment]

_LOG = logging.getLogger(__name__)
# The packages with the exporters, by the protocol's name in OpenTelemetry's variables.
_PACKAGES = {"grpc": "grpc", "http/protobuf": "http"}
_DEFAULT_PROTOCOL = "http/protobuf"
_processor: Any = None


def start() -> None:
    """Exports spans by OTLP to `OTEL_EXPORTER_OTLP_ENDPOINT`, with the protocol in
    `OTEL_EXPORTER_OTLP_PROTOCOL`. Has no effect without an endpoint or the SDK."""
    global _processor
    if trace is None or not _variable("ENDPOINT"):
        return
    protocol = _variable("PROTOCOL") or _DEFAULT_PROTOCOL
    if protocol not in _PACKAGES:
        _LOG.warning(
            "OTEL_EXPORTER_OTLP_PROTOCOL is %r; it must be %s. %s is used.", protocol,
            " or ".join(_PACKAGES), _DEFAULT_PROTOCOL,
        )
        protocol = _DEFAULT_PROTOCOL
    package = f"opentelemetry.exporter.otlp.proto.{_PACKAGES[protocol]}"
    try:
        exporter = importlib.import_module(f"{package}.trace_exporter").OTLPSpanExporter()
    except ImportError:
        _LOG.warning("No spans are exported: install %s.", package.replace(".", "-"))
        return
    _processor = BatchSpanProcessor(exporter)
    provider = TracerProvider(resource=Resource.create({"service.name": "call-server"}))
    provider.add_span_processor(_processor)
    trace.set_tracer_provider(provider)


def _variable(name: str) -> str | None:
    """Returns the variable of OTLP for traces, or else the one for all signals."""
    names = (f"OTEL_EXPORTER_OTLP_TRACES_{name}", f"OTEL_EXPORTER_OTLP_{name}")
    return next((found for each in names if (found := os.environ.get(each))), None)


class TracedSession:
    """A session whose next frame can be traced below a span."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._parent: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def trace_next_frame(self, traceparent: str | None) -> None:
        """Makes the next frame's spans children of a span. `None` changes nothing."""
        self._parent = traceparent or self._parent

    async def send(self, frame: Frame) -> int:
        """Sends a frame, as `Session.send`."""
        if self._parent:
            frame.trace, self._parent = self._parent, None
        return await self._session.send(frame)


@contextmanager
def span(name: str, traceparent: str | None) -> Iterator[str | None]:
    """Records a span below one of the page, and yields its `traceparent`.

    Without OpenTelemetry it yields the context of the page; without a parent there is no span.
    """
    if trace is None or not traceparent:
        yield traceparent
        return
    with trace.get_tracer("call").start_as_current_span(name, _context(traceparent)):
        carrier: dict[str, str] = {}
        TraceContextTextMapPropagator().inject(carrier)
        yield carrier.get("traceparent", traceparent)


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
