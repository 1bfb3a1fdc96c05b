"""Backgrounds: the quality of mattes by condition, and times, next to peers."""

import sys

import cv2
import numpy as np

import keying
from figures import edge_error, kept, overlap
from programs import Drawn, draw, frames_of
from reporting import table
from scenes import CONDITIONS, HEIGHT, WIDTH, Painter, matte_scene
from setup import Setup
from targets import Targets, number

ROUNDS = 3
#: The frames whose mattes are compared with the truth.
FRAMES = range(20, 60, 4)
LEAST = {"calm": 0.97, "shadow": 0.95, "lamp": 0.97}


class Quality:
    """Means of the overlap and of the error at edges, by row and condition."""

    def __init__(self):
        self.cells: dict[tuple[str, str], tuple[float, float]] = {}

    def add(self, row: str, condition: str, mattes: list, truths: list) -> float:
        values = [(overlap(matte, truth), edge_error(matte, truth))
                  for matte, truth in zip(mattes, truths)]
        self.cells[row, condition] = tuple(np.mean(values, axis=0))
        return self.cells[row, condition][0]

    def table(self, conditions: list[str]) -> str:
        rows = list(dict.fromkeys(row for row, _ in self.cells))
        lines = [
            [row, *(self._cell(self.cells.get((row, condition))) for condition in conditions)]
            for row in rows]
        return table(["IoU (error at edges x 1000)", *conditions], lines)

    @staticmethod
    def _cell(values) -> str:
        return f"{values[0]:.3f} ({values[1]:.0f})" if values else "-"


def alphas(path) -> list[np.ndarray]:
    frames = frames_of(path, "rgba8")
    return [frames[index].reshape(HEIGHT, WIDTH, 4)[..., 3] / 255.0 for index in FRAMES]


def sharp(before, after) -> np.ndarray:
    """The matte of a blurred background, from the fine detail that is kept: in squares of eight."""
    squares = (kept(before, after) > 0.5).astype(np.float32)
    return cv2.resize(squares, (WIDTH, HEIGHT), interpolation=cv2.INTER_NEAREST)


def conditions(setup: Setup, painter: Painter, peers: dict, targets: Targets) -> str:
    quality, output = Quality(), setup.folder / "output"
    for condition in CONDITIONS:
        scene = matte_scene(condition)
        moments = scene.moments()
        truths = [painter.draw(scene.background, moments[index])[1] for index in FRAMES]
        program = setup.sidelight(scene.background)
        drawn = draw(painter, scene, setup.folder, "rgba8")
        for row, work in (("plate", "plate-matte"), ("landscape model", "opencv-matte")):
            if program.run(work, drawn, output) is None:
                continue
            value = quality.add(row, condition, alphas(output), truths)
            if row == "plate" and condition in LEAST:
                targets.least(f"matte of a plate, {condition}: IoU", value, LEAST[condition])
        drawn.path.unlink()
        drawn = draw(painter, scene, setup.folder)
        if program.run("portrait-blur", drawn, output):
            after = frames_of(output, "i420")
            mattes = [sharp(drawn.frames[index], after[index]) for index in FRAMES]
            quality.add("portrait (by squares of 8 pixels)", condition, mattes, truths)
        if "MediaPipe" in peers:
            peers["MediaPipe"].run("selfie", drawn, output)
            small = np.memmap(output, np.uint8, "r").reshape(-1, 180, 320)
            mattes = [cv2.resize(small[index] / 255.0, (WIDTH, HEIGHT)) for index in FRAMES]
            quality.add("MediaPipe, same model, as it is", condition, mattes, truths)
        program.close()
        drawn.path.unlink()
    return quality.table(list(CONDITIONS))


def keys(setup: Setup, painter: Painter, targets: Targets) -> str:
    """chromaKey next to ffmpeg's, before a green wall in uneven light."""
    scene = matte_scene("calm", "green")
    moments = scene.moments()
    truths = [painter.draw("green", moments[index])[1] for index in FRAMES]
    program, output = setup.sidelight("green"), setup.folder / "output"
    drawn = draw(painter, scene, setup.folder, "rgba8")
    program.run("key-matte", drawn, output)
    found = alphas(output)
    lines = [["chromaKey", *quality_of(found, truths), ""]]
    targets.least("chromaKey: IoU", float(lines[0][1]), 0.99)
    drawn.path.unlink()
    drawn = draw(painter, scene, setup.folder)
    ours: list[float] = []
    theirs: dict[str, list[float]] = {"alone": [], "over": []}
    background = setup.folder / "background.i420"
    drawn.frames[:1].tofile(background)
    best = None
    if keying.available():
        # The settings with the best edges.
        for similarity in (0.08, 0.12, 0.16, 0.2):
            for blend in (0.02, 0.08, 0.15):
                mattes = keying.mattes(drawn, similarity, blend, output)
                chosen = [mattes[index] / 255.0 for index in FRAMES]
                error = np.mean([edge_error(a, t) for a, t in zip(chosen, truths)])
                if best is None or error < best[0]:
                    best = error, similarity, blend, quality_of(chosen, truths)
    else:
        print("skipped: ffmpeg", file=sys.stderr)
    for _ in range(ROUNDS):
        ours += program.run("key", drawn)["frame"][5:]
        if best:
            theirs["alone"].append(keying.time(drawn, best[1], best[2], None))
            theirs["over"].append(keying.time(drawn, best[1], best[2], background))
    program.close()
    median = float(np.median(ours))
    targets.most("chromaKey with guided edges over a picture, per frame, p50", median, 4)
    lines[0][-1] = f"{number(median)} (least {number(min(ours))})"
    if best:
        _, similarity, blend, cells = best
        alone, over = np.median(theirs["alone"]), np.median(theirs["over"])
        lines.append([f"ffmpeg chromakey={similarity}:{blend}, without a background", *cells,
                      f"{number(alone)} (least {number(min(theirs['alone']))})"])
        lines.append(["the same and overlay", *cells,
                      f"{number(over)} (least {number(min(theirs['over']))})"])
        targets.least("ffmpeg's chromakey and overlay / chromaKey over a picture", over / median,
                      2, "times")
        targets.least("error at edges, ffmpeg's / chromaKey's",
                      float(cells[1]) / float(lines[0][2]), 1, "times")
    drawn.path.unlink()
    return table(["green wall", "IoU", "error at edges x 1000", "ms per frame"], lines)


def quality_of(mattes: list, truths: list) -> list[str]:
    overlaps = [overlap(matte, truth) for matte, truth in zip(mattes, truths)]
    edges = [edge_error(matte, truth) for matte, truth in zip(mattes, truths)]
    return [f"{np.mean(overlaps):.3f}", f"{np.mean(edges):.0f}"]


def times(setup: Setup, painter: Painter, peers: dict, targets: Targets) -> str:
    drawn = draw(painter, matte_scene("calm"), setup.folder)
    program = setup.sidelight("wall")
    works = {
        "plate, over a picture": "plate", "plate, over a colour": "plate-color",
        "plate, background blurred": "plate-blur",
        "landscape model on OpenCV": "opencv",
        "landscape model on ONNX Runtime": "onnxruntime",
        "portrait, background blurred": "portrait-blur"}
    spent: dict[str, list[float]] = {}
    parts: dict[str, dict[str, list[float]]] = {}
    for _ in range(ROUNDS):
        for title, work in list(works.items()):
            figures = program.run(work, drawn)
            if figures is None:
                del works[title]
                continue
            spent.setdefault(title, []).extend(figures["frame"][5:])
            mine = parts.setdefault(title, {})
            named = np.sum([values for name, values in figures["parts"].items()
                            if name in ("faceTrack", "matte")], axis=0)
            mine.setdefault("reduce", []).extend((np.array(figures["step"]) - named)[5:])
            for name, values in figures["parts"].items():
                mine.setdefault(name, []).extend(values[5:])
            for name, entries in figures["jobs"].items():
                mine.setdefault(f"{name}, off the path", []).extend(time for _, time in entries)
        if "MediaPipe" in peers:
            figures = peers["MediaPipe"].run("selfie", drawn)
            spent.setdefault("MediaPipe, landscape model in each frame, not blended", []).extend(
                figures["frame"][5:])
    program.close()
    drawn.path.unlink()
    for title, limit in (("landscape model on OpenCV", 9), ("landscape model on ONNX Runtime", 6)):
        if title in spent:
            targets.most(
                f"{title}, refined and blended, mean", float(np.mean(spent[title])), limit)
    plate = float(np.median(spent["plate, over a picture"]))
    targets.most("plate, from the scene to the blended frame, p50", plate, 9)
    more = float(np.median(spent["plate, background blurred"])
                 - np.median(spent["plate, over a colour"]))
    targets.most("backgroundBlur of sigma 12 more than a colour, p50", more, 2)
    lines = [
        [title, number(np.median(values)), number(np.percentile(values, 95)), number(min(values)),
         number(np.mean(values)),
         ", ".join(f"{name} {number(np.median(part))}"
                   for name, part in parts.get(title, {}).items())]
        for title, values in spent.items()]
    return table(["ms per frame", "p50", "p95", "least", "mean", "parts, p50"], lines)


def measure(setup: Setup, painter: Painter, peers: dict, targets: Targets) -> dict[str, str]:
    spent = times(setup, painter, peers, targets)
    return {
        "Mattes: quality": conditions(setup, painter, peers, targets),
        "Backgrounds: times": spent,
        "Chroma keys": keys(setup, painter, targets)}
