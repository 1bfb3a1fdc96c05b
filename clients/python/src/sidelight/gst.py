"""The GStreamer element `sidelightfilter`: filters raw and encoded video through a Sidelight server.

    export GST_PLUGIN_PATH=$(python3 -m sidelight.gst)
    gst-launch-1.0 videotestsrc ! sidelightfilter pipeline="sepiaTone" ! autovideosink

The loader of Python plug-ins (Debian: `gstreamer1.0-python3-plugin-loader`) finds the element on
that path. A Python program needs no loader: it calls `register()`.
"""

from __future__ import annotations

import sys
import threading
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

try:
    import gi  # pyright: ignore
except ImportError as error:
    _REMEDY = (
        "sidelight.gst needs PyGObject and GStreamer: on Debian, install python3-gi and "
        "gstreamer1.0-plugins-base, and create virtual environments with --system-site-packages"
    )
    if __name__ == "__main__":
        sys.exit(_REMEDY)
    raise ImportError(_REMEDY) from error

gi.require_version("Gst", "1.0")
gi.require_version("GstBase", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import GObject, Gst, GstBase, GstVideo  # pyright: ignore

from . import _gst_tls
from ._gst_messages import STATS, fail, post, stats_of, warn, weak_callback

if not Gst.is_initialized():
    Gst.init(None)

if TYPE_CHECKING:
    from ._core.fallback import FallbackPolicy
    from ._gst_frames import EncodedFormat, VideoFormat
    from .events import Event
    from .sync import Server, Session

__all__ = ["SidelightFilter", "plugin_path", "register"]

_NAME = "sidelightfilter"
_CAPS = (
    "video/x-raw, format=(string){ I420, NV12, BGRA, RGBA, RGB, GRAY8 }, "
    "width=(int)[1, 16384], height=(int)[1, 16384], framerate=(fraction)[0/1, 2147483647/1]; "
    "video/x-h264, stream-format=(string)byte-stream, alignment=(string)au; video/x-vp8; video/x-vp9"
)
#: The time to wait for an outcome, in seconds: beyond a budget, and without one.
_PATIENCE, _PATIENCE_WITHOUT_BUDGET = 0.5, 10.0
_MS = 1_000_000
_ON_ERROR = ("pass-through", "drop", "blur", "fail")

_READY = GObject.ParamFlags.READWRITE | Gst.PARAM_MUTABLE_READY
_PLAYING = GObject.ParamFlags.READWRITE | Gst.PARAM_MUTABLE_PLAYING


class SidelightFilter(GstBase.BaseTransform):  # type: ignore[misc]
    """A transform that sends every buffer to a server and replaces its pixels, or its encoded frame,
    in place. Requests for key frames pass in both directions.

    One frame is in flight at a time, so the element works like any synchronous filter: order, flow
    and timestamps do not change. A `queue leaky=downstream max-size-buffers=1` in front lets the
    newest frame win.
    """

    __gtype_name__ = "SidelightFilter"
    __gstmetadata__ = (
        "Sidelight filter",
        "Filter/Effect/Video",
        "Filters video through a Sidelight server",
        "The Sidelight authors",
    )
    __gsttemplates__ = tuple(
        Gst.PadTemplate.new(name, direction, Gst.PadPresence.ALWAYS, Gst.Caps.from_string(_CAPS))
        for name, direction in (("sink", Gst.PadDirection.SINK), ("src", Gst.PadDirection.SRC))
    )
    __gproperties__ = {
        "address": (
            str,
            "Address",
            "Address of the server: HOST:PORT, https://HOST:PORT or unix:PATH",
            "127.0.0.1:50051",
            _READY,
        ),
        "pipeline": (str, "Pipeline", "Filters as text, such as sepiaTone, vignette", "", _PLAYING),
        "budget": (
            GObject.TYPE_UINT,
            "Budget",
            "Time after which the output of a frame is useless, in milliseconds; late frames are "
            "dropped (0 = no limit)",
            0,
            10_000,
            0,
            _PLAYING,
        ),
        "on-error": (
            str,
            "On error",
            "Handling of frames that cannot be filtered: pass-through, drop, blur or fail",
            "pass-through",
            _READY,
        ),
        "label": (str, "Label", "Name of the stream, for the server's operators", "", _READY),
        "participant": (str, "Participant", "Participant whose video this is", "", _READY),
        "token": (
            str,
            "Token",
            "Bearer token that the server demands",
            "",
            GObject.ParamFlags.WRITABLE | Gst.PARAM_MUTABLE_READY,
        ),
        **_gst_tls.properties(_READY),
        "stats": (
            Gst.Structure,
            "Statistics",
            "Frames by outcome, and latencies in seconds",
            GObject.ParamFlags.READABLE,
        ),
    }

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._texts = {
            "address": "127.0.0.1:50051",
            "pipeline": "",
            "on-error": "pass-through",
            "label": "",
            "participant": "",
            "token": "",
            **dict.fromkeys(_gst_tls.ARGUMENTS, ""),
        }
        self._budget_ms = 0
        self._is_stopping = False
        self._server: Optional[Server] = None
        self._session: Optional[Session] = None
        self._video: Union[VideoFormat, EncodedFormat, None] = None
        self._key_frame_requests = 0
        #: Whether a result is missing, so that those up to the next key frame cannot be decoded.
        self._needs_key_frame = False
        self._probe: Optional[int] = None
        self._last_stats: Any = None

    # Properties

    def do_get_property(self, spec: Any) -> Any:
        """Returns the value of a property."""
        if spec.name == "stats":
            return self._stats()
        return self._budget_ms if spec.name == "budget" else self._texts[spec.name]

    def do_set_property(self, spec: Any, value: Any) -> None:
        """Sets a property. A change of `pipeline` is sent to the server at once."""
        if spec.name == "budget":
            self._budget_ms = value
            self.post_message(Gst.Message.new_latency(self))
            return
        with self._lock:
            self._texts[spec.name] = value or ""
            session = self._session
        if spec.name == "pipeline" and session is not None:
            self._select(session, value or "")

    # The transform

    def do_start(self) -> bool:
        """Prepares for streaming. The session opens with the first caps."""
        policy = self._texts["on-error"]
        if policy not in _ON_ERROR:
            text = f"on-error is {policy!r}; it must be one of {', '.join(_ON_ERROR)}"
            fail(self, Gst.LibraryError.SETTINGS, text)
            return False
        self._is_stopping = False
        reference = weakref.ref(self)

        def query(pad: Any, parent: Any, query: Any) -> bool:
            element = reference()
            return element is not None and element._query(pad, parent, query)

        def request(pad: Any, info: Any) -> Any:
            element = reference()
            is_handled = element is not None and element._request_key_frame(info.get_event())
            return Gst.PadProbeReturn.DROP if is_handled else Gst.PadProbeReturn.OK

        source = self.get_static_pad("src")
        source.set_query_function_full(query)
        if self._probe is None:
            self._probe = source.add_probe(Gst.PadProbeType.EVENT_UPSTREAM, request)
        return True

    def do_change_state(self, transition: Any) -> Any:
        """Closes the session before streaming stops, so no thread waits for an outcome."""
        if transition == Gst.StateChange.PAUSED_TO_READY:
            self._is_stopping = True
            self._close()
        return GstBase.BaseTransform.do_change_state(self, transition)

    def do_stop(self) -> bool:
        """Releases what streaming needed."""
        self._close()
        self._video = None
        return True

    def do_set_caps(self, incaps: Any, outcaps: Any) -> bool:
        """Takes the format of the following frames, and opens the session if it is not open."""
        from ._gst_frames import UnsupportedColorimetry, format_of_caps

        try:
            self._video = format_of_caps(incaps)
        except UnsupportedColorimetry as error:
            fail(self, Gst.StreamError.FORMAT, str(error))
            return False
        return self._session is not None or self._is_stopping or self._open(self._video.size)

    def do_propose_allocation(self, decide_query: Any, query: Any) -> bool:
        """Lets the elements before this one write into the memory of the elements after it."""
        return bool(self.get_static_pad("src").peer_query(query))

    def do_transform_ip(self, buffer: Any) -> Any:
        """Filters a buffer in place."""
        from ._gst_frames import (
            VideoFormat,
            encoded_image,
            is_key_frame,
            read_into,
            replace,
            write_from,
        )
        from ._core.delivery import ABANDONED
        from ._core.face import now
        from .errors import DeadlineExceeded, InvalidArgument, SidelightError
        from .images import Frame
        from .outcomes import Dropped, PassedThrough

        session, video = self._session, self._video
        if session is None or video is None:
            return Gst.FlowReturn.FLUSHING
        budget = self._budget_ms / 1e3
        patience = budget + _PATIENCE if budget else _PATIENCE_WITHOUT_BUDGET
        fails = self._texts["on-error"] == "fail"
        try:
            if isinstance(video, VideoFormat):
                layout = video.layout
                frame = session.frame(layout.width, layout.height, layout.format, color=video.color)
                read_into(frame.image, buffer, video)
            else:
                try:
                    frame = Frame(encoded_image(buffer, video))
                except InvalidArgument as error:
                    if fails:
                        raise
                    machine = session._machine
                    session._update(machine.drop_malformed, error, ABANDONED, now())
                    return self._dropped(buffer, "invalid_frame", "client", 0.0)
            frame.budget = budget
            if buffer.pts != Gst.CLOCK_TIME_NONE and buffer.pts < 2**63:
                frame.capture_time_ns = buffer.pts
            with session.filter(frame, timeout=patience) as outcome:
                if isinstance(outcome, Dropped):
                    if outcome.error is not None and fails:
                        raise outcome.error
                    reason, stage = outcome.reason.name.lower(), outcome.stage.name.lower()
                    return self._dropped(buffer, reason, stage, outcome.late)
                if not isinstance(video, VideoFormat):
                    if self._needs_key_frame and not is_key_frame(outcome.image):
                        session.request_key_frame()
                        return self._dropped(buffer, "not_decodable", "client", 0.0)
                    replace(buffer, outcome.image)
                    self._needs_key_frame = False
                elif not isinstance(outcome, PassedThrough):
                    write_from(outcome.image, buffer, video)
        except SidelightError as error:
            if self._session is not session:
                return Gst.FlowReturn.FLUSHING
            if isinstance(error, DeadlineExceeded) and not fails:
                self._needs_key_frame = True
                return self._dropped(buffer, "no_answer", "unknown", 0.0)
            fail(self, Gst.ResourceError.FAILED, str(error))
            return Gst.FlowReturn.ERROR
        except Exception as error:
            # An exception in the bindings would count as success, and show the input.
            fail(self, Gst.ResourceError.FAILED, repr(error))
            return Gst.FlowReturn.ERROR
        return Gst.FlowReturn.OK

    # The session

    def _open(self, size: Optional[int]) -> bool:
        from .errors import SidelightError
        from .sync import connect

        texts = dict(self._texts)
        policies: dict[str, FallbackPolicy] = {"pass-through": "pass_through", "blur": "blur"}
        policy = policies.get(texts["on-error"], "drop")
        try:
            files = _gst_tls.contents(texts)
            server = connect(texts["address"], token=texts["token"] or None, **files)
            try:
                session = server.session(
                    texts["pipeline"],
                    label=texts["label"],
                    participant=texts["participant"],
                    budget=self._budget_ms / 1e3 or None,
                    failure_policy=policy,
                    fallback=policy,
                    reconnect=texts["on-error"] != "fail",
                    slot_bytes=size,
                ).open()
            except BaseException:
                server.close()
                raise
        except SidelightError as error:
            text = _gst_tls.with_property_names(str(error))
            fail(self, Gst.ResourceError.OPEN_READ_WRITE, text)
            return False
        session.on_event(weak_callback(self._on_event))
        with self._lock:
            self._server, self._session = server, session
            current = self._texts["pipeline"]
        if current != texts["pipeline"]:
            self._select(session, current)
        return True

    def _select(self, session: Session, pipeline: str) -> None:
        from .errors import SidelightError

        try:
            session.select(pipeline)
        except SidelightError as error:
            warn(self, f"pipeline: {error}")

    def _close(self) -> None:
        with self._lock:
            session, self._session = self._session, None
            server, self._server = self._server, None
        if session is not None:
            session.close()
            self._last_stats = stats_of(session)
        if server is not None:
            server.close()

    def _on_event(self, event: Event) -> None:
        from .events import Applied, ConnectionLost, KeyFrameNeeded, Reconnected, Rejected

        if isinstance(event, Rejected):
            warn(self, f"pipeline: {event.error}")
        elif isinstance(event, Applied):
            post(self, "sidelight-applied", revision=event.revision)
        elif isinstance(event, KeyFrameNeeded):
            self._key_frame_requests += 1
            request = GstVideo.video_event_new_upstream_force_key_unit(
                Gst.CLOCK_TIME_NONE, True, self._key_frame_requests
            )
            self.get_static_pad("sink").push_event(request)
        elif isinstance(event, ConnectionLost):
            post(self, "sidelight-connection", connected=False, error=str(event.error))
        elif isinstance(event, Reconnected):
            post(self, "sidelight-connection", connected=True, error="")

    def _dropped(self, buffer: Any, reason: str, stage: str, late: float) -> Any:
        timestamp = GObject.Value(GObject.TYPE_UINT64, buffer.pts)
        post(self, "sidelight-dropped", timestamp=timestamp, reason=reason, stage=stage, late=late)
        # GST_BASE_TRANSFORM_FLOW_DROPPED, which the bindings lack.
        return Gst.FlowReturn.CUSTOM_SUCCESS

    # Events, queries and messages

    def _request_key_frame(self, event: Any) -> bool:
        """Hands a request of the elements behind this one to the server, which encodes the results.
        Returns whether it did."""
        from ._gst_frames import EncodedFormat

        session = self._session
        is_request = GstVideo.video_event_is_force_key_unit(event)
        if session is None or not is_request or not isinstance(self._video, EncodedFormat):
            return False
        session.request_key_frame()
        return True

    def _query(self, pad: Any, parent: Any, query: Any) -> bool:
        if query.type != Gst.QueryType.LATENCY:
            return bool(pad.query_default(parent, query))
        if not pad.query_default(parent, query):
            return False
        live, least, most = query.parse_latency()
        video = self._video
        own = self._budget_ms * _MS or (video.duration_ns if video else 0)
        if most != Gst.CLOCK_TIME_NONE:
            most += own
        query.set_latency(live, least + own, most)
        return True

    def _stats(self) -> Any:
        session = self._session
        if session is not None:
            return stats_of(session)
        return self._last_stats or Gst.Structure.new_empty(STATS)


#: The registration that the loader of Python plug-ins reads.
__gstelementfactory__ = (_NAME, Gst.Rank.NONE, SidelightFilter)


def register() -> None:
    """Registers the element in this process, so `Gst.parse_launch` finds it."""
    if not Gst.Element.register(None, *__gstelementfactory__):
        raise RuntimeError(f"GStreamer refused to register {_NAME}")


def plugin_path() -> str:
    """Returns the folder for `GST_PLUGIN_PATH`, with the file that the plug-in loader reads."""
    return str(Path(__file__).parent / "_gst_plugin")


if __name__ == "__main__":
    sys.stdout.write(plugin_path() + "\n")
