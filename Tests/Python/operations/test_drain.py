"""SIGTERM: calls finish or are aborted, and the process exits with status 0 in time."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from hyperframe import frame as frames

from robustness.test_silent_peers import begin_session
from sidelight_testing import images
from sidelight_testing.answers import error_info
from sidelight_testing.contract import TESTS, frame_filter, service, sessions, sessions_service
from sidelight_testing.contract import session as messages
from sidelight_testing.process import WAIT_SECONDS
from sidelight_testing.raw import RawPeer
from sidelight_testing.server import Server
from sidelight_testing.session import Session, pipeline

# A time after which the server aborts calls, and one that no test waits for.
GRACE = ("--shutdown-grace", "3")
LONG_GRACE = ("--shutdown-grace", "600")
LONG = pipeline(*[("gaussianBlur", {"radius": 4 + index / 8}) for index in range(64)])


def test_a_server_without_sessions_ends_at_once():
    with Server(*LONG_GRACE) as server:
        assert server.terminate() == 0, server.log


def test_frames_in_flight_finish_and_clients_are_notified():
    with Server(*LONG_GRACE) as server, grpc.insecure_channel(server.addresses["tcp"]) as channel:
        never = messages.DROP_POLICY_NEVER_DROP
        stub = service.FrameFilterStub(channel)
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        # Long enough to be under way at the signal.
        blurs = pipeline(*[("gaussianBlur", {"radius": 4 + index / 8}) for index in range(8)])
        with Session(stub, pipeline=blurs, drop_policy=never) as session:
            for _ in range(3):
                session.send_frame(images.noise("RGB24", 640, 360))
            # The answer comes after the server has read the frames.
            session.send(ping=messages.Ping())
            session.receive_until("pong")
            server.process.send_signal(signal.SIGTERM)
            assert next(watch).status == health_pb2.HealthCheckResponse.NOT_SERVING
            state = session.receive_until("state")
            assert state.state == messages.SESSION_STATE_DRAINING
            assert state.resume_token
            error = session.fail()
        assert error.code() == grpc.StatusCode.UNAVAILABLE
        outcomes = session.transcript.outcomes(session.sent)
        assert [sequence for sequence, _ in outcomes] == [1, 2, 3]
        assert session.transcript.stats[-1].final
        assert server.process.wait(timeout=WAIT_SECONDS) == 0, server.log


def test_a_session_that_moves_ends_with_a_server_that_stops():
    with Server(*LONG_GRACE) as server:
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            stub = service.FrameFilterStub(channel)
            operator = sessions_service.SessionsStub(channel)
            with Session(stub, accepts_move=True) as session:
                request = sessions.MoveSessionRequest(session_id=session.opened.session_id)
                assert operator.MoveSession(request, timeout=WAIT_SECONDS).hands_over
                first = session.receive_until("state")
                server.process.send_signal(signal.SIGTERM)
                second = session.receive_until("state")
                assert first.state == second.state == messages.SESSION_STATE_MOVE
                limit, earlier = second.move.time_left, first.move.time_left
                assert limit.ToMilliseconds() < earlier.ToMilliseconds()
                assert session.receive_until("state").state == messages.SESSION_STATE_DRAINING
                error = session.fail()
        assert error.code() == grpc.StatusCode.UNAVAILABLE
        assert error_info(rpc_status.from_call(error)).reason == "SHUTTING_DOWN"
        assert server.process.wait(timeout=WAIT_SECONDS) == 0, server.log


def test_a_goaway_is_sent():
    with Server(*GRACE) as server, RawPeer(server.addresses["tcp"]) as peer:
        peer.next(frames.SettingsFrame)
        server.process.send_signal(signal.SIGTERM)
        assert peer.next(frames.GoAwayFrame) is not None
        assert server.process.wait(timeout=WAIT_SECONDS) == 0, server.log


def silent(server: Server, stack: contextlib.ExitStack) -> None:
    """Never speaks HTTP/2."""
    stack.enter_context(RawPeer(server.addresses["tcp"], preface=False))


def dead(server: Server, stack: contextlib.ExitStack) -> None:
    """A client process with a session that is stopped by SIGSTOP."""
    client = subprocess.Popen(
        [sys.executable, "-m", "robustness.test_silent_peers", server.addresses["tcp"]],
        cwd=TESTS,
        stdout=subprocess.PIPE,
    )
    stack.callback(client.wait)
    stack.callback(client.kill)
    stack.callback(client.stdout.close)
    assert client.stdout.readline() == b"open\n"
    os.kill(client.pid, signal.SIGSTOP)


def stalled(server: Server, stack: contextlib.ExitStack) -> None:
    """Requests output, but grants no flow-control window."""
    peer = stack.enter_context(RawPeer(server.addresses["tcp"]))
    begin_session(peer, frame_count=2)
    peer.next(frames.DataFrame)


def deaf(server: Server, stack: contextlib.ExitStack) -> None:
    """Does not read its socket."""
    peer = stack.enter_context(RawPeer(server.addresses["tcp"], receive_buffer=4096))
    peer.open_windows()
    begin_session(peer, frame_count=3)


def stuck(server: Server, stack: contextlib.ExitStack) -> None:
    """Sends frames that take far longer than any client waits."""
    channel = stack.enter_context(grpc.insecure_channel(server.addresses["tcp"]))
    stub = service.FrameFilterStub(channel)
    never = messages.DROP_POLICY_NEVER_DROP
    session = stack.enter_context(Session(stub, pipeline=LONG, drop_policy=never, mailbox_depth=4))
    for _ in range(4):
        session.send_frame(images.noise("BGRA8", 3840, 2160))
    while stub.GetServerInfo(frame_filter.GetServerInfoRequest()).load.pool_bytes_in_use == 0:
        time.sleep(0.01)


def idle(server: Server, stack: contextlib.ExitStack) -> None:
    """Opens a session, and stays silent."""
    channel = stack.enter_context(grpc.insecure_channel(server.addresses["tcp"]))
    stack.enter_context(Session(service.FrameFilterStub(channel)))


PEERS = [silent, dead, stalled, deaf, stuck, idle]


@pytest.mark.parametrize("peers", [[each] for each in PEERS] + [PEERS], ids=lambda peers: (
    peers[0].__name__ if len(peers) == 1 else "all of them"))
def test_the_server_exits_with_status_0_with_any_peers(peers):
    with Server("--compute-threads", "1", *GRACE) as server, contextlib.ExitStack() as stack:
        for peer in peers:
            peer(server, stack)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=WAIT_SECONDS) == 0, server.log


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_the_server_at_once(second):
    with Server(*LONG_GRACE) as server, contextlib.ExitStack() as stack:
        dead(server, stack)
        server.process.send_signal(signal.SIGTERM)
        while "shutting down" not in server.log and server.process.poll() is None:
            time.sleep(0.01)
        server.process.send_signal(second)
        assert server.process.wait(timeout=WAIT_SECONDS) == 128 + second


def test_new_calls_are_refused_during_a_drain():
    with Server(*LONG_GRACE) as server, contextlib.ExitStack() as stack:
        dead(server, stack)
        server.process.send_signal(signal.SIGTERM)
        with grpc.insecure_channel(server.addresses["tcp"]) as channel:
            stub = service.FrameFilterStub(channel)
            deadline = time.monotonic() + WAIT_SECONDS
            while True:
                try:
                    stub.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=WAIT_SECONDS)
                except grpc.RpcError as error:
                    assert error.code() == grpc.StatusCode.UNAVAILABLE
                    break
                assert time.monotonic() < deadline, "calls are still taken"
        assert server.process.poll() is None, "the server has ended"
