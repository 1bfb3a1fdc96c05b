"""Errors made from statuses, and the context of OpenTelemetry."""

import pytest
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from sidelight import SidelightError, Unavailable
from sidelight._channel import Endpoint, error_of_call
from sidelight.errors import CODE_NAMES, error_of_status, make_error


def status(code, message, *details):
    found = status_pb2.Status(code=code, message=message)
    for detail in details:
        packed = any_pb2.Any()
        packed.Pack(detail)
        found.details.append(packed)
    return found


def test_a_status_becomes_an_error_with_its_facts():
    request = error_details_pb2.BadRequest()
    request.field_violations.add(
        field="select.pipeline_text",
        description='there is no filter named "sepiaTome"; did you mean sepiaTone?',
    )
    info = error_details_pb2.ErrorInfo(
        reason="PIPELINE_TEXT", metadata={"line": "2", "column": "14", "utf8_offset": "30"}
    )
    error = error_of_status(status(3, "text", request, info))
    assert error.code == "INVALID_ARGUMENT" and error.field == "select.pipeline_text"
    assert (error.line, error.column, error.suggestion) == (2, 14, "sepiaTone")
    assert error.details["reason"] == "PIPELINE_TEXT"


def test_value_and_limit_are_read_from_the_description():
    request = error_details_pb2.BadRequest()
    request.field_violations.add(
        field="open.mailbox_depth", description="is 65; it must be 1 to 64"
    )
    error = error_of_status(status(3, "text", request))
    assert (error.value, error.limit) == ("65", "1 to 64")


def test_the_delay_of_a_full_server_is_read():
    retry = error_details_pb2.RetryInfo()
    retry.retry_delay.FromMilliseconds(1500)
    error = error_of_status(status(8, "full", retry))
    assert error.code == "RESOURCE_EXHAUSTED" and error.retry_after == 1.5


@pytest.mark.parametrize("code", range(17))
def test_every_code_has_a_name_and_a_class(code):
    error = error_of_status(status(code, "text"))
    assert error.code == CODE_NAMES[code] and isinstance(error, SidelightError)
    assert type(make_error(error.code, "text")) is type(error)
    assert str(error) == f"{error.code}: text"


def test_unknown_codes_and_details_are_accepted():
    assert error_of_status(status(99, "text", status(1, "nested"))).code == "UNKNOWN"


class FailedCall:
    def __init__(self, details):
        self._details = details

    def code(self):
        import grpc

        return grpc.StatusCode.UNAVAILABLE

    def details(self):
        return "gone"

    def trailing_metadata(self):
        return [("grpc-status-details-bin", self._details)]


def test_a_failed_call_has_the_details_of_its_status_if_they_can_be_read():
    error = error_of_call(FailedCall(status(5, "no such session").SerializeToString()))
    assert (error.code, error.message) == ("NOT_FOUND", "no such session")
    error = error_of_call(FailedCall(b"\xff\xff"))
    assert isinstance(error, Unavailable) and error.message == "gone"


def test_the_current_span_travels_with_calls_and_frames():
    trace = pytest.importorskip("opentelemetry.trace")
    from sidelight._tracing import current_traceparent

    context = trace.SpanContext(
        trace_id=0xABC, span_id=0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1)
    )
    parent = f"00-{0xABC:032x}-{0xDEF:016x}-01"
    endpoint = Endpoint("127.0.0.1:1", None, None, None, None, (("key", "value"),), ())
    assert current_traceparent() is None and endpoint.metadata() == (("key", "value"),)
    with trace.use_span(trace.NonRecordingSpan(context)):
        assert current_traceparent() == parent
        assert endpoint.metadata() == (("key", "value"), ("traceparent", parent))


@pytest.mark.parametrize(
    "address, is_local",
    [
        ("127.0.0.1:1", True),
        ("localhost:1", True),
        ("[::1]:1", True),
        ("unix:/x", True),
        ("https://127.0.0.1:1", True),
        ("example.org:1", False),
        ("https://example.org:1", False),
        ("10.0.0.1:1", False),
    ],
)
def test_addresses_of_this_host_are_known(address, is_local):
    assert Endpoint(address, None, None, None, None, (), ()).is_local is is_local
