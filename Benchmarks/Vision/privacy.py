"""The filters that hide faces: frames that show a face, frames that are covered whole, and times."""

import numpy as np

from figures import exposure, is_whole
from programs import draw, frames_of
from reporting import table
from scenes import HARD, WALKING_IN, Painter
from setup import Setup
from targets import Targets, number

ROUNDS = 1


def measure(setup: Setup, painter: Painter, targets: Targets) -> dict[str, str]:
    programs = {"cascade": setup.sidelight()}
    if setup.face_models():
        programs["cascade and models"] = setup.sidelight("wall", *setup.face_models())
    output = setup.folder / "output"
    lines, times = [], []
    for scene in (HARD, WALKING_IN):
        drawn = draw(painter, scene, setup.folder)
        moments = scene.moments()
        for finder, program in programs.items():
            for work in ("face-blur", "face-pixellate"):
                spent: list[float] = []
                for _ in range(ROUNDS):
                    figures = program.run(work, drawn, output)
                    spent += figures["frame"]
                after = frames_of(output, "i420")
                shown = [exposure(one, other, moment)
                         for one, other, moment in zip(drawn.frames, after, moments)]
                whole = [is_whole(one, other) for one, other in zip(drawn.frames, after)]
                count = sum(share > 0.1 for share in shown)
                lines.append([
                    f"{scene.name}, {work}, {finder}", str(len(shown)), str(count),
                    number(100 * max(shown)), number(100 * float(np.mean(whole)))])
                median, high = np.percentile(spent, [50, 95])
                times.append([f"{scene.name}, {work}, {finder}", number(median), number(high),
                              number(np.mean(spent))])
                if scene is HARD and finder == "cascade" and work == "face-blur":
                    targets.most("hard sequence: frames that show over 10 % of a face", count, 0,
                                 "frames")
                    targets.most("face privacy on the hard sequence, per frame, p50", median, 6)
        drawn.path.unlink()
    for program in programs.values():
        program.close()
    return {
        "Privacy": table(
            ["", "frames", "that show > 10 % of a face", "most of a face shown, %",
             "frames covered whole, %"], lines)
        + "\n" + table(["ms per frame", "p50", "p95", "mean"], times)}
