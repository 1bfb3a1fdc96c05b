"""Measures sessions of compressed frames over emulated links, next to an echo of grpcio.

Run it with `make bench PART=offload`.
"""

import argparse
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from dataclasses import dataclass, replace
from pathlib import Path
from resource import RUSAGE_CHILDREN

import codecs_cost

from sidelight_testing import link_stream
from sidelight_testing.cuts import cut_python_client, cut_swift_client
from sidelight_testing.link import (
    ADDRESSES, CLIENT, SERVER, Conditions, Link, LinkUnavailable,
)
from sidelight_testing.contract import REPOSITORY
from sidelight_testing.machine import Machine
from sidelight_testing.process import cpu_seconds
from sidelight_testing.programs import Program
from sidelight_testing.server import Server, binary

FRAME_RATE = 30
# The frames that a session with encoded results may have in flight.
IN_FLIGHT = 16
# The processor time of a frame of 360p in VP8 ("codecs"), which the echo takes too.
WORK_SECONDS = 0.003
ECHO = Path(__file__).with_name("echo_server.py")
LOSSES = (0.0, 0.01, 0.03)


def percentile(values: list[float], share: float) -> str:
    """The percentile in milliseconds."""
    ordered = sorted(values)
    return f"{ordered[round(share * (len(ordered) - 1))] * 1000:.0f}" if ordered else "-"


def table(header: list[str], lines: list[list[str]]) -> str:
    rows = [header, ["---", *["--:"] * (len(header) - 1)], *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


@dataclass
class Device:
    """What `offload-device` of Examples said about its frames."""

    #: The share of the camera's pictures.
    shown: float
    #: Milliseconds of the round trip: p50, p95, p99 and the longest.
    ages: list[int]
    #: For each second: the encoder's target in bits per second, and the ages.
    seconds: list[tuple[int, list[int]]]
    #: Mean bytes of a sent frame.
    frame_bytes: int


def offload(
    link: Link, video: Path, congestion_control: str, codec: str, rate: int, changes=()
) -> Device:
    """Offloads a camera at the client's end of a link: encoded in both directions.

    - `congestion_control`: The server's. The device has the system's.
    - `changes`: The times from the first frame on, in seconds, and the conditions from then on.
    """
    server = Server(
        "--congestion-control", congestion_control, within=link.command(SERVER),
        host=ADDRESSES[SERVER])
    program = binary().parent / "offload-device"
    with server, Program(
        *link.command(CLIENT), program, server.addresses["tcp"], video, str(rate), codec
    ) as device:
        device.wait_for("1 s: .*")
        for after, conditions in changes:
            link.change(conditions, after=after - 1)
        device.process.wait()
    *lines, totals = device.lines
    seconds = [
        (int(found[2]) * 1000, _ages(found[3]), int(found[1]))
        for found in (re.search(r"(\d+) of (\d+) kbit/s.* dropped, (.*)", line) for line in lines)
        if found
    ]
    sent, left_out, shown, _ = map(int, re.findall(r"(\d+) [a-z]", totals)[:4])
    count = sent + left_out
    bits = sum(rate for _, _, rate in seconds) * 1000
    return Device(
        shown / count, _ages(totals), [each[:2] for each in seconds],
        round(bits / 8 / (FRAME_RATE * len(seconds))))


def _ages(text: str) -> list[int]:
    found = re.search(r"(\d+) ms \(p95 (\d+), p99 (\d+), longest (\d+)\)", text)
    return [int(each) for each in found.groups()] if found else []


def losses(seconds: float) -> str:
    """Round trips over a link that loses packets, for each congestion control of the server."""
    lines = []
    with tempfile.TemporaryDirectory(prefix="sidelight-") as folder:
        video = Path(folder) / "in.y4m"
        make_camera(video, "640x360", seconds)
        for loss in LOSSES:
            conditions = Conditions(rate=5e6, delay=0.025, loss=loss)
            for name in ("cubic", "bbr"):
                with Link(conditions, seed=3) as link:
                    device = offload(link, video, name, "vp8", 1_000_000)
                lines.append([
                    f"{loss:.0%}, {name}", f"{device.shown:.0%}", *map(str, device.ages[:3])])
            with Link(conditions, seed=3) as link:
                result = echo(link, seconds, device.frame_bytes)
            ages = [age for _, age in result["results"]]
            lines.append([
                f"{loss:.0%}, echo", f"{len(ages) / result['count']:.0%}",
                *[percentile(ages, share) for share in (0.5, 0.95, 0.99)]])
    return table(["lost packets, server", "frames", "p50", "p95", "p99"], lines)


def echo(link: Link, seconds: float, size: int) -> dict:
    """Messages of the same size to a server of grpcio that works as long for each."""
    command = [*link.command(SERVER), sys.executable, ECHO, ADDRESSES[SERVER], str(WORK_SECONDS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            return link_stream.run(
                link, address=address, seconds=seconds, size=size, limit=IN_FLIGHT, is_echo=True)
        finally:
            server.kill()


def changes(seconds: float) -> str:
    """Ages while the link falls from 10 to 2 Mbit/s and returns."""
    fast = Conditions(rate=10e6, delay=0.025)
    times = [(seconds, replace(fast, rate=2e6)), (2 * seconds, fast)]
    lines = []
    with tempfile.TemporaryDirectory(prefix="sidelight-") as folder:
        video = Path(folder) / "in.y4m"
        make_camera(video, "1280x720", 4 * seconds, noise=20)
        for codec, rate in (("h264", 4_800_000), ("h264", 8_000_000), ("vp8", 4_800_000)):
            for name in ("cubic", "bbr"):
                with Link(fast, seed=3) as link:
                    device = offload(link, video, name, codec, rate, times)
                # Line N is about second N. The link changes within its second.
                first, last = int(seconds), int(2 * seconds)
                slow = [ages[1] for _, ages in device.seconds[first + 2 : last - 1] if ages]
                goal = 0.8 * min(rate, fast.rate)
                back = next((
                    str(index + 1 - last) for index, (target, _) in enumerate(device.seconds)
                    if index >= last and target >= goal), "not")
                lines.append([
                    f"{codec}, {rate / 1e6:g} Mbit/s, {name}", f"{device.shown:.0%}",
                    str(device.ages[3]), str(max(slow, default=0)), back])
    return table(
        ["encoder, server", "frames shown", "oldest", "worst p95 of a slow second",
         "seconds until 80 % again"], lines)


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


def devices(seconds: float) -> str:
    """Bytes and processor time of a frame that a device on one core offloads."""
    lines = []
    for size, rate in (("640x360", 700_000), ("1280x720", 2_500_000)):
        with tempfile.TemporaryDirectory(prefix="sidelight-") as folder:
            video = Path(folder) / "in.y4m"
            make_camera(video, size, seconds)
            for codec in ("raw", "h264", "vp8", "vp9"):
                lines.append([f"{size}, {codec}", *cost(video, codec, rate)])
    header = ["pictures", "kB up", "kB down", "ms, device", "ms, server", "round trip"]
    return table(header, lines)


def make_camera(path: Path, size: str, seconds: float, noise: int = 5) -> None:
    """Writes a video of a camera that pans over a photograph, with noise."""
    width, _, height = size.partition("x")
    pan = (
        f"scale=2*{width}:-2,crop={width}:{height}:40+t*12:60+t*8,noise=alls={noise}:allf=t,"
        "format=yuv420p"
    )
    subprocess.run(
        [
            *("ffmpeg", "-nostdin", "-loglevel", "error", "-loop", "1", "-r", str(FRAME_RATE)),
            *("-t", str(seconds), "-i", REPOSITORY / "Examples/media/office.jpg", "-vf", pan, path),
        ],
        check=True)


def cost(video: Path, codec: str, rate: int) -> list[str]:
    """Sends a video, as samples or encoded, at its own rate."""
    with Server("--admin", "127.0.0.1:0") as server:
        address = server.addresses["tcp"]
        if codec == "raw":
            look = "sepiaTone(intensity: 0.8), vignette(intensity: 1)"
            command = [
                *(binary(), "stream", video, "-", "--realtime", "--server", address, "-p", look)]
        else:
            command = [binary().parent / "offload-device", address, video, str(rate), codec]
        before, children = cpu_seconds(server.process), resource.getrusage(RUSAGE_CHILDREN)
        done = subprocess.run(
            ["taskset", "-c", "0", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            check=True)
        after = resource.getrusage(RUSAGE_CHILDREN)
        at_server = cpu_seconds(server.process) - before
        with urllib.request.urlopen(
            f"http://{server.addresses['admin']}/metrics", timeout=60
        ) as answer:
            metrics = answer.read().decode()
    said = (done.stderr if codec == "raw" else done.stdout).decode().splitlines()[-1]
    shown = int(re.search(r"(\d+) (?:filtered|shown)", said)[1])
    latency = re.search(r"p50 (\S+),|, (\d+) ms", said)
    at_device = sum(
        getattr(after, field) - getattr(children, field) for field in ("ru_utime", "ru_stime"))
    up, down = (
        int(re.search(rf'sidelight_frame_bytes_total{{direction="{way}"}} (\d+)', metrics)[1])
        for way in ("in", "out"))
    return [
        *(f"{each / shown / 1000:.1f}" for each in (up, down)),
        *(f"{each / shown * 1000:.1f}" for each in (at_device, at_server)),
        f"{float(latency[1] or latency[2]):.0f}",
    ]


#: The sections of the page: name, text, and the function that returns its tables.
SECTIONS = {
    "devices": """## What a device pays

`offload-device` of `Examples`, on one core, offloads a camera of 30 pictures per second through
`sepiaTone, vignette` over loopback; the server has the others. H.264, VP8 and VP9 have .7 and 2.5
Mbit/s. Kilobytes and milliseconds of processor time are for a picture; the device encodes, sends,
receives and decodes it.
""",
    "codecs": """## The cost of encoded video

A view that moves over a photograph is sent as fast as the session's credits permit: decoded, filtered
by `sepiaTone, vignette(intensity: 1)`, and encoded again. Times are processor time for a frame: of the
server's process, and of the same libraries with the same settings and pictures in programs of their own,
as many at once as there are processors. *Lost by transcoding* is what a session without filters takes from the
PSNR of the luma, at the same bit rate. Memory is the growth of the server for one more session.
""",
    "outputs": """## Several outputs

H.264 of 720p in; `call` is H.264 of 720p, `grid` VP8 of 180p, `moderation` a JPEG each second. The
expected time is decoder, filter and encoders alone, without scaling.

A composition of 16 sessions of 160x90 at 30 pictures per second, 720p as VP8: the time from the start
of a frame's composition until it has arrived.
""",
    "overload": """## Overload

Live sessions of H.264, 360p30 with two temporal layers, at twice the capacity of a server with one
processor. The capacity follows from the processor time of a frame with a third of the sessions. Frames
have a budget of 150 ms. The clients have the other processors; they leave out disposable frames without
credit, and while the server drops them, as the client libraries do.
""",
    "losses": """## Lost packets

An emulated link between two network namespaces with 5 Mbit/s, a round trip of 50 ms and a queue of 64
KiB in both directions; packets are lost in both. Times here and below are milliseconds from sending a
frame until its result has arrived. `offload-device` sends VP8 of 360p30 with 1 Mbit/s through `sepiaTone,
vignette`, and receives VP8. The echo of grpcio returns messages of the mean size after as much work.
""",
    "changes": """## A link that falls from 10 to 2 Mbit/s, and returns

720p30 in both directions. Device and server adapt their encoders.
""",
    "cuts": """## A cut of 5 s

The time from the link's return until the first new frame is back.
""",
}


def measure(section: str, arguments: argparse.Namespace) -> str:
    """Returns the tables of a section."""
    seconds, runs, frames = (6, 1, 100) if arguments.quick else (20, 5, 300)
    codecs = arguments.peers / "codecs"
    match section:
        case "devices":
            return devices(seconds)
        case "codecs":
            costs, peers = codecs_cost.rows(codecs, arguments.wire, frames)
            return (table(codecs_cost.HEADER, costs) + "\n"
                    + table(["H.264 in and out", "time", "Sidelight to it"], peers))
        case "outputs":
            return (table(["outputs", "server", "expected", "ratio"],
                          codecs_cost.outputs(codecs, arguments.wire, frames)) + "\n"
                    + table(["a grid of 16", "frames", "p50", "p99"], codecs_cost.grid(seconds)))
        case "overload":
            return table(["sessions", "frames shown", "age p50, p99", "left out by clients",
                          "disposable frames dropped", "others dropped", "key frames needed"],
                         codecs_cost.overload(codecs, frames))
        case "losses":
            return losses(seconds)
        case "changes":
            return changes(max(5, seconds / 2))
        case _:
            return cuts(runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--peers", type=Path, required=True, help="folder of the program `codecs`")
    parser.add_argument("--wire", type=Path, required=True, help="the program of Benchmarks/Wire")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="a section")
    arguments = parser.parse_args()
    page = f"""# Encoded video, and sessions over bad links

Written by `make bench PART=offload`. {Machine.now()}
"""
    try:
        for section in arguments.only or SECTIONS:
            page += f"\n{SECTIONS[section]}\n{measure(section, arguments)}"
    except LinkUnavailable as error:
        sys.exit(f"network namespaces or TUN devices are not permitted: {error}")
    (arguments.output / "offload.md").write_text(page)
    print(page)


if __name__ == "__main__":
    main()
