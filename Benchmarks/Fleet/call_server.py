"""A call server: sessions of the Python client that send small pictures at an even rate.

    call_server.py '{"address": "servers:50051", "sessions": 10, "frame_rate": 15, ...}'

It prints `ready` once every session has received results. At a line `more SECONDS` on its standard input it
opens the sessions in `more`, at that interval; at an empty line it prints a JSON list with a record of each
session. Times are monotonic, the same in all processes.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

import sidelight
import sidelight.aio


class Call:
    """A session, and what happened in it."""

    def __init__(self, label: str, settings: dict) -> None:
        self.label = label
        self.settings = settings
        self.ready = asyncio.Event()
        self.sent: dict[int, float] = {}
        # The times of results, whether they differ from the picture that was sent, and the seconds since
        # it was sent.
        self.results: list[tuple[float, bool, float]] = []
        # The times at which frames without a result were sent, and the reasons.
        self.lost: list[tuple[float, str]] = []
        # The times of new connections, whether the state was restored, and the seconds without one.
        self.moves: list[tuple[float, bool, float]] = []
        self.lost_at: float | None = None
        self.error = ""

    async def run(self, server: sidelight.aio.Server, offset: float, ended: asyncio.Event) -> None:
        size, file, output = self.settings["size"], self.settings["picture"], None
        if file:
            picture = sidelight.Image("jpeg", *size, Path(file).read_bytes())
            output = sidelight.Output(format="jpeg", jpeg_quality=80)
        else:
            picture = sidelight.Image.allocate("i420", *size)
        try:
            async with server.session(
                self.settings["pipeline"], label=self.label, participant=self.label,
                fallback=self.settings["fallback"], output=output,
            ) as session:
                session.on_event(self.record_event)
                sender = asyncio.create_task(self.send(session, picture, offset, ended))
                async for outcome in session.outcomes():
                    self.record(outcome, picture)
                await sender
        except sidelight.SidelightError as error:
            self.error = f"{type(error).__name__}: {error}"
            self.ready.set()

    async def send(self, session, picture, offset: float, ended: asyncio.Event) -> None:
        try:
            due = time.monotonic() + offset
            while not ended.is_set():
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                now = time.monotonic()
                self.sent[await session.send(picture)] = now
                # A process that was late does not send a burst.
                due = max(due + 1 / self.settings["frame_rate"], now)
        finally:
            session.finish()

    def record(self, outcome: sidelight.Outcome, picture: sidelight.Image) -> None:
        image = None if isinstance(outcome, sidelight.Dropped) else outcome.image
        if image is None:
            self.lost.append((self.sent[outcome.sequence], outcome.reason.name))
        elif outcome.failure is not None:
            self.lost.append((self.sent[outcome.sequence], "FALLBACK"))
        else:
            is_changed = bytes(image.data[:1]) != bytes(picture.data[:1])
            now = time.monotonic()
            self.results.append((now, is_changed, now - self.sent[outcome.sequence]))
            if len(self.results) > self.settings["frame_rate"] / 2:
                self.ready.set()
        outcome.release()

    def record_event(self, event: sidelight.Event) -> None:
        now = time.monotonic()
        is_draining = isinstance(event, sidelight.StateChanged) and (
            event.state is sidelight.SessionState.DRAINING)
        # A session that drains sends no more frames.
        if is_draining or isinstance(event, sidelight.ConnectionLost):
            self.lost_at = now if self.lost_at is None else self.lost_at
        elif isinstance(event, sidelight.Reconnected):
            # A session that moves has both connections for a moment.
            away = 0.0 if self.lost_at is None else now - self.lost_at
            self.moves.append((now, event.resumed, away))
            self.lost_at = None


async def main(settings: dict) -> None:
    options = [("grpc.lb_policy_name", "round_robin")]
    ended = asyncio.Event()
    count, more = settings["sessions"], settings.get("more", 0)
    calls: list[Call] = []
    async with sidelight.aio.connect(settings["address"], options=options) as server:
        period = 1 / settings["frame_rate"]
        tasks = []

        async def open_sessions(number: int, interval: float) -> None:
            for _ in range(number):
                call = Call(f"{settings['name']}-{len(calls)}", settings)
                calls.append(call)
                offset = period * (len(calls) % count) / count
                tasks.append(asyncio.create_task(call.run(server, offset, ended)))
                await asyncio.sleep(interval)

        await open_sessions(count, 0.01)
        await asyncio.gather(*(call.ready.wait() for call in calls))
        print("ready", flush=True)
        while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
            await open_sessions(more, float(line.removeprefix("more ")))
        ended.set()
        await asyncio.gather(*tasks)
    names = ("label", "results", "lost", "moves", "error")
    print(json.dumps([
        {"sent": len(call.sent)} | {name: getattr(call, name) for name in names} for call in calls
    ]), flush=True)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
