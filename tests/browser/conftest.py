"""A real application, and a real Chromium to look at it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from applications import Application, new_page
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from screenshots import FLAGS, find_browser

from mucore.store import open_store, schema

BROWSER = find_browser()
# a busy machine draws a page in more than the five seconds that are usual
expect.set_options(timeout=30_000)
MARKS = [
    pytest.mark.browser,
    pytest.mark.skipif(
        BROWSER is None, reason="no Chromium found; on Debian: apt install chromium"
    ),
    pytest.mark.skipif(sys.platform == "win32", reason="ends processes with POSIX signals"),
    # Playwright's driver leaves its pipes to the garbage collector at the end of the process.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(item.path).is_relative_to(Path(__file__).parent):
            for mark in MARKS:
                item.add_marker(mark)


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    """Of one test, which writes to its store, with a worker."""
    application = Application(tmp_path / "home")
    yield application
    application.stop()


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """An application on an empty store, which shows the demo results; nobody writes to it."""
    application = Application(tmp_path_factory.mktemp("demo") / "home", "--workers", "0")
    yield application
    application.stop()


@pytest.fixture(scope="session")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    """The demo before an audience; no worker, so that whatever is launched stays to be seen."""
    options = ("--host", "0.0.0.0", "--audience", "--workers", "0")
    application = Application(tmp_path_factory.mktemp("hall") / "home", *options)
    yield application
    application.stop()


@pytest.fixture
def room(hall: Application) -> Iterator[Application]:
    """The same without a talk and without votes, as a test finds and leaves it."""
    yield hall
    with open_store(hall.home) as store:
        with store.read() as connection:
            talks = connection.execute(sa.select(schema.talk.c.room)).scalars().all()
        for talk in talks:
            store.end_talk(talk)


@pytest.fixture(scope="module")
def started() -> Iterator[Browser]:
    assert BROWSER is not None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def chromium(started: Browser) -> Iterator[Browser]:
    """A browser for readers of the test's own, who are gone afterwards."""
    before = started.contexts
    yield started
    for context in started.contexts:
        if context not in before:
            context.close()


@pytest.fixture(scope="module")
def reader(started: Browser) -> BrowserContext:
    """One reader, whose browser has read and compiled Streamlit's scripts once."""
    return new_page(started).context


@pytest.fixture
def page(reader: BrowserContext) -> Iterator[Page]:
    page = reader.new_page()
    page.set_default_timeout(60_000)
    yield page
    page.close()
