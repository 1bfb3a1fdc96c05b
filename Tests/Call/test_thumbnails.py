"""The thumbnails of filters."""

import asyncio

import pytest

from calltesting.programs import REPOSITORY
from calltesting.visitor import Visitor, awaited

HAT = (REPOSITORY / "Examples/media/hat.png").read_bytes()


@pytest.fixture
def visitor(call_server):
    return Visitor(call_server.address)


async def thumbnail(visitor, pipeline, resources=None):
    """Asks for a thumbnail; returns the status and the content."""
    path = f"{resources or visitor.resources}/thumbnail"
    async with visitor.http.get(path, params={"pipeline": pipeline}) as response:
        return response.status, await response.read()


@awaited
async def test_a_thumbnail_is_a_small_picture_of_the_effect(visitor):
    async with visitor as ana:
        await ana.join("red", "ana")
        names = ["sepiaTone", "colorInvert", "faceBlur", "sepiaTone"]
        found = await asyncio.gather(*(thumbnail(ana, each) for each in names))
        assert [status for status, _ in found] == [200] * 4
        pictures = [content for _, content in found]
        assert all(each[:3] == b"\xff\xd8\xff" and len(each) < 16_000 for each in pictures)
        assert pictures[0] == pictures[3]
        assert len(set(pictures)) == 3


@awaited
async def test_a_thumbnail_has_no_pictures_of_participants(visitor):
    async with visitor as ana:
        await ana.join("red", "ana")
        assert (await ana.put("hat", HAT))[0] == 200
        status, content = await thumbnail(ana, "overlay(asset: hat)")
        assert status == 400 and b"hat" in content


@awaited
async def test_only_participants_have_thumbnails(visitor):
    async with visitor as ana:
        await ana.join("red", "ana")
        assert (await thumbnail(ana, "sepiaTone", "/participants/other"))[0] == 404
        assert (await thumbnail(ana, "no such filter"))[0] == 400
        async with ana.http.get(f"{ana.resources}/thumbnail") as response:
            assert response.status == 400
