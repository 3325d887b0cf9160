"""The pages in real Chromium: links, keys, Back and Forward, no JavaScript, axe, narrow screens."""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page

from gnomon.clock import Nanos
from gnomon.model import Kind, RunState, RunStatus
from tests import desk, site
from tests import page_memory as memory
from tests.browsing import (
    EVERY_LOOK,
    NARROW,
    WIDE,
    WITH_CHROMIUM,
    Served,
    Watching,
    kept,
    proven,
    serve,
    sideways,
)
from tests.shapes import chain, fan, shaped, span_of

pytestmark = WITH_CHROMIUM


@pytest.fixture(scope="module")
def full() -> Iterator[Served]:
    yield from serve(site.site(site.month(), desk.books()))


@pytest.fixture(scope="module")
def empty() -> Iterator[Served]:
    yield from serve(site.site(memory.MemoryReader(), memory.MemoryBooks()))


def paths(served: Served) -> dict[str, str]:
    run = served.run()
    model = next(step for step in served.made.reader.steps[run] if step.kind is Kind.LLM)
    return {
        "overview": "/?period=30d",
        "runs": "/runs?period=30d&status=error&q=order",
        "run": f"/runs/{run}",
        "messages": f"/runs/{run}?step={model.span_id}",
        "raw": f"/runs/{run}?step={model.span_id}&view=raw",
        "explain": f"/runs/{run}?step={model.span_id}&view=explain",
        "large": f"/runs/{10_000:032x}",
        "status": "/status",
        "letter": "/status/dead-letters/4",
        "keys": "/keys",
        "error": "/runs/nope",
    }


@EVERY_LOOK
def test_every_page_is_accessible_fits_and_behaves(
    browser: Browser, full: Served, empty: Served, theme: str, width: int
) -> None:
    for served in (full, empty):
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=theme,  # type: ignore[arg-type]
        )
        watching = Watching(context, served.url)
        shown = paths(served) if served is full else {"empty": "/", "empty-runs": "/runs"}
        for name, path in shown.items():
            page = watching.open(path)
            proven(page, name, axe=name != "large")
            kept(page, name, theme, width)
        if served is full:
            watching.messages = [text for text in watching.messages if "404" not in text]
        watching.behaved()
        context.close()


RULE = "Most often refunds/conditionally_required_before.issue_refund_to_customer_account.0"


def retitled(page: Page) -> None:
    """Give every title of a chart or card the name of a long rule, as the Policies page does."""
    page.evaluate(
        "words => document.querySelectorAll('.top h2').forEach(one => one.textContent = words)",
        RULE,
    )


def lines_of_names(page: Page) -> float:
    """Return how many lines the tallest name takes in the head of a run or in a table."""
    return float(
        page.evaluate(
            "Math.max(0, ...[...document.querySelectorAll('.facts dd, td.ell')].map(one =>"
            " one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight)))"
        )
    )


def test_no_long_name_makes_a_page_wider_than_the_screen(browser: Browser) -> None:
    long = "UnbrokenNameOfAnErrorThatSomebodyGeneratedFromAStackTrace" * 3
    reader = memory.MemoryReader()
    made = desk.desk(3)
    for place, run in enumerate(made.all):
        named = replace(
            run,
            status=(RunStatus.ERROR, RunStatus.OK, RunStatus.UNKNOWN)[place],
            error_type=long,
            error_types=(long, f"{long}2"),
            agent_name=long,
            agent_version=long,
            business_keys={long: long},
            conversation_id=long,
            user_id=long,
            environment=long,
            models=(long,),
            tools=(long,),
            input=long,
        )
        steps = [
            replace(
                step,
                tool_name=long,
                model=long,
                span_name=long,
                agent_name=long,
                status="error",
                error_type=long,
                error_message=long,
                tool_arguments=f'{{"{long}": "{long}"}}',
            )
            for step in made.steps[run.run_id]
        ]
        reader.add(named, steps)
    books = desk.books()
    books.rows = [replace(row, source=f"traces/http/{long}") for row in books.rows[:2]]
    context = browser.new_context(viewport={"width": NARROW, "height": 900})
    for served in serve(site.site(reader, books)):
        watching = Watching(context, served.url)
        views = [f"/runs/{run.run_id}{more}" for run in reader.all for more in ("", "?view=facts")]
        chosen = f"/runs?period=30d&agent={long}&error={long}&q={long}&key.{long}={long}"
        for path in ("/?period=30d", "/runs?period=30d", chosen, *views, "/status"):
            proven(watching.open(path), path[:40], axe=False)
            assert lines_of_names(watching.page) <= 4, path[:40]
            retitled(watching.page)
            assert sideways(watching.page) <= 0, path[:40]
        watching.behaved()
    context.close()


def test_a_page_takes_few_requests(desktop: Watching) -> None:
    desktop.open("/?period=30d").wait_for_load_state("networkidle")
    assert len(desktop.requests) <= 8


def test_filters_submit_on_change_and_back_and_forward_restore_rows_and_fields(
    desktop: Watching,
) -> None:
    page = desktop.open("/runs?period=30d")
    everything = page.locator("[data-row]").first.inner_text()
    page.select_option("select[name=error]", "RateLimitError")
    page.wait_for_url("**error=RateLimitError*")
    page.locator(".chip", has_text="RateLimitError").wait_for()
    filtered = page.locator("[data-row]").first.inner_text()
    assert filtered != everything
    page.go_back()
    page.locator(".chip", has_text="RateLimitError").wait_for(state="detached")
    assert page.locator("[data-row]").first.inner_text() == everything
    assert page.input_value("select[name=error]") == ""
    page.go_forward()
    page.locator(".chip", has_text="RateLimitError").wait_for()
    assert page.locator("[data-row]").first.inner_text() == filtered
    assert page.input_value("select[name=error]") == "RateLimitError"


def asked(desktop: Watching) -> list[str]:
    return [url for url in desktop.requests if "q=" in url]


def test_a_name_that_turns_the_direction_turns_itself_alone(browser: Browser) -> None:
    made = desk.desk(3)
    for place, run in enumerate(made.all):
        made.all[place] = replace(run, business_keys={"order": "\u202eO-1"}, error_type="Timeout")
    context = browser.new_context(viewport={"width": WIDE, "height": 900})
    for served in serve(site.site(made, desk.books())):
        for path in ("/runs?period=30d", f"/runs/{made.all[0].run_id}"):
            page = Watching(context, served.url).open(path)
            shown = page.evaluate(
                "[...document.querySelectorAll('main *')].filter(one =>"
                " [...one.childNodes].some(n => n.nodeType === 3 && n.data.includes('\u202e')))"
                ".map(one => getComputedStyle(one).unicodeBidi)"
            )
            assert shown
            assert set(shown) == {"isolate"}, path
    context.close()


def test_search_waits_for_the_typist_and_keeps_the_cursor(desktop: Watching) -> None:
    page = desktop.open("/runs?period=30d")
    page.keyboard.press("/")
    page.clock.install()
    page.clock.pause_at(dt.datetime.now(dt.UTC) + dt.timedelta(minutes=1))
    for letter in "charged twice":
        page.keyboard.type(letter)
        page.clock.run_for(200)
    assert asked(desktop) == []
    page.clock.run_for(50)
    page.clock.resume()
    page.wait_for_url("**q=charged+twice*")
    page.locator(".chip", has_text="charged twice").wait_for()
    assert len(asked(desktop)) == 1
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("!")
    assert page.input_value("#search") == "charged twice!"


def test_a_chip_removes_its_condition(desktop: Watching) -> None:
    page = desktop.open("/runs?period=30d&status=error&version=v13")
    page.locator(".chip", has_text="version").click()
    page.wait_for_url("**/runs?period=30d&status=error")
    page.locator(".chip", has_text="version").wait_for(state="detached")


def test_a_drag_on_the_strip_sets_the_range(desktop: Watching) -> None:
    page = desktop.open("/runs?period=30d&status=error")
    frame = page.locator("svg.strip").bounding_box()
    assert frame is not None
    y = frame["y"] + 20
    step = frame["width"] / 30
    page.mouse.move(frame["x"] + 3.5 * step, y)
    page.mouse.down()
    page.mouse.move(frame["x"] + 6.5 * step, y, steps=4)
    page.mouse.up()
    page.wait_for_url("**since=**")
    assert "since=2026-09-25T00%3A00%3A00Z" in page.url
    assert "until=2026-09-29T00%3A00%3A00Z" in page.url
    assert "status=error" in page.url


def test_list_keys_walk_rows_and_pages_and_enter_opens(desktop: Watching) -> None:
    page = desktop.open("/runs?period=30d")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    first = page.locator("[data-row]").first
    assert page.evaluate("document.activeElement.href").endswith(first.get_attribute("href"))
    page.keyboard.press("n")
    page.wait_for_url("**after=*")
    page.locator("[data-follow=prev]").wait_for()
    page.keyboard.press("p")
    page.wait_for_url("**before=*")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/*list=*")


def test_keys_do_nothing_in_fields_and_can_be_switched_off(desktop: Watching) -> None:
    page = desktop.open("/runs?period=30d")
    page.locator("#search").focus()
    page.keyboard.type("?gr")
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.locator("dialog[open]").wait_for()
    page.locator("[data-single]").check()
    page.keyboard.press("Escape")
    page.locator("dialog[open]").wait_for(state="detached")
    page.keyboard.press("?")
    assert page.locator("dialog[open]").count() == 0
    page.keyboard.press("Control+k")
    assert page.evaluate("document.activeElement.id") == "jump"


def test_g_and_a_letter_go_to_pages_and_ctrl_k_jumps_to_an_id(
    desktop: Watching, full: Served
) -> None:
    page = desktop.open("/")
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_url("**/status")
    run = full.run()
    page.keyboard.press("Control+k")
    page.keyboard.type(run)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{run}")


def test_z_shows_the_viewers_own_zone(browser: Browser, full: Served) -> None:
    context = browser.new_context(timezone_id="Asia/Tokyo")
    page = context.new_page()
    page.goto(full.url + "/status/dead-letters/4")
    time = page.locator("time").first
    utc = time.inner_text()
    assert utc == "21 Oct 11:56:00"
    page.keyboard.press("z")
    assert time.inner_text() == "21 Oct 20:56:00"
    assert "Asia/Tokyo" in page.locator("[data-zone]").inner_text()
    page.keyboard.press("z")
    assert time.inner_text() == utc
    context.close()


def test_the_tree_is_walked_by_keys_and_back_returns_to_the_step(
    desktop: Watching, full: Served
) -> None:
    page = desktop.open(paths(full)["run"])
    chosen = page.locator("[data-tree] [aria-selected=true]")
    assert "issue_refund" in chosen.inner_text()
    page.keyboard.press("ArrowUp")
    page.wait_for_url("**step=*")
    page.locator("#detail .kind.llm").wait_for()
    assert "m-large" in chosen.inner_text()
    page.keyboard.press("Home")
    page.locator("#detail .kind.agent").wait_for()
    rows = page.locator("[data-tree] [role=treeitem]:not([hidden])")
    every = rows.count()
    page.keyboard.press("ArrowLeft")
    assert rows.count() == 1
    page.keyboard.press("ArrowRight")
    assert rows.count() == every
    page.keyboard.press("e")
    page.locator("#detail .kind.tool").wait_for()
    assert "issue_refund" in chosen.inner_text()
    page.keyboard.press("b")
    assert "issue_refund" in chosen.inner_text()
    page.keyboard.press("m")
    assert page.evaluate("document.activeElement.closest('#detail') !== null")
    page.keyboard.press("m")
    assert page.evaluate("document.activeElement.closest('[data-tree]') !== null")
    page.keyboard.press("r")
    page.wait_for_url("**view=raw")
    page.keyboard.press("r")
    page.locator("#detail [data-follow=content][aria-current]").wait_for()
    page.locator(".row.k-llm").first.click()
    page.locator("#detail .kind.llm").wait_for()
    page.go_back()
    page.locator("#detail .kind.tool").wait_for()
    assert "issue_refund" in chosen.inner_text()


def test_a_click_on_the_arrow_folds_and_on_the_row_chooses(desktop: Watching, full: Served) -> None:
    page = desktop.open(paths(full)["run"])
    rows = page.locator("[data-tree] [role=treeitem]:not([hidden])")
    every, url = rows.count(), page.url
    page.locator("[data-tree] [aria-level='2']").first.click(position={"x": 24, "y": 13})
    assert rows.count() == every - 2
    assert page.url == url


def test_brackets_walk_the_list_one_came_from(desktop: Watching) -> None:
    page = desktop.open("/runs?period=30d&error=ToolTimeout")
    hrefs = [link.get_attribute("href") for link in page.locator("[data-row]").all()]
    page.goto(desktop.home + str(hrefs[1]))
    page.keyboard.press("]")
    page.wait_for_url(f"**{str(hrefs[2]).partition('?')[0]}*")
    page.keyboard.press("[")
    page.wait_for_url(f"**{str(hrefs[1]).partition('?')[0]}*")
    page.keyboard.press("[")
    page.wait_for_url(f"**{str(hrefs[0]).partition('?')[0]}*")


def test_dragging_the_axis_zooms_and_a_button_shows_the_whole(
    desktop: Watching, full: Served
) -> None:
    page = desktop.open(paths(full)["run"])
    bar = page.locator(".row rect").first
    whole = bar.get_attribute("width")
    frame = page.locator("svg.axis").bounding_box()
    assert frame is not None
    page.mouse.move(frame["x"] + frame["width"] * 0.25, frame["y"] + 6)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] * 0.75, frame["y"] + 6)
    page.mouse.up()
    assert bar.get_attribute("width") != whole
    page.get_by_role("button", name="Whole run").click()
    assert float(str(bar.get_attribute("width")).rstrip("%")) == pytest.approx(
        float(str(whole).rstrip("%"))
    )


def test_a_run_of_ten_thousand_steps_can_be_used(desktop: Watching) -> None:
    page = desktop.open(f"/runs/{10_000:032x}")
    chosen = page.locator("[data-tree] [aria-selected=true]")
    assert "fetch_5003" in chosen.inner_text()
    assert chosen.bounding_box() is not None
    page.keyboard.press("ArrowLeft")
    page.locator("#detail .kind.chain").wait_for()
    page.keyboard.press("Home")
    page.locator("#detail .kind.agent").wait_for()
    gap = page.locator("[data-more]").last
    last = gap.evaluate("row => row.previousElementSibling.dataset.step")
    gap.click()
    page.wait_for_url("**open=*")
    page.wait_for_function("location.hash === '#' + document.activeElement.dataset.step")
    above = "document.activeElement.previousElementSibling"
    assert page.evaluate(f"{above}.dataset.step") == last
    closed = page.locator("[data-tree] [aria-expanded=false]").first
    name = closed.get_attribute("data-step")
    closed.click()
    page.wait_for_url(f"**step={name}*")
    assert page.locator(f"[data-step='{name}'][aria-expanded=true]").count() == 1


def test_a_run_of_three_thousand_nested_steps_is_walked_by_keys_links_and_gaps(
    browser: Browser,
) -> None:
    reader, root = memory.MemoryReader(), "d" * 32
    reader.add(*shaped(chain(3_000), root=root, failed=1_500))
    for served in serve(site.site(reader, memory.MemoryBooks())):
        context = browser.new_context(viewport={"width": WIDE, "height": 900})
        watching = Watching(context, served.url)
        page = watching.open(f"/runs/{root}")
        proven(page, "deep", axe=True)
        chosen = page.locator("[data-tree] [aria-selected=true]")
        assert "fetch_1500" in chosen.inner_text()
        assert chosen.is_visible()

        page.keyboard.press("b")  # the outermost, which holds all others
        assert "fetch_0" in chosen.inner_text()
        page.keyboard.press("e")
        assert "fetch_1500" in chosen.inner_text()

        gap = page.locator("[data-more]").first
        assert "steps between" in gap.inner_text()
        before = gap.evaluate("row => row.previousElementSibling.dataset.step")
        page.locator(f"[data-step='{before}']").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_url("**open=*")
        page.wait_for_function("location.hash === '#' + document.activeElement.dataset.step")
        inner = "document.activeElement.previousElementSibling.dataset.step"
        assert page.evaluate(inner) == before
        page.keyboard.press("ArrowLeft")  # folds it
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.dataset.step") == before

        page = watching.open(f"/runs/{root}?step={span_of(700)}")
        assert "fetch_700" in chosen.inner_text()
        page.keyboard.press("ArrowUp")
        page.locator("#detail h2", has_text="fetch_699").wait_for()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowRight")
        page.locator("#detail h2", has_text="fetch_701").wait_for()
        watching.behaved()
        context.close()


def test_the_next_error_and_the_slowest_step_of_a_large_run_are_reached_though_not_drawn(
    browser: Browser,
) -> None:
    reader, root = memory.MemoryReader(), "d" * 32
    run, steps = shaped(fan(3_000), root=root, failed=1_500)
    steps[2_400] = replace(steps[2_400], status="error")
    steps[2_100] = replace(steps[2_100], duration_ns=steps[0].duration_ns * 2)
    reader.add(run, steps)
    for served in serve(site.site(reader, memory.MemoryBooks())):
        context = browser.new_context(viewport={"width": WIDE, "height": 900})
        page = Watching(context, served.url).open(f"/runs/{root}")
        chosen = page.locator("[data-tree] [aria-selected=true]")
        for key, tool in (("e", "fetch_2400"), ("b", "fetch_2100"), ("e", "fetch_1500")):
            page.keyboard.press(key)
            page.locator("[data-tree] [aria-selected=true]", has_text=tool).wait_for()
            assert chosen.count() == 1
        context.close()


def test_charts_are_read_by_arrows_and_their_points_lead_to_the_runs(desktop: Watching) -> None:
    page = desktop.open("/?period=30d&agent=refund-desk")
    chart = page.locator("svg.chart").nth(1)
    chart.focus()
    page.keyboard.press("ArrowRight")
    said = page.locator("#say").inner_text()
    assert "22 Sep" in said
    assert "95 % CI" in said
    assert "of n = " in said
    page.keyboard.press("ArrowRight")
    assert "23 Sep" in page.locator(".tip").inner_text()
    frame = chart.bounding_box()
    tip = page.locator(".tip").bounding_box()
    mark = chart.locator(".marked").first.bounding_box()
    assert frame is not None
    assert tip is not None
    assert mark is not None
    assert tip["y"] >= mark["y"] + mark["height"] - 3
    page.mouse.click(frame["x"] + frame["width"] * 0.5, frame["y"] + frame["height"] * 0.6)
    page.wait_for_url("**/runs?since=*")


def test_the_theme_is_switched_without_a_flash_and_kept(desktop: Watching) -> None:
    page = desktop.open("/runs?period=30d")
    page.select_option("select[name=theme]", "dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert page.url.endswith("/runs?period=30d")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(14, 17, 22)"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_ids_are_copied_on_click(browser: Browser, full: Served) -> None:
    context = browser.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    run = full.run()
    page.goto(f"{full.url}/runs/{run}")
    page.locator(f"[data-copy='{run}']").click()
    page.locator(".toast", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == run
    context.close()


def test_without_javascript_pages_list_filter_open_and_submit(
    browser: Browser, full: Served
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(full.url + "/runs?period=30d&status=error")
    page.select_option("select[name=error]", "ToolTimeout")
    page.get_by_role("button", name="Filter").click()
    assert "error=ToolTimeout" in page.url
    page.locator("[data-row]").first.click()
    assert "/runs/" in page.url
    page.locator(".row.k-llm").first.click()
    assert "step=" in page.url
    assert page.locator("#detail .kind.llm").count() == 1
    page.get_by_role("link", name="Raw").click()
    assert "gen_ai.request.model" in page.locator("#detail").inner_text()
    page.locator("a", has_text="Keys").first.click()
    assert page.url.endswith("/keys")
    page.goto(full.url + "/status")
    letter, payload = full.made.books.letters[4]
    full.made.books.letters[11] = (replace(letter, id=11), payload)
    page.reload()
    page.locator("form[action$='/11/resend'] button").click()
    assert "pending until it is stored" in page.locator("main").inner_text()
    assert full.made.books.resent == [11]
    context.close()


def test_dropping_a_dead_letter_is_asked_once_more(desktop: Watching, full: Served) -> None:
    page = desktop.open("/status")
    answers = iter([False, True])
    page.on("dialog", lambda box: box.accept() if next(answers) else box.dismiss())
    button = page.locator("form[action$='/9/drop'] button")
    button.click()
    assert full.made.books.dropped == []
    button.click()
    page.wait_for_url("**done=drop*")
    assert full.made.books.dropped == [9]


def test_new_runs_are_announced_and_a_hidden_tab_is_silent(browser: Browser, full: Served) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(full.url + "/runs?period=30d")
    first = page.locator("[data-row]").first.inner_text()
    reader = full.made.reader
    newest = reader.all[0]
    made = replace(newest, run_id="d" * 32, started_at=Nanos(newest.started_at + 1))  # type: ignore[arg-type]
    reader.add(made, reader.steps[newest.run_id])
    try:
        page.locator("#news a", has_text="1 new run · show").wait_for()
        assert page.locator("[data-row]").first.inner_text() == first
        asked: list[str] = []
        page.evaluate(
            "Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })"
        )
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_timeout(3_500)
        assert asked == []
    finally:
        reader.all.remove(made)
        reader.revision += 1
    context.close()


def test_an_open_run_announces_its_new_steps(browser: Browser, full: Served) -> None:
    reader = full.made.reader
    at = next(i for i, run in enumerate(reader.all) if run.state is RunState.OPEN)
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{full.url}/runs/{reader.all[at].run_id}")
    before = reader.all[at]
    reader.all[at] = replace(before, spans=before.spans + 2)
    try:
        page.locator("#news a", has_text="2 new spans · show").wait_for()
    finally:
        reader.all[at] = before
    context.close()
