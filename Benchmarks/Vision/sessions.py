"""Sessions with a server: stickers at 30 frames per second, and faces at twice the capacity.

Every session is a process: `sessions.py ADDRESS OPTIONS`, with OPTIONS in JSON."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "Shared"))
sys.path.insert(0, str(HERE.parent.parent / "Tests/Python"))

from figures import exposure  # noqa: E402
from person import ROOT  # noqa: E402
from scenes import HEIGHT, WIDTH, Painter, Scene, i420, moving  # noqa: E402

FRAMES = 60
SECONDS = 8
WARM_UP = 2
FRAME_BYTES = WIDTH * HEIGHT * 3 // 2


def turned(frame: int):
    """A movement that repeats after all frames."""
    return moving(120 * frame // FRAMES)


def face_detail(frame: np.ndarray, box: tuple) -> float:
    """The energy of the differences of neighbours in the middle of a face. It is quick to compute, and
    low in a covered face; the edges of a cover have some."""
    x0, y0, x1, y1 = box
    luma = frame[:WIDTH * HEIGHT].reshape(HEIGHT, WIDTH)[y0:y1, x0:x1].astype(np.float32)
    return float((np.diff(luma, axis=1) ** 2).mean())


def boxes() -> list[tuple]:
    faces = [turned(frame).faces[0] for frame in range(FRAMES)]
    return [(round(face.x - 60), round(face.y - 60), round(face.x + 60), round(face.y + 80))
            for face in faces]


# --- A session ------------------------------------------------------------------------------------


def run_client(address: str, options: dict) -> dict:
    import grpc
    from sidelight_testing.contract import image, service, session
    from sidelight_testing.session import Session, pipeline

    frames = np.memmap(options["frames"], np.uint8, "r").reshape(FRAMES, FRAME_BYTES)
    places = boxes()
    energy = [face_detail(frames[index], places[index]) for index in range(FRAMES)]
    encoded = [
        image.Image(format="PIXEL_FORMAT_I420", width=WIDTH, height=HEIGHT,
                    inline=frames[index].tobytes()) for index in range(FRAMES)]
    limits = [("grpc.max_receive_message_length", 64 << 20),
              ("grpc.max_send_message_length", 64 << 20)]
    stub = service.FrameFilterStub(grpc.insecure_channel(address, options=limits))
    filters = [(name, values) for name, values in options["filters"]]
    due: dict[int, float] = {}
    done: list[tuple[float, float]] = []
    outcomes: dict[int, int] = {}
    reasons: dict[str, int] = {}
    sent: list[int] = []
    # Frames that may show the face, judged after the session.
    suspects: list[tuple[int, np.ndarray]] = []
    with Session(stub, pipeline=pipeline(*filters)) as stream:
        print("ready", flush=True)
        start = float(sys.stdin.readline())
        count = int(options["rate"] * (WARM_UP + options["seconds"]))
        phase = options["phase"] / options["rate"]

        # A frame waits at the sender until fewer are in flight than the server allows; a newer one
        # replaces it.
        lock = threading.Lock()
        window, flying, waiting, unsent = stream.opened.frames_in_flight, 0, None, 0

        def push() -> None:
            nonlocal flying, waiting
            if waiting is not None and flying < window:
                number, waiting = waiting, None
                flying += 1
                sent.append(number)
                stream.send(frame=session.Frame(
                    sequence=number, image=encoded[(number - 1) % FRAMES]))

        def settle(numbers: int) -> None:
            nonlocal flying
            with lock:
                flying -= numbers
                push()

        def send() -> None:
            nonlocal waiting, unsent
            for number in range(1, count + 1):
                when = start + phase + (number - 1) / options["rate"]
                time.sleep(max(0, when - time.time()))
                with lock:
                    unsent += waiting is not None
                    due[number], waiting = when, number
                    push()
            with lock:
                unsent += waiting is not None
                waiting = None
                stream.half_close()

        sender = threading.Thread(target=send)
        sender.start()
        for message in stream._call:
            now = time.time()
            kind = message.WhichOneof("kind")
            if kind == "frame":
                settle(1)
                number = message.frame.sequence
                outcomes[number] = outcomes.get(number, 0) + 1
                done.append((due[number], 1000 * (now - due[number])))
                if options["protects"]:
                    index = (number - 1) % FRAMES
                    result = np.frombuffer(message.frame.image.inline, np.uint8)
                    if len(result) == 0:  # the frame is the one that was sent
                        suspects.append((index, frames[index]))
                    elif face_detail(result, places[index]) > 0.1 * energy[index]:
                        suspects.append((index, result.copy()))
            elif kind == "dropped":
                run = message.dropped
                settle(run.count)
                for number in sent:
                    if run.first_sequence <= number <= run.last_sequence:
                        outcomes[number] = outcomes.get(number, 0) + 1
                name = session.DropReason.Name(run.reason).removeprefix("DROP_REASON_").lower()
                reasons[name] = reasons.get(name, 0) + run.count
        sender.join()
    late = [(when - start, age) for when, age in done if when - start >= WARM_UP]
    if unsent:
        reasons["not sent"] = unsent
    sharp = sum(exposure(frames[index], result, turned(index)) > 0.1
                for index, result in suspects)
    return {
        "due": count, "returned": len(done), "reasons": reasons, "ages": late, "sharp": sharp,
        "wrong": sum(outcomes.get(number, 0) != 1 for number in sent)}


# --- The measurement ------------------------------------------------------------------------------


def run_sessions(server: Path, frames: Path, count: int, rate: float, filters: list,
                 protects: bool, seconds: float = SECONDS) -> dict:
    """Runs sessions against a new server, and returns their sums."""
    from sidelight_testing.server import Server

    os.environ["SIDELIGHT_BINARY"] = str(server)
    with Server(
            "--max-load", "0", "--max-sessions-per-caller", "64", "--asset",
            f"glasses={ROOT / 'Examples/media/glasses.png'}", "--log-level", "error") as running:
        options = {"frames": str(frames), "rate": rate, "filters": filters, "protects": protects,
                   "seconds": seconds}
        clients = [
            subprocess.Popen(
                [sys.executable, __file__, running.addresses["tcp"],
                 json.dumps(options | {"phase": index / count})],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for index in range(count)]
        for client in clients:
            if client.stdout.readline().strip() != "ready":
                raise RuntimeError("a session did not open")
        start = time.time() + 0.5
        for client in clients:
            client.stdin.write(f"{start}\n")
            client.stdin.flush()
        results = [json.loads(client.communicate(timeout=180)[0]) for client in clients]
    total = {key: sum(result[key] for result in results)
             for key in ("due", "returned", "sharp", "wrong")}
    total["reasons"] = {}
    for result in results:
        for name, number in result["reasons"].items():
            total["reasons"][name] = total["reasons"].get(name, 0) + number
    total["ages"] = sorted((tuple(entry) for result in results for entry in result["ages"]))
    return total


def line(title: str, total: dict) -> list[str]:
    ages = np.array([age for _, age in total["ages"]]) if total["ages"] else np.array([np.nan])
    thirds = np.array_split(ages, 3)
    reasons = ", ".join(f"{name} {count}" for name, count in total["reasons"].items())
    return [
        title, str(total["due"]), str(total["returned"]), reasons or "none",
        *(f"{np.percentile(ages, percent):.1f}" for percent in (50, 99)),
        f"{np.median(thirds[0]):.0f} / {np.median(thirds[2]):.0f}", str(total["wrong"]),
        str(total["sharp"])]


def measure(server: Path, targets) -> dict[str, str]:
    from reporting import table

    with tempfile.TemporaryDirectory(dir=ROOT / ".build/benchmarks") as name:
        path = Path(name) / "frames.i420"
        painter = Painter(None)
        with open(path, "wb") as file:
            for moment in Scene("sessions", FRAMES, "office", turned).moments():
                file.write(i420(painter.draw("office", moment)[0]).tobytes())
        sticker = [["overlay", {"asset": "glasses", "anchor": "eyes"}]]
        lines = []
        stickers = run_sessions(server, path, 4, 30, sticker, False)
        lines.append(line("4 sessions, stickers, 30 fps", stickers))
        dropped = stickers["due"] - stickers["returned"]
        targets.most("4 sessions 720p30 with stickers: dropped frames", dropped, 0, "frames")
        targets.most(
            "4 sessions 720p30 with stickers: age, p99",
            float(np.percentile([age for _, age in stickers["ages"]], 99)), 33)
        # The capacity: what the server returns while it has more frames than it can filter.
        blur = [["faceBlur", {}]]
        full = run_sessions(server, path, 16, 30, blur, True)
        lines.append(line("16 sessions, faceBlur, 30 fps", full))
        capacity = full["returned"] / (WARM_UP + SECONDS)
        rate = max(1.0, 2 * capacity / 16)
        # Each third of the time shows all frames: their filters take different times.
        twice = run_sessions(server, path, 16, rate, blur, True, min(3 * FRAMES / rate, 45))
        lines.append(line(f"16 sessions, faceBlur, {rate:.1f} fps: twice the capacity", twice))
        for total, title in ((full, "saturated"), (twice, "twice the capacity")):
            targets.most(f"16 sessions, {title}: frames that show the face", total["sharp"], 0,
                         "frames")
            targets.most(f"16 sessions, {title}: frames without exactly one outcome",
                         total["wrong"], 0, "frames")
        ages = np.array([age for _, age in twice["ages"]])
        if len(ages) >= 9:
            thirds = [np.median(part) for part in np.array_split(ages, 3)]
            targets.most("16 sessions, twice the capacity: age of the last third / of the first",
                         float(thirds[2] / thirds[0]), 1.5, "times")
    return {
        "Sessions": table(
            ["1280x720", "due", "returned", "dropped", "age p50 ms", "p99", "first / last third",
             "without one outcome", "faces shown"], lines)}


if __name__ == "__main__":
    print(json.dumps(run_client(sys.argv[1], json.loads(sys.argv[2]))), flush=True)
