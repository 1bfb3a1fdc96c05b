"""Bounds: readers that do not read, closing, cancellation, many sessions."""

import asyncio
import gc
import os
import threading
import time

import pytest
from support.pictures import random_image

from sidelight import DeadlineExceeded, Dropped, Filtered, SidelightError, Stage, aio
from sidelight._core.delivery import DROP_LIMIT

INVERT = Stage("colorInvert")
SLOW = [Stage("median")] * 6


def test_without_a_reader_sending_never_waits_and_nothing_queues(server):
    image = random_image("gray", 320, 240)
    with server.session(INVERT) as session:
        for _ in range(2000):
            session.send(image)
        counts = session.counts
        granted = session.options.frames_in_flight
        assert counts.received == 2000
        assert counts.filtered + counts.in_flight <= granted + 1
        assert counts.filtered + counts.in_flight + sum(counts.dropped.values()) == 2000
        session.finish()
        sequences = [each.sequence for each in session.outcomes()]
        assert sequences == list(range(1, 2001))
    machine = getattr(session, "_target", session)._machine
    assert len(machine.delivery._queue) <= DROP_LIMIT + granted + 2


def test_an_own_limit_of_frames_in_flight_holds(server):
    with server.session(INVERT, frames_in_flight=1) as session:
        for _ in range(50):
            session.send(random_image("gray", 64, 48))
        counts = session.counts
        assert counts.filtered + counts.in_flight <= 2


@pytest.mark.parametrize("shared_memory", ["auto", False])
def test_closing_with_frames_in_flight_is_quick(server, shared_memory):
    image = random_image("bgra", 1280, 720)
    for _ in range(3):
        with server.session(SLOW, shared_memory=shared_memory) as session:
            for _ in range(4):
                session.send(image)
            started = time.monotonic()
        assert time.monotonic() - started < 60
        counts = session.counts
        assert counts.in_flight == 0 and counts.received == 4
        with pytest.raises(SidelightError):
            session.filter(image)


def test_closing_sends_frames_that_wait_for_untaken_outcomes(server):
    with server.session(INVERT, drop_policy="never_drop", frames_in_flight=1) as session:
        for _ in range(2):
            session.send(random_image("gray", 64, 48))
    assert session.counts.filtered == 2


def test_closing_twice_or_unopened_does_nothing(server):
    session = server.session(INVERT)
    session.close()
    session.close()
    session = server.session(INVERT)
    session.open()
    session.close()
    session.close()


def test_an_error_in_the_block_ends_the_session_at_once(server):
    with pytest.raises(KeyError):
        with server.session(SLOW) as session:
            session.send(random_image("bgra", 1280, 720))
            raise KeyError("x")
    assert session.counts.in_flight == 0


def test_closing_the_server_closes_its_sessions(face, running_server):
    with face.connect(running_server.unix) as server:
        session = server.session(INVERT).open()
        session.filter(random_image("gray", 8, 8), timeout=60)
    with pytest.raises(SidelightError):
        session.filter(random_image("gray", 8, 8), timeout=60)


def test_a_time_limit_leaves_the_session_usable(server):
    image = random_image("bgra", 1280, 720)
    with server.session(SLOW) as session:
        with pytest.raises(DeadlineExceeded) as raised:
            session.filter(image, timeout=0.001)
        assert isinstance(raised.value, TimeoutError)
        session.select(INVERT)
        assert isinstance(session.filter(image, timeout=60), Filtered)
        counts = session.counts
        assert counts.received == 2 and counts.in_flight == 0


def test_many_callers_of_one_session_each_get_their_outcome(server):
    with server.session(INVERT, drop_policy="never_drop") as session:
        failures = []

        def run(value):
            image = type(random_image("gray", 1, 1))("gray", 16, 16, bytes([value]) * 256)
            for _ in range(20):
                outcome = session.filter(image, timeout=60)
                if outcome.image.data[0] != 255 - value:
                    failures.append(value)
                outcome.release()

        threads = [threading.Thread(target=run, args=(value,)) for value in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not failures and session.counts.filtered == 160


def test_many_sessions_work_side_by_side(server):
    image = random_image("gray", 64, 48)
    sessions = [server.session(INVERT, label=str(index)).open() for index in range(20)]
    for _ in range(3):
        assert all(isinstance(each.filter(image, timeout=60), Filtered) for each in sessions)
    for session in sessions:
        session.close()


def test_sessions_that_come_and_go_leave_no_descriptors_or_threads(server):
    def used():
        gc.collect()
        return len(os.listdir("/proc/self/fd")), threading.active_count()

    def run():
        with server.session(INVERT) as session:
            session.filter(random_image("gray", 64, 48), timeout=60)

    for _ in range(5):
        run()
    before = used()
    for _ in range(30):
        run()
    deadline = time.monotonic() + 60
    while any(now > then + 3 for now, then in zip(used(), before)):
        assert time.monotonic() < deadline, (before, used())
        threading.Event().wait(0.05)


# Cancellation, which only the asyncio face has.


def run_with_session(address, pipeline, body):
    async def run():
        async with aio.connect(address) as server, server.session(pipeline) as session:
            await body(session)

    asyncio.run(run())


def test_a_cancelled_task_leaves_the_session_usable(running_server):
    async def body(session):
        image = random_image("bgra", 1280, 720)
        for _ in range(5):
            task = asyncio.ensure_future(session.filter(image))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(session.filter(image), 0.001)
        session.select(INVERT)
        assert isinstance(await session.filter(image, timeout=60), Filtered)

    run_with_session(running_server.unix, SLOW, body)


def test_a_select_while_a_frame_is_written_does_not_end_the_call(running_server):
    async def body(session):
        image = random_image("bgra", 1920, 1080)
        for index in range(10):
            task = asyncio.ensure_future(session.filter(image))
            for _ in range(index):
                await asyncio.sleep(0)
            session.select(INVERT)
            session.update("stages[0].intensity", 1) if index > 99 else None
            assert not isinstance(await task, Dropped)
        assert session.is_connected and session.counts.dropped == {}

    async def run():
        async with aio.connect(running_server.tcp) as server:
            async with server.session(INVERT, shared_memory=False) as session:
                await body(session)

    asyncio.run(run())


def test_a_cancelled_opening_leaves_nothing(running_server):
    async def run():
        async with aio.connect(running_server.unix) as server:
            task = asyncio.ensure_future(server.session(INVERT).open())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        left = [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]
        assert not [each for each in left if not each.done()] or await asyncio.wait(left, timeout=60)

    asyncio.run(run())


def test_the_loop_can_end_with_an_open_session(running_server):
    async def run():
        server = aio.connect(running_server.unix)
        session = await server.session(INVERT).open()
        await session.filter(random_image("gray", 8, 8))

    asyncio.run(run())
