"""The pipeline's editor: stages, controls, the text, and regions in the picture."""

import pytest

BRIGHTNESS = '[data-filter="colorControls"] [data-parameter="brightness"]'
# Red areas are cyan, and no longer have the colours of the portrait or the unfiltered camera.
INVERTED = "c.red[0] < 60 && c.red[1] > 200 && c.red[2] > 200"


def test_a_slider_changes_the_picture_and_a_double_click_resets_it(page):
    page.use_camera("colorControls(brightness: 0.1)")
    before = page.wait_for_picture("c.gray[0] > 100 && c.red[0] > 200")["gray"][0]
    page.enter(f"{BRIGHTNESS} input[type=range]", "-0.4")
    page.wait_for_picture(f"c.gray[0] < {before} - 60")
    assert page.pipeline() == "colorControls(brightness: -0.4)"
    page.double_click(f"{BRIGHTNESS} input[type=range]")
    page.until("() => document.querySelector('#pipeline-text').value === 'colorControls'")
    page.wait_for_picture("c.gray[0] > 170")
    assert page.run(
        "(s) => document.querySelector(s).value", f"{BRIGHTNESS} input[type=range]"
    ) == "0"


def test_an_exact_number_stays_within_the_limits(page):
    page.use_camera("colorControls")
    page.enter(f"{BRIGHTNESS} input[type=number]", "1000")
    # The limits of the catalogue.
    page.until(
        "() => document.querySelector('#pipeline-text').value === 'colorControls(brightness: 4)'"
    )


def test_a_stage_is_switched_off_and_on(page):
    page.use_camera("colorInvert")
    page.wait_for_picture(INVERTED)
    page.click('[data-filter="colorInvert"] [data-action="active"]')
    page.wait_for_picture("c.red[0] > 200")
    assert page.pipeline() == "colorInvert @off"
    page.click('[data-filter="colorInvert"] [data-action="active"]')
    page.wait_for_picture(INVERTED)
    assert page.pipeline() == "colorInvert"


def test_mix_shows_half_of_the_result(page):
    page.use_camera("colorInvert")
    page.enter('[data-filter="colorInvert"] [data-parameter="mix"] input[type=range]', "0.5")
    page.wait_for_picture("c.red.every((each) => Math.abs(each - 128) < 24)")
    assert page.pipeline() == "colorInvert @mix(0.5)"


def test_stages_are_moved_with_the_keyboard_and_keep_the_focus(page):
    page.enter_text("sepiaTone, colorInvert, vignette")
    page.until("() => document.querySelectorAll('#stages > li').length === 3")
    page.focus('[data-filter="sepiaTone"] [data-action="down"]')
    page.key("Enter")
    page.until("() => document.querySelector('#stages > li').dataset.filter === 'colorInvert'")
    assert page.stages() == ["colorInvert", "sepiaTone", "vignette"]
    focused = page.run(
        "() => [document.activeElement.closest('li').dataset.filter, "
        "document.activeElement.dataset.action]"
    )
    assert focused == ["sepiaTone", "down"]
    page.key("Enter")
    page.until("() => document.querySelector('#stages > li:last-child').dataset.filter === "
               "'sepiaTone'")
    assert page.pipeline() == "colorInvert, vignette, sepiaTone"


def test_stages_are_moved_and_filters_are_added_by_dragging(page):
    page.enter_text("sepiaTone, colorInvert, vignette")
    page.until("() => document.querySelectorAll('#stages > li').length === 3")
    # The parameters are hidden, so all stages are in the window.
    for name in ("sepiaTone", "colorInvert", "vignette"):
        page.click(f'#stages [data-filter="{name}"] [data-action="open"]')
    grip = page.place('#stages [data-filter="sepiaTone"] .grip')
    page.drag(grip, page.place('#stages [data-filter="vignette"]', y=0.9))
    page.until("() => document.querySelector('#stages > li').dataset.filter === 'colorInvert'")
    assert page.stages() == ["colorInvert", "vignette", "sepiaTone"]

    thumbnail = page.place('#gallery [data-filter="grain"]')
    page.drag(thumbnail, page.place('#stages [data-filter="vignette"]', y=0.1))
    page.until("() => document.querySelectorAll('#stages > li').length === 4")
    assert page.stages() == ["colorInvert", "grain", "vignette", "sepiaTone"]

    # A drop elsewhere has no effect.
    page.drag(page.place('#gallery [data-filter="glow"]'), page.place("#picture"))
    assert page.stages() == ["colorInvert", "grain", "vignette", "sepiaTone"]


def test_undo_brings_a_removed_stage_back(page):
    page.enter_text("sepiaTone(intensity: 0.3), vignette")
    page.until("() => document.querySelectorAll('#stages > li').length === 2")
    page.click('[data-filter="sepiaTone"] [data-action="remove"]')
    page.until("() => document.querySelectorAll('#stages > li').length === 1")
    page.click("#undo")
    page.until("() => document.querySelectorAll('#stages > li').length === 2")
    assert page.pipeline() == "sepiaTone(intensity: 0.3), vignette"


def test_an_error_is_shown_under_its_character_and_the_suggestion_corrects_it(page):
    page.use_camera("colorInvert")
    page.wait_for_picture(INVERTED)
    page.enter_text("colorInvert, graiscale")
    page.until("() => document.querySelector('#use-suggestion')")
    assert "graiscale" in page.text("#text-problem p")
    excerpt, mark = page.run(
        "() => document.querySelector('#text-problem pre').textContent.split('\\n')"
    )
    assert excerpt[mark.index("^"):].startswith("graiscale")
    assert page.text("#pipeline-backdrop .text-error") == "graiscale"
    # The mark lies under the word of the text field itself.
    word, field = page.run(
        """() => [".text-error", "#pipeline-text"].map((selector) => {
            const { left, top, right, bottom } =
                document.querySelector(selector).getBoundingClientRect();
            return { left, top, right, bottom };
        })"""
    )
    assert field["left"] < word["left"] < word["right"] < field["right"]
    assert field["top"] < word["top"] < word["bottom"] < field["bottom"]
    # The pipeline before stays in force.
    assert page.stages() == ["colorInvert"]
    page.wait_for_picture(INVERTED)

    page.click("#use-suggestion")
    page.until("() => document.querySelectorAll('#stages > li').length === 2")
    assert page.pipeline() == "colorInvert, grayscale"
    assert page.run("() => document.querySelector('#text-problem').hidden")


def test_the_text_of_each_control_is_the_text_of_the_server(page):
    """Each way to write a stage comes back from the page's own text form as the same text."""
    texts = [
        "a: colorControls(brightness: -0.25, contrast: 1.5)",
        "@linear exposureAdjust(ev: 1), [gaussianBlur(radius: 0.02w), hueAdjust(angle: 1)] "
        "@mix(0.5)",
        "crop(height: 120px, origin: (0.25w, 10), width: 0.5min)",
        "whitePointAdjust(color: #ffcc99), whitePointAdjust(color: color(0.5, 0.25, 1.5))",
        "colorMatrix(rVector: [0, 0, 1, 0]) @region(0, 0.25h, 1w, 12) @off",
        "orient(mirrored: true), scale(height: 64, mode: fill, width: 64)",
    ]
    for text in texts:
        page.enter_text("")
        page.until("() => document.querySelectorAll('#stages > li').length === 0")
        page.enter_text(text)
        page.until("() => document.querySelectorAll('#stages > li').length > 0")
        # The snippet for the shell contains the text that the page formats.
        page.click("#copy-json")
        page.click("#copy-shell")
        page.until(
            "(text) => document.querySelector('#snippet').textContent.includes(text)", text,
            seconds=10,
        )


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_a_region_is_drawn_in_the_picture(page, way):
    page.use_camera("colorInvert")
    page.wait_for_picture("c.red[0] < 60 && c.gray[0] < 90")
    page.click('[data-filter="colorInvert"] [data-action="region"]')
    page.until("() => document.activeElement.id === 'region'")
    if way == "mouse":
        # The left half: the red and green areas.
        page.drag(page.place("#picture", 0.0, 0.02), page.place("#picture", 0.5, 0.98))
    else:
        for _ in range(13):  # From a quarter to the left edge.
            page.key("ArrowLeft")
        for _ in range(12):
            page.key("ArrowUp")
            page.key("ArrowDown", shift=True)
        page.key("Enter")
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200 && c.gray[0] > 150")
    assert "@region(" in page.pipeline()
    assert page.run("() => document.querySelector('#region').hidden")

    page.click('[data-filter="colorInvert"] [data-action="whole"]')
    page.wait_for_picture("c.gray[0] < 90")
    assert page.pipeline() == "colorInvert"


def test_a_position_is_picked_in_the_picture(page):
    page.use_camera("vignetteEffect(radius: 0.1h)")
    page.click('[data-parameter="center"] [data-action="pick"]')
    x, y = page.place("#picture", 0.125, 0.375)  # The middle of the red area.
    page.mouse("Pressed", x, y)
    page.mouse("Released", x, y)
    page.wait_for_picture("c.red[0] > 150 && c.gray[0] < 60")
    assert "center: (0.125w, 0.37" in page.pipeline()


def test_the_server_refuses_what_needs_a_file_and_the_page_says_why(page):
    page.use_camera("colorInvert")
    page.wait_for_picture(INVERTED)
    page.enter_text("colorCube")
    page.until("() => document.querySelector('#text-problem p, #refusal:not([hidden])')")
    assert "asset" in page.text(".editor")
