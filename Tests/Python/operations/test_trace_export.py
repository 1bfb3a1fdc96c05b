"""Export of traces to a collector, and failures of the export."""

import json

import grpc
import pytest

from sidelight_testing.certificates import Authority
from sidelight_testing.collector import Collector
from sidelight_testing.server import Server
from sidelight_testing.tracing import filter_frames, server_that_traces


def test_headers_and_resource_come_from_the_environment():
    environment = {
        "OTEL_EXPORTER_OTLP_HEADERS": "x-key=secret%20word",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
    }
    with Collector() as collector:
        with server_that_traces(collector, **environment) as server:
            filter_frames(server, [None])
            collector.wait_for(3)
            assert server.terminate() == 0, server.log
            assert "secret" not in server.log
    assert all(each["x-key"] == "secret word" for each in collector.metadata)
    for resource in collector.resources:
        assert resource["service.name"] == "sidelight"
        assert resource["deployment.environment.name"] == "test"
        assert resource["telemetry.sdk.language"] == "swift"


def test_a_collector_over_tls_needs_a_trusted_certificate(tmp_path):
    authority = Authority()
    identity = authority.issue("collector", "localhost")
    trusted = tmp_path / "authority.pem"
    trusted.write_bytes(authority.certificate)
    credentials = grpc.ssl_server_credentials([(identity.key, identity.certificate)])
    with Collector(credentials) as collector:
        trust = {"OTEL_EXPORTER_OTLP_CERTIFICATE": str(trusted)}
        with server_that_traces(collector, **trust) as server:
            filter_frames(server, [None])
            assert server.terminate() == 0, server.log
        assert any(span.name == "sidelight.frame" for span in collector.spans), server
        before = len(collector.spans)
        with server_that_traces(collector) as server:
            filter_frames(server, [None])
            assert server.terminate() == 0, server.log
            assert "spans cannot be sent" in server.log
        assert len(collector.spans) == before, "nothing is told to whom nobody vouches for"


def test_an_unreadable_certificate_only_loses_spans():
    environment = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": "https://localhost:1",
        "OTEL_EXPORTER_OTLP_CERTIFICATE": "/nonexistent.pem",
    }
    with Server(environment=environment) as server:
        filter_frames(server, [None])
        assert server.terminate() == 0, server.log
        assert "spans cannot be sent" in server.log


def test_spans_are_retried_after_a_short_outage():
    with Collector(refusals=2) as collector:
        with server_that_traces(collector) as server:
            filter_frames(server, [None])
            spans = collector.wait_for(4)
            assert server.terminate() == 0, server.log
    assert len({span.span_id for span in spans}) == len(spans)


def test_a_missing_collector_only_loses_spans():
    with Collector() as gone:
        pass
    with server_that_traces(gone, OTEL_BSP_MAX_QUEUE_SIZE="10") as server:
        filter_frames(server, [None] * 20)
        assert server.terminate() == 0, server.log
        lines = [json.loads(line) for line in server.log.splitlines()]
    warnings = [line for line in lines if line["level"] == "warning"]
    assert len(warnings) == 1, "said once, not for each batch"
    assert warnings[0]["endpoint"] == gone.endpoint


@pytest.mark.parametrize("name", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_SAMPLER"])
def test_invalid_variables_are_logged_as_warnings(name):
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[::1]:1", name: "no:such:"}
    with Server(environment=environment) as server:
        assert server.terminate() == 0, server.log
        assert name in server.log
