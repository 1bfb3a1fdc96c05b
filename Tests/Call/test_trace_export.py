"""The protocol with which the call server exports traces, by OpenTelemetry's variables."""

import pytest

from calltesting.http_collector import HTTPCollector
from calltesting.programs import CallServer
from calltesting.visitor import Visitor, awaited

GRPC, HTTP = "grpc", "http/protobuf"
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"

# The variables, the part of their names that they share left out, and the expected protocol.
CASES = {
    "nothing is set": ({}, HTTP),
    "HTTP is set": ({"PROTOCOL": HTTP}, HTTP),
    "gRPC is set": ({"PROTOCOL": GRPC}, GRPC),
    "gRPC is set for traces": ({"PROTOCOL": HTTP, "TRACES_PROTOCOL": GRPC}, GRPC),
    "HTTP is set for traces": ({"PROTOCOL": GRPC, "TRACES_PROTOCOL": HTTP}, HTTP),
    "an unknown protocol is set": ({"PROTOCOL": "http/json"}, HTTP),
    "an empty text is set": ({"PROTOCOL": ""}, HTTP),
}


@pytest.mark.parametrize("case", CASES)
@awaited
async def test_the_protocol_follows_the_variables(sidelight, case):
    variables, protocol = CASES[case]
    with HTTPCollector() as collector:
        endpoint = collector.endpoint if protocol == GRPC else collector.http_endpoint
        environment = {
            f"OTEL_EXPORTER_OTLP_{name}": value
            for name, value in {"ENDPOINT": endpoint, **variables}.items()
        }
        with CallServer(
            sidelight.address, environment={**environment, "OTEL_BSP_SCHEDULE_DELAY": "100"}
        ) as call_server:
            async with Visitor(call_server.address) as ana:
                await ana.join("red", "ana")
                await ana.command(
                    command="select", text="sepiaTone",
                    traceparent=f"00-{TRACE_ID}-b7ad6b7169203331-01",
                )
                (span,) = collector.wait_until(bool)
            assert (span.name, span.trace_id.hex()) == ("select", TRACE_ID)
        warned = "OTEL_EXPORTER_OTLP_PROTOCOL is 'http/json'" in call_server.log
        assert warned == (variables.get("PROTOCOL") == "http/json")
