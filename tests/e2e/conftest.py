"""Chromium, opened once for every module that looks at pages."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browsing import CHROMIUM, WIDE, Served, Watching


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def desktop(browser: Browser, full: Served) -> Iterator[Watching]:
    """A wide window on the site that the module calls `full`."""
    context = browser.new_context(viewport={"width": WIDE, "height": 900})
    watching = Watching(context, full.url)
    yield watching
    watching.behaved()
    context.close()
