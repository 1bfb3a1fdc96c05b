"""Starts the peers and measures rows with all of them in turn, so other work of the machine
affects all of them."""

import os
import statistics
import subprocess
import sys
from dataclasses import dataclass, field

THREADS = os.cpu_count() or 1
COLD = 24
#: The four modes: threads and buffers.
WAYS = [("1", "hot"), ("1", "cold"), ("all", "hot"), ("all", "cold")]
ROUNDS = 7
#: Milliseconds that a peer may spend on a row, in one mode and round.
BUDGET = 60


class Peer:
    """A process that runs work; one per number of threads, if the number is fixed at its start."""

    def __init__(self, name: str, command: list, per_thread_count: bool = False):
        self.name, self.command = name, [str(word) for word in command]
        self.per_thread_count = per_thread_count
        self.processes: dict[str, subprocess.Popen] = {}
        self.version = self.ask("hello")

    def ask(self, line: str, threads: str = "1") -> str | None:
        """Returns the answer; `None` if the peer does not support the request."""
        process = self._process(threads)
        process.stdin.write(line + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.name} ended at: {line}")
        word, _, rest = answer.strip().partition(" ")
        return rest if word == "ok" else None

    def time(self, key: str, threads: str, ring: str) -> list[float]:
        count = THREADS if threads == "all" else 1
        buffers = COLD if ring == "cold" else 1
        answer = self.ask(f"time {key} {count} {buffers} {BUDGET}", threads)
        return [float(word) for word in answer.split()] if answer else []

    def close(self) -> None:
        for process in self.processes.values():
            process.stdin.close()
            process.wait()

    def _process(self, threads: str) -> subprocess.Popen:
        kind = threads if self.per_thread_count else "1"
        if kind not in self.processes:
            # Keep large blocks in the process: a new one costs more than most filters.
            keep = {"MALLOC_MMAP_THRESHOLD_": "1000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000"}
            count = str(THREADS if kind == "all" else 1)
            self.processes[kind] = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                stderr=sys.stderr,
                env=os.environ | keep | {"VIPS_CONCURRENCY": count})
        return self.processes[kind]


@dataclass
class Times:
    """The times of one peer for one row in one mode, ms."""

    all: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.all)

    @property
    def least(self) -> float:
        return min(self.all)


def measure(rows: list, peers: list[Peer], note) -> dict:
    """Returns times by (row key, peer name, threads, ring); measures memcpy together with every row."""
    results: dict[tuple, Times] = {}

    def add(key, peer, threads, ring):
        times = peer.time(key, threads, ring)
        if times:
            results.setdefault((key, peer.name, threads, ring), Times()).all += times

    copies = next((peer for peer in peers if peer.name == "loops"), None)
    for row in rows:
        note(row.title)
        able = [peer for peer in peers if peer.ask(f"says {row.key}")]
        for round in range(ROUNDS):
            for threads, ring in WAYS:
                if copies:
                    add("memcpy", copies, threads, ring)
                for peer in able:
                    known = results.get((row.key, peer.name, threads, "hot"))
                    # Where arithmetic takes ten times as long as memory access, cold equals hot.
                    if ring == "cold" and known and known.median > 10 and peer.name != "ours":
                        continue
                    # Slow rows need fewer repetitions.
                    if round > 3 and known and known.median > 60:
                        continue
                    add(row.key, peer, threads, ring)
    return results
