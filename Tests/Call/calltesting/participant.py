"""A participant of a call: the page of `Examples/call` in a window, used as a person uses it.

Elements are found by the names that the page gives them for tests: ids, and attributes `data-...`.
"""

import json
from typing import Any
from urllib.parse import urlencode

from . import barcode, camera
from .devtools import WAIT_SECONDS, DevTools, Page
from .latency import Sample

# The name under which the own camera is read; participants must have other names.
CAMERA = "(camera)"

TILE = """(name) => document.querySelector(name === "(camera)"
    ? ".tile[data-self] video" : `.tile[data-participant="${name}"] video`)"""


class Participant:
    """A participant in a room. The own tile shows the camera, without filters."""

    def __init__(
        self,
        browser: DevTools,
        call: str,
        name: str,
        room: str = "test",
        frames_per_second: int = 30,
        size: tuple[int, int] = (640, 360),
    ) -> None:
        width, height = size
        query = urlencode(
            {
                "room": room, "name": name, "width": width, "height": height,
                "rate": frames_per_second, "preview": "off",
            }
        )
        self.name = name
        self.room = room
        self.page: Page = browser.open(f"{call}/?{query}&join")
        self.page.until(
            """() => {
                const problem = document.querySelector("#join-error");
                if (problem && !problem.hidden) throw new Error(problem.textContent);
                return document.documentElement.dataset.call === "joined";
            }"""
        )

    def leave(self) -> None:
        """Leaves the call with the button of the page."""
        self.click("#leave")

    # The videos

    def read(self, name: str = CAMERA) -> None:
        """Starts to read the frames of a tile: of a participant, or the own camera."""
        self.page.until(f"(name) => ({TILE})(name)?.readyState >= 2", name)
        self.page.run(
            f"(name, ...rest) => sidelightReader.read(name, ({TILE})(name), ...rest)",
            name, barcode.layout(), camera.areas(), camera.DETAIL,
        )

    def take(self, name: str = CAMERA) -> list[Sample]:
        """Returns the frames of a tile that came since the last call."""
        return self.page.run("(name) => sidelightReader.take(name)", name)

    def wait_for_frames(self, name: str, count: int, seconds: float = WAIT_SECONDS) -> None:
        """Waits until so many frames of a tile were read since the last `take`."""
        self.page.until(
            "(name, count) => sidelightReader.samples(name).length >= count", name, count,
            seconds=seconds,
        )

    def wait_for_look(
        self, name: str, condition: str, count: int = 5, seconds: float = WAIT_SECONDS
    ) -> Sample:
        """Waits for so many successive frames of a tile that meet a condition of JavaScript on
        `frame`, and returns the first of them."""
        return self.page.until(
            f"""(name, count) => {{
                let successive = 0;
                for (const frame of sidelightReader.samples(name)) {{
                    successive = ({condition}) ? successive + 1 : 0;
                    if (successive === 1) first = frame;
                    if (successive >= count) return first;
                }}
            }}""".replace("let successive", "let first, successive"),
            name, count, seconds=seconds,
        )

    def wait_until_gone(self, name: str, seconds: float) -> None:
        """Waits until there is no tile of a participant."""
        self.page.until(f"(name) => ({TILE})(name) === null", name, seconds=seconds)

    def frames_sent(self) -> int:
        """Returns the frames of the camera that the browser has encoded and sent so far."""
        return self._call_with_objects(
            "RTCPeerConnection",
            """async function () {
                const reports = await Promise.all(this.map((each) => each.getStats()));
                return reports.flatMap((report) => [...report.values()])
                    .filter(({ type }) => type === "outbound-rtp")
                    .reduce((sum, { framesSent }) => sum + (framesSent ?? 0), 0);
            }""",
        )

    def receive(self, **message: object) -> None:
        """Lets the page receive a message, as if the call server had sent it."""
        self._call_with_objects(
            "RTCDataChannel",
            """function (data) {
                for (const channel of this) {
                    channel.dispatchEvent(new MessageEvent("message", { data }));
                }
            }""",
            json.dumps(message),
        )

    def _call_with_objects(self, type_: str, function: str, *arguments: str) -> Any:
        """Calls a function of JavaScript on all objects of a type, as an array."""
        prototype = self.page.command(
            "Runtime.evaluate", expression=f"{type_}.prototype"
        )["result"]["objectId"]
        found = self.page.command("Runtime.queryObjects", prototypeObjectId=prototype)
        return self.page.command(
            "Runtime.callFunctionOn",
            objectId=found["objects"]["objectId"],
            functionDeclaration=function,
            arguments=[{"value": each} for each in arguments],
            awaitPromise=True,
            returnByValue=True,
        )["result"].get("value")

    # The controls

    def click(self, selector: str) -> None:
        """Clicks an element, once it is there."""
        click(self.page, selector)

    def enter(self, selector: str, value: str) -> None:
        """Changes the value of a control, as a person who types or drags does."""
        enter(self.page, selector, value)

    def select(self, pipeline: str) -> None:
        """Selects a pipeline as text. Returns at once."""
        self.enter("#pipeline-text", pipeline)
        self.click("#apply-text")

    def select_and_wait(self, pipeline: str) -> "Applied":
        """Selects a pipeline as text, and waits until it is in force."""
        before = self.applied()
        self.select(pipeline)
        return self.wait_for_applied(before)

    # The state that the page shows

    def applied(self) -> "Applied":
        """Returns the last change in force."""
        data = self.data("#applied")
        return Applied(int(data.get("revision") or 0), int(data.get("sequence") or 0))

    def wait_for_applied(self, before: "Applied", seconds: float = WAIT_SECONDS) -> "Applied":
        """Waits until a later change is in force than one."""
        self.page.until(
            """(revision) =>
                Number(document.querySelector("#applied").dataset.revision || 0) > revision""",
            before.revision, seconds=seconds,
        )
        return self.applied()

    def data(self, selector: str) -> dict[str, str]:
        """Returns the data attributes of an element; empty if there is no such element."""
        return self.page.run(
            "(selector) => ({ ...document.querySelector(selector)?.dataset })", selector
        )

    def text(self, selector: str) -> str:
        """Returns the text of an element."""
        return self.page.run(
            "(selector) => document.querySelector(selector)?.textContent.trim() ?? ''", selector
        )

    def wait_for_status(self, *states: str, seconds: float = WAIT_SECONDS) -> None:
        """Waits until the banner shows one of some states."""
        self.page.until(
            "(states) => states.includes(document.querySelector('#status').dataset.state)",
            list(states), seconds=seconds,
        )

    def statistics(self) -> "Statistics":
        """Returns the statistics that the page shows, once they have been updated."""
        values = self.page.run(
            """() => new Promise((resolve) => {
                const of = (attribute) => Object.fromEntries(
                    [...document.querySelectorAll(`[data-${attribute}]`)]
                        .map((each) => [each.dataset[attribute], Number(each.dataset.value || 0)]));
                const rate = document.querySelector('[data-stat="received"]');
                new MutationObserver((_, observer) => {
                    observer.disconnect();
                    queueMicrotask(() => resolve([of("stat"), of("dropped")]));
                }).observe(rate, { attributes: true, childList: true, characterData: true });
            })"""
        )
        return Statistics(*values)


class Applied:
    """A change in force: its revision, and the sequence of the first frame filtered using it."""

    def __init__(self, revision: int, sequence: int) -> None:
        self.revision = revision
        self.sequence = sequence


class Statistics:
    """The statistics of the page."""

    def __init__(self, values: dict[str, float], dropped: dict[str, float]) -> None:
        self.values = values
        self.dropped = dropped

    def __getitem__(self, name: str) -> float:
        return self.values[name]

    @property
    def outcomes(self) -> float:
        """The frames that have an outcome."""
        return sum(self.values[each] for each in ("filtered", "passed-through", "degraded")) + sum(
            self.dropped.values()
        )


def click(page: Page, selector: str) -> None:
    """Clicks an element of a page, once it is there."""
    page.until("(selector) => document.querySelector(selector)", selector)
    page.run("(selector) => document.querySelector(selector).click()", selector)


def enter(page: Page, selector: str, value: str) -> None:
    """Changes the value of a control of a page, once it is there."""
    page.until("(selector) => document.querySelector(selector)", selector)
    page.run(
        """(selector, value) => {
            const control = document.querySelector(selector);
            control.value = value;
            for (const type of ["input", "change"]) {
                control.dispatchEvent(new Event(type, { bubbles: true }));
            }
        }""",
        selector, value,
    )
