"""Named outputs of a session, with a real server."""

import asyncio
import threading

import pytest
from support.pictures import random_image
from support.scripted_server import ScriptedServer

from sidelight import (
    DeadlineExceeded,
    Dropped,
    DropReason,
    Filtered,
    Frame,
    InvalidArgument,
    NamedOutput,
    Output,
    SidelightError,
    aio,
)
from sidelight._core.outputs import OUTPUT_LIMIT
from sidelight.events import Reconnected, Rejected
from sidelight.output import EncoderOptions
from sidelight.v1 import session_pb2

LIMIT = 60

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


def test_no_outcome_is_lost_under_never_drop(server):
    names = ["a", "b", "c"]
    outputs = [NamedOutput(name) for name in names]
    with server.session(outputs=outputs, drop_policy="never_drop") as session:
        for frame in frames(30):
            session.filter(frame, timeout=LIMIT)
        session.finish()
        taken = list(session.outputs())
        assert session.dropped_outputs == 0
    for name in names:
        found = [each.outcome.sequence for each in taken if each.output == name]
        assert found == list(range(1, 31))


def test_frames_wait_until_outcomes_of_outputs_are_taken(server):
    count = 3 * OUTPUT_LIMIT
    taken = []
    with server.session(outputs=OUTPUTS[:1], drop_policy="never_drop") as session:
        with pytest.raises(DeadlineExceeded):
            for frame in frames(count):
                session.filter(frame, timeout=2)
        sent = session.counts.received

        def read():
            taken.extend(each.outcome.sequence for each in session.outputs())

        reader = threading.Thread(target=read)
        reader.start()
        for frame in frames(count - sent):
            session.filter(frame, timeout=LIMIT)
        session.finish()
        reader.join(LIMIT)
        assert session.dropped_outputs == 0
    assert taken == list(range(1, count + 1))


def test_a_session_closes_although_outcomes_of_outputs_are_not_taken(server):
    with server.session(outputs=OUTPUTS[:1], drop_policy="never_drop") as session:
        with pytest.raises(DeadlineExceeded):
            for frame in frames(3 * OUTPUT_LIMIT):
                session.filter(frame, timeout=2)
    assert session.error is None
    left = [each.outcome.sequence for each in session.outputs()]
    assert left == list(range(1, len(left) + 1)) and session.dropped_outputs == 0


def test_outputs_are_opened_again_after_a_lost_connection(face, restartable):
    outputs = [NamedOutput("same"), NamedOutput("twice", pipeline="colorInvert")]
    options = {"outputs": outputs, "drop_policy": "never_drop", "fallback": "drop"}
    with face.connect(restartable.address) as client:
        with client.session("colorInvert", **options) as session:
            reconnected = threading.Semaphore(0)
            session.on_event(lambda each: isinstance(each, Reconnected) and reconnected.release())
            sent, taken = frames(9), []
            outcomes = session.outputs()
            for round in range(3):
                for frame in sent[3 * round : 3 * round + 3]:
                    assert isinstance(session.filter(frame, timeout=LIMIT), Filtered)
                    taken += [next(outcomes), next(outcomes)]
                restartable.kill()
                restartable.start()
                assert reconnected.acquire(timeout=LIMIT)
            session.finish()
            assert list(outcomes) == [] and session.dropped_outputs == 0
    for name in ("same", "twice"):
        mine = [each.outcome for each in taken if each.output == name]
        assert [each.sequence for each in mine] == list(range(1, 10))
        for each in mine if name == "twice" else ():
            assert each.image.bytes() == sent[each.sequence - 1].image.bytes()


def test_encoders_of_outputs_are_steered_by_name(server):
    av = pytest.importorskip("sidelight.av")
    encoder = EncoderOptions(bit_rate=200_000)
    outputs = [
        NamedOutput("call", Output(format="vp8", encoder=encoder)),
        NamedOutput("record", Output(format="vp8", encoder=encoder)),
    ]
    with server.session(outputs=outputs) as session:
        answers = session.outputs()

        def step(count):
            """Filters frames; returns the results by output, decoded with their key frame flag."""
            found = {"call": [], "record": []}
            for _ in range(count):
                session.filter(frames(1)[0], timeout=LIMIT)
                for _ in found:
                    name, outcome = next(answers)
                    picture = decoders[name].decode(outcome.image)
                    found[name].append((outcome.image.is_key_frame, picture.width))
            return found

        decoders = {"call": av.Decoder(), "record": av.Decoder()}
        # More than the server sends without acknowledgements.
        first = step(OUTPUT_LIMIT + 6)
        assert first["call"][0] == (True, 64)
        assert (False, 64) in first["call"]
        session.set_encoder(width=32, height=24, output="call")
        changed = step(1)
        assert changed["call"] == [(True, 32)] and changed["record"][0][1] == 64
        session.request_key_frame(output="record")
        # It may wait for half a second after the last key frame.
        for _ in range(5000):
            found = step(1)
            assert found["call"] == [(False, 32)]
            if found["record"] == [(True, 64)]:
                break
        assert found["record"] == [(True, 64)]
        for wrong in ("", "none", None):
            with pytest.raises(InvalidArgument, match="one of call, record"):
                session.set_encoder(bit_rate=50_000, output=wrong)
        with pytest.raises(InvalidArgument, match="one of call, record"):
            session.request_key_frame(output="none")
        assert session.dropped_outputs == 0
        session.finish()
        assert not any(isinstance(each, Rejected) for each in session.events())
    with server.session() as session:
        with pytest.raises(InvalidArgument, match="no named outputs"):
            session.request_key_frame(output="call")


@pytest.mark.parametrize("limits", [None, session_pb2.Limits(max_outputs=1)])
def test_a_server_that_ignores_outputs_ends_the_session(face, limits):
    opened = session_pb2.Opened(session_id="s", frames_in_flight=1, limits=limits)
    answers = [session_pb2.ServerMessage(opened=opened).SerializeToString()]
    with ScriptedServer(answers) as scripted, face.connect(scripted.address) as client:
        session = client.session(outputs=[NamedOutput("a"), NamedOutput("b")])
        with pytest.raises(SidelightError, match="named outputs") as raised:
            session.open()
        assert raised.value.code == "UNIMPLEMENTED" and session.error is not None
        if limits is not None:
            with client.session(outputs=[NamedOutput("a")]):
                pass
