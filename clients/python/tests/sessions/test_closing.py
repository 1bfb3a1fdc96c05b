"""The ends of servers and sessions, and of programs that do not close them."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest
from support.pictures import random_image
from support.running_server import RunningServer

from sidelight import FailedPrecondition, Unavailable, aio

IMAGE = random_image("gray", 16, 16)


def test_a_closed_server_opens_nothing(face, running_server):
    server = face.connect(running_server.unix)
    session = server.session()
    with server:
        assert server.info().version
    server.close()
    with pytest.raises(FailedPrecondition, match="is closed; connect again"):
        server.info()
    with pytest.raises(FailedPrecondition, match="is closed; connect again"):
        session.open()


def test_a_server_closes_its_sessions(face, running_server):
    server = face.connect(running_server.unix)
    sessions = [server.session().open() for _ in range(3)]
    sessions[0].send(IMAGE)
    server.close()
    for session in sessions:
        with pytest.raises(Unavailable):
            session.send(IMAGE)
    assert sessions[0].counts.in_flight == 0


def test_a_session_is_not_opened_twice(server):
    with server.session() as session:
        session.filter(IMAGE)
    with pytest.raises(Unavailable, match="is over; create another one"):
        session.open()
    unopened = server.session()
    unopened.close()
    with pytest.raises(Unavailable, match="is over; create another one"):
        unopened.open()


PROGRAM = """
import sys
import sidelight

image = sidelight.Image("gray", 16, 16, bytes(256))
server = sidelight.connect(sys.argv[1])
session = server.session("vignette", drop_policy="never_drop").open()
outcomes = session.filter_all(image for _ in range(10_000))
next(outcomes)
print("filtered")
"""


def test_a_program_ends_without_closing_its_session(running_server):
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM, running_server.unix],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert finished.returncode == 0 and finished.stdout == "filtered\n", finished.stderr


INTERRUPTED = """
import sys
import sidelight

session = sidelight.connect(sys.argv[1]).session()
print("opening", flush=True)
try:
    session.open()
except KeyboardInterrupt:
    try:
        session.open()
    except sidelight.SidelightError as error:
        print(error.code)
"""


def test_an_interrupt_ends_an_attempt_to_open(silent_listener):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, silent_listener.address], stdout=subprocess.PIPE
    )
    with process:
        try:
            assert process.stdout.readline() == b"opening\n"
            silent_listener.accept()
            os.kill(process.pid, signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert out == b"UNAVAILABLE\n" and process.returncode == 0


def test_a_cancelled_close_ends_all_sessions(silent_listener):
    async def run():
        server = aio.connect(silent_listener.address)
        openings = [asyncio.ensure_future(server.session().open()) for _ in range(2)]
        for _ in openings:
            await asyncio.get_running_loop().run_in_executor(None, silent_listener.accept)
        closing = asyncio.ensure_future(server.close())
        await asyncio.wait([closing], timeout=0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        errors = await asyncio.gather(*openings, return_exceptions=True)
        assert [type(each) for each in errors] == [Unavailable, Unavailable]

    asyncio.run(run())


def test_a_cancelled_call_leaves_the_session_usable(running_server):
    async def run():
        async with aio.connect(running_server.unix) as server:
            async with server.session("vignette", frames_in_flight=1) as session:
                calls = [asyncio.ensure_future(session.filter(IMAGE)) for _ in range(8)]
                await asyncio.wait(calls, timeout=0)
                for call in calls:
                    call.cancel()
                await asyncio.gather(*calls, return_exceptions=True)
                return (await session.filter(IMAGE)).sequence, session.counts.in_flight

    assert asyncio.run(run()) == (9, 0)


STOPPED = """
import asyncio
import sys
import sidelight

async def main():
    small, large = (sidelight.Image.allocate("bgra", side, side) for side in (16, 2048))
    async with sidelight.aio.connect(sys.argv[1]) as server:
        async with server.session() as session:
            await session.filter(small)
            print("filtered", flush=True)
            sys.stdin.readline()
            await session.send(large)

import sidelight.aio
asyncio.run(main())
"""


def test_a_program_ends_whose_server_is_frozen():
    with RunningServer() as server:
        program = subprocess.Popen(
            [sys.executable, "-c", STOPPED, server.tcp],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        assert program.stdout.readline() == "filtered\n"
        # It reads no more of the large picture than the buffers of the system hold.
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            program.communicate("go on\n", timeout=60)
        finally:
            program.kill()
            program.communicate()
            os.kill(server.process.pid, signal.SIGCONT)
    assert program.returncode == 0
