"""The cost of encoded video: a session's processor time, next to its codecs and filter alone,
GStreamer and ffmpeg; its bytes, quality and memory."""

import json
import os
import resource
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import numpy

from sidelight_testing.contract import image, pipeline as pipelines, service, session
from sidelight_testing.process import cpu_seconds, resident_bytes
from sidelight_testing.server import Server, connect
from sidelight_testing.session import Session

FRAME_RATE = 30
BIT_RATES = {(1280, 720): 2_500_000, (640, 360): 800_000, (320, 180): 250_000}
SIZES = ((1280, 720), (640, 360))
CODECS = {"h264": image.PIXEL_FORMAT_H264, "vp8": image.PIXEL_FORMAT_VP8,
          "vp9": image.PIXEL_FORMAT_VP9}
NAMES = {"h264": "H.264", "vp8": "VP8", "vp9": "VP9"}
PIPELINE = "sepiaTone, vignette(intensity: 1)"
#: The frames in flight that a server grants by default, and for which the client libraries ask in a session
#: with encoded results.
IN_FLIGHT = (4, 16)
#: The number of programs that run at once. The server uses all processors, which share caches, so one program
#: alone would need less time for a frame.
PROGRAMS = os.cpu_count() or 1


@dataclass
class Clip:
    """A moving picture as raw I420, encoded by the library alone, and decoded again by it."""

    size: tuple[int, int]
    raw: Path
    encoded: Path
    decoded: Path
    #: Processor time for each frame in milliseconds.
    encode_ms: float
    decode_ms: float

    @property
    def units(self) -> list[bytes]:
        content, units = self.encoded.read_bytes(), []
        while content:
            length = int.from_bytes(content[:4], "little")
            units.append(content[4 : 4 + length])
            content = content[4 + length :]
        return units


def draw(folder: Path, size: tuple[int, int], frames: int) -> Path:
    """Draws raw video: the view moves over a picture of SIDELIGHT_TEST_MEDIA, else over a drawn
    one, with the noise of a camera."""
    width, height = size
    path = folder / f"{width}x{height}.yuv"
    picture = Path(os.environ.get("SIDELIGHT_TEST_MEDIA", "")) / "coffee.png"
    source = (["-loop", "1", "-i", picture] if picture.is_file()
              else ["-f", "lavfi", "-i", f"mandelbrot=size={width}x{height}:start_scale=.2"])
    view = (f"scale={width * 5 // 4}:{height * 5 // 4},"
            f"crop={width}:{height}:(iw-ow)/2*(1+sin(n/20)):(ih-oh)/2*(1+cos(n/31)),"
            "noise=alls=3:allf=t,format=yuv420p")
    subprocess.run(["ffmpeg", "-loglevel", "error", *source, "-vf", view, "-frames:v", str(frames),
                    "-f", "rawvideo", path], check=True)
    return path


def make_clip(
    codecs: Path, codec: str, raw: Path, size: tuple[int, int], layers: int = 1
) -> Clip:
    encoded, decoded = raw.with_suffix(f".{codec}"), raw.with_suffix(f".{codec}.yuv")
    sizes = "x".join(map(str, size))
    encode = _run(
        codecs, "encode", codec, sizes, str(BIT_RATES[size]), str(layers), raw, encoded)
    decode = _run(codecs, "decode", codec, encoded, decoded)
    return Clip(size, raw, encoded, decoded, encode, decode)


def _run(codecs: Path, *arguments: object) -> float:
    """Runs the program on all processors; returns the milliseconds for a frame."""
    *arguments, output = arguments
    said = _run_on_all(lambda index: [codecs, *arguments, "/dev/null" if index else output])
    figures = [json.loads(each) for each in said]
    return sum(each["milliseconds"] / each["frames"] for each in figures) / len(figures)


def _run_on_all(command: Callable[[int], list[object]]) -> list[str]:
    """Runs a command by its index on all processors at once; returns what the programs print."""
    programs = [
        subprocess.Popen(command(index), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for index in range(PROGRAMS)
    ]
    said = [each.communicate()[0] for each in programs]
    for each in programs:
        if each.returncode:
            raise subprocess.CalledProcessError(each.returncode, each.args)
    return said


def filter_alone(wire: Path, size: tuple[int, int]) -> float:
    """The processor time of the pipeline on a raw frame without a server, in milliseconds."""
    before = _children_seconds()
    said = _run_on_all(lambda _: [
        wire, "kernel", "--format", "i420", "--size", "x".join(map(str, size)), "--work", "look",
        "--warm-up", "0", "--seconds", "3"])
    frames = sum(json.loads(each.splitlines()[-1])["frames"] for each in said)
    return (_children_seconds() - before) * 1e3 / frames


def _children_seconds() -> float:
    """The processor time of ended child processes in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclass
class Served:
    """What a session gave."""

    #: Processor time of the server for each frame in milliseconds.
    cpu_ms: float
    #: Bytes of a result, on average.
    bytes: float
    units: list[bytes]


def encode_results(codecs: Path, codec: str, clip: Clip) -> float:
    """The processor time of the encoder alone for the pictures that a session encodes, in milliseconds:
    OpenH264 needs longer for filtered pictures than for camera pictures."""
    path = clip.raw.with_suffix(".filtered.yuv")
    with Server() as server, path.open("wb") as file:
        for picture in stream(server, codec, clip, PIPELINE, image.PIXEL_FORMAT_I420).units:
            file.write(picture)
    encode = _run(codecs, "encode", codec, "x".join(map(str, clip.size)),
                  str(BIT_RATES[clip.size]), "1", path, path.with_suffix(f".{codec}"))
    path.unlink()
    return encode


def stream(
    server: Server, codec: str, clip: Clip, pipeline: str, output: int | None = None
) -> Served:
    """Sends a clip through a session as fast as its credits permit; returns the results, by default of
    the same codec."""
    units = clip.units
    channel = connect(server.addresses["tcp"], ("grpc.max_receive_message_length", -1))
    with channel, _open(channel, output or CODECS[codec], clip, pipeline) as call:
        credits = threading.Semaphore(call.opened.frames_in_flight)
        results: list[bytes] = []
        begin = 0.0
        # The first frames fill caches and pools.
        warm_up = len(units) // 5

        def send() -> None:
            for number, unit in enumerate(units, 1):
                credits.acquire()
                call.send_frame(
                    image.Image(format=CODECS[codec], inline=unit), sequence=number,
                    capture_time_ns=number * 1_000_000_000 // FRAME_RATE)

        sender = threading.Thread(target=send)
        sender.start()
        while len(results) < len(units):
            message = call.receive_message()
            kind = message.WhichOneof("kind")
            assert kind != "dropped", message
            if kind != "frame":
                continue
            results.append(message.frame.image.inline)
            credits.release()
            if len(results) == warm_up:
                begin = cpu_seconds(server.process)
        spent = cpu_seconds(server.process) - begin
        sender.join()
    return Served(spent * 1e3 / (len(units) - warm_up),
                  sum(map(len, results)) / len(results), results)


def _open(channel: grpc.Channel, format: int, clip: Clip, pipeline: str) -> Session:
    output = pipelines.OutputSpec(format=format)
    if format in CODECS.values():
        output.encoder.bit_rate = BIT_RATES[clip.size]
    return Session(
        service.FrameFilterStub(channel), 600, pipeline_text=pipeline, output=output,
        drop_policy=session.DROP_POLICY_NEVER_DROP)


def memory_per_session(codec: str, clip: Clip, sessions: int = 8) -> float:
    """The resident memory that a session adds to a server, in MB."""
    units = clip.units[:4]
    resident = []
    with Server() as server, connect(
        server.addresses["tcp"], ("grpc.max_receive_message_length", -1)
    ) as channel:
        calls = []
        for _ in range(sessions + 1):
            call = _open(channel, CODECS[codec], clip, PIPELINE)
            calls.append(call.__enter__())
            for number, unit in enumerate(units, 1):
                call.send_frame(image.Image(format=CODECS[codec], inline=unit), sequence=number)
                while call.receive_message().WhichOneof("kind") != "frame":
                    pass
            resident.append(resident_bytes(server.process))
        for call in calls:
            call.__exit__(None, None, None)
    return (resident[-1] - resident[0]) / sessions / 1e6


def psnr(raw: Path, other: Path, size: tuple[int, int]) -> float:
    """The mean PSNR of the luma of two raw videos in dB."""
    count = size[0] * size[1]
    frames = [numpy.memmap(path, numpy.uint8, "r").reshape(-1, count * 3 // 2)[:, :count]
              for path in (raw, other)]
    values = []
    for one, two in zip(*frames):
        error = numpy.mean((one.astype(numpy.float32) - two) ** 2)
        values.append(99 if error == 0 else 10 * numpy.log10(255 * 255 / error))
    return float(numpy.mean(values))


def transcoding_loss(codecs: Path, codec: str, clip: Clip, units: list[bytes]) -> float:
    """The quality that a session without filters takes from a stream of the same rate, in dB."""
    stream_file = clip.raw.with_suffix(f".{codec}.again")
    stream_file.write_bytes(b"".join(len(unit).to_bytes(4, "little") + unit for unit in units))
    decoded = stream_file.with_suffix(".yuv2")
    _run(codecs, "decode", codec, stream_file, decoded)
    return psnr(clip.raw, clip.decoded, clip.size) - psnr(clip.raw, decoded, clip.size)


def processor_time(command: list[object]) -> float:
    """The processor time of a command in milliseconds, while it runs on all processors."""
    before = _children_seconds()
    _run_on_all(lambda _: command)
    return (_children_seconds() - before) * 1e3 / PROGRAMS


def peers(clip: Clip) -> list[tuple[str, float]]:
    """The processor time of GStreamer and ffmpeg for a frame of H.264 in milliseconds: of a whole
    clip, without its first fifth, which holds their start."""
    units = clip.units
    part = len(units) // 5
    streams = []
    for name, selected in (("whole", units), ("part", units[:part])):
        streams.append(clip.raw.with_suffix(f".{name}.h264es"))
        streams[-1].write_bytes(b"".join(selected))
    rate = BIT_RATES[clip.size]
    commands = {
        "GStreamer: `openh264dec ! videobalance ! openh264enc`": lambda path: [
            "gst-launch-1.0", "-q", "filesrc", f"location={path}", "!", "h264parse", "!",
            "openh264dec", "!", "videobalance", "saturation=0.5", "!", "openh264enc",
            f"bitrate={rate}", "complexity=low", "!", "fakesink"],
        "ffmpeg: `h264`, `colorchannelmixer`, `vignette`, `libx264` ultrafast": lambda path: [
            "ffmpeg", "-threads", "1", "-f", "h264", "-i", path, "-vf",
            "colorchannelmixer=.393:.769:.189:0:.349:.686:.168:0:.272:.534:.131,vignette,"
            "format=yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency",
            "-threads", "1", "-b:v", str(rate), "-f", "null", "-"],
    }
    rows = []
    for name, command in commands.items():
        try:
            times = [processor_time(command(path)) for path in streams]
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"skipped: {name}: {error}", flush=True)
            continue
        rows.append((name, (times[0] - times[1]) / (len(units) - part)))
    return rows


HEADER = ["codec and size", "server", "decoder + filter + encoder alone", "ratio",
          "of these: decoder, filter, encoder", "bytes of a result", "sessions of 30 fps per core",
          "MB per session", "lost by transcoding"]


def rows(codecs: Path, wire: Path, frames: int) -> tuple[list[list[str]], list[list[str]]]:
    """Returns the rows of the table of sessions, and of the table of peers."""
    lines, others = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in SIZES:
            raw = draw(folder, size, frames)
            look = filter_alone(wire, size)
            for codec in CODECS:
                clip = make_clip(codecs, codec, raw, size)
                encode = encode_results(codecs, codec, clip)
                alone = clip.decode_ms + look + encode
                with Server() as server:
                    served = stream(server, codec, clip, PIPELINE)
                # The encoder's bit rate keeps the stream from being passed on.
                with Server() as server:
                    plain = stream(server, codec, clip, "")
                loss = transcoding_loss(codecs, codec, clip, plain.units)
                lines.append([
                    f"{NAMES[codec]}, {size[1]}p at {BIT_RATES[size] / 1e6:g} Mbit/s",
                    f"{served.cpu_ms:.2f} ms", f"{alone:.2f} ms", f"{served.cpu_ms / alone:.2f}",
                    f"{clip.decode_ms:.2f}, {look:.2f}, {encode:.2f}",
                    f"{served.bytes:,.0f}", f"{1000 / FRAME_RATE / served.cpu_ms:.1f}",
                    f"{memory_per_session(codec, clip):.0f}", f"{loss:.2f} dB",
                ])
                print(*lines[-1], sep=" | ", flush=True)
                if codec == "h264":
                    peer_rows = peers(clip)
                    others.append([f"Sidelight, {size[1]}p", f"{served.cpu_ms:.2f} ms", "1.00"])
                    for peer, time in peer_rows:
                        others.append([f"{peer}, {size[1]}p", f"{time:.2f} ms",
                                       f"{served.cpu_ms / time:.2f}"])
                clip.decoded.unlink()
    return lines, others


def outputs(codecs: Path, wire: Path, frames: int) -> list[list[str]]:
    """Returns the rows of the table of a session with three outputs."""
    large, small = (1280, 720), (320, 180)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clip = make_clip(codecs, "h264", draw(folder, large, frames), large)
        grid = make_clip(codecs, "vp8", draw(folder, small, frames), small)
        look = filter_alone(wire, large)
        jpeg_ms = _run(codecs, "encode", "jpeg", "x".join(map(str, large)), "0", "1", clip.raw,
                       clip.raw.with_suffix(".jpeg"))
        call = session.Output(name="call")
        call.output.format = CODECS["h264"]
        call.output.encoder.bit_rate = BIT_RATES[large]
        thumbnail = session.Output(name="grid")
        thumbnail.output.format = CODECS["vp8"]
        thumbnail.output.encoder.bit_rate = BIT_RATES[small]
        thumbnail.output.width, thumbnail.output.height = small
        moderation = session.Output(name="moderation", max_fps=1)
        moderation.output.format = image.PIXEL_FORMAT_JPEG
        alone = clip.decode_ms + look + encode_results(codecs, "h264", clip)
        rows = []
        for named, expected in (
            ([call], alone), ([call, thumbnail], alone + grid.encode_ms),
            ([call, thumbnail, moderation], alone + grid.encode_ms + jpeg_ms / FRAME_RATE),
        ):
            with Server() as server:
                cpu = _stream_outputs(server, clip, named)
            rows.append([", ".join(each.name for each in named), f"{cpu:.2f} ms",
                         f"{expected:.2f} ms", f"{cpu / expected:.2f}"])
            print(*rows[-1], sep=" | ", flush=True)
        return rows


def _stream_outputs(server: Server, clip: Clip, outputs: list[session.Output]) -> float:
    """Sends a clip through a session with outputs; returns the server's processor time for a
    frame in milliseconds."""
    units = clip.units
    channel = connect(server.addresses["tcp"], ("grpc.max_receive_message_length", -1))
    with channel, Session(
        service.FrameFilterStub(channel), 600, pipeline_text=PIPELINE, outputs=outputs,
        drop_policy=session.DROP_POLICY_NEVER_DROP,
    ) as call:
        credits = threading.Semaphore(call.opened.frames_in_flight)

        def send() -> None:
            for number, unit in enumerate(units, 1):
                credits.acquire()
                call.send_frame(
                    image.Image(format=CODECS["h264"], inline=unit), sequence=number,
                    capture_time_ns=number * 1_000_000_000 // FRAME_RATE)

        sender = threading.Thread(target=send)
        sender.start()
        begin, first = 0.0, len(units) // 5
        finished = 0
        while finished < len(units):
            message = call.receive_message()
            if message.WhichOneof("kind") != "frame":
                continue
            if not message.frame.output:
                credits.release()
            elif message.frame.output == outputs[0].name:
                finished += 1
                if finished == first:
                    begin = cpu_seconds(server.process)
        spent = cpu_seconds(server.process) - begin
        sender.join()
    return spent * 1e3 / (len(units) - first)


def grid(seconds: float, count: int = 16) -> list[list[str]]:
    """Returns the rows of the table of a composition whose sources all send, or one stalls."""
    rows = []
    for stalled in (0, 1):
        with Server() as server, ExitStack() as stack:
            def opened(**options: object) -> Session:
                channel = connect(
                    server.addresses["tcp"], ("grpc.max_receive_message_length", -1))
                stub = service.FrameFilterStub(stack.enter_context(channel))
                return stack.enter_context(Session(
                    stub, 600, drop_policy=session.DROP_POLICY_NEWEST_WINS, **options))

            sources = [opened(label=str(index), allow_unmodified=True) for index in range(count)]
            composition = session.Composition(width=1280, height=720, frame_rate=FRAME_RATE)
            for index in range(count):
                composition.sources.add(label=str(index))
            composed = opened(
                label="grid", composition=composition, output_window=8,
                output=pipelines.OutputSpec(format=CODECS["vp8"]))
            is_over = threading.Event()
            threads = [threading.Thread(target=_send_grays, args=(sources, stalled, is_over))]
            threads += [threading.Thread(target=_drain, args=(each,)) for each in sources]
            for thread in threads:
                thread.start()
            ages = _composed_ages(composed, seconds)
            is_over.set()
            threads[0].join()
            for each in sources:
                each.half_close()
            for thread in threads[1:]:
                thread.join()
        ages.sort()
        rows.append([
            "one stalls" if stalled else "all send",
            f"{len(ages) / seconds / FRAME_RATE:.0%}",
            *(f"{ages[round(share * (len(ages) - 1))] * 1e3:.0f} ms" for share in (0.5, 0.99)),
        ])
        print(*rows[-1], sep=" | ", flush=True)
    return rows


def _send_grays(sources: list[Session], stalled: int, is_over: threading.Event) -> None:
    """Sends pictures to all sessions at the frame rate; to some of them only one."""
    size = 160 * 90 * 3 // 2
    start, number = time.monotonic(), 0
    while not is_over.wait(max(0, start + number / FRAME_RATE - time.monotonic())):
        number += 1
        picture = image.Image(
            format=image.PIXEL_FORMAT_I420, width=160, height=90,
            inline=bytes([number % 200]) * size)
        for each in sources if number == 1 else sources[stalled:]:
            each.send_frame(picture, sequence=number)


def _drain(source: Session) -> None:
    try:
        while True:
            source.receive_message()
    except StopIteration:
        pass


def _composed_ages(composed: Session, seconds: float) -> list[float]:
    """Acknowledges composed frames for a time; returns their ages in seconds, without the first
    fifth."""
    ages, start = [], time.monotonic()
    while (elapsed := time.monotonic() - start) < seconds * 1.25:
        message = composed.receive_message()
        if message.WhichOneof("kind") != "frame":
            continue
        composed.send(ack=session.Ack(sequence=message.frame.sequence))
        if elapsed > seconds / 4:
            ages.append((time.time_ns() - message.frame.capture_time_ns) / 1e9)
    return ages


@dataclass
class Overload:
    """What a session of an overloaded server gave."""

    shown: int = 0
    disposable_shown: int = 0
    key_frames_needed: int = 0
    #: Disposable frames that the client did not send.
    left_out: int = 0
    #: By reason, and whether the frames are disposable.
    dropped: Counter[tuple[str, bool]] = field(default_factory=Counter)
    ages: list[float] = field(default_factory=list)


def overload(codecs: Path, frames: int, times: float = 2) -> list[list[str]]:
    """Sessions with two temporal layers at a multiple of the machine's capacity."""
    size = (640, 360)
    first, *others = sorted(os.sched_getaffinity(0))
    within = ["taskset", "-c", str(first)]
    with tempfile.TemporaryDirectory() as name:
        clip = make_clip(codecs, "h264", draw(Path(name), size, frames), size, layers=2)
        with Server(within=within) as server:
            cost = stream(server, "h264", clip, PIPELINE).cpu_ms
        # Clients on the server's processor would take it from the server's threads, which let others
        # run first.
        os.sched_setaffinity(0, others or [first])
        try:
            # Sessions take each other's pictures from the processor's caches: with many, a frame takes
            # longer than in one alone.
            results, cpu_ms = _run_live(within, clip, round(500 / FRAME_RATE / cost), IN_FLIGHT[0])
            capacity = 1000 / FRAME_RATE / (cpu_ms / sum(each.shown for each in results))
            count = round(times * capacity)
            return [
                _overload_row(
                    f"{count}, {count / capacity:.1f} times, {in_flight} in flight",
                    _run_live(within, clip, count, in_flight)[0], count * len(clip.units))
                for in_flight in IN_FLIGHT
            ]
        finally:
            os.sched_setaffinity(0, [first, *others])


def _overload_row(name: str, results: list[Overload], sent: int) -> list[str]:
    shown = sum(result.shown for result in results)
    dropped = sum((result.dropped for result in results), Counter())
    left_out = sum(result.left_out for result in results)
    assert shown + dropped.total() + left_out == sent, "frames have no outcome"
    for (reason, is_disposable), frames in dropped.most_common():
        print(name, reason, "disposable" if is_disposable else "others", frames, flush=True)
    ages = sorted(age for result in results for age in result.ages)
    return [
        name, f"{shown / sent:.0%}",
        ", ".join(f"{ages[round(share * (len(ages) - 1))] * 1e3:.0f} ms" if ages else "-"
                  for share in (0.5, 0.99)),
        str(left_out),
        *(str(sum(frames for (_, layer), frames in dropped.items() if layer == is_disposable))
          for is_disposable in (True, False)),
        str(sum(result.key_frames_needed for result in results)),
    ]


def _run_live(
    within: list[str], clip: Clip, count: int, in_flight: int
) -> tuple[list[Overload], float]:
    """Runs live sessions; returns what they gave, and the server's processor time in milliseconds."""
    results = [Overload() for _ in range(count)]
    with Server(within=within) as server:
        before = cpu_seconds(server.process)
        threads = [
            threading.Thread(target=_live, args=(server, clip, in_flight, each)) for each in results]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results, (cpu_seconds(server.process) - before) * 1e3


class DisposableFrames:
    """Which disposable frames the client libraries send: after one that the server dropped, 1, 2, 4 up to
    16 are left out before the next one is tried, whose outcome decides again."""

    def __init__(self) -> None:
        self._tried: int | None = None
        self._interval = self._remaining = 0

    def leave_out(self) -> bool:
        """Whether the next one is left out."""
        self._remaining -= 1
        return self._remaining >= 0

    def sent(self, sequence: int) -> None:
        if self._tried is None:
            self._tried = sequence

    def ended(self, sequence: int, is_dropped: bool) -> None:
        """Records the outcome of a frame."""
        if sequence == self._tried:
            self._tried = None
            self._interval = min(max(1, 2 * self._interval), 16) if is_dropped else 0
            self._remaining = self._interval


def _live(server: Server, clip: Clip, in_flight: int, result: Overload) -> None:
    """Sends a clip at its frame rate, through a session whose frames have a budget of 150 ms.

    The client leaves out disposable frames as the client libraries do, and without credit. It holds
    others back until it has credit.
    """
    #: By sequence: the time of the capture, and whether the frame is disposable. With two layers every
    #: second unit is.
    sent: dict[int, tuple[float, bool]] = {}
    disposables = DisposableFrames()
    with connect(server.addresses["tcp"]) as channel, Session(
        service.FrameFilterStub(channel), 600, pipeline_text=PIPELINE, budget_us=150_000,
        frames_in_flight=in_flight, drop_policy=session.DROP_POLICY_NEWEST_WINS,
        output=pipelines.OutputSpec(format=CODECS["h264"]),
    ) as call:
        credits = threading.Semaphore(call.opened.frames_in_flight)

        def send() -> None:
            start = time.monotonic()
            for number, unit in enumerate(clip.units, 1):
                time.sleep(max(0, start + number / FRAME_RATE - time.monotonic()))
                captured, is_disposable = time.monotonic(), number % 2 == 0
                if is_disposable and disposables.leave_out() or not credits.acquire(
                    blocking=not is_disposable
                ):
                    result.left_out += 1
                    continue
                # Without gaps: a gap counts as a lost frame.
                sequence = len(sent) + 1
                sent[sequence] = captured, is_disposable
                if is_disposable:
                    disposables.sent(sequence)
                call.send_frame(image.Image(format=CODECS["h264"], inline=unit), sequence=sequence)
            call.half_close()

        sender = threading.Thread(target=send)
        sender.start()
        with suppress(StopIteration):
            while True:
                message = call.receive_message()
                kind = message.WhichOneof("kind")
                if kind == "frame":
                    credits.release()
                    captured, is_disposable = sent[message.frame.sequence]
                    disposables.ended(message.frame.sequence, is_dropped=False)
                    result.shown += 1
                    result.disposable_shown += is_disposable
                    result.ages.append(time.monotonic() - captured)
                elif kind == "dropped":
                    run = message.dropped
                    credits.release(run.count)
                    reason = " ".join((
                        session.DropReason.Name(run.reason).removeprefix("DROP_REASON_"),
                        session.DropStage.Name(run.stage).removeprefix("DROP_STAGE_")))
                    for sequence in range(run.first_sequence, run.last_sequence + 1):
                        disposables.ended(sequence, is_dropped=True)
                        result.dropped[reason, sent[sequence][1]] += 1
                elif kind == "key_frame_needed":
                    result.key_frames_needed += 1
        sender.join()
