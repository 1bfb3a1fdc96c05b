"""The operators' tab: sessions, and overrides with a time limit."""


def test_an_override_replaces_the_filters_and_ends(page, open_page):
    page.use_camera("sepiaTone")
    page.wait_for_picture("c.red[0] > 60 && c.blue[2] < 90")
    operator = open_page()
    operator.wait_until_ready()
    operator.click("#tab-operators")
    operator.until("() => document.querySelectorAll('.session').length >= 2")
    card = operator.until(
        """() => [...document.querySelectorAll(".session")].find((each) =>
            each.querySelector(".session-pipeline").textContent === "sepiaTone")?.dataset.session"""
    )
    row = f'[data-session="{card}"]'
    assert operator.text(f"{row} h3") == "studio"
    assert "640 × 360" in operator.text(f"{row} .facts")

    # An invalid pipeline is refused with a suggestion.
    operator.enter(f"{row} input.mono", "colorInvart")
    operator.click(f'{row} [data-action="override"]')
    operator.until(
        "(row) => document.querySelector(`${row} .problem:not([hidden])`)", row
    )
    assert "Did you mean colorInvert?" in operator.text(f"{row} .problem")

    operator.enter(f"{row} input.mono", "colorInvert")
    operator.enter(f"{row} input[maxlength]", "not suitable")
    operator.click(f'{row} [data-action="override"]')
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200")
    page.until("() => document.querySelector('#banner').textContent.includes('not suitable')")
    operator.until(
        "(row) => document.querySelector(row).dataset.state === 'OVERRIDDEN'", row
    )

    operator.click(f'{row} [data-action="end-override"]')
    page.wait_for_picture("c.red[0] > 60 && c.blue[2] < 90")
    page.until("() => document.querySelector('#banner').hidden")


def test_the_table_follows_sessions_that_end(page, open_page):
    other = open_page()
    other.wait_until_ready()
    page.click("#tab-operators")
    count = "() => document.querySelectorAll('[data-label=\"studio\"]').length"
    page.until(f"() => ({count})() >= 2")
    before = page.run(count)
    other.close()
    page.until(f"(before) => ({count})() < before", before)


def test_the_sessions_of_the_page_itself_are_not_offered(page, open_page):
    # The thumbnails and the times of stages have sessions, on the other page too.
    page.until("() => document.querySelectorAll('#gallery [data-shown]').length >= 2")
    page.until("() => document.querySelectorAll('#passes [data-time]').length >= 1")
    operator = open_page()
    operator.wait_until_ready()
    operator.until("() => document.querySelectorAll('#gallery [data-shown]').length >= 2")
    operator.until("() => document.querySelectorAll('#passes [data-time]').length >= 1")
    operator.click("#tab-operators")
    labels = "() => [...document.querySelectorAll('.session')].map((each) => each.dataset.label)"
    operator.until(f"() => ({labels})().length >= 2")
    assert set(operator.run(labels)) == {"studio"}
