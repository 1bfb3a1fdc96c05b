"""One call of two participants, measured."""

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from calltesting.browser import Browser
from calltesting.camera import Camera
from calltesting.latency import Delays, Sample, delays, percentile
from calltesting.participant import CAMERA, Participant
from calltesting.programs import CALL_SERVER, CallServer, Sidelight
from sidelight_testing.process import cpu_seconds

BRIDGE_SERVER = Path(__file__).with_name("bridge_server.py")
# The viewer's frames are taken this often, so that their number stays small.
TAKE_SECONDS = 2.0


@dataclass(frozen=True)
class Settings:
    """A call to measure."""

    # `sidelight`, or a bridge of `bridge_server.py`.
    bridge: str
    pipeline: str
    seconds: float
    warm_up_seconds: float
    budget_milliseconds: int = 100


@dataclass
class Result:
    """The measurements of a call. Times are milliseconds."""

    delays: Delays
    # The delays of each part of the call, in order.
    parts: list[Delays]
    frames_per_second: float
    # The 50th and 95th percentile of the frames' time at Sidelight, as the call server measures it.
    share: tuple[float, float] | None
    # Processors in use by each program, as a mean.
    processors: dict[str, float] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class _Pid:
    """A process by its id."""

    pid: int


def run(settings: Settings, camera: Camera) -> Result:
    """Runs a call of two participants, each of whom sees the other."""
    with ExitStack() as stack:
        sidelight = stack.enter_context(Sidelight())
        program, environment = BRIDGE_SERVER, {"CALL_BRIDGE": settings.bridge}
        if settings.bridge == "sidelight":
            program, environment = CALL_SERVER, {}
        server = stack.enter_context(
            CallServer(
                sidelight.address, "--budget", str(settings.budget_milliseconds),
                program=program, environment=environment,
            )
        )
        browser = Browser(camera)
        devtools = stack.enter_context(browser)
        ana, ben = (Participant(devtools, server.address, name) for name in ("ana", "ben"))
        for participant, other in ((ana, ben), (ben, ana)):
            participant.read(CAMERA)
            participant.read(other.name)
            if settings.bridge != "newest" and settings.pipeline:
                participant.select(settings.pipeline)
        time.sleep(settings.warm_up_seconds)
        processes = {
            "browser": lambda: browser.process_ids(),
            "call server": lambda: [server.process.pid],
            "Sidelight": lambda: [sidelight.process.pid],
        }
        before = {name: _cpu(pids()) for name, pids in processes.items()}
        begin = time.monotonic()
        measured = _measure(ana, ben, settings, begin)
        seconds = time.monotonic() - begin
        measured.processors = {
            name: (_cpu(pids()) - before[name]) / seconds for name, pids in processes.items()
        }
        return measured


def _measure(ana: Participant, ben: Participant, settings: Settings, begin: float) -> Result:
    """Takes the frames of both participants until the time is over."""
    directions = ((ana, ben), (ben, ana))
    for viewer, sender in directions:
        viewer.take(sender.name)  # those of the warm-up
    shot: dict[str, list[Sample]] = {"ana": [], "ben": []}
    parts: list[Delays] = []
    shares: list[tuple[float, float]] = []
    frames = 0
    while time.monotonic() - begin < settings.seconds:
        time.sleep(TAKE_SECONDS)
        part = Delays((), 0)
        for viewer, sender in directions:
            seen = viewer.take(sender.name)
            shot[sender.name] += sender.take(CAMERA)
            frames += len(seen)
            part += delays(shot[sender.name], seen)
        parts.append(part)
        if settings.bridge == "sidelight":
            shares += [_share(each) for each in (ana, ben)]
    total = sum(parts, Delays((), 0))
    dropped: dict[str, int] = {}
    for participant in (ana, ben):
        for reason, count in participant.statistics().dropped.items():
            dropped[reason] = dropped.get(reason, 0) + int(count)
    return Result(
        delays=total,
        parts=parts,
        frames_per_second=frames / (time.monotonic() - begin) / 2,
        share=_median_share(shares),
        dropped={reason: count for reason, count in dropped.items() if count},
    )


def _share(participant: Participant) -> tuple[float, float]:
    statistics = participant.statistics()
    return statistics["latency-p50"], statistics["latency-p95"]


def _median_share(shares: list[tuple[float, float]]) -> tuple[float, float] | None:
    """The medians of the percentiles that the call server reports for its last frames."""
    if not shares:
        return None
    return tuple(percentile([each[index] for each in shares], 50) for index in (0, 1))


def _cpu(process_ids: list[int]) -> float:
    total = 0.0
    for process_id in process_ids:
        try:
            total += cpu_seconds(_Pid(process_id))
        except OSError:  # the process has ended
            continue
    return total
