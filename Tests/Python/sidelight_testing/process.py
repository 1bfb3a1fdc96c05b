"""The memory and the descriptors that a process holds."""

import os
import time
from pathlib import Path

WAIT_SECONDS = 30


def resident_bytes(process) -> int:
    """Bytes of it that are in memory."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    (line,) = [each for each in status.splitlines() if each.startswith("VmRSS")]
    return int(line.split()[1]) << 10


def wait_for_memory(process, most_bytes: float) -> None:
    """Waits until no more than that of it is in memory; fails when that takes too long."""
    deadline = time.monotonic() + WAIT_SECONDS
    while (resident := resident_bytes(process)) > most_bytes:
        assert time.monotonic() < deadline, f"{resident} bytes are in memory, and not {most_bytes}"
        time.sleep(0.1)


def cpu_seconds(process) -> float:
    """The processor time that it has taken, in user mode and in the kernel."""
    # The name is in parentheses, and may hold spaces.
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def descriptor_count(process) -> int:
    """The descriptors that it has open."""
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
