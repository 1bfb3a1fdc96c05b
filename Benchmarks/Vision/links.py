"""Encoded sessions with `faceBlur` over links that lose packets: frames that show a face.

The client is a process at its end of the link: `links.py ADDRESS OPTIONS`, with OPTIONS in JSON."""

import json
import os
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np

HERE = Path(__file__).parent
# The tests have modules of their own for the contract, with the names of the package's.
for folder in ("Benchmarks/Shared", "clients/python/src" if __name__ == "__main__" else "Tests/Python"):
    sys.path.insert(0, str(HERE.parent.parent / folder))

from figures import exposure, is_whole  # noqa: E402
from programs import draw, frames_of  # noqa: E402
from scenes import CAMERAS, FACE_SCENES, HARD, HEIGHT, WALKING_IN, WIDTH, Painter  # noqa: E402

LOSSES = (0.01, 0.03)
#: Bits per second: of the link, and of the encoders of client and server.
LINK_RATE, BIT_RATE = 8e6, 2_500_000
SHAPE = HEIGHT * 3 // 2, WIDTH


def run_client(address: str, options: dict) -> dict:
    """Sends the pictures of a scene at 30 per second as VP8; writes the decoded results into a file."""
    import av
    import sidelight.av
    from sidelight import Dropped, EncoderOptions, EncoderTarget, KeyFrameNeeded, Output

    frames = frames_of(Path(options["frames"]), "i420")
    results = np.memmap(options["results"], np.uint8, "r+", shape=frames.shape)
    encoder = av.CodecContext.create("libvpx", "w")
    encoder.width, encoder.height, encoder.pix_fmt = WIDTH, HEIGHT, "yuv420p"
    encoder.time_base, encoder.bit_rate = Fraction(1, 30), BIT_RATE
    encoder.options = {"deadline": "realtime", "cpu-used": "8", "lag-in-frames": "0"}
    decoder = sidelight.av.Decoder()
    returned: list[tuple[int, int]] = []
    needs_key_frame = threading.Event()

    def note(event: object) -> None:
        if isinstance(event, KeyFrameNeeded):
            needs_key_frame.set()

    def receive() -> None:
        for outcome in session.outcomes():
            if isinstance(outcome, Dropped):
                continue
            with outcome:
                picture = decoder.decode(outcome.image)
            if picture is None:
                session.request_key_frame()
                continue
            index = round(outcome.frame.capture_time_ns * 30 / 1e9)
            # The server makes pictures smaller on slow links.
            whole = picture.reformat(WIDTH, HEIGHT, "yuv420p")
            results[index] = whole.to_ndarray().reshape(-1)
            returned.append((index, picture.height))

    output = Output(format="vp8", encoder=EncoderOptions(bit_rate=BIT_RATE))
    with sidelight.connect(address) as server, server.session(
        options["pipeline"], budget=0.5, output=output
    ) as session:
        session.on_event(note)
        session.adapt_encoder(EncoderTarget(BIT_RATE, WIDTH, HEIGHT, 30))
        receiver = threading.Thread(target=receive)
        receiver.start()
        start = time.monotonic()
        for index, pixels in enumerate(frames):
            time.sleep(max(0, start + index / 30 - time.monotonic()))
            if not session.may_encode():
                continue
            video = av.VideoFrame.from_ndarray(pixels.reshape(SHAPE), "yuv420p")
            video.pts = index
            if needs_key_frame.is_set():
                needs_key_frame.clear()
                video.pict_type = 1  # A key frame.
            for packet in encoder.encode(video):
                session.send(sidelight.av.encoded_frame(packet, "vp8"))
        session.finish()
        receiver.join()
    return {"returned": returned}


def run(link, server: Path, drawn, pipeline: str) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Returns the numbers of the frames that came back and their heights, and the pictures, scaled."""
    from sidelight_testing.link import ADDRESSES, CLIENT, SERVER
    from sidelight_testing.server import Server

    os.environ["SIDELIGHT_BINARY"] = str(server)
    path = drawn.path.with_suffix(".results")
    path.write_bytes(b"")
    os.truncate(path, drawn.path.stat().st_size)
    options = {"frames": str(drawn.path), "results": str(path), "pipeline": pipeline}
    with Server(within=link.command(SERVER), host=ADDRESSES[SERVER]) as running:
        done = subprocess.run(
            [*link.command(CLIENT), sys.executable, __file__, running.addresses["tcp"],
             json.dumps(options)],
            stdout=subprocess.PIPE, check=True, timeout=300)
    return json.loads(done.stdout)["returned"], frames_of(path, "i420")


def reduced(frame: np.ndarray, height: int) -> np.ndarray:
    """Returns a frame's luma with the detail that a picture of a height has."""
    luma = frame[:WIDTH * HEIGHT].reshape(HEIGHT, WIDTH)
    if height < HEIGHT:
        luma = cv2.resize(luma, (height * WIDTH // HEIGHT, height), interpolation=cv2.INTER_AREA)
        luma = cv2.resize(luma, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    return luma.reshape(-1)


def measure(server: Path, painter: Painter, folder: Path, targets) -> dict[str, str]:
    from reporting import table
    from sidelight_testing.link import Conditions, Link, LinkUnavailable

    scenes = [HARD, WALKING_IN, *CAMERAS[:2]]
    scenes += [scene for scene in FACE_SCENES if scene.name in ("moving", "fast", "two")]
    lines, total = [], 0
    for scene in scenes:
        drawn, moments = draw(painter, scene, folder), scene.moments()
        for loss, pipeline in [(LOSSES[0], ""), *((loss, "faceBlur") for loss in LOSSES)]:
            try:
                with Link(Conditions(rate=LINK_RATE, delay=0.025, loss=loss), seed=3) as link:
                    returned, results = run(link, server, drawn, pipeline)
            except LinkUnavailable as error:
                print(f"skipped: sessions over links ({error})", file=sys.stderr)
                return {}
            shown = whole = 0
            for index, height in returned:
                before = reduced(drawn.frames[index], height)
                shown += exposure(before, results[index], moments[index]) > 0.1
                whole += is_whole(before, results[index])
            if pipeline:
                total += shown
            lines.append([
                f"{scene.name}, {loss:.0%}, {pipeline or 'no filter'}", str(scene.frames),
                str(len(returned)), str(shown), f"{100 * whole / max(1, len(returned)):.0f}"])
        drawn.path.unlink()
        drawn.path.with_suffix(".results").unlink()
    targets.most("encoded sessions over lossy links: frames that show over 10 % of a face", total, 0,
                 "frames")
    return {
        "Privacy over links that lose packets": table(
            ["", "frames", "came back", "that show > 10 % of a face", "covered whole, %"], lines)}


if __name__ == "__main__":
    print(json.dumps(run_client(sys.argv[1], json.loads(sys.argv[2]))))
