"""Pages that break the rules of the call server: only they are affected."""

import asyncio
import json

import aiohttp
import pytest

from calltesting.visitor import Refused, Visitor, awaited

FORBIDDEN = 403
MOST_MESSAGE_BYTES = 1 << 18
MOST_COMMANDS = 64

# Messages of the signalling that no page sends. The call server ends the connection.
BROKEN = {
    "no JSON": "{",
    "a list": "[]",
    "a number": "1",
    "no request": "{}",
    "no name": '{"id": 1, "request": "join", "room": "red", "sdp": ""}',
    "a name that is a number": '{"id": 1, "request": "join", "room": "red", "name": 1, "sdp": ""}',
    "no offer": '{"id": 1, "request": "join", "room": "red", "name": "eve"}',
    "an offer that is a number": '{"id": 1, "request": "join", "room": "red", "name": "eve", "sdp": 1}',
    "an offer of another form": json.dumps({
        "id": 1, "request": "join", "room": "red", "name": "eve",
        "sdp": "v=0\r\nm=video x UDP/TLS/RTP/SAVPF 96\r\na=rtpmap:96\r\n",
    }),
    "deep nesting": "[" * 100_000,
    "a long message": '"' + "x" * MOST_MESSAGE_BYTES + '"',
}  # fmt: skip


@pytest.fixture
def ana(call_server):
    return Visitor(call_server.address)


@pytest.fixture
def eve(call_server):
    return Visitor(call_server.address)


@pytest.mark.parametrize("kind", BROKEN)
@awaited
async def test_a_broken_message_ends_the_connection_of_its_page_only(
    ana, eve, call_server, kind
):
    async with ana, eve:
        await ana.join("red", "ana")
        socket = await eve.connect()
        await socket.send_str(BROKEN[kind])
        while (message := await socket.receive()).type is aiohttp.WSMsgType.TEXT:
            assert "error" in json.loads(message.data)
        assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        # No error of the call server itself.
        assert "Traceback" not in call_server.log
        # The place and the name are free, and the other participant is still there.
        await eve.join("red", "eve")
        await eve.wait_for_names("ana", "eve")
        await ana.command(command="select", text="sepiaTone")


@pytest.mark.parametrize("name", ["", " ", "a" * 33, "a/b", "a\n", "<b>", "\u202e", " a"])
@awaited
async def test_other_names_are_refused(eve, name):
    async with eve:
        for room, own in ((name, "eve"), ("red", name)):
            with pytest.raises(Refused, match="must be 1 to 32 letters"):
                await eve.join(room, own)
            await eve.leave()


@pytest.mark.parametrize("origin", [None, "null", "https://example.com", "http://127.0.0.1:1"])
@awaited
async def test_pages_of_other_sites_are_refused(eve, call_server, origin):
    key = call_server.moderator_address.rpartition("=")[2]
    async with eve:
        for path in ("/signalling", f"/moderator/sessions?key={key}"):
            headers = {"Origin": origin} if origin else {}
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await eve.http.ws_connect(path, headers=headers)
            assert refused.value.status == FORBIDDEN


@pytest.mark.parametrize("key", ["", "wrong", "\u00e9"])
@awaited
async def test_a_moderator_needs_the_key(eve, key):
    async with eve:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await eve.http.ws_connect(
                "/moderator/sessions", params={"key": key}, headers={"Origin": eve.address}
            )
        assert refused.value.status == FORBIDDEN
        async with eve.http.post(
            "/moderator/overrides", headers={"Authorization": f"Bearer {key}"},
            json={"participant": "red/ana", "pipeline": "colorInvert", "seconds": 60},
        ) as response:
            assert response.status == FORBIDDEN


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", "[" * 100_000,
     '{"participant": "red/ana", "pipeline": "sepiaTome", "seconds": 60}',
     '{"participant": "red/ana", "pipeline": "sepiaTone", "seconds": "x"}',
     '{"participant": 1, "pipeline": "sepiaTone", "seconds": 60}'],
)  # fmt: skip
@awaited
async def test_a_broken_override_is_answered_with_an_error(ana, call_server, content):
    key = call_server.moderator_address.rpartition("=")[2]
    async with ana:
        await ana.join("red", "ana")
        async with ana.http.post(
            "/moderator/overrides", headers={"Authorization": f"Bearer {key}"}, data=content
        ) as response:
            assert response.status == 400
            assert (await response.json())["error"]["message"]


@awaited
async def test_more_commands_than_may_wait_are_refused(ana):
    async with ana:
        await ana.join("red", "ana")
        results = await asyncio.gather(
            *(ana.command(command="check", text="sepiaTone") for _ in range(4 * MOST_COMMANDS)),
            return_exceptions=True,
        )
        refused = [each for each in results if isinstance(each, Refused)]
        assert all(each.error["code"] == "RESOURCE_EXHAUSTED" for each in refused)
        assert len(results) - len(refused) >= MOST_COMMANDS and refused
        assert (await ana.command(command="check", text="sepiaTone"))["text"] == "sepiaTone"


@pytest.mark.parametrize(
    "command",
    [{}, {"command": 1}, {"command": "delete"}, {"command": "select"},
     {"command": "select", "text": 1}, {"command": "select", "text": "x" * 100_000},
     {"command": "update", "stage": "a", "values": 1},
     {"command": "update", "stage": "a", "values": {"x": {"x": "1", "y": []}}},
     {"command": "update", "stage": "a", "values": {"x": {"length": {"value": 1, "unit": "x"}}}},
     {"command": "update", "stage": "a", "values": {"x": {"point": {"x": 1}}}},
     {"command": "activate", "stages": [1]},
     {"command": "span", "traceparent": 1, "name": 1, "start": "x", "end": "y"}],
)  # fmt: skip
@awaited
async def test_a_broken_command_is_answered_with_an_error(ana, command):
    async with ana:
        await ana.join("red", "ana")
        if command.get("command") == "span":
            await ana.command(**command)  # It is inactive without OpenTelemetry's variables.
        else:
            with pytest.raises(Refused):
                await ana.command(**command)
        await ana.command(command="select", text="sepiaTone")


@pytest.mark.parametrize("message", ["", "{", "[]", "1", "null", "[" * 50_000, b"\x00\xff"])
@awaited
async def test_a_broken_message_of_the_data_channel_changes_nothing(ana, message):
    async with ana:
        await ana.join("red", "ana")
        ana.send_raw(message)
        await ana.command(command="select", text="sepiaTone")
