"""The requirements, as ratios of one run, and whether they were met."""

from dataclasses import dataclass, replace

from cells import (CODEC, CPP, FRAMES, HD720, HD1080, HD1080_BGRA, KB1, KB20, KERNEL, GENERATED,
                   MEMORY, OURS, TCP, UHD_BGRA, UNIX, Cell)
from results import Pair, Results


@dataclass
class Check:
    name: str
    #: `None`: not measured.
    holds: bool | None
    measured: str
    limit: str

    @property
    def verdict(self) -> str:
        return {True: "ok", False: "**missed**", None: "not measured"}[self.holds]


def checks(results: Results) -> list[Check]:
    """Returns the requirements with results."""
    return [*_inline(results), *_unix(results), *_small(results), *_memory(results),
            *_jpeg(results), *_sessions(results), *_whole(results)]


def _inline(results: Results):
    for frame in (HD720, HD1080, HD1080_BGRA):
        for in_flight in (1, 4):
            cell = Cell(OURS, TCP, frame, in_flight)
            where = f"{frame.name} inline, TCP, {in_flight} in flight"
            if pair := results.pair(cell, cell.by(CPP)):
                yield _at_least(f"{where}: frames/s to C++ gRPC", pair, "fps", 1.1)
                yield _at_most(f"{where}: CPU per frame, both sides, to C++ gRPC", pair, "cpu", 1)


def _unix(results: Results):
    for in_flight in (1, 4):
        cell = Cell(OURS, UNIX, HD1080_BGRA, in_flight)
        if pair := results.pair(cell, cell.over(TCP)):
            yield _at_least(f"8.3 MB, Unix socket, {in_flight} in flight: frames/s to TCP",
                            pair, "fps", 1.2)


def _small(results: Results):
    cell = Cell(OURS, TCP, KB20, 1)
    if pair := results.pair(cell, cell.by(CPP)):
        yield _at_least("20 KB, TCP, 1 in flight: frames/s to C++ gRPC", pair, "fps", 0.7)
    if ours := results.of(cell):
        yield Check("20 KB, TCP, 1 in flight: p50", ours.p50 <= 0.25, f"{ours.p50:.3f} ms",
                    "<= .25 ms")


def _memory(results: Results):
    inline = Cell(OURS, UNIX, KB1)
    if results.of(inline) and not results.of(Cell(OURS, MEMORY, HD720)):
        yield Check("shared memory", None, "", "p50 <= .3 ms and <= 1.5x the p50 of 1 KB inline, any "
                    "size; >= 10x inline frames/s at 8.3 MB; five stages at 4K <= 1.1x the kernels")
        return
    for frame in [*FRAMES, UHD_BGRA]:
        cell = Cell(OURS, MEMORY, frame)
        if pair := results.pair(cell, inline):
            name = f"{frame.name} in shared memory: p50"
            p50, _ = pair.medians("p50")
            yield Check(name, p50 <= 0.3, f"{p50:.3f} ms", "<= .3 ms")
            yield _at_most(f"{name} to 1 KB inline, same address", pair, "p50", 1.5)
    for in_flight in (1, 4):
        cell = Cell(OURS, MEMORY, HD1080_BGRA, in_flight)
        if pair := results.pair(cell, cell.over(UNIX)):
            yield _at_least(f"8.3 MB in shared memory, {in_flight} in flight: frames/s to inline, "
                            "same address", pair, "fps", 10)
    chain = Cell(OURS, MEMORY, UHD_BGRA, work="five")
    if pair := results.pair(chain, replace(chain, peer=KERNEL, transport=None)):
        check = _at_most("five stages on 4K BGRA in shared memory: p50 of the round trip to the "
                         "time of the kernels alone", pair, "p50", 1.1)
        work, least, most = pair.ratio("work")
        check.measured += f"; the server's work alone {work:.2f}x, {least:.2f}-{most:.2f}"
        yield check


def _jpeg(results: Results):
    stream = Cell(GENERATED, TCP, HD720, 4, work="vintage", jpeg=80)
    alone = replace(stream, peer=CODEC, transport=None, in_flight=1)
    name = "JPEG 720p quality 80 through `vintage`: frames/s to decode + chain + encode without a transport"
    if pair := results.pair(stream, alone):
        check = _at_least(name, pair, "fps", 0.9)
        work, least, most = pair.ratio("work")
        check.measured += f"; the server's work alone {work:.2f}x, {least:.2f}-{most:.2f}"
        yield check
    elif results.of(alone):
        yield Check(name, None, "", ">= 0.9x")


def _sessions(results: Results):
    crowd = results.of(Cell(OURS, TCP, HD720, 4, streams=64, fps=30))
    if crowd:
        ratio = crowd.least / max(1, crowd.most)
        yield Check(
            "64 sessions of 720p30 I420: frames of the least served session to the most served "
            "one", ratio >= 0.95, f"{ratio:.2f}x ({crowd.least:.0f} to {crowd.most:.0f}; "
            f"{crowd.fps:.0f} a second in total)", ">= 0.95x")


def _whole(results: Results):
    runs = [run for run in results.every() if not run[0].fps]
    if runs:
        dropped = sum(result.dropped for _, result in runs)
        yield Check("lost frames, in runs without a rate", dropped == 0,
                    f"{dropped} in {len(runs)} runs", "none")


def _at_least(name: str, pair: Pair, figure: str, limit: float) -> Check:
    return Check(name, pair.ratio(figure)[0] >= limit, _words(pair, figure), f">= {limit:g}x")


def _at_most(name: str, pair: Pair, figure: str, limit: float) -> Check:
    return Check(name, pair.ratio(figure)[0] <= limit, _words(pair, figure), f"<= {limit:g}x")


def _words(pair: Pair, figure: str) -> str:
    """The ratio, its range over the rounds, and the two figures."""
    ratio, least, most = pair.ratio(figure)
    spread = f", {least:.2f}-{most:.2f}" if len(pair.rounds) > 1 else ""
    one, other = pair.medians(figure)
    figures = f"{one:.0f} to {other:.0f}" if figure == "fps" else f"{one:.3g} to {other:.3g} ms"
    return f"{ratio:.2f}x{spread} ({figures})"
