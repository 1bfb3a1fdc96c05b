"""Row 3: the memory of sessions, in a memory cgroup."""

import contextlib
import os
import re
import threading
import time
from pathlib import Path


from sidelight_testing import images
from sidelight_testing.contract import service
from sidelight_testing.contract import session as messages
from sidelight_testing.process import resident_bytes
from sidelight_testing.raw import PROCESS, RawPeer, message
from sidelight_testing.server import Server, connect
from sidelight_testing.session import pipeline

from .row import Row, Settings

MIB = 1 << 20
KINDS = ("reads nothing", "never ends a message", "writes without pause")
SESSIONS = 24
WINDOW, MESSAGE, FRAME = 4 * MIB, 4 * MIB, MIB
BOUND = (64 << 10) + 2 * WINDOW + 2 * MESSAGE + 4 * FRAME
LIMIT = SESSIONS * BOUND + 64 * MIB


class MemoryGroup:
    """A memory cgroup below this process's, with a limit; version 1, or 2 if it is delegated."""

    def __init__(self, limit: int) -> None:
        lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
        name = f"sidelight-slo-{os.getpid()}"
        ours = {kind: path.lstrip("/") for _, kind, path in lines}
        if "memory" in ours:
            self.path = Path("/sys/fs/cgroup/memory") / ours["memory"] / name
            self._limit, self._peak = "memory.limit_in_bytes", "memory.max_usage_in_bytes"
        else:
            self.path = Path("/sys/fs/cgroup") / ours.get("", "") / name
            self._limit, self._peak = "memory.max", "memory.peak"
        self.path.mkdir()
        try:
            (self.path / self._limit).write_text(str(limit))
        except OSError:
            self.path.rmdir()
            raise

    def add(self, process_id: int) -> None:
        (self.path / "cgroup.procs").write_text(str(process_id))

    @property
    def peak(self) -> int:
        return int((self.path / self._peak).read_text())

    def remove(self) -> None:
        """Removes the group, after its processes ended."""
        deadline = time.monotonic() + 5
        while True:
            try:
                return self.path.rmdir()
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def memory_of_a_session(settings: Settings) -> Row:
    seconds = settings.either(5, 20)
    group, why = None, ""
    options = ["--max-message-bytes", str(MESSAGE)]
    try:
        with contextlib.ExitStack() as stack:
            server = stack.enter_context(Server(*options))
            try:
                group = MemoryGroup(LIMIT)
                group.add(server.process.pid)
            except OSError as error:
                why = f"resident memory, because memory cgroups are not available here ({error.strerror})"
            before = resident_bytes(server.process)
            # The group does not count memory from before the process joined it.
            own = private_bytes(server) if group else 0
            highest = hold(server, seconds)
            lives = server.process.poll() is None
            peak = group.peak + own if group else highest
    finally:
        if group:
            group.remove()
    figure = (
        f"{SESSIONS} sessions, of three kinds ({', '.join(KINDS)}), for {seconds:g} s: "
        f"{before / MIB:.0f} MiB before, {highest / MIB:.0f} at most "
        f"({(highest - before) / SESSIONS / MIB:.1f} a "
        f"session)"
        + (
            f"; {peak / MIB:.0f} MiB by the cgroup, without mapped files"
            if group
            else ""
        )
        + ("" if lives else "; the server ended")
    )
    return Row(
        3,
        "memory per session <= 64 KiB + 2 windows + 2 messages + 4 frames",
        figure,
        f"{BOUND / MIB:.1f} MiB x {SESSIONS} + 64 MiB = {LIMIT / MIB:.0f} MiB",
        lives and peak <= LIMIT,
        "messages and windows of 4 MiB, frames of 1 MiB; "
        + (why or "server in a memory cgroup with that limit"),
    )


def private_bytes(server: Server) -> int:
    """Returns the resident memory without mapped files."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"^RssAnon:\s*(\d+)", status, re.MULTILINE)[1]) << 10


def hold(server: Server, seconds: float) -> int:
    """Runs all sessions for a time. Returns the highest resident memory."""
    done = threading.Event()
    address = server.addresses["tcp"]
    opening = messages.Open(
        pipeline=pipeline("colorInvert"), drop_policy=messages.DROP_POLICY_NEVER_DROP
    )
    opened = messages.ClientMessage(open=opening)
    picture = images.noise("GRAY8", 1024, 1024)

    def frames(interval: float):
        yield opened
        sequence = 0
        while not done.wait(interval):
            sequence += 1
            yield messages.ClientMessage(frame=messages.Frame(sequence=sequence, image=picture))

    highest = 0
    with contextlib.ExitStack() as stack:
        calls = []
        for index in range(SESSIONS):
            if index % 3 == 1:
                peer = stack.enter_context(RawPeer(address))
                peer.call(PROCESS)
                peer.data(message(opened.SerializeToString()))
                # As much of an announced message as the first windows accept.
                peer.data(message(b"\0" * 60_000, length=MESSAGE - 1))
                continue
            channel = stack.enter_context(connect(address))
            interval = 1 / 30 if index % 3 == 0 else 0
            # Neither of the two reads.
            calls.append(service.FrameFilterStub(channel).Process(frames(interval)))
        end = time.monotonic() + seconds
        while time.monotonic() < end and server.process.poll() is None:
            highest = max(highest, resident_bytes(server.process))
            time.sleep(0.05)
        done.set()
        for call in calls:
            call.cancel()
    return highest
