"""Servers of a fleet share overrides and quotas through etcd, and keep what they know without it."""

import base64
import contextlib
import itertools
import os
import re
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from sidelight_testing import images
from sidelight_testing.contract import service, sessions, sessions_service
from sidelight_testing.contract import session as messages
from sidelight_testing.debian import require_packages
from sidelight_testing.etcd import Etcd
from sidelight_testing.process import wait_until
from sidelight_testing.server import Server, connect
from sidelight_testing.session import Session, pipeline

SECONDS = 60
OVERRIDDEN, RUNNING = messages.SESSION_STATE_OVERRIDDEN, messages.SESSION_STATE_RUNNING
EXHAUSTED = grpc.StatusCode.RESOURCE_EXHAUSTED
PICTURE = images.noise("RGB24", 16, 16)
INVERTED = 255 - images.rgb(PICTURE)
AWAY = "etcd is away"
RECEIVED = "override of another server received"
prefixes = map("fleet{}".format, itertools.count())


@pytest.fixture(scope="module")
def etcd():
    require_packages("etcd-server")
    with Etcd() as running:
        yield running


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    path = tmp_path_factory.mktemp("keys") / "keys"
    path.write_text(f"first:{base64.b64encode(os.urandom(32)).decode()}\n")
    return path


class Member:
    """A server of a fleet, and a client of it."""

    def __init__(self, server: Server, channel: grpc.Channel) -> None:
        self.server = server
        self.stub = service.FrameFilterStub(channel)
        self.operators = sessions_service.SessionsStub(channel)
        self.health = health_pb2_grpc.HealthStub(channel)

    def open(self, participant: str = "ana", **fields: object) -> Session:
        if "resume_token" not in fields:
            fields["pipeline"] = pipeline("grayscale")
        return Session(
            self.stub, seconds=SECONDS, participant=participant,
            drop_policy=messages.DROP_POLICY_NEVER_DROP, **fields)

    def override(self, **target: object) -> None:
        request = sessions.OverrideSessionRequest(
            pipeline=pipeline("colorInvert"), reason="hidden", **target)
        request.time_to_live.seconds = 600
        self.operators.OverrideSession(request, timeout=SECONDS)

    def end(self, **target: object) -> None:
        self.operators.OverrideSession(sessions.OverrideSessionRequest(**target), timeout=SECONDS)

    def wait_for_log(self, words: str, times: int = 1) -> None:
        wait_until(lambda: self.server.log.count(words) >= times, lambda: self.server.log)


@pytest.fixture
def start(etcd, keys):
    """Starts servers of a fleet of its own: `start(etcd, count, ...)`."""
    prefix = next(prefixes)
    with contextlib.ExitStack() as stack:

        def start(*options: str, prefix: str = prefix, joins: bool = True) -> Member:
            server = stack.enter_context(Server(
                "--fleet-etcd", f"http://{etcd.address}/{prefix}", "--resume-keys-file", keys, *options))
            channel = stack.enter_context(connect(server.addresses["tcp"]))
            member = Member(server, channel)
            if joins:
                member.wait_for_log("fleet joined")
            return member

        start.prefix = prefix
        yield start


def is_forced(session: Session) -> bool:
    session.send_frame(PICTURE)
    return (images.rgb(session.receive_until("frame").image) == INVERTED).all()


def wait_for_state(session: Session, state: int) -> None:
    while session.receive_until("state").state != state:
        pass


@pytest.mark.parametrize("by", ["session", "participant"])
def test_an_override_holds_at_all_servers(start, by):
    first, second, stranger = start(), start(), start(prefix=next(prefixes))
    with (
        first.open(label="camera") as here, second.open(label="camera") as there,
        second.open("ben", label="camera") as other, stranger.open(label="camera") as elsewhere,
    ):
        target = {"participant": "ana"} if by == "participant" else {"session_id": here.opened.session_id}
        first.override(**target)
        wait_for_state(there, OVERRIDDEN)
        assert is_forced(here) and is_forced(there)
        assert not is_forced(other) and not is_forced(elsewhere)
        # A server that starts has it before its first session.
        with start(joins=False).open(label="camera") as new:
            assert is_forced(new)
            first.end(**target)
            for session in (there, new):
                wait_for_state(session, RUNNING)
                assert not is_forced(session)
    with second.open(label="camera") as later:
        assert not is_forced(later)


def test_the_override_of_a_killed_server_stays(start):
    first, second = start(), start()
    with first.open() as before, second.open("ben") as witness:
        token = before.opened.resume_token
        first.override(session_id=before.opened.session_id)
        # The second server has received all earlier overrides too.
        first.override(participant="ben")
        wait_for_state(witness, OVERRIDDEN)
        first.server.process.kill()
    with second.open(resume_token=token) as after:
        assert all(is_forced(after) for _ in range(10))


@pytest.mark.parametrize("failure", ["frozen", "killed", "replaced"])
def test_an_override_stays_while_etcd_is_away(etcd, start, failure):
    first, second = start(), start()
    with first.open() as here, second.open() as there, second.open("ben") as other:
        first.override(participant="ana")
        wait_for_state(there, OVERRIDDEN)
        if failure == "frozen":
            etcd.freeze()
        else:
            etcd.kill()
        try:
            for member in (first, second):
                member.wait_for_log(AWAY)
            assert is_forced(here) and is_forced(there)
            first.override(participant="ben")
            with first.open() as new:
                assert is_forced(new)
            answer = second.health.Check(health_pb2.HealthCheckRequest(), timeout=SECONDS)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
            assert not is_forced(other)
        finally:
            if failure == "frozen":
                etcd.thaw()
            else:
                etcd.start(keeps=failure == "killed")
                # The servers read all values again, so they need no earlier revision.
                etcd.compact()
        wait_for_state(other, OVERRIDDEN)
        assert is_forced(other) and is_forced(there)
        first.wait_for_log("fleet joined", times=2)
        assert first.server.log.count(AWAY) == 1
        # Frames have come back all the time, from servers that did not restart.
        for session in (here, there, other):
            assert not session.finish().dropped


def test_values_of_strangers_are_ignored(etcd, start):
    # The gateway that `put` needs works at a fixed port, which etcd has after its first life.
    etcd.kill()
    etcd.start()
    first = start()
    with first.open() as session:
        prefix = f"{start.prefix}/overrides/"
        garbage = [
            ("1", b"\xff\x00"), ("2", b"{}"), ("text", b'{"participant":"ana","until":1}'),
            ("3", b'{"participant":"ana","until":9223372036854775807}'),
            ("4", b'{"participant":"\\u0007","until":1}'),
            ("5", b'{"participant":"ana","pipeline":"////","until":%d}' % (time.time_ns() + 10**12)),
            ("18446744073709551615", b'{"participant":"ana","until":%d}' % (time.time_ns() + 10**12)),
            ("6", b'{"lineage":"AAAA","participant":"ana","until":1}'),
        ]
        for name, value in garbage:
            etcd.put(prefix + name, value)
        first.wait_for_log("value in etcd ignored", times=len(garbage))
        # Callers of a loopback address count per host: its start and network namespace.
        use = f"{start.prefix}/use/ipv4:127.0.0.1"
        host = Path("/proc/sys/kernel/random/boot_id").read_text().strip() + os.readlink("/proc/self/ns/net")
        etcd.put(f"{use}/{host}/stranger", b'{"sessions":1000000}')
        assert isinstance(try_to_open(first), grpc.RpcError)
        etcd.put(f"{use}/{host}/stranger", b'{"sessions":1000001}')
        etcd.put(f"{use}/{host}/other", b"?")
        etcd.put(f"{use}/another/server", b'{"sessions":1000000}')
        with first.open("ben") as new:
            assert not is_forced(new)
        assert not is_forced(session)
        first.override(participant="ana")
        assert is_forced(session)
        # A server that starts reads them too.
        with start().open() as other:
            assert is_forced(other)


def test_etcd_keeps_the_last_decision_only(start):
    first, second = start(), start()
    with second.open("ben") as witness:
        for _ in range(3):
            first.override(participant="ana")
        first.end(participant="ana")
        # A server deletes the keys that later decisions replaced before it writes the next ones.
        first.override(participant="ben")
        wait_for_state(witness, OVERRIDDEN)
        first.end(participant="ben")
        wait_for_state(witness, RUNNING)
    # A server that joins receives what is in etcd.
    received = [line for line in start().server.log.splitlines() if RECEIVED in line and "ana" in line]
    assert len(received) == 1, received


def test_a_server_serves_without_etcd(keys):
    options = ("--fleet-etcd", "http://127.0.0.1:1/x", "--admin", "127.0.0.1:0")
    with Server(*options, "--resume-keys-file", keys) as server:
        with connect(server.addresses["tcp"]) as channel, Member(server, channel).open() as session:
            assert not is_forced(session)
            Member(server, channel).override(participant="ana")
            assert is_forced(session)
        with urllib.request.urlopen(f"http://{server.addresses['admin']}/metrics", timeout=60) as page:
            assert "\nsidelight_fleet_connected 0\n" in page.read().decode()
        assert server.terminate() == 0
        assert server.log.count(AWAY) == 1


LIMIT = 10


def admitted(opened: list) -> list[Session]:
    return [each for each in opened if isinstance(each, Session)]


def try_to_open(member: Member, **fields: object) -> Session | grpc.RpcError:
    try:
        return member.open(**fields)
    except grpc.RpcError as error:
        assert error.code() == EXHAUSTED, error
        assert re.search("in the fleet|has 10 sessions", error.details()), error.details()
        return error


def test_a_quota_of_sessions_holds_for_the_fleet(start):
    members = [start("--max-sessions-per-caller", str(LIMIT)) for _ in range(3)]
    with ThreadPoolExecutor(3 * LIMIT) as pool, contextlib.ExitStack() as stack:
        opened = admitted(list(pool.map(try_to_open, LIMIT * members)))
        for session in opened:
            stack.enter_context(session)
        # More than 10 % beyond the limit would be 12.
        assert len(opened) == LIMIT
        # A session that moves counts at both servers for a moment.
        token = opened[0].opened.resume_token
        [moved] = wait_until(lambda: admitted([try_to_open(members[1], resume_token=token)]))
        with moved:
            assert not is_forced(moved)
        opened.pop().finish()
        stack.enter_context(wait_until(
            lambda: next(iter(admitted([try_to_open(each) for each in members])), None)))
        assert not any(isinstance(try_to_open(each), Session) for each in members)


def test_sessions_of_a_killed_server_leave_the_quota(start):
    first, second = (start("--max-sessions-per-participant", "1") for _ in range(2))
    with first.open():
        assert isinstance(try_to_open(second), grpc.RpcError)
        with second.open("ben"):
            pass
        first.server.process.kill()
        with wait_until(lambda: next(iter(admitted([try_to_open(second)])), None)) as session:
            assert not is_forced(session)


def test_a_quota_of_frames_holds_for_the_fleet(start):
    limit, seconds = 30, 4
    members = [start("--caller-frames-per-second", str(limit)) for _ in range(3)]
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(each.open()) for each in members]

        def send(session: Session) -> list[float]:
            """Sends as many frames as the server permits, and returns the times of results."""
            times, ended = [], time.monotonic() + seconds
            while time.monotonic() < ended:
                session.send_frame(PICTURE)
                session.receive_until("frame")
                times.append(time.monotonic())
            return times

        with ThreadPoolExecutor(3) as pool:
            started = time.monotonic()
            times = list(itertools.chain(*pool.map(send, opened)))
            elapsed = max(times) - started
    # A burst has the frames of one second.
    assert len(times) <= 1.1 * limit * elapsed + limit
    assert len(times) >= 0.3 * limit * elapsed
