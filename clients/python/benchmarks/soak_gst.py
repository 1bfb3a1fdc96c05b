"""A soak test of the GStreamer element: memory and descriptors of a client that filters for long.

    python3 benchmarks/soak_gst.py --address unix:/run/sidelight.sock --server-pid PID

Plays `videotestsrc ! sidelightfilter ! fakesink`, changes the pipeline of filters while it plays,
and starts it again every few thousand frames, as calls that come and go. Every sample is a line of
JSON: frames, resident memory and open descriptors of this process and of the server. Ends with
status 1 if the last quarter of the samples exceeds the second one by more than a number of KiB, or
by a descriptor.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from typing import Any, Dict, List, Optional

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

import sidelight.gst

LOOKS = (
    "sepiaTone",
    "colorInvert, vignette",
    "gaussianBlur(radius: 3)",
    "",
    "pixellate(scale: 8), hueAdjust(angle: 1)",
)


def memory_kib(pid: Any) -> int:
    """Returns the resident memory of a process without files and shared memory, in KiB."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def descriptors(pid: Any) -> int:
    """Returns the number of open descriptors of a process."""
    return len(os.listdir(f"/proc/{pid}/fd"))


class Soak:
    """One run: plays pipelines in turn, and samples."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.started = time.monotonic()
        self.frames = 0
        self.dropped = 0
        self.samples: List[Dict[str, float]] = []
        self._changes = 0

    def run(self) -> None:
        """Plays until the frames or the minutes are over."""
        while self._is_within_limits(self.frames):
            self._play()

    def _play(self) -> None:
        options = self.options
        live = f"is-live=true ! {options.caps},framerate={options.fps}/1" if options.fps else "! "
        source = f"videotestsrc num-buffers={options.restart} {live}"
        if not options.fps:
            source += options.caps
        pipeline = Gst.parse_launch(
            f"{source} ! sidelightfilter name=filter ! fakesink sync=false"
        )
        element = pipeline.get_by_name("filter")
        element.set_property("address", options.address)
        element.set_property("budget", options.budget)
        element.set_property("pipeline", LOOKS[0])
        pipeline.set_state(Gst.State.PLAYING)
        wanted = Gst.MessageType.EOS | Gst.MessageType.ERROR | Gst.MessageType.WARNING
        wait = int(options.interval * Gst.SECOND)
        try:
            while True:
                message = pipeline.get_bus().timed_pop_filtered(wait, wanted)
                if message is None:
                    self._changes += 1
                    element.set_property("pipeline", LOOKS[self._changes % len(LOOKS)])
                    self._sample(element)
                elif message.type == Gst.MessageType.EOS:
                    break
                elif message.type == Gst.MessageType.WARNING:
                    raise RuntimeError(message.parse_warning()[0].message)
                else:
                    raise RuntimeError(message.parse_error()[0].message)
                if not self._is_within_limits(self.frames + self._received(element)):
                    break
        finally:
            pipeline.set_state(Gst.State.NULL)
        self._finish(element)

    def _is_within_limits(self, frames: int) -> bool:
        elapsed = time.monotonic() - self.started
        return bool(frames < self.options.frames and elapsed < self.options.minutes * 60)

    @staticmethod
    def _received(element: Any) -> int:
        return int(element.get_property("stats").get_value("received") or 0)

    def _finish(self, element: Any) -> None:
        stats = element.get_property("stats")
        outcomes = ("filtered", "passed-through", "degraded", "dropped")
        total = sum(stats.get_value(name) for name in outcomes)
        if stats.get_value("received") != total:
            raise RuntimeError(f"received is not the sum of outcomes: {stats.to_string()}")
        self.frames += total
        self.dropped += stats.get_value("dropped")
        self._sample(None)

    def _sample(self, element: Optional[Any]) -> None:
        sample: Dict[str, float] = {
            "seconds": round(time.monotonic() - self.started, 1),
            "frames": self.frames + (self._received(element) if element else 0),
            "dropped": self.dropped,
            "memory_kib": memory_kib("self"),
            "descriptors": descriptors("self"),
        }
        if self.options.server_pid:
            sample["server_memory_kib"] = memory_kib(self.options.server_pid)
            sample["server_descriptors"] = descriptors(self.options.server_pid)
        self.samples.append(sample)
        print(json.dumps(sample), flush=True)


def growth(samples: List[Dict[str, float]], key: str) -> float:
    """Returns the difference between the last and the second quarter: of the medians of memory, and
    of the most descriptors, whose number differs between a stream and a pause."""
    quarter = len(samples) // 4
    values = [sample[key] for sample in samples]
    representative = max if key.endswith("descriptors") else statistics.median
    return representative(values[-quarter:]) - representative(values[quarter : 2 * quarter])


def main() -> int:
    """Runs the soak test of the command line."""
    parser = argparse.ArgumentParser(description="Soak test of sidelightfilter")
    parser.add_argument("--address", required=True)
    parser.add_argument("--minutes", type=float, default=60, help="default: 60")
    parser.add_argument("--frames", type=int, default=2**62, help="default: no limit")
    parser.add_argument("--restart", type=int, default=5000, help="frames until a restart")
    parser.add_argument("--interval", type=float, default=2, help="seconds between samples")
    parser.add_argument("--caps", default="video/x-raw,format=I420,width=640,height=360")
    parser.add_argument("--fps", type=int, default=0, help="frame rate; default: unlimited")
    parser.add_argument("--budget", type=int, default=0, help="milliseconds; default: no limit")
    parser.add_argument("--server-pid", type=int, help="also sample this process")
    parser.add_argument("--memory-limit-kib", type=float, default=4096)
    options = parser.parse_args()

    sidelight.gst.register()
    soak = Soak(options)
    soak.run()
    if len(soak.samples) < 8:
        print(f"{len(soak.samples)} samples are too few; raise --minutes", file=sys.stderr)
        return 2
    result = {
        key: growth(soak.samples, key)
        for key in soak.samples[0]
        if key.endswith(("memory_kib", "descriptors"))
    }
    print(json.dumps({"frames": soak.frames, "growth": result}))
    memory = max(result[key] for key in result if key.endswith("memory_kib"))
    opened = max(result[key] for key in result if key.endswith("descriptors"))
    return int(memory > options.memory_limit_kib or opened > 0)


if __name__ == "__main__":
    sys.exit(main())
