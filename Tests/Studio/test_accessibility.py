"""Keyboard, labels, contrast, small screens, and themes."""

import pytest

# The least contrast of WCAG 2.1 AA: text, and large text.
LEAST_CONTRAST, LEAST_CONTRAST_LARGE = 4.5, 3

UNLABELLED = """() => [...document.querySelectorAll(
    "button, input:not([type=file]), select, textarea, [role=slider], [role=tab], [role=group]")]
    .filter((each) => each.checkVisibility())
    .filter((each) => !(each.ariaLabel || each.getAttribute("aria-labelledby")
        || each.labels?.length || each.textContent.trim()))
    .map((each) => each.outerHTML.slice(0, 120))"""

CONTRASTS = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const rgba = (color) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
        const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
        return { red, green, blue, alpha: alpha / 255 };
    };
    const over = (top, bottom) => Object.fromEntries(["red", "green", "blue"].map((channel) =>
        [channel, top[channel] * top.alpha + bottom[channel] * (1 - top.alpha)]));
    const luminance = (color) => ["red", "green", "blue"].map((channel) => {
        const value = color[channel] / 255;
        return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    }).reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
    const ground = (element) => {
        for (let each = element; each; each = each.parentElement) {
            const color = rgba(getComputedStyle(each).backgroundColor);
            if (color.alpha === 1) return color;
            if (color.alpha > 0) return over(color, ground(each.parentElement));
        }
        return { red: 255, green: 255, blue: 255 };
    };
    const low = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
        if (element.closest(":disabled, .hidden, #pipeline-text, .screen, svg, option")) continue;
        const style = getComputedStyle(element);
        const [one, other] = [luminance(over(rgba(style.color), ground(element))),
            luminance(ground(element))].sort((a, b) => b - a);
        const contrast = (one + 0.05) / (other + 0.05);
        const size = parseFloat(style.fontSize);
        const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        if (contrast < (isLarge ? LARGE : SMALL)) {
            low.push([walker.currentNode.data.trim().slice(0, 40), contrast.toFixed(2)]);
        }
    }
    return low;
}""".replace("LARGE", str(LEAST_CONTRAST_LARGE)).replace("SMALL", str(LEAST_CONTRAST))

def show_everything(page) -> None:
    """Shows every kind of control, and an error in the text."""
    page.enter_text("backgroundBlur, gaussianBlur @region(0, 0, 0.5w, 1h), [sepiaTone] @off, "
                    "whitePointAdjust, colorMatrix, orient, vignetteEffect")
    page.until("() => document.querySelectorAll('#stages > li').length === 7")
    page.enter_text("sepiaTome")
    page.until("() => document.querySelector('#use-suggestion')")


def test_every_control_has_a_label(page):
    show_everything(page)
    assert page.run(UNLABELLED) == []
    page.click("#tab-operators")
    page.until("() => document.querySelector('.session')")
    assert page.run(UNLABELLED) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_enough_contrast(page, scheme):
    page.colour_scheme(scheme)
    show_everything(page)
    assert page.run(CONTRASTS) == []
    page.click("#tab-operators")
    page.until("() => document.querySelector('.session')")
    assert page.run(CONTRASTS) == []


def test_the_theme_follows_the_system_unless_the_user_chooses(page):
    ground = "() => getComputedStyle(document.body).backgroundColor"
    page.colour_scheme("light")
    light = page.run(ground)
    page.colour_scheme("dark")
    dark = page.run(ground)
    assert light != dark
    page.click("#theme")
    assert (page.run(ground), page.run("() => document.querySelector('#theme').ariaLabel")) == (
        light, "Theme: light")
    page.click("#theme")
    assert page.run(ground) == dark
    page.colour_scheme("light")
    assert page.run(ground) == dark
    page.click("#theme")
    assert page.run(ground) == light


@pytest.mark.parametrize("width", [360, 390, 780, 1180])
def test_nothing_is_cut_off_in_narrow_windows(page, width):
    page.resize(width, 800, is_mobile=width < 500)
    show_everything(page)
    page.click("#copy-shell")
    too_wide = page.run(
        """(width) => [...document.querySelectorAll(
                "main > *, .panel > *, .stage, .parameter, .parameter > *, .bar > *")]
            .filter((each) => each.checkVisibility() && getComputedStyle(each).overflow !== "auto")
            .filter((each) => each.getBoundingClientRect().right > width + 0.5
                || each.getBoundingClientRect().left < -0.5)
            .map((each) => `${each.tagName} ${each.className} ${each.id}`)""",
        width,
    )
    assert too_wide == []
    cut_off = page.run(
        """() => {
            const edge = document.querySelector(".editor").getBoundingClientRect().right;
            return [...document.querySelectorAll(".editor :is(.stage, .parameter > *, button)")]
                .filter((each) => each.checkVisibility()
                    && each.getBoundingClientRect().right > edge)
                .map((each) => each.outerHTML.slice(0, 80));
        }"""
    )
    assert cut_off == []
    assert page.run("() => document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [390, 1180, 1440])
def test_no_text_of_the_pipeline_is_cut(page, width):
    page.resize(width, 900, is_mobile=width < 500)
    page.enter_text("convolutionRGB3X3, temperatureAndTint, edgePreservingSmooth, vignetteEffect, "
                    "backgroundBlur(sigma: 0.02min), virtualBackground(protect: false)")
    page.until("() => document.querySelectorAll('#stages > li').length === 6")
    page.until("() => document.querySelector('.stage-time').textContent")
    page.click("#copy-python")
    cut = page.run(
        """() => {
            const context = new OffscreenCanvas(1, 1).getContext("2d");
            const isCut = (each) => {
                const { clientWidth, scrollWidth, scrollHeight, clientHeight } = each;
                if (each.tagName !== "SELECT") {
                    return scrollWidth > clientWidth + 1 || (getComputedStyle(each).overflowY
                        === "hidden" && scrollHeight > clientHeight + 1);
                }
                const style = getComputedStyle(each);
                context.font = style.font;
                const text = context.measureText(each.selectedOptions[0].textContent).width;
                const arrow = 16;
                return text + arrow + parseFloat(style.paddingLeft) > clientWidth;
            };
            return [...document.querySelectorAll(
                    ".editor :is(.stage-name span, .stage-time, label, select, .hint, #snippet)")]
                .filter((each) => each.checkVisibility() && isCut(each))
                .map((each) => `${each.tagName} ${each.className} ${each.textContent}`);
        }"""
    )
    assert cut == []
    names = page.run(
        "() => [...document.querySelectorAll('.stage-name')].map((each) => each.textContent)"
    )
    assert names[0] == "Convolution RGB 3×3"


def test_a_look_is_made_with_the_keyboard_alone(page):
    page.use_camera()
    page.wait_for_picture("c.gray[0] > 150 && c.gray[1] > 150")

    def tab_to(condition: str, most: int = 400) -> None:
        for _ in range(most):
            page.key("Tab")
            if page.run(f"() => {{ const e = document.activeElement; return {condition}; }}"):
                return
        raise AssertionError(f"the Tab key does not reach: {condition}")

    page.run("() => document.activeElement?.blur()")
    tab_to("e.classList.contains('skip')", 3)
    page.key("Enter")
    tab_to("e.id === 'search'")
    for letter in "invert":
        page.key(letter)
    tab_to("e.dataset.filter === 'colorInvert'", 5)
    page.key("Enter")
    page.wait_for_picture("c.red[0] < 60 && c.red[1] > 200")
    tab_to("e.dataset.action === 'active'")
    page.key(" ")
    page.wait_for_picture("c.red[0] > 200 && c.red[1] < 60")
    page.key(" ")
    tab_to("e.id === 'stage-0-colorInvert-mix'")
    page.key("Home")
    page.until(
        "() => document.querySelector('#pipeline-text').value === 'colorInvert @mix(0)'"
    )
    tab_to("e.id === 'copy-python'")
    page.key("ArrowRight")
    assert page.run("() => document.activeElement.id") == "copy-swift"
    assert "import SidelightClient" in page.text("#snippet")


def test_the_skip_link_keeps_the_pipeline(page):
    page.enter_text("sepiaTone")
    page.until("() => document.querySelectorAll('#stages > li').length === 1")
    page.run(
        "() => addEventListener('hashchange', () => { document.body.dataset.hash = location.hash; })"
    )
    page.focus(".skip")
    page.key("Enter")
    page.until("() => document.body.dataset.hash === '#studio'")
    assert (page.pipeline(), page.stages()) == ("sepiaTone", ["sepiaTone"])


def test_drops_and_problems_are_announced(page):
    assert page.run("() => document.querySelector('#drop-log').ariaLive") == "polite"
    for element in ("#banner", "#text-problem", "#refusal"):
        assert page.run("(s) => document.querySelector(s).role", element) == "alert"
    page.click('#gallery [data-filter="sepiaTone"]')
    page.until(
        "() => document.querySelector('#announcements').textContent === 'Sepia tone is added.'"
    )
