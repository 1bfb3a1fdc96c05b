"""The common part of the peers in Python.

A peer is a process that answers lines on its standard input, one line each:

    hello                          ok NAME AND VERSION
    says KEY                       ok WHAT IT RUNS
    time KEY THREADS RING BUDGET   ok MS MS ...      frames until BUDGET ms are spent, at least two
    result KEY PATH                ok                the result for the picture, written to PATH

or `skip WHY` if it does not support the work. With one thread the figures are processor time of the
process, with more threads the clock. RING is the number of buffers: one is "hot", 24 exceed the caches and
are "cold". The first argument is the folder of the pictures.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import numpy as np

WIDTH, HEIGHT, RING = 1920, 1080, 24
PICTURES = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(".")


def picture(name: str) -> np.ndarray:
    """Returns the picture for the library: BGRA pixels, or the rows of I420 or NV12."""
    data = np.fromfile(PICTURES / f"{name}.raw", np.uint8)
    if name.endswith("bgra"):
        return data.reshape(HEIGHT, WIDTH, 4)
    return data.reshape(HEIGHT * 3 // 2, WIDTH)


@dataclass
class Work:
    """An operation: the input format, a description, and a function from (input, ring slot) to output."""

    format: str
    says: str
    run: Callable


def measure(work: Work, frames: list, threads: int, budget: float) -> list[float]:
    # One thread: processor time, so other work on the machine does not count.
    clock = time.process_time_ns if threads == 1 else time.perf_counter_ns
    kept = [None] * len(frames)
    for slot, frame in enumerate(frames):
        kept[slot] = work.run(frame, slot)
    times, start = [], time.perf_counter()
    while len(times) < 2 or (time.perf_counter() - start) * 1e3 < budget and len(times) < 4000:
        slot = len(times) % len(frames)
        before = clock()
        kept[slot] = work.run(frames[slot], slot)
        times.append((clock() - before) / 1e6)
    return times


def serve(name: str, works: dict[str, Work], set_threads: Callable[[int], None]) -> None:
    frames: dict[str, list] = {}
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "hello":
            print("ok", name, flush=True)
            continue
        work = works.get(words[0])
        if work is None:
            print("skip", flush=True)
        elif verb == "says":
            print("ok", work.says, flush=True)
        elif verb == "time":
            if work.format not in frames:
                frames[work.format] = [picture(work.format).copy() for _ in range(RING)]
            threads, ring, budget = int(words[1]), int(words[2]), float(words[3])
            set_threads(threads)
            times = measure(work, frames[work.format][:ring], threads, budget)
            print("ok", *(f"{ms:.4f}" for ms in times), flush=True)
        elif verb == "result":
            np.asarray(work.run(picture(work.format), 0)).tofile(words[1])
            print("ok", flush=True)
