"""The machine on which figures were measured."""

import datetime
import os
import platform
import re
import time
from dataclasses import dataclass
from pathlib import Path

from .process import cpu_seconds


@dataclass
class Machine:
    """A machine at a point in time; its text is for reports."""

    date: str
    processor: str
    cores: int
    memory_gib: int
    kernel: str
    load_average: float

    @classmethod
    def now(cls) -> "Machine":
        information = Path("/proc/cpuinfo").read_text()
        model = re.search(r"^model name\s*: (.*)$", information, re.MULTILINE)
        memory = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
        return cls(
            date=datetime.date.today().isoformat(),
            processor=model[1] if model else platform.machine(),
            cores=os.cpu_count() or 0,
            memory_gib=int(memory[1]) >> 20,
            kernel=platform.release(),
            load_average=os.getloadavg()[0],
        )

    def __str__(self) -> str:
        return (
            f"{self.date}, {self.processor}, {self.cores} cores, {self.memory_gib} GiB, Linux "
            f"{self.kernel}; load average before the run: {self.load_average:.2f}"
            + (", with other work on the machine." if self.load_average > 0.5 * self.cores else ".")
        )


class OtherWork:
    """The processor time that work outside a test takes: other processes, and other machines of the
    host ("steal")."""

    def __init__(self, *processes) -> None:
        """`processes` are the test's own, with a `pid`; the calling process is one too."""
        self._own = [*processes, _Self()]
        self._last = self._now()

    def processors(self) -> float:
        """The processors that were busy with other work since the last call, as a mean."""
        now, last = self._now(), self._last
        self._last = now
        return max(0.0, (now[1] - last[1]) / (now[0] - last[0])) if now[0] > last[0] else 0.0

    def _now(self) -> tuple[float, float]:
        user, nice, system, _, _, irq, soft, steal = map(
            int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
        )
        busy = (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK")
        return time.monotonic(), busy - sum(map(cpu_seconds, self._own))


class _Self:
    pid = os.getpid()
