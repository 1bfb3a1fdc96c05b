"""The stress test: many sessions run while every attack of the tests is repeated.

    `dev/test stress [--sessions 100] [--minutes 10] [--rate 5] [--json FILE]`

Fails if the server ends, if a session loses a frame, or if 30 seconds afterwards the server's
memory is more than 20 % above the baseline. The baseline is measured while the sessions run, and
after every attack has run a few times, because the allocator keeps memory that it once needed.
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
MAX_BASELINE_RATIO = 1.2


@dataclass
class StressTest:
    """The result of a stress test."""

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


def run_stress_test(server: Server, sessions: int, minutes: float, rate: float) -> StressTest:
    """Runs the stress test against a server."""
    address = server.addresses["tcp"]

    def is_running() -> bool:
        return server.process.poll() is None

    attackers = Attacker(address, server.addresses.get("studio"))
    with Load(address, sessions, rate) as load, attackers as attacker:
        result = StressTest(sessions, seconds=60 * minutes, kinds=len(attacker.attacks))
        for name in [*attacker.attacks] * WARM_UP_ROUNDS:
            attacker.run(name)
        result.baseline_bytes = result.highest_bytes = resident_bytes(server.process)
        end = time.monotonic() + result.seconds
        for name in itertools.cycle(attacker.attacks):
            if not is_running() or time.monotonic() > end:
                break
            attacker.run(name)
            result.attacks += 1
            result.highest_bytes = max(result.highest_bytes, resident_bytes(server.process))
        # The sessions still run, so both measurements have the same load.
        time.sleep(REST_SECONDS if is_running() else 0)
        result.after_bytes = resident_bytes(server.process) if is_running() else 0
        ended = load.finish()
    result.frames = ended["came"]
    result.failures += [f"a session: {each}" for each in ended["trouble"]]
    if ended["came"] != ended["sent"]:
        result.failures.append(f"{ended['sent']} frames were sent, {ended['came']} returned")
    if result.attacks < result.kinds:
        result.failures.append("not every attack was made")
    if not is_running():
        result.failures.append(f"the server ended: {server.log}")
    if result.after_bytes > MAX_BASELINE_RATIO * result.baseline_bytes:
        result.failures.append("memory was not released")
    return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rate", type=float, default=5, help="frames per second of each session")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    with Server("--shared-memory", "--studio", "127.0.0.1:0") as server:
        result = run_stress_test(server, arguments.sessions, arguments.minutes, arguments.rate)
    print(result)
    if arguments.json:
        arguments.json.write_text(json.dumps(asdict(result), indent=2) + "\n")
    for failure in result.failures:
        print(f"stress test: {failure}", file=sys.stderr)
    return 1 if result.failures else 0


if __name__ == "__main__":
    sys.exit(main())
