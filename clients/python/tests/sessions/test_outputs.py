"""Named outputs of a session, with a real server."""

import asyncio

import pytest
from support.pictures import random_image

from sidelight import (
    Dropped,
    DropReason,
    Filtered,
    Frame,
    InvalidArgument,
    NamedOutput,
    Output,
    aio,
)

OUTPUTS = [
    NamedOutput("same"),
    NamedOutput("small", Output(format="jpeg", width=32), max_fps=10),
    NamedOutput("twice", pipeline="colorInvert"),
]


def frames(count):
    return [
        Frame(random_image("bgra", 64, 48), capture_time_ns=1 + index * 50_000_000)
        for index in range(count)
    ]


def test_pictures_come_back_in_the_outputs(server):
    sent = frames(8)
    with server.session("colorInvert", outputs=OUTPUTS, drop_policy="never_drop") as session:
        assert not session.uses_shared_memory
        for frame in sent:
            outcome = session.filter(frame, timeout=60)
            assert isinstance(outcome, Filtered)
            with pytest.raises(ValueError, match="outputs"):
                outcome.image.width
        session.finish()
        taken = list(session.outputs())
    numbers = {
        name: [each.outcome.sequence for each in taken if each.output == name]
        for name in ("same", "small", "twice")
    }
    assert numbers == {"same": list(range(1, 9)), "small": [1, 3, 5, 7], "twice": list(range(1, 9))}
    for name, outcome in taken:
        assert isinstance(outcome, Filtered)
        assert outcome.timing.round_trip > 0
        frame = sent[outcome.sequence - 1]
        assert outcome.frame.capture_time_ns == frame.capture_time_ns
        if name == "small":
            assert (outcome.image.format.name, outcome.image.width) == ("JPEG", 32)
        if name == "twice":
            assert outcome.image.bytes() == frame.image.bytes()


def test_an_output_whose_frames_would_be_too_large_drops_them_alone(server):
    huge = "scale(width: 8192, height: 8192, mode: stretch)"
    outputs = [NamedOutput("fine"), NamedOutput("huge", pipeline=huge)]
    with server.session(outputs=outputs, drop_policy="never_drop") as session:
        session.filter(frames(1)[0], timeout=60)
        session.finish()
        outcomes = dict(session.outputs())
    assert not isinstance(outcomes["fine"], Dropped)
    assert isinstance(outcomes["huge"], Dropped)
    assert outcomes["huge"].reason is DropReason.STAGE_FAILED
    assert "huge" in str(outcomes["huge"].error)


def test_outputs_are_async_iterators(address):
    async def main():
        async with aio.connect(address) as server:
            async with server.session(outputs=OUTPUTS[:1], drop_policy="never_drop") as session:
                frame = frames(1)[0]
                await session.filter(frame, timeout=60)
                session.finish()
                return frame, [each async for each in session.outputs()]

    frame, outcomes = asyncio.run(main())
    assert [(each.output, each.outcome.sequence) for each in outcomes] == [("same", 1)]
    assert outcomes[0].outcome.image.bytes() == frame.image.bytes()


def test_invalid_outputs_name_their_field(server):
    with pytest.raises(InvalidArgument, match=r"outputs\[0\]"):
        server.session(outputs=["same"])
    with pytest.raises(InvalidArgument, match=r"outputs\[1\]\.max_fps"):
        server.session(outputs=[NamedOutput("a"), NamedOutput("b", max_fps=0)])
    with pytest.raises(InvalidArgument, match=r"outputs\[0\]\.output\.width"):
        server.session(outputs=[NamedOutput("a", Output(width=0))])
    refused = [
        [NamedOutput("a"), NamedOutput("a")],
        [NamedOutput("")],
        [NamedOutput(str(index)) for index in range(5)],
        [NamedOutput("a", pipeline="histogram")],
    ]
    for outputs in refused:
        with pytest.raises(InvalidArgument, match="open.outputs"):
            server.session(outputs=outputs).open()
    with pytest.raises(InvalidArgument, match="open.output"):
        server.session(output=Output(width=8), outputs=[NamedOutput("a")]).open()
