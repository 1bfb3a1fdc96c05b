"""Filters live video with asyncio: a source at 30 frames per second, such as a camera, a look that
changes while it runs, and a display that is never late.

    python live.py 127.0.0.1:50051 --seconds 5

The source draws its pictures itself, so the example needs no camera; replace `camera`.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import AsyncIterator

import sidelight
from sidelight import aio
from sidelight.filters import pixellate, sepia_tone, vignette

WIDTH, HEIGHT, FRAMES_PER_SECOND = 640, 360, 30


async def camera(session: aio.Session, seconds: float) -> AsyncIterator[sidelight.Frame]:
    """Yields a moving gradient, at the pace of a camera."""
    start = time.monotonic()
    for index in range(round(seconds * FRAMES_PER_SECOND)):
        await asyncio.sleep(max(0, start + index / FRAMES_PER_SECOND - time.monotonic()))
        frame = session.frame(WIDTH, HEIGHT, "i420")
        row = bytes((column + 4 * index) % 256 for column in range(WIDTH))
        luma, *chroma = frame.planes
        luma[:] = row * HEIGHT
        for plane in chroma:
            plane[:] = b"\x80" * len(plane)
        frame.capture_time_ns = time.monotonic_ns()
        yield frame


async def send(session: aio.Session, seconds: float) -> None:
    """Sends every frame; if the server is late, a newer frame replaces the one that waits."""
    try:
        async for frame in camera(session, seconds):
            await session.send(frame)
    finally:
        session.finish()


async def change_look(session: aio.Session, seconds: float) -> None:
    """Selects another look in the middle, and moves a slider."""
    await asyncio.sleep(seconds / 2)
    change = session.select([pixellate(scale=8).named("blocks"), vignette()])
    print(f"the new look begins with frame {await change.applied()}")
    for scale in range(8, 40):
        session.update("blocks.scale", scale)
        await asyncio.sleep(1 / FRAMES_PER_SECOND)


async def display(session: aio.Session) -> None:
    """Takes the outcomes, in order."""
    async for outcome in session.outcomes():
        with outcome:
            if isinstance(outcome, sidelight.Dropped):
                print(f"frame {outcome.sequence}: dropped, {outcome.reason.name}")
            else:
                # Show outcome.image here.
                assert outcome.image.width == WIDTH


async def main(address: str, seconds: float) -> None:
    async with aio.connect(address) as server:
        look = [sepia_tone(intensity=0.8), vignette()]
        # A frame that is older than 100 ms is useless.
        async with server.session(look, label="live", budget=0.1) as session:
            look_changes = asyncio.create_task(change_look(session, seconds))
            await asyncio.gather(send(session, seconds), display(session))
            look_changes.cancel()
            counts, latency = session.counts, session.latency
    print(f"{counts.received} frames, {sum(counts.dropped.values())} dropped")
    print(f"round trip: median {latency.p50 * 1000:.1f} ms, p95 {latency.p95 * 1000:.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Filters live video with asyncio.")
    parser.add_argument("address")
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    asyncio.run(main(options.address, options.seconds))
