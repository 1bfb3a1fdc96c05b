"""One camera for all tests; a browser, Sidelight and a call server for each test file."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import pytest

from calltesting.browser import Browser
from calltesting.camera import Camera, record
from calltesting.devtools import DevTools
from calltesting.participant import Participant
from calltesting.programs import CallServer, Program, Sidelight

# The number of characters from the end of a log that a failed test shows.
LOG_CHARACTERS = 8_000
# Half the rate of a usual call: the tests measure behaviour, also on a busy machine.
FRAMES_PER_SECOND = 15
_ROOMS = count(1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Adds the logs of the programs and the consoles of the pages to a failed test's report."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, (Program, Sidelight)):
                report.sections.append((f"log of {name}", value.log[-LOG_CHARACTERS:]))
            if isinstance(value, DevTools):
                report.sections.append(("consoles of the pages", "\n".join(value.console)))
    return report


@pytest.fixture(scope="session")
def camera(tmp_path_factory: pytest.TempPathFactory) -> Camera:
    """The video that the fake camera repeats."""
    return record(tmp_path_factory.mktemp("camera") / "camera.y4m")


@pytest.fixture(scope="module")
def browser(camera: Camera) -> Iterator[DevTools]:
    """A browser, whose pages have the same camera."""
    with Browser(camera) as devtools:
        yield devtools


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
