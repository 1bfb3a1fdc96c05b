"""A collector of traces that also takes OTLP over HTTP, as collectors do."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as messages
from sidelight_testing.collector import Collector


class HTTPCollector(Collector):
    """A collector on two ports: `endpoint` for gRPC, `http_endpoint` for HTTP."""

    def __enter__(self) -> Self:
        super().__enter__()
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # noqa: N802, as the library names it
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = messages.ExportTraceServiceRequest.FromString(body)
                response = collector.Export(request, _Context(dict(self.headers)))
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.end_headers()
                self.wfile.write(response.SerializeToString())

            def log_message(self, *_: object) -> None:
                """Discards the log."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()
        self.http_endpoint = f"http://127.0.0.1:{self._http.server_port}"
        return self

    def __exit__(self, *error: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        super().__exit__(*error)


class _Context:
    """The part of a gRPC call that the collector uses."""

    def __init__(self, metadata: dict[str, str]) -> None:
        self._metadata = metadata

    def invocation_metadata(self) -> list[tuple[str, str]]:
        return list(self._metadata.items())
