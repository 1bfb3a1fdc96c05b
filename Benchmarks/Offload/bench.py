"""Measures sessions of compressed frames over emulated links, next to an echo of grpcio.

Run it with `make bench PART=offload`.
"""

import argparse
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import codecs_cost

from sidelight_testing import link_stream
from sidelight_testing.cuts import cut_python_client, cut_swift_client
from sidelight_testing.link import ADDRESSES, SERVER, Conditions, Link, LinkUnavailable
from sidelight_testing.machine import Machine
from sidelight_testing.server import Server

FRAME_RATE = 30
# The direction to the server has room: the congestion control of this client is the system's.
UPLOAD = Conditions(rate=40e6, delay=0.025)
ECHO = Path(__file__).with_name("echo_server.py")
LOSSES = (0.0, 0.01, 0.03)


def percentile(values: list[float], share: float) -> str:
    """The percentile in milliseconds."""
    ordered = sorted(values)
    return f"{ordered[round(share * (len(ordered) - 1))] * 1000:.0f}" if ordered else "-"


def table(header: list[str], lines: list[list[str]]) -> str:
    rows = [header, ["---", *["--:"] * (len(header) - 1)], *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def losses(seconds: float) -> str:
    """Frames and ages over a link that loses packets, for each congestion control."""
    lines = []
    for loss in LOSSES:
        link_to_client = Conditions(rate=5e6, delay=0.025, loss=loss)
        for name in ("sidelight, cubic", "sidelight, bbr", "grpcio echo, the system's"):
            with Link(UPLOAD, link_to_client, seed=3) as link:
                result = echo(link, seconds) if "echo" in name else stream(
                    link, name.split()[1], seconds=seconds)
            ages = [age for _, age in result["results"]]
            lines.append([
                f"{loss:.0%}, {name}", f"{len(ages) / result['count']:.0%}",
                *[percentile(ages, share) for share in (0.5, 0.95, 0.99)],
            ])
    return table(["lost packets, server", "frames", "p50", "p95", "p99"], lines)


def stream(link: Link, congestion_control: str, changes=(), **options: object) -> dict:
    server = Server(
        "--congestion-control", congestion_control, within=link.command(SERVER),
        host=ADDRESSES[SERVER])
    with server:
        for after, conditions in changes:
            link.change(UPLOAD, conditions, after=after)
        return link_stream.run(link, address=server.addresses["tcp"], **options)


def echo(link: Link, seconds: float) -> dict:
    command = [*link.command(SERVER), sys.executable, ECHO, ADDRESSES[SERVER]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            return link_stream.run(link, address=address, seconds=seconds, is_echo=True)
        finally:
            server.kill()


def changes(seconds: float) -> str:
    """Ages while the link falls from 10 to 2 Mbit/s and returns."""
    fast = Conditions(rate=10e6, delay=0.025)
    times = [(seconds, replace(fast, rate=2e6)), (2 * seconds, fast)]
    lines = []
    for window in (0, 3, 2):
        with Link(UPLOAD, fast, seed=3) as link:
            result = stream(
                link, "bbr", times, seconds=3 * seconds, width=640, height=360, noise=12,
                output_window=window)
        ages = [age for _, age in result["results"]]
        # The clock of the link starts a second or two before the stream.
        slow = [age for at, age in result["results"] if seconds <= at < 2 * seconds - 2]
        lines.append([
            str(window) if window else "none", f"{len(ages) / result['count']:.0%}",
            percentile(slow, 0.5), percentile(slow, 0.95), percentile(ages, 1),
        ])
    return table(
        ["output window", "frames", "p50 while slow", "p95 while slow", "oldest"], lines)


def cuts(runs: int) -> str:
    """The time from the link's return until the first new frame."""
    lines = []
    for client in ("Python", "Python, asyncio", "Swift"):
        times = []
        for _ in range(runs):
            with Link(Conditions(rate=5e6, delay=0.025)) as link, Server(
                within=link.command(SERVER), host=ADDRESSES[SERVER]
            ) as server:
                address = server.addresses["tcp"]
                if client == "Swift":
                    cut = cut_swift_client(link, address)
                else:
                    cut = cut_python_client(link, address, "aio" if "," in client else "sync")
                times.append(cut.seconds)
        lines.append([client, f"{statistics.median(times):.2f} s", f"{max(times):.2f} s"])
    return table(["client", "median", "slowest"], lines)


PAGE = """# Encoded video, and sessions over bad links

Written by `make bench PART=offload`. {machine}

## The cost of encoded video

A clip of {frames} frames, a view that moves over a photograph, is sent as fast as the session's
credits permit: decoded, filtered by `{pipeline}`, and encoded again. Times are processor time for a
frame: of the server's process, and of the same libraries with the same settings in programs of
their own. *Lost by transcoding* is what a session without filters takes from the PSNR of the luma,
at the same bit rate. Memory is the growth of the server for one more session.

{costs}
{peers}
## Several outputs

H.264 of 720p in; `call` is H.264 of 720p, `grid` is VP8 of 180p, `moderation` a JPEG each second. The
expected time is decoder, filter and encoders alone.

{outputs}
## Overload

Live sessions of H.264, 360p30 with two temporal layers, at twice the capacity that the processor
time of one session gives; frames have a budget of 150 ms. Clients run on the same processors.

{overload}
## Bad links

An emulated link between two network namespaces, with a round trip of 50 ms and a queue of 64 KiB.
Times are milliseconds from a frame's capture until its result has arrived, unless they say otherwise.

## Lost packets

JPEG frames of 320x180, {frame_rate} per second, through `colorControls`; results have 2.3 Mbit/s, the
link to the client has 5 Mbit/s. The echo returns frames of the same size without work.

{losses}
## A link that falls from 10 to 2 Mbit/s

JPEG frames of 640x360, 5.3 Mbit/s. With an output window the client acknowledges results.

{changes}
## A cut of 5 s

The time from the link's return until the first new frame is back; {runs} runs.

{cuts}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--peers", type=Path, required=True, help="folder of the program `codecs`")
    parser.add_argument("--wire", type=Path, required=True, help="the program of Benchmarks/Wire")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    seconds, runs, frames = (6, 1, 100) if arguments.quick else (20, 5, 300)
    machine = Machine.now()
    codecs = arguments.peers / "codecs"
    costs, peers = codecs_cost.rows(codecs, arguments.wire, frames)
    outputs = codecs_cost.outputs(codecs, arguments.wire, frames)
    overload = codecs_cost.overload(codecs, frames)
    try:
        page = PAGE.format(
            machine=machine, frames=frames, pipeline=codecs_cost.PIPELINE,
            costs=table(codecs_cost.HEADER, costs),
            peers=table(["H.264 in and out", "time", "Sidelight to it"], peers),
            outputs=table(["outputs", "server", "expected", "ratio"], outputs),
            overload=table(
                ["sessions", "frames shown", "age p50, p99", "disposable frames dropped",
                 "others dropped", "key frames needed"], overload),
            frame_rate=FRAME_RATE, runs=runs, losses=losses(seconds),
            changes=changes(seconds / 2), cuts=cuts(runs))
    except LinkUnavailable as error:
        sys.exit(f"network namespaces or TUN devices are not permitted: {error}")
    (arguments.output / "offload.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
