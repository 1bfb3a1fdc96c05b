"""The page of a participant: its controls, hints over the video, and small screens."""

import pytest

from calltesting.looks import CLEAR

STICKERS = ["glasses", "hat", "moustache"]
PHONE_WIDTH, PHONE_HEIGHT = 390, 844
# The part of a phone's screen that the thumb of the hand that holds it reaches.
REACH = 0.4
SHOWN_ROWS = """(stage) => [...document.querySelectorAll(
    `#selected [data-stage="${stage}"] [data-parameter]`)]
    .filter((each) => each.checkVisibility()).map((each) => each.dataset.parameter)"""
# The contrast of the camera's small squares is 92, and less than this in a blurred picture.
LEAST_CONTRAST = 40


@pytest.fixture
def ana(join):
    return join("ana")


def add_stickers(participant):
    """Presses the buttons of the stickers, and waits for their stages."""
    for count, name in enumerate(STICKERS, 1):
        participant.click(f'[data-effect="{name}"]')
        participant.page.until(
            "(count) => document.querySelectorAll('#selected > li').length === count", count
        )


def test_stickers_are_named_and_have_the_controls_of_their_anchor(ana):
    add_stickers(ana)
    names = ana.page.run(
        """() => [...document.querySelectorAll("#selected .stage-name")]
            .map((each) => each.firstChild.textContent)"""
    )
    # The last one is the first stage.
    assert names == ["Moustache", "Hat", "Glasses"]
    assert "NaN" not in ana.page.run("() => document.querySelector('#selected').textContent")

    rows = ana.page.run(SHOWN_ROWS, "hat")
    assert {"anchor", "scale", "faceOffset", "which", "rotate", "fade"} <= set(rows)
    assert not {"origin", "width", "height", "offset", "fit", "id"} & set(rows)
    ana.enter('[data-stage="hat"] [data-parameter="which"] select', "id")
    assert "id" in ana.page.run(SHOWN_ROWS, "hat")

    ana.enter('[data-stage="hat"] [data-parameter="anchor"] select', "frame")
    rows = ana.page.run(SHOWN_ROWS, "hat")
    assert {"origin", "width", "height", "offset", "fit"} <= set(rows)
    assert not {"faceOffset", "which", "id", "rotate", "fade"} & set(rows)
    # The first values of points are numbers, too.
    assert "NaN" not in ana.page.run("() => document.querySelector('#selected').textContent")


def test_the_filters_have_thumbnails(ana):
    shown = ana.page.until(
        """() => {
            const list = document.querySelector("#filters");
            list.scrollIntoView();
            const images = [...list.querySelectorAll("button[data-filter] img")].slice(0, 12);
            return images.length && images.every((each) => each.complete) && images
                .map((each) => [each.naturalWidth, each.naturalHeight]);
        }"""
    )
    assert shown.count([192, 108]) >= 11


def test_the_search_finds_filters_by_purpose(ana):
    ana.enter("#filter-search", "hide the face")
    names = ana.page.run(
        """() => [...document.querySelectorAll("#filters button")]
            .filter((each) => each.checkVisibility()).map((each) => each.dataset.filter)"""
    )
    assert set(names) == {"faceBlur", "facePixellate"}
    ana.enter("#filter-search", "no such filter")
    assert not ana.page.run("() => document.querySelector('#filters-none').hidden")


def test_the_tile_says_why_its_video_is_hidden_whole(ana):
    hint = ".tile[data-self] .hints"
    report = {"event": "analysis", "filter": "faceBlur"}
    ana.receive(**report, figures={"wholeFrameSeconds": 4.7}, words={"wholeFrame": "cameraMoves"})
    assert ana.text(hint) == "Blurred whole: the camera moves (4 s)"
    place = ana.page.run(
        """(hint) => {
            const [shown, tile] = [document.querySelector(hint),
                document.querySelector(".tile[data-self]")]
                .map((each) => each.getBoundingClientRect());
            return shown.left >= tile.left && shown.right <= tile.right
                && shown.top >= tile.top && shown.bottom <= tile.bottom;
        }""",
        hint,
    )
    assert place and ana.page.run("(s) => document.querySelector(s).checkVisibility()", hint)
    ana.receive(**report, figures={"wholeFrameSeconds": 0}, words={"wholeFrame": ""})
    assert not ana.page.run("(s) => document.querySelector(s).checkVisibility()", hint)


def test_a_background_that_is_not_known_says_so_on_the_tile_and_blurs(join):
    ana, ben = join("ana"), join("ben")
    ben.read(ana.name)
    ben.wait_for_look(ana.name, CLEAR.condition)
    hint = '.tile[data-self] .hints'

    # The camera's picture has something that moves: the room is not learned.
    ana.click('[data-effect="office"]')
    ana.page.until(
        "(s) => document.querySelector(s).textContent.includes('Step out for two seconds')", hint
    )
    assert ana.page.run("(s) => document.querySelector(`${s} progress`).checkVisibility()", hint)
    # Still the camera's colours, without its details.
    ben.take(ana.name)
    ben.wait_for_look(
        ana.name,
        f"frame.contrast < {LEAST_CONTRAST} && frame.colours.red[0] > 150 "
        "&& frame.colours.red[2] < 90 && frame.colours.blue[2] > 150",
    )

    ana.click("#clear")
    ana.page.until("(s) => document.querySelector(s).hidden", hint)


def test_a_protected_background_shows_nothing_of_the_room(join):
    ana, ben = join("ana"), join("ben")
    ben.read(ana.name)
    ben.wait_for_look(ana.name, CLEAR.condition)
    ana.click("#background-protect")
    ana.click('[data-effect="gradient"]')
    ben.wait_for_look(
        ana.name, "frame.colours.red[0] < 150 && Math.abs(frame.colours.gray[0] - 191) > 40"
    )
    assert "Step out for two seconds" in ana.text(".tile[data-self] .hints")


def test_the_filters_are_within_reach_of_the_thumb_on_a_phone(ana):
    ana.page.command(
        "Emulation.setDeviceMetricsOverride", width=PHONE_WIDTH, height=PHONE_HEIGHT,
        deviceScaleFactor=1, mobile=True,
    )
    add_stickers(ana)
    for scroll in (0, 10_000):
        ana.page.run("(y) => document.querySelector('.panel').scrollTo(0, y)", scroll)
        tops = ana.page.run(
            """() => ["#filter-search", "#filters button", '[data-filter="grain"]'].map((each) => {
                const element = document.querySelector(each);
                const { left, top, width, height } = element.getBoundingClientRect();
                const found = document.elementFromPoint(left + width / 2, top + height / 2);
                return element === found || element.contains(found) ? top : -1;
            })"""
        )
        assert all(PHONE_HEIGHT * (1 - REACH) <= top < PHONE_HEIGHT - 20 for top in tops), tops
        # The own video is visible meanwhile.
        top, bottom = ana.page.run(
            """() => {
                const { top, bottom } =
                    document.querySelector(".tile[data-self]").getBoundingClientRect();
                return [top, bottom];
            }"""
        )
        assert 0 <= top < bottom <= PHONE_HEIGHT / 2
    too_wide = ana.page.run(
        """(width) => [...document.querySelectorAll("main > *, .panel > *, .parameter, .bar > *")]
            .filter((each) => each.checkVisibility())
            .filter((each) => each.getBoundingClientRect().right > width + 0.5)
            .map((each) => `${each.tagName} ${each.className} ${each.id}`)""",
        PHONE_WIDTH,
    )
    assert too_wide == []
    ana.click('[data-filter="grain"]')
    ana.page.until("() => document.querySelector('#selected [data-filter=\"grain\"]')")
