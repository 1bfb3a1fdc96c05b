"""Errors contain their field or limit in google.rpc's details."""

import grpc
import pytest
from grpc_status import rpc_status

from sidelight_testing import images
from sidelight_testing.contract import error_details as details
from sidelight_testing.contract import frame_filter, image, service
from sidelight_testing.contract import session as messages
from sidelight_testing.contract import sessions, sessions_service
from sidelight_testing.server import Server
from sidelight_testing.session import Session
from sidelight_testing.session import pipeline as filters

SOUND = images.noise("I420", 16, 16)


def unpacked(error: grpc.RpcError | None, status=None) -> dict[str, object]:
    """The details of an error by name of their type."""
    status = status or rpc_status.from_call(error)
    assert status is not None, "the error has no details"
    found = {}
    for packed in status.details:
        kind = packed.TypeName().rpartition(".")[2]
        found[kind] = getattr(details, kind)()
        assert packed.Unpack(found[kind])
    return found


def fields(error: grpc.RpcError | None, status=None) -> list[str]:
    """The fields that a BadRequest names. Each says something about each."""
    violations = unpacked(error, status)["BadRequest"].field_violations
    assert all(each.description for each in violations)
    return [each.field for each in violations]


# A request that is refused, its code, and the field that is named.
REFUSED = {
    "a filter that is not there": (
        lambda stub: stub.DescribeFilter(frame_filter.DescribeFilterRequest(name="sepa")),
        "NOT_FOUND", "name",
    ),
    "a category that is not there": (
        lambda stub: stub.ListFilters(frame_filter.ListFiltersRequest(category="x")),
        "INVALID_ARGUMENT", "category",
    ),
    "a pipeline that is neither": (
        lambda stub: stub.CheckPipeline(frame_filter.CheckPipelineRequest()),
        "INVALID_ARGUMENT", "source",
    ),
    "a text that is none": (
        lambda stub: stub.CheckPipeline(frame_filter.CheckPipelineRequest(text="((")),
        "INVALID_ARGUMENT", "text",
    ),
    "a filter in a pipeline that is not there": (
        lambda stub: stub.CheckPipeline(
            frame_filter.CheckPipelineRequest(pipeline=filters("grayscale", "nope"))),
        "INVALID_ARGUMENT", "pipeline.stages[1]",
    ),
    "a frame size beyond the limit": (
        lambda stub: stub.CheckPipeline(
            frame_filter.CheckPipelineRequest(text="grayscale", width=1 << 30, height=1)),
        "INVALID_ARGUMENT", "width",
    ),
    "an image without pixels": (
        lambda stub: stub.Apply(
            frame_filter.ApplyRequest(
                image=image.Image(format=image.PIXEL_FORMAT_GRAY8, width=4, height=4))),
        "INVALID_ARGUMENT", "image",
    ),
    "a file that is none": (
        lambda stub: stub.Apply(
            frame_filter.ApplyRequest(
                image=image.Image(format=image.PIXEL_FORMAT_PNG, inline=b"not a PNG"))),
        "INVALID_ARGUMENT", "image.inline",
    ),
}


@pytest.mark.parametrize("request_name", REFUSED)
def test_a_refused_request_reports_its_field(stub, request_name):
    call, code, field = REFUSED[request_name]
    with pytest.raises(grpc.RpcError) as caught:
        call(stub)
    assert caught.value.code() == getattr(grpc.StatusCode, code)
    (named,) = fields(caught.value)
    assert named.startswith(field), named


@pytest.mark.parametrize("request_name", REFUSED)
def test_the_message_contains_the_field_too(stub, request_name):
    call, _, field = REFUSED[request_name]
    with pytest.raises(grpc.RpcError) as caught:
        call(stub)
    assert caught.value.details().startswith(field)


# One character, as people count, and more bytes than a client takes in headers.
ACCENTS = "e" + "\u0301" * 300_000


@pytest.mark.parametrize(
    "call",
    [
        lambda stub: stub.DescribeFilter(frame_filter.DescribeFilterRequest(name=ACCENTS)),
        lambda stub: stub.ListFilters(frame_filter.ListFiltersRequest(category=ACCENTS)),
        lambda stub: stub.CheckPipeline(frame_filter.CheckPipelineRequest(text=ACCENTS[:8000])),
        lambda stub: stub.CheckPipeline(
            frame_filter.CheckPipelineRequest(pipeline=filters(ACCENTS))),
        lambda stub: stub.CheckPipeline(
            frame_filter.CheckPipelineRequest(pipeline=filters(("sepiaTone", {ACCENTS: 1})))),
    ],
)
def test_an_error_that_repeats_input_fits_into_headers(stub, call):
    with pytest.raises(grpc.RpcError) as caught:
        call(stub)
    code = caught.value.code()
    assert code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND), caught.value
    assert fields(caught.value)
    assert len(caught.value.details().encode()) < 1000


def identified(stage_id):
    """A pipeline of one stage with an id."""
    wanted = filters("sepiaTone")
    wanted.stages[0].id = stage_id
    return wanted


@pytest.mark.parametrize(
    "open_fields, field",
    [
        ({"mailbox_depth": 1000}, "open.mailbox_depth"),
        ({"max_fps": float("nan")}, "open.max_fps"),
        ({"label": "x" * 129}, "open.label"),
        ({"output_window": 65}, "open.output_window"),
        ({"drop_policy": 99}, "open.drop_policy"),
        ({"pipeline": filters("nope")}, "open.pipeline.stages[0]"),
        ({"pipeline": identified("x" * 65)}, "open.pipeline.stages[0].id"),
        ({"pipeline": identified("x" * 1_000_000)}, "open.pipeline.stages[0].id"),
        ({"resume_token": b"forged"}, "open.resume_token"),
        ({"resume_token": bytes(1_000_000)}, "open.resume_token"),
    ],
)
def test_a_refused_open_reports_its_field(stub, open_fields, field):
    with Session(stub, opens=False) as session:
        session.send(open=messages.Open(**open_fields))
        (named,) = fields(session.fail())
    assert named.startswith(field), named


def test_an_invalid_message_order_reports_the_message(stub):
    for order, field in [
        ([{"ping": messages.Ping()}], "open"),
        ([{"open": messages.Open()}, {"open": messages.Open()}], "open"),
        ([{"open": messages.Open()}, {}], "kind"),
    ]:
        with Session(stub, opens=False) as session:
            for message in order:
                session.send(**message)
            assert fields(session.fail()) == [field]


def test_too_many_errors_report_the_limit_and_the_last_error(stub, info):
    limit = info.limits.max_consecutive_errors
    with Session(stub) as session:
        for number in range(limit + 1):
            session.select(filters("nope"), request_id=number)
        found = unpacked(session.fail())
    assert found["ErrorInfo"].reason == "TOO_MANY_FAULTS"
    assert found["ErrorInfo"].metadata["max_consecutive_errors"] == str(limit)
    assert found["BadRequest"].field_violations[0].field.startswith("select.pipeline")


@pytest.mark.parametrize("method", ["Process", "Apply", "CheckPipeline"])
def test_a_message_that_cannot_be_decoded_is_reported(server, method):
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        call = channel.stream_stream(f"/sidelight.v1.FrameFilter/{method}")
        with pytest.raises(grpc.RpcError) as caught:
            list(call(iter([b"\xff\xff\xff"]), timeout=60))
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert fields(caught.value) == ["message"]


def test_an_error_in_the_stream_reports_its_field(stub):
    with Session(stub) as session:
        session.select(filters(("sepiaTone", {"intensity": float("inf")})), request_id=7)
        error = session.receive_until("error")
    assert error.request_id == 7
    (named,) = fields(None, error.status)
    assert named.startswith("select.pipeline.stages[0]"), named


def test_a_refused_frame_reports_its_field(stub):
    with Session(stub, drop_policy=messages.DROP_POLICY_NEVER_DROP) as session:
        session.send_frame(image.Image(format=image.PIXEL_FORMAT_GRAY8, width=0, height=1))
        (drop,) = session.finish().dropped
    (named,) = fields(None, drop.diagnostic)
    assert named.startswith("frame.image"), named


def test_a_message_that_is_too_long_reports_the_limit(stub, info):
    limit = info.limits.max_message_bytes
    with pytest.raises(grpc.RpcError) as caught:
        too_long = image.Image(format=image.PIXEL_FORMAT_GRAY8, inline=bytes(limit))
        stub.Apply(frame_filter.ApplyRequest(image=too_long), timeout=60)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    (violation,) = unpacked(caught.value)["BadRequest"].field_violations
    assert violation.field == "message" and str(limit) in violation.description


def test_a_full_server_reports_its_limit_and_a_retry_delay():
    with Server("--max-sessions", "1") as server:
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            stub = service.FrameFilterStub(channel)
            with Session(stub), Session(stub, opens=False) as second:
                second.send(open=messages.Open())
                error = second.fail()
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    found = unpacked(error)
    (violation,) = found["QuotaFailure"].violations
    assert violation.subject == "server" and "max_sessions is 1" in violation.description
    assert found["RetryInfo"].retry_delay.seconds >= 1


def test_an_operators_invalid_request_reports_its_field(server):
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = sessions_service.SessionsStub(channel)
        with pytest.raises(grpc.RpcError) as caught:
            stub.OverrideSession(sessions.OverrideSessionRequest(session_id="none"))
    assert caught.value.code() == grpc.StatusCode.NOT_FOUND
    assert fields(caught.value) == ["session_id"]


@pytest.mark.parametrize(
    "request_fields, field",
    [
        ({"page_size": 1001}, "page_size"),
        ({"page_token": "2"}, "page_token"),
        ({"label": "x" * 129}, "label"),
    ],
)
def test_a_refused_page_request_reports_its_field(server, request_fields, field):
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = sessions_service.SessionsStub(channel)
        with pytest.raises(grpc.RpcError) as caught:
            stub.ListSessions(sessions.ListSessionsRequest(**request_fields), timeout=60)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert fields(caught.value) == [field]


def test_sessions_are_listed_page_by_page(server, stub):
    with Session(stub, label="paged") as first, Session(stub, label="paged") as second:
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            operator = sessions_service.SessionsStub(channel)
            found, token = [], ""
            while True:
                page = operator.ListSessions(
                    sessions.ListSessionsRequest(page_size=1, page_token=token, label="paged"),
                    timeout=60,
                )
                found += [info.session_id for info in page.sessions]
                token = page.next_page_token
                if not token:
                    break
    assert found == [first.opened.session_id, second.opened.session_id]
