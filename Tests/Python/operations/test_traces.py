"""Traces of frames in a collector, from the client's span to the passes."""

import json
import os

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

from sidelight_testing import images
from sidelight_testing.collector import Collector, attributes
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.contract import session as messages
from sidelight_testing.session import Session
from sidelight_testing.tracing import (
    PIPELINE,
    context_of,
    filter_frames,
    passes_of,
    server_that_traces,
)

FRAMES = 5


@pytest.fixture
def collector():
    with Collector() as running:
        yield running


def test_a_trace_contains_the_clients_span_and_each_pass(collector):
    provider = TracerProvider(resource=Resource({"service.name": "call-server"}))
    provider.add_span_processor(
        SimpleSpanProcessor(OTLPSpanExporter(endpoint=collector.endpoint, insecure=True))
    )
    tracer = provider.get_tracer("test")
    # Batches are not sent by time: all but whole batches must come when the server ends.
    environment = {"OTEL_SERVICE_NAME": "filters", "OTEL_BSP_SCHEDULE_DELAY": "3600000"}
    with server_that_traces(collector, **environment) as server:
        passes = passes_of(server)
        roots = [tracer.start_span("capture") for _ in range(FRAMES)]
        filter_frames(server, [context_of(root) for root in roots])
        for root in roots:
            root.end()
        assert server.terminate() == 0, server.log
    provider.shutdown()

    spans = collector.wait_for(FRAMES * (3 + len(passes)))
    services = {resource["service.name"] for resource in collector.resources}
    assert services == {"call-server", "filters"}
    for number, root in enumerate(roots, start=1):
        trace_id = root.get_span_context().trace_id.to_bytes(16, "big")
        own = [span for span in spans if span.trace_id == trace_id]
        assert len(own) == 3 + len(passes), [span.name for span in own]
        by_name = {span.name: span for span in own}
        frame, capture = by_name["sidelight.frame"], by_name["capture"]
        assert capture.parent_span_id == b""
        assert frame.parent_span_id == capture.span_id
        assert frame.kind == Span.SPAN_KIND_SERVER
        assert frame.flags & 0x300 == 0x300, "the parent is known to be elsewhere"
        assert capture.start_time_unix_nano <= frame.start_time_unix_nano
        assert frame.end_time_unix_nano <= capture.end_time_unix_nano
        found = attributes(frame)
        assert found["sidelight.sequence"] == number
        assert found["sidelight.outcome"] == "filtered"
        assert found["sidelight.bytes"] == 320 * 180 * 3

        children = sorted(
            (span for span in own if span.parent_span_id == frame.span_id),
            key=lambda span: span.start_time_unix_nano,
        )
        assert [span.name for span in children] == ["sidelight.queue", *passes]
        for span in children:
            assert frame.start_time_unix_nano <= span.start_time_unix_nano
            assert span.start_time_unix_nano <= span.end_time_unix_nano
            assert span.end_time_unix_nano <= frame.end_time_unix_nano
        for before, after in zip(children, children[1:]):
            assert before.end_time_unix_nano <= after.start_time_unix_nano
        for span in children[1:]:
            assert attributes(span)["sidelight.pass.filters"] == span.name.split("+")
    assert len({span.span_id for span in spans}) == len(spans)


def test_the_span_of_a_call_follows_the_conventions(collector):
    with server_that_traces(collector) as server:
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            stub = service.FrameFilterStub(channel)
            parent = "00-11111111111111111111111111111111-2222222222222222-01"
            stub.GetServerInfo(
                frame_filter.GetServerInfoRequest(),
                metadata=[("traceparent", parent), ("tracestate", "a=1"), ("tracestate", "b=2")],
            )
            with pytest.raises(grpc.RpcError):
                stub.DescribeFilter(frame_filter.DescribeFilterRequest(name="nothing"))
        assert server.terminate() == 0, server.log
    info, describe = collector.wait_for(2)
    assert info.name == "sidelight.v1.FrameFilter/GetServerInfo"
    assert info.trace_id.hex() == "1" * 32 and info.parent_span_id.hex() == "2" * 16
    assert info.trace_state == "a=1,b=2"
    found = attributes(info)
    assert found["rpc.system.name"] == "grpc"
    assert found["rpc.method"] == "sidelight.v1.FrameFilter/GetServerInfo"
    assert found["rpc.response.status_code"] == "OK"
    assert found["network.peer.address"] == "127.0.0.1"
    assert 0 < found["network.peer.port"] < 65536
    assert info.status.code == Status.STATUS_CODE_UNSET
    # A caller's mistake is not a server error.
    assert attributes(describe)["rpc.response.status_code"] == "NOT_FOUND"
    assert "error.type" not in attributes(describe)
    assert describe.status.code == Status.STATUS_CODE_UNSET


def test_passes_over_a_still_are_children_of_its_call(collector):
    with server_that_traces(collector) as server:
        passes = passes_of(server)
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            service.FrameFilterStub(channel).Apply(
                frame_filter.ApplyRequest(
                    pipeline=PIPELINE, image=images.noise("RGB24", 320, 180)
                )
            )
        assert server.terminate() == 0, server.log
    spans = collector.spans
    call = next(span for span in spans if span.name == "sidelight.v1.FrameFilter/Apply")
    children = [span.name for span in spans if span.parent_span_id == call.span_id]
    assert children == passes


def test_a_dropped_frames_span_has_the_reason(collector):
    with server_that_traces(collector) as server:
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            with Session(service.FrameFilterStub(channel), pipeline=PIPELINE) as session:
                session.send_frame(images.noise("RGB24", 4, 4), budget_us=1)
                session.send_frame(images.messages.Image())
                session.finish()
        assert server.terminate() == 0, server.log
    frames = [span for span in collector.wait_for(2) if span.name == "sidelight.frame"]
    late, invalid = sorted(frames, key=lambda span: attributes(span)["sidelight.sequence"])
    assert attributes(late)["sidelight.drop.reason"].startswith("late_")
    assert attributes(invalid)["sidelight.drop.reason"] == "invalid_frame"
    assert attributes(invalid)["error.type"] == "invalid_frame"
    for span in (late, invalid):
        assert attributes(span)["sidelight.outcome"] == "dropped"
        assert span.status.code == Status.STATUS_CODE_ERROR and span.status.message


def test_unsampled_traces_are_not_recorded(collector):
    contexts = [
        messages.TraceContext(traceparent=f"00-{number:032x}-{number:016x}-{number % 2:02x}")
        for number in range(1, 9)
    ]
    with server_that_traces(collector, OTEL_TRACES_SAMPLER="parentbased_always_off") as server:
        filter_frames(server, contexts)
        assert server.terminate() == 0, server.log
    sent = {int.from_bytes(span.trace_id, "big") for span in collector.wait_for(4)}
    assert sent == {1, 3, 5, 7}


def test_frames_without_a_trace_context_have_separate_traces(collector):
    with server_that_traces(collector) as server:
        filter_frames(server, [None] * 3)
        assert server.terminate() == 0, server.log
    frames = [span for span in collector.spans if span.name == "sidelight.frame"]
    [call] = [span for span in collector.spans if span.name.endswith("/Process")]
    assert len({span.trace_id for span in [*frames, call]}) == 4
    assert all(span.parent_span_id == b"" for span in [*frames, call])


def test_a_ratio_samples_the_same_traces_as_other_sdks(collector):
    ids = [int.from_bytes(os.urandom(16), "big") for _ in range(64)]
    expected = {
        each
        for each in ids
        if TraceIdRatioBased(0.5).should_sample(None, each, "").decision.is_sampled()
    }
    contexts = [messages.TraceContext(traceparent=f"00-{each:032x}-{1:016x}-00") for each in ids]
    with server_that_traces(
        collector, OTEL_TRACES_SAMPLER="traceidratio", OTEL_TRACES_SAMPLER_ARG="0.5"
    ) as server:
        filter_frames(server, contexts)
        assert server.terminate() == 0, server.log
    spans = [span for span in collector.spans if span.name == "sidelight.frame"]
    assert {int.from_bytes(span.trace_id, "big") for span in spans} == expected


def test_log_entries_of_a_call_contain_session_and_trace(collector):
    with server_that_traces(collector) as server:
        filter_frames(server, [None])
        assert server.terminate() == 0, server.log
        lines = [json.loads(line) for line in server.log.splitlines()]
    opened, ended = [line for line in lines if line["message"].startswith("session ")]
    call = next(span for span in collector.wait_for(1) if span.name.endswith("/Process"))
    frame = next(span for span in collector.spans if span.name == "sidelight.frame")
    for line in (opened, ended):
        assert line["session"] == attributes(frame)["sidelight.session"]
        assert line["trace_id"] == call.trace_id.hex()
        assert line["span_id"] == call.span_id.hex()
