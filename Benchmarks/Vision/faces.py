"""Tracking and stickers: errors on scenes with known truth, and times, next to peers."""

import numpy as np

from figures import errors, jitter, marker_places
from programs import Drawn, Peer, Sidelight, draw, frames_of
from reporting import table
from scenes import FACE_SCENES, Painter
from setup import Setup
from targets import Targets, number

ROUNDS = 3
#: Frames that are left out at the start, until the face is known.
START = 15

PEER_WORKS = [
    ("OpenCV", "detect", "OpenCV: the cascade in each frame"),
    ("OpenCV", "follow", "OpenCV: the cascade in every 6th frame, optical flow"),
    ("MediaPipe", "faces", "MediaPipe: face detection, short range"),
    ("MediaPipe", "far-faces", "MediaPipe: face detection, full range")]


def places(drawn: Drawn, output) -> list:
    """The places of the marker in all frames."""
    return [(marker_places(before, after) or [None])[0]
            for before, after in zip(drawn.frames, frames_of(output, "i420"))]


def percentiles(values) -> tuple[float, float, float]:
    values = np.asarray(values)
    return float(np.median(values)), float(np.percentile(values, 95)), float(values.min())


class Faces:
    """The figures of Sidelight and the peers on the scenes."""

    def __init__(self, setup: Setup, painter: Painter, peers: dict[str, Peer]):
        self.setup, self.peers = setup, peers
        self.output = setup.folder / "output"
        self.drawn = {
            scene.name: draw(painter, scene, setup.folder) for scene in FACE_SCENES
            if scene.name in ("still", "moving", "fast", "tilting", "covered", "half-covered", "two")}
        self.programs: dict[str, Sidelight] = {"Sidelight": setup.sidelight()}
        if setup.face_models():
            self.programs["Sidelight with models"] = setup.sidelight(
                "wall", *setup.face_models())

    def runs(self):
        """Every finder: its name, and a function that returns the places in a scene."""
        for name, program in self.programs.items():
            yield name, lambda drawn, program=program: self._follow(program, drawn)
        for peer, work, title in PEER_WORKS:
            if peer in self.peers:
                yield title, lambda drawn, peer=peer, work=work: (
                    self.peers[peer].run(work, drawn)["results"])

    def _follow(self, program: Sidelight, drawn: Drawn) -> list:
        program.run("marker", drawn, self.output)
        return places(drawn, self.output)

    def quality(self, targets: Targets) -> str:
        lines = []
        for name, run in self.runs():
            cells = [name]
            for scene in ("still", "moving", "fast", "tilting"):
                drawn = self.drawn[scene]
                truth = [moment.faces[0] for moment in drawn.scene.moments()]
                found = run(drawn)
                if scene == "still":
                    steps = np.diff(np.array([p or (np.nan,) * 2 for p in found[START:]]), axis=0)
                    frame = float(np.sqrt(np.nanmean((steps ** 2).sum(1))))
                    cells += [number(frame), number(jitter(found[START:]))]
                    if name == "Sidelight":
                        targets.most("still face: movement from frame to frame", frame, 0.3, "px")
                else:
                    error = float(np.nanpercentile(errors(found, truth)[START:], 95))
                    missing = sum(place is None for place in found[START:])
                    cells.append(number(error) + (f" ({missing} missed)" if missing else ""))
                    if name == "Sidelight" and scene in ("moving", "fast"):
                        targets.most(f"{scene} face: error, 95 %", error, 9, "px")
            lines.append(cells)
        return table(
            ["px at 1280", "still: frame to frame", "still: from the mean", "moving: error, 95 %",
             "fast", "tilting by 35 degrees"], lines)

    def identity(self, targets: Targets) -> str:
        """Whether a face that was covered has the id that it had."""
        shares = {}
        # The hand leaves the face in frames 95 and 100.
        for scene, first in (("covered", 110), ("half-covered", 105)):
            drawn = self.drawn[scene]
            self.programs["Sidelight"].run("marker-first", drawn, self.output)
            found = places(drawn, self.output)[first:]
            shares[scene] = 100 * sum(place is not None for place in found) / len(found)
        targets.least(
            "the first id on a face after 50 half-covered frames", shares["half-covered"], 100, "%")
        targets.least(
            "the first id on a face after 20 frames under a hand", shares["covered"], 100, "%")
        drawn = self.drawn["two"]
        self.programs["Sidelight"].run("marker-all", drawn, self.output)
        both = [len(marker_places(before, after, 2)) for before, after in
                zip(drawn.frames, frames_of(self.output, "i420"))]
        two = 100 * sum(count == 2 for count in both[30:]) / len(both[30:])
        return (
            f"A face whose lower half a hand covers for 50 frames carries the sticker of its first "
            f"id in {shares['half-covered']:.0f} % of the frames after; one that a hand which "
            f"slides over it covers whole for 20 frames, so that optical flow fails, in "
            f"{shares['covered']:.0f} %. Of two faces, both carry a sticker in {two:.0f} % "
            "of the frames after the first second.\n")

    def times(self, targets: Targets) -> str:
        drawn = self.drawn["moving"]
        works = [("one sticker", "glasses"), ("three stickers", "stickers")]
        parts: dict[str, list] = {}
        spent: dict[str, list[float]] = {}
        timed = self.setup.sidelight("wall", "--time-finder")
        for _ in range(ROUNDS):
            for title, work in works:
                for name, program in self.programs.items():
                    figures = program.run(work, drawn)
                    spent.setdefault(f"{name}, {title}", []).extend(figures["frame"][START:])
            for peer, work, title in PEER_WORKS:
                if peer in self.peers:
                    figures = self.peers[peer].run(work, drawn)
                    spent.setdefault(f"{title}, no drawing", []).extend(figures["frame"][START:])
            figures = timed.run("glasses", drawn)
            for name, values in split(figures).items():
                parts.setdefault(name, []).extend(values)
        timed.close()
        median, high, _ = percentiles(spent["Sidelight, one sticker"])
        targets.most("tracking and a sticker, per frame, p50", median, 3)
        targets.most("tracking and a sticker, per frame, p95", high, 6)
        lines = [
            [name, *(number(value) for value in percentiles(values)), number(np.mean(values))]
            for name, values in spent.items()]
        detail = [
            [name, *(number(value) for value in percentiles(values)), str(len(values))]
            for name, values in parts.items() if values]
        return (
            table(["ms per frame", "p50", "p95", "least", "mean"], lines) + "\n"
            + table(["parts of one sticker, ms", "p50", "p95", "least", "times"], detail))


def split(figures: dict) -> dict[str, list[float]]:
    """The parts of a run with `--time-finder`."""
    track, looks = np.array(figures["parts"]["faceTrack"]), np.array(figures["looks"])
    steps = np.array(figures["step"])
    late = np.arange(len(steps)) >= START
    jobs = [time for entries in figures["jobs"].values() for _, time in entries]
    return {
        "reduce (the step less tracking)": list((steps - track)[late]),
        "track (less looks)": list((track - looks)[late]),
        "looks at the known face, in every 6th frame": list(looks[late & (looks > 0)]),
        "draw": figures["parts"].get("overlay", [])[START:],
        "search of the whole frame, off the path": jobs}


def measure(setup: Setup, painter: Painter, peers: dict, targets: Targets) -> dict[str, str]:
    faces = Faces(setup, painter, peers)
    times = faces.times(targets)
    sections = {
        "Tracking: quality": faces.quality(targets) + "\n" + faces.identity(targets),
        "Tracking and stickers: times": times}
    for program in faces.programs.values():
        program.close()
    for drawn in faces.drawn.values():
        drawn.path.unlink()
    return sections
