"""A collector of traces: OTLP over gRPC, with OpenTelemetry's own messages."""

import threading
import time
from concurrent import futures
from typing import Self

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as messages
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as service

WAIT_SECONDS = 60


class Collector(service.TraceServiceServicer):
    """Keeps every span that is sent to it, with the resource and the metadata it came with."""

    def __init__(
        self, credentials: grpc.ServerCredentials | None = None, refusals: int = 0
    ) -> None:
        """With credentials it speaks TLS. It is UNAVAILABLE for the first so many requests."""
        self._refusals_left = refusals
        self._changed = threading.Condition()
        self._resource_spans: list = []
        self.metadata: list[dict[str, str]] = []
        self._server = grpc.server(futures.ThreadPoolExecutor(max_workers=4))
        service.add_TraceServiceServicer_to_server(self, self._server)
        if credentials:
            port = self._server.add_secure_port("127.0.0.1:0", credentials)
            self.endpoint = f"https://localhost:{port}"
        else:
            port = self._server.add_insecure_port("127.0.0.1:0")
            self.endpoint = f"http://127.0.0.1:{port}"

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(grace=None).wait()

    def Export(self, request, context):  # noqa: N802, as gRPC names it
        with self._changed:
            if self._refusals_left > 0:
                self._refusals_left -= 1
                context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")
            self._resource_spans += request.resource_spans
            self.metadata.append(dict(context.invocation_metadata()))
            self._changed.notify_all()
        return messages.ExportTraceServiceResponse()

    @property
    def resources(self) -> list[dict[str, str]]:
        """The resource attributes of every batch, which identify its sender."""
        with self._changed:
            return [
                {each.key: each.value.string_value for each in batch.resource.attributes}
                for batch in self._resource_spans
            ]

    @property
    def spans(self) -> list:
        """All spans that have come."""
        with self._changed:
            return self._spans()

    def _spans(self) -> list:
        return [
            span
            for batch in self._resource_spans
            for scope in batch.scope_spans
            for span in scope.spans
        ]

    def wait_for(self, count: int) -> list:
        """All spans, once so many have come; fails when they do not come in time."""
        deadline = time.monotonic() + WAIT_SECONDS
        with self._changed:
            while len(spans := self._spans()) < count:
                left = deadline - time.monotonic()
                assert left > 0, f"only {len(spans)} of {count} spans came"
                self._changed.wait(left)
            return spans

    def wait_until(self, condition) -> list:
        """All spans, once a condition on them holds; fails when it does not in time."""
        count = 0
        while not condition(spans := self.wait_for(count)):
            count = len(spans) + 1
        return spans


def attributes(span) -> dict[str, object]:
    """A span's attributes as Python has them."""
    return {each.key: _value(each.value) for each in span.attributes}


def _value(value) -> object:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)
