"""A program: the Python client streams small frames, and prints a line for each outcome.

Arguments: the address, `sync` or `aio`, and the seconds. A line has the monotonic times of the
capture and of the outcome, and the outcome's kind.
"""

import asyncio
import sys
import threading
import time

import sidelight
from sidelight import Frame, Image, Outcome, aio

FRAME_RATE = 30


def frame() -> Frame:
    return Frame(Image.allocate("i420", 64, 48), capture_time_ns=time.monotonic_ns())


def describe(outcome: Outcome) -> None:
    captured = (outcome.frame.capture_time_ns or 0) * 1e-9
    print(captured, time.monotonic(), type(outcome).__name__, flush=True)


def stream(address: str, seconds: float) -> None:
    start = time.monotonic()
    with sidelight.connect(address) as server, server.session("sepiaTone") as session:

        def send() -> None:
            for number in range(int(seconds * FRAME_RATE)):
                time.sleep(max(0, start + number / FRAME_RATE - time.monotonic()))
                session.send(frame())
            session.finish()

        sender = threading.Thread(target=send)
        sender.start()
        for outcome in session.outcomes():
            describe(outcome)
        sender.join()


async def stream_aio(address: str, seconds: float) -> None:
    start = time.monotonic()
    async with aio.connect(address) as server, server.session("sepiaTone") as session:

        async def send() -> None:
            for number in range(int(seconds * FRAME_RATE)):
                await asyncio.sleep(max(0, start + number / FRAME_RATE - time.monotonic()))
                await session.send(frame())
            session.finish()

        sender = asyncio.create_task(send())
        async for outcome in session.outcomes():
            describe(outcome)
        await sender


if __name__ == "__main__":
    address, face, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    if face == "sync":
        stream(address, seconds)
    else:
        asyncio.run(stream_aio(address, seconds))
