"""Selections during a call: the frame on which they take effect, errors, and sliders."""

from itertools import pairwise

import pytest

from calltesting.looks import CLEAR, GRAYSCALE, INVERTED, closest
from calltesting.participant import CAMERA

# The seconds in which a slider moves, and its steps per second.
SLIDE_SECONDS, STEPS_PER_SECOND = 3, 30
# The frames on each side of a selection that must have come before it is examined.
FRAMES = 8
# The reasons for which frames are dropped when processors are busy.
LATE = {
    "SUPERSEDED", "OUTPUT_SUPERSEDED", "LATE_ON_ARRIVAL", "LATE_IN_PIPELINE", "LATE_ON_OUTPUT",
}
# The brightness at which the slider starts and ends (not past 0, which has no effect: frames would
# pass through), and the smallest visible increase.
FIRST_BRIGHTNESS, LAST_BRIGHTNESS, LEAST_INCREASE = -0.4, -0.05, 40


def test_a_selection_takes_effect_on_exactly_the_frame_that_applied_names(
    join, call_server, camera
):
    ana, ben = join("ana"), join("ben")
    ben.read(ana.name)
    ben.wait_for_look(ana.name, CLEAR.condition)
    looks = [CLEAR, INVERTED, GRAYSCALE, INVERTED, CLEAR, GRAYSCALE]
    for before, after in pairwise(looks):
        ben.take(ana.name)
        ben.wait_for_frames(ana.name, FRAMES)
        applied = ana.select_and_wait(after.pipeline)
        ben.wait_for_look(ana.name, after.condition, count=FRAMES)

        first = call_server.number_of(ana, applied.sequence)
        frames = ben.take(ana.name)
        positions = [camera.distance(first, frame["number"]) for frame in frames]
        shown = [closest(frame, before, after) for frame in frames]
        expected = [after if position >= 0 else before for position in positions]
        assert shown == expected, list(zip(positions, shown, strict=True))


def test_a_wrong_name_is_shown_with_a_suggestion_and_the_call_goes_on(join):
    ana, ben = join("ana"), join("ben")
    ana.select_and_wait(INVERTED.pipeline)
    ben.read(ana.name)
    ben.wait_for_look(ana.name, INVERTED.condition)

    ana.select("colorInvert, graiscale")
    ana.page.until("() => document.querySelector('#pipeline-suggestion')?.dataset.suggestion")
    assert ana.data("#pipeline-suggestion")["suggestion"] == "grayscale"
    assert "graiscale" in ana.text("#pipeline-error")
    error = ana.data("#pipeline-error")
    assert (int(error["line"]), int(error["column"])) == (1, 14)

    ben.take(ana.name)
    ben.wait_for_look(ana.name, INVERTED.condition, count=2 * FRAMES)
    assert all(INVERTED.shows(frame) for frame in ben.take(ana.name))

    before = ana.applied()
    ana.click("#pipeline-suggestion")
    ana.wait_for_applied(before)
    gray_inverse = "Math.abs(frame.colours.blue[0] - 226) < 40 && frame.colours.blue[2] < 255"
    ben.wait_for_look(ana.name, gray_inverse)


def test_a_slider_that_moves_thirty_times_a_second_is_no_reason_to_drop_a_frame(join):
    ana, ben = join("ana"), join("ben")
    ana.select_and_wait(f"colorControls(brightness: {FIRST_BRIGHTNESS})")
    ben.read(ana.name)
    ben.wait_for_frames(ana.name, FRAMES)
    dark = ben.take(ana.name)[-1]["colours"]["gray"][1]

    before, applied = ana.statistics(), ana.applied()
    slider = '#selected [data-filter="colorControls"] [data-parameter="brightness"] input[type="range"]'
    ana.page.until("(selector) => document.querySelector(selector)", slider)
    steps = ana.page.run(
        """(selector, count, milliseconds, first, last) => new Promise((resolve) => {
            const slider = document.querySelector(selector);
            let step = 0;
            const timer = setInterval(() => {
                step++;
                slider.value = first + (last - first) * step / count;
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                if (step < count) return;
                clearInterval(timer);
                slider.dispatchEvent(new Event("change", { bubbles: true }));
                resolve(step);
            }, milliseconds);
        })""",
        slider, SLIDE_SECONDS * STEPS_PER_SECOND, 1000 / STEPS_PER_SECOND,
        FIRST_BRIGHTNESS, LAST_BRIGHTNESS,
    )
    ben.wait_for_look(ana.name, f"frame.colours.gray[1] > {dark + LEAST_INCREASE}")

    after = ana.statistics()
    assert steps == SLIDE_SECONDS * STEPS_PER_SECOND
    assert after["received"] > before["received"]
    # A busy machine may drop late frames. A change drops no frames.
    reasons = {
        reason for reason, count in after.dropped.items() if count != before.dropped.get(reason)
    }
    assert reasons <= LATE, reasons
    assert after.outcomes - before.outcomes >= SLIDE_SECONDS * STEPS_PER_SECOND / 4
    assert after["passed-through"] == before["passed-through"]
    assert after["degraded"] == before["degraded"]
    assert ana.applied().revision > applied.revision
    assert ana.text("#pipeline-error") == ""


@pytest.mark.parametrize("name", ["sepiaTone", "vignette"])
def test_a_button_selects_and_deselects_its_filter(join, name):
    ana, ben = join("ana"), join("ben")
    ben.read(ana.name)
    ana.read(CAMERA)
    button = f'button[data-filter="{name}"]'
    pressed = "(selector, on) => document.querySelector(selector).ariaPressed === on"

    before = ana.applied()
    ana.click(button)
    ana.page.until(pressed, button, "true")
    selected = ana.wait_for_applied(before)
    ana.page.until(
        "(name) => document.querySelector(`#selected [data-filter='${name}']`)", name
    )

    ana.click(button)
    ana.page.until(pressed, button, "false")
    ana.wait_for_applied(selected)
    ben.take(ana.name)
    ben.wait_for_look(ana.name, CLEAR.condition)


def test_presses_that_follow_each_other_at_once_are_made_one_after_the_other(join):
    ana = join("ana")
    names = ["sepiaTone", "vignette", "pixellate", "vignette", "colorInvert"]
    ana.page.until(
        """(names) => names.every((name) =>
            document.querySelector(`button[data-filter="${name}"]`))""",
        names,
    )
    ana.page.run(
        """(names) => names.forEach((name) =>
            document.querySelector(`button[data-filter="${name}"]`).click())""",
        names,
    )
    ana.page.until(
        """(expected) => expected === [...document.querySelectorAll("#selected li")]
            .map((each) => each.dataset.filter).join()""",
        "sepiaTone,pixellate,colorInvert",
    )
    assert ana.text("#pipeline-error") == ""
