"""Calls while Sidelight is killed, while a participant leaves, and under a moderator's override."""

import pytest

from calltesting.looks import CLEAR, INVERTED
from calltesting.moderator import Moderator
from calltesting.participant import CAMERA
from calltesting.programs import CallServer, Sidelight

# The product's limit is a second. The machine of a test may be busy with other work.
LIMIT_SECONDS = 3
# The frames of a look after which it counts as the one in force.
FRAMES = 8
# The contrast of the area with small squares is 92 in the camera's picture, and less than this in a
# picture that is blurred beyond recognition.
LEAST_CONTRAST = 40
# A pipeline that is valid and whose output is larger than the server permits.
FAILING = "scale(width: 8000, height: 6000, mode: stretch)"
RECOGNIZABLE = f"frame.contrast > {LEAST_CONTRAST}"


@pytest.fixture
def sidelight():
    """A Sidelight process per test."""
    with Sidelight() as running:
        yield running


@pytest.fixture
def call_server(sidelight):
    """A call server per test."""
    with CallServer(sidelight.address) as running:
        yield running


@pytest.fixture
def moderator(browser, call_server):
    """A moderator's page."""
    moderator = Moderator(browser, call_server.moderator_address)
    yield moderator
    moderator.page.close()


def test_a_killed_server_is_replaced_by_the_original_and_then_by_the_same_look(join, sidelight):
    ana, ben = join("ana"), join("ben")
    ana.select_and_wait(INVERTED.pipeline)
    ben.read(ana.name)
    ben.wait_for_look(ana.name, INVERTED.condition, count=FRAMES)

    sidelight.kill()
    ben.take(ana.name)
    ben.wait_for_look(ana.name, CLEAR.condition, count=1, seconds=LIMIT_SECONDS)
    ana.wait_for_status("disconnected")
    ben.wait_for_look(ana.name, CLEAR.condition, count=2 * FRAMES)

    sidelight.start()
    ana.wait_for_status("running")
    ben.take(ana.name)
    ben.wait_for_look(ana.name, INVERTED.condition, count=FRAMES)
    assert "colorInvert" in ana.page.run("() => document.querySelector('#pipeline-text').value")


# There is no face, and no empty room: the whole picture is blurred.
@pytest.mark.parametrize(
    "pipeline", ["facePixellate(whenUnsure: frame)", "virtualBackground(protect: false)"]
)
def test_a_look_that_protects_never_shows_the_original_after_a_kill(join, sidelight, pipeline):
    ana, ben = join("ana"), join("ben")
    ana.select_and_wait(pipeline)
    ben.read(ana.name)
    ben.wait_for_look(ana.name, f"!({RECOGNIZABLE})", count=FRAMES)

    sidelight.kill()
    ben.take(ana.name)
    ana.wait_for_status("disconnected")
    wait_for_camera(ana, 3 * FRAMES)
    assert not [frame for frame in ben.take(ana.name) if frame["contrast"] > LEAST_CONTRAST]

    sidelight.start()
    ana.wait_for_status("running")
    ben.wait_for_frames(ana.name, FRAMES)
    assert not [frame for frame in ben.take(ana.name) if frame["contrast"] > LEAST_CONTRAST]


def test_a_participant_who_leaves_is_gone_within_a_second(join):
    ana, ben, carl = join("ana"), join("ben"), join("carl")
    for other in (ana, carl):
        ben.read(other.name)
    ana.leave()
    ben.wait_until_gone(ana.name, seconds=LIMIT_SECONDS)
    carl.page.close()  # without the button
    ben.wait_until_gone(carl.name, seconds=LIMIT_SECONDS)
    assert ben.data("html")["call"] == "joined"


def test_an_override_that_cannot_be_computed_blurs(join, moderator):
    ana, ben = join("ana"), join("ben")
    ben.read(ana.name)
    ben.wait_for_look(ana.name, RECOGNIZABLE)
    # Selected by the participant, it fails as the failure policy says: the original passes through.
    before = ana.statistics()
    ana.select(FAILING)
    ana.page.until(
        """(count) => Number(document.querySelector("[data-stat='passed-through']").dataset.value)
            > count""",
        before["passed-through"] + FRAMES,
    )
    ben.take(ana.name)
    ben.wait_for_look(ana.name, RECOGNIZABLE, count=FRAMES)

    moderator.override(ana, FAILING, seconds=3600, reason="privacy")
    ana.wait_for_status("overridden")
    ben.take(ana.name)
    ben.wait_for_look(ana.name, f"!({RECOGNIZABLE})", count=FRAMES)
    ben.take(ana.name)
    ben.wait_for_frames(ana.name, FRAMES)
    assert not [frame for frame in ben.take(ana.name) if frame["contrast"] > LEAST_CONTRAST]

    moderator.end_override(ana)
    ana.wait_for_status("running")
    ben.wait_for_look(ana.name, RECOGNIZABLE, count=FRAMES)


def test_an_override_protects_while_sidelight_is_killed(join, moderator, sidelight):
    ana, ben = join("ana"), join("ben")
    ben.read(ana.name)
    moderator.override(ana, "gaussianBlur(radius: 40)", seconds=3600, reason="privacy")
    ana.wait_for_status("overridden")
    ben.wait_for_look(ana.name, f"!({RECOGNIZABLE})", count=FRAMES)

    sidelight.kill()
    ben.take(ana.name)
    ana.wait_for_status("disconnected")
    wait_for_camera(ana, 3 * FRAMES)
    sidelight.start()
    ana.wait_for_status("overridden")
    ben.wait_for_frames(ana.name, FRAMES)
    assert not [frame for frame in ben.take(ana.name) if frame["contrast"] > LEAST_CONTRAST]


def wait_for_camera(participant, count):
    """Waits for so many frames of the participant's own camera."""
    participant.read()
    participant.wait_for_frames(CAMERA, count)
