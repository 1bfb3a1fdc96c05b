"""Rooms of the call server: their limits, their separation, and the filters that are permitted."""

from contextlib import AsyncExitStack

import pytest
from aiohttp import WSMsgType

from calltesting.programs import CallServer, Sidelight
from calltesting.visitor import Refused, Visitor, awaited

ROOM_LIMIT, SERVER_LIMIT = 9, 64


@pytest.fixture(scope="module")
def sidelight():
    """A Sidelight process that accepts as many sessions as the call server."""
    with Sidelight("--max-load", "0") as running:
        yield running


async def enter(stack, call_server, *places):
    """Visitors that have joined, one for every room and name."""
    visitors = [await stack.enter_async_context(Visitor(call_server.address)) for _ in places]
    for visitor, place in zip(visitors, places, strict=True):
        await visitor.join(*place)
    return visitors


async def refusal(stack, call_server, room, name):
    """The message with which a visitor is refused."""
    visitor = await stack.enter_async_context(Visitor(call_server.address))
    with pytest.raises(Refused) as refused:
        await visitor.join(room, name)
    return str(refused.value)


@awaited
async def test_a_full_room_refuses_another_participant_until_one_leaves(call_server):
    async with AsyncExitStack() as stack:
        names = [f"guest {number}" for number in range(ROOM_LIMIT)]
        first, *_ = await enter(stack, call_server, *(("full", name) for name in names))
        message = await refusal(stack, call_server, "full", "late")
        assert message == f"the room has {ROOM_LIMIT} participants and is full"
        await enter(stack, call_server, ("other", "late"))
        await first.wait_for_names(*names)
        second = Visitor(call_server.address)
        await first.leave()
        await stack.enter_async_context(second)
        await second.join("full", "late")
        await second.wait_for_names(*names[1:], "late")


@awaited
async def test_a_full_server_refuses_another_participant(call_server):
    async with AsyncExitStack() as stack:
        places = [(f"room {number // 8}", f"guest {number}") for number in range(SERVER_LIMIT)]
        first, *_ = await enter(stack, call_server, *places)
        message = await refusal(stack, call_server, "another", "late")
        assert message == f"the server has {SERVER_LIMIT} participants; try again later"
        await first.leave()
        await enter(stack, call_server, ("another", "late"))


@awaited
async def test_a_name_is_taken_in_one_room_only(call_server):
    async with AsyncExitStack() as stack:
        await enter(stack, call_server, ("red", "ana"), ("blue", "ana"))
        message = await refusal(stack, call_server, "red", "ana")
        assert message == "the name 'ana' is taken in this room; choose another one"


@awaited
async def test_two_rooms_do_not_see_each_other(call_server):
    async with AsyncExitStack() as stack:
        places = [("red", "ana"), ("red", "ben"), ("blue", "ana"), ("blue", "carl")]
        ana, ben, other, carl = await enter(stack, call_server, *places)
        await ben.wait_for_names("ana", "ben")
        await carl.wait_for_names("ana", "carl")
        assert await ben.watch("ana")
        with pytest.raises(Refused, match="there is no participant 'carl' in the room"):
            await ben.watch("carl")
        # A list that the rooms share would now contain ana of the other room.
        await other.leave()
        await carl.wait_for_names("carl")
        await ana.leave()
        await ben.wait_for_names("ben")
        with pytest.raises(Refused, match="there is no participant 'ana' in the room"):
            await ben.watch("ana")


@pytest.mark.parametrize("sdp", ["", "v=0\r\n", "no description"])
@awaited
async def test_a_join_that_fails_takes_no_place(call_server, sdp):
    async with Visitor(call_server.address) as visitor, AsyncExitStack() as stack:
        socket = await visitor.connect()
        await socket.send_json(
            {"id": 1, "request": "join", "room": "red", "name": "ana", "sdp": sdp}
        )
        answer = await socket.receive_json()
        assert answer["reply"] == 1 and "must have one video" in answer["error"]["message"]
        assert (await socket.receive()).type is WSMsgType.CLOSE
        await enter(stack, call_server, ("red", "ana"))


@awaited
async def test_allow_limits_the_filters_of_all_participants(sidelight):
    options = ["--allow", "sepiaTone", "--allow", "background*"]
    with CallServer(sidelight.address, *options) as call_server:
        async with AsyncExitStack() as stack:
            (ana,) = await enter(stack, call_server, ("red", "ana"))
            listed = await ana.filters()
            assert "sepiaTone" in listed
            assert {each for each in listed if not each.startswith("background")} == {"sepiaTone"}
            revision = (await ana.command(command="select", text="sepiaTone"))["revision"]
            for text in ("grayscale", "sepiaTone, [sepiaTone, grayscale @off]"):
                with pytest.raises(Refused, match="grayscale") as refused:
                    await ana.command(command="select", text=text)
                assert refused.value.error["code"] == "PERMISSION_DENIED"
            values = {"intensity": {"number": 0.5}}
            update = {"command": "update", "stage": "stages[0]", "values": values}
            assert (await ana.command(**update))["revision"] > revision


@awaited
async def test_without_allow_all_filters_are_offered(call_server):
    async with AsyncExitStack() as stack:
        (ana,) = await enter(stack, call_server, ("red", "ana"))
        assert {"grayscale", "sepiaTone"} < await ana.filters()
        await ana.command(command="select", text="grayscale")
