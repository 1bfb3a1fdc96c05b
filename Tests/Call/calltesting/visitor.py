"""A page without a browser: it joins rooms, sends commands, and uploads pictures."""

import asyncio
import functools
import io
import json
from collections.abc import Awaitable, Callable
from typing import Any, Self
from urllib.parse import quote

import aiohttp
from aiortc import (
    MediaStreamTrack,
    RTCConfiguration,
    RTCDataChannel,
    RTCPeerConnection,
    RTCSessionDescription,
)
from yarl import URL

# The time limit of a test.
LIMIT_SECONDS = 120
_ANSWER_SECONDS = 30


def awaited(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Runs a test that is a coroutine."""

    @functools.wraps(test)
    def run(*arguments: Any, **options: Any) -> None:
        asyncio.run(asyncio.wait_for(test(*arguments, **options), LIMIT_SECONDS))

    return run


class Refused(Exception):
    """A request or command that the call server refused; `error` is its description."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.error = error


class Visitor:
    """A page of a call server. It leaves at the end of the block."""

    def __init__(self, address: str) -> None:
        self.address = address
        #: The path of the participant's resources, after `join`.
        self.resources = ""
        self._connection: RTCPeerConnection | None = None
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._last_id = 0
        self._names: asyncio.Queue[set[str]] = asyncio.Queue()
        self._statistics: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._analyses: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def __aenter__(self) -> Self:
        self.http = aiohttp.ClientSession(self.address)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.leave()
        await self.http.close()

    async def connect(self) -> aiohttp.ClientWebSocketResponse:
        """Opens the signalling, as a page of the call server does."""
        return await self.http.ws_connect("/signalling", headers={"Origin": self.address})

    async def join(self, room: str, name: str, track: MediaStreamTrack | None = None) -> None:
        """Joins a room, with a video if there is a track. Raises `Refused`."""
        self._socket = await self.connect()
        self._reader = asyncio.create_task(self._read())
        self._connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        channel = self._connection.createDataChannel("sidelight")
        opened = asyncio.Event()
        channel.on("open", opened.set)
        channel.on("message", self._on_message)
        sdp = await self._offer(self._connection, track)
        answer = await self.request(request="join", room=room, name=name, sdp=sdp)
        self.resources = answer["resources"]
        description = RTCSessionDescription(answer["sdp"], "answer")
        await self._connection.setRemoteDescription(description)
        await asyncio.wait_for(opened.wait(), _ANSWER_SECONDS)
        self._channel: RTCDataChannel = channel

    async def leave(self) -> None:
        """Leaves the room, and waits until the call server knows it."""
        if self._connection is None:
            return
        await self._socket.close()
        await self._reader
        await self._connection.close()
        self._connection = None

    async def watch(self, name: str) -> str:
        """Asks for the video of another participant; returns the answer. Raises `Refused`."""
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        try:
            sdp = await self._offer(connection, None)
            return (await self.request(request="watch", name=name, sdp=sdp))["sdp"]
        finally:
            await connection.close()

    async def wait_for_names(self, *names: str) -> None:
        """Waits until these are all participants of the room."""
        while await asyncio.wait_for(self._names.get(), _ANSWER_SECONDS) != set(names):
            pass

    async def wait_for_filtered(self, count: int) -> None:
        """Waits until so many frames were filtered."""
        while (await asyncio.wait_for(self._statistics.get(), _ANSWER_SECONDS))["filtered"] < count:
            pass

    async def next_analysis(self) -> dict[str, Any]:
        """Returns the next result of a stage that the page shows over the video."""
        return await asyncio.wait_for(self._analyses.get(), _ANSWER_SECONDS)

    async def request(self, **content: Any) -> dict[str, Any]:
        """Sends a request of the signalling, and returns its answer. Raises `Refused`."""
        return await self._ask(content, self._socket.send_str)

    async def command(self, **content: Any) -> dict[str, Any]:
        """Sends a command of the data channel, and returns its answer. Raises `Refused`."""

        async def send(text: str) -> None:
            self._channel.send(text)

        return await self._ask(content, send)

    def send_raw(self, message: str | bytes) -> None:
        """Sends a message of the data channel as it is."""
        self._channel.send(message)

    async def put(self, name: str, content: Any) -> tuple[int, str]:
        """Uploads a picture; returns the status and the text of the answer."""
        return await self.put_encoded(quote(name, safe=""), content)

    async def put_encoded(self, name: str, content: Any) -> tuple[int, str]:
        """Uploads a picture with a name as it is in the URL; returns as `put` does."""
        url = URL(f"{self.address}{self.resources}/assets/{name}", encoded=True)
        body = io.BytesIO(content) if isinstance(content, bytes) else content
        async with self.http.put(url, data=body) as response:
            return response.status, await response.text()

    async def filters(self) -> set[str]:
        """Returns the names of the filters in the page's list."""
        async with self.http.get(f"{self.resources}/filters") as response:
            assert response.status == 200, await response.text()
            return {each["name"] for each in await response.json()}

    async def _offer(self, connection: RTCPeerConnection, track: MediaStreamTrack | None) -> str:
        connection.addTransceiver(track or "video")
        await connection.setLocalDescription(await connection.createOffer())
        return connection.localDescription.sdp

    async def _ask(
        self, content: dict[str, Any], send: Callable[[str], Awaitable[None]]
    ) -> dict[str, Any]:
        self._last_id += 1
        reply = self._replies[self._last_id] = asyncio.get_running_loop().create_future()
        await send(json.dumps({"id": self._last_id, **content}))
        answer = await asyncio.wait_for(reply, _ANSWER_SECONDS)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    async def _read(self) -> None:
        async for message in self._socket:
            self._on_message(message.data)

    def _on_message(self, text: str) -> None:
        message = json.loads(text)
        if "reply" in message:
            # An answer to an unknown message has no number.
            if reply := self._replies.pop(message["reply"], None):
                reply.set_result(message)
        elif message["event"] == "room":
            self._names.put_nowait({each["name"] for each in message["participants"]})
        elif message["event"] == "stats":
            self._statistics.put_nowait(message)
        elif message["event"] == "analysis":
            self._analyses.put_nowait(message)
