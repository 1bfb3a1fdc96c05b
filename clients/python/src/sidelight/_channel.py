"""Addresses, credentials and channels."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any, Callable, List, Optional, Tuple, Union

from google.protobuf.message import DecodeError

from . import _tls
from ._tracing import current_traceparent
from ._validation import invalid
from .errors import CODE_NAMES, SidelightError, Unauthenticated, error_of_status, make_error

__all__ = ["Endpoint", "Token", "error_of_call"]

#: A bearer token, or a function that returns one.
Token = Union[str, Callable[[], str]]

_TARGET = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s/:\[\]]+):\d{1,5}")

#: The largest message that is received, in bytes: the default of the server's
#: `transport.max-message-bytes`.
MAX_MESSAGE_BYTES = 64 << 20

#: Options for messages with pictures. Every session has its own connection, so sessions do not wait
#: for each other's frames.
_OPTIONS: tuple[tuple[str, Any], ...] = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.http2.lookahead_bytes", 4 << 20),
    ("grpc.http2.max_frame_size", 4 << 20),
)


_REFUSED = re.compile("Connection refused|No such file or directory|DNS resolution failed")
_NO_SERVER = "no server answers at the address; check the address, and that `sidelight serve` runs"
_TOO_LARGE = (
    "the server sent a message over this client's limit; raise the limit with "
    "connect(..., options=[(\"grpc.max_receive_message_length\", BYTES)])"
)


class Endpoint:
    """An address of a server, with what its channels and calls need."""

    def __init__(
        self,
        address: str,
        token: Optional[Token],
        root_certificates: Optional[bytes],
        certificate: Optional[bytes],
        private_key: Optional[bytes],
        metadata: Sequence[tuple[str, Union[str, bytes]]],
        options: Sequence[tuple[str, Any]],
    ) -> None:
        if not isinstance(address, str):
            raise invalid("address", address, "a text")
        # An empty file must not turn TLS off.
        pems = (root_certificates, certificate, private_key)
        is_secure = any(each is not None for each in pems)
        target = address
        if target.startswith("https://"):
            is_secure = True
            target = target[len("https://") :].rstrip("/")
        elif target.startswith("http://"):
            target = target[len("http://") :].rstrip("/")
        is_unix = target.startswith("unix:")
        if not is_unix and not _TARGET.fullmatch(target):
            raise invalid("address", address, "host:port, https://host:port or unix:/path")
        #: Whether the server is on this host.
        self.is_local = is_unix or _is_loopback(target)
        if token is not None and not is_secure and not self.is_local:
            raise invalid(
                "token", "set without TLS", "sent over TLS, a Unix socket or to this host"
            )
        self.address = address
        self.has_credentials = token is not None
        self._target = target
        self._token = token
        self._metadata = tuple(metadata)
        chosen = {name for name, _ in options}
        self._options = [each for each in _OPTIONS if each[0] not in chosen]
        if self.is_local and not is_unix:
            self._options.append(("grpc.enable_http_proxy", 0))
        self._options += options
        self._credentials: Any = None
        if is_secure:
            self._credentials = _tls.credentials(*pems)

    def at(self, address: str) -> Optional[Endpoint]:
        """Returns the endpoint of another server that a server names, `HOST:PORT`; `None` for other
        texts, and where a token would not be protected."""
        if not _TARGET.fullmatch(address):
            return None
        endpoint = copy.copy(self)
        endpoint.address = endpoint._target = address
        endpoint.is_local = _is_loopback(address)
        if self.has_credentials and self._credentials is None and not endpoint.is_local:
            return None
        return endpoint

    def channel(self, library: Any) -> Any:
        """Returns a new channel of `grpc` or `grpc.aio`."""
        if self._credentials is not None:
            return library.secure_channel(self._target, self._credentials, self._options)
        return library.insecure_channel(self._target, self._options)

    def metadata(self) -> tuple[tuple[str, Union[str, bytes]], ...]:
        """Returns the metadata of a call that begins now.

        Raises `Unauthenticated` if there is no token.
        """
        metadata = self._metadata
        if self._token is not None:
            token = self._token
            if callable(token):
                try:
                    token = token()
                except Exception as error:
                    message = f"there is no token for the call: {error}"
                    raise Unauthenticated(message) from error
            metadata += (("authorization", f"Bearer {token}"),)
        parent = current_traceparent()
        if parent is not None:
            metadata += (("traceparent", parent),)
        return metadata


def _is_loopback(target: str) -> bool:
    host = target.rsplit(":", 1)[0].strip("[]")
    return host in ("localhost", "::1") or host.startswith("127.")


def error_of_call(error: Any) -> SidelightError:
    """Returns the error of a call that failed (`grpc.RpcError`)."""
    from google.rpc import status_pb2  # type: ignore[import-untyped]

    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = status_pb2.Status()
            try:
                status.ParseFromString(value)
            except DecodeError:
                break
            return error_of_status(status)
    code = error.code()
    number = code.value[0] if code is not None else 2
    name = CODE_NAMES[number] if 0 <= number < len(CODE_NAMES) else "UNKNOWN"
    message = error.details() or name
    cause = _cause(name, message)
    return make_error(name, f"{cause} ({message})" if cause else message)


def _cause(name: str, message: str) -> Optional[str]:
    """Returns the probable cause of an error of gRPC, and the remedy; `None` if it has no other."""
    if name == "UNAVAILABLE":
        return _tls.cause(message) or (_NO_SERVER if _REFUSED.search(message) else None)
    if name == "RESOURCE_EXHAUSTED" and "larger than max" in message:
        return _TOO_LARGE
    return None
