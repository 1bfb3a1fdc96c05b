"""The first minute of a newcomer: a filtered picture at once, a filter, a slider, code to copy."""

from calltesting import camera


def test_a_newcomer_sees_a_filtered_picture_at_once_and_nothing_fails(browser, open_page):
    browser.console.clear()
    browser.command("Browser.grantPermissions", permissions=["clipboardSanitizedWrite"])
    page = open_page()
    page.wait_until_ready()
    assert page.text("#connection") == "Connected"
    assert page.stages() == ["vintageWarm", "vignette"]
    # The portrait is bright in the middle, and not one colour.
    colours = page.run("(areas) => studioObserver.colours(areas)", camera.areas())
    assert len({tuple(each) for each in colours.values()}) > 1
    page.until("() => document.querySelectorAll('#gallery [data-shown]').length >= 4")
    page.click('#gallery [data-filter="sepiaTone"]')
    page.until("() => document.querySelector('#step-pick.done')")
    page.enter('[data-filter="sepiaTone"] [data-parameter="intensity"] input[type=range]', "0.5")
    page.until("() => document.querySelector('#step-tune.done')")
    page.until("() => document.querySelector('#snippet').textContent.includes('intensity: 0.5')")
    page.click("#copy")
    page.until("() => document.querySelector('#step-copy.done')")
    page.run("() => 0")  # Reads the last messages of the console.
    problems = [line for line in browser.console if line.startswith(("error", "warning"))]
    assert not problems, problems
    assert not [line for line in browser.console if "Content Security Policy" in line]


def test_the_portrait_moves(page):
    moved = """(areas) => {
        const now = JSON.stringify(studioObserver.colours(areas));
        window.firstColours ??= now;
        return now !== window.firstColours;
    }"""
    page.until(moved, camera.areas())


def test_the_camera_comes_back_filtered(page):
    page.use_camera()
    clear = page.wait_for_picture("c.red[0] > 200 && c.red[1] < 60 && c.green[1] > 200")
    page.enter_text("colorInvert")
    inverted = page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200 && c.green[1] < 60")
    for area, colour in clear.items():
        for before, after in zip(colour, inverted[area], strict=True):
            assert abs(before + after - 255) < 30, area


def test_a_mirrored_camera_exchanges_left_and_right(page):
    page.use_camera()
    page.wait_for_picture("c.red[0] > 200 && c.gray[0] > 150 && c.gray[1] > 150")
    page.click("#mirror")
    # The area of the red patch shows what was at its mirrored place, a part of the grey patch.
    page.wait_for_picture("c.red[1] > 150 && c.gray[1] < 60")


def test_another_size_changes_the_picture_and_keeps_the_filters(page):
    page.use_camera("colorInvert")
    page.enter("#size", "320x180")
    page.until("() => document.querySelector('#picture').width === 320")
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200")
