"""Calls on WebSockets, by the package `websockets`: the messages equal gRPC's."""

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2
from websockets.exceptions import ConnectionClosed

from sidelight_testing import images
from sidelight_testing.contract import frame_filter, service, sessions_service
from sidelight_testing.contract import pipeline as pipeline_messages
from sidelight_testing.contract import session as messages
from sidelight_testing.contract import sessions as sessions_messages
from sidelight_testing.server import Server
from sidelight_testing.session import Session, pipeline
from sidelight_testing.websocket import INFO, PATIENCE_SECONDS, Page, WebSession, status_of

NEVER = messages.DROP_POLICY_NEVER_DROP
LOOK = pipeline(("sepiaTone", {"intensity": 0.8}), "colorInvert")


@pytest.fixture
def channel(studio_server):
    options = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(studio_server.addresses["tcp"], options) as channel:
        yield channel


@pytest.fixture
def stub(channel):
    return service.FrameFilterStub(channel)


@pytest.fixture
def operators(channel):
    return sessions_service.SessionsStub(channel)


def call(page, path: str, request=None, **options):
    """The responses of a call and its end: the code of gRPC, and the status as a text."""
    responses, text = [], ""
    with page.connect(path, **options) as socket:
        if request is not None:
            socket.send(request.SerializeToString())
        socket.send("end")
        try:
            while True:
                received = socket.recv(timeout=PATIENCE_SECONDS)
                if isinstance(received, str):
                    text = received
                else:
                    responses.append(received)
        except ConnectionClosed:
            pass
    return responses, socket.close_code, socket.close_reason, text


@pytest.mark.parametrize("size", [(64, 48), (641, 359), (1280, 720)])
def test_each_frame_is_what_grpc_returns(page, stub, size):
    pictures = [images.noise(name, *size) for name in ("RGB24", "I420", "BGRA8")]
    with (
        WebSession(page, pipeline=LOOK, drop_policy=NEVER) as web,
        Session(stub, pipeline=LOOK, drop_policy=NEVER) as plain,
    ):
        for picture in pictures:
            outcomes = []
            for session in (web, plain):
                session.send_frame(picture)
                outcomes.append(session.receive_until("frame").image)
            assert outcomes[0].SerializeToString() == outcomes[1].SerializeToString()
            assert outcomes[0].inline != picture.inline
        assert web.finish().outcomes(web.sent) == plain.finish().outcomes(plain.sent)


def test_the_server_filters_what_was_sent_before_the_end(page):
    with WebSession(page, pipeline=LOOK, drop_policy=NEVER) as session:
        for _ in range(4):
            session.send_frame(images.noise("RGB24", 64, 48))
        transcript = session.finish()
    assert [frame.sequence for frame in transcript.frames] == [1, 2, 3, 4]


def test_fragments_are_one_message(page):
    picture = images.noise("RGB24", 320, 240)
    with WebSession(page, pipeline=LOOK) as session:
        whole = messages.ClientMessage(frame=messages.Frame(sequence=1, image=picture))
        content = whole.SerializeToString()
        session.socket.send(content[i : i + 1000] for i in range(0, len(content), 1000))
        session.sent.append(1)
        assert session.receive_until("frame").sequence == 1
        session.finish()


def test_a_message_of_single_bytes_is_one_message(page):
    with WebSession(page) as session:
        content = messages.ClientMessage(ping=messages.Ping(id=7)).SerializeToString()
        session.socket.send(bytes([byte]) for byte in content)
        assert session.receive_until("pong").id == 7
        session.finish()


def test_pings_are_answered_during_a_session(page):
    with WebSession(page) as session:
        pong = session.socket.ping(b"are you there")
        assert pong.wait(PATIENCE_SECONDS)
        session.finish()


@pytest.mark.parametrize("method", ["GetServerInfo", "ListFilters"])
def test_unary_calls_return_what_grpc_returns(page, stub, method):
    request = getattr(frame_filter, f"{method}Request")()
    responses, code, reason, text = call(page, f"/sidelight.v1.FrameFilter/{method}", request)
    assert (code, reason, text) == (1000, "", "")
    expected = getattr(stub, method)(request, timeout=60)
    received = type(expected).FromString(responses[0])
    assert len(responses) == 1 and received.DESCRIPTOR is expected.DESCRIPTOR
    if method == "ListFilters":
        assert received == expected


def test_operators_see_the_session_of_the_page(page):
    with WebSession(page, label="studio", pipeline=LOOK) as session:
        responses, code, _, _ = call(
            page, "/sidelight.v1.Sessions/ListSessions", sessions_messages.ListSessionsRequest()
        )
        assert code == 1000
        listed = sessions_messages.ListSessionsResponse.FromString(responses[0]).sessions
        assert [each.label for each in listed].count("studio") == 1
        session.finish()


def test_an_error_has_the_details_of_grpc(page, stub):
    broken = pipeline_messages.Pipeline()
    broken.stages.add(filter=pipeline_messages.Filter(name="sepiaTome"))
    with page.connect() as socket:
        socket.send(messages.ClientMessage(open=messages.Open(pipeline=broken)).SerializeToString())
        text = socket.recv(timeout=PATIENCE_SECONDS)
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=PATIENCE_SECONDS)
    failed = Session(stub, opens=False)
    failed.send(open=messages.Open(pipeline=broken))
    expected = failed.fail()
    code, message, details = status_of(text)
    assert code == expected.code().value[0] == socket.close_code - 4000
    assert message == expected.details()
    status = status_pb2.Status.FromString(details)
    assert status.message == message
    request = error_details_pb2.BadRequest()
    assert status.details[0].Unpack(request) and request.field_violations
    trailers = dict(expected.trailing_metadata())
    # The order of entries in a map may differ, so the messages are compared, and not their bytes.
    expected_status = status_pb2.Status.FromString(trailers["grpc-status-details-bin"])
    expected_request = error_details_pb2.BadRequest()
    assert expected_status.details[0].Unpack(expected_request) and request == expected_request
    types = [[each.type_url for each in one.details] for one in (status, expected_status)]
    assert types[0] == types[1]
    assert message.startswith(socket.close_reason) and socket.close_reason


def test_a_deadline_ends_the_call(page):
    headers = {"cookie": page.cookie, "grpc-timeout": "100m"}
    with page.connect(additional_headers=headers) as socket:
        socket.send(messages.ClientMessage(open=messages.Open()).SerializeToString())
        with pytest.raises(ConnectionClosed):
            while True:
                socket.recv(timeout=PATIENCE_SECONDS)
    assert socket.close_code == 4004


def test_a_session_that_is_left_is_over_on_the_server(page, operators):
    with WebSession(page, label="left") as session:
        watch = sessions_messages.WatchSessionsRequest(session_id=session.opened.session_id)
        watch.interval.FromMilliseconds(100)
        snapshots = operators.WatchSessions(watch, timeout=PATIENCE_SECONDS)
        assert [each.label for each in next(snapshots).sessions] == ["left"]
    # The stream ends with the session; while the session is open, it ends with a failure.
    for snapshot in snapshots:
        assert [each.label for each in snapshot.sessions] == ["left"]
    with pytest.raises(grpc.RpcError) as raised:
        next(operators.WatchSessions(watch, timeout=PATIENCE_SECONDS))
    assert raised.value.code() == grpc.StatusCode.NOT_FOUND


def test_an_empty_call_gets_a_status(page):
    responses, code, _, text = call(page, INFO)
    assert responses == [] and code > 4000 and status_of(text)[0] == code - 4000


def test_a_shutdown_ends_sessions_as_it_ends_those_of_grpc():
    with Server("--studio", "127.0.0.1:0") as server:
        page = Page(server.addresses["studio"])
        with (
            grpc.insecure_channel(server.addresses["tcp"]) as channel,
            WebSession(page, pipeline=LOOK) as web,
            Session(service.FrameFilterStub(channel), pipeline=LOOK) as plain,
        ):
            for session in (web, plain):
                session.send_frame(images.noise("RGB24", 64, 48))
                session.receive_until("frame")
            server.process.terminate()
            assert web.receive_until("state").state == plain.receive_until("state").state
            with pytest.raises(ConnectionClosed):
                while True:
                    web.socket.recv(timeout=PATIENCE_SECONDS)
            assert web.socket.close_code == 4000 + plain.fail().code().value[0]
        assert server.process.wait(timeout=60) == 0, server.log
