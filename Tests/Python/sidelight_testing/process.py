"""The memory, processor time and descriptors of a process, and a wait for what it does."""

import os
import time
from pathlib import Path

WAIT_SECONDS = 60


def wait_until(holds, says=lambda: ""):
    """Waits until a condition is true, and returns its value; fails after a time."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (held := holds()):
        assert time.monotonic() < deadline, f"it took too long: {says()}"
        time.sleep(0.005)
    return held


def resident_bytes(process) -> int:
    """Returns the resident memory of a process in bytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    (line,) = [each for each in status.splitlines() if each.startswith("VmRSS")]
    return int(line.split()[1]) << 10


def wait_for_memory(process, most_bytes: float) -> None:
    """Waits until the resident memory is at most a number of bytes; fails after a time."""
    wait_until(
        lambda: resident_bytes(process) <= most_bytes,
        lambda: f"{resident_bytes(process)} bytes are in memory, and not {most_bytes:.0f}",
    )


def cpu_seconds(process) -> float:
    """Returns the processor time of a process, user and system, in seconds."""
    # The name is in parentheses, and may hold spaces.
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descriptor_count(process) -> int:
    """Returns the number of open descriptors of a process."""
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
