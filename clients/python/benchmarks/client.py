"""A client of the benchmark round_trip.py: client.py KIND --address ADDRESS --seconds N ...

Keeps one frame in flight. Prints `begin` and `end` around the measured time, and then figures as JSON,
as the load of the transport benchmark does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import json
import queue
import sys
import time
from collections.abc import Iterator
from typing import Any, Callable

import grpc

import sidelight
from sidelight import aio
from sidelight.v1 import image_pb2, pipeline_pb2, session_pb2

WIDTH, HEIGHT = 1280, 720
PICTURE = bytes(range(256)) * (WIDTH * HEIGHT * 3 // 2 // 256)
METHOD = "/sidelight.v1.FrameFilter/Process"
# The default limit of a message is 4 MiB.
LIMITS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
COUNTED_FRAMES = 50


class Clock:
    """The round trips of the measured time."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._times: list[float] = []
        self._copied = 0

    def turns(self) -> Iterator[None]:
        """Yields once for every frame to send."""
        if self._options.count_copies:
            yield from self._counted_turns()
            return
        for seconds in (self._options.warm_up, self._options.seconds):
            is_measured = bool(self._times)
            self._times.clear()
            if is_measured:
                print("begin", flush=True)
            end = time.monotonic() + seconds
            while (begin := time.monotonic()) < end:
                yield
                self._times.append(time.monotonic() - begin)
        print("end", flush=True)

    def _counted_turns(self) -> Iterator[None]:
        copied = ctypes.CDLL(None).copied_bytes
        copied.restype = ctypes.c_ulonglong
        for _ in range(COUNTED_FRAMES):
            yield
        before = copied()
        for _ in range(COUNTED_FRAMES):
            yield
        self._copied = copied() - before

    def finish(self) -> None:
        """Prints the figures, and waits until the reader has sampled this process."""
        times = sorted(self._times) or [0.0]
        figures = {
            "frames": len(self._times),
            "p50_us": times[(len(times) - 1) // 2] * 1e6,
            "p95_us": times[int((len(times) - 1) * 0.95)] * 1e6,
            "copies": self._copied / COUNTED_FRAMES / len(PICTURE),
        }
        print(json.dumps(figures), flush=True)
        sys.stdin.read()


def pipeline(options: argparse.Namespace) -> list[sidelight.Stage]:
    return [sidelight.Stage("vintage")] if options.work == "vintage" else []


def check(outcome: Any) -> None:
    """Reads a byte of the picture, as a client that uses it does."""
    if isinstance(outcome, sidelight.Dropped):
        sys.exit(f"a frame was dropped: {outcome}")
    assert len(outcome.image.data) == len(PICTURE)


def frames_of(session: Any) -> Callable[[], Any]:
    """Returns what is sent: the picture inline, or slots that hold the picture before they are sent.

    In both cases the picture is where it is sent from before the round trip begins.
    """
    if not session.uses_shared_memory:
        image = sidelight.Image("i420", WIDTH, HEIGHT, PICTURE)
        return lambda: image
    prepared = [session.frame(WIDTH, HEIGHT, "i420") for _ in range(2)]
    for frame in prepared:
        frame.image.data[:] = PICTURE
    turn = iter(range(sys.maxsize))
    return lambda: prepared[next(turn) % 2]


def session_options(options: argparse.Namespace) -> dict[str, Any]:
    shared = "auto" if options.shared_memory else False
    return {"drop_policy": "never_drop", "shared_memory": shared}


def sync(options: argparse.Namespace, clock: Clock) -> None:
    """This package, synchronous."""
    with sidelight.connect(options.address) as server:
        with server.session(pipeline(options), **session_options(options)) as session:
            assert session.uses_shared_memory == options.shared_memory
            frame = frames_of(session)
            for _ in clock.turns():
                with session.filter(frame()) as outcome:
                    check(outcome)
            clock.finish()


def asynchronous(options: argparse.Namespace, clock: Clock) -> None:
    """This package, asyncio."""

    async def run() -> None:
        async with aio.connect(options.address) as server:
            async with server.session(pipeline(options), **session_options(options)) as session:
                assert session.uses_shared_memory == options.shared_memory
                frame = frames_of(session)
                for _ in clock.turns():
                    with await session.filter(frame()) as outcome:
                        check(outcome)
                clock.finish()

    asyncio.run(run())


def opening(options: argparse.Namespace) -> session_pb2.ClientMessage:
    names = [stage.content for stage in pipeline(options)]
    stages = [pipeline_pb2.Stage(filter=pipeline_pb2.Filter(name=name)) for name in names]
    return session_pb2.ClientMessage(
        open=session_pb2.Open(
            pipeline=pipeline_pb2.Pipeline(stages=stages),
            drop_policy=session_pb2.DROP_POLICY_NEVER_DROP,
        )
    )


def message(sequence: int) -> session_pb2.ClientMessage:
    image = image_pb2.Image(
        format=image_pb2.PIXEL_FORMAT_I420, width=WIDTH, height=HEIGHT, inline=PICTURE
    )
    return session_pb2.ClientMessage(frame=session_pb2.Frame(sequence=sequence, image=image))


def method(channel: Any) -> Callable[..., Any]:
    """The method, as generated code opens it."""
    opened: Callable[..., Any] = channel.stream_stream(
        METHOD,
        request_serializer=session_pb2.ClientMessage.SerializeToString,
        response_deserializer=session_pb2.ServerMessage.FromString,
    )
    return opened


def by_hand_sync(options: argparse.Namespace, clock: Clock) -> None:
    """Generated messages and a queue."""
    requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
    with grpc.insecure_channel(options.address, LIMITS) as channel:
        answers = method(channel)(iter(requests.get, None))
        requests.put(opening(options))
        assert next(answers).HasField("opened")
        sequence = 0
        for _ in clock.turns():
            sequence += 1
            requests.put(message(sequence))
            while not (answer := next(answers)).HasField("frame"):
                pass
            assert len(answer.frame.image.inline) == len(PICTURE)
        clock.finish()
        requests.put(None)


def by_hand_aio(options: argparse.Namespace, clock: Clock) -> None:
    """Generated messages and the streams of grpc.aio."""

    async def run() -> None:
        async with grpc.aio.insecure_channel(options.address, LIMITS) as channel:
            call = method(channel)()
            await call.write(opening(options))
            assert (await call.read()).HasField("opened")
            sequence = 0
            for _ in clock.turns():
                sequence += 1
                await call.write(message(sequence))
                while not (answer := await call.read()).HasField("frame"):
                    pass
                assert len(answer.frame.image.inline) == len(PICTURE)
            clock.finish()

    asyncio.run(run())


CLIENTS = {
    "sync": sync,
    "aio": asynchronous,
    "hand_sync": by_hand_sync,
    "hand_aio": by_hand_aio,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="A client of round_trip.py.")
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("--address", required=True)
    parser.add_argument("--work", choices=("none", "vintage"), default="vintage")
    parser.add_argument("--warm-up", type=float, default=0.5)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--shared-memory", default="")
    parser.add_argument("--count-copies", default="")
    options = parser.parse_args()
    options.shared_memory = options.shared_memory == "yes"
    with contextlib.suppress(KeyboardInterrupt):
        CLIENTS[options.client](options, Clock(options))


if __name__ == "__main__":
    main()
