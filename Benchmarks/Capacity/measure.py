"""Runs servers, clients, ffmpeg and binutils, and returns figures."""

import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
TRANSPORTS = ["shared memory", "Unix socket", "TCP"]
#: The name in the report, the option of the load, and ffmpeg's filter graph for about the same work.
WORK = [
    ("pass-through", "none", "null"),
    ("`vintage`", "vintage", "colortemperature=temperature=7500,vignette=angle=PI/5,noise=alls=8:allf=t"),
    ("`gaussianBlur` 10", "blur", "gblur=sigma=10:steps=3"),
]
FPS = 30
WIDTH, HEIGHT = 1280, 720
SPLIT = Path(__file__).parents[2] / "deploy/split-debug"


class Missing(Exception):
    """The reason why something cannot be measured here."""


@dataclass
class Usage:
    """The processor time of a process in seconds, and its resident memory in bytes."""

    processor: float
    memory: int

    @staticmethod
    def of(process: subprocess.Popen) -> "Usage":
        folder = Path(f"/proc/{process.pid}")
        # The name of the program is in brackets and may contain spaces; the numbers follow it.
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        pages = int((folder / "statm").read_text().split()[1])
        return Usage((int(fields[11]) + int(fields[12])) / TICKS, pages * PAGE)


@dataclass
class Load:
    """The results of a load: what the client printed, and the server's usage before and after."""

    figures: dict
    rest: Usage
    begin: Usage
    end: Usage

    @property
    def processor(self) -> float:
        """The server's processor time, in seconds."""
        return self.end.processor - self.begin.processor


class Programs:
    """The programs that dev/bench capacity built."""

    def __init__(self, sidelight: Path, wire: Path):
        self.sidelight, self.wire = sidelight, wire

    @contextmanager
    def server(self, transport: str):
        """Starts a server, and yields its process and address."""
        with tempfile.TemporaryDirectory(prefix="capacity-") as folder:
            address = "127.0.0.1:0" if transport == "TCP" else f"unix:{folder}/server"
            command = [self.sidelight, "serve", "--listen", address, "--max-load", "0",
                       "--max-sessions", "1024", "--max-sessions-per-caller", "1024",
                       "--log-level", "error"]
            if transport == "shared memory":
                command.append("--shared-memory")
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
            try:
                line = process.stdout.readline()
                if not line.startswith("listening on "):
                    raise Missing("the server does not start")
                yield process, line.removeprefix("listening on ").strip()
            finally:
                stop(process)

    def load(self, transport: str, *options: object, verb: str = "load") -> Load:
        """Measures a client's load on a new server."""
        with self.server(transport) as (server, address):
            # The server's own start is not part of its rest.
            time.sleep(0.5)
            rest = Usage.of(server)
            memory = ["--shared-memory", "yes"] if transport == "shared memory" else []
            command = [self.wire, verb, "--address", address, *memory, *options]
            client = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
            try:
                marks = {}
                for line in client.stdout:
                    word = line.strip()
                    if word in ("begin", "end"):
                        marks[word] = Usage.of(server)
                    elif word.startswith("{"):
                        return Load(json.loads(word), rest, marks["begin"], marks["end"])
                raise Missing(f"{transport}: the client ended without figures")
            finally:
                client.stdin.close()
                stop(client)

    def start_times(self, runs: int) -> list[float]:
        """Returns the seconds from starting a server until it has answered the preface of an HTTP/2
        connection, sorted."""
        times = []
        for _ in range(runs):
            begin = time.perf_counter()
            with self.server("TCP") as (_, address):
                host, _, port = address.rpartition(":")
                with socket.create_connection((host, int(port)), timeout=10) as peer:
                    # The preface, and empty SETTINGS (RFC 9113, 3.4).
                    peer.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0")
                    if not peer.recv(9):
                        raise Missing("the server does not answer")
                    times.append(time.perf_counter() - begin)
        return sorted(times)

    def sizes(self) -> list[tuple[str, int]]:
        """Returns the sizes in bytes of the program as it is built and without symbols, and of its
        separate debug information."""
        if not shutil.which("objcopy"):
            raise Missing("objcopy is not installed (binutils)")
        with tempfile.TemporaryDirectory(prefix="capacity-") as folder:
            subprocess.run([SPLIT, self.sidelight, folder], check=True)
            return [("as built", self.sidelight.stat().st_size),
                    ("without symbols, as in the image", Path(folder, self.sidelight.name).stat().st_size),
                    ("its debug information, compressed",
                     Path(folder, f"{self.sidelight.name}.debug").stat().st_size)]


def ffmpeg(graph: str, frames: int) -> float:
    """Returns the processor time in seconds of a frame in ffmpeg, on one thread, for raw frames from
    a file in memory. The time of ffmpeg itself and of reading, measured using a few frames, is
    subtracted in so far as it does not grow with the frames."""
    if not shutil.which("ffmpeg"):
        raise Missing("ffmpeg is not installed")
    folder = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.NamedTemporaryFile(suffix=".yuv", dir=folder) as file:
        # A gradient with noise, because some filters are faster on flat pictures.
        noise = os.urandom(WIDTH)
        luma = bytes(16 + x * 180 // WIDTH + (noise[(x + 7 * y) % WIDTH] & 7)
                     for y in range(HEIGHT) for x in range(WIDTH))
        picture = luma + bytes([118]) * (WIDTH * HEIGHT // 2)
        for _ in range(8):
            file.write(picture)
        file.flush()

        def processor(count: int) -> float:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                ["ffmpeg", "-v", "error", "-nostdin", "-threads", "1", "-filter_threads", "1",
                 "-stream_loop", "-1", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s",
                 f"{WIDTH}x{HEIGHT}", "-r", str(FPS), "-i", file.name, "-frames:v", str(count),
                 "-vf", f"{graph},format=yuv420p", "-threads", "1", "-f", "rawvideo", "-y",
                 "/dev/null"], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)

        few = max(4, frames // 10)
        return (processor(few + frames) - processor(few)) / frames


def ffmpeg_version() -> str:
    """The version of ffmpeg; empty if it is not installed."""
    if not shutil.which("ffmpeg"):
        return ""
    text = subprocess.run(["ffmpeg", "-version"], capture_output=True, text=True).stdout
    found = re.match(r"ffmpeg version (\S+)", text)
    return found[1] if found else ""


def stop(process: subprocess.Popen) -> None:
    """Asks a process to end, and kills it if it does not."""
    if process.poll() is None and process.stdin and process.stdin.closed:
        # A client ends when its input is closed.
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            pass
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
