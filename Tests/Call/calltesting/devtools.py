"""The DevTools protocol over one WebSocket: commands to a browser and to its pages."""

import json
from collections import deque
from collections.abc import Callable
from importlib import resources
from typing import Any, Self

from websockets.sync.client import connect

CONNECT_SECONDS = 60
# The time that a command may take. A wait in a page is one.
COMMAND_SECONDS = 150
# The time that a condition of `Page.until` may take.
WAIT_SECONDS = 120
# The last messages of the pages' consoles that a failed test shows.
CONSOLE_LINES = 200

READER = resources.files(__package__) / "reader.js"


class PageError(Exception):
    """An exception of a script in a page, or a refused command."""


class DevTools:
    """A connection to a browser, open within a `with` block."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._last_id = 0
        self.console: deque[str] = deque(maxlen=CONSOLE_LINES)
        # Called with the parameters of the events of a name, while a command waits for its result.
        self.listeners: dict[str, Callable[[dict[str, Any]], None]] = {}

    def __enter__(self) -> Self:
        self._connection = connect(
            self._address, max_size=None, compression=None, open_timeout=CONNECT_SECONDS
        )
        self._socket = self._connection.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._connection.__exit__(*error)

    def command(self, method: str, session: str | None = None, **parameters: object) -> Any:
        """Sends a command, and returns its result."""
        number = self.send(method, session, **parameters)
        while True:
            answer = json.loads(self._socket.recv(timeout=COMMAND_SECONDS))
            if answer.get("id") == number:
                break
            self._keep(answer)
        if "error" in answer:
            raise PageError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def send(self, method: str, session: str | None = None, **parameters: object) -> int:
        """Sends a command whose result is not needed, and returns its number."""
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        self._socket.send(json.dumps(message))
        return self._last_id

    def open(self, address: str, width: int = 1280, height: int = 900) -> "Page":
        """Opens a page in a separate window, and waits until it is loaded."""
        target = self.command(
            "Target.createTarget", url="about:blank", newWindow=True, width=width, height=height
        )["targetId"]
        attached = self.command("Target.attachToTarget", targetId=target, flatten=True)
        page = Page(self, target, attached["sessionId"])
        page.load(address)
        return page

    def _keep(self, event: dict[str, Any]) -> None:
        """Keeps what the pages report in their consoles, and calls the listeners."""
        parameters = event.get("params", {})
        if listener := self.listeners.get(event.get("method", "")):
            listener(parameters)
        elif event.get("method") == "Runtime.consoleAPICalled":
            values = (each.get("value", each.get("description")) for each in parameters["args"])
            self.console.append(f"{parameters['type']}: {' '.join(map(str, values))}")
        elif event.get("method") == "Runtime.exceptionThrown":
            self.console.append(_exception(parameters["exceptionDetails"]))
        elif event.get("method") == "Log.entryAdded":
            entry = parameters["entry"]
            self.console.append(f"{entry['level']}: {entry['text']} ({entry.get('url', '')})")


class Page:
    """A page in a separate window."""

    def __init__(self, browser: DevTools, target: str, session: str) -> None:
        self._browser = browser
        self._target = target
        self._session = session
        self._is_closed = False
        self.command("Page.enable")
        self.command("Runtime.enable")

    def command(self, method: str, **parameters: object) -> Any:
        """Sends a command to the page, and returns its result."""
        return self._browser.command(method, self._session, **parameters)

    def send(self, method: str, **parameters: object) -> None:
        """Sends a command to the page whose result is not needed."""
        self._browser.send(method, self._session, **parameters)

    def load(self, address: str) -> None:
        """Loads an address, and waits until the page is complete."""
        failure = self.command("Page.navigate", url=address).get("errorText")
        if failure:
            raise PageError(f"{address}: {failure}")
        self.run(
            """() => new Promise((resolve) => document.readyState === "complete"
                ? resolve() : addEventListener("load", () => resolve(), { once: true }))"""
        )
        self.command("Runtime.evaluate", expression=READER.read_text())

    def run(self, function: str, *arguments: object) -> Any:
        """Calls a function of JavaScript, and returns its value, once it is settled."""
        expression = f"({function})(...{json.dumps(arguments)})"
        result = self.command(
            "Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True,
            userGesture=True,
        )
        if "exceptionDetails" in result:
            raise PageError(_exception(result["exceptionDetails"]))
        return result["result"].get("value")

    def until(self, condition: str, *arguments: object, seconds: float = WAIT_SECONDS) -> Any:
        """Waits until a function of JavaScript returns something, and returns that. It is called
        when the document changes, and when a frame was read."""
        call = f"() => ({condition})(...{json.dumps(arguments)})"
        return self.run(
            f"(...rest) => sidelightReader.until({call}, ...rest)", seconds, f"{condition}"
        )

    def close(self) -> None:
        """Closes the page, as a participant who closes a tab does. A second call has no effect."""
        if not self._is_closed:
            self._is_closed = True
            self._browser.command("Target.closeTarget", targetId=self._target)


def _exception(details: dict[str, Any]) -> str:
    return str(details.get("exception", {}).get("description") or details["text"])
