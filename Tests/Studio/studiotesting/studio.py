"""A `sidelight studio` process, and a way to it that can be cut."""

import socket
import socketserver
import threading
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from calltesting.programs import Program, binary

REPOSITORY = Path(__file__).resolve().parents[3]
PAGE = REPOSITORY / "Sources/Studio/Page"
BUFFER_BYTES = 1 << 16


class Studio(Program):
    """A server with the studio's page, on free ports."""

    def __init__(self, *options: str | Path, port: int = 0) -> None:
        # On a busy machine frames take long, and the server would refuse sessions. And a browser
        # opens connections ahead of requests, and may use them later than after four seconds.
        super().__init__(
            binary(), "studio", "--port", str(port), "--studio-page", PAGE,
            "--max-load", "0", "--guards-preface-timeout", "60s", *options
        )

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self.url = self.next_url()
        except BaseException:
            self.__exit__()
            raise
        return self

    def next_url(self) -> str:
        """Returns the next URL that the program prints. Each can be opened once."""
        while True:
            _, separator, url = self.line().partition("studio on ")
            if separator:
                return url

    @property
    def port(self) -> int:
        """The port of the page."""
        return urlsplit(self.url).port or 80


class Proxy:
    """A TCP proxy on a free port of loopback, whose connections can be cut."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._sockets: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._is_open = True

    def __enter__(self) -> Self:
        proxy = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                proxy._serve(self.request)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self.cut()
        self._server.server_close()
        self._thread.join()

    def cut(self) -> None:
        """Closes all connections, and accepts no others until `restore`."""
        self._is_open = False
        with self._lock:
            for each in self._sockets:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # It is closed already.

    def restore(self) -> None:
        """Accepts connections again."""
        self._is_open = True

    def _serve(self, client: socket.socket) -> None:
        if not self._is_open:
            return
        with socket.create_connection(self._target) as server:
            with self._lock:
                self._sockets |= {client, server}
            back = threading.Thread(target=_copy, args=(server, client))
            back.start()
            _copy(client, server)
            back.join()
            with self._lock:
                self._sockets -= {client, server}


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(BUFFER_BYTES):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for each in (source, target):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It is closed already.
