"""The data channel of a participant: commands of its page, and events and statistics for it.

The WebSocket `/signalling` carries offers, answers and the room's participants; a participant leaves
when it closes. The data channel `sidelight` carries JSON. A command has an `id`, and its answer the
same number in `reply`:

- `select`: `text`, the new pipeline. Answer: `revision`, `text` in canonical form.
- `update`: `stage`, `values` by parameter, as clients over WebSockets have them: `{"number": 0.5}`,
  `{"length": {"value": 0.1, "unit": "WIDTH"}}`. Answer: `revision`.
- `activate`: `stages`, an object of flags. Answer: `revision`.
- `check`: `text`. Answer: `text` in canonical form.
- `pause`, `resume`; `preview`: `on`, whether the filtered video is sent back.
- `span`: `traceparent`, `name`, `start`, `end`: a finished span of the page, times in milliseconds
  since the Unix epoch. No answer.

A command may have a `traceparent` (W3C), the parent of the call server's span and of the next frame.
The answer to a refused command is `error`: `code`, `message`, and where they apply `field`, `value`,
`limit`, `suggestion`, `line`, `column`. Events:

- `applied`: `revision`, `sequence` of the first frame.
- `state`: `state`, `message`.
- `pipeline`: `text`, the selection in force, after joining.
- `analysis`: `filter`; `figures` and `words` of a stage's result.
- `stats`, twice a second: the statistics, `dropped` by reason.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aiortc import RTCDataChannel

import tracing
from descriptions import error_json, value_of
from sidelight import DeadlineExceeded, SidelightError, Unavailable, events

if TYPE_CHECKING:
    from rooms import Participant

_STATS_SECONDS = 0.5
# The time over which frames are counted: on a busy machine they come in bursts.
_RATE_SECONDS = 2
# The results of stages that the page shows over the video.
_HINT_FIGURES = ("plateProgress", "plateReady", "wholeFrameSeconds")
_HINT_WORDS = ("wholeFrame", "matteError")
# The commands that may wait; further ones are refused.
_MAX_WAITING = 64
# The time in which Sidelight answers a change, unless it is not reachable.
_ANSWER_SECONDS = 2
_RETRY_SECONDS = 0.05
# The errors of values of another type, or out of range.
_INVALID = (ArithmeticError, AttributeError, TypeError, ValueError)
# The bytes that may wait for a page; one that does not take them leaves the call.
_MAX_UNSENT_BYTES = 1 << 20


class FrameRate:
    """The frames per second in the last seconds, from a count that rises."""

    def __init__(self) -> None:
        self._counts: deque[tuple[float, int]] = deque()

    def updated(self, now: float, count: int) -> float:
        """Adds a count at a time in seconds; returns the rate."""
        counts = self._counts
        counts.append((now, count))
        # The oldest one is from the start of the time over which frames are counted, or earlier.
        while len(counts) > 2 and now - counts[1][0] >= _RATE_SECONDS:
            counts.popleft()
        then, before = counts[0]
        return round((count - before) / (now - then), 1) if now > then else 0.0


class Commands:
    """Runs a page's commands in order, and sends it events."""

    def __init__(self, participant: Participant) -> None:
        self._participant = participant
        self._session = participant.session
        self._channel: RTCDataChannel | None = None
        self._waiting: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_MAX_WAITING)
        self._tasks: set[asyncio.Task[None]] = set()
        #: The selection in force, as text.
        self._text = ""
        self._session.on_event(self._on_event)

    def use(self, channel: RTCDataChannel, closed: Callable[[], Awaitable[None]]) -> None:
        """Uses the first channel that the page opened, and closes others.

        - closed: Called when the page closes it.
        """
        if self._channel is not None:
            channel.close()
            return
        self._channel = channel
        channel.on("message", self._on_message)
        channel.on("close", closed)
        self._start(self._run())
        self._start(self._send_stats())
        self._send({"event": "pipeline", "text": self._text})

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Ends the commands that wait."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _on_message(self, text: str | bytes) -> None:
        try:
            command = json.loads(text)
            if not isinstance(command, dict):
                raise ValueError("a command must be an object")
            self._waiting.put_nowait(command)
        except asyncio.QueueFull:
            message = f"more than {_MAX_WAITING} commands wait; send fewer"
            error = {"code": "RESOURCE_EXHAUSTED", "message": message}
            self._send({"reply": command.get("id"), "error": error})
        except (RecursionError, TypeError, ValueError) as error:
            self._send({"reply": None, "error": error_json(error)})

    async def _run(self) -> None:
        kinds: dict[str, Callable[[dict[str, Any]], Awaitable[dict[str, Any] | None]]] = {
            "select": self._select, "update": self._update, "activate": self._activate,
            "check": self._check, "preview": self._preview, "span": self._span,
            "pause": lambda _: self._pause(True), "resume": lambda _: self._pause(False),
        }
        while True:
            command = await self._waiting.get()
            try:
                run = kinds.get(command.get("command", ""))
                if run is None:
                    raise ValueError(f"unknown command; known are {', '.join(kinds)}")
                answer = await run(command) or {}
            except DeadlineExceeded:
                message = "Sidelight is not reachable; the change is made when it is back."
                answer = {"error": {"code": "UNAVAILABLE", "message": message}}
            except KeyError as error:
                answer = {"error": error_json(ValueError(f"the command has no {error}"))}
            except (SidelightError, *_INVALID) as error:
                answer = {"error": error_json(error)}
            if "id" in command:
                self._send({"reply": command["id"], **answer})

    async def _select(self, command: dict[str, Any]) -> dict[str, Any]:
        revision = await self._change(command, lambda: self._session.select(command["text"]))
        return {"revision": revision, "text": await self._take(command)}

    async def _take(self, command: dict[str, Any]) -> str:
        """Records the selection of a command; returns its canonical text."""
        self._text = (await self._check(command))["text"]
        return self._text

    async def _finish_select(self, command: dict[str, Any], requested: Any) -> None:
        """Sends the page a selection that Sidelight accepted after it was not reachable."""
        with suppress(SidelightError):  # It was refused, or the session has ended.
            await requested.accepted()
            while True:
                try:
                    text = await self._take(command)
                    self._send({"event": "pipeline", "text": text})
                    return
                except Unavailable:
                    await asyncio.sleep(_RETRY_SECONDS)

    async def _update(self, command: dict[str, Any]) -> dict[str, Any]:
        values = {name: value_of(value) for name, value in command["values"].items()}
        changes = {command["stage"]: values}
        return {"revision": await self._change(command, lambda: self._session.update(changes))}

    async def _activate(self, command: dict[str, Any]) -> dict[str, Any]:
        stages = command["stages"]
        return {"revision": await self._change(command, lambda: self._session.activate(stages))}

    async def _change(self, command: dict[str, Any], change: Callable[[], Any]) -> int:
        """Makes a change within a span of the page's trace; returns its revision."""
        with tracing.span(command["command"], command.get("traceparent")) as traceparent:
            requested = change()
            self._session.trace_next_frame(traceparent)
            try:
                revision: int = await requested.accepted(timeout=_ANSWER_SECONDS)
            except DeadlineExceeded:
                if command["command"] == "select":
                    self._start(self._finish_select(command, requested))
                raise
            return revision

    async def _check(self, command: dict[str, Any]) -> dict[str, Any]:
        participant = self._participant
        checked = await participant.server.check(
            command["text"], participant=participant.identity
        )
        return {"text": checked.text}

    async def _preview(self, command: dict[str, Any]) -> None:
        self._participant.show_preview(bool(command["on"]))

    async def _pause(self, is_paused: bool) -> None:
        await self._participant.set_paused(is_paused)

    async def _span(self, command: dict[str, Any]) -> None:
        tracing.report(
            command["name"], command["traceparent"], command["start"], command["end"]
        )

    def _on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Applied):
            self._send({
                "event": "applied", "revision": event.revision,
                "sequence": event.first_sequence,
            })
        elif isinstance(event, events.StateChanged):
            self._send_state(event.state.name.lower(), event.message)
        elif isinstance(event, events.Analysis):
            self._send_hint(event)
        elif isinstance(event, events.ConnectionLost):
            if event.attempt == 1:
                self._start(self._participant.restore_pictures())
            self._send_state("disconnected", self._loss())
        elif isinstance(event, events.Reconnected):
            self._send_state("running", "")

    def _send_hint(self, analysis: events.Analysis) -> None:
        """Sends the results that the page shows over the video; other analyses are not shown."""
        figures = {each: analysis.figures[each] for each in _HINT_FIGURES if each in analysis.figures}
        words = {each: analysis.words[each] for each in _HINT_WORDS if each in analysis.words}
        if figures or words:
            content = {"filter": analysis.filter, "figures": figures, "words": words}
            self._send({"event": "analysis", **content})

    def _loss(self) -> str:
        """Returns the effect of a lost connection, for the participant."""
        if self._session.protects:
            return "Sidelight is not reachable. The others do not see your video meanwhile."
        return "Sidelight is not reachable. The others see your camera's picture, unfiltered."

    def _send_state(self, state: str, message: str) -> None:
        self._send({"event": "state", "state": state, "message": message})

    async def _send_stats(self) -> None:
        rate = FrameRate()
        rate.updated(time.monotonic(), 0)
        while True:
            await asyncio.sleep(_STATS_SECONDS)
            counts, latency = self._session.counts, self._session.latency
            back = counts.filtered + counts.passed_through + counts.degraded
            self._send({
                "event": "stats",
                "latency-p50": latency.p50 * 1000,
                "latency-p95": latency.p95 * 1000,
                "server-p95": latency.server_p95 * 1000,
                "rate": rate.updated(time.monotonic(), back),
                "received": counts.received,
                "filtered": counts.filtered,
                "passed-through": counts.passed_through,
                "degraded": counts.degraded,
                "dropped": sum(counts.dropped.values()),
                "reasons": {reason.name: count for reason, count in counts.dropped.items()},
            })

    def _send(self, message: dict[str, Any]) -> None:
        channel = self._channel
        if channel is None or channel.readyState != "open":
            return
        if channel.bufferedAmount > _MAX_UNSENT_BYTES:
            channel.close()
        else:
            channel.send(json.dumps(message))
