"""The machine on which figures were measured."""

import datetime
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path


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
