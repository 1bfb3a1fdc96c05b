"""Calls that come and go, and the memory and the descriptors of the servers meanwhile."""

import math
import time
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from calltesting.browser import Browser
from calltesting.camera import Camera
from calltesting.devtools import DevTools
from calltesting.participant import Participant
from calltesting.programs import CALL_SERVER, CallServer, Sidelight
from sidelight_testing.process import descriptor_count, resident_bytes

# The pipelines that the participants select in turn.
PIPELINES = ["sepiaTone", "gaussianBlur(radius: 8), vignette", "pixellate", "colorInvert"]
FRAMES_PER_CALL = 60
# The part of the time in which caches fill; the slope is measured after it.
WARM_UP = 0.2
MOST_MIB_PER_HOUR = {"Sidelight": 2.0, "call server": 16.0}
MOST_DESCRIPTORS = 4


@dataclass
class Program:
    """The samples of a program: after every call, when all rooms are empty."""

    times: list[float] = field(default_factory=list)
    resident_mib: list[float] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)

    @property
    def slope(self) -> tuple[float, float]:
        """The slope of the memory by least squares in MiB an hour, and its standard error."""
        first = sum(each < WARM_UP * self.times[-1] for each in self.times)
        times = np.asarray(self.times[first:])
        memory = np.asarray(self.resident_mib[first:])
        x, y = times - times.mean(), memory - memory.mean()
        if len(x) < 3:
            return 0.0, math.inf
        found = (x @ y) / (x @ x)
        residual = y - found * x
        error = math.sqrt(residual @ residual / (len(x) - 2) / (x @ x))
        return 3600 * float(found), 3600 * error

    @property
    def new_descriptors(self) -> int:
        """The descriptors that were opened after the warm-up and not closed: the minimum in the
        last quarter of the calls minus the minimum in the first. Python closes some later."""
        first = sum(each < WARM_UP * self.times[-1] for each in self.times)
        some = max(1, (len(self.times) - first) // 4)
        before, after = self.descriptors[first : first + some], self.descriptors[-some:]
        return min(after) - min(before)


@dataclass
class Soak:
    """The result."""

    minutes: float
    calls: int
    frames: int
    programs: dict[str, Program]

    @property
    def failures(self) -> list[str]:
        """The limits that were exceeded."""
        found = []
        for name, program in self.programs.items():
            slope, error = program.slope
            if math.isinf(error):
                found.append(f"the time is too short for a statement on the memory of {name}")
            if slope - 2 * error > MOST_MIB_PER_HOUR[name]:
                found.append(f"the memory of {name} rises by {slope:.1f} MiB/h")
            if program.new_descriptors > MOST_DESCRIPTORS:
                found.append(f"{name} has {program.new_descriptors} more descriptors")
        return found


def run(minutes: float, camera: Camera) -> Soak:
    """Runs calls of two participants, in sequence, until the time is over."""
    with ExitStack() as stack:
        sidelight = stack.enter_context(Sidelight())
        server = stack.enter_context(CallServer(sidelight.address, program=CALL_SERVER))
        result = Soak(minutes, 0, 0, {"Sidelight": Program(), "call server": Program()})
        devtools = stack.enter_context(Browser(camera))
        begin = time.monotonic()
        while (now := time.monotonic() - begin) < 60 * minutes or result.calls < 3:
            result.frames += _call(devtools, server, result.calls)
            result.calls += 1
            for name, process in (("Sidelight", sidelight), ("call server", server)):
                program = result.programs[name]
                program.times.append(time.monotonic() - begin)
                program.resident_mib.append(resident_bytes(process.process) / (1 << 20))
                program.descriptors.append(descriptor_count(process.process))
            print(
                f"{now:.0f} s, {result.calls} calls: "
                + ", ".join(
                    f"{name} {each.resident_mib[-1]:.1f} MiB, {each.descriptors[-1]} descriptors"
                    for name, each in result.programs.items()
                ),
                flush=True,
            )
        return result


def _call(devtools: DevTools, server: CallServer, number: int) -> int:
    """A call of two participants, of which one leaves with the button and one closes the tab."""
    room = f"soak-{number}"
    ana, ben = (
        Participant(devtools, server.address, name, room=room, frames_per_second=15)
        for name in ("ana", "ben")
    )
    frames = 0
    for index, (viewer, sender) in enumerate(((ana, ben), (ben, ana))):
        viewer.read(sender.name)
        sender.select_and_wait(PIPELINES[(number + index) % len(PIPELINES)])
    for viewer, sender in ((ana, ben), (ben, ana)):
        viewer.wait_for_frames(sender.name, FRAMES_PER_CALL)
        frames += len(viewer.take(sender.name))
    ana.leave()
    ben.wait_until_gone(ana.name, seconds=30)
    ana.page.close()
    ben.page.close()
    return frames
