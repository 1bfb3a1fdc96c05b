"""Tests that are coroutines."""

from __future__ import annotations

import asyncio

import sidelight.aio

SECONDS = 60


def run(test):
    """Runs an asynchronous test with a time limit."""
    return asyncio.run(asyncio.wait_for(test, SECONDS))


def in_session(test):
    """A test with a session that inverts colours, over the Unix socket of the running server."""

    def wrapped(running_server):
        async def within():
            async with sidelight.aio.connect(running_server.unix) as server:
                async with server.session("colorInvert") as session:
                    await test(session)

        run(within())

    wrapped.__name__, wrapped.__doc__ = test.__name__, test.__doc__
    return wrapped
