"""Fixtures that the tests of calls and of the studio share (a camera, a browser, the logs of a failed
test): `pytest_plugins = ["calltesting.fixtures"]`."""

import signal
from collections.abc import Iterator

import pytest

from .browser import Browser
from .camera import Camera, record
from .devtools import DevTools
from .programs import Program, Sidelight

# The number of characters from the end of a log that a failed test shows.
LOG_CHARACTERS = 8_000

# A run that is terminated, as at its limit of time, ends its programs and removes its folders.
signal.signal(signal.SIGTERM, signal.default_int_handler)


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
