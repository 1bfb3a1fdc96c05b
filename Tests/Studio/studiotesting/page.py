"""The studio's page in a browser, as a user operates it."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

from calltesting import camera
from calltesting.devtools import DevTools, Page
from calltesting.participant import click, enter

OBSERVER = resources.files(__package__) / "observer.js"
WIDTH, HEIGHT = 1500, 1000
KEY_CODES = {
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35,
    "Tab": 9, "Enter": 13, "Escape": 27, " ": 32,
}


class StudioPage:
    """The page, opened at a URL. `before` is a script that runs before the page's own."""

    def __init__(
        self, browser: DevTools, url: str, width: int = WIDTH, height: int = HEIGHT,
        before: str = "",
    ) -> None:
        self.page: Page = browser.open("about:blank", width, height)
        self.page.command("Log.enable")
        if before:
            self.page.command("Page.addScriptToEvaluateOnNewDocument", source=before)
        self.resize(width, height)
        self.load(url)

    def load(self, url: str) -> None:
        """Loads a URL."""
        self.page.load(url)
        self.page.command("Runtime.evaluate", expression=OBSERVER.read_text())

    def resize(self, width: int, height: int, is_mobile: bool = False) -> None:
        """Changes the size of the window, in CSS pixels."""
        self.page.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height,
            deviceScaleFactor=1, mobile=is_mobile,
        )

    def close(self) -> None:
        """Closes the page."""
        self.page.close()

    # Reading

    def run(self, function: str, *arguments: object) -> Any:
        """Calls a function of JavaScript."""
        return self.page.run(function, *arguments)

    def until(self, condition: str, *arguments: object, seconds: float = 60) -> Any:
        """Waits until a function of JavaScript returns something."""
        return self.page.until(condition, *arguments, seconds=seconds)

    def text(self, selector: str) -> str:
        """Returns the text of an element."""
        return self.run("(s) => document.querySelector(s).textContent.trim()", selector)

    def pipeline(self) -> str:
        """Returns the pipeline's text."""
        return self.run("() => document.querySelector('#pipeline-text').value")

    def stages(self) -> list[str]:
        """Returns the filters of the stages in order."""
        return self.run(
            "() => [...document.querySelectorAll('#stages > li')].map((e) => e.dataset.filter)"
        )

    def colours(self) -> dict[str, list[int]]:
        """Returns the colours of the camera's areas in the picture."""
        return self.run("(areas) => studioObserver.colours(areas)", camera.areas())

    def wait_for_picture(self, condition: str, seconds: float = 60) -> dict[str, list[int]]:
        """Waits until the colours of the camera's areas meet a condition of JavaScript on `c`."""
        return self.until(
            f"(areas) => {{ const c = studioObserver.colours(areas); return ({condition}) && c; }}",
            camera.areas(), seconds=seconds,
        )

    def wait_until_ready(self) -> None:
        """Waits until the page is connected, has selected its first pipeline and listed the
        filters, and shows filtered frames."""
        self.until(
            """() => document.querySelector("#connection").dataset.state === "open"
                && document.querySelector("#gallery [data-filter]")
                && Number(document.querySelector("#fps").dataset.value) > 0"""
        )

    def wait_for_thumbnails(self) -> None:
        """Waits until every visible thumbnail has a picture or the reason why it is missing."""
        self.until(
            """() => {
                const { bottom, right } =
                    document.querySelector(".gallery").getBoundingClientRect();
                return [...document.querySelectorAll("#gallery .thumb")].filter((each) => {
                    const { top, left } = each.getBoundingClientRect();
                    return top < Math.min(bottom, innerHeight) && left < right;
                }).every((each) => each.dataset.shown || each.classList.contains("unavailable"));
            }"""
        )

    def state(self) -> str:
        """Returns what the page says of itself, for the report of a failed test."""
        return json.dumps(
            self.run(
                """() => Object.fromEntries(["connection", "banner", "pipeline-text",
                    "text-problem", "refusal", "source", "budget", "fps", "latency-p95",
                    "drop-counts", "announcements"].map((id) => {
                    const element = document.getElementById(id);
                    return [id, [element.value ?? element.textContent, { ...element.dataset }]];
                }))"""
            ),
            indent=1,
        )

    # Operating

    def use_camera(self, pipeline: str = "") -> None:
        """Uses the fake camera, as it is, with a pipeline."""
        self.click("#use-camera")
        self.until("() => document.querySelector('#source').value === 'camera'")
        if self.run("() => document.querySelector('#mirror').ariaPressed") == "true":
            self.click("#mirror")
        self.enter_text(pipeline)
        self.until("() => document.querySelector('#pipeline-text').dataset.state === 'selected'")

    def enter_text(self, text: str) -> None:
        """Writes the pipeline's text."""
        self.enter("#pipeline-text", text)

    def enter(self, selector: str, value: str) -> None:
        """Changes the value of a control."""
        enter(self.page, selector, value)

    def click(self, selector: str) -> None:
        """Clicks an element, once it is there."""
        click(self.page, selector)

    def place(self, selector: str, x: float = 0.5, y: float = 0.5) -> tuple[float, float]:
        """Returns a place of an element in the window: parts of its width and height."""
        self.until("(s) => document.querySelector(s)", selector)
        left, top, width, height = self.run(
            """(selector) => {
                const element = document.querySelector(selector);
                element.scrollIntoView({ block: "nearest" });
                const { left, top, width, height } = element.getBoundingClientRect();
                return [left, top, width, height];
            }""",
            selector,
        )
        return left + x * width, top + y * height

    def mouse(self, kind: str, x: float, y: float, is_down: bool = True, clicks: int = 1) -> None:
        """Moves, presses or releases the mouse: `Moved`, `Pressed`, `Released`."""
        self.page.command(
            "Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y,
            button="left" if is_down else "none", clickCount=clicks,
            buttons=1 if is_down and kind != "Released" else 0,
        )

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drags from one place of the window to another."""
        self.mouse("Moved", *start, is_down=False)
        self.mouse("Pressed", *start)
        for part in (0.2, 0.5, 0.8, 1):
            self.mouse("Moved", *(a + (b - a) * part for a, b in zip(start, end, strict=True)))
        self.mouse("Released", *end)

    def double_click(self, selector: str) -> None:
        """Clicks the middle of an element twice."""
        place = self.place(selector)
        for count in (1, 2):
            self.mouse("Pressed", *place, clicks=count)
            self.mouse("Released", *place, clicks=count)

    def focus(self, selector: str) -> None:
        """Gives an element the focus, as the Tab key does."""
        self.until("(s) => document.querySelector(s)", selector)
        self.run("(s) => document.querySelector(s).focus({ focusVisible: true })", selector)

    def key(self, key: str, shift: bool = False) -> None:
        """Presses a key."""
        code = KEY_CODES.get(key) or ord(key.upper())
        text = "\r" if key == "Enter" else key if len(key) == 1 else ""
        self.page.command(
            "Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code,
            text=text, modifiers=8 if shift else 0,
        )
        self.page.command(
            "Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code,
            modifiers=8 if shift else 0,
        )

    def choose_still(self, path: Path) -> None:
        """Chooses a picture as the source."""
        self.enter("#source", "still")
        node = self.page.command("DOM.getDocument")["root"]["nodeId"]
        found = self.page.command("DOM.querySelector", nodeId=node, selector="#source-file")
        self.page.command("DOM.setFileInputFiles", nodeId=found["nodeId"], files=[str(path)])
        self.until("() => document.querySelector('#source').value === 'still'")

    def drop_file(self, path: Path, selector: str = "#screen") -> None:
        """Drops a file on an element."""
        x, y = self.place(selector)
        data = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.page.command("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def capture_files(self) -> None:
        """Keeps the next files that the page saves, for `saved_file`."""
        self.run(
            """() => {
                window.savedFiles = [];
                const create = URL.createObjectURL;
                URL.createObjectURL = (file) => {
                    window.savedFiles.push(file);
                    document.body.dataset.savedFiles = window.savedFiles.length;
                    return create(file);
                };
            }"""
        )

    def colour_scheme(self, scheme: str) -> None:
        """Changes the scheme of the system: `light` or `dark`."""
        self.page.command(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.run(
            """async () => {
                getComputedStyle(document.body).backgroundColor;
                await new Promise((resolve) => requestAnimationFrame(resolve));
                await Promise.all(document.getAnimations().map((each) => each.finished));
            }"""
        )
