"""The common part of the peers in Python.

A peer is a process that answers lines on its standard input, one line each:

    hello                          ok NAME AND VERSION
    says KEY                       ok WHAT IT RUNS
    time KEY THREADS RING BUDGET   ok MS MS ...      frames until BUDGET ms are spent, at least two
    result KEY PATH                ok                the result for the picture, written to PATH

or `skip WHY` where it does not know the work. With one thread the figures are the process's processor
time, with more the clock's. RING says over how many buffers it goes: one is "hot",
24 do not fit the caches and are "cold". Pictures lie in the folder that is the first argument.
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
    """The picture as the library takes it: BGRA pixels, or the rows of I420 or NV12."""
    data = np.fromfile(PICTURES / f"{name}.raw", np.uint8)
    if name == "bgra":
        return data.reshape(HEIGHT, WIDTH, 4)
    return data.reshape(HEIGHT * 3 // 2, WIDTH)


@dataclass
class Work:
    """A piece of work: its input's format, what is run, and how (input, ring slot) becomes output."""

    format: str
    says: str
    run: Callable


def measure(work: Work, frames: list, threads: int, budget: float) -> list[float]:
    # One thread by its processor time: what else the machine does is not its own.
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
