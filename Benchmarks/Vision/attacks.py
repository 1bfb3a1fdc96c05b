"""Pipelines and frames with which a client could try to show a face that a filter hides."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from figures import exposure
from person import ROOT
from reporting import table
from scenes import HEIGHT, WIDTH, Face, Moment, Painter, i420
from targets import Targets

#: The greatest distance of `sample` in kernels.
REACH = 32


def moved_pixels(distance: int, hide: str = "faceBlur") -> dict[str, list[str]]:
    """Returns pipelines as text that move what the frame shows by a distance to the right before it
    is hidden: those that a server refuses, and those that it accepts, which must hide the face."""
    kernels = [f'kernel(source: "sample(-{min(REACH, distance - start)}, 0)")'
               for start in range(0, distance, REACH)]
    convolution = "convolution3X3(weights: [0, 0, 0, 1, 0, 0, 0, 0, 0])"
    # Combs of black columns between blurs select the side from which every column is taken.
    comb = 'kernel(source: "color.rgb * step(5, mod(position.x + {}, 8))")'
    combs = [part for start in range(0, 20, 2)
             for part in (comb.format(start), "boxBlur(radius: 2)")]
    return {
        "refused": [
            ", ".join([*kernels, hide]),
            ", ".join([f"[{', '.join(kernels)}]", hide]),
            ", ".join([*[convolution] * min(distance, 60), hide]),
            f"zoomBlur(amount: 20), {hide}",
            f"affineTransform(transform: [1, 0, 0, 1, {distance}, 0]), {hide}",
        ],
        "accepted": [
            f"gaussianBlur(radius: 2), {hide}",
            ", ".join([*combs, hide]),
        ],
    }


def moved(moment: Moment, across: float, down: float = 0) -> Moment:
    """Returns the truth of a frame whose faces were moved, as `figures.exposure` takes it."""
    return replace(
        moment,
        faces=[replace(face, x=face.x + across, y=face.y + down) for face in moment.faces])


def alpha_portrait(color: np.ndarray, portrait: np.ndarray) -> np.ndarray:
    """Returns an RGBA frame with straight alpha that shows a portrait in alpha only.

    `color` is the colour of every pixel or of all, 8-bit RGB; `portrait` the frame's luma, whose
    range is stretched to 0 ... 255."""
    low, high = np.percentile(portrait, [1, 99])
    alpha = np.clip((portrait.astype(np.float32) - low) * 255 / max(high - low, 1), 0, 255)
    frame = np.empty((*portrait.shape, 4), np.uint8)
    frame[..., :3] = color
    frame[..., 3] = alpha.astype(np.uint8)
    return frame


def raced_slot(without_face: np.ndarray, with_face: np.ndarray) -> tuple[bytes, bytes]:
    """Returns the bytes of two frames of one layout. The client puts the first into its slot, sends
    it, and overwrites it with the second at once, against the protocol. A result may show either
    frame, but the face of neither."""
    if without_face.shape != with_face.shape or without_face.dtype != with_face.dtype:
        raise ValueError("the frames of a slot need one layout")
    return without_face.tobytes(), with_face.tobytes()


# --- The measurement ------------------------------------------------------------------------------

#: The distance by which pipelines move a face, in pixels.
DISTANCE = 240
#: The frames of an attack: the server knows the face after a second.
FRAMES = 90
MOMENT = Moment([Face(500, 330, 220)])


def as_luma(plane: np.ndarray) -> np.ndarray:
    """Returns a plane as the luma of an I420 frame, which `figures` take."""
    return np.concatenate([plane.ravel(), np.zeros(WIDTH * HEIGHT // 2, np.uint8)])


def measure(server: Path, painter: Painter, targets: Targets) -> dict[str, str]:
    """Counts the frames with which a client makes a server show a face."""
    sys.path.insert(0, str(ROOT / "clients/python/src"))
    import sidelight

    picture = painter.draw("office", MOMENT)[0]
    empty = painter.draw("office", Moment([]))[0]
    frame = i420(picture).ravel()
    luma = frame.reshape(-1, WIDTH)[:HEIGHT]
    pipelines = moved_pixels(DISTANCE)
    lines, total = [], 0

    def add(title: str, frames: int, shown: int) -> None:
        nonlocal total
        total += shown
        lines.append([title, str(frames), str(shown)])

    def run(connection, pipeline: str, format: str, pixels: np.ndarray, judge) -> int:
        """Filters a picture as often as a session needs. Returns how many results show the face."""
        shown = 0
        image = sidelight.Image.allocate(format, WIDTH, HEIGHT)
        image.data[:] = pixels.tobytes()
        with connection.session(pipeline, shared_memory=False) as session:
            for _ in range(FRAMES):
                outcome = session.filter(image)
                if outcome.image is not None:
                    shown += judge(np.frombuffer(outcome.image.data, np.uint8))
        return shown

    process = subprocess.Popen(
        [server, "serve", "--listen", "127.0.0.1:0", "--shared-memory", "--log-level", "error"],
        stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip().removeprefix("listening on ")
        with sidelight.connect(address) as connection:
            accepted = 0
            for text in pipelines["refused"]:
                try:
                    with connection.session(text):
                        accepted += 1
                except sidelight.InvalidArgument:
                    pass
            add("pipelines that move pixels, opened", len(pipelines["refused"]), accepted)
            shown = sum(
                run(connection, text, "i420", frame,
                    lambda after: exposure(frame, after, MOMENT) > 0.1)
                for text in pipelines["accepted"])
            add("blurs and masks before the cover", FRAMES * len(pipelines["accepted"]), shown)
            alpha = alpha_portrait(np.array([128, 128, 128], np.uint8), luma)
            before = as_luma(alpha[..., 3])

            def judge_alpha(after: np.ndarray) -> bool:
                planes = after.reshape(HEIGHT, WIDTH, 4)
                return max(exposure(before, as_luma(planes[..., channel]), MOMENT)
                           for channel in (1, 3)) > 0.1

            add("a portrait in alpha", FRAMES,
                run(connection, "faceBlur", "rgba", alpha, judge_alpha))
            add("slots that change while they are filtered", *race(
                connection, raced_slot(i420(empty).ravel(), frame), frame))
    finally:
        process.terminate()
        process.wait()
    targets.most("attacks: frames that show a face, and pipelines that open", total, 0, "")
    return {"Attacks": table(["", "tried", "that show a face"], lines)}


def race(connection, contents: tuple[bytes, bytes], frame: np.ndarray) -> tuple[int, int]:
    """Overwrites slots while the server filters them. Returns the frames, and those that show the
    face."""
    frames = shown = 0
    with connection.session("faceBlur") as session:
        results = session.outcomes()
        for _ in range(FRAMES):
            slot = session.frame(WIDTH, HEIGHT, "i420")
            data = slot.image.data
            data[:] = contents[0]
            session.send(slot)
            data[:] = contents[1]
            outcome = next(results)
            if outcome.image is not None:
                frames += 1
                shown += exposure(frame, np.frombuffer(outcome.image.data, np.uint8), MOMENT) > 0.1
            outcome.release()
        session.finish()
    return frames, shown
