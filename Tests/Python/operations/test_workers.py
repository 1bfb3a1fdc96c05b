"""Worker processes: a crash ends only the sessions of one worker, and they resume on another."""

import contextlib
import re
import subprocess

import grpc
import pytest

from command.test_swift_examples import program
from sidelight_testing import images
from sidelight_testing.bystander import Bystander
from sidelight_testing.certificates import Authority
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.process import WAIT_SECONDS, wait_until
from sidelight_testing.resuming import LOST, ResumingClient
from sidelight_testing.server import binary
from sidelight_testing.session import Session, pipeline
from sidelight_testing.workers import ALONE, Workers, is_alive

RATE = 60
HEADER = b"YUV4MPEG2 W16 H16 F25:1 Ip A1:1 C420jpeg\n"
FRAME = b"FRAME\n" + bytes(range(128)) * 3


@contextlib.contextmanager
def clients_of_all(server: Workers, kind: str = "tcp"):
    """Sessions until every worker has one, each on a separate connection."""
    with contextlib.ExitStack() as stack:
        clients = []

        def one_more() -> bool:
            channel = stack.enter_context(server.channel(kind))
            client = stack.enter_context(ResumingClient(channel, RATE))
            clients.append(client)
            client.wait_until(lambda client: client.filtered > 3, WAIT_SECONDS)
            client.select_inversion()
            client.wait_until(lambda client: client.is_selected, WAIT_SECONDS)
            return all(server.sessions(worker) for worker in range(server.count))

        wait_until(one_more)
        yield clients
    for client in clients:
        client.verify()


def go_on(clients: list[ResumingClient]) -> None:
    for client in clients:
        before = client.filtered
        client.wait_until(lambda client, before=before: client.filtered > before + 5, WAIT_SECONDS)


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_sessions_of_a_crashed_worker_resume(kind):
    with Workers(2, "--max-load", "0") as server:
        with clients_of_all(server, kind) as clients:
            victims = server.sessions(0)
            # No client has resumed yet: every resumption recorded below is due to this end.
            assert not any(client.resumptions for client in clients)
            server.end(0)
            wait_until(lambda: sum(len(each.resumptions) for each in clients) == victims)
            go_on(clients)
        for client in clients:
            lost = [key for key, outcome in client.outcomes.items() if outcome == LOST]
            if not client.resumptions:
                assert not lost
                continue
            (resumption,) = client.resumptions
            assert resumption.code == grpc.StatusCode.UNAVAILABLE
            assert resumption.revision == 2
            assert lost == resumption.lost
        (end,) = server.wait_for("worker ended", 1)
        assert (end["end"], end["worker"], end["restart"]) == ("SIGSEGV", "0", "at once")
        server.wait_for("worker serving", 2, worker=0)
        assert server.answers(kind)
        assert server.terminate() == 0, server.log


def test_sessions_of_other_workers_lose_no_frame():
    with Workers(3) as server, contextlib.ExitStack() as stack:
        bystanders = [stack.enter_context(Bystander(server)) for _ in range(6)]
        for each in bystanders:
            wait_until(lambda each=each: each.frames > 3 or each.trouble)
        victims = server.sessions(0)
        server.end(0)
        server.wait_for("worker serving", 2, worker=0)
        wait_until(lambda: sum(each.trouble is not None for each in bystanders) == victims)
        hurt = [each for each in bystanders if each.trouble]
        for each in bystanders:
            at = each.frames
            wait_until(lambda each=each, at=at: each.trouble or each.frames > at + 30)
        assert hurt == [each for each in bystanders if each.trouble]
        for each in hurt:
            assert each.trouble.code() == grpc.StatusCode.UNAVAILABLE
            each.trouble = None


def test_connections_wait_for_the_restart_of_a_single_worker():
    with Workers(1) as server:
        for starts in range(2, 5):
            pid = server.end(0)
            # A connection that the old one had taken would go with it.
            wait_until(lambda pid=pid: not is_alive(pid))
            assert server.answers()
            server.wait_for("worker serving", starts, worker=0)
        assert server.terminate() == 0, server.log


def test_restarts_of_a_crash_loop_back_off():
    with Workers(1) as server:
        for count in range(1, 6):
            server.end(0)
            server.wait_for("worker ended", count)
            server.wait_for("worker serving", count + 1)
        restarts = [each["restart"] for each in server.entries("worker ended")]
        delays = [float(re.findall(r"[\d.]+", each)[0]) for each in restarts[1:]]
        assert restarts[0] == "at once" and delays == [0.1, 0.2, 0.4, 0.8]
        assert server.metric("sidelight_worker_starts", 0) == 6


def test_the_swift_client_resumes(tmp_path):
    seconds = 4
    video = tmp_path / "sent.y4m"
    video.write_bytes(HEADER + FRAME * 25 * seconds)
    with Workers(2) as server:
        command = [binary(), "stream", video, "-", "--server", server.addresses["tcp"]]
        stream = subprocess.Popen(
            [*command, "--realtime", "--reconnect", "--pipeline", "colorInvert"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            # Some frames have come, so one can replace those that are lost.
            at_work = wait_until(
                lambda: [w for w in range(2) if server.metric("sidelight_frames_total", w) > 3]
            )
            server.end(at_work[0])
            result, log = stream.communicate(timeout=WAIT_SECONDS)
        finally:
            stream.kill()
            stream.wait()
        assert stream.returncode == 0, log
        assert result.count(b"FRAME\n") == 25 * seconds
        made = int(re.search(rb"(\d+) filtered", log)[1])
        assert made > 25 * seconds / 2, log
        assert server.terminate() == 0, server.log


def test_tls_works_after_a_restart(tmp_path):
    authority = Authority()
    certificate, key = authority.issue("server", "127.0.0.1").write(tmp_path, "server")
    with Workers(2, "--tls-certificate", certificate, "--tls-key", key) as server:
        credentials = grpc.ssl_channel_credentials(authority.certificate)
        for worker in range(2):
            server.end(worker)
            server.wait_for("worker serving", 2, worker=worker)
        for _ in range(4):
            with grpc.secure_channel(server.addresses["tcp"], credentials, ALONE) as channel:
                stub = service.FrameFilterStub(channel)
                with Session(stub, pipeline=pipeline("colorInvert")) as session:
                    session.send_frame(images.noise("GRAY8", 16, 16))
                    assert len(session.finish().frames) == 1
        assert server.terminate() == 0, server.log


def test_a_trap_in_a_filter_ends_only_its_workers_sessions(tmp_path):
    """`brittle` of the example counts on seventeen rows."""
    address = f"unix:{tmp_path}/socket"
    small, large = images.noise("GRAY8", 16, 16), images.noise("GRAY8", 32, 32)

    with open(tmp_path / "log", "w") as log, contextlib.ExitStack() as stack:
        command = [program("CustomFilters"), address, "2"]
        supervisor = subprocess.Popen(command, stderr=log, stdin=subprocess.DEVNULL)
        stack.callback(supervisor.wait)
        stack.callback(supervisor.kill)

        def stub_alone():
            channel = stack.enter_context(grpc.insecure_channel(address, ALONE))
            grpc.channel_ready_future(channel).result(timeout=WAIT_SECONDS)
            return service.FrameFilterStub(channel)

        def session_of(stub, **options: object) -> Session:
            return stack.enter_context(Session(stub, seconds=WAIT_SECONDS, **options))

        stub = stub_alone()
        trapping = session_of(stub, pipeline=pipeline("brittle"))
        others = [session_of(stub_alone(), pipeline=pipeline("colorInvert")) for _ in range(6)]
        trapping.send_frame(large)
        trapping.receive_until("frame")
        # Over the same connection, so of the same worker; without the session itself.
        request = frame_filter.GetServerInfoRequest()
        same_worker = stub.GetServerInfo(request, timeout=WAIT_SECONDS).load.sessions - 1

        trapping.send_frame(small)
        assert trapping.fail().code() == grpc.StatusCode.UNAVAILABLE
        spared = 0
        for other in others:
            with contextlib.suppress(grpc.RpcError, StopIteration):
                other.send_frame(small)
                other.receive_until("frame")
                spared += 1
        assert spared == len(others) - same_worker

        resumed = session_of(stub_alone(), resume_token=trapping.opened.resume_token)
        assert resumed.opened.revision == trapping.opened.revision
        resumed.send_frame(large, sequence=3)
        resumed.receive_until("frame")
        supervisor.terminate()
        assert supervisor.wait(timeout=60) == 0
    told = (tmp_path / "log").read_text()
    assert len(re.findall("end=SIG(ILL|TRAP)", told)) == 1, told
