"""The judged pages in real Chromium: links, keys, no JavaScript, axe, narrow screens."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests import desk, judged_desk, site
from tests.browsing import (
    EVERY_LOOK,
    WITH_CHROMIUM,
    Served,
    Watching,
    kept,
    proven,
    serve,
)
from tests.judged_desk import BROKEN, KEPT, World

pytestmark = WITH_CHROMIUM


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with judged_desk.judged_desk(tmp_path_factory.mktemp("judged"), count=400) as made:
        yield made


@pytest.fixture(scope="module")
def full(world: World) -> Iterator[Served]:
    yield from serve(site.site(world.reader, desk.books(), world.judging))  # type: ignore[arg-type]


def paths(world: World) -> dict[str, str]:
    run, step = next(iter(world.broken.items()))
    return {
        "judged-overview": "/?period=30d",
        "judged-runs": "/runs?period=30d&part=failed",
        "judged-run": f"/runs/{run}?step={step}",
        "agents": "/agents?period=30d",
        "agent": "/agents/refund-desk?period=30d",
        "compare": "/compare?period=30d&agent=refund-desk",
        "compare-nothing": "/compare?period=1h&base=a&cand=a",
        "policies": "/policies?period=30d",
        "policies-nothing": "/policies?period=1h&agent=nobody",
        "rule": f"/policies/refunds/{BROKEN}?period=30d",
        "rule-kept": f"/policies/refunds/{KEPT}?period=30d",
        "judged-status": "/status",
    }


@EVERY_LOOK
def test_every_judged_page_is_accessible_fits_and_behaves(
    browser: Browser, full: Served, world: World, theme: str, width: int
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=theme,  # type: ignore[arg-type]
    )
    watching = Watching(context, full.url)
    for name, path in paths(world).items():
        page = watching.open(path)
        proven(page, name)
        kept(page, name, theme, width)
    watching.behaved()
    context.close()


def test_more_opens_by_keys_and_closes_by_escape(desktop: Watching) -> None:
    page = desktop.open("/runs?period=30d")
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.locator("[data-menu][open]").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "Compare"
    page.keyboard.press("Escape")
    page.locator("[data-menu]:not([open])").wait_for()
    page.locator("[data-menu] summary").click()
    page.get_by_role("link", name="Policies", exact=True).click()
    page.wait_for_url("**/policies")
    page.go_back()
    page.wait_for_url("**/runs?period=30d")


def test_a_verdict_filters_and_back_restores(desktop: Watching) -> None:
    page = desktop.open("/runs?period=30d")
    everything = page.locator("[data-row]").first.inner_text()
    page.locator(".tally a", has_text="fail").click()
    page.wait_for_url("**part=failed*")
    page.locator(".chip", has_text="failed").wait_for()
    assert (
        page.locator("tbody tr .v.error", has_text="fail").count()
        == page.locator("[data-row]").count()
    )
    page.go_back()
    page.locator(".chip", has_text="failed").wait_for(state="detached")
    assert page.locator("[data-row]").first.inner_text() == everything


def test_a_violation_leads_to_its_step(desktop: Watching, world: World) -> None:
    run, step = next(iter(world.broken.items()))
    page = desktop.open(f"/runs/{run}")
    page.locator(".breaches small a").first.click()
    page.wait_for_url(f"**/runs/{run}?step={step}")
    assert page.locator("[data-tree] [aria-selected=true]").get_attribute("data-step") == step
    page.locator(".breaches a").first.click()
    page.wait_for_url(f"**/policies/refunds/{BROKEN}")


def test_rows_of_rules_are_walked_by_keys(desktop: Watching) -> None:
    page = desktop.open("/policies?period=30d")
    page.keyboard.press("j")
    assert BROKEN in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/policies/refunds/{BROKEN}?period=30d")


def test_the_pass_rate_is_read_aloud_with_n_and_interval(desktop: Watching) -> None:
    page = desktop.open("/?period=30d")
    page.locator("svg.chart").first.focus()
    page.keyboard.press("ArrowRight")
    said = page.locator("#say").inner_text()
    assert "pass rate" in said
    assert "95 % CI" in said
    assert "n = " in said


def test_effects_are_read_aloud_row_by_row(desktop: Watching) -> None:
    page = desktop.open("/compare?period=30d&agent=refund-desk")
    page.locator("svg.forest").first.focus()
    page.keyboard.press("ArrowRight")
    assert "inside topic" in page.locator("#say").inner_text()
    page.keyboard.press("ArrowRight")
    assert "same weeks" in page.locator("#say").inner_text()


def test_without_javascript_the_judged_pages_list_and_filter(
    browser: Browser, full: Served
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(full.url + "/policies?period=30d")
    page.locator("[data-menu] summary").click()
    page.get_by_role("link", name="Compare", exact=True).click()
    assert page.url.endswith("/compare")
    page.goto(full.url + "/compare?period=30d")
    page.select_option("select[name=base]", "v14-rc")
    page.select_option("select[name=cand]", "v13")
    page.get_by_role("button", name="Compare").click()
    assert "Compare v13 with the baseline v14-rc" in page.locator("h1").inner_text()
    page.goto(full.url + "/runs?period=30d")
    page.locator(".tally a", has_text="fail").click()
    assert "part=failed" in page.url
    context.close()
