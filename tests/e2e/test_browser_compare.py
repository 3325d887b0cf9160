"""Changed tasks in real Chromium: read by keys, side by side, and marked as seen."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests import desk, judged_desk, site
from tests.browsing import (
    EVERY_LOOK,
    WIDE,
    WITH_CHROMIUM,
    Served,
    Watching,
    kept,
    proven,
    serve,
)

pytestmark = WITH_CHROMIUM


@pytest.fixture(scope="module")
def bugs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with judged_desk.fifty_bugs(tmp_path_factory.mktemp("bugs")) as made:
        yield from serve(site.site(made.reader, desk.books(), made.judging))  # type: ignore[arg-type]


BUGS = "/compare?base=old&cand=new&agent=fixer&period=3d"


def test_tasks_that_were_read_stay_marked_after_a_reload(browser: Browser, bugs: Served) -> None:
    context = browser.new_context(viewport={"width": WIDE, "height": 900})
    watching = Watching(context, bugs.url)
    page = watching.open(BUGS)
    page.keyboard.press("j")
    first = page.evaluate("document.activeElement.textContent")
    page.keyboard.press("v")
    assert page.evaluate("document.activeElement.textContent") != first
    assert page.locator("tr.seen").count() == 1
    page.reload()
    assert first in page.locator("tr.seen").inner_text()
    assert "bug" not in page.evaluate("JSON.stringify(localStorage)")
    page.locator("tr.seen button").click()
    assert page.locator("tr.seen").count() == 0
    watching.behaved()
    context.close()


@EVERY_LOOK
def test_a_task_is_opened_and_read_by_keys(
    browser: Browser, bugs: Served, theme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=theme,  # type: ignore[arg-type]
    )
    watching = Watching(context, bugs.url)
    page = watching.open(f"{BUGS}&show=all")
    proven(page, "compare-bugs")
    kept(page, "compare-bugs", theme, width)
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/task?**")
    proven(page, "compare-task")
    kept(page, "compare-task", theme, width)
    task = page.locator("h1").inner_text()
    page.keyboard.press("v")
    page.wait_for_function("title => document.querySelector('h1').innerText !== title", arg=task)
    page.go_back()
    assert page.locator(".head.seen").count() == 1
    watching.behaved()
    context.close()
