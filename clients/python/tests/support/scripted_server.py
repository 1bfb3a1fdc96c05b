"""A gRPC server in this process whose sessions answer with the messages of a test."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from concurrent import futures
from typing import Any, Optional

import grpc


class ScriptedServer(grpc.GenericRpcHandler):
    """A server on a loopback port. Without messages it has no methods at all.

    - `messages`: The answers of every session, after its first message; then it stays open.
    - `after_frame`: The answers after the second message.
    """

    def __init__(
        self, messages: Optional[list[bytes]] = None, after_frame: Sequence[bytes] = ()
    ) -> None:
        self._messages = messages
        self._after_frame = after_frame
        self._closed = threading.Event()
        self._server = grpc.server(
            futures.ThreadPoolExecutor(8),
            handlers=[self],
            options=[("grpc.max_send_message_length", -1)],
        )
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def service(self, details: Any) -> Any:
        if self._messages is None:
            return None
        return grpc.stream_stream_rpc_method_handler(self._answer)

    def _answer(self, requests: Any, context: Any) -> Any:
        context.add_callback(self._closed.set)
        next(requests)
        yield from self._messages or ()
        if self._after_frame:
            next(requests)
            yield from self._after_frame
        self._closed.wait()

    def __enter__(self) -> ScriptedServer:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._server.stop(None).wait()


class CountingRelay:
    """A loopback port whose connections go to a server, with a count of the bytes that it sends."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.received = 0
        self._connections: list[socket.socket] = []

    def __enter__(self) -> CountingRelay:
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the connections too: old versions of gRPC keep a closed channel's connection open."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        threads = []
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                break
            server = socket.create_connection(self._target)
            self._connections += [client, server]
            for source, sink in ((client, server), (server, client)):
                thread = threading.Thread(target=self._copy, args=(source, sink, source is server))
                thread.start()
                threads.append(thread)
        for connection in self._connections:
            _shut_down(connection)
        for thread in threads:
            thread.join()
        for connection in self._connections:
            connection.close()

    def _copy(self, source: socket.socket, sink: socket.socket, counts: bool) -> None:
        try:
            while data := source.recv(1 << 16):
                if counts:
                    self.received += len(data)
                sink.sendall(data)
        except OSError:
            pass
        _shut_down(source)
        _shut_down(sink)


def _shut_down(connection: socket.socket) -> None:
    """Ends a connection in both directions, which also wakes blocked calls on it."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # The peer has closed it.
