"""The filters that hide faces: frames that show a face, frames that are covered whole, and times."""

import numpy as np

from figures import exposure, is_whole
from programs import INTERVAL, Drawn, draw, frames_of
from reporting import table
from scenes import APPEARING, CAMERAS, FACE_SCENES, HARD, WALKING_IN, Painter, Scene
from setup import Setup
from targets import Targets, number

ROUNDS = 1

#: Under load a session gets one of several frames, and the results of searches arrive late: the mean
#: number of frames from one to the next, and the milliseconds of a search.
STRIDES = (1, 2, 4, 8)
SEARCH_TIMES = (60, 200, 500)

#: The frames before a session knows the faces, which may be covered whole.
START = 60


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


def thinned(scene: Scene, stride: int, random: np.random.Generator) -> list[int]:
    """Returns the numbers of the frames that a session gets under load."""
    if stride == 1:
        return list(range(scene.frames))
    steps = random.integers(stride // 2, stride + stride // 2 + 1, scene.frames)
    numbers = np.cumsum(steps) - 1
    return [int(index) for index in numbers if index < scene.frames]


def measure_load(setup: Setup, painter: Painter, targets: Targets) -> dict[str, str]:
    """Counts frames that show a face at low, irregular frame rates and with slow searches."""
    program = setup.sidelight()
    output = setup.folder / "output"
    random = np.random.default_rng(1)
    lines, total = [], 0
    moving = [scene for scene in FACE_SCENES if scene.name in ("moving", "fast", "two")]
    for scene in (HARD, WALKING_IN, *moving):
        frames, shown, whole = 0, 0, 0
        for background in ("office", "busy"):
            moments = scene.moments()
            drawn = draw(painter, Scene(scene.name, scene.frames, background, scene.moment),
                         setup.folder)
            for stride in STRIDES:
                for search_time in SEARCH_TIMES:
                    numbers = thinned(scene, stride, random)
                    path = setup.folder / "thinned.i420"
                    with open(path, "wb") as file:
                        for index in numbers:
                            file.write(drawn.frames[index].tobytes())
                    part = Scene(scene.name, len(numbers), background, scene.moment)
                    program.run("face-blur", Drawn(part, "i420", path), output,
                                stride * INTERVAL, search_time)
                    for index, after in zip(numbers, frames_of(output, "i420")):
                        before = drawn.frames[index]
                        frames += 1
                        shown += exposure(before, after, moments[index]) > 0.1
                        whole += is_whole(before, after)
            drawn.path.unlink()
        total += shown
        lines.append([scene.name, str(frames), str(shown), number(100 * whole / frames)])
    program.close()
    targets.most("low frame rates and slow searches: frames that show over 10 % of a face", total, 0,
                 "frames")
    return {
        "Privacy under load": table(
            ["", "frames", "that show > 10 % of a face", "frames covered whole, %"], lines)}


def measure_motion(setup: Setup, painter: Painter, targets: Targets) -> dict[str, str]:
    """Counts frames that show a face, and frames covered whole, where the camera or much of the picture
    moves."""
    programs = {"cascade": (setup.sidelight(), 10)}
    if setup.face_models():
        programs["cascade and models"] = (setup.sidelight("wall", *setup.face_models()), 5)
    output = setup.folder / "output"
    lines = []
    for finder, (program, limit) in programs.items():
        shown_total, worst = 0, 0.0
        for scene in [*CAMERAS, *APPEARING]:
            for background in ("office", "busy"):
                moments = scene.moments()
                drawn = draw(painter, Scene(scene.name, scene.frames, background, scene.moment),
                             setup.folder)
                figures = program.run("face-blur", drawn, output)
                after = frames_of(output, "i420")
                shown = sum(exposure(one, other, moment) > 0.1
                            for one, other, moment in zip(drawn.frames, after, moments))
                whole = [is_whole(one, other) for one, other in zip(drawn.frames, after)][START:]
                share = 100 * float(np.mean(whole))
                lines.append([
                    f"{scene.name}, {background}, {finder}", str(len(moments)), str(shown),
                    number(share), number(np.percentile(figures["frame"], 50))])
                drawn.path.unlink()
                shown_total += shown
                if scene in CAMERAS:
                    worst = max(worst, share)
        targets.most(f"moving cameras and regions, {finder}: frames that show over 10 % of a face",
                     shown_total, 0, "frames")
        targets.most(f"moving cameras, {finder}: most frames of a scene covered whole after 2 s",
                     worst, limit, "%")
        program.close()
    return {
        "Privacy in motion": table(
            ["", "frames", "that show > 10 % of a face", "covered whole after 2 s, %",
             "ms per frame, p50"], lines)}
