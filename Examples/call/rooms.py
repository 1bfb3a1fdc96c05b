"""Rooms and their participants."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from aiortc import (
    MediaStreamTrack,
    RTCConfiguration,
    RTCPeerConnection,
    RTCRtpSender,
    RTCSessionDescription,
)
from aiortc.contrib.media import MediaRelay
from aiortc.exceptions import InvalidStateError
from aiortc.mediastreams import MediaStreamError
from av import Packet

import bit_rates
from commands import Commands
from sidelight import EncodedImage, EncoderOptions, Output, Unavailable
from sidelight.aio import Server
from sidelight.av import Decoder
from tracing import TracedSession

# Connections on loopback and in one network need no STUN server.
_CONFIGURATION = RTCConfiguration(iceServers=[])
_SEND_SECONDS = 1
_RETRY_SECONDS = 0.05
_KEY_FRAME_SECONDS = 2
# The pictures of a participant, which are uploaded again after a restart of Sidelight.
_MAX_PICTURES = 8
_MAX_PICTURE_BYTES = 32 << 20


@dataclass(frozen=True)
class Settings:
    """The settings of all calls."""

    #: The seconds in which a frame is useful; later ones are dropped.
    budget: float
    bits_per_second: int
    #: The filters that participants may use; `None`: all.
    allowed_filters: tuple[str, ...] | None
    #: Whether Sidelight encodes a participant's video, once for all receivers.
    is_encoded: bool
    #: Makes the track that is sent to others of a participant's track and session.
    filtered_track: Callable[[MediaStreamTrack, Any], Any]

    @property
    def output(self) -> Output | None:
        """The output of sessions."""
        if not self.is_encoded:
            return None
        return Output(format="vp8", encoder=EncoderOptions(bit_rate=self.bits_per_second))

    def allows(self, filter_name: str) -> bool:
        """Returns whether participants may use a filter."""
        return self.allowed_filters is None or any(
            filter_name.startswith(each[:-1]) if each.endswith("*") else filter_name == each
            for each in self.allowed_filters
        )


class ReceiverTrack(MediaStreamTrack):
    """The filtered video for one receiver. Encoded video begins with a key frame."""

    kind = "video"

    def __init__(self, source: MediaStreamTrack, request_key_frame: Callable[[], None]) -> None:
        super().__init__()
        self._source = source
        self._request_key_frame = request_key_frame
        self._is_started = False
        #: Whether frames are sent. Others are read all the same, since the source has a queue.
        self.is_on = True

    async def recv(self) -> Any:
        """Returns the next frame or packet."""
        while True:
            frame = await self._source.recv()
            if not self.is_on:
                self._is_started = False
            elif self._is_started or not isinstance(frame, Packet) or frame.is_keyframe:
                self._is_started = True
                return frame
            else:
                self._request_key_frame()


class Room:
    """The participants of a call, by name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.participants: dict[str, Participant] = {}

    @property
    def visible(self) -> list[Participant]:
        """The participants whose video can be received."""
        return [each for each in self.participants.values() if each.video]

    async def remove(self, participant: Participant) -> None:
        """Removes a participant, and ends the connections that receive its video."""
        del self.participants[participant.name]
        await self.announce()
        views = [other.views.pop(participant.name, None) for other in self.participants.values()]
        await asyncio.gather(*(view.close() for view in views if view))

    async def announce(self) -> None:
        """Sends the list of participants to all of them."""
        content = [{"name": each.name, "paused": each.is_paused} for each in self.visible]
        message = {"event": "room", "participants": content}
        await asyncio.gather(*(each.tell(message) for each in self.visible))


async def _take_offer(connection: RTCPeerConnection, sdp: str) -> RTCSessionDescription:
    """Sets and returns an offer. Raises `ValueError` if it is invalid."""
    try:
        offer = RTCSessionDescription(sdp, "offer")
        await connection.setRemoteDescription(offer)
    except InvalidStateError:
        raise
    except Exception as error:  # The parser trusts its input.
        raise ValueError(f"the offer is not valid: {error!r}") from error
    return offer


class Participant:
    """A participant: its session at Sidelight, and its connections."""

    def __init__(
        self, room: Room, name: str, server: Server, socket: web.WebSocketResponse,
        settings: Settings,
    ) -> None:
        self.room = room
        self.name = name
        self.server = server
        #: The name under which Sidelight knows the participant.
        self.identity = f"{room.name}/{name}"
        #: The path component of the participant's resources; only its page knows it.
        self.secret = secrets.token_urlsafe(16)
        self.is_paused = False
        #: The connections that receive the videos of others, by their names.
        self.views: dict[str, RTCPeerConnection] = {}
        #: The filtered video; `None` until the participant has joined.
        self.video: Any = None
        #: The newest filtered frame, or packet of a key frame.
        self._newest: Any = None
        self._changed = asyncio.Event()
        self._pictures: dict[str, bytes] = {}
        #: Held while a picture is uploaded.
        self.uploading = asyncio.Lock()
        self._socket = socket
        self._settings = settings
        self._relay = MediaRelay()
        self._resources = AsyncExitStack()
        #: The end of a signalling that the page does not read.
        self._ending: asyncio.Task[Any] | None = None

    async def join(self, sdp: str) -> str:
        """Opens the session and the connection of the participant's video; returns the answer."""
        settings = self._settings
        await self._delete_former_pictures()
        session = await self._resources.enter_async_context(
            self.server.session(
                label=self.name, participant=self.identity, budget=settings.budget,
                allowed_filters=settings.allowed_filters, failure_policy="pass_through",
                output=settings.output,
            )
        )
        self.session = TracedSession(session)
        self._connection = RTCPeerConnection(_CONFIGURATION)
        self._resources.push_async_callback(self._connection.close)
        commands = Commands(self)
        self._resources.push_async_callback(commands.close)
        self._connection.on("datachannel", lambda channel: commands.use(channel, self.hang_up))
        self._connection.on("connectionstatechange", self._on_state)

        offer = await _take_offer(self._connection, sdp)
        transceivers = self._connection.getTransceivers()
        if [each.kind for each in transceivers] != ["video"]:
            raise ValueError(f"the offer has {len(transceivers)} media; it must have one video")
        self._transceiver = transceivers[0]
        self._transceiver.direction = "sendrecv"
        self.video = settings.filtered_track(self._transceiver.receiver.track, self.session)
        self._resources.callback(self.video.stop)
        self._preview = self.send_to(self._transceiver.sender)
        watching = asyncio.create_task(self._keep_newest())
        self._resources.callback(watching.cancel)
        self.show_preview(True)
        return await bit_rates.answer(self._connection, offer, settings.bits_per_second)

    async def watch(self, name: str, sdp: str) -> str:
        """Opens a connection that receives the video of another participant."""
        other = self.room.participants.get(name)
        if other is None or other.video is None:
            raise ValueError(f"there is no participant {name!r} in the room")
        connection = RTCPeerConnection(_CONFIGURATION)
        if former := self.views.pop(name, None):
            await former.close()
        self.views[name] = connection
        try:
            offer = await _take_offer(connection, sdp)
            transceivers = connection.getTransceivers()
            if [each.kind for each in transceivers] != ["video"]:
                raise ValueError(f"the offer has {len(transceivers)} media; it must have one video")
            transceivers[0].direction = "sendonly"
            other.send_to(transceivers[0].sender)
            return await bit_rates.answer(connection, offer, self._settings.bits_per_second)
        except InvalidStateError:
            raise ValueError(f"the participant {name!r} has left the room") from None

    async def leave(self) -> None:
        """Ends the participation. Frees the place in the room at once, then the resources."""
        try:
            await self.room.remove(self)
            await asyncio.gather(*(view.close() for view in self.views.values()))
            self.views.clear()
        finally:
            await self._resources.aclose()

    def send_to(self, sender: RTCRtpSender) -> ReceiverTrack:
        """Sends the filtered video to a receiver; returns its track."""
        track = ReceiverTrack(self._subscribe(), self.session.request_key_frame)
        sender.replaceTrack(track)
        if self._settings.is_encoded:
            self.video.follow(sender)
        return track

    def _subscribe(self) -> MediaStreamTrack:
        """Returns a track with all frames. A slow receiver skips frames, but not encoded ones."""
        assert self.video is not None, "the participant has not joined"
        return self._relay.subscribe(self.video, buffered=self._settings.is_encoded)

    def show_preview(self, is_on: bool) -> None:
        """Starts or ends sending the filtered video back to the participant."""
        self._preview.is_on = is_on

    async def set_paused(self, is_paused: bool) -> None:
        """Pauses or resumes the video, and shows it to the others."""
        self.is_paused = is_paused
        if is_paused:
            self.session.pause()
        else:
            self.session.resume()
        await self.room.announce()

    async def put_picture(self, name: str, content: bytes) -> None:
        """Uploads a picture that the participant's pipelines can name."""
        if self.room.participants.get(self.name) is not self:
            raise ValueError("the participant has left")  # Another one may have the name.
        others = [len(each) for other, each in self._pictures.items() if other != name]
        if len(others) >= _MAX_PICTURES:
            raise ValueError(f"there are {len(others)} pictures; there must be at most {_MAX_PICTURES}")
        if sum(others) + len(content) > _MAX_PICTURE_BYTES:
            raise ValueError(
                f"all pictures together have {sum(others) + len(content)} bytes; they must have at "
                f"most {_MAX_PICTURE_BYTES}"
            )
        await self.server.assets.put(name, content, participant=self.identity)
        self._pictures[name] = content

    async def _delete_former_pictures(self) -> None:
        """Deletes the pictures of a participant who had the same name before."""
        assets = self.server.assets
        for asset in await assets.list(participant=self.identity):
            if asset.origin == "participant":
                await assets.delete(asset.name, participant=self.identity)

    async def restore_pictures(self) -> None:
        """Uploads the pictures again: a server that was started again does not have them."""
        waiting = dict(self._pictures)
        while waiting:
            name = next(iter(waiting))
            try:
                await self.server.assets.put(name, waiting[name], participant=self.identity)
                del waiting[name]
            except Unavailable:
                await asyncio.sleep(_RETRY_SECONDS)

    async def tell(self, message: dict[str, Any]) -> None:
        """Sends a message of the signalling. A page that does not read it leaves the call."""
        try:
            await asyncio.wait_for(self._socket.send_json(message), _SEND_SECONDS)
        except (asyncio.TimeoutError, ConnectionError):
            # Closing waits for the page, and others wait for this method.
            self._ending = self._ending or asyncio.create_task(self.hang_up())

    async def hang_up(self) -> None:
        """Ends the signalling, and with it the participation."""
        await self._socket.close()

    async def _on_state(self) -> None:
        if self._connection.connectionState in ("closed", "failed"):
            await self.hang_up()

    async def _keep_newest(self) -> None:
        """Keeps the newest frame for snapshots; also reads the track if there is no receiver."""
        track = self._subscribe()
        with suppress(MediaStreamError):
            while True:
                frame = await track.recv()
                if not isinstance(frame, Packet) or frame.is_keyframe:
                    self._newest = frame
                    self._changed.set()
        await self.hang_up()

    async def newest_frame(self) -> Any:
        """Returns the newest filtered frame, of encoded video the next key frame; `None` before the
        first, and if there is none within a time."""
        if isinstance(self._newest, Packet):
            self._changed.clear()
            self.session.request_key_frame()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._changed.wait(), _KEY_FRAME_SECONDS)
        if not isinstance(self._newest, Packet):
            return self._newest
        return Decoder().decode(EncodedImage("vp8", bytes(self._newest)))
