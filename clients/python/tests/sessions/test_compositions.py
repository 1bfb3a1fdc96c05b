"""Sessions that show the results of other sessions, with a real server."""

import asyncio

import pytest
from support.scripted_server import ScriptedServer

from sidelight import (
    Composition,
    CompositionSource,
    Dropped,
    FailedPrecondition,
    Frame,
    Image,
    InvalidArgument,
    Output,
    SidelightError,
    aio,
)
from sidelight.events import Reconnected, Rejected
from sidelight.v1 import session_pb2

LIMIT = 60
GRAY = bytes([48, 48, 48, 255])
SOURCES = [CompositionSource("cam", participant="ana"), "none"]


def composition(width=32, **options):
    return Composition(width, 16, SOURCES, fit="stretch", frame_rate=60, **options)


def frame(level=200):
    return Frame(Image("bgra", 8, 8, bytes([level, level, level, 255]) * 64))


def shown(image, index):
    """The pixel in the middle of the first or second half of a picture."""
    column = image.width // 4 + index * image.width // 2
    start = 4 * (8 * image.width + column)
    return bytes(image.bytes()[start : start + 4])


def width_of(outcome):
    return None if isinstance(outcome, Dropped) else outcome.image.width


def pictures(composed, session):
    """Yields composed pictures; before each one, the other session filters a frame."""
    for outcome in composed.outcomes():
        session.filter(frame(), timeout=LIMIT)
        if not isinstance(outcome, Dropped):
            yield outcome


def test_a_session_shows_the_results_of_another_and_changes_its_composition(server):
    with server.session(composition=composition()) as composed:
        assert not composed.uses_shared_memory
        with pytest.raises(FailedPrecondition, match="composition"):
            composed.filter(frame())
        with server.session("colorInvert", label="cam", participant="ana") as session:
            found = pictures(composed, session)
            first = next(found)
            assert first.sequence >= 1 and first.frame.capture_time_ns > 0
            each = next(each for each in found if shown(each.image, 0) != GRAY)
            assert shown(each.image, 0) == bytes([55, 55, 55, 255])
            assert shown(each.image, 1) == GRAY
            composed.set_composition(composition(64, layout="side_by_side"))
            next(each for each in found if each.image.width == 64)
            composed.set_composition(Composition(64, 16, []))
            events = (each for each in composed.events() if isinstance(each, Rejected))
            assert "set_composition.composition.sources" in str(next(events).error)
            with pytest.raises(FailedPrecondition, match="without a composition"):
                session.set_composition(composition())
        # Its session has ended.
        for outcome in composed.outcomes():
            if not isinstance(outcome, Dropped) and shown(outcome.image, 0) == GRAY:
                break


def test_pauses_and_overrides_hide_a_source_until_its_next_result(server):
    with server.session(composition=composition()) as composed:
        with server.session(label="cam", participant="ana") as session:
            found = pictures(composed, session)
            white = bytes([200, 200, 200, 255])
            next(each for each in found if shown(each.image, 0) == white)
            session.pause()
            next(each for each in found if shown(each.image, 0) == GRAY)
            session.resume()
            next(each for each in found if shown(each.image, 0) == white)
            server.sessions.override(participant="ana", pipeline="colorInvert", for_=60)
            # The source stalls: no later result than the earlier ones.
            alone = (each for each in composed.outcomes() if not isinstance(each, Dropped))
            next(each for each in alone if shown(each.image, 0) == GRAY)
            seen = {shown(next(alone).image, 0) for _ in range(10)}
            assert seen == {GRAY}
            seen = set()
            while bytes([55, 55, 55, 255]) not in seen:
                seen.add(shown(next(found).image, 0))
            assert white not in seen
            server.sessions.end_override(participant="ana")


def test_a_source_that_stalls_keeps_its_picture_while_the_others_go_on(server):
    grid = Composition(32, 16, ["a", "b"], frame_rate=60, fit="stretch")
    with server.session(composition=grid) as composed:
        outcomes = (each for each in composed.outcomes() if not isinstance(each, Dropped))
        next(outcomes)
        with server.session(label="a") as first, server.session(label="b") as second:
            # A composition reads a session from its next picture on.
            while shown(next(outcomes).image, 0)[0] != 200:
                first.filter(frame(200), timeout=LIMIT)
            second.filter(frame(99), timeout=LIMIT)
            for level in range(100, 110):
                second.filter(frame(level), timeout=LIMIT)
                each = next(each for each in outcomes if shown(each.image, 1)[0] == level)
                assert shown(each.image, 0)[0] == 200


def test_a_source_that_begins_later_is_shown_by_its_only_picture(server):
    with server.session(composition=composition()) as composed:
        outcomes = (each for each in composed.outcomes() if not isinstance(each, Dropped))
        next(outcomes)
        with server.session(label="cam", participant="ana") as session:
            session.filter(frame(), timeout=LIMIT)
            next(each for each in outcomes if shown(each.image, 0)[0] == 200)


def test_a_grid_of_16_shows_all_sources(server):
    labels = [str(index) for index in range(16)]
    grid = Composition(64, 64, labels, frame_rate=60)
    sessions = [server.session(label=label) for label in labels]
    try:
        with server.session("colorInvert", composition=grid) as composed:
            for outcome in composed.outcomes():
                for index, session in enumerate(sessions):
                    session.filter(frame(60 + 10 * index), timeout=LIMIT)
                if isinstance(outcome, Dropped):
                    continue
                data = bytes(outcome.image.bytes())
                centres = [
                    data[4 * (64 * (16 * (index // 4) + 8) + 16 * (index % 4) + 8)]
                    for index in range(16)
                ]
                if centres == [255 - 60 - 10 * index for index in range(16)]:
                    break
    finally:
        for session in sessions:
            session.close()


def test_a_composition_is_encoded_for_asyncio(address):
    av = pytest.importorskip("sidelight.av")

    async def main():
        async with aio.connect(address) as server:
            options = {"composition": composition(), "output": Output(format="vp8")}
            async with server.session(**options) as composed:
                decoder, widths = av.Decoder(), []
                async for outcome in composed.outcomes():
                    if isinstance(outcome, Dropped):
                        continue
                    widths.append(decoder.decode(outcome.image).width)
                    if len(widths) == 10:
                        return widths

    assert asyncio.run(asyncio.wait_for(main(), LIMIT)) == [32] * 10


def test_a_composition_is_opened_again_after_a_lost_connection(face, restartable):
    with face.connect(restartable.address) as client:
        with client.session(composition=composition()) as composed:
            outcomes = composed.outcomes()
            next(outcomes)
            composed.set_composition(composition(64))
            next(each for each in outcomes if width_of(each) == 64)
            restartable.kill()
            restartable.start()
            next(each for each in composed.events() if isinstance(each, Reconnected))
            # Numbers begin again; outcomes of the first connection may be left.
            again = next(each for each in outcomes if each.sequence <= 8 and width_of(each))
            assert width_of(again) == 64


def test_invalid_compositions_name_their_field(server):
    wrong = [
        (Composition(1, 16, ["a"]), r"composition\.width"),
        (Composition(16, 16, ["a"], frame_rate=0), r"composition\.frame_rate"),
        (Composition(16, 16, ["a"], layout="pile"), r"composition\.layout"),
        (Composition(16, 16, "a"), r"composition\.sources"),
        (Composition(16, 16, ["a", 1]), r"composition\.sources\[1\]"),
        (Composition(16, 16, [CompositionSource("a", cell=(0, 0, 2, 1))]), r"cell\.width"),
        ("grid", "composition"),
    ]
    for value, field in wrong:
        with pytest.raises(InvalidArgument, match=field):
            server.session(composition=value)
    for sources in ([], ["a", "a"], [str(index) for index in range(17)]):
        with pytest.raises(InvalidArgument, match="open.composition.sources"):
            server.session(composition=Composition(16, 16, sources)).open()


def test_a_server_that_ignores_the_composition_ends_the_session(face):
    opened = session_pb2.Opened(session_id="s", frames_in_flight=1)
    answers = [session_pb2.ServerMessage(opened=opened).SerializeToString()]
    with ScriptedServer(answers) as scripted, face.connect(scripted.address) as client:
        with pytest.raises(SidelightError, match="compositions") as raised:
            client.session(composition=composition()).open()
        assert raised.value.code == "UNIMPLEMENTED"
