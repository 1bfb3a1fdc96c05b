"""The common part of the peers: work on the frames of a file in sequence.

    peer.py WORK FRAMES INPUT [OUTPUT]

INPUT has I420 frames of 1280x720. The answer is JSON: the processor time of every frame in
milliseconds, of all threads, and its result: the centre of the face (`null` if none is found), or
with OUTPUT mattes of 320x180 bytes."""

import json
import os
import sys
import time

import cv2
import numpy as np

WIDTH, HEIGHT = 1280, 720


def frames(path: str, count: int):
    data = np.memmap(path, np.uint8, "r")
    size = WIDTH * HEIGHT * 3 // 2
    for index in range(count):
        yield np.array(data[index * size:(index + 1) * size]).reshape(HEIGHT * 3 // 2, WIDTH)


def serve(works: dict, version: str) -> None:
    """Answers requests on standard input: `hello`, or `run WORK FRAMES INPUT OUTPUT`."""
    # Libraries print to standard output too.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        words = line.split()
        if words[0] == "hello":
            print(version, file=answers, flush=True)
            continue
        work, count, path, output = words[1], int(words[2]), words[3], words[4]
        if work not in works:
            print("skip", file=answers, flush=True)
            continue
        run = works[work]()
        times, results = [], []
        for frame in frames(path, count):
            start = time.process_time_ns()
            result = run(frame)
            times.append((time.process_time_ns() - start) / 1e6)
            results.append(result)
        if output != "-":
            np.stack([
                np.round(255 * np.clip(cv2.resize(matte, (320, 180)), 0, 1)) for matte in results
            ]).astype(np.uint8).tofile(output)
        results = [None if isinstance(result, np.ndarray) else result for result in results]
        print(json.dumps({"frame": times, "results": results}), file=answers, flush=True)
