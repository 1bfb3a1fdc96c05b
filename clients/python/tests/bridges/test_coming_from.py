"""The Python code of docs/guides/coming-from.md, block by block, against a server."""

from __future__ import annotations

import ast
import asyncio
import inspect
import shutil

import pytest
from support import page as programs
from support.running_server import REPOSITORY, RunningServer

import sidelight
from sidelight import aio, filters

pytest.importorskip("aiortc")
from aiortc import VideoStreamTrack

from sidelight.aiortc import FilteredTrack

PAGE = REPOSITORY / "docs/guides/coming-from.md"
BLOCKS = programs.BLOCK.findall(PAGE.read_text())
SECONDS = 60


class Recorded:
    """A session that keeps the changes that a program makes."""

    def __init__(self, session):
        self._session = session
        self.changes = []

    def __getattr__(self, name):
        member = getattr(self._session, name)
        if name not in ("select", "update", "activate"):
            return member

        def change(*arguments):
            self.changes.append(member(*arguments))
            return self.changes[-1]

        return change


@pytest.fixture(scope="module")
def own_server():
    """A server for this page: an override of a participant outlives its sessions."""
    with RunningServer() as server:
        yield server


async def run(block: str, address: str) -> None:
    """Runs a block with the names that the text of the page mentions."""
    async with aio.connect(address) as server:
        async with server.session(participant="ana") as session:
            recorded = Recorded(session)
            shown: list = []
            names = {
                "FilteredTrack": FilteredTrack, "Dropped": sidelight.Dropped,
                "Pipeline": sidelight.Pipeline, "server": server, "session": recorded,
                "camera": VideoStreamTrack(), "luma": bytes(1280 * 720),
                "frame": session.frame(64, 48, "i420"), "show": shown.append,
                "encode": lambda image: shown.append(bytes(image.plane(0)[:1])),
                "picture": sidelight.Image.allocate("rgb", 16, 16),
                **{name: getattr(filters, name) for name in filters.__all__},
            }  # fmt: skip
            code = compile(block, str(PAGE), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            result = eval(code, names)
            if inspect.iscoroutine(result):
                await result
            for change in recorded.changes:
                await change.accepted()
            if "track" in names:
                await names["track"].recv()
                names["track"].stop()
            assert len(recorded.changes) == block.count("\nsession.") + block.count("change = ")
            assert bool(shown) == ("show(" in block or "encode(" in block)


@pytest.mark.parametrize("index", range(len(BLOCKS)))
def test_a_block_runs_and_its_changes_are_accepted(own_server, tmp_path, monkeypatch, index):
    shutil.copy(REPOSITORY / "Examples/media/portrait.jpg", tmp_path / "beach.jpg")
    monkeypatch.chdir(tmp_path)
    asyncio.run(asyncio.wait_for(run("\n" + BLOCKS[index], own_server.unix), SECONDS))


def test_the_page_has_code_for_each_concept():
    sections = PAGE.read_text().split("\n## ")[1:]
    # Core Image's code becomes the text of a pipeline.
    sections = [each for each in sections if not each.startswith("Core Image")]
    assert len(sections) >= 9
    assert [section.count("```python\n") for section in sections] == [1] * len(sections)
