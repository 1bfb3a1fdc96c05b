"""Takes the screenshots and the recording of the guide to the studio: screenshots.py FOLDER."""

import base64
import sys
import tempfile
from pathlib import Path

from calltesting.browser import Browser
from studiotesting.page import StudioPage
from studiotesting.studio import Studio

import recording

LOOK = "vintageWarm, vignette(intensity: 0.6)"
WIDTH, HEIGHT = 1440, 900
# High enough for the whole of a panel.
TALL = 1700
PHONE_WIDTH, PHONE_HEIGHT = 390, 844
QUALITY = 88
# The length of the chart.
CHART_SECONDS = 10
# The frames per second, and the milliseconds, of a machine without other work.
MIN_FPS, MAX_LATENCY = 25, 100
MARGIN = 10
# A box around a face, to the right of the figures.
BOX = """() => {
    const canvas = document.querySelector("#analyses");
    const left = 240;
    return canvas.width > left && canvas.getContext("2d")
        .getImageData(left, 0, canvas.width - left, canvas.height)
        .data.some((value, index) => index % 4 === 3 && value > 0);
}"""


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        camera = recording.portrait_camera(Path(temporary, "camera.y4m"))
        with Browser(camera) as browser, Studio() as studio:
            page = StudioPage(browser, studio.url, WIDTH, HEIGHT)
            page.page.command("Emulation.setScrollbarsHidden", hidden=True)
            page.wait_until_ready()
            page.wait_for_thumbnails()
            fill_chart(page)
            take(page, folder / "studio.webp")
            page.colour_scheme("dark")
            take(page, folder / "dark.webp")
            take_operators(page, folder)
            take_phone(page, folder)
            page.resize(WIDTH, TALL)
            take_comparison(page, folder)
            take_error(page, folder)
            take_slow_motion(page, folder)
    recording.record(folder / "first-steps.webp")


def take_operators(page: StudioPage, folder: Path) -> None:
    """Shows the session of the page, with an override."""
    page.click("#tab-operators")
    page.until("() => document.querySelector('.session')")
    page.enter(".session input.mono", "pixellate(scale: 24)")
    page.enter(".session input[maxlength]", "a face that must not be shown")
    page.click('.session [data-action="override"]')
    page.until("() => document.querySelector('.session[data-state=OVERRIDDEN]')")
    take(page, folder / "operators.webp")
    page.click('.session [data-action="end-override"]')
    page.until("() => !document.querySelector('.session[data-state=OVERRIDDEN]')")
    page.click("#tab-studio")
    page.until("() => document.querySelector('#banner').hidden")


def take_phone(page: StudioPage, folder: Path) -> None:
    """Shows the page in the width of a phone."""
    page.colour_scheme("light")
    page.resize(PHONE_WIDTH, PHONE_HEIGHT, is_mobile=True)
    page.wait_for_thumbnails()
    take(page, folder / "phone.webp")


def take_comparison(page: StudioPage, folder: Path) -> None:
    """Shows the line between original and filtered picture, and analyses."""
    page.click("#toggle-split")
    page.enter_text("faceDetection, brightnessStatistics, zoomBlur(amount: 8)")
    page.until("() => document.querySelectorAll('#passes [data-time]').length >= 1")
    page.until(BOX)
    take(page, folder / "compare.webp", ".viewer")
    page.click("#toggle-split")


def take_error(page: StudioPage, folder: Path) -> None:
    """Shows an error under its character."""
    page.enter_text("sepiaTone(intensity: 0.8)")
    page.until("() => document.querySelectorAll('#stages > li').length === 1")
    page.enter_text("sepiaTone(intensity: 0.8), gausianBlur(radius: 4) @mix(0.5)")
    page.until("() => document.querySelector('#use-suggestion')")
    take(page, folder / "error.webp", ".text-editor")


def take_slow_motion(page: StudioPage, folder: Path) -> None:
    """Shows an overload, for the length of the chart."""
    page.enter_text(LOOK)
    page.until(
        "() => document.querySelector('#passes').textContent.includes('vintageWarm + vignette')"
    )
    page.enter("#budget", "0")
    fill_chart(page)
    page.enter("#slow-motion", "8")
    page.run(
        "(ms) => new Promise((resolve) => setTimeout(resolve, ms))", CHART_SECONDS * 500
    )
    take(page, folder / "slow-motion.webp", ".metrics")


def fill_chart(page: StudioPage) -> None:
    """Lets the time of the chart pass, and waits for a time without disturbances."""
    page.run(
        "(ms) => new Promise((resolve) => setTimeout(resolve, ms))", CHART_SECONDS * 1000
    )
    page.until(
        """([fps, latency]) => {
            const value = (id) => Number(document.getElementById(id).dataset.value);
            return value("fps") >= fps && value("latency-p95") <= latency;
        }""",
        [MIN_FPS, MAX_LATENCY],
    )


def take(page: StudioPage, path: Path, selector: str | None = None) -> None:
    """Writes a picture of the window, or of an element."""
    page.run("() => new Promise((resolve) => requestAnimationFrame(resolve))")
    clip = {}
    if selector:
        x, y, width, height = page.run(
            """(selector) => {
                const { x, y, width, height } =
                    document.querySelector(selector).getBoundingClientRect();
                return [x - MARGIN, y - MARGIN, width + 2 * MARGIN, height + 2 * MARGIN];
            }""".replace("MARGIN", str(MARGIN)),
            selector,
        )
        clip = {"clip": {"x": x, "y": y, "width": width, "height": height, "scale": 1}}
    picture = page.page.command("Page.captureScreenshot", format="webp", quality=QUALITY, **clip)
    path.write_bytes(base64.b64decode(picture["data"]))
    print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
