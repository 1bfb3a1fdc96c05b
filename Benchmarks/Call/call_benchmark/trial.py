"""One call of two participants, measured."""

import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from calltesting.browser import Browser
from calltesting.camera import Camera
from calltesting.custom_filters import CustomFilters
from calltesting.latency import Delays, Sample, delays, percentile
from calltesting.participant import CAMERA, Participant
from calltesting.programs import CALL_SERVER, CallServer, Sidelight
from sidelight_testing.process import cpu_seconds, resident_bytes

BRIDGE_SERVER = Path(__file__).with_name("bridge_server.py")
# The viewer's frames are taken this often, so their number stays small.
PART_SECONDS = 2.0


@dataclass(frozen=True)
class Settings:
    """A call to measure."""

    # `sidelight`, `encoded` if it encodes too, or a bridge of `bridge_server.py`.
    bridge: str
    pipeline: str
    seconds: float
    warm_up_seconds: float
    budget_milliseconds: int = 100
    # Whether the pipeline names a filter of `Examples/CustomFilters`.
    has_custom_filter: bool = False

    @property
    def is_own(self) -> bool:
        """Whether the call server of `Examples/call` is used."""
        return self.bridge in ("sidelight", "encoded")


@dataclass
class Result:
    """The measurements of a call. Times are milliseconds."""

    delays: Delays
    # The delays of each `PART_SECONDS` of the call, in order.
    parts: list[Delays]
    # Of a participant, in the other one's tile.
    frames_per_second: float
    # The 50th and 95th percentile of the frames' time at Sidelight, as the call server measures it.
    share: tuple[float, float] | None
    # Processors in use by every program, as a mean.
    processors: dict[str, float] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    # Of a participant, encoded and sent by the browser.
    sent_per_second: float = 0
    # The growth of the call server's resident memory.
    server_growth_mib: float = 0


@dataclass(frozen=True)
class _Pid:
    """A process by its id."""

    pid: int


def run(settings: Settings, camera: Camera) -> Result:
    """Runs a call of two participants, each of whom sees the other."""
    with ExitStack() as stack:
        sidelight = stack.enter_context(
            CustomFilters() if settings.has_custom_filter else Sidelight()
        )
        program, environment = BRIDGE_SERVER, {"CALL_BRIDGE": settings.bridge}
        if settings.is_own:
            program, environment = CALL_SERVER, {}
        server = stack.enter_context(
            CallServer(
                sidelight.address, "--budget", str(settings.budget_milliseconds),
                *(["--encoded"] if settings.bridge == "encoded" else []),
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
        sent = [each.frames_sent() for each in (ana, ben)]
        resident = resident_bytes(server.process)
        begin = time.monotonic()
        measured = _measure(ana, ben, settings, begin)
        seconds = time.monotonic() - begin
        measured.processors = {
            name: (_cpu(pids()) - before[name]) / seconds for name, pids in processes.items()
        }
        measured.sent_per_second = sum(
            each.frames_sent() - count for each, count in zip((ana, ben), sent, strict=True)
        ) / (2 * seconds)
        measured.server_growth_mib = (resident_bytes(server.process) - resident) / 2**20
        return measured


def _measure(ana: Participant, ben: Participant, settings: Settings, begin: float) -> Result:
    """Takes the frames of both participants until the time is over."""
    directions = ((ana, ben), (ben, ana))
    for viewer, sender in directions:
        viewer.take(sender.name)  # frames of the warm-up
    shot: dict[str, list[Sample]] = {"ana": [], "ben": []}
    parts: list[Delays] = []
    shares: list[tuple[float, float]] = []
    frames = 0
    while len(parts) * PART_SECONDS < settings.seconds:
        end = begin + (len(parts) + 1) * PART_SECONDS
        time.sleep(max(0, end - time.monotonic()))
        part = Delays((), 0)
        for viewer, sender in directions:
            seen = viewer.take(sender.name)
            shot[sender.name] += sender.take(CAMERA)
            frames += len(seen)
            part += delays(shot[sender.name], seen)
        parts.append(part)
        if settings.is_own:
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
