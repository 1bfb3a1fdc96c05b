"""The context of OpenTelemetry, where it is installed and a span is current."""

from __future__ import annotations

from typing import Any, Optional

_trace: Any
try:
    from opentelemetry import trace as _trace  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    _trace = None

__all__ = ["current_traceparent"]


def current_traceparent() -> Optional[str]:
    """Returns the W3C `traceparent` of the current span; `None` without one."""
    if _trace is None:
        return None
    context = _trace.get_current_span().get_span_context()
    if not context.is_valid:
        return None
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"
