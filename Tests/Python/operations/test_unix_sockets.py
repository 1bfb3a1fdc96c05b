"""Unix sockets with several users, and after a killed server."""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import time

import grpc
import pytest
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.server import binary

# Imported by the contract before, so there is something to import here.
from sidelight.v1 import sessions_pb2 as sessions
from sidelight.v1 import sessions_pb2_grpc as sessions_service

NOBODY = 65534
HEADER = b"YUV4MPEG2 W16 H16 F25:1 Ip A1:1 C420jpeg\n"
FRAME = b"FRAME\n" + bytes(16 * 16 * 3 // 2)
SECONDS = 60

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")


@pytest.fixture
def path(tmp_path_factory):
    """A path that every user can reach, in a folder that only its owner can write."""
    folder = tmp_path_factory.mktemp("socket")
    for each in [folder, *folder.parents][:3]:
        each.chmod(0o755)
    return folder / "s"


@contextlib.contextmanager
def serving(path, *options):
    """A server on a Unix socket; killed by its process id when the block ends."""
    server = subprocess.Popen(
        [binary(), "serve", "--listen", f"unix:{path}", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert server.stdout.readline().decode().startswith("listening on unix:")
        yield server
    finally:
        server.kill()
        server.wait()
        server.stdout.close()


@contextlib.contextmanager
def streaming(path, user):
    """A session that another user holds open."""
    client = subprocess.Popen(
        [binary(), "stream", "-", "-", "--server", f"unix:{path}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        user=user,
        group=user,
    )
    try:
        client.stdin.write(HEADER + FRAME)
        client.stdin.flush()
        yield client
    finally:
        client.kill()
        client.communicate()


def ask(path):
    """The server's description of itself, at the path."""
    with grpc.insecure_channel(f"unix:{path}") as channel:
        request = frame_filter.GetServerInfoRequest()
        return service.FrameFilterStub(channel).GetServerInfo(request, timeout=SECONDS)


def peers(path, count):
    """Waits for a number of open sessions, and returns their peers."""
    deadline = time.monotonic() + SECONDS
    with grpc.insecure_channel(f"unix:{path}") as channel:
        operator = sessions_service.SessionsStub(channel)
        while True:
            answer = operator.ListSessions(sessions.ListSessionsRequest(), timeout=SECONDS)
            if len(answer.sessions) == count or time.monotonic() > deadline:
                return [session.peer for session in answer.sessions]


def refusal(path, **options):
    """Returns the error message of a server that refuses to start."""
    finished = subprocess.run(
        [binary(), "serve", "--listen", f"unix:{path}"],
        capture_output=True,
        timeout=SECONDS,
        check=False,
        **options,
    )
    assert finished.returncode == 1, finished.stderr
    return finished.stderr.decode()


def test_a_new_server_replaces_the_socket_of_a_killed_one(path):
    with serving(path) as first:
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert stat.S_ISSOCK(path.stat().st_mode), "it left its file"
    with serving(path):
        assert ask(path).version


def test_a_live_server_keeps_its_path(path):
    with serving(path):
        assert "another server listens there" in refusal(path)
        assert ask(path).version


@as_root
def test_users_are_distinguished(path):
    with (
        serving(path, "--unix-socket-mode", "666", "--max-sessions-per-caller", "1"),
        streaming(path, NOBODY) as first,
        streaming(path, 1),
    ):
        expected = {
            f"unix:{path} uid={user} gid={user}" for user in (NOBODY, 1)
        }
        assert {peer.rpartition(" ")[0] for peer in peers(path, 2)} == expected
        assert any(peer.endswith(f" pid={first.pid}") for peer in peers(path, 2))
        with streaming(path, NOBODY) as second:
            second.stdin.close()
            second.stdin = None
            _, said = second.communicate(timeout=SECONDS)
            assert second.returncode != 0
            assert f"unix:uid={NOBODY} has 1 sessions" in said.decode()


@as_root
def test_only_the_owner_can_connect_by_default(path):
    with serving(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with streaming(path, NOBODY) as client:
            client.stdin.close()
            client.stdin = None
            client.communicate(timeout=SECONDS)
            assert client.returncode != 0
        assert ask(path).version


@as_root
def test_a_read_only_folder_is_refused_with_the_reason(path):
    said = refusal(path, user=NOBODY, group=NOBODY)
    assert f"cannot listen on unix:{path}: Permission denied" in said


def test_hundreds_of_connections_wait_until_the_server_accepts_them(path):
    with serving(path) as server, contextlib.ExitStack() as connections:
        # A stopped process does not accept connections.
        server.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, server.pid, os.WSTOPPED)
        for _ in range(500):
            connection = connections.enter_context(socket.socket(socket.AF_UNIX))
            connection.setblocking(False)
            connection.connect(str(path))
        server.send_signal(signal.SIGCONT)
