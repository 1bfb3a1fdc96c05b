"""The stress test: many sessions run while every attack of the tests is repeated.

    `dev/stress [--sessions 100] [--minutes 10] [--rate 5] [--json FILE]`

Fails if the server ends, if a session loses a frame, or if 30 seconds afterwards the server's memory
is more than 20 % above the baseline. The baseline is measured while the sessions run and after each
attack was made a few times, because the allocator keeps memory that it once needed.
"""

import argparse
import itertools
import json
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from attacks import Attacker
from sidelight_testing.load import Load
from sidelight_testing.process import resident_bytes
from sidelight_testing.server import Server

REST_SECONDS = 30
WARM_UP_ROUNDS = 3
MOST_OF_BASELINE = 1.2


@dataclass
class Siege:
    """The result."""

    sessions: int
    seconds: float
    kinds: int
    attacks: int = 0
    frames: int = 0
    baseline_bytes: int = 0
    highest_bytes: int = 0
    after_bytes: int = 0
    failures: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.sessions} sessions, {self.frames} frames, {self.attacks} attacks of "
            f"{self.kinds} kinds in {self.seconds:.0f} s; resident memory "
            f"{self.baseline_bytes >> 20} MiB before, "
            f"{self.highest_bytes >> 20} at most, {self.after_bytes >> 20} "
            f"{REST_SECONDS} s after"
        )


def besiege(server: Server, sessions: int, minutes: float, rate: float) -> Siege:
    """Runs the stress test against a server."""
    address = server.addresses["tcp"]

    def lives() -> bool:
        return server.process.poll() is None

    with Load(address, sessions, rate) as load, Attacker(address) as attacker:
        siege = Siege(sessions, seconds=60 * minutes, kinds=len(attacker.attacks))
        for name in [*attacker.attacks] * WARM_UP_ROUNDS:
            attacker.make(name)
        siege.baseline_bytes = siege.highest_bytes = resident_bytes(server.process)
        end = time.monotonic() + siege.seconds
        for name in itertools.cycle(attacker.attacks):
            if not lives() or time.monotonic() > end:
                break
            attacker.make(name)
            siege.attacks += 1
            siege.highest_bytes = max(siege.highest_bytes, resident_bytes(server.process))
        # The sessions still run, so both measurements have the same load.
        time.sleep(REST_SECONDS if lives() else 0)
        siege.after_bytes = resident_bytes(server.process) if lives() else 0
        ended = load.finish()
    siege.frames = ended["came"]
    siege.failures += [f"a session: {each}" for each in ended["trouble"]]
    if ended["came"] != ended["sent"]:
        siege.failures.append(f"{ended['sent']} frames were sent, {ended['came']} returned")
    if siege.attacks < siege.kinds:
        siege.failures.append("not every attack was made")
    if not lives():
        siege.failures.append(f"the server ended: {server.log}")
    if siege.after_bytes > MOST_OF_BASELINE * siege.baseline_bytes:
        siege.failures.append("memory was not released")
    return siege


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=5, help="frames a second of each session")
    parser.add_argument("--json", type=Path, help="where the figures are written")
    arguments = parser.parse_args()
    with Server("--shared-memory") as server:
        siege = besiege(server, arguments.sessions, arguments.minutes, arguments.rate)
    print(siege)
    if arguments.json:
        arguments.json.write_text(json.dumps(asdict(siege), indent=2) + "\n")
    for failure in siege.failures:
        print(f"siege: {failure}", file=sys.stderr)
    return 1 if siege.failures else 0


if __name__ == "__main__":
    sys.exit(main())
