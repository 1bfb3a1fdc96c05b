"""The first steps of a newcomer, timed from the start of `sidelight studio`.

The browser is open already, and the steps follow each other at once: the times are those that the
programs take, without those in which a person reads and moves the mouse.
"""

import time
from dataclasses import dataclass
from pathlib import Path

from calltesting import camera as test_camera
from calltesting.browser import Browser
from calltesting.camera import Camera
from studiotesting.page import StudioPage
from studiotesting.studio import Studio

SCRIPT = Path(__file__).with_name("seen.js")
# The page mirrors a camera, so its red area is where the grey one is in the video.
RED = "c.gray[0] - c.gray[1] > 60"
CYAN = "c.gray[1] - c.gray[0] > 60"
MIX = '#stages [data-filter="colorInvert"] [data-parameter="mix"] input[type=range]'


@dataclass(frozen=True)
class Step:
    """A step, and the time that it took."""

    name: str
    seconds: float


class _Watch:
    """The time of every step."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._last = time.monotonic()

    def step(self, name: str) -> None:
        """Ends a step."""
        now = time.monotonic()
        self.steps.append(Step(name, now - self._last))
        self._last = now


def run(camera: Camera) -> list[Step]:
    """Goes through the steps, each of which ends when its result is on the screen."""
    with Browser(camera) as browser:
        page = StudioPage(browser, "about:blank")
        browser.command("Browser.grantPermissions", permissions=["clipboardSanitizedWrite"])
        watch = _Watch()
        with Studio() as studio:
            watch.step("`sidelight studio` prints its URL")
            page.load(studio.url)
            watch.step("the URL is opened, and the page is loaded")
            page.page.command("Runtime.evaluate", expression=SCRIPT.read_text())
            _wait_until_seen(page, "document.querySelector('#screen-message').hidden")
            watch.step("the portrait is filtered on the screen")
            page.click("#use-camera")
            _wait_until_seen(page, f"document.querySelector('#source').value === 'camera' && {RED}")
            watch.step("*Use my camera* is clicked, and the camera is filtered on the screen")
            page.click('#gallery [data-filter="colorInvert"]')
            _wait_until_seen(page, CYAN)
            watch.step("a filter of the gallery is clicked, and its effect is on the screen")
            page.enter(MIX, "0")
            _wait_until_seen(page, RED)
            watch.step("its slider is moved, and the effect is on the screen")
            page.click("#copy-python")
            page.click("#copy")
            page.until("() => document.querySelector('#copied').textContent.includes('is copied')")
            watch.step("*Copy as* Python is clicked, and the code is in the clipboard")
            assert "colorInvert @mix(0)" in page.text("#snippet")
        return watch.steps


def _wait_until_seen(page: StudioPage, condition: str) -> None:
    page.run(f"(areas) => studioSeen(areas, (c) => {condition})", test_camera.areas())
