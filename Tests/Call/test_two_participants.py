"""Two participants of a call see each other filtered."""

from itertools import pairwise

from calltesting.latency import delays
from calltesting.looks import GRAYSCALE, INVERTED
from calltesting.participant import CAMERA

FRAMES = 60


def test_each_sees_the_other_with_the_look_that_the_other_selected(join):
    ana, ben = join("ana"), join("ben")
    looks = {ana: INVERTED, ben: GRAYSCALE}
    for participant, look in looks.items():
        participant.select_and_wait(look.pipeline)
    for viewer, sender in ((ana, ben), (ben, ana)):
        viewer.read(sender.name)
        viewer.wait_for_look(sender.name, looks[sender].condition)
        viewer.take(sender.name)
        viewer.wait_for_frames(sender.name, FRAMES)

        frames = viewer.take(sender.name)
        assert all(looks[sender].shows(frame) for frame in frames)
        assert all(frame["number"] is not None for frame in frames)


def test_the_frames_come_in_order_and_from_the_camera(join, camera):
    ana, ben = join("ana"), join("ben")
    ana.read(CAMERA)
    ben.read(ana.name)
    ana.take(CAMERA)
    ben.wait_for_frames(ana.name, FRAMES)

    seen, shot = ben.take(ana.name)[5:], ana.take(CAMERA)
    numbers = [frame["number"] for frame in seen]
    steps = [(after - before) % camera.frames for before, after in pairwise(numbers)]
    # A step back is a step of nearly the whole video.
    assert all(step < camera.frames / 2 for step in steps), numbers
    # A browser that has too little processor time shows a frame again, or a later one.
    assert steps.count(0) < len(steps) / 2, numbers
    assert delays(shot, seen).unmatched < len(seen) / 2
