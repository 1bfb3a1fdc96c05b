"""Small pictures of the effect of pipelines on a portrait."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from pathlib import Path

from sidelight import Image, Output
from sidelight.aio import Server

_WIDTH, _HEIGHT = 192, 108
# The portrait as a frame: lengths in pixels are meant for a video. The face is in its upper part.
_FRAME = "crop(width: 512, height: 288), scale(width: 640, height: 360, mode: stretch)"
# The pictures that are kept, of a few kilobytes each.
_MAX_PICTURES = 256


class Thumbnails:
    """The portrait with pipelines, each filtered once, one at a time.

    The pipelines use the call server's pictures, not a participant's: all participants
    share the results.
    """

    def __init__(self, server: Server, portrait: Path) -> None:
        self._server = server
        self._portrait = portrait
        self._frame: Image | None = None
        self._pictures: OrderedDict[str, bytes] = OrderedDict()
        self._turn = asyncio.Lock()

    async def filtered(self, pipeline: str) -> bytes:
        """Returns a JPEG file. Raises `SidelightError` if the pipeline is refused."""
        async with self._turn:
            if pipeline not in self._pictures:
                self._pictures[pipeline] = await self._filter(pipeline)
                if len(self._pictures) > _MAX_PICTURES:
                    self._pictures.popitem(last=False)
            self._pictures.move_to_end(pipeline)
            return self._pictures[pipeline]

    async def _filter(self, pipeline: str) -> bytes:
        if self._frame is None:
            portrait = Image.file(self._portrait.read_bytes())
            self._frame = (await self._server.apply(portrait, _FRAME)).image.copy()
        output = Output(width=_WIDTH, height=_HEIGHT, jpeg_quality=75)
        return (await self._server.apply(self._frame, pipeline, output=output)).image.bytes()
