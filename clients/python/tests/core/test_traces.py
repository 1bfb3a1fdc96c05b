"""The context of the current span travels with every frame."""

import asyncio

import pytest

import sidelight
from sidelight import Frame, Image, aio
from sidelight._core.window import OPEN
from sidelight.v1 import session_pb2

trace = pytest.importorskip("opentelemetry.trace")

PARENT = f"00-{0xABC:032x}-{0xDEF:016x}-01"


@pytest.fixture
def span():
    return trace.NonRecordingSpan(
        trace.SpanContext(
            trace_id=0xABC, span_id=0xDEF, is_remote=False, trace_flags=trace.TraceFlags(1)
        )
    )


def sent_trace(session):
    """The trace of the next frame that is written."""
    message = session_pb2.ClientMessage.FromString(session._link.next_message(0.0))
    return message.frame.trace.traceparent


def opened(server):
    session = server.session()
    session._machine.window.open(4, [])
    session._machine.was_opened = True
    assert session._machine.window.link == OPEN
    return session


def test_frames_of_the_synchronous_face_carry_the_current_span(span):
    session = opened(sidelight.connect("127.0.0.1:1"))
    image = Image("gray", 1, 1, b"x")
    session.send(image)
    assert sent_trace(session) == ""
    with trace.use_span(span):
        session.send(image)
        assert sent_trace(session) == PARENT
        session.send(Frame(image, trace="00-own"))
        assert sent_trace(session) == "00-own"


def test_frames_of_the_asyncio_face_carry_the_span_of_their_task(span):
    async def run():
        session = opened(aio.connect("127.0.0.1:1"))
        with trace.use_span(span):
            await session.send(Image("gray", 1, 1, b"x"))
        assert sent_trace(session) == PARENT

    asyncio.run(run())
