"""A simulation of fleets by events: sessions that open, end and move, servers that end, start and scale.

`python simulation.py` prints the tables for the figures of the last report; `bench.py` gives it those that it
measured. Frames are not simulated one by one: a move costs the frames that are in flight, and those whose time
comes before the session is open again.
"""

import heapq
import itertools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field

# The part of a core that a stream of 720p I420 at 30 frames a second takes over TCP (Results/capacity.md):
# passed through, `vintage`, `gaussianBlur` 10. A session has one of these.
COSTS = (0.040, 0.049, 0.062)
MEAN_COST = sum(COSTS) / len(COSTS)
FRAME_RATE = 30
CORES = 4
# deploy/kubernetes/sidelight.yaml: the autoscaler's target, its pauses, and the time of a pod's update.
TARGET_LOAD = 0.6
SCALE_UP_SECONDS, SCALE_DOWN_SECONDS, SCALE_DOWN_WINDOW = 15, 60, 600
# From the decision to a pod that has sessions: 20 s in a real cluster, with an image that is there.
POD_SECONDS = 20
SESSION_SECONDS = 1800
DAY = 86_400


@dataclass
class Moves:
    """The figures of a move that were measured."""

    #: The seconds from the loss of a connection to the new one.
    reopen: list[float]
    #: The seconds from a frame to its result.
    round_trip: float


@dataclass(eq=False)
class Server:
    name: int
    sessions: set[int] = field(default_factory=set)
    is_open: bool = True

    @property
    def load(self) -> float:
        """The work as a part of the processors' time."""
        return sum(COSTS[each % len(COSTS)] for each in self.sessions) / CORES


class Fleet:
    """Servers with sessions; a new session gets the server with the fewest: servers of
    equal capacity and streams of equal cost, for which `deploy/envoy` does about the same."""

    def __init__(self, moves: Moves, frame_rate: float, seed: int = 1) -> None:
        self._moves = moves
        self._frame_rate = frame_rate
        self._random = random.Random(seed)
        self._names = itertools.count()
        self.servers: list[Server] = []
        self.at: dict[int, Server] = {}
        self.lost = 0
        self.moved = 0
        self.moves_by_session: dict[int, int] = {}

    def add(self) -> Server:
        self.servers.append(Server(next(self._names)))
        return self.servers[-1]

    def open(self, session: int) -> None:
        server = min((each for each in self.servers if each.is_open), key=lambda each: len(each.sessions))
        server.sessions.add(session)
        self.at[session] = server

    def close(self, session: int) -> None:
        self.at.pop(session).sessions.discard(session)

    def end(self, server: Server, unnoticed: float = 0.0, is_drain: bool = False) -> None:
        """Ends a server. Its sessions move, after a time in which they notice nothing."""
        server.is_open = False
        self.servers.remove(server)
        for session in list(server.sessions):
            away = unnoticed + self._random.choice(self._moves.reopen)
            # A drain waits for the frames in flight.
            away += 0 if is_drain else self._random.random() * self._moves.round_trip
            phase = self._random.random() / self._frame_rate
            self.lost += max(0, math.ceil((away - phase) * self._frame_rate))
            self.moved += 1
            self.moves_by_session[session] = self.moves_by_session.get(session, 0) + 1
            self.open(session)
        server.sessions.clear()


def nodes(moves: Moves, sessions: int, frame_rate: float, drill: str, runs: int = 100) -> tuple[float, float]:
    """The mean of lost frames and of moves in a drill with three servers."""
    lost = moved = 0
    for seed in range(runs):
        fleet = Fleet(moves, frame_rate, seed)
        for _ in range(3):
            fleet.add()
        for session in range(sessions):
            fleet.open(session)
        if drill == "update":
            for server in list(fleet.servers):
                fleet.end(server, is_drain=True)
                fleet.add()
        else:
            fleet.end(fleet.servers[0])
        lost += fleet.lost
        moved += fleet.moved
    return lost / runs, moved / runs


@dataclass
class Day:
    """The sums of a day."""

    sessions: int = 0
    frames: float = 0.0
    lost_by_moves: int = 0
    #: Frames that overloaded servers drop.
    lost_by_load: float = 0.0
    moves: int = 0
    most_moves: int = 0
    server_hours: float = 0.0
    servers: list[int] = field(default_factory=list)
    hottest_to_mean: list[float] = field(default_factory=list)
    hottest: float = 0.0


def day(moves: Moves, peak: int, updates: int = 0, failures: int = 0, zone_fails: bool = False,
        seed: int = 1) -> Day:
    """A day with a peak of sessions of 720p30, a fifth of it at night.

    - `updates`: Rolling updates, spread over the day, with one more pod than needed.
    - `failures`: Servers that are killed, spread over the day.
    - `zone_fails`: Whether a third of the servers dies at the peak.
    """
    rng = random.Random(seed)
    fleet = Fleet(moves, FRAME_RATE, seed)
    result = Day()
    events: list[tuple[float, int, Callable[[float], None]]] = []
    order = itertools.count()
    sessions = itertools.count()
    wanted_of_late: list[tuple[float, int]] = []
    starting = 0
    last_down = 0.0

    def at(time: float, event: Callable[[float], None]) -> None:
        if time < DAY:
            heapq.heappush(events, (time, next(order), event))

    def demand(time: float) -> float:
        return peak * (0.6 - 0.4 * math.cos(2 * math.pi * time / DAY))

    def arrive(time: float) -> None:
        session = next(sessions)
        fleet.open(session)
        result.sessions += 1
        at(time + rng.expovariate(1 / SESSION_SECONDS), lambda _: fleet.close(session))
        at(time + rng.expovariate(demand(time) / SESSION_SECONDS), arrive)

    def scale(time: float) -> None:
        nonlocal starting, last_down
        loads = [each.load for each in fleet.servers]
        frames = len(fleet.at) * FRAME_RATE * SCALE_UP_SECONDS
        result.frames += frames
        result.lost_by_load += sum(
            (each - 1) * CORES / MEAN_COST * FRAME_RATE * SCALE_UP_SECONDS for each in loads if each > 1)
        result.server_hours += len(loads) * SCALE_UP_SECONDS / 3600
        result.servers.append(len(loads))
        result.hottest_to_mean.append(max(loads) * len(loads) / max(sum(loads), 1e-9))
        result.hottest = max(result.hottest, *loads)
        wanted = max(2, math.ceil(sum(loads) / TARGET_LOAD))
        wanted_of_late.append((time, wanted))
        while wanted_of_late[0][0] < time - SCALE_DOWN_WINDOW:
            wanted_of_late.pop(0)
        missing = wanted - len(loads) - starting
        if missing > 0:
            missing = min(missing, len(loads))
            starting += missing
            for _ in range(missing):
                at(time + POD_SECONDS, start)
        elif max(each for _, each in wanted_of_late) < len(loads) and time - last_down >= SCALE_DOWN_SECONDS:
            last_down = time
            # pod-deletion-cost is not set: any pod.
            fleet.end(rng.choice(fleet.servers), is_drain=True)
        at(time + SCALE_UP_SECONDS, scale)

    def start(_: float) -> None:
        nonlocal starting
        starting -= 1
        fleet.add()

    def update(time: float, left: list[Server] | None = None) -> None:
        left = [each for each in (left or list(fleet.servers)) if each in fleet.servers]
        if not left:
            return
        fleet.add()
        fleet.end(left[0], is_drain=True)
        if left[1:]:
            at(time + POD_SECONDS, lambda now: update(now, left[1:]))

    def fail(time: float, share: float = 0.0) -> None:
        nonlocal starting
        for _ in range(max(1, round(len(fleet.servers) * share))):
            if len(fleet.servers) > 1:
                fleet.end(rng.choice(fleet.servers))
                starting += 1
                at(time + POD_SECONDS, start)

    for _ in range(max(2, math.ceil(demand(0) * MEAN_COST / CORES / TARGET_LOAD))):
        fleet.add()
    for _ in range(round(demand(0))):
        session = next(sessions)
        fleet.open(session)
        at(rng.expovariate(1 / SESSION_SECONDS), lambda _, session=session: fleet.close(session))
        result.sessions += 1
    arrive(0.0)
    scale(0.0)
    for number in range(updates):
        at(DAY * (number + 0.5) / updates, update)
    for number in range(failures):
        at(DAY * (number + 0.5) / failures, fail)
    if zone_fails:
        at(DAY / 2, lambda time: fail(time, 1 / 3))
    while events:
        time, _, event = heapq.heappop(events)
        event(time)
    result.lost_by_moves, result.moves = fleet.lost, fleet.moved
    result.most_moves = max(fleet.moves_by_session.values(), default=0)
    return result


def day_rows(moves: Moves) -> list[list[str]]:
    """A row for each kind of day, for a table with `DAY_HEADER`."""
    rows = []
    for name, options in (
        ("nothing but the curve", {}),
        ("2 updates", {"updates": 2}),
        ("a server an hour dies", {"failures": 24}),
        ("a third dies at the peak", {"zone_fails": True}),
        ("all of it", {"updates": 2, "failures": 24, "zone_fails": True}),
    ):
        found = day(moves, 10_000, **options)
        ratios = sorted(found.hottest_to_mean)
        rows.append([
            name, f"{found.sessions:,}", f"{min(found.servers)} to {max(found.servers)}",
            f"{found.server_hours * CORES / (found.frames / FRAME_RATE / 3600):.3f}",
            f"{found.lost_by_moves / found.frames:.5%}", f"{found.lost_by_load / found.frames:.5%}",
            f"{found.moves / found.sessions:.2f}", str(found.most_moves),
            f"{ratios[len(ratios) // 2]:.2f}, {ratios[-1]:.2f}", f"{found.hottest:.2f}",
        ])
    return rows


DAY_HEADER = [
    "day", "sessions", "servers", "core hours of a session hour", "lost by moves", "lost by load",
    "moves of a session", "at most", "hottest to mean, p50, max", "highest load",
]

if __name__ == "__main__":
    for row in [DAY_HEADER, *day_rows(Moves(reopen=[0.1], round_trip=0.02))]:
        print(" | ".join(row))
