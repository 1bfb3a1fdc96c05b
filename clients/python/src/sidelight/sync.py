"""The synchronous face: calls block until they have their result.

    with sidelight.connect("unix:/run/sidelight.sock") as server:
        with server.session("sepiaTone", label="ana") as session:
            outcome = session.filter(frame)

Servers and sessions may be used by several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, List, Optional, Set, Tuple, Union

import grpc

from ._channel import Endpoint, Token, error_of_call
from ._core import asset_requests, operator_requests, requests
from ._core.asset_requests import Asset
from ._core.link import TICK_INTERVAL
from ._core.operator_requests import Override, SessionInfo
from ._core.options import SessionOptions
from ._core.requests import CheckedPipeline, Operation, ServerInfo
from ._core.server import ServerBase
from ._sync_session import Change, Session
from .catalogue import Filter
from .images import FormatLike, Image
from .outcomes import Degraded, Filtered, PassedThrough
from .output import Output
from .pipelines import PipelineLike
from .v1 import assets_pb2

__all__ = ["Assets", "Change", "Server", "Session", "Sessions", "connect"]


def connect(
    address: str,
    *,
    token: Optional[Token] = None,
    root_certificates: Optional[bytes] = None,
    certificate: Optional[bytes] = None,
    private_key: Optional[bytes] = None,
    metadata: Sequence[Tuple[str, Union[str, bytes]]] = (),
    options: Sequence[Tuple[str, Any]] = (),
) -> Server:
    """Returns a server. Connections are opened when they are needed.

    - `address`: `"host:port"`, `"https://host:port"` for TLS, or `"unix:/path"`.
    - `token`: A bearer token, or a function that returns one, which is called for every call. It is
      only sent over TLS, over Unix sockets and to this host.
    - `root_certificates`: The content of a PEM file with the authorities that may sign the server's
      certificate; `None` uses gRPC's. Enables TLS.
    - `certificate`, `private_key`: The contents of PEM files with this client's certificate and its
      key, for servers that require one. Enable TLS.
    - `metadata`: Keys and values of every call.
    - `options`: gRPC's channel options, which take precedence over this package's.
    """
    return Server(
        Endpoint(address, token, root_certificates, certificate, private_key, metadata, options)
    )


class Server(ServerBase[Session]):
    __doc__ = ServerBase.__doc__

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint, Session)
        self._lock = threading.Lock()
        self._channel: Any = None
        self._sessions: Set[Session] = set()
        self._watcher: Optional[threading.Thread] = None
        self._closed = threading.Event()

    def close(self) -> None:
        """Closes the sessions and connections for good. A second call has no effect."""
        with self._lock:
            self._closed.set()
            sessions = list(self._sessions)
            channel, self._channel = self._channel, None
        try:
            for session in sessions:
                session.finish()
            for session in sessions:
                session.close()
        finally:
            if channel is not None:
                channel.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Sessions

    def _make_session(self, options: SessionOptions) -> Session:
        return Session(self._endpoint, options, self._watch)

    def _watch(self, session: Session) -> None:
        """Checks the time limits of a session from now on."""
        with self._lock:
            if self._closed.is_set():
                raise self._closed_error()
            self._sessions.add(session)
            if self._watcher is None:
                self._watcher = threading.Thread(
                    target=self._check_times, name="sidelight times", daemon=True
                )
                self._watcher.start()

    def _check_times(self) -> None:
        while True:
            is_closed = self._closed.wait(TICK_INTERVAL)
            with self._lock:
                self._sessions = {each for each in self._sessions if not each._is_over}
                sessions = list(self._sessions)
                if is_closed or not sessions:
                    self._watcher = None
                    return
            for session in sessions:
                session._tick()

    # Calls without a session

    def _open_channel(self) -> Any:
        with self._lock:
            if self._closed.is_set():
                raise self._closed_error()
            if self._channel is None:
                self._channel = self._endpoint.channel(grpc)
            return self._channel

    def _call(self, operation: Operation, timeout: Optional[float] = None) -> Any:
        method = self._open_channel().unary_unary(
            operation.method,
            request_serializer=type(operation.request).SerializeToString,
            response_deserializer=operation.response.FromString,
        )
        try:
            response = method(
                operation.request,
                timeout=requests.CALL_TIMEOUT if timeout is None else timeout,
                metadata=self._endpoint.metadata(),
            )
        except grpc.RpcError as error:
            raise error_of_call(error) from None
        return operation.convert(response)

    def apply(
        self,
        image: Image,
        pipeline: PipelineLike,
        *,
        output: Optional[Output] = None,
        frame_index: int = 0,
        participant: str = "",
        timeout: Optional[float] = None,
    ) -> Union[Filtered, PassedThrough, Degraded]:
        """Filters one still image: raw, JPEG or PNG.

        - `frame_index`: The frame of a session as which it is filtered, for filters that change
          from frame to frame.
        - `timeout`: The seconds after which `DeadlineExceeded` is raised. `None`: 30.
        """
        operation = requests.apply(image, pipeline, output, frame_index, participant)
        result: Union[Filtered, PassedThrough, Degraded] = self._call(operation, timeout)
        return result

    def filters(
        self, category: Optional[str] = None, *, participant: str = ""
    ) -> Mapping[str, Filter]:
        """Returns the filters that the caller, or a participant, may use, by name."""
        result: Mapping[str, Filter] = self._call(requests.filters(category, participant))
        return result

    def check(
        self,
        pipeline: PipelineLike,
        *,
        width: int = 1280,
        height: int = 720,
        format: FormatLike = "i420",
        participant: str = "",
    ) -> CheckedPipeline:
        """Validates a pipeline, and returns its text, its stages and its passes.

        Raises `InvalidArgument` with the position and a suggestion if it is invalid.
        """
        result: CheckedPipeline = self._call(
            requests.check(pipeline, width, height, format, participant)
        )
        return result

    def place(self, group: str = "", participant: str = "", cost: float = 0.0) -> List[str]:
        """Returns the addresses of the fleet's servers at which to open a session, the best first.
        Ask again after about 10 s.

        - `group`: The call or room whose sessions belong to one server, at most 128 bytes.
        - `participant`: The participant, whose sessions are a group if `group` is empty.
        - `cost`: The load that the session adds, relative to the capacity of a server, 0 to 1.
        """
        result: List[str] = self._call(requests.place(group, participant, cost))
        return result

    def info(self) -> ServerInfo:
        """Returns the server's version, limits, features and load."""
        result: ServerInfo = self._call(requests.info())
        return result

    @property
    def assets(self) -> Assets:
        """The files that filters use in addition to the frame."""
        return Assets(self)

    @property
    def sessions(self) -> Sessions:
        """All sessions of the server, for operators."""
        return Sessions(self)


class Assets:
    """The assets that the caller's pipelines can name: stickers, backgrounds, masks, tables."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def put(self, name: str, data: Any, *, participant: str = "") -> Asset:
        """Uploads a file, which replaces the caller's asset of the same name.

        - `data`: The bytes of a PNG, a JPEG or a `.cube` table, or the path of a file.
        - `participant`: The participant that owns it. Empty: the caller.
        """
        method = self._server._open_channel().stream_unary(
            asset_requests.PUT_ASSET,
            request_serializer=assets_pb2.PutAssetRequest.SerializeToString,
            response_deserializer=assets_pb2.PutAssetResponse.FromString,
        )
        try:
            response = method(
                iter(asset_requests.asset_upload(name, data, participant)),
                timeout=requests.CALL_TIMEOUT,
                metadata=self._server._endpoint.metadata(),
            )
        except grpc.RpcError as error:
            raise error_of_call(error) from None
        return asset_requests.asset_of(response.asset)

    def list(self, *, participant: str = "") -> List[Asset]:
        """Returns the assets of the caller, of a participant, and of the server."""
        result: List[Asset] = self._server._call(asset_requests.list_assets(participant))
        return result

    def delete(self, name: str, *, participant: str = "") -> None:
        """Deletes an asset of the caller, or of a participant."""
        self._server._call(asset_requests.delete_asset(name, participant))


class Sessions:
    """All sessions of the server, for operators and moderators."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def list(self, *, label: str = "", participant: str = "") -> List[SessionInfo]:
        """Returns the open sessions, the oldest first; optionally of a label or a participant."""
        found: List[SessionInfo] = []
        page_token = ""
        while True:
            page, page_token = self._server._call(
                operator_requests.list_sessions(label, participant, page_token)
            )
            found += page
            if not page_token:
                return found

    def watch(
        self, *, interval: float = 1.0, session_id: str = ""
    ) -> Iterator[Sequence[SessionInfo]]:
        """Yields the open sessions at once and after every interval of seconds.

        - `session_id`: Only this session; the iteration ends with it. Empty: all.
        """
        method = self._server._open_channel().unary_stream(operator_requests.WATCH_SESSIONS)
        request = operator_requests.watch_sessions(interval, session_id).SerializeToString()
        call = method(request, metadata=self._server._endpoint.metadata())
        snapshots = operator_requests.Snapshots()
        try:
            for data in call:
                snapshot = snapshots.add(data)
                if snapshot is not None:
                    yield snapshot
        except grpc.RpcError as error:
            raise error_of_call(error) from None
        finally:
            call.cancel()

    def override(
        self,
        session_id: Optional[str] = None,
        pipeline: PipelineLike = None,
        *,
        for_: float,
        participant: Optional[str] = None,
        reason: str = "",
        caller: str = "",
    ) -> Override:
        """Forces a pipeline on a session, or on all sessions of a participant.

        - `for_`: The seconds of the override, 1 to 86400.
        - `caller`: The caller that vouches for the participant. Empty: any.
        """
        operation = operator_requests.override(
            session_id, participant, pipeline, for_, reason, caller
        )
        result: Override = self._server._call(operation)
        return result

    def end_override(
        self,
        session_id: Optional[str] = None,
        *,
        participant: Optional[str] = None,
        caller: str = "",
    ) -> Override:
        """Ends the override of a session, or of all sessions of a participant."""
        operation = operator_requests.override(session_id, participant, None, None, "", caller)
        result: Override = self._server._call(operation)
        return result

    def close(self, session_id: str, *, reason: str = "") -> None:
        """Ends a session after the outcomes of its frames in flight. Its client has the error
        `PermissionDenied` with the reason, and may open another session."""
        self._server._call(operator_requests.close(session_id, reason))

    def move(self, session_id: str, address: str = "") -> bool:
        """Asks a session's client to continue elsewhere. Returns whether it does so without losing
        frames; otherwise the session ends with `Unavailable`.

        - `address`: The server, "host:port". Empty: the client chooses.
        """
        result: bool = self._server._call(operator_requests.move(session_id, address))
        return result
