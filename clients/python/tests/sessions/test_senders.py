"""Sources and senders that fail: readers of outcomes do not wait for ever."""

import asyncio
import threading

import pytest
from support.pictures import random_image

import sidelight
from sidelight import Filtered, Stage, aio

IMAGE = random_image("gray", 16, 16)
INVERT = Stage("colorInvert")
LIMIT = 60


class CameraError(Exception):
    pass


def run(address, body, **options):
    """Runs a coroutine function with an open session of the asyncio face."""

    async def main():
        async with aio.connect(address) as server, server.session(INVERT, **options) as session:
            await asyncio.wait_for(body(session), LIMIT)

    asyncio.run(main())


def test_the_error_of_a_sending_task_follows_its_outcomes(running_server):
    async def body(session):
        async def send():
            await session.send(IMAGE)
            await session.send(IMAGE)
            raise CameraError("unplugged")

        outcomes = []
        sender = asyncio.ensure_future(send())
        with pytest.raises(CameraError, match="unplugged"):
            async for outcome in session.outcomes():
                outcomes.append(outcome.sequence)
        assert outcomes == [1, 2] and sender.done()
        # The session goes on, also with another sender.
        assert isinstance(await session.filter(IMAGE, timeout=LIMIT), Filtered)
        await session.send(IMAGE)
        session.finish()
        assert [each.sequence async for each in session.outcomes()] == [4]

    run(running_server.unix, body)


def test_a_reader_that_waits_gets_the_error_of_the_sender(running_server):
    async def body(session):
        fail = asyncio.Event()

        async def send():
            await session.send(IMAGE)
            await fail.wait()
            raise CameraError("unplugged")

        sender = asyncio.ensure_future(send())
        outcomes = session.outcomes()
        assert (await outcomes.__anext__()).sequence == 1
        waiting = asyncio.ensure_future(outcomes.__anext__())
        await asyncio.wait([waiting], timeout=0)
        fail.set()
        with pytest.raises(CameraError):
            await waiting
        assert sender.done()

    run(running_server.unix, body)


def test_the_error_of_one_of_two_senders_ends_no_outcomes(running_server):
    async def body(session):
        failed = asyncio.Event()

        async def fail():
            await session.send(IMAGE)
            failed.set()
            raise CameraError("unplugged")

        async def send():
            await session.send(IMAGE)
            await failed.wait()
            await asyncio.wait([failing])
            await session.send(IMAGE)
            session.finish()

        sending = asyncio.ensure_future(send())
        failing = asyncio.ensure_future(fail())
        assert len([each async for each in session.outcomes()]) == 3
        await sending
        assert isinstance(failing.exception(), CameraError)

    run(running_server.unix, body)


def test_a_thread_that_fails_ends_the_outcomes_with_finish(running_server):
    errors = []

    def send(session):
        try:
            session.send(IMAGE)
            raise CameraError("unplugged")
        except CameraError as error:
            errors.append(error)
        finally:
            session.finish()

    with sidelight.connect(running_server.unix) as server, server.session(INVERT) as session:
        sender = threading.Thread(target=send, args=(session,))
        sender.start()
        assert [each.sequence for each in session.outcomes()] == [1]
        sender.join(LIMIT)
        assert len(errors) == 1


@pytest.mark.parametrize("error", [CameraError, asyncio.CancelledError])
def test_the_error_of_an_asynchronous_source_follows_its_outcomes(running_server, error):
    async def body(session):
        async def source():
            yield IMAGE
            raise error()

        outcomes = session.filter_all(source())
        assert isinstance(await outcomes.__anext__(), Filtered)
        with pytest.raises(error):
            await asyncio.wait_for(outcomes.__anext__(), LIMIT / 2)

    run(running_server.unix, body)


def test_an_error_in_the_body_of_a_loop_leaves_the_session_usable(running_server):
    async def body(session):
        try:
            async for outcome in session.filter_all(IMAGE for _ in range(1000)):
                raise KeyError(outcome.sequence)
        except KeyError:
            pass
        assert isinstance(await session.filter(IMAGE, timeout=LIMIT), Filtered)

    run(running_server.unix, body, drop_policy="never_drop")


def test_the_loop_can_end_while_a_source_waits_for_a_reader(running_server):
    async def main():
        server = aio.connect(running_server.unix)
        session = await server.session(INVERT, drop_policy="never_drop").open()
        outcomes = session.filter_all(IMAGE for _ in range(1000))
        await outcomes.__anext__()
        return outcomes

    asyncio.run(asyncio.wait_for(main(), LIMIT))
