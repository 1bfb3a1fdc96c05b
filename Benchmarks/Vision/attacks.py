"""Pipelines and frames with which a client could try to show a face that a filter hides."""

import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from figures import exposure, is_whole
from person import ROOT
from reporting import table
from scenes import HEIGHT, WIDTH, Face, Moment, Painter, i420
from targets import Targets

#: The greatest distance of `sample` in kernels.
REACH = 32


def moved_pixels(distance: int, hide: str = "faceBlur") -> tuple[list[str], dict[str, str]]:
    """Returns pipelines as text that move what the frame shows by a distance to the right before it
    is hidden: those that a server refuses, and by titles those that it accepts, without their last
    filter `hide`, which must hide the face."""
    kernels = [f'kernel(source: "sample(-{min(REACH, distance - start)}, 0)")'
               for start in range(0, distance, REACH)]
    convolution = "convolution3X3(weights: [0, 0, 0, 1, 0, 0, 0, 0, 0])"
    # Combs of black columns between blurs select the side from which every column is taken.
    comb = 'kernel(source: "color.rgb * step(5, mod(position.x + {}, 8)) * 2.5")'
    combs = [part for start in range(0, 16, 2)
             for part in (comb.format(start), "boxBlur(radius: 2)")]
    refused = [
        ", ".join([*kernels, hide]),
        ", ".join([f"[{', '.join(kernels)}]", hide]),
        ", ".join([*[convolution] * min(distance, 60), hide]),
        f"zoomBlur(amount: 20), {hide}",
        f"affineTransform(transform: [1, 0, 0, 1, {distance}, 0]), {hide}",
    ]
    accepted = {
        "a blur before the cover": "gaussianBlur(radius: 2)",
        "blurs and masks before the cover": ", ".join(combs),
    }
    return refused, accepted


def greatest_exposure(before: np.ndarray, after: np.ndarray, moment: Moment) -> float:
    """Returns the greatest share of a face that is shown, wherever the filters before the cover may
    have moved the face.

    `before` is the frame without the cover."""
    return max(exposure(before, after, moved(moment, across)) for across in range(-16, 17, 4))


def moved(moment: Moment, across: float) -> Moment:
    """Returns the truth of a frame whose faces were moved."""
    return replace(moment, faces=[replace(face, x=face.x + across) for face in moment.faces])


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


def raced_slot(first: np.ndarray, second: np.ndarray) -> tuple[bytes, bytes]:
    """Returns the bytes of two frames of one layout. The client puts the first into its slot, sends
    it, and overwrites it with the second at once, against the protocol. A result may show either
    frame, but a face of neither."""
    if first.shape != second.shape or first.dtype != second.dtype:
        raise ValueError("the frames of a slot need one layout")
    return first.tobytes(), second.tobytes()


# --- The measurement ------------------------------------------------------------------------------

#: The distance by which pipelines move a face, in pixels.
DISTANCE = 240
#: The frames before those that are raced, in which the server gets to know the first face.
WARM_UP = 60
#: The frames of an attack: the server knows the face after a second.
FRAMES = 90
MOMENT = Moment([Face(500, 330, 220)])
#: A face that comes into a slot while the server filters it, next to the known one.
RACED = Moment([*MOMENT.faces, Face(980, 300, 180, is_mirrored=True)])


def as_luma(plane: np.ndarray) -> np.ndarray:
    """Returns a plane as the luma of an I420 frame, which `figures` take."""
    return np.concatenate([plane.ravel(), np.zeros(WIDTH * HEIGHT // 2, np.uint8)])


@dataclass
class Count:
    """The frames of an attack, those that are not covered whole, and those that show the face."""

    frames: int = 0
    partly: int = 0
    shown: int = 0

    def add(self, before: np.ndarray, after: np.ndarray, share: float) -> None:
        """Counts a result that shows a share of a face.

        `before` is the frame without the cover."""
        self.frames += 1
        self.partly += not is_whole(before, after)
        self.shown += share > 0.1


def measure(server: Path, painter: Painter, targets: Targets) -> dict[str, str]:
    """Counts the frames with which a client makes a server show a face."""
    sys.path.insert(0, str(ROOT / "clients/python/src"))
    import sidelight

    picture = painter.draw("office", MOMENT)[0]
    frame = i420(picture).ravel()
    luma = frame.reshape(-1, WIDTH)[:HEIGHT]
    refused, accepted = moved_pixels(DISTANCE)
    lines: list[list[str]] = []

    def add(title: str, count: Count) -> None:
        targets.most(f"{title}: frames that show a face", count.shown, 0, "")
        # Frames that are covered whole prove nothing.
        targets.least(f"{title}: frames not covered whole", count.partly, 1, "")
        lines.append([title, str(count.frames), str(count.partly), str(count.shown)])

    def results(connection, pipeline: str, format: str, pixels: np.ndarray, frames: int = FRAMES):
        """Filters a picture as often as a session needs."""
        image = sidelight.Image.allocate(format, WIDTH, HEIGHT)
        image.data[:] = pixels.tobytes()
        with connection.session(pipeline, shared_memory=False) as session:
            for _ in range(frames):
                outcome = session.filter(image)
                if outcome.image is not None:
                    yield np.frombuffer(outcome.image.data, np.uint8)

    process = subprocess.Popen(
        [server, "serve", "--listen", "127.0.0.1:0", "--shared-memory", "--log-level", "error"],
        stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip().removeprefix("listening on ")
        with sidelight.connect(address) as connection:
            opened = 0
            for text in refused:
                try:
                    with connection.session(text):
                        opened += 1
                except sidelight.InvalidArgument:
                    pass
            targets.most("pipelines that move pixels: opened", opened, 0, "")
            lines.append(
                ["pipelines that move pixels, opened", str(len(refused)), "-",
                 str(opened)])
            for title, text in accepted.items():
                blurred = Count()
                before = next(results(connection, text, "i420", frame, 1)).copy()
                for after in results(connection, f"{text}, faceBlur", "i420", frame):
                    blurred.add(before, after, greatest_exposure(before, after, MOMENT))
                add(title, blurred)
            # White, so the frame composited on black shows what alpha has.
            alpha = alpha_portrait(np.array([255, 255, 255], np.uint8), luma)
            before = as_luma(alpha[..., 3])
            portraits = Count()
            for after in results(connection, "faceBlur", "rgba", alpha):
                planes = [as_luma(after.reshape(HEIGHT, WIDTH, 4)[..., index]) for index in (1, 3)]
                portraits.add(
                    before, planes[0], max(exposure(before, plane, MOMENT) for plane in planes))
            add("a portrait in alpha", portraits)
            raced = i420(painter.draw("office", RACED)[0]).ravel()
            add("slots that change while they are filtered",
                race(connection, raced_slot(frame, raced), raced))
    finally:
        process.terminate()
        process.wait()
    return {"Attacks": table(["", "tried", "not covered whole", "that show a face"], lines)}


def race(connection, contents: tuple[bytes, bytes], raced: np.ndarray) -> Count:
    """Overwrites slots with the second of two frames while the server filters the first."""
    count = Count()
    with connection.session("faceBlur") as session:
        results = session.outcomes()
        for number in range(WARM_UP + FRAMES):
            slot = session.frame(WIDTH, HEIGHT, "i420")
            data = slot.image.data
            data[:] = contents[0]
            session.send(slot)
            if number >= WARM_UP:
                # At another moment of the server's work in every frame.
                time.sleep(number % 8 / 1000)
                data[:] = contents[1]
            outcome = next(results)
            if outcome.image is not None and number >= WARM_UP:
                after = np.frombuffer(outcome.image.data, np.uint8)
                count.add(raced, after, exposure(raced, after, RACED))
            outcome.release()
        session.finish()
    return count
