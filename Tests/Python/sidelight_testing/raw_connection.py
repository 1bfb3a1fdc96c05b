"""A TCP connection of a client that may violate any protocol."""

import socket
from typing import Self

PATIENCE_SECONDS = 60


class RawConnection:
    """A TCP connection to a server. It sends no automatic answers."""

    def __init__(
        self, address: str, *, source: str | None = None, receive_buffer: int | None = None,
        patience_seconds: float = PATIENCE_SECONDS,
    ) -> None:
        """Connects to `HOST:PORT`.

        `source` is the address from which the connection comes: a different one per peer keeps
        limits by address from counting against other clients. Default: the system's choice.
        """
        host, _, port = address.rpartition(":")
        self._socket = socket.socket()
        if source:
            self._socket.bind((source, 0))
        if receive_buffer:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._socket.settimeout(patience_seconds)
        self._socket.connect((host, int(port)))
        self._received = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def local_address(self) -> str:
        """The connection's own end: `HOST:PORT`."""
        host, port = self._socket.getsockname()
        return f"{host}:{port}"

    def send(self, content: bytes) -> None:
        """Sends bytes. Ignores a connection that the server has closed."""
        try:
            self._socket.sendall(content)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def _more(self) -> bool:
        """Receives what has come; false if the connection has ended."""
        try:
            chunk = self._socket.recv(1 << 16)
        except ConnectionResetError:
            return False
        self._received += chunk
        return bool(chunk)
