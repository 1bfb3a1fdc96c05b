"""The gallery: thumbnails of all filters, which never disturb the picture."""

from studiotesting.page import StudioPage
from studiotesting.studio import Studio


def test_each_filter_has_a_thumbnail_or_a_reason_why_there_is_none(open_page):
    # A window in which all thumbnails are visible.
    page = open_page(width=1170, height=16000)
    page.wait_until_ready()
    page.until(
        """() => [...document.querySelectorAll("#gallery .thumb")].every((each) =>
            each.dataset.shown || each.classList.contains("unavailable"))""",
        seconds=300,
    )
    names = page.run(
        "() => [...document.querySelectorAll('#gallery .thumb')].map((e) => e.dataset.filter)"
    )
    assert len(names) == len(set(names)) > 50
    unavailable = page.run(
        """() => Object.fromEntries([...document.querySelectorAll("#gallery .unavailable")]
            .map((each) => [each.dataset.filter, each.querySelector(".thumb-note").textContent]))"""
    )
    assert unavailable["colorCube"] == "Needs a .cube file: drop one on the picture"
    assert "text" not in unavailable
    # The thumbnails of filters with an obvious effect differ from each other.
    pictures = page.run(
        """() => ["colorInvert", "sepiaTone", "grayscale", "pixellate"].map((name) =>
            JSON.stringify(studioObserver.colours(
                { middle: [0.2, 0.2, 0.6, 0.6], left: [0, 0, 0.2, 1] },
                `#gallery [data-filter="${name}"] canvas`)))"""
    )
    assert len(set(pictures)) == len(pictures)


def test_thumbnails_are_in_a_session_of_their_own(page):
    page.use_camera("colorInvert")
    page.until("() => document.querySelectorAll('#gallery [data-shown]').length >= 6")
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200")
    assert page.pipeline() == "colorInvert"


def test_the_search_finds_filters_by_name_category_and_description(page):
    def shown() -> set[str]:
        return set(page.run(
            """() => [...document.querySelectorAll("#gallery .thumb")]
                .filter((each) => each.offsetParent).map((each) => each.dataset.filter)"""
        ))

    page.until("() => document.querySelector('#gallery .thumb')")
    everything = shown()
    page.enter("#search", "gaussian blur")
    assert "gaussianBlur" in shown() and len(shown()) < 6
    page.enter("#search", "hide the face")
    assert {"faceBlur", "facePixellate"} <= shown() and len(shown()) < 4
    page.enter("#search", "black and white")
    assert "grayscale" in shown()
    page.enter("#search", "distortion")
    assert {"twirlDistortion", "bumpDistortion"} <= shown()
    page.enter("#search", "no such filter")
    assert shown() == set()
    assert not page.run("() => document.querySelector('#gallery-none').hidden")
    page.enter("#search", "")
    assert shown() == everything


def test_the_grid_has_no_holes_while_searching(page):
    places = """() => [...document.querySelectorAll("#gallery .category")]
        .filter((each) => each.offsetParent)
        .map((each) => [...each.querySelectorAll(".thumb")].filter((thumb) => thumb.offsetParent)
            .map((thumb) => [thumb.offsetLeft, Math.round(thumb.getBoundingClientRect().top
                - each.getBoundingClientRect().top)]))"""
    page.until("() => document.querySelector('#gallery .thumb')")
    # The left edge of the first column, and the top of the first row.
    left, top = page.run(places)[0][0]
    page.enter("#search", "blur")
    for grid in page.run(places):
        first_row = [x for x, y in grid if y == top]
        assert first_row[0] == left and len(first_row) == min(len(grid), 2)
        assert len({y for _, y in grid}) == (len(grid) + 1) // 2


def test_favourites_are_above_the_categories_also_on_the_next_visit(page, open_page):
    favourites = """() => [...document.querySelectorAll(
        "[aria-labelledby=category-favourites] .thumb")].map((each) => each.dataset.filter)"""
    order = "() => [...document.querySelectorAll('#gallery .thumb')].map((e) => e.dataset.filter)"
    star = "li:has(> [data-filter={}]) .star"
    page.until("() => document.querySelector('#gallery .thumb')")
    before = page.run(order)
    assert page.run("() => !document.querySelector('#category-favourites').checkVisibility()")
    for name in ["vignette", "colorInvert"]:
        page.run("(star) => document.querySelector(star).click()", star.format(name))
    assert page.run(favourites) == ["vignette", "colorInvert"]
    assert len(page.run(order)) == len(before)
    page = open_page()
    page.wait_until_ready()
    assert set(page.run(favourites)) == {"vignette", "colorInvert"}
    assert page.run("(star) => document.querySelector(star).ariaPressed",
                    star.format("vignette")) == "true"
    for name in ["vignette", "colorInvert"]:
        page.run("(star) => document.querySelector(star).click()", star.format(name))
    assert page.run(favourites) == [] and page.run(order) == before


def test_recently_used_filters_are_one_click_away(page):
    recent = "() => [...document.querySelectorAll('[data-recent]')].map((e) => e.dataset.recent)"
    page.use_camera()
    for name in ["sepiaTone", "colorInvert", "sepiaTone"]:
        page.click(f'#gallery [data-filter="{name}"]')
    assert page.run(recent)[:2] == ["sepiaTone", "colorInvert"]
    page.click("[data-recent=colorInvert] button")
    assert page.stages() == ["sepiaTone", "colorInvert", "sepiaTone", "colorInvert"]
    assert page.run(recent)[:2] == ["colorInvert", "sepiaTone"]
    page.enter("#search", "blur")
    assert page.run("() => !document.querySelector('[data-recent]').checkVisibility()")


def test_a_filter_that_the_server_refuses_says_why_also_on_a_click(browser):
    permit = "filters=* parameters=sepiaTone.intensity:0...0.5"
    with Studio("--permit", permit) as studio:
        page = StudioPage(browser, studio.url)
        try:
            page.wait_until_ready()
            page.enter("#search", "sepia tone")
            note = '#gallery [data-filter="sepiaTone"] .thumb-note'
            page.until("(s) => document.querySelector(s).textContent", note)
            sentence = page.text(note)
            assert sentence.startswith("intensity ") and "0...0.5" in sentence
            # It is completely visible.
            assert page.run(
                "(s) => { const e = document.querySelector(s);"
                " return e.scrollHeight <= e.clientHeight; }", note
            )
            page.click('#gallery [data-filter="sepiaTone"]')
            page.until(
                "(sentence) => document.querySelector('#hints').textContent.includes(sentence)",
                sentence,
            )
        finally:
            page.close()
