"""Sessions that are used without a `with` statement: the first use opens them."""

import asyncio
import threading

import pytest
from support.pictures import random_image

import sidelight
from sidelight import (
    DeadlineExceeded,
    Filtered,
    InvalidArgument,
    Stage,
    Unavailable,
    aio,
)

IMAGE = random_image("gray", 16, 16)
INVERT = Stage("colorInvert")
#: Each use that waits, as a function of a session.
USES = {
    "filter": lambda session: session.filter(IMAGE, timeout=60),
    "filter_all": lambda session: next(session.filter_all([IMAGE])),
    "send": lambda session: session.send(IMAGE),
    "outcomes": lambda session: next(session.outcomes()),
    "events": lambda session: next(session.events()),
    "analyses": lambda session: next(session.analyses()),
    "accepted": lambda session: session.select("sepiaTone").accepted(),
    "applied": lambda session: session.select("sepiaTone").applied(),
}


@pytest.mark.parametrize("use", ["filter", "filter_all"])
def test_the_first_use_opens_the_session(server, use):
    session = server.session(INVERT)
    outcome = USES[use](session)
    assert isinstance(outcome, Filtered)
    assert bytes(outcome.image.data) == bytes(255 - each for each in IMAGE.data)
    assert session.is_connected and session.options.frames_in_flight
    session.close()


def test_frames_that_are_sent_first_are_filtered(server):
    session = server.session(INVERT)
    assert session.send(IMAGE) == 1
    session.finish()
    (outcome,) = session.outcomes()
    assert isinstance(outcome, Filtered)


def test_a_change_before_the_first_use_is_in_force(server):
    session = server.session()
    assert session.select(INVERT).accepted() > 1
    assert isinstance(session.filter(IMAGE, timeout=60), Filtered)
    session.close()


@pytest.mark.parametrize("use", sorted(USES))
def test_the_first_use_raises_the_error_of_a_wrong_filter(server, use):
    session = server.session("sepiaTome")
    with pytest.raises(InvalidArgument) as raised:
        USES[use](session)
    assert raised.value.suggestion == "sepiaTone"
    with pytest.raises(InvalidArgument):
        session.filter(IMAGE)


@pytest.mark.parametrize("use", sorted(USES))
def test_the_first_use_raises_the_error_of_an_absent_server(face, use):
    with face.connect("unix:/nonexistent/socket") as server:
        session = server.session(INVERT)
        with pytest.raises(Unavailable, match="no server answers at the address; check the "):
            USES[use](session)
        assert session.counts.received == 0


def test_a_closed_session_is_not_opened_by_its_use(server):
    used, unused = server.session(INVERT), server.session(INVERT)
    used.filter(IMAGE, timeout=60)
    for session in (used, unused):
        session.close()
        with pytest.raises(Unavailable, match="the session is over; create another one"):
            session.filter(IMAGE)
        assert list(session.outcomes()) == []
    assert list(unused.events()) == []


def test_a_finished_session_is_not_opened_by_its_use(server):
    session = server.session(INVERT)
    session.finish()
    assert list(session.outcomes()) == []
    with pytest.raises(Unavailable, match="accepts no more frames; create another one"):
        session.filter(IMAGE)
    session.close()


def test_closing_the_server_closes_a_session_that_was_opened_by_its_use(face, running_server):
    with face.connect(running_server.unix) as server:
        session = server.session(INVERT)
        session.filter(IMAGE, timeout=60)
    with pytest.raises(Unavailable):
        session.filter(IMAGE)


def test_a_with_statement_may_follow_the_first_use(server):
    session = server.session(INVERT)
    session.filter(IMAGE, timeout=60)
    name = session.id
    with session:
        assert isinstance(session.filter(IMAGE, timeout=60), Filtered) and session.id == name
    with pytest.raises(Unavailable):
        session.filter(IMAGE)


def test_a_time_limit_includes_the_opening(face, silent_listener):
    with face.connect(silent_listener.address) as server:
        session = server.session(INVERT)
        with pytest.raises(DeadlineExceeded, match="not open after 0.2 s"):
            session.filter(IMAGE, timeout=0.2)
        with pytest.raises(DeadlineExceeded, match="not open after 0.1 s"):
            session.select("sepiaTone").accepted(timeout=0.1)
        assert session.counts.received == 0
        session.close()


def test_threads_that_use_a_session_first_open_it_once(running_server):
    with sidelight.connect(running_server.unix) as server:
        session = server.session(INVERT, drop_policy="never_drop")
        start, outcomes = threading.Barrier(8), []

        def use():
            start.wait()
            outcomes.append(session.filter(IMAGE, timeout=60))

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert [type(each) for each in outcomes] == [Filtered] * 8
        assert sorted(each.sequence for each in outcomes) == list(range(1, 9))
        assert len(server._sessions) == len(session._connections) == 1


def test_a_cancelled_first_use_leaves_the_session_usable(running_server):
    async def run():
        async with aio.connect(running_server.unix) as server:
            session = server.session(INVERT)
            first = asyncio.ensure_future(session.filter(IMAGE))
            await asyncio.wait([first], timeout=0)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            assert isinstance(await session.filter(IMAGE, timeout=60), Filtered)

    asyncio.run(run())


@pytest.mark.parametrize("module", [sidelight.sync, aio])
def test_a_server_is_made_by_connect(module):
    with pytest.raises(TypeError, match=r"a server is created by connect\(address\)"):
        module.Server("127.0.0.1:50051")
