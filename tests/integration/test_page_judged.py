"""Judged pages over the real engine: verdicts, guards, intervals, and every number its runs."""

import csv
import gzip
import html
import io
import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest

from gnomon.model import RunState
from gnomon.web.timeline import PERIODS, back_from
from tests import desk, judged_desk
from tests import page_memory as memory
from tests import site as pages
from tests.judged_desk import BROKEN, KEPT, World
from tests.site import Page, Site, page


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with judged_desk.judged_desk(tmp_path_factory.mktemp("judged")) as made:
        yield made


@pytest.fixture(scope="module")
def full(world: World) -> Iterator[Site]:
    made = pages.site(world.reader, desk.books(), world.judging)  # type: ignore[arg-type]
    with made.client:
        yield made


PAGES = (
    "/?period=30d",
    "/runs?period=30d&part=failed",
    "/agents?period=30d",
    "/agents/refund-desk?period=30d",
    "/compare?period=30d",
    "/policies?period=30d",
    f"/policies/refunds/{BROKEN}?period=30d",
    f"/policies/refunds/{KEPT}?period=30d",
    "/status",
)


def words_of(made: Site, path: str) -> str:
    answer = made.client.get(path)
    assert answer.status_code == 200, answer.text[:400]
    return " ".join(Page(answer.text).words.split())


def listed(made: Site, href: str) -> int:
    """Return how many runs a list says it holds."""
    return int(re.search(r"([\d,]+) runs?\b", words_of(made, href))[1].replace(",", ""))  # type: ignore[index]


def settled(world: World) -> list[str]:
    since = back_from(desk.NOW, PERIODS["30d"]).since
    return [
        run.run_id
        for run in world.runs
        if run.state is RunState.SETTLED and run.started_at >= since
    ]


@pytest.mark.parametrize("path", PAGES)
def test_every_judged_page_is_guarded_small_and_without_anything_inline(
    full: Site, path: str
) -> None:
    answer = full.client.get(path)
    assert answer.status_code == 200
    seen = Page(answer.text)
    assert seen.inline == []
    assert len(seen.ids) == len(set(seen.ids))
    assert seen.nodes <= 6_500
    assert len(gzip.compress(answer.text.encode(), 5)) <= 40_000


def test_the_pages_stand_in_the_top_bar_and_all_exist(full: Site) -> None:
    bar = re.search(r'<nav class="nav".*?</nav>', full.client.get("/runs").text, re.DOTALL)
    assert bar is not None
    links = Page(bar[0]).links
    assert links == ["/", "/runs", "/compare", "/agents", "/policies", "/status"]
    assert all(full.client.get(path).status_code == 200 for path in links)


def test_the_pass_rate_comes_from_graders_and_unknown_verdicts_leave_bounds(
    full: Site, world: World
) -> None:
    runs = settled(world)
    passed = sum(world.verified.get(run) is True for run in runs)
    failed = sum(world.verified.get(run) is False for run in runs)
    unknown = len(runs) - passed - failed
    words = words_of(full, "/?period=30d")
    least, most = (f"{n / len(runs) * 100:.1f}" for n in (passed, passed + unknown))
    assert f"Pass rate {least}–{most} % worst to best case" in words
    assert f"n = {len(runs)}," in words
    assert f"{unknown} open" in words
    assert f"{failed} of {len(runs)} settled runs failed in 30 days, {unknown} unknown" in words
    for name in ("Cost per solved", "Aborted", "Verdict unknown", "Broke a rule"):
        assert name in words


def test_every_judged_tile_links_to_exactly_its_runs(full: Site, world: World) -> None:
    text = full.client.get("/?period=30d").text
    tiles = re.findall(r'<a class="card tile" href="([^"]+)">\s*<h2>([^<]+)</h2>', text)
    hrefs = {name: html.unescape(href) for href, name in tiles}
    runs = settled(world)
    assert listed(full, hrefs["Pass rate"]) == sum(world.verified.get(r) is True for r in runs)
    unknown = sum(world.verified.get(run) is None for run in runs)
    assert listed(full, hrefs["Verdict unknown"]) == unknown
    assert listed(full, hrefs["Broke a rule"]) == sum(run in world.broken for run in runs)


def test_the_fall_of_the_pass_rate_is_the_title_and_versions_are_marked(full: Site) -> None:
    text = full.client.get("/?period=30d").text
    assert re.search(
        r"The pass rate fell to (at most )?[\d.]+ % 1[4-6] Oct \(n = \d+\), against at least", text
    )
    assert text.count('class="chart"') == 6
    assert text.count("refund-desk v14-rc</title>") + text.count("v14-rc starts</title>") == 6


def test_fails_sit_on_the_baseline_and_the_unknown_is_hatched(full: Site) -> None:
    text = full.client.get("/?period=30d").text
    chart = re.search(r"settled runs failed.*?</svg>", text, re.DOTALL)
    assert chart is not None
    looks = re.findall(r'class="area (\w+)"( fill="url\(#hatch\)")?', chart[0])
    assert [look for look, _ in looks] == ["error", "unknown", "ok"]
    assert dict(looks)["unknown"]


def test_every_judged_figure_has_its_table_and_csv(full: Site) -> None:
    paths = [
        "/figures/pass.csv?period=30d",
        "/figures/verdicts.csv?period=30d",
        "/policies.csv?period=30d",
        f"/policies/refunds/{BROKEN}.csv?period=30d",
    ]
    for path in paths:
        answer = full.client.get(path)
        assert answer.headers["content-type"].startswith("text/csv"), path
        rows = list(csv.reader(io.StringIO(answer.text)))
        assert len(rows) > 3
        assert len({len(row) for row in rows}) == 1


def test_the_list_of_runs_shows_the_verdict_and_filters_by_it(full: Site, world: World) -> None:
    failed = page(full, "/runs?period=30d&part=failed")
    shown = [link.partition("?")[0].removeprefix("/runs/") for link in failed.links]
    shown = [run for run in shown if run in world.verified]
    assert len(shown) == 50
    assert all(world.verified[run] is False for run in shown)
    words = " ".join(failed.words.split())
    assert "fail" in words
    assert "which failed ×" in words
    runs = settled(world)
    passed = sum(world.verified.get(run) is True for run in runs)
    assert f"✓ {passed} pass" in words.replace("✓", "✓ ")


def test_the_filter_by_a_rule_lists_who_broke_it(full: Site, world: World) -> None:
    seen = page(full, f"/runs?period=30d&rule=refunds/{BROKEN}")
    runs = [link.partition("?")[0].removeprefix("/runs/") for link in seen.links]
    listed_ = {run for run in runs if run in world.verified}
    assert listed_ == set(settled(world)) & set(world.broken)


@pytest.mark.parametrize("query", ["part=nothing", "verdict=maybe"])
def test_a_condition_nobody_knows_is_refused_by_name(full: Site, query: str) -> None:
    answer = full.client.get(f"/runs?{query}")
    assert answer.status_code == 400
    assert "is none of" in Page(answer.text).words


def test_a_run_shows_every_grader_with_its_state_and_why(full: Site, world: World) -> None:
    run = next(run for run in settled(world) if world.verified.get(run) is False)
    words = words_of(full, f"/runs/{run}")
    assert "The outcome is wrong, says paid-right 1" in words
    assert "new-grader trajectory, code, 1" in words
    assert "waiting" in words
    assert "gnomon graders backfill" in words
    failed = next(run for run in settled(world)[1:] if world.verified.get(run) is None)
    words = words_of(full, f"/runs/{failed}")
    assert "grader failed" in words
    assert "the ledger did not answer" in words


def test_a_violation_links_to_the_step_that_made_it_and_selects_it(
    full: Site, world: World
) -> None:
    run, step = next((run, step) for run, step in world.broken.items() if run in settled(world))
    seen = page(full, f"/runs/{run}")
    assert f"/runs/{run}?step={step}" in seen.links
    assert f"/policies/refunds/{BROKEN}" in seen.links
    chosen = full.client.get(f"/runs/{run}?step={step}").text
    assert re.search(rf'aria-selected="true" tabindex="0" data-step="{step}"', chosen)


def test_the_tree_marks_the_call_that_broke_a_rule(full: Site, world: World) -> None:
    run, step = next((run, step) for run, step in world.broken.items() if run in settled(world))
    text = full.client.get(f"/runs/{run}").text
    rows = re.findall(r'<a class="row [^>]*data-step="(\w+)"[^>]*>(.*?)</a>', text)
    marked = [key for key, line in rows if "broke a rule" in line]
    assert marked == [step]


def test_a_run_that_no_grader_has_seen_says_so(full: Site, world: World) -> None:
    newest = next(run for run in world.runs if run.state is RunState.SETTLED)
    assert "Not judged yet" in words_of(full, f"/runs/{newest.run_id}")


def test_a_rule_that_never_broke_shows_how_often_it_could_be_at_most(
    full: Site, world: World
) -> None:
    checked = sum(run in settled(world) for run in world.verified) - 1
    bound = 1 - 0.05 ** (1 / checked)
    words = words_of(full, f"/policies/refunds/{KEPT}?period=30d")
    assert f"0 % at most {bound * 100:.1f} % (95 % bound), n = {checked}" in words
    assert "No violation in this time" in words
    assert "max_committed: 1" in words
    assert "policy refunds version 3" in words


def test_a_rule_lists_every_violation_with_run_and_step(full: Site, world: World) -> None:
    seen = page(full, f"/policies/refunds/{BROKEN}?period=30d")
    for run in set(settled(world)) & set(world.broken):
        assert f"/runs/{run}?step={world.broken[run]}" in seen.links
    assert "tool: verify_identity" in seen.words
    assert full.client.get("/policies/refunds/nope?period=30d").status_code == 404


def test_a_rule_that_judged_no_run_in_a_time_was_not_kept(full: Site) -> None:
    never = f"/policies/refunds/{KEPT}?period=30d&agent=nobody"
    assert "No run was judged by it in 30 days" in words_of(full, never)
    assert "not judged" in words_of(full, never)
    words = words_of(full, "/policies?period=30d&agent=nobody")
    assert "No rule was checked in this time" in words
    assert "kept" not in words


def test_the_list_of_rules_counts_runs_and_links_to_them(full: Site, world: World) -> None:
    seen = page(full, "/policies?period=30d")
    broken = set(settled(world)) & set(world.broken)
    href = next(link for link in seen.links if link.startswith("/runs") and "rule=" in link)
    assert listed(full, href) == len(broken)
    words = " ".join(seen.words.split())
    assert f"1 of 3 rules were broken in 30 days; most often refunds/{BROKEN}" in words


def test_an_agent_shows_nine_metrics_by_version_each_beside_its_guard(full: Site) -> None:
    text = full.client.get("/agents/refund-desk?period=30d").text
    cards = re.findall(r'<h3 class="title" id="m-(\w+)">.*?</table>', text, re.DOTALL)
    assert cards == [
        "completion", "tool_use", "correctness", "human_intervention", "latency", "cost",
        "model_calls", "recovery", "robustness",
    ]  # fmt: skip
    for card in re.findall(r'id="m-\w+">.*?</table>', text, re.DOTALL):
        assert "<i>guard</i>" in card
        assert card.count('<th scope="row">') == 2
    surfaces = re.findall(r'id="s-(\w+)">', text)
    assert surfaces == [
        "outcome", "policy", "trajectory", "factuality", "conversation", "efficiency", "operations",
    ]  # fmt: skip
    words = " ".join(Page(text).words.split())
    assert "another mix of topic" in words
    assert full.client.get("/agents/nobody").status_code == 404


def test_no_metric_is_ever_shown_as_a_bare_number(full: Site) -> None:
    text = full.client.get("/agents/refund-desk?period=30d").text
    cells = re.findall(r'<td class="cell[^"]*">(.*?)</td>', text, re.DOTALL)
    assert len(cells) > 60
    for cell in cells:
        words = " ".join(Page(cell).words.split())
        assert "n = " in words or "no data" in words or words == "–", words
        if "no data" in words:
            assert len(words) > len("no data"), "without a reason"
            assert not re.search(r"\b(0|100) %", words)


def test_numbers_of_an_agent_link_to_that_many_runs(full: Site, world: World) -> None:
    text = full.client.get("/agents/refund-desk?period=30d").text
    card = re.search(r'id="m-completion">.*?</table>', text, re.DOTALL)
    assert card is not None
    hrefs = [html.unescape(href) for href in Page(card[0]).links if "part=verified" in href]
    runs = {run.run_id: run for run in world.runs}
    found = sorted(listed(full, href) for href in hrefs)
    by_version: dict[str, int] = {}
    for run in settled(world):
        if world.verified.get(run):
            version = runs[run].agent_version or ""
            by_version[version] = by_version.get(version, 0) + 1
    assert found == sorted(by_version.values())


def test_agents_are_listed_with_their_numbers(full: Site) -> None:
    seen = page(full, "/agents?period=30d")
    assert "/agents/refund-desk?period=30d" in seen.links
    assert "95 % CI" in seen.words


def test_status_shows_jobs_and_graders(full: Site) -> None:
    words = words_of(full, "/status")
    assert "judge judges settled runs" in words
    assert "21 Oct 11:59:10" in words, "done until"
    assert "21 Oct 11:59:12" in words, "last finished"
    assert "refunds 3" in words
    assert "not asked for" in words


def test_comparing_without_a_rule_is_not_enough_data_and_shows_no_p_value(full: Site) -> None:
    words = words_of(full, "/compare?period=30d&agent=refund-desk")
    assert "Compare v14-rc with the baseline v13" in words
    assert "NOT ENOUGH DATA no rule is written" in words
    assert "add compare.rule to gnomon.yaml" in words
    assert "p =" not in words
    assert "Live, inside topic: " in words
    assert "another mix of topic is not known yet" in words


def test_two_equal_versions_are_refused_in_words(full: Site) -> None:
    assert "Two different versions are needed" in words_of(full, "/compare?base=v13&cand=v13")


def test_a_form_of_the_status_page_has_history_judged(
    full: Site, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, object, str]] = []

    def ask(name: str, *, since: object, which: str) -> None:
        asked.append((name, since, which))

    monkeypatch.setattr(world.judging.backfills, "ask", ask, raising=False)
    text = full.client.get("/status").text
    assert '<option value="30d" selected>30 days</option>' in text
    token = re.search(r'action="/graders/backfill"><input type="hidden" name="token" value="([^"]+)"', text)  # fmt: skip
    assert token is not None
    fields = {"grader": "claim", "since": "7d", "which": "failed", "token": token[1]}
    origin = {"Origin": str(full.client.base_url).rstrip("/")}
    send = full.client.post
    assert send("/graders/backfill", data=fields).status_code == 403, "no Origin"
    assert (
        send("/graders/backfill", data={**fields, "token": "x"}, headers=origin).status_code == 403
    )
    wrong = send("/graders/backfill", data={**fields, "since": "1y"}, headers=origin)
    assert (wrong.status_code, asked) == (400, [])
    done = send("/graders/backfill", data=fields, headers=origin, follow_redirects=False)
    assert (done.status_code, done.headers["location"]) == (303, "/status?done=backfill#graders")
    assert asked == [("claim", desk.NOW - 7 * desk.DAY, "failed")]


def test_no_page_leads_to_an_address_that_it_does_not_know(full: Site) -> None:
    found = {
        link.partition("#")[0]
        for path in PAGES
        for link in Page(full.client.get(path).text).links
        if link.startswith("/")
    }
    shapes = {shape(link): link for link in sorted(found)}
    assert len(shapes) > 30
    for link in shapes.values():
        assert full.client.get(link).status_code not in (400, 500), link


def shape(link: str) -> tuple[str, tuple[str, ...]]:
    """Return what tells the address from those that say the same of another time or agent."""
    asked = urlsplit(link)
    place = f"{asked.path.split('/')[1]}:{asked.path.count('/')}"
    named = {f"{k}={v}" if k in ("part", "verdict") else k for k, v in parse_qsl(asked.query)}
    return place, tuple(sorted(named - EVERYWHERE))


EVERYWHERE = {"period", "since", "until", "agent", "version", "origin"}


@pytest.mark.parametrize("path", [*PAGES, "/keys", "/figures/runs.csv", "/policies.csv"])
def test_a_filter_that_a_page_does_not_know_is_named_and_never_ignored(
    full: Site, path: str
) -> None:
    answer = full.client.get(path + ("&" if "?" in path else "?") + "colour=red")
    assert answer.status_code == 400
    assert "colour" in answer.text


def test_a_verdict_without_its_grader_is_refused_with_what_was_meant(full: Site) -> None:
    answer = full.client.get("/runs?verdict=fail")
    assert answer.status_code == 400
    assert "part=failed" in answer.text


def test_without_graders_the_first_page_says_so_and_how_to_name_one(
    full: Site, world: World
) -> None:
    nobody = replace(world.judging, configured=False)
    made = pages.site(memory.MemoryReader(), desk.books(), nobody)
    with made.client:
        words = words_of(made, "/")
    assert "No grader is configured" in words
    assert "once they are settled" not in words
    assert "docs/configuration.md" in words
    assert "No grader is configured" not in words_of(full, "/?period=30d")
