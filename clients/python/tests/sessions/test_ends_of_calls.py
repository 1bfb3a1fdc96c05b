"""The errors of calls that gRPC ends: its own status, and messages that are too large."""

import asyncio

import grpc
import pytest
from support.scripted_server import CountingRelay, ScriptedServer

from sidelight import Frame, Image, ResourceExhausted, SidelightError, aio
from sidelight._channel import MAX_MESSAGE_BYTES
from sidelight.v1 import session_pb2

#: The first version of gRPC that refuses a message by the length in its head; others receive it.
REFUSES_EARLY = tuple(map(int, grpc.__version__.split(".")[:2])) >= (1, 84)


def test_a_call_that_ends_during_a_write_has_its_own_status():
    """gRPC for asyncio replaces the status of some calls that end while a message is written."""

    async def run(address):
        codes = set()
        async with aio.connect(address) as server:
            for _ in range(300):
                with pytest.raises(SidelightError) as raised:
                    await server.session("sepiaTone").open()
                codes.add(raised.value.code)
        return codes

    with ScriptedServer() as server:
        assert asyncio.run(run(server.address)) == {"UNIMPLEMENTED"}


def test_a_message_over_the_limit_ends_the_session_with_the_remedy(face):
    opened = session_pb2.ServerMessage(opened={"session_id": "s", "frames_in_flight": 1})
    large = session_pb2.ServerMessage(frame={"sequence": 1, "disposition": 1})
    large.frame.image.inline = bytes(MAX_MESSAGE_BYTES)
    messages = [each.SerializeToString() for each in (opened, large)]
    with ScriptedServer(messages) as scripted, CountingRelay(scripted.address) as relay:
        with face.connect(relay.address) as server:
            with server.session("sepiaTone") as session:
                with pytest.raises(ResourceExhausted, match="raise the limit with connect"):
                    for _ in session.outcomes():
                        pass
                assert not session.is_connected
        if REFUSES_EARLY:
            assert relay.received < MAX_MESSAGE_BYTES // 4


def test_the_limit_of_messages_can_be_set(face, running_server):
    options = [("grpc.max_receive_message_length", 1 << 20)]
    for size, is_accepted in ((1000, True), (1100, False)):
        frame = Frame(Image("gray", size, 1000, bytes(size * 1000)))
        with face.connect(running_server.tcp, options=options) as server:
            with server.session("colorInvert", shared_memory=False) as session:
                if is_accepted:
                    assert session.filter(frame, timeout=60).image.width == size
                    continue
                assert session.filter(frame, timeout=60).failure.code == "RESOURCE_EXHAUSTED"
                assert isinstance(session.error, ResourceExhausted)
