"""One camera for all tests; a browser, Sidelight and a call server per test file."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import pytest

from calltesting.devtools import DevTools
from calltesting.participant import Participant
from calltesting.programs import CallServer, Sidelight

pytest_plugins = ["calltesting.fixtures"]

# Half the rate of a usual call: the tests measure behaviour, also on a busy machine.
FRAMES_PER_SECOND = 15
_ROOMS = count(1)


@pytest.fixture(scope="module")
def sidelight() -> Iterator[Sidelight]:
    """A Sidelight process."""
    with Sidelight() as running:
        yield running


@pytest.fixture(scope="module")
def call_server(sidelight: Sidelight) -> Iterator[CallServer]:
    """A call server whose frames may be late: the tests wait for what must happen."""
    with CallServer(sidelight.address, "--budget", "2000") as running:
        yield running


@pytest.fixture
def join(
    browser: DevTools, call_server: CallServer
) -> Iterator[Callable[..., Participant]]:
    """Lets participants join a new room, and closes their pages in the end."""
    room = f"room-{next(_ROOMS)}"
    with ExitStack() as stack:

        def join(name: str, **options: object) -> Participant:
            options.setdefault("frames_per_second", FRAMES_PER_SECOND)
            participant = Participant(browser, call_server.address, name, room=room, **options)
            stack.callback(participant.page.close)
            return participant

        yield join
