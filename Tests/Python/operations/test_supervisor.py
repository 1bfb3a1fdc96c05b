"""The supervisor of worker processes: start, signals, reload and end."""

import contextlib
import os
import re
import signal
import stat
import subprocess

import grpc
import pytest

from sidelight_testing.contract import frame_filter, service
from sidelight_testing.contract import session as messages
from sidelight_testing.process import WAIT_SECONDS, wait_until
from sidelight_testing.server import Server, binary
from sidelight_testing.session import Session
from sidelight_testing.workers import Workers, is_alive


@pytest.mark.parametrize("to_all", [False, True], ids=["the supervisor", "everybody at once"])
def test_sigterm_drains_all_workers(to_all):
    with Workers(2) as server, contextlib.ExitStack() as stack:
        sessions = []

        def one_more() -> bool:
            stub = service.FrameFilterStub(stack.enter_context(server.channel()))
            sessions.append(stack.enter_context(Session(stub)))
            return all(server.sessions(worker) for worker in range(2))

        wait_until(one_more)
        # As a terminal and a service manager do it: the second signal for a worker is ignored.
        pids = server.pids
        for pid in pids if to_all else []:
            os.kill(pid, signal.SIGTERM)
        server.process.send_signal(signal.SIGTERM)
        for session in sessions:
            state = session.receive_until("state")
            assert state.state == messages.SESSION_STATE_DRAINING
            assert session.fail().code() == grpc.StatusCode.UNAVAILABLE
        assert server.process.wait(timeout=60) == 0, server.log
        # A worker that ends before the supervisor's signal has a replacement, which may not handle
        # its signal yet.
        ended = {int(each["pid"]): each["end"] for each in server.entries("worker ended")}
        assert [ended[pid] for pid in pids] == ["exit status 0"] * 2
        with pytest.raises(grpc.FutureTimeoutError), server.channel() as channel:
            grpc.channel_ready_future(channel).result(timeout=0.5)


def test_a_worker_that_does_not_drain_is_killed_after_the_grace_period():
    with Workers(2, "--shutdown-grace", "5s") as server:
        server.end(1, signal.SIGSTOP)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=60) == 0, server.log
        ends = {each["worker"]: each["end"] for each in server.entries("worker ended")}
        assert ends == {"0": "exit status 0", "1": "SIGKILL"}


def test_a_second_signal_stops_all_at_once():
    with Workers(2) as server:
        server.end(1, signal.SIGSTOP)
        server.process.send_signal(signal.SIGTERM)
        server.wait_for("draining workers", 1)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=60) == 128 + signal.SIGTERM
        wait_until(lambda: not any(map(is_alive, server.pids)))
        assert not os.path.exists(server.addresses["unix"].removeprefix("unix:"))


def test_workers_end_with_their_supervisor():
    with Workers(2) as server:
        pids = server.pids
        assert all(map(is_alive, pids))
        server.process.kill()
        wait_until(lambda: not any(map(is_alive, pids)))


def test_a_worker_that_exits_is_replaced():
    with Workers(2) as server:
        server.end(1, signal.SIGTERM)
        server.wait_for("worker serving", 2, worker=1)
        (end,) = server.entries("worker ended")
        assert (end["end"], end["restart"]) == ("exit status 0", "at once")


def test_the_supervisor_keeps_and_finally_removes_the_socket_file():
    with Workers(2, "--unix-socket-mode", "660") as server:
        path = server.addresses["unix"].removeprefix("unix:")
        before = os.stat(path)
        assert stat.S_IMODE(before.st_mode) == 0o660
        for worker in range(2):
            server.end(worker)
            server.wait_for("worker serving", 2, worker=worker)
        assert os.stat(path).st_ino == before.st_ino
        assert server.answers("unix")
        assert server.terminate() == 0, server.log
        assert not os.path.exists(path)


def test_sighup_reloads_all_workers_and_their_replacements(tmp_path):
    file = tmp_path / "settings.yaml"
    file.write_text("limits: {max-sessions: 2}\n")
    with Workers(2, "--config", file) as server:
        file.write_text("limits: {max-sessions: 1}\n")
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("settings reloaded", 1, worker=0)
        server.wait_for("settings reloaded", 1, worker=1)
        server.end(0)
        server.wait_for("worker serving", 2, worker=0)
        server.process.send_signal(signal.SIGHUP)
        server.wait_for("settings reloaded", 1, worker=0)
        server.wait_for("settings reloaded", 2, worker=1)
        with server.channel() as channel:
            stub = service.FrameFilterStub(channel)
            with Session(stub) as first:
                with pytest.raises(grpc.RpcError) as refused:
                    Session(stub).__enter__()
                assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
                first.finish()


def test_each_worker_has_separate_shared_memory(tmp_path):
    path = tmp_path / "rings"
    with Workers(2, "--shared-memory", "--shared-memory-socket", path) as server:
        assert sorted(each.name for each in tmp_path.iterdir()) == ["rings.0", "rings.1"]
        assert server.terminate() == 0, server.log


def test_an_error_in_the_settings_is_reported_once(tmp_path):
    (tmp_path / "certificate.pem").write_text("none")
    (tmp_path / "key.pem").write_text("none")
    started = subprocess.run(
        [binary(), "serve", "--workers", "4", "--listen", "127.0.0.1:0"]
        + ["--tls-certificate", tmp_path / "certificate.pem"]
        + ["--tls-key", tmp_path / "key.pem"],
        capture_output=True,
        timeout=WAIT_SECONDS,
    )
    assert started.returncode not in (0, 139), started
    assert not started.stdout
    assert started.stderr.count(b"Error: ") == 1, started.stderr.decode()


def test_an_address_in_use_prevents_the_start():
    with Server() as other:
        for kind in ("tcp", "unix"):
            started = subprocess.run(
                [binary(), "serve", "--workers", "2", "--listen", other.addresses[kind]],
                capture_output=True,
                timeout=WAIT_SECONDS,
            )
            assert started.returncode == 1
            assert b"another server listens there" in started.stderr, started.stderr
            assert not re.search(rb"worker (serving|ended)", started.stderr)
        with grpc.insecure_channel(other.addresses["unix"]) as channel:
            stub = service.FrameFilterStub(channel)
            stub.GetServerInfo(frame_filter.GetServerInfoRequest(), timeout=60)


@pytest.mark.parametrize(
    "text", ["1", "{}", '{"control":0,"count":2,"index":0,"sockets":[],"starts":1}']
)
def test_a_worker_without_a_supervisor_does_not_start(text):
    started = subprocess.run(
        [binary(), "serve", "--listen", "127.0.0.1:0"],
        env=os.environ | {"SIDELIGHT_WORKER": text},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=WAIT_SECONDS,
    )
    assert started.returncode == 1
    assert b"Error: " in started.stderr and not started.stdout
