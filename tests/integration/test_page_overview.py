"""Overview and Status over HTTP: every number with what it needs, every number a link."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from collector.folding.set_aside import SetAside
from gnomon.clock import Nanos
from gnomon.model import RunState, RunStatus
from gnomon.web.amounts import FEW
from tests import desk
from tests import page_memory as memory
from tests import site as pages
from tests.site import Page, Site, page, token_of


@pytest.fixture(scope="module")
def month() -> memory.MemoryReader:
    return pages.month()


@pytest.fixture
def full(month: memory.MemoryReader) -> Iterator[Site]:
    made = pages.site(month, desk.books())
    with made.client:
        yield made


@pytest.fixture
def empty() -> Iterator[Site]:
    made = pages.site(memory.MemoryReader(), memory.MemoryBooks())
    with made.client:
        yield made


def test_the_overview_shows_every_share_with_n_interval_open_and_guard(full: Site) -> None:
    since = desk.NOW // desk.DAY * desk.DAY + desk.DAY - 30 * desk.DAY
    runs = [run for run in full.reader.all if run.started_at >= since]
    known = [run for run in runs if run.status is not RunStatus.UNKNOWN]
    failed = [run for run in runs if run.status is RunStatus.ERROR]
    words = " ".join(page(full, "/?period=30d").words.split())
    share = f"{len(failed) / len(known) * 100:.1f} %"
    assert f"Ended in error {share}" in words
    assert f"n = {len(known):,}" in words
    assert f"{sum(run.state is RunState.OPEN for run in runs)} open" in words
    assert "95 % CI " in words
    assert "unknown " in words
    assert f"{len(runs):,} runs in 30 days, {len(failed)} ended in error" in words


def test_the_finding_names_the_day_that_stands_out(full: Site) -> None:
    assert "Errors stood out 15 Oct: " in page(full, "/?period=30d").words


def test_without_graders_nothing_is_called_right_or_wrong(full: Site) -> None:
    seen = page(full, "/?period=30d")
    assert "Pass rate" not in seen.words
    assert not [link for link in seen.links if link.startswith(("/policies", "/compare"))]
    for path in ("/policies", "/agents", "/compare"):
        assert full.client.get(path).status_code == 404
    answer = full.client.get("/runs?part=verified")
    assert answer.status_code == 400
    assert "no grader judges here" in Page(answer.text).words


def test_few_runs_are_greyed_and_say_so(empty: Site) -> None:
    few = desk.desk(FEW - 2, days=1)
    empty.reader.all, empty.reader.steps = few.all, few.steps
    text = empty.client.get("/?period=24h").text
    assert '<span class="few">' in text
    assert ", few" in Page(text).words


def test_the_period_without_being_asked_is_the_shortest_that_holds_all_runs(empty: Site) -> None:
    young = desk.desk(20, days=1)
    empty.reader.all, empty.reader.steps = young.all[:3], young.steps
    for moment, name in (
        (desk.MINUTE * 5, "1h"),
        (desk.DAY // 2, "24h"),
        (2 * desk.DAY, "3d"),
        (5 * desk.DAY, "7d"),
    ):
        empty.reader.all = [replace(young.all[0], started_at=Nanos(desk.NOW - moment))]
        empty.reader.revision += 1
        text = empty.client.get("/").text
        assert re.search(r'aria-current="true">(\w+)<', text)[1] == name  # type: ignore[index]


def test_deploys_are_marked_on_every_chart_over_time(full: Site) -> None:
    text = full.client.get("/?period=30d").text
    assert text.count('class="chart"') == 5
    assert text.count("<title>refund-desk v14-rc</title>") == 5


def test_every_figure_has_its_table_and_csv_and_every_row_its_runs(full: Site) -> None:
    text = full.client.get("/?period=30d&agent=refund-desk").text
    seen = Page(text)
    files = [link for link in seen.links if link.startswith("/figures/")]
    assert len(files) == 5
    for file in files:
        answer = full.client.get(file)
        assert answer.headers["content-type"].startswith("text/csv")
        rows = list(csv.reader(io.StringIO(answer.text)))
        assert len({len(row) for row in rows}) == 1
        assert len(rows) > 20
    assert full.client.get("/figures/nope.csv").status_code == 404


def test_every_number_of_the_runs_chart_links_to_that_many_runs(full: Site) -> None:
    text = full.client.get("/?period=30d&agent=refund-desk").text
    table = re.search(r"<th[^>]*>Runs</th>.*?</table>", text, re.DOTALL)
    assert table is not None
    rows = re.findall(r'href="([^"]+)">[^<]+</a></td><td class="num">([\d,]+)', table[0])
    assert len(rows) > 20
    for href, shown in rows[:4] + rows[-2:]:
        words = page(full, href.replace("&amp;", "&")).words
        assert re.search(r"(\S+) runs?\b", " ".join(words.split()))
        assert f"{shown} run" in " ".join(words.split())


def test_the_ledger_of_the_last_day_is_on_the_overview(full: Site) -> None:
    words = " ".join(page(full, "/").words.split())
    day = [row for row in full.books.rows if row.hour > desk.NOW - desk.DAY]
    received = sum(row.received for row in day if row.source == "traces/http/loopback")
    assert f"traces/http/loopback {received:,}" in words
    assert "balances" in words
    assert "complete until 21 Oct 11:59:58" in words


def test_agents_that_call_their_versions_the_same_have_rows_of_their_own(empty: Site) -> None:
    made = desk.desk(40)
    for number, run in enumerate(made.all):
        agent = ("desk", "coder")[number % 2]
        empty.reader.add(replace(run, agent_name=agent, agent_version="1"))
    text = empty.client.get("/?period=30d").text
    rows = re.findall(r'<tr><td class="ell"[^>]*>(desk|coder)</td>.*?</tr>', text, re.DOTALL)
    assert sorted(rows) == ["coder", "desk"]
    links = re.findall(
        r'<td class="num"><a href="(/runs\?[^"]*agent=(?:desk|coder)&amp;version=1)">(\d+)</a>',
        text,
    )
    assert sum(int(count) for _, count in links) == len(rows) * 20 - 1  # one began before
    for link, count in links:
        words = " ".join(page(empty, link.replace("&amp;", "&")).words.split())
        assert f"{count} runs" in words
    one = empty.client.get("/?period=30d&agent=desk").text
    assert '<th scope="col">Agent</th>' not in one


def test_charts_are_computed_once_while_the_data_stay(
    full: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    real = full.reader.figures
    monkeypatch.setattr(
        full.reader, "figures", lambda *args, **more: asked.append(1) or real(*args, **more)
    )
    for _ in range(3):
        full.client.get("/?period=30d")
    assert len(asked) == 1


def test_the_ledger_balances_per_source_or_says_by_how_much_not(full: Site) -> None:
    words = " ".join(page(full, "/status").words.split())
    rows = [row for row in full.books.rows if row.hour > desk.NOW - desk.DAY]
    sums = [
        sum(values)
        for values in zip(
            *((r.received, r.stored, sum(r.rejected.values()), r.pending) for r in rows),
            strict=True,
        )
    ]
    sentence = "{:,} received = {:,} stored + {:,} rejected + {:,} pending".format(*sums)
    assert sentence in words
    assert "balances" in words
    full.books.rows[0] = replace(full.books.rows[0], stored=full.books.rows[0].stored - 5)
    assert "off by 5" in page(full, "/status").words


def test_the_age_of_the_oldest_pending_is_said(full: Site) -> None:
    assert "the oldest came 2.0 s ago" in page(full, "/status").words
    full.books.pending = None
    assert "nothing waits for the store" in page(full, "/status").words


def test_traces_without_a_run_are_named_with_error_and_mend(full: Site) -> None:
    assert "Unread traces" not in page(full, "/status").words
    lost = [
        SetAside(trace_id=f"{number:032x}", error="RecursionError", since=Nanos(desk.NOW - number))
        for number in range(60)
    ]
    broken = pages.site(full.reader, full.books, unread=lambda: lost)
    words = " ".join(page(broken, "/status").words.split())
    assert "60 stored traces cannot be read into runs" in words
    assert f"{lost[7].trace_id} RecursionError" in words
    assert "report the event trace_set_aside" in words
    assert "50 of 60 are shown" in words


def test_a_dead_letter_is_shown_with_its_bytes(full: Site) -> None:
    seen = page(full, "/status/dead-letters/4")
    words = " ".join(seen.words.split())
    assert "Code 27: the field start_time_unix_nano can not be read at row 3" in words
    assert "72 65 66 75 6e 64" in words
    assert full.client.get("/status/dead-letters/5").status_code == 404


@pytest.mark.parametrize(("act", "kept"), [("resend", "resent"), ("drop", "dropped")])
def test_a_dead_letter_is_resent_or_dropped_by_a_form(full: Site, act: str, kept: str) -> None:
    answer = full.client.post(
        f"/status/dead-letters/9/{act}",
        data={"token": token_of(full, "/status")},
        headers={"Origin": "http://testserver"},
    )
    assert answer.status_code == 303
    assert getattr(full.books, kept) == [9]
    assert "dead letter is" in page(full, answer.headers["location"].partition("#")[0]).words


def test_a_post_from_elsewhere_or_without_its_token_is_refused(full: Site) -> None:
    token = token_of(full, "/status")
    own = {"Origin": "http://testserver"}
    for headers, data in (
        ({}, {"token": token}),
        ({"Origin": "http://evil.test"}, {"token": token}),
        ({"Origin": "null"}, {"token": token}),
        (own, {"token": token[:-1] + ("0" if token[-1] != "0" else "1")}),
        (own, {"token": "."}),
        (own, {}),
    ):
        answer = full.client.post("/status/dead-letters/9/drop", data=data, headers=headers)
        assert answer.status_code == 403
        assert "403 forged" in answer.text
    full.client.cookies.clear()
    answer = full.client.post("/status/dead-letters/9/drop", data={"token": token}, headers=own)
    assert answer.status_code == 403
    assert full.books.dropped == []


def test_a_token_is_never_the_same_twice_and_the_cookie_is_kept_from_scripts(full: Site) -> None:
    answer = full.client.get("/status")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    tokens = re.findall(r'name="token" value="([^"]+)"', answer.text)
    assert len(tokens) == len(set(tokens)) == 5
