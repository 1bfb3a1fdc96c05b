"""Drills with three servers, proxies and three call servers in network namespaces, and a simulation of
large fleets.

Run it with `make bench PART=fleet`.
"""

import argparse
import base64
import contextlib
import hmac
import os
import re
import signal
import statistics
import struct
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import grpc

import costs
import kubernetes_cluster
import plot
import simulation
import swarm
from fleet import PROXY_PORT, SAMPLE_SECONDS, SERVER_PORT, SESSIONS, Calls, Fleet, create_bridge, gauge
from reporting import table
from sidelight_testing.contract import frame_filter, resume, service, session, sessions, sessions_service
from sidelight_testing.machine import Machine
from sidelight_testing.process import resident_bytes, wait_until
from sidelight_testing.server import Server, connect

Cluster = swarm.Swarm | kubernetes_cluster.Kubernetes
LONG = "Long drills"

# The seconds for which sessions are observed after a drill.
AFTER_SECONDS = 4
# The seconds without etcd, and the sessions of one caller.
AWAY_SECONDS = 10
QUOTA = 60
# Sessions that are placed by `Place` and by the proxy, and groups, of which some have open sessions. The proxy
# follows weights, `Place` is random: with so many its smallest share has a standard deviation of 4 %.
PLACED, PROXIED, GROUPS, ROOMS = 2000, 500, 300, 40
# The seconds after which the load of a session is known.
SETTLED_SECONDS = 5
# The updates of the long drill.
UPDATES = 6
# The load above which a server is hot.
HOT = 0.8
# The pause between two servers of an update; a Deployment waits for longer (`minReadySeconds`).
UPDATE_SECONDS = 2
#: One frame is in flight, since a result returns before the next picture.
IN_FLIGHT = 1
OVERRIDE = "colorInvert"


@dataclass
class Result:
    """What the clients saw of one run."""

    frames: int
    lost: int
    #: The most frames that a session lost.
    lost_by_session: int
    #: The longest time without a result in any session, in seconds.
    gap: float
    moves: int
    moves_by_session: int
    #: The moves that restored the session's state.
    resumed: int
    #: The seconds from the drill's begin to the first result after a move, 99th percentile.
    back: float
    #: Results of sessions under an override that show the picture that was sent.
    unfiltered: int
    #: The seconds from the loss of a connection to the new one, and from a frame to its result.
    reopen: list[float] = field(repr=False)
    round_trips: list[float] = field(repr=False)
    reasons: Counter
    errors: list[str]
    #: What else the drill measured, by its name; more is worse.
    measured: dict[str, float]

    def worse(self, other: "Result") -> "Result":
        """The worst of both."""
        return Result(
            self.frames + other.frames, self.lost + other.lost,
            *(max(getattr(self, name), getattr(other, name)) for name in ("lost_by_session", "gap")),
            self.moves + other.moves, max(self.moves_by_session, other.moves_by_session),
            self.resumed + other.resumed, max(self.back, other.back),
            self.unfiltered + other.unfiltered, self.reopen + other.reopen,
            self.round_trips + other.round_trips, self.reasons + other.reasons,
            self.errors + other.errors,
            {
                name: max(each[name] for each in (self.measured, other.measured) if name in each)
                for name in self.measured | other.measured
            },
        )


@dataclass
class Run:
    """A run of a drill: the fleet, its calls, and what the drill notes."""

    fleet: Fleet
    calls: Calls
    #: The time at which the drill began, after it was prepared.
    began: float
    #: The sessions under an override, and the time since which it is in force.
    overridden: set[str] = field(default_factory=set)
    overridden_at: float = 0.0
    #: What else the drill measured, by its name; more is worse.
    measured: dict[str, float] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def measure_spread(self) -> None:
        counts = [gauge(each, "sidelight_sessions") for each in self.fleet.server_hosts]
        self.measured["times the mean at the hottest"] = round(max(counts) / statistics.mean(counts), 2)


@dataclass
class Drill:
    name: str
    #: The addresses that clients have: `proxies` or `servers`.
    via: str
    perform: Callable[[Run], None]
    allowed: str
    is_met: Callable[[Result], bool]
    #: Options of `Calls`.
    calls: dict = field(default_factory=dict)
    #: Options of `Fleet`.
    fleet: dict = field(default_factory=dict)
    proxies: int = 1
    draws: bool = False
    #: The most runs of a drill that takes minutes.
    most_runs: int = 100


def observe(records: list[dict], run: Run, began: float, ended: float) -> Result:
    gaps, back = [], []
    unfiltered = 0
    for record in records:
        # The last result before the drill begins the first gap.
        times = [at for at, *_ in record["results"] if at >= began - 1] + [ended]
        gaps += [later - earlier for earlier, later in zip(times, times[1:])]
        moved = [at for at, *_ in record["moves"] if at >= began]
        if moved:
            back.append(next((at for at in times if at > moved[-1]), ended) - began)
        if record["label"] in run.overridden:
            # Results that were on their way when the override was answered have arrived.
            unfiltered += sum(
                not is_changed for at, is_changed, _ in record["results"] if at > run.overridden_at + 0.2
            )
    lost = [[reason for at, reason in each["lost"] if at >= began - 1] for each in records]
    moves = [[resumed for at, resumed, _ in each["moves"] if at >= began] for each in records]
    return Result(
        sum(each["sent"] for each in records), sum(map(len, lost)), max(map(len, lost)), max(gaps),
        sum(map(len, moves)), max(map(len, moves)), sum(map(sum, moves)),
        statistics.quantiles(back, n=100)[98] if len(back) > 1 else max(back, default=0.0),
        unfiltered, [away for each in records for at, _, away in each["moves"] if at >= began],
        [trip for each in records for *_, trip in each["results"]],
        Counter(reason for each in lost for reason in each),
        run.errors + [each["error"] for each in records if each["error"]], run.measured,
    )


def new_keys(folder: Path) -> Path:
    """A file with a key that signs resume tokens."""
    path = folder / "keys"
    path.write_text(f"first:{base64.b64encode(os.urandom(32)).decode()}\n")
    return path


def run(drill: Drill, on: Cluster | None) -> tuple[Result, list[list[tuple[float, float]]]]:
    """Runs a drill, and returns what clients saw, and the frames a second of each server by time."""
    with tempfile.TemporaryDirectory(prefix="sidelight-fleet-") as folder:
        keys = new_keys(Path(folder))
        fleet = on.fleet(drill.proxies) if on else Fleet(keys, drill.proxies, **drill.fleet)
        with fleet, Calls(fleet, drill.via, **drill.calls) as calls:
            time.sleep(1)
            at = Run(fleet, calls, time.monotonic())
            try:
                drill.perform(at)
            except Exception as error:  # of any kind: other drills go on
                at.errors.append(f"{type(error).__name__}: {error}")
            began = at.began
            time.sleep(AFTER_SECONDS)
            ended = time.monotonic()
            records = calls.finish()
            for server in fleet.servers:
                if server.process.poll() is None:
                    server.process.send_signal(signal.SIGCONT)
        rates = [
            [
                (later - began, max(0, count - before) / (later - earlier))
                for (earlier, before), (later, count) in zip(each, each[1:])
                # A server that did not answer has no rate.
                if later - earlier < 4 * SAMPLE_SECONDS and -1 <= later - began <= ended - began
            ]
            for each in fleet.samples
        ]
        return observe(records, at, began, ended), rates


# Drills


def nothing(run: Run) -> None:
    pass


def update(run: Run, first: int = 0) -> None:
    for index, server in enumerate(run.fleet.servers[first:], first):
        server.process.terminate()
        assert server.process.wait(timeout=60) == 0, server.log
        run.fleet.servers[index] = run.fleet.start_server(index)
        time.sleep(UPDATE_SECONDS)
        run.fleet.wait_until_balanced()


def update_directly(run: Run) -> None:
    """As `update`, of servers that name others to their sessions when they shut down."""
    update(run)


def drain(run: Run) -> None:
    run.fleet.servers[0].process.terminate()
    run.fleet.servers[0].process.wait(timeout=60)


def kill(run: Run) -> None:
    run.fleet.servers[0].process.kill()


def freeze(run: Run) -> None:
    run.fleet.servers[0].process.send_signal(signal.SIGSTOP)


def cut(run: Run) -> None:
    run.fleet.nodes[0].cut()


def restart_proxies(run: Run) -> None:
    for index, proxy in enumerate(run.fleet.proxies):
        proxy.process.terminate()
        proxy.process.wait(timeout=60)
        run.fleet.proxies[index] = run.fleet.start_proxy(index)
        run.fleet.wait_until_balanced()
        time.sleep(1)


def rotate(run: Run) -> None:
    """Rotates the resume keys; a new session then has a token of the new key."""
    began = time.monotonic()
    key = f"key{os.urandom(4).hex()}"
    new = run.fleet.keys.with_suffix(".new")
    new.write_text(f"{key}:{base64.b64encode(os.urandom(32)).decode()}\n" + run.fleet.keys.read_text())
    new.replace(run.fleet.keys)
    run.fleet.publish_keys()
    for host in run.fleet.server_hosts:
        with grpc.insecure_channel(f"{host}:{SERVER_PORT}") as channel:
            while key.encode() not in resume_token(channel):
                assert time.monotonic() < began + 90, f"{host} does not use the new key"
                time.sleep(0.25)
    run.measured["seconds until in force"] = round(time.monotonic() - began, 1)


def resume_token(channel: grpc.Channel, **options: object) -> bytes:
    """The token of a new session."""
    request = session.ClientMessage(open=session.Open(label="token", **options))
    return next(service.FrameFilterStub(channel).Process(iter([request]), timeout=10)).opened.resume_token


def override(run: Run) -> None:
    """Overrides the sessions of a server, which is then killed."""
    override_sessions(run, run.fleet.servers[0])
    time.sleep(1)
    run.fleet.servers[0].process.kill()


def lose_etcd(run: Run, seconds: float = AWAY_SECONDS) -> None:
    """Overrides sessions of one server before etcd ends, and of another while it is away."""
    override_sessions(run, run.fleet.servers[0])
    run.fleet.etcd.kill()
    override_sessions(run, run.fleet.servers[1])
    time.sleep(seconds)
    run.fleet.etcd.start()
    for server in run.fleet.servers:
        wait_until(lambda: server.log.count("fleet joined") == 2)
        assert server.process.poll() is None, server.log


def update_often(run: Run, minutes: float) -> None:
    """Updates all servers but the first one again and again. The memory is that one's and the proxy's, which stay,
    at the end of an interval."""
    memory = []
    for number in range(UPDATES):
        update(run, first=1)
        time.sleep(max(0, run.began + (number + 1) * minutes * 60 / UPDATES - time.monotonic()))
        processes = [each.process for each in [run.fleet.servers[0], *run.fleet.proxies]]
        memory.append(sum(map(resident_bytes, processes)))
    run.measured["x the first interval's memory in the last"] = round(memory[-1] / memory[0], 2)
    run.measured["MB at most"] = max(memory) >> 20


def move(run: Run, address: str = "") -> None:
    """Moves all sessions of a server. Without an address the proxy chooses: the same server, too."""
    with grpc.insecure_channel(run.fleet.servers[0].addresses["tcp"]) as channel:
        stub = sessions_service.SessionsStub(channel)

        def listed() -> set[str]:
            answer = stub.ListSessions(sessions.ListSessionsRequest(), timeout=60)
            return {each.session_id for each in answer.sessions}

        before = listed()
        for each in before:
            stub.MoveSession(sessions.MoveSessionRequest(session_id=each, address=address), timeout=60)
        # A session that moves has another identifier.
        wait_until(lambda: not before & listed())


def move_directly(run: Run) -> None:
    """Moves all sessions of a server to the next one."""
    move(run, run.fleet.servers[1].addresses["tcp"])
    assert gauge(run.fleet.server_hosts[0], "sidelight_sessions") == 0


def scale_up(run: Run) -> None:
    """Adds a server to two, while more sessions are opened."""
    fleet = run.fleet
    run.calls.open_more()
    fleet.add_server()
    fleet.wait_until_balanced()
    run.measured["seconds until ready"] = round(time.monotonic() - run.began, 1)
    time.sleep(60)
    run.measure_spread()


def rebalance(run: Run) -> None:
    """Adds servers to one, and opens sessions there until it is hot and moves some."""
    server = run.fleet.servers[0]
    for _ in range(20):
        time.sleep(3)
        load = gauge(run.fleet.server_hosts[0], "sidelight_scheduler_load")
        print(f"load {load:.2f}", file=sys.stderr)
        if load > HOT + 0.04:
            break
        run.calls.open_more()
    run.fleet.add_server()
    run.fleet.add_server()
    run.began = time.monotonic()
    wait_until(lambda: "moved to relieve" in server.log)


def resume_other_versions(run: Run) -> None:
    """Resumes sessions by tokens of an older server, which lack the lineage, and of a newer one, which have
    fields that this one does not know."""
    key, _, secret = run.fleet.keys.read_text().strip().partition(":")
    refused = 0
    for index in range(30):
        is_newer = index % 2
        # Field 100, which may come one day.
        more = b"\xa2\x06\x05newer" if is_newer else b""
        with grpc.insecure_channel(run.fleet.servers[0].addresses["tcp"]) as channel:
            token = resume.ResumeToken.FromString(resume_token(channel, pipeline_text=OVERRIDE))
        state = resume.ResumeState.FromString(token.state)
        pipeline = state.pipeline.SerializeToString()
        if not is_newer:
            state.ClearField("lineage")
        token.state = state.SerializeToString() + more
        signed = b"".join(struct.pack("<I", len(name)) + name for name in (key.encode(), b"")) + token.state
        token.signature = hmac.digest(base64.b64decode(secret), signed, "sha256")
        with grpc.insecure_channel(run.fleet.servers[1].addresses["tcp"]) as channel:
            try:
                later = resume_token(channel, resume_token=token.SerializeToString() + more)
            except grpc.RpcError as error:
                print(error, file=sys.stderr)
                refused += 1
                continue
        restored = resume.ResumeState.FromString(resume.ResumeToken.FromString(later).state)
        refused += restored.pipeline.SerializeToString() != pipeline
    run.measured["tokens refused"] = refused


class OpenSessions:
    """Sessions without frames, which stay open until the block ends."""

    def __init__(self) -> None:
        self._closed = threading.Event()
        # A call without a reference is cancelled.
        self._calls: list[grpc.Call] = []

    def __enter__(self) -> "OpenSessions":
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()

    def open(self, channel: grpc.Channel, group: str = "") -> int:
        """Opens a session. Returns the number of its server."""
        call = service.FrameFilterStub(channel).Process(self._messages(), timeout=60, metadata=in_group(group))
        self._calls.append(call)
        return next(call).opened.limits.max_sessions - SESSIONS

    def _messages(self):
        yield session.ClientMessage(open=session.Open(label="open"))
        self._closed.wait()


def in_group(group: str) -> list[tuple[str, str]]:
    return [("sidelight-group", group)] if group else []


def place(run: Run) -> None:
    """Opens sessions by `Place` and through the proxy while the servers have unequal loads, and adds a server."""
    fleet = run.fleet
    time.sleep(SETTLED_SECONDS)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(connect(f"{node.host}:{SERVER_PORT}")) for node in fleet.nodes]
        numbers = {f"{node.host}:{SERVER_PORT}": number for number, node in enumerate(fleet.nodes)}
        # Call servers have connections of their own.
        proxies = [
            stack.enter_context(connect(f"{fleet.proxy_nodes[0].host}:{PROXY_PORT}")) for _ in fleet.call_nodes
        ]

        def placed(server: grpc.Channel, group: str = "") -> list[int]:
            request = frame_filter.PlaceRequest(group=group)
            return [numbers[each] for each in service.FrameFilterStub(server).Place(request, timeout=60).addresses]

        def opened(channel: grpc.Channel, group: str = "") -> int:
            """The number of the server that a session had, which is over."""
            request = session.ClientMessage(open=session.Open(label="placed"))
            call = service.FrameFilterStub(channel).Process(iter([request]), timeout=60, metadata=in_group(group))
            first, *_ = call
            return first.opened.limits.max_sessions - SESSIONS

        def deviation(count: int, choose: Callable[[int], int]) -> float:
            """How far a share of the sessions is from the server's share by the inverse of its load."""
            counts, loads = Counter(), []
            for number in range(count):
                if number % (count // 20) == 0:
                    loads.append([gauge(host, "sidelight_scheduler_load") for host in fleet.server_hosts])
                counts[choose(number)] += 1
            inverse = [1 / statistics.mean(each) for each in zip(*loads)]
            print(f"loads {[round(1 / each, 3) for each in inverse]}, sessions {counts}", file=sys.stderr)
            return max(abs(counts[number] / count / (each / sum(inverse)) - 1) for number, each in enumerate(inverse))

        def groups() -> list[list[int]]:
            """The server of each group, by `Place` of one server and by the proxy."""
            names = [f"room {number}" for number in range(GROUPS)]
            return [[placed(servers[0], each)[0] for each in names], [opened(proxies[0], each) for each in names]]

        wait_until(lambda: {len(placed(each)) for each in servers[:3]} == {3})
        run.measured["% from the inverse of the load"] = round(100 * max(
            deviation(PLACED, lambda number: opened(servers[placed(servers[number % 3])[0]])),
            deviation(PROXIED, lambda number: opened(proxies[number % 3])),
        ), 1)
        before = groups()
        split = sum(
            {placed(each, f"room {number}")[0] for each in servers[:3]} != {first}
            for number, first in enumerate(before[0])
        )
        with OpenSessions() as rooms:
            # The bound on the sessions of a server would split groups while there are few.
            for number in range(ROOMS):
                rooms.open(proxies[number % 3], f"other room {number}")
            split += sum(
                {rooms.open(each, f"room {number}") for each in proxies} != {before[1][number]}
                for number in range(ROOMS)
            )
        run.measured["groups split"] = split
        fleet.add_server()
        fleet.wait_until_balanced()
        wait_until(lambda: {len(placed(each)) for each in servers} == {4})
        run.measured["x 1/4 of the groups moved to a fourth server"] = round(max(
            sum(one != other for one, other in zip(*each)) / GROUPS * 4 for each in zip(before, groups())), 2)


def exceed_quota(run: Run) -> None:
    """Opens twice the sessions of a caller's quota, at all servers at the same time."""

    def is_admitted(channel: grpc.Channel) -> bool:
        try:
            return opened.open(channel) >= 0
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, error
            return False

    with contextlib.ExitStack() as stack:
        channels = [
            stack.enter_context(grpc.insecure_channel(each.addresses["tcp"])) for each in run.fleet.servers
        ]
        opened = stack.enter_context(OpenSessions())
        pool = stack.enter_context(ThreadPoolExecutor(2 * QUOTA))
        run.measured[f"sessions of {QUOTA}"] = sum(pool.map(is_admitted, 2 * QUOTA // len(channels) * channels))


def override_sessions(run: Run, server: Server) -> None:
    with grpc.insecure_channel(server.addresses["tcp"]) as channel:
        stub = sessions_service.SessionsStub(channel)
        for each in stub.ListSessions(sessions.ListSessionsRequest(), timeout=60).sessions:
            request = sessions.OverrideSessionRequest(
                session_id=each.session_id, pipeline_text=OVERRIDE, reason="drill")
            request.time_to_live.seconds = 3600
            stub.OverrideSession(request, timeout=60)
            run.overridden.add(each.label)
    assert run.overridden, "the server has no session"
    run.overridden_at = time.monotonic()


def within(
    *, session: int | None = None, gap: float | None = None, share: float | None = None, moves: bool = False
):
    """A limit on lost frames of a session, the longest gap, and the share of lost frames; and whether sessions
    must move."""
    return lambda result: (
        not result.errors
        and (not moves or result.moves > 0)
        and (session is None or result.lost_by_session <= session)
        and (gap is None or result.gap <= gap)
        and (share is None or result.lost <= share * result.frames)
    )


# About 2 ms a frame.
HEAVY = ", ".join(["gaussianBlur(radius: 4)"] * 12)
LIGHT = {"sessions": 600, "frame_rate": 1, "size": (64, 36)}
KILLED = "frames in flight + 2, gap .3 s"
UPDATED = ".1 % lost, 2 frames and 2 moves a session, gap .2 s"


def is_updated(result: Result) -> bool:
    return result.moves_by_session <= 2 and within(session=2, gap=0.2, share=0.001)(result)


def is_moved(result: Result) -> bool:
    return within(session=0)(result) and 0 < result.moves == result.resumed


DRILLS = [
    Drill("nothing", "proxies", nothing, "0 frames", within(session=0)),
    Drill("rolling update", "proxies", update, UPDATED, is_updated, draws=True),
    Drill("rolling update, direct", "servers", update_directly, UPDATED, is_updated, fleet={"rebalances": "direct"}),
    Drill("drain", "proxies", drain, "0 frames", within(session=0, moves=True)),
    Drill("drain, direct", "servers", drain, "0 frames", within(session=0, moves=True)),
    Drill("`kill -9`", "proxies", kill, KILLED, within(session=IN_FLIGHT + 2, gap=0.3, moves=True), draws=True),
    Drill("`kill -9`, direct", "servers", kill, KILLED, within(session=IN_FLIGHT + 2, gap=0.3, moves=True)),
    Drill("`MoveSession`", "proxies", move, "0 frames", is_moved),
    Drill("`MoveSession`, direct", "servers", move_directly, "0 frames", is_moved),
    Drill("rebalancing", "proxies", rebalance, "0 frames by moves",
          lambda result: within(share=0.05)(result) and result.reasons.keys() <= {"SUPERSEDED"}
          and 0 < result.moves == result.resumed and max(result.reopen) == 0,
          {"sessions": 6, "pipeline": HEAVY, "more": 3}, {"started": 1, "rebalances": "proxy"}, most_runs=3),
    Drill("scale-up under load", "proxies", scale_up, "ready in 30 s, hottest to mean 1.3 after 60 s",
          lambda result: not result.errors and result.measured["seconds until ready"] <= 30
          and result.measured["times the mean at the hottest"] <= 1.3,
          {"sessions": 24, "pipeline": HEAVY, "frame_rate": 8, "more": 12, "interval": 4},
          {"started": 2, "rebalances": "proxy"}, most_runs=3),
    Drill("placement", "servers", place, "15 % from inverse load, no group split, 1.5/N of the groups move",
          lambda result: not result.errors and result.measured["% from the inverse of the load"] <= 15
          and result.measured["groups split"] == 0
          and result.measured["x 1/4 of the groups moved to a fourth server"] <= 1.5,
          {"pipeline": HEAVY, "frame_rate": 8, "by_server": (5, 10, 15)}, {"servers": 4, "started": 3, "rebalances": "proxy"}),
    Drill("frozen", "proxies", freeze, "gap 2.5 s", within(gap=2.5, moves=True), draws=True),
    Drill("frozen, direct", "servers", freeze, "gap 3 s", within(gap=3, moves=True)),
    Drill("cut off", "proxies", cut, "gap 2.5 s", within(gap=2.5, moves=True)),
    Drill("cut off, direct", "servers", cut, "gap 3 s", within(gap=3, moves=True)),
    Drill("one of three dies, 600 light sessions", "proxies", kill, "all back, p99 3 s",
          lambda result: not result.errors and result.moves > 0 and result.back <= 3, LIGHT),
    Drill("proxies restarted in turn", "proxies", restart_proxies, "gap .5 s", within(gap=0.5), proxies=2),
    Drill("resume keys rotated", "proxies", rotate, "0 frames, in force in 60 s",
          lambda result: within(session=0)(result) and result.measured["seconds until in force"] <= 60),
    Drill("token of the same version", "proxies", kill, "100 % resume",
          lambda result: 0 < result.moves == result.resumed),
    Drill("tokens of versions N - 1 and N + 1", "proxies", resume_other_versions, "100 % resume",
          lambda result: not result.errors and result.measured["tokens refused"] == 0),
    Drill("override in force, its server killed", "proxies", override, "0 unfiltered frames",
          lambda result: result.moves > 0 and result.unfiltered == 0,
          {"pipeline": None, "fallback": "pass_through"}),
    Drill("etcd down for 10 s", "proxies", lose_etcd, "0 frames, 0 unfiltered",
          lambda result: within(session=0)(result) and result.moves == result.unfiltered == 0,
          {"pipeline": None, "fallback": "pass_through"}, {"shares_state": True}),
    Drill("quota of a caller", "servers", exceed_quota, "overshoot 10 %",
          lambda result: within(session=0)(result) and 0 < result.measured[f"sessions of {QUOTA}"] <= 1.1 * QUOTA,
          fleet={"shares_state": True, "sessions_per_caller": QUOTA}),
]
SCALE_DOWN = Drill(
    "scale-down", "proxies", kubernetes_cluster.scale_down, "0 frames", within(session=0, moves=True))
# The drills that clusters perform, with the same limits.
PERFORMED = {
    "swarm": {
        nothing: nothing, update: swarm.update, drain: swarm.drain, kill: swarm.kill, cut: cut,
        freeze: swarm.freeze, update_directly: swarm.update_directly,
    },
    "kubernetes": {
        nothing: nothing, update: kubernetes_cluster.update, drain: kubernetes_cluster.drain,
        kill: kubernetes_cluster.kill, cut: cut, rotate: rotate, scale_up: kubernetes_cluster.scale_up,
        freeze: kubernetes_cluster.freeze, SCALE_DOWN.perform: SCALE_DOWN.perform,
        update_directly: kubernetes_cluster.update_directly,
    },
}
LEFT_OUT = """\
For placement, three servers with one thread for filters have 5, 10 and 15 expensive sessions at 8 frames a second;
`Place` and Envoy give them others. In the direct update, servers name others to their sessions (`fleet.rebalance`).
There are no releases yet: tokens of other versions are this version's tokens without their newest field, or with an
unknown one. For rebalancing and scale-up, servers have a thread for filters, and sessions are expensive. A hot server
is late for some frames, up to 5 % of which do not count. The mean counts sessions. `MoveSession` names no address
behind a proxy, which may choose the same server again.
"""


def long_drills(minutes: float) -> list[Drill]:
    etcd = next(each for each in DRILLS if each.perform is lose_etcd)
    return [
        replace(etcd, name=f"etcd down for {minutes / 3:g} minutes",
                perform=lambda run: lose_etcd(run, minutes * 20)),
        Drill(f"{minutes:g} minutes with an update every {minutes / UPDATES:g}", "proxies",
              lambda run: update_often(run, minutes), ".2 % lost, memory flat",
              lambda result: within(share=0.002)(result)
              and result.measured["x the first interval's memory in the last"] <= 1.1),
    ]


def drawing(name: str, rates: list[list[tuple[float, float]]]) -> plot.Panel:
    end = max(at for each in rates for at, _ in each)
    top = max(rate for each in rates for _, rate in each)
    seconds = [-1, 0, *range(2, int(end) + 2, 2)]
    return plot.Panel(
        name,
        plot.Axis([(at, str(at)) for at in seconds], "seconds after the beginning", logarithmic=False),
        plot.Axis([(at, str(at)) for at in range(0, int(top) + 100, 100)], logarithmic=False),
        [plot.Series(f"server {index + 1}", each) for index, each in enumerate(rates) if each],
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--swarm", action="store_true")
    parser.add_argument("--minutes", type=float, metavar="N")
    parser.add_argument("--kubernetes", type=Path, metavar="PROGRAMS")
    parser.add_argument("--only", action="append", default=[], metavar="DRILL")
    parser.add_argument("--runs", type=int, metavar="N")
    arguments = parser.parse_args()
    runs = arguments.runs or (1 if arguments.quick or arguments.minutes else 10)
    kind = "swarm" if arguments.swarm else "kubernetes" if arguments.kubernetes else ""
    # The direct update changes the servers' settings, and is the last.
    known = [
        replace(each, perform=PERFORMED[kind][each.perform], draws=False)
        for each in sorted([*DRILLS, SCALE_DOWN], key=lambda each: each.perform is update_directly)
        if each.perform in PERFORMED[kind]
    ] if kind else long_drills(arguments.minutes) if arguments.minutes else DRILLS
    drills = [
        each for each in known if not arguments.only or any(name in each.name for name in arguments.only)
    ]
    if not drills and (kind or arguments.minutes or "costs" not in arguments.only):
        parser.error(f"no drill has this name; there are: {', '.join(each.name for each in known)}")
    # A run that is terminated ends its servers.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    machine, started = Machine.now(), time.monotonic()
    create_bridge()
    with contextlib.ExitStack() as stack:
        on: Cluster | None = None
        if kind:
            keys = new_keys(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sidelight-fleet-"))))
            on = stack.enter_context(
                swarm.Swarm(keys) if arguments.swarm else kubernetes_cluster.Kubernetes(arguments.kubernetes, keys))
        results, rows, panels, missed = perform(drills, runs, on)
    if kind and not arguments.only:
        put_section(arguments.output / "fleet.md", on.title, f"""\
Written by `make fleet ARGUMENTS=--{kind}`, {machine}
Runs of each drill: {runs}, in {time.monotonic() - started:.0f} s. {on.description}

{rows}""")
    elif arguments.minutes and not arguments.only:
        put_section(arguments.output / "fleet.md", LONG, f"""\
Written by `make fleet ARGUMENTS='--minutes {arguments.minutes:g}'`, {machine}
{"1 run" if runs == 1 else f"{runs} runs"} of each drill, in {time.monotonic() - started:.0f} s.
The memory is the sum of the proxy and one server, which are not updated.

{rows}""")
    elif arguments.only and "costs" not in arguments.only:
        print(rows)
    else:
        with tempfile.TemporaryDirectory(prefix="sidelight-fleet-") as folder:
            spent = costs.rows(new_keys(Path(folder)))
        print(spent)
        if arguments.only:
            print(rows)
        else:
            write(arguments.output, rows, panels, runs, machine, time.monotonic() - started,
                  f"{simulated(results, runs)}\n{cost_section(spent)}")
    if missed:
        sys.exit(f"missed: {', '.join(missed)}")


def perform(
    drills: list[Drill], runs: int, on: Cluster | None
) -> tuple[dict[str, Result], str, list[plot.Panel], list[str]]:
    """Runs drills. Returns what clients saw, the table, the timelines, and the drills that missed their limit."""
    lines, panels, missed = [], [], []
    results: dict[str, Result] = {}
    for drill in drills:
        worst = None
        for number in range(min(runs, drill.most_runs)):
            result, rates = run(drill, on)
            print(f"{drill.name}: {result}", file=sys.stderr, flush=True)
            worst = result if worst is None else worst.worse(result)
            if number == 0 and drill.draws:
                panels.append(drawing(drill.name.replace("`", ""), rates))
        results[drill.name] = worst
        if not drill.is_met(worst):
            missed.append(drill.name)
        counts = [(count, reason) for reason, count in worst.reasons.most_common()]
        reasons = ", ".join(f"{value} {name}" for value, name in [
            *counts, *((value, name) for name, value in worst.measured.items()),
            *([(drill.most_runs, "runs")] if drill.most_runs < runs else []),
        ])
        lines.append([
            drill.name if drill.name not in missed else f"**{drill.name}**", drill.allowed, reasons or "-",
            f"{worst.lost} of {worst.frames:,}", str(worst.lost_by_session), f"{worst.gap:.2f}",
            f"{worst.resumed} of {worst.moves}", str(worst.moves_by_session), f"{worst.back:.2f}",
            str(worst.unfiltered),
        ])
        for error in worst.errors[:3]:
            print(f"{drill.name}: {error}", file=sys.stderr)
    header = ["drill", "allowed", "reasons and measures", "lost", "in one session", "gap, s", "resumed", "moves of one",
              "back, p99 s", "unfiltered"]
    return results, table(header, lines, words=3) if lines else "", panels, missed


def simulated(results: dict[str, Result], runs: int) -> str:
    """The section of the simulation: compared with the nodes, and days of large fleets."""
    round_trip = statistics.median(results["nothing"].round_trips)
    measured = {
        drill: simulation.Moves(results[name].reopen, round_trip)
        for drill, name in (("kill", "token of the same version"), ("update", "drain"))
    }
    times = {
        drill: f"{statistics.median(each.reopen) * 1000:.0f} ms" for drill, each in measured.items()
    }
    lines = []
    for name, drill, sessions, frame_rate in (
        ("`kill -9`", "kill", 30, 15), ("rolling update", "update", 30, 15),
        ("one of three dies, 600 light sessions", "kill", 600, 1),
    ):
        real = results[name]
        lost, moved = simulation.nodes(measured[drill], sessions, frame_rate, drill)
        lost_really = real.reasons["DISCONNECTED"] / runs
        lines.append([
            name, f"{real.moves / runs:.1f}", f"{moved:.1f}", f"{lost_really:.1f}", f"{lost:.1f}",
            f"{lost / max(lost_really, 1e-9) - 1:+.0%}",
        ])
    header = ["drill", "moves, nodes", "moves, simulation", "lost, nodes", "lost, simulation", "difference"]
    return f"""\
## Simulation

Events with times of other drills: a session is open again {times["kill"]} after a kill ("token of the same
version") and {times["update"]} after a drain (medians); a result takes {round_trip * 1000:.0f} ms. Lost are the frames
of a run without a connection; other losses are the machine's. The simulation leaves out that clients that
connect at the same time share two processors, as 200 do in the last row.

{table(header, lines)}
A day of 720p30 with a peak of 10,000 sessions of half an hour, a fifth of it at night, on servers with
{simulation.CORES} cores. A stream takes {min(simulation.COSTS):.3f} to {max(simulation.COSTS):.3f} cores
([capacity](capacity.md)), the autoscaler works as in `deploy/kubernetes`, and a pod needs {simulation.POD_SECONDS} s.

{table(simulation.DAY_HEADER, simulation.day_rows(measured['kill']))}"""


def cost_section(rows: str) -> str:
    return f"""\
## Costs

A server and streams of 720p through `{costs.PIPELINE}`: three live sessions of raw pictures or JPEG at
{costs.FRAME_RATE} frames a second, and a video of {costs.SECONDS} s as VP8 at {costs.BIT_RATE.replace('M', ' Mbit/s')}, as
fast as possible. Processor time of the server by frame; an hour at {costs.FRAME_RATE} frames a second.

{rows}"""


def write(
    output: Path, rows: str, panels: list[plot.Panel], runs: int, machine: Machine, seconds: float,
    sections: str,
) -> None:
    if panels:
        (output / "fleet-timeline.svg").write_text(
            plot.svg("Frames by server", "frames a second", panels))
    page = output / "fleet.md"
    others = {title: section(page, title) for title in (LONG, swarm.Swarm.title, kubernetes_cluster.Kubernetes.title)}
    page.write_text(f"""\
# Fleet: servers that come and go

Written by `make bench PART=fleet`, {machine}
{runs} runs of each drill unless its row says otherwise; counts are sums, times and frames of one session the
worst of all runs, which took {seconds:.0f} s together. **Missed** limits are bold. SUPERSEDED frames waited in the client: for a server that froze
or was cut off, and in other rows for this machine's processors.

Three servers, Envoy with `deploy/envoy/envoy.yaml`, and three call servers with the Python client run on
machines of their own: network namespaces on a bridge, which share the processors. 30 sessions of 320x180 at
15 frames a second, so one frame is in flight, and 67 ms of a gap are the frame rate's. Direct means that
clients resolve the names of all servers, with `round_robin`. A frame without a filtered picture is lost.
`resumed` are moves to another server that restored the session's state.

{rows}
{LEFT_OUT}
![Frames by server](fleet-timeline.svg)

{sections}""")
    for title, text in others.items():
        if text:
            put_section(page, title, text.partition("\n")[2].strip())


def section(page: Path, title: str) -> str:
    """A section that another run writes."""
    found = re.search(rf"^## {title}\n.*?(?=^## |\Z)", page.read_text(), re.DOTALL | re.MULTILINE) if (
        page.exists()) else None
    return found[0] if found else ""


def put_section(page: Path, title: str, text: str) -> None:
    """Writes a section into a page, before the simulation."""
    whole = page.read_text() if page.exists() else ""
    if old := section(page, title):
        whole = whole.replace(old, "")
    before, simulated, after = whole.partition("## Simulation\n")
    page.write_text(f"{before.rstrip()}\n\n## {title}\n\n{text.rstrip()}\n\n{simulated}{after}".strip() + "\n")


if __name__ == "__main__":
    main()
