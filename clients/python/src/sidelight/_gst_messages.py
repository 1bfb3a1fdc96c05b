"""The messages of the GStreamer element: structures, warnings and errors."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import gi  # pyright: ignore

gi.require_version("Gst", "1.0")
from gi.repository import GLib, GObject, Gst  # pyright: ignore

if TYPE_CHECKING:
    from .sync import Session

__all__ = ["STATS", "fail", "post", "stats_of", "warn", "weak_callback"]

#: The name of the structure with statistics.
STATS = "sidelight-stats"


def post(element: Any, name: str, **fields: Any) -> None:
    """Posts an element message with the fields of a structure."""
    structure = Gst.Structure.new_empty(name)
    for key, value in fields.items():
        structure.set_value(key, value)
    element.post_message(Gst.Message.new_element(element, structure))


def warn(element: Any, text: str) -> None:
    """Posts a warning about a setting."""
    _post_text(element, Gst.MessageType.WARNING, Gst.LibraryError.SETTINGS, text)


def fail(element: Any, code: Any, text: str) -> None:
    """Posts an error with a code of `Gst.StreamError` or `Gst.ResourceError`."""
    _post_text(element, Gst.MessageType.ERROR, code, text)


def _post_text(element: Any, kind: Any, code: Any, text: str) -> None:
    domain = type(code).quark()
    element.message_full(kind, domain, int(code), text, None, __name__, element.get_name(), 0)


def weak_callback(method: Any) -> Any:
    """Returns a callback that does not keep the method's object alive."""
    reference = weakref.WeakMethod(method)

    def call(event: Any) -> None:
        target = reference()
        if target is not None:
            target(event)

    return call


def stats_of(session: Session) -> Any:
    """Returns the counts of a session as a structure."""
    counts, latency = session.counts, session.latency
    structure = Gst.Structure.new_empty(STATS)
    numbers = {
        "received": counts.received,
        "filtered": counts.filtered,
        "passed-through": counts.passed_through,
        "degraded": counts.degraded,
        "dropped": sum(counts.dropped.values()),
    }
    for reason, count in counts.dropped.items():
        numbers["dropped-" + reason.name.lower().replace("_", "-")] = count
    for name, number in numbers.items():
        structure.set_value(name, GObject.Value(GObject.TYPE_UINT64, number))
    structure.set_value("round-trip-p50", latency.p50)
    structure.set_value("round-trip-p95", latency.p95)
    structure.set_value("server-p50", latency.server_p50)
    structure.set_value("server-p95", latency.server_p95)
    return structure
