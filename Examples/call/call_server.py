#!/usr/bin/env python3
"""A call server: it connects the browsers of a room, and filters their videos using Sidelight.

    python call_server.py --sidelight unix:/run/sidelight.sock
"""

from __future__ import annotations

import argparse
import asyncio
import hmac
import json
import re
import secrets
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
from aiohttp import web

import bit_rates
import sidelight.aio
import tracing
from descriptions import error_json, filter_json, session_json
from rooms import Participant, Room, Settings
from sidelight import SidelightError
from sidelight.aiortc import FilteredTrack
from thumbnails import Thumbnails

_FOLDER = Path(__file__).resolve().parent
_MEDIA = _FOLDER.parent / "media"
# The modules that the page has in common with the studio's.
_SHARED = _FOLDER.parents[1] / "Sources/Studio/Page/shared"
_NAME = re.compile(r"(?! )[\w.\- ]{1,32}(?<! )")
# A page that does not answer a ping within half of it is gone. A closed page is gone at once, since
# its browser closes the connection; this is for networks that are lost.
_HEARTBEAT_SECONDS = 10
# Pages run the scripts of this server only, and no other site shows them in a frame.
_PAGE_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self' blob:; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
_MAX_MESSAGE_BYTES = 1 << 18
_MAX_PICTURE_BYTES = 16 << 20
_UPLOAD_SECONDS = 30
# Every participant opens a session, and a connection to each other participant of its room.
_MAX_PARTICIPANTS = 64
_MAX_PARTICIPANTS_OF_ROOM = 9


class CallServer:
    """The rooms of a server, and the routes of its pages."""

    def __init__(self, server: sidelight.aio.Server, settings: Settings, moderator_key: str):
        self._server = server
        self._settings = settings
        self._moderator_key = moderator_key
        self._rooms: dict[str, Room] = {}
        self._participants: dict[str, Participant] = {}
        self._thumbnails = Thumbnails(server, _MEDIA / "portrait.jpg")

    def application(self) -> web.Application:
        """Returns the web application."""
        application = web.Application(
            middlewares=[_errors], client_max_size=_MAX_PICTURE_BYTES
        )
        page = _FOLDER / "page"
        application.add_routes([
            web.get("/", lambda _: _file(page / "index.html")),
            web.get("/moderator", lambda _: _file(page / "moderator.html")),
            web.static("/page/shared", _SHARED),
            web.static("/page", page),
            web.static("/media", _MEDIA),
            web.get("/signalling", self._signal),
            web.get("/participants/{secret}/filters", self._list_filters),
            web.get("/participants/{secret}/thumbnail", self._show_thumbnail),
            web.get("/participants/{secret}/snapshot", self._take_snapshot),
            web.put("/participants/{secret}/assets/{name}", self._put_asset),
            web.get("/moderator/sessions", self._watch_sessions),
            web.post("/moderator/overrides", self._override),
        ])
        return application

    # --- Participants ----------------------------------------------------------------------------

    async def _signal(self, request: web.Request) -> web.WebSocketResponse:
        """Serves a page from its request to join until it leaves."""
        _check_origin(request)
        socket = web.WebSocketResponse(
            heartbeat=_HEARTBEAT_SECONDS, max_msg_size=_MAX_MESSAGE_BYTES
        )
        await socket.prepare(request)
        participant: Participant | None = None
        try:
            async for message in socket:
                content = json.loads(message.data)
                answer: dict[str, Any]
                try:
                    if content["request"] == "watch" and participant and participant.video:
                        answer = {"sdp": await participant.watch(content["name"], content["sdp"])}
                    elif content["request"] == "join" and not participant:
                        participant = self._participant(content, socket)
                        answer = await self._join(participant, content["sdp"])
                    else:
                        raise ValueError(f"{content['request']!r} is not possible here")
                except (SidelightError, ValueError) as error:
                    answer = {"error": error_json(error)}
                await socket.send_json({"reply": content["id"], **answer})
                if participant and content["request"] == "join":
                    if "error" in answer:
                        break  # A participant that cannot join takes no place.
                    await participant.room.announce()
        except (ConnectionError, KeyError, RecursionError, TypeError, ValueError):
            # The page has left meanwhile, or it is not a page of this server.
            await socket.close()
        finally:
            if participant:
                await self._leave(participant)
        return socket

    def _participant(
        self, content: dict[str, Any], socket: web.WebSocketResponse
    ) -> Participant:
        """Takes a place in a room."""
        for field in ("room", "name"):
            if not _NAME.fullmatch(content[field]):
                raise ValueError(
                    f"the {field} is {content[field]!r}; it must be 1 to 32 letters, digits, "
                    "spaces and . _ -, without spaces at its ends"
                )
        room = self._rooms.get(content["room"]) or Room(content["room"])
        name = content["name"]
        if name in room.participants:
            raise ValueError(f"the name {name!r} is taken in this room; choose another one")
        if len(room.participants) >= _MAX_PARTICIPANTS_OF_ROOM:
            raise ValueError(f"the room has {_MAX_PARTICIPANTS_OF_ROOM} participants and is full")
        if sum(len(each.participants) for each in self._rooms.values()) >= _MAX_PARTICIPANTS:
            raise ValueError(f"the server has {_MAX_PARTICIPANTS} participants; try again later")
        self._rooms[room.name] = room
        participant = Participant(room, name, self._server, socket, self._settings)
        room.participants[name] = participant
        return participant

    async def _join(self, participant: Participant, sdp: str) -> dict[str, Any]:
        self._participants[participant.secret] = participant
        answer = await participant.join(sdp)
        return {"sdp": answer, "resources": f"/participants/{participant.secret}"}

    async def _leave(self, participant: Participant) -> None:
        self._participants.pop(participant.secret, None)
        room = participant.room
        try:
            await participant.leave()
        finally:
            # Another room may have the name meanwhile.
            if not room.participants and self._rooms.get(room.name) is room:
                del self._rooms[room.name]

    def _authenticated(self, request: web.Request) -> Participant:
        try:
            return self._participants[request.match_info["secret"]]
        except KeyError:
            raise web.HTTPNotFound(text="The participant has left.") from None

    async def _list_filters(self, request: web.Request) -> web.Response:
        participant = self._authenticated(request)
        filters = await self._server.filters(participant=participant.identity)
        # Sidelight applies `--allow` to sessions; its list follows its own permissions.
        allowed = [each for name, each in filters.items() if self._settings.allows(name)]
        return web.json_response([filter_json(each) for each in allowed])

    async def _show_thumbnail(self, request: web.Request) -> web.Response:
        """Answers the sample portrait with a pipeline."""
        self._authenticated(request)
        picture = await self._thumbnails.filtered(request.query["pipeline"])
        headers = {"Cache-Control": "max-age=3600"}
        return web.Response(body=picture, content_type="image/jpeg", headers=headers)

    async def _put_asset(self, request: web.Request) -> web.Response:
        participant = self._authenticated(request)
        # One upload at a time, because each is in memory as a whole.
        async with participant.uploading:
            try:
                content = await asyncio.wait_for(request.read(), _UPLOAD_SECONDS)
            except asyncio.TimeoutError:
                raise web.HTTPRequestTimeout(
                    text=f"The picture took longer than {_UPLOAD_SECONDS} s; send it again."
                ) from None
            await participant.put_picture(request.match_info["name"], content)
        return web.json_response({})

    async def _take_snapshot(self, request: web.Request) -> web.Response:
        """Answers the newest filtered frame, as it is before it is encoded for the others."""
        frame = await self._authenticated(request).newest_frame()
        if frame is None:
            raise web.HTTPNotFound(text="No frame was filtered yet.")
        picture = await asyncio.get_running_loop().run_in_executor(None, _png, frame)
        return web.Response(body=picture, content_type="image/png")

    # --- Moderators ------------------------------------------------------------------------------

    async def _watch_sessions(self, request: web.Request) -> web.WebSocketResponse:
        """Sends the list of sessions once a second."""
        _check_origin(request)
        self._check_key(request.query.get("key", ""))
        socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_SECONDS)
        await socket.prepare(request)
        watching = asyncio.create_task(self._send_sessions(socket))
        try:
            async for _ in socket:
                pass
        finally:
            watching.cancel()
        return socket

    async def _send_sessions(self, socket: web.WebSocketResponse) -> None:
        with suppress(ConnectionError):  # The page has left.
            while True:
                try:
                    async for found in self._server.sessions.watch(interval=1):
                        await socket.send_json({"sessions": [session_json(each) for each in found]})
                except SidelightError as error:
                    await socket.send_json({"error": error_json(error)})
                await asyncio.sleep(1)

    async def _override(self, request: web.Request) -> web.Response:
        self._check_key(request.headers.get("Authorization", "").removeprefix("Bearer "))
        content = await request.json()
        participant, pipeline = content["participant"], content.get("pipeline")
        if pipeline is None:
            await self._server.sessions.end_override(participant=participant)
        else:
            await self._server.sessions.override(
                participant=participant, pipeline=pipeline, for_=float(content["seconds"]),
                reason=content.get("reason", ""),
            )
        return web.json_response({})

    def _check_key(self, key: str) -> None:
        if not hmac.compare_digest(key.encode(), self._moderator_key.encode()):
            raise web.HTTPForbidden(text="The key is not that of the moderator's page.")


def _check_origin(request: web.Request) -> None:
    """Refuses pages of other sites: a browser sends their WebSockets here too."""
    origin = request.headers.get("Origin", "")
    if origin.partition("://")[2] != request.host:
        raise web.HTTPForbidden(text=f"The origin {origin!r} is not this server.")


@web.middleware
async def _errors(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Answers errors of Sidelight and of requests as JSON."""
    try:
        return await handler(request)
    except (SidelightError, RecursionError, TypeError, ValueError) as error:
        return web.json_response({"error": error_json(error)}, status=400)
    except KeyError as error:
        content = error_json(ValueError(f"the request has no {error}"))
        return web.json_response({"error": content}, status=400)


async def _file(path: Path) -> web.FileResponse:
    return web.FileResponse(path, headers=_PAGE_HEADERS)


def _png(frame: av.VideoFrame) -> bytes:
    encoder = av.CodecContext.create("png", "w")
    encoder.width, encoder.height, encoder.pix_fmt = frame.width, frame.height, "rgb24"
    encoder.time_base = Fraction(1, 30)
    picture = frame.reformat(format="rgb24")
    return b"".join(bytes(each) for part in (picture, None) for each in encoder.encode(part))


async def _serve(options: argparse.Namespace) -> None:
    bits_per_second = options.bit_rate * 1000
    bit_rates.pin(bits_per_second)
    tracing.start()
    settings = Settings(
        options.budget / 1000, bits_per_second, options.allow and tuple(options.allow),
        options.encoded, FilteredTrack,
    )
    key = options.moderator_key or secrets.token_urlsafe(16)
    stopped = asyncio.Event()
    for each in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(each, stopped.set)
    async with sidelight.aio.connect(options.sidelight) as server:
        runner = web.AppRunner(CallServer(server, settings, key).application())
        await runner.setup()
        try:
            site = web.TCPSite(runner, options.host, options.port, shutdown_timeout=1)
            await site.start()
            port = runner.addresses[0][1]
            address = f"http://{options.host}:{port}"
            print(f"listening on {address}", flush=True)
            print(f"moderator's page: {address}/moderator?key={key}", flush=True)
            await stopped.wait()
        finally:
            await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--sidelight", required=True, metavar="ADDRESS", help="host:port or unix:/path")
    add("--host", default="127.0.0.1", help="default: %(default)s")
    add("--port", type=int, default=8080, help="0: a free port; default: %(default)s")
    add("--moderator-key", metavar="KEY", help="default: a random one, which is printed")
    add("--budget", type=float, default=100, metavar="MILLISECONDS",
        help="the age at which a frame is dropped; default: %(default)s")
    add("--bit-rate", type=int, default=1000, metavar="KILOBITS", help="default: %(default)s")
    add("--encoded", action="store_true",
        help="Sidelight encodes once for all receivers, instead of this server for each")
    add("--allow", action="append", metavar="FILTER",
        help="a filter that participants may use, or a prefix and *; default: all")
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
