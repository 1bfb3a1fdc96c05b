"""Draws contact sheets of what the filters do: `sheets.py VISION FOLDER`, run by dev/bench vision."""

import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np

from figures import exposure, picture
from person import ROOT
from programs import Drawn, draw, frames_of
from scenes import (
    APPEARING, CAMERAS, CONDITIONS, FACE_SCENES, HARD, HEIGHT, WALKING_IN, WIDTH, Moment, Painter, Scene, i420,
    matte_scene)
from setup import MEDIA, Setup

#: The size of a picture in a sheet.
CELL = (320, 180)
SCENES = {scene.name: scene for scene in [*FACE_SCENES, HARD, WALKING_IN]}


def cell(image: np.ndarray, caption: str, is_bad: bool = False) -> np.ndarray:
    small = cv2.resize(image, CELL, interpolation=cv2.INTER_AREA)
    cv2.rectangle(small, (0, 0), (8 * len(caption) + 8, 18), (30, 22, 20), -1)
    cv2.putText(small, caption, (4, 13), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (235, 235, 235), 1,
                cv2.LINE_AA)
    if is_bad:
        cv2.rectangle(small, (0, 0), (CELL[0] - 1, CELL[1] - 1), (0, 0, 255), 3)
    return small


def sheet(path: Path, cells: list[np.ndarray], columns: int = 4) -> None:
    while len(cells) % columns:
        cells.append(np.zeros_like(cells[0]))
    rows = [np.hstack(cells[start:start + columns]) for start in range(0, len(cells), columns)]
    cv2.imwrite(str(path), np.vstack(rows))
    print(path)


class Sheets:
    def __init__(self, program: Path, output: Path, folder: Path):
        self.painter, self.folder, self.output = Painter(MEDIA), folder, output
        self.setup = Setup(program, folder, self.painter, Path(sys.executable))
        output.mkdir(parents=True, exist_ok=True)

    def results(self, scene: Scene, work: str, options: list[str] = []) -> tuple | None:
        """Returns the frames before and after, or `None` if the work is not available."""
        drawn = draw(self.painter, scene, self.folder)
        program = self.setup.sidelight(scene.background, *options)
        path = self.folder / "after"
        found = program.run(work, drawn, path)
        program.close()
        return (np.array(drawn.frames), np.array(frames_of(path, "i420"))) if found else None

    def stickers(self) -> None:
        for name, work in (("moving", "stickers"), ("tilting", "stickers"),
                           ("half-covered", "stickers"), ("two", "stickers-all")):
            scene = SCENES[name]
            _, after = self.results(scene, work)
            numbers = np.linspace(6, scene.frames - 1, 16).astype(int)
            sheet(self.output / f"stickers-{name}.png",
                  [cell(picture(after[number]), str(number)) for number in numbers])

    def privacy(self) -> None:
        blurred = [HARD, WALKING_IN, *CAMERAS, *APPEARING]
        for scene, work in [(HARD, "face-pixellate"), *((scene, "face-blur") for scene in blurred)]:
            before, after = self.results(scene, work)
            moments, cells = scene.moments(), []
            for number in range(0, scene.frames, 5):
                shown = exposure(before[number], after[number], moments[number])
                cells.append(cell(picture(after[number]), f"{number}: {100 * shown:.0f} %",
                                  shown > 0.1))
            sheet(self.output / f"privacy-{scene.name}-{work}.png", cells, 6)

    def backgrounds(self) -> None:
        """A column per condition: the frame, and every matte."""
        works = ["plate", "opencv", "portrait-blur", "plate-blur"]
        rows: dict[str, list] = {"frame": []} | {work: [] for work in works}
        for condition in CONDITIONS:
            scene = matte_scene(condition)
            for work in works:
                found = self.results(scene, work)
                if found is None:
                    rows.pop(work, None)
                    continue
                if work == "plate":
                    rows["frame"].append(cell(picture(found[0][45]), condition))
                rows[work].append(cell(picture(found[1][45]), f"{work}, {condition}"))
        sheet(self.output / "backgrounds.png", sum(rows.values(), []), len(CONDITIONS))
        before, after = self.results(matte_scene("calm", "green"), "key")
        cells = [cell(picture(frames[number]), f"{title}, {number}")
                 for number in (10, 30, 50) for title, frames in (("frame", before),
                                                                  ("chromaKey", after))]
        sheet(self.output / "chroma-key.png", cells, 2)

    def portraits(self) -> None:
        """Every picture of the media: as it is, with stickers, and with faces covered."""
        folder = MEDIA or ROOT / "Examples/media"
        cells = []
        for path in sorted([*folder.glob("*.png"), *folder.glob("*.jpg")]):
            image = cv2.imread(str(path))
            if image is None or min(image.shape[:2]) < 200:
                continue
            scale = min(WIDTH / image.shape[1], HEIGHT / image.shape[0])
            small = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
            frame = np.full((HEIGHT, WIDTH, 3), 60, np.uint8)
            top, left = (HEIGHT - small.shape[0]) // 2, (WIDTH - small.shape[1]) // 2
            frame[top:top + small.shape[0], left:left + small.shape[1]] = small
            still = self.folder / "portrait.i420"
            with open(still, "wb") as file:
                for _ in range(20):
                    file.write(i420(frame).tobytes())
            scene = Scene(path.stem, 20, "wall", lambda number: Moment([]))
            program = self.setup.sidelight()
            cells.append(cell(frame, path.name))
            for work in ("stickers-all", "face-blur", "portrait-blur"):
                after = self.folder / "after"
                if program.run(work, Drawn(scene, "i420", still), after):
                    cells.append(cell(picture(frames_of(after, "i420")[-1]), work))
                else:
                    cells.append(cell(frame * 0, f"{work}: not available"))
            program.close()
        sheet(self.output / "portraits.png", cells)

    def documentation(self) -> None:
        """The small pictures of the documentation."""
        images = ROOT / "docs/images"
        _, after = self.results(SCENES["half-covered"], "stickers")
        stickers = [cv2.resize(picture(after[number]), CELL, interpolation=cv2.INTER_AREA)
                    for number in (30, 62, 88, 120)]
        _, two = self.results(SCENES["two"], "stickers-all")
        stickers += [cv2.resize(picture(two[number]), CELL, interpolation=cv2.INTER_AREA)
                     for number in (60, 110)]
        self._jpeg(images / "stickers.jpg", stickers)
        scene = matte_scene("shadow")
        before, replaced = self.results(scene, "plate")
        _, blurred = self.results(matte_scene("busy"), "plate-blur")
        green, keyed = self.results(matte_scene("calm", "green"), "key")
        _, covered = self.results(WALKING_IN, "face-blur")
        frames = [before[45], replaced[45], blurred[45], green[45], keyed[45], covered[140]]
        self._jpeg(images / "backgrounds.jpg", [
            cv2.resize(picture(frame), CELL, interpolation=cv2.INTER_AREA) for frame in frames])

    @staticmethod
    def _jpeg(path: Path, cells: list[np.ndarray], columns: int = 3) -> None:
        rows = [np.hstack(cells[start:start + columns])
                for start in range(0, len(cells), columns)]
        cv2.imwrite(str(path), np.vstack(rows), [cv2.IMWRITE_JPEG_QUALITY, 82])
        print(path)


def main() -> None:
    program, output, parts = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    build = ROOT / ".build/benchmarks"
    with tempfile.TemporaryDirectory(dir=build) as name:
        sheets = Sheets(program, output, Path(name))
        for part in ("stickers", "privacy", "backgrounds", "portraits", "documentation"):
            if not parts or part in parts:
                getattr(sheets, part)()


if __name__ == "__main__":
    main()
