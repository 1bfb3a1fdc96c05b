"""Row 11: workers that crash under load."""

import os
import signal
import time

from sidelight_testing.load import Load, percentile
from sidelight_testing.workers import Workers, is_alive

from .row import Row, Settings

SESSIONS, RATE = 8, 30
LIMIT_MS = 100


def workers(settings: Settings) -> Row:
    """Row 11: repeated kill -SEGV of workers."""
    rounds = int(settings.either(3, 20))
    runs = [_run_beside_crash(settings.either(1, 4)) for _ in range(rounds)]
    recovery = {count: sorted(_recovery_ms(count) for _ in range(rounds)) for count in (1, 2)}
    lost = sum(each["lost"] for each in runs)
    faults = sum(each["faults"] for each in runs)
    before, after = (
        sorted(percentile(each[key], 99) for each in runs) for key in ("before", "after")
    )
    delays = _crash_loop()
    return Row(
        11,
        "a trap in a filter ends only its worker's sessions; restart in <= 100 ms; crash loops back off",
        f"2 workers, {rounds} rounds under {SESSIONS} sessions: {lost} sessions lost with the "
        f"crashed worker; the others: {faults} lost, and no frame of "
        f"{sum(len(each['after']) for each in runs):,} frames after the crash; p99 {_summary(before)} before, "
        f"{_summary(after)} after, median of the rounds. A new connection has its first answer {_summary(recovery[2])} after the "
        f"crash, or {_summary(recovery[1])} with a single worker, from its replacement. Crash loop: {delays}",
        f"no session of another worker; {LIMIT_MS} ms",
        not faults and max(recovery[1]) <= LIMIT_MS,
        "`kill -SEGV` of a worker of `sidelight serve --workers`; the times include a new channel and "
        "the first answer of a Python client; `test_workers.py`",
    )


def _summary(times: list[float]) -> str:
    return f"{percentile(times, 50):.1f} ms (max {times[-1]:.1f})"


def _run_beside_crash(seconds: float) -> dict:
    """Sessions of two workers, one of which crashes."""
    with Workers(2) as server, Load(server.addresses["tcp"], SESSIONS, RATE) as load:
        time.sleep(seconds)
        before = load.window()
        victims = server.sessions(0)
        others = server.sessions(1)
        server.end(0)
        server.wait_for("worker serving", 2, worker=0)
        time.sleep(seconds)
        after = load.window()
        trouble = load.finish()["trouble"]
        assert victims + others == SESSIONS
        return {
            "lost": victims,
            # A session that lost a frame, or ended, is in trouble once.
            "faults": abs(len(trouble) - victims),
            "before": before["latencies"],
            "after": after["latencies"],
        }


def _recovery_ms(count: int) -> float:
    """Returns the milliseconds from a worker's end until a new connection has its first answer."""
    with Workers(count) as server:
        assert server.answers()
        pid = server.pids[0]
        start = time.monotonic()
        os.kill(pid, signal.SIGSEGV)
        # A connection that the ending worker accepts does not count.
        while is_alive(pid):
            pass
        server.answers()
        return 1000 * (time.monotonic() - start)


def _crash_loop() -> str:
    """Returns the delays before the restarts in a crash loop."""
    with Workers(1) as server:
        for count in range(1, 6):
            server.end(0)
            server.wait_for("worker serving", count + 1)
        restarts = [each["restart"] for each in server.entries("worker ended")]
        return ", ".join(restarts).replace("seconds", "s")
