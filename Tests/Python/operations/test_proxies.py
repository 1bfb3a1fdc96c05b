"""Three servers behind HAProxy and behind Envoy: one drains, one is killed, and every session goes on with what it
had selected, every frame has an outcome or is on its client's list of those that were lost."""

import base64
import collections
import contextlib
import itertools
import os
import queue
import re
import shutil
import signal
import subprocess
from pathlib import Path

import grpc
import hpack
import pytest
from hyperframe import frame as frames

from sidelight_testing import envoy
from sidelight_testing.contract import frame_filter, service
from sidelight_testing.contract import session as messages
from sidelight_testing.envoy import Envoy
from sidelight_testing.haproxy import CONFIGURATION, HAProxy
from sidelight_testing.process import WAIT_SECONDS, wait_until
from sidelight_testing.prometheus import needs
from sidelight_testing.resuming import DISCONNECTED, LOST, ResumingClient
from sidelight_testing.server import Server, binary

SERVERS = 3
CLIENTS = 6
RATE = 30
SESSIONS, SLACK = 120, 12
GROUPS = 300


@pytest.fixture
def keys(tmp_path):
    """A file with a key by which servers resume each other's sessions."""
    path = tmp_path / "resume-keys"
    path.write_text(f"fleet:{base64.b64encode(os.urandom(32)).decode()}\n")
    path.chmod(0o600)
    return path


@pytest.fixture(params=[HAProxy, Envoy], ids=["HAProxy", "Envoy"])
def fleet(request, keys):
    program = shutil.which("haproxy") if request.param is HAProxy else envoy.PROGRAM
    if program is None or not Path(program).is_file():
        pytest.skip("this proxy is not installed")
    with contextlib.ExitStack() as stack:
        # Behind a proxy all clients are one address.
        servers = [stack.enter_context(Server("--resume-keys-file", keys)) for _ in range(SERVERS)]
        proxy = stack.enter_context(request.param([each.addresses["tcp"] for each in servers]))
        wait_until(lambda: list(states(proxy).values()) == ["UP"] * SERVERS)
        yield proxy, servers


def states(proxy: HAProxy | Envoy) -> dict[str, str]:
    """Empty until the proxy answers."""
    assert proxy.process.poll() is None, proxy.log
    try:
        return proxy.states()
    except (FileNotFoundError, ConnectionRefusedError):
        return {}


def load(server: Server) -> frame_filter.Load:
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        request = frame_filter.GetServerInfoRequest()
        return service.FrameFilterStub(channel).GetServerInfo(request, timeout=60).load


def sessions(server: Server) -> int:
    return load(server).sessions


def test_sessions_survive_a_drain_and_a_killed_server(fleet):
    proxy, servers = fleet
    drained, killed, left = servers
    with contextlib.ExitStack() as stack:
        options = [("grpc.use_local_subchannel_pool", 1)]
        clients = []
        # Every server has a session.
        while len(clients) < CLIENTS or not all(map(sessions, servers)):
            channel = stack.enter_context(grpc.insecure_channel(proxy.address, options))
            # Envoy counts a session once its server has been connected.
            client = stack.enter_context(ResumingClient(channel, RATE))
            client.wait_until(lambda client: client.filtered > 0, WAIT_SECONDS)
            client.select_inversion()
            clients.append(client)
        for client in clients:
            client.wait_until(lambda client: client.is_selected, WAIT_SECONDS)

        leaving = sessions(drained)
        drained.process.terminate()
        assert drained.process.wait(timeout=60) == 0, drained.log
        go_on(clients, [killed, left])
        moved = sum(len(client.resumptions) for client in clients)
        assert moved == leaving

        victims = sessions(killed)
        assert victims > 0
        killed.process.kill()
        go_on(clients, [left])
        assert sum(len(client.resumptions) for client in clients) == moved + victims
        wait_until(lambda: list(states(proxy).values()) == ["DOWN", "DOWN", "UP"])
    for client in clients:
        client.verify()
        for resumption in client.resumptions:
            assert resumption.revision == 2
        lost = [key for key, value in client.outcomes.items() if value == LOST]
        assert lost == [each for resumption in client.resumptions for each in resumption.lost]
        without_server = [key for key, value in client.outcomes.items() if value == DISCONNECTED]
        first = min(key for key, value in client.outcomes.items() if value == "frame")
        assert client.resumptions or all(each < first for each in without_server)


def test_the_sessions_of_a_frozen_server_resume_elsewhere(fleet):
    proxy, (frozen, *others) = fleet
    with contextlib.ExitStack() as stack:
        options = [("grpc.use_local_subchannel_pool", 1)]
        clients = []
        while len(clients) < SERVERS or not sessions(frozen):
            channel = stack.enter_context(grpc.insecure_channel(proxy.address, options))
            clients.append(stack.enter_context(ResumingClient(channel, RATE)))
            clients[-1].wait_until(lambda client: client.filtered > 0, WAIT_SECONDS)
        stuck = sessions(frozen)
        frozen.process.send_signal(signal.SIGSTOP)
        try:
            go_on(clients, others)
        finally:
            frozen.process.send_signal(signal.SIGCONT)
    for client in clients:
        client.verify()
    assert sum(len(client.resumptions) for client in clients) == stuck


def go_on(clients: list[ResumingClient], servers: list[Server]) -> None:
    """Waits until every session is open at one of these servers, and receives frames again."""
    wait_until(lambda: sum(map(sessions, servers)) == len(clients))
    for client in clients:
        before = client.filtered
        client.wait_until(lambda client, before=before: client.filtered > before + 5, WAIT_SECONDS)


@needs("ffmpeg")
def test_the_swift_client_survives_them_too(fleet, tmp_path):
    proxy, servers = fleet
    seconds = 6
    source = f"testsrc2=size=320x180:rate={RATE}:duration={seconds}"
    video, result = tmp_path / "sent.y4m", tmp_path / "result.y4m"
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, video], check=True, timeout=60
    )
    command = [binary(), "stream", video, result, "--server", proxy.address]
    stream = subprocess.Popen(
        [*command, "--realtime", "--reconnect", "--pipeline", "colorInvert"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        # Whichever server filters the frames: the first of them drains, the second is killed.
        for end in (subprocess.Popen.terminate, subprocess.Popen.kill):
            at = wait_until(lambda: next((s for s in servers if load(s).frames.filtered), None))
            servers.remove(at)
            end(at.process)
        _, log = stream.communicate(timeout=60)
    finally:
        stream.kill()
        stream.wait()
    assert stream.returncode == 0, log
    summary = log.splitlines()[-1]
    assert summary.startswith(f"{RATE * seconds} frames in "), summary
    made = int(re.search(r"(\d+) filtered", summary)[1])
    # A killed server may have had no frame.
    lost = re.search(r"(\d+) dropped \(", summary)
    dropped = int(lost[1]) if lost else 0
    assert made + dropped == RATE * seconds, summary
    assert dropped < RATE * seconds / 2, summary
    reasons = summary.partition("dropped (")[2].partition(")")[0]
    assert sum(map(int, re.findall(r": (\d+)", reasons))) == dropped, summary
    # The previous frame replaces each that was lost.
    assert result.read_bytes().count(b"FRAME\n") == RATE * seconds


@contextlib.contextmanager
def numbered_servers(count: int):
    """Servers that clients tell apart by their limit of sessions."""
    if not envoy.PROGRAM.is_file():
        pytest.skip("Envoy is not installed")
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                Server("--max-sessions", str(1000 + number), "--compute-threads", "1")
            )
            for number in range(count)
        ]


@contextlib.contextmanager
def behind_envoy(servers: list[Server]):
    with Envoy([each.addresses["tcp"] for each in servers]) as proxy:
        wait_until(lambda: list(states(proxy).values()) == ["UP"] * len(servers))
        with grpc.insecure_channel(proxy.address) as channel:
            yield proxy, service.FrameFilterStub(channel)


class OpenSession:
    """A session without frames, which stays open until it is closed, and the number of its server."""

    def __init__(self, stub: service.FrameFilterStub, group: str = "") -> None:
        self._messages: queue.SimpleQueue = queue.SimpleQueue()
        self._messages.put(messages.ClientMessage(open=messages.Open()))
        metadata = [("sidelight-group", group)] if group else []
        self._call = stub.Process(iter(self._messages.get, None), metadata=metadata)
        self.server = next(self._call).opened.limits.max_sessions

    def close(self) -> None:
        self._messages.put(None)
        list(self._call)


def test_sessions_go_to_servers_in_inverse_proportion_to_their_load():
    with numbered_servers(3) as servers, contextlib.ExitStack() as stack:
        proxy, stub = stack.enter_context(behind_envoy(servers))
        for server, streams in zip(servers[1:], (2, 6)):
            command = [binary(), "load", server.addresses["tcp"], "--sessions", str(streams)]
            options = ["--size", "640x360", "--pipeline", ", ".join(["gaussianBlur(radius: 8)"] * 10)]
            process = subprocess.Popen(
                [*command, *options, "--duration", "3600"], stderr=subprocess.DEVNULL
            )
            stack.callback(process.wait)
            stack.callback(process.kill)

        def weights() -> list[int]:
            current = proxy.weights()
            return [current[each.addresses["tcp"]] for each in servers]

        def differ() -> bool:
            idle, middle, hot = weights()
            return idle > 1.3 * middle and middle > 1.3 * hot

        wait_until(differ)
        before, counts = weights(), collections.Counter()
        for _ in range(SESSIONS):
            session = OpenSession(stub)
            counts[session.server - 1000] += 1
            session.close()
        # The loads change meanwhile.
        shares = [[each / sum(those) for each in those] for those in (before, weights())]
        for number, each in enumerate(zip(*shares)):
            low, high = SESSIONS * min(each) - SLACK, SESSIONS * max(each) + SLACK
            assert low <= counts[number] <= high, (counts, shares)
        assert counts[0] > counts[1] > counts[2]


def test_sessions_of_a_group_go_to_one_server_and_few_groups_move_to_another():
    def places(stub: service.FrameFilterStub) -> list[int]:
        """The server of each group, by a call that names it."""
        return [
            stub.GetServerInfo(
                frame_filter.GetServerInfoRequest(),
                metadata=[("sidelight-group", f"room {number}")],
                timeout=60,
            ).limits.max_sessions
            for number in range(GROUPS)
        ]

    with numbered_servers(4) as servers:
        with behind_envoy(servers[:3]) as (_, stub):
            before = places(stub)
            assert places(stub) == before
            # With few sessions the bound on a server's sessions would split groups.
            others = [OpenSession(stub, f"other {number}") for number in range(30)]
            rooms = [[OpenSession(stub, f"room {room}") for _ in range(3)] for room in range(8)]
            for number, room in enumerate(rooms):
                assert [each.server for each in room] == [before[number]] * 3
            for each in [*others, *itertools.chain(*rooms)]:
                each.close()
        with behind_envoy(servers) as (_, stub):
            after = places(stub)
    moved = [new for old, new in zip(before, after) if old != new]
    assert len(moved) <= 1.5 / 4 * GROUPS
    # Few move between the others.
    assert moved.count(1003) >= 0.95 * len(moved)


def test_the_health_check_is_a_grpc_call():
    text = CONFIGURATION.read_text()
    sent = bytes.fromhex(
        "".join(re.findall(r"^  tcp-check send-binary (\w+)$", text, re.MULTILINE))
    )
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    assert sent.startswith(preface)
    rest, kinds = sent[len(preface) :], []
    while rest:
        frame, length = frames.Frame.parse_frame_header(memoryview(rest[:9]))
        frame.parse_body(memoryview(rest[9 : 9 + length]))
        rest = rest[9 + length :]
        kinds.append(frame)
    settings, headers, data = kinds
    assert isinstance(settings, frames.SettingsFrame)
    assert dict(hpack.Decoder().decode(headers.data)) == {
        ":method": "POST",
        ":scheme": "http",
        ":path": "/grpc.health.v1.Health/Check",
        ":authority": "sidelight",
        "content-type": "application/grpc",
        "te": "trailers",
    }
    assert data.data == bytes(5) and "END_STREAM" in data.flags
