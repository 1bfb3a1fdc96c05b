"""One trace of a selection: the page, the call server, the frame, and its passes."""

import pytest
from sidelight_testing.collector import Collector, attributes

from calltesting.looks import INVERTED
from calltesting.programs import CallServer, Sidelight

# Spans are exported at once.
AT_ONCE = {"OTEL_BSP_SCHEDULE_DELAY": "100"}


@pytest.fixture(scope="module")
def collector():
    """A collector of the traces of Sidelight and of the call server."""
    with Collector() as running:
        yield running


@pytest.fixture(scope="module")
def environment(collector):
    """The variables of both servers, as the example's README has them."""
    return {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        "OTEL_TRACES_SAMPLER": "parentbased_always_off",
        **AT_ONCE,
    }


@pytest.fixture(scope="module")
def sidelight(environment):
    """A Sidelight process that exports traces, of those frames only that have a trace."""
    with Sidelight(environment=environment) as running:
        yield running


@pytest.fixture(scope="module")
def call_server(sidelight, environment):
    """A call server that exports its traces and the pages'."""
    with CallServer(sidelight.address, environment=environment) as running:
        yield running


def test_a_selection_has_one_trace_from_the_page_to_the_passes_of_the_frame(join, collector):
    ana, ben = join("ana"), join("ben")
    ben.read(ana.name)
    applied = ana.select_and_wait(INVERTED.pipeline)

    def trace_of_the_frame(spans):
        """The spans of the trace that contains the first frame with the new look, if complete."""
        frames = {
            span.span_id: span.trace_id
            for span in spans
            if span.name == "sidelight.frame"
            and attributes(span).get("sidelight.sequence") == applied.sequence
        }
        for trace in frames.values():
            names = [span.name for span in spans if span.trace_id == trace]
            if "page: select" in names and "select" in names and "sidelight.queue" in names:
                return [span for span in spans if span.trace_id == trace]
        return []

    trace = trace_of_the_frame(
        collector.wait_until(trace_of_the_frame)
    )
    by_name = {span.name: span for span in trace}
    page, command = by_name["page: select"], by_name["select"]
    frame = by_name["sidelight.frame"]
    assert page.parent_span_id == b""
    assert command.parent_span_id == page.span_id
    assert frame.parent_span_id == command.span_id
    assert page.start_time_unix_nano <= command.start_time_unix_nano
    assert frame.end_time_unix_nano <= page.end_time_unix_nano

    passes = [
        span
        for span in trace
        if span.parent_span_id == frame.span_id and span.name != "sidelight.queue"
    ]
    assert [attributes(span)["sidelight.pass.filters"] for span in passes] == [["colorInvert"]]
    services = {resource["service.name"] for resource in collector.resources}
    assert services >= {"call-page", "call-server", "sidelight"}
