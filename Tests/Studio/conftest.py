"""One camera for all tests; a browser and a studio for each test file; a page for each test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from calltesting.browser import Browser
from calltesting.camera import Camera, record
from calltesting.devtools import DevTools
from calltesting.programs import Program
from studiotesting.page import StudioPage
from studiotesting.studio import Studio

# The number of characters from the end of a log that a failed test shows.
LOG_CHARACTERS = 8_000


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Adds the logs of the programs and the consoles of the pages to a failed test's report."""
    report = yield
    if report.failed:
        for name, value in getattr(item, "funcargs", {}).items():
            if isinstance(value, Program):
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
def studio() -> Iterator[Studio]:
    """A server with the studio."""
    with Studio() as running:
        yield running


@pytest.fixture(scope="module")
def signed_in(browser: DevTools, studio: Studio) -> str:
    """The URL of the studio for a browser that has its cookie."""
    page = browser.open(studio.url)
    url = page.run("() => location.origin + '/'")
    page.close()
    return url


@pytest.fixture
def open_page(browser: DevTools, signed_in: str) -> Iterator[Callable[..., StudioPage]]:
    """Opens pages, which are closed in the end."""
    with ExitStack() as stack:

        def open_page(fragment: str = "", **size: int) -> StudioPage:
            page = StudioPage(browser, signed_in + fragment, **size)
            stack.callback(page.close)
            return page

        yield open_page


@pytest.fixture
def page(open_page: Callable[..., StudioPage]) -> StudioPage:
    """A page that shows filtered frames."""
    opened = open_page()
    opened.wait_until_ready()
    return opened
