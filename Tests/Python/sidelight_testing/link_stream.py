"""A client that sends compressed frames at an even rate and measures the age of the results.

A program, because it runs in the network namespace of a `Link`'s end:

    python -m sidelight_testing.link_stream sidelight '{"address": "10.77.0.2:5000", "seconds": 9}'

It prints a line of JSON with a list for each result: the time of capture, relative to the first,
and the age on arrival, in seconds.
"""

import io
import json
import queue
import subprocess
import sys
import threading
import time

import grpc
import numpy
import PIL.Image

from .contract import TESTS, image, service, session
from .link import CLIENT, Link
from .server import connect
from .session import Session


def picture(width: int, height: int, noise: int) -> image.Image:
    """Returns a JPEG; the noise makes it larger."""
    random = numpy.random.default_rng(1)
    colors = numpy.linspace(40, 200, width * height * 3).reshape(height, width, 3)
    colors += random.uniform(-noise, noise, colors.shape)
    content = io.BytesIO()
    PIL.Image.fromarray(colors.astype(numpy.uint8)).save(content, "JPEG", quality=70)
    return image.Image(format=image.PIXEL_FORMAT_JPEG, inline=content.getvalue())


def measure(
    address: str, seconds: float, frame_rate: float = 30, width: int = 320, height: int = 180,
    noise: int = 20, output_window: int = 0, frames_in_flight: int = 64,
) -> dict[str, object]:
    """Streams, and returns the results."""
    sent: dict[int, float] = {}
    results = []
    dropped: dict[str, int] = {}
    frame = picture(width, height, noise)
    channel = connect(address, ("grpc.max_receive_message_length", -1))
    stub = service.FrameFilterStub(channel)
    with channel, Session(
        stub, seconds + 60, label="link", output_window=output_window,
        pipeline_text="colorControls(brightness: 0.1)", drop_policy=session.DROP_POLICY_NEWEST_WINS,
    ) as call:
        limit = min(frames_in_flight, call.opened.frames_in_flight)
        start = time.monotonic()

        def receive() -> None:
            try:
                while True:
                    message = call.receive_message()
                    now = time.monotonic()
                    if message.WhichOneof("kind") == "frame":
                        sequence = message.frame.sequence
                        captured = sent.pop(sequence)
                        results.append([captured - start, now - captured])
                        if output_window:
                            call.send(ack=session.Ack(sequence=sequence))
                    elif message.WhichOneof("kind") == "dropped":
                        for sequence in range(
                            message.dropped.first_sequence, message.dropped.last_sequence + 1
                        ):
                            sent.pop(sequence, None)
                        reason = session.DropReason.Name(message.dropped.reason)
                        dropped[reason] = dropped.get(reason, 0) + message.dropped.count
            except (StopIteration, grpc.RpcError):
                pass

        receiver = threading.Thread(target=receive, daemon=True)
        receiver.start()
        count = int(seconds * frame_rate)
        for number in range(count):
            time.sleep(max(0, start + number / frame_rate - time.monotonic()))
            if len(sent) >= limit:
                dropped["client"] = dropped.get("client", 0) + 1
                continue
            sent[number + 1] = time.monotonic()
            call.send_frame(frame, sequence=number + 1)
        deadline = time.monotonic() + 10
        while sent and time.monotonic() < deadline:
            time.sleep(0.02)
    return {"results": results, "count": count, "dropped": dropped}


def measure_echo(
    address: str, seconds: float, frame_rate: float = 30, size: int = 9647, limit: int = 4
) -> dict[str, object]:
    """Streams messages of a size to an echo, with at most `limit` on the way; returns the same."""
    sent: dict[int, float] = {}
    results: list[list[float]] = []
    messages: queue.SimpleQueue = queue.SimpleQueue()
    with connect(address) as channel:
        call = channel.stream_stream("/link.Echo/Echo")(iter(messages.get, None))
        start = time.monotonic()

        def receive() -> None:
            try:
                for message in call:
                    captured = sent.pop(int.from_bytes(message[:8], "big"))
                    results.append([captured - start, time.monotonic() - captured])
            except grpc.RpcError:
                pass

        threading.Thread(target=receive, daemon=True).start()
        count = int(seconds * frame_rate)
        for number in range(count):
            time.sleep(max(0, start + number / frame_rate - time.monotonic()))
            if len(sent) < limit:
                sent[number] = time.monotonic()
                messages.put(number.to_bytes(8, "big").ljust(size, b"\0"))
        deadline = time.monotonic() + 10
        while sent and time.monotonic() < deadline:
            time.sleep(0.02)
        call.cancel()
    return {"results": results, "count": count}


def run(link: Link, is_echo: bool = False, **options: object) -> dict[str, object]:
    """Streams at the client's end of a link."""
    kind = "echo" if is_echo else "sidelight"
    command = [*link.command(CLIENT), sys.executable, "-m", "sidelight_testing.link_stream", kind]
    done = subprocess.run(
        [*command, json.dumps(options)], cwd=TESTS, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    kind = measure_echo if sys.argv[1] == "echo" else measure
    print(json.dumps(kind(**json.loads(sys.argv[2]))))
