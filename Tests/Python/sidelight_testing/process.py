"""What a process holds."""

from pathlib import Path


def resident_bytes(process) -> int:
    """Bytes of it that are in memory."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    (line,) = [each for each in status.splitlines() if each.startswith("VmRSS")]
    return int(line.split()[1]) << 10


def descriptor_count(process) -> int:
    """The descriptors that it has open."""
    return len(list(Path(f"/proc/{process.pid}/fd").iterdir()))
