"""One camera for all tests; a browser and a studio per test file; a page per test."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from calltesting.devtools import DevTools, PageError
from studiotesting.page import StudioPage
from studiotesting.studio import Studio

pytest_plugins = ["calltesting.fixtures"]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """Adds the state of the page to a failed test's report."""
    report = yield
    page = getattr(item, "funcargs", {}).get("page")
    if report.failed and isinstance(page, StudioPage):
        try:
            report.sections.append(("state of the page", page.state()))
        except (PageError, OSError) as error:
            report.sections.append(("state of the page", f"{error!r}"))
    return report


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
