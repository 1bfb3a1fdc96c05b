"""Takes the screenshots of the guide to the studio: screenshots.py FOLDER."""

import base64
import sys
import tempfile
from pathlib import Path

from calltesting.browser import Browser
from calltesting.camera import record
from studiotesting.page import StudioPage
from studiotesting.studio import Studio

LOOK = "vintageWarm, vignette(intensity: 0.6)"
WIDTH, HEIGHT = 1440, 900


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        camera = record(Path(temporary, "camera.y4m"), frames=60)
        with Browser(camera) as browser, Studio() as studio:
            page = StudioPage(browser, studio.url, WIDTH, HEIGHT)
            page.wait_until_ready()
            page.until("() => document.querySelectorAll('#gallery [data-shown]').length >= 10")
            take(page, folder / "studio.png")

            page.click("#toggle-split")
            page.enter_text("faceDetection, brightnessStatistics, zoomBlur(amount: 8)")
            page.until("() => document.querySelectorAll('#passes [data-time]').length >= 1")
            page.until(
                """() => document.querySelector("#analyses").getContext("2d")
                    .getImageData(20, 20, 1, 1).data[3] > 0"""
            )
            take(page, folder / "compare.png")
            page.click("#toggle-split")

            page.enter_text("sepiaTone, gausianBlur(radius: 4) @mix(0.5)")
            page.until("() => document.querySelector('#use-suggestion')")
            take(page, folder / "error.png", ".editor")

            page.enter_text(LOOK)
            page.enter("#budget", "0")
            page.enter("#slow-motion", "8")
            page.until("() => document.querySelectorAll('#drop-log li').length >= 2")
            page.run("() => document.querySelector('.metrics').scrollIntoView()")
            take(page, folder / "slow-motion.png", ".metrics")
            page.enter("#slow-motion", "0")
            page.run("() => scrollTo(0, 0)")

            page.colour_scheme("dark")
            take(page, folder / "dark.png")
            page.click("#tab-operators")
            page.until("() => document.querySelectorAll('.session').length >= 2")
            take(page, folder / "operators.png")
            page.click("#tab-studio")
            page.resize(390, 844, is_mobile=True)
            page.until("() => document.querySelector('#fps').dataset.value > 0")
            take(page, folder / "phone.png")


def take(page: StudioPage, path: Path, selector: str | None = None) -> None:
    """Writes a picture of the window, or of an element."""
    page.run("() => new Promise((resolve) => requestAnimationFrame(resolve))")
    clip = {}
    if selector:
        x, y, width, height = page.run(
            """(selector) => {
                const box = document.querySelector(selector).getBoundingClientRect();
                return [box.left + scrollX, box.top + scrollY, box.width, box.height];
            }""",
            selector,
        )
        clip = {"clip": {"x": x, "y": y, "width": width, "height": height, "scale": 1}}
    picture = page.page.command(
        "Page.captureScreenshot", format="png", captureBeyondViewport=bool(selector), **clip
    )
    path.write_bytes(base64.b64decode(picture["data"]))
    print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
