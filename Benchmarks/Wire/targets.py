"""What was to be reached, as ratios of one run, and whether it was."""

from dataclasses import dataclass, replace

from cells import (CODEC, CPP, FRAMES, HD720, HD1080, HD1080_BGRA, KB1, KB20, KERNEL, GENERATED,
                   MEMORY, OURS, TCP, UHD_BGRA, UNIX, Cell)
from results import Results


@dataclass
class Check:
    name: str
    #: `None`: it could not be measured.
    holds: bool | None
    measured: str
    limit: str

    @property
    def verdict(self) -> str:
        return {True: "ok", False: "**missed**", None: "not measured"}[self.holds]


def checks(results: Results) -> list[Check]:
    """Those of which something was measured."""
    return [*_inline(results), *_unix(results), *_small(results), *_memory(results),
            *_jpeg(results), *_sessions(results)]


def _inline(results: Results):
    for frame in (HD720, HD1080, HD1080_BGRA):
        for in_flight in (1, 4):
            cell = Cell(OURS, TCP, frame, in_flight)
            pair = results.pair(cell, cell.by(CPP))
            if not pair:
                continue
            ours, theirs = pair
            where = f"{frame.name} inline, TCP, {in_flight} in flight"
            yield _at_least(f"{where}: frames/s to C++ gRPC's", ours.fps / theirs.fps, 1.1,
                            f"{ours.fps:.0f} to {theirs.fps:.0f}")
            yield _at_most(
                f"{where}: CPU a frame to C++ gRPC's, both sides", ours.cpu / theirs.cpu, 1,
                f"{ours.cpu:.2f} to {theirs.cpu:.2f} ms")


def _unix(results: Results):
    for in_flight in (1, 4):
        cell = Cell(OURS, UNIX, HD1080_BGRA, in_flight)
        if pair := results.pair(cell, cell.over(TCP)):
            ours, tcp = pair
            yield _at_least(
                f"8.3 MB, Unix socket, {in_flight} in flight: frames/s to our own TCP",
                ours.fps / tcp.fps, 1.2, f"{ours.fps:.0f} to {tcp.fps:.0f}")


def _small(results: Results):
    cell = Cell(OURS, TCP, KB20, 1)
    if pair := results.pair(cell, cell.by(CPP)):
        ours, theirs = pair
        yield _at_least("20 KB, 1 in flight: frames/s to C++ gRPC's", ours.fps / theirs.fps, 0.7,
                        f"{ours.fps:.0f} to {theirs.fps:.0f}")
    if ours := results.of(cell):
        yield Check("20 KB, 1 in flight: p50", ours.p50 <= 0.25, f"{ours.p50:.3f} ms", "<= .25 ms")


def _memory(results: Results):
    inline = Cell(OURS, UNIX, KB1)
    if results.of(inline) and not results.of(Cell(OURS, MEMORY, HD720)):
        yield Check("shared memory", None, "", "p50 <= .3 ms and <= 1.5x that of 1 KB inline, any "
                    "size; >= 10x inline frames/s at 8.3 MB; five stages at 4K <= 1.1x the kernel")
        return
    for frame in [*FRAMES, UHD_BGRA]:
        pair = results.pair(Cell(OURS, MEMORY, frame), inline)
        if not pair:
            continue
        ours, small = pair
        name = f"{frame.name} in shared memory: p50"
        yield Check(name, ours.p50 <= 0.3, f"{ours.p50:.3f} ms", "<= .3 ms")
        yield _at_most(f"{name} to that of 1 KB inline, same address", ours.p50 / small.p50, 1.5,
                       f"{ours.p50:.3f} to {small.p50:.3f} ms")
    for in_flight in (1, 4):
        cell = Cell(OURS, MEMORY, HD1080_BGRA, in_flight)
        if pair := results.pair(cell, cell.over(UNIX)):
            ours, theirs = pair
            yield _at_least(
                f"8.3 MB in shared memory, {in_flight} in flight: frames/s to inline, same address",
                ours.fps / theirs.fps, 10, f"{ours.fps:.0f} to {theirs.fps:.0f}")
    chain = Cell(OURS, MEMORY, UHD_BGRA, work="five")
    if pair := results.pair(chain, replace(chain, peer=KERNEL, transport=None)):
        ours, kernel = pair
        yield _at_most("five stages on 4K BGRA in shared memory: p50 of the round trip to the "
                       "kernel's own time", ours.p50 / kernel.p50, 1.1,
                       f"{ours.p50:.2f} to {kernel.p50:.2f} ms")


def _jpeg(results: Results):
    stream = Cell(GENERATED, TCP, HD720, 4, work="vintage", jpeg=80)
    apart = replace(stream, peer=CODEC, transport=None, in_flight=1)
    if pair := results.pair(stream, apart):
        ours, theirs = pair
        yield _at_least("JPEG 720p quality 80 through `vintage`: frames/s to decode + chain + encode "
                        "apart", ours.fps / theirs.fps, 0.9, f"{ours.fps:.0f} to {theirs.fps:.0f}")
    elif results.of(apart):
        yield Check("JPEG 720p quality 80 through `vintage`", None, "",
                    ">= .9x of decode + chain + encode apart")


def _sessions(results: Results):
    crowd = results.of(Cell(OURS, TCP, HD720, 4, streams=64, fps=30))
    if crowd:
        yield _at_least(
            "64 sessions of 720p30 I420: least to most frames of a session",
            crowd.least / max(1, crowd.most), 0.95, f"{crowd.least:.0f} to {crowd.most:.0f} frames, "
            f"{crowd.fps:.0f} a second in all")


def _at_least(name: str, ratio: float, limit: float, figures: str) -> Check:
    return Check(name, ratio >= limit, f"{ratio:.2f}x ({figures})", f">= {limit:g}x")


def _at_most(name: str, ratio: float, limit: float, figures: str) -> Check:
    return Check(name, ratio <= limit, f"{ratio:.2f}x ({figures})", f"<= {limit:g}x")
