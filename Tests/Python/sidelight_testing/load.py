"""Honest clients in a separate process, so neither their work nor Python's lock delays the
code that watches the server or attacks it."""

import asyncio
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Self

import grpc

START_SECONDS = 60
END_SECONDS = 60


class Load:
    """Sessions that send frames at a rate, and count their outcomes.

    Frames are due at fixed times, whatever came of those before (an open loop), and no frame may be
    dropped: a latency is from when a frame was due until it is back.
    """

    def __init__(
        self,
        address: str,
        sessions: int,
        rate: float,
        size: tuple[int, int] = (320, 180),
        filters: list = ("sepiaTone", "vignette"),
    ) -> None:
        """`filters` are names, or pairs of a name and its parameters."""
        self._options = {
            "address": address,
            "sessions": sessions,
            "rate": rate,
            "size": size,
            "filters": list(filters),
        }

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sidelight_testing.load", json.dumps(self._options)],
            cwd=Path(__file__).parents[1],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert self._answer() == "ready", "the load did not start"
        except BaseException:
            self.__exit__()
            raise
        return self

    @property
    def process(self) -> subprocess.Popen:
        """The process that sends the frames."""
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def window(self) -> dict:
        """The events since the last call: `sent`, `came`, `latencies` in milliseconds, rising. And
        the current state: `waiting`, the milliseconds since the oldest frame without an outcome was
        due (0 if there is no such frame), and `trouble`, the sessions that have failed."""
        return self._ask("window")

    def at_rate(self, rate: float) -> None:
        """Changes the rate of every session, in frames per second. Frames that were due before are
        not sent."""
        self._ask(f"rate {rate}")

    def finish(self) -> dict:
        """Ends all sessions gracefully. Returns `sent`, `came`, and `trouble`: every session in
        which a frame has no outcome, more than one, or another than a picture, or which did not
        end well."""
        return self._ask("finish")

    def _ask(self, question: str) -> dict:
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self):
        line = self._process.stdout.readline()
        assert line, "the load ended"
        return json.loads(line)


def percentile(values: list[float], percent: float) -> float:
    """Of rising values; 0 for an empty list."""
    return values[min(len(values) - 1, int(len(values) * percent / 100))] if values else 0


class _Participant:
    """One session, on a separate connection."""

    def __init__(self, options: dict, index: int, log: "_Log") -> None:
        from . import images
        from .contract import service
        from .session import pipeline

        self._channel = grpc.aio.insecure_channel(
            options["address"], [("grpc.use_local_subchannel_pool", 1)]
        )
        self._stub = service.FrameFilterStub(self._channel)
        named = [each if isinstance(each, str) else tuple(each) for each in options["filters"]]
        self._pipeline = pipeline(*named)
        self._picture = images.noise("I420", *options["size"], seed=index + 1)
        self._log = log
        self._due: dict[int, float] = {}
        self._sequence = 0
        self._came = 0
        # Sessions begin in sequence within one interval, as cameras do.
        self._phase = index / options["sessions"]

    async def open(self) -> None:
        from .contract import session as messages

        self._call = self._stub.Process()
        policy = messages.DROP_POLICY_NEVER_DROP
        opening = messages.Open(pipeline=self._pipeline, drop_policy=policy)
        await self._call.write(messages.ClientMessage(open=opening))
        first = await self._call.read()
        assert first is not grpc.aio.EOF and first.WhichOneof("kind") == "opened", first
        # A frame takes one of what was granted, its outcome brings it back.
        self._room = asyncio.Semaphore(first.opened.frames_in_flight)

    def waiting(self) -> float:
        """The seconds since the oldest frame without an outcome was due; 0 without such a frame."""
        return max(0.0, time.monotonic() - min(self._due.values())) if self._due else 0.0

    async def run(self, done: asyncio.Event) -> None:
        reading = asyncio.create_task(self._read())
        try:
            await self._write(done, reading)
            await self._call.done_writing()
            await asyncio.wait_for(reading, END_SECONDS)
            code = await self._call.code()
            assert code == grpc.StatusCode.OK, f"{code}: {await self._call.details()}"
            assert not self._due, f"frames without outcome: {sorted(self._due)[:10]}"
        except BaseException as trouble:
            self._log.trouble.append(repr(trouble))
        finally:
            reading.cancel()
            await self._channel.close()

    async def _write(self, done: asyncio.Event, reading: asyncio.Task) -> None:
        from .contract import session as messages

        rate, due = None, 0.0
        while not done.is_set() and not reading.done():
            if rate != self._log.rate:
                rate = self._log.rate
                due = time.monotonic() + self._phase / rate
            await asyncio.sleep(max(0, due - time.monotonic()))
            # Whatever waits for room here is late, since its time counts from when it was due.
            try:
                await asyncio.wait_for(self._room.acquire(), 1)
            except TimeoutError:
                continue
            self._sequence += 1
            self._due[self._sequence] = due
            self._log.sent += 1
            frame = messages.Frame(sequence=self._sequence, image=self._picture)
            await self._call.write(messages.ClientMessage(frame=frame))
            due += 1 / rate

    async def _read(self) -> None:
        while (message := await self._call.read()) is not grpc.aio.EOF:
            kind = message.WhichOneof("kind")
            assert kind != "dropped", f"dropped: {message.dropped}"
            if kind == "frame":
                sequence = message.frame.sequence
                assert sequence == self._came + 1, f"{sequence} came after {self._came}"
                self._came = sequence
                self._log.note(time.monotonic() - self._due.pop(sequence))
                self._room.release()


class _Log:
    """The records of all sessions."""

    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.trouble: list[str] = []
        self.totals: Counter = Counter()
        self.sent = 0
        self._latencies: list[float] = []

    def note(self, latency: float) -> None:
        self._latencies.append(1000 * latency)

    def window(self) -> dict:
        result = {
            "sent": self.sent,
            "came": len(self._latencies),
            "latencies": [round(each, 3) for each in sorted(self._latencies)],
        }
        self.totals.update(sent=self.sent, came=len(self._latencies))
        self.sent = 0
        self._latencies = []
        return result


async def _main(options: dict) -> None:
    log, done = _Log(options["rate"]), asyncio.Event()
    participants = [_Participant(options, index, log) for index in range(options["sessions"])]
    for each in participants:
        await asyncio.wait_for(each.open(), START_SECONDS)
    tasks = [asyncio.create_task(each.run(done)) for each in participants]
    print(json.dumps("ready"), flush=True)
    while question := (await asyncio.to_thread(sys.stdin.readline)).split():
        match question:
            case ["window"]:
                waiting = max(each.waiting() for each in participants)
                answer = {**log.window(), "waiting": 1000 * waiting, "trouble": log.trouble}
            case ["rate", rate]:
                log.rate = float(rate)
                answer = {}
            case ["finish"]:
                done.set()
                await asyncio.gather(*tasks)
                log.window()
                answer = {**log.totals, "trouble": log.trouble}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(_main(json.loads(sys.argv[1])))
