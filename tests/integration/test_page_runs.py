"""The list of runs and the page of a run over HTTP."""

import csv
import gzip
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from collector.spans import LogRecord
from collector.views import shape_of
from gnomon.clock import Nanos
from gnomon.model import Kind, RunId, RunState, RunStatus
from gnomon.web.filters import Query
from gnomon.web.run_facts import run_facts, similar
from gnomon.web.titles import title_of
from tests import desk
from tests import page_memory as memory
from tests import site as pages
from tests.site import PARTIAL, Page, Site, page, run_of


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


def test_a_row_is_a_link_named_by_what_differs(full: Site) -> None:
    run = next(run for run in full.reader.all if run.status is RunStatus.ERROR)
    text = full.client.get("/runs?period=30d&status=error").text
    assert f'href="/runs/{run.run_id}?list=period%3D30d%26status%3Derror" data-row>' in text
    words = " ".join(Page(text).words.split())
    order = run.business_keys["order"]
    assert f"order {order} {run.error_type} {(run.input or '')[:20]}" in words


def test_counts_of_a_facet_leave_out_its_own_condition(full: Site) -> None:
    plain, filtered = page(full, "/runs?period=30d"), page(full, "/runs?period=30d&status=error")
    counts = [re.search(r"(\d[\d,]*) unknown", seen.words) for seen in (plain, filtered)]
    assert counts[0] is not None
    assert counts[1] is not None
    assert counts[0][1] == counts[1][1] != "0"


def test_pages_of_the_list_hold_every_run_once_and_lead_back(full: Site) -> None:
    path, seen, places = "/runs?period=all&status=error", [], []
    while path:
        places.append(path)
        text = full.client.get(path).text
        seen += re.findall(r'href="/runs/([0-9a-f]{32})[^"]*" data-row', text)
        found = re.search(r'href="([^"]+)"[^>]*data-follow="next"', text)
        path = found[1].replace("&amp;", "&") if found else ""
    expected = [run.run_id for run in full.reader.all if run.status is RunStatus.ERROR]
    assert seen == expected
    assert len(places) == 3
    newer = re.search(r'href="([^"]+)"[^>]*data-follow="prev"', full.client.get(places[2]).text)
    assert newer is not None
    back = full.client.get(newer[1].replace("&amp;", "&")).text
    assert re.findall(r'href="/runs/([0-9a-f]{32})[^"]*" data-row', back) == expected[50:100]
    again = re.search(r'href="([^"]+)"[^>]*data-follow="prev"', back)
    assert again is not None
    first = full.client.get(again[1].replace("&amp;", "&")).text
    assert re.findall(r'href="/runs/([0-9a-f]{32})[^"]*" data-row', first) == expected[:50]
    assert 'data-follow="prev"' not in first
    assert 'data-follow="next"' in first


def test_the_form_works_without_javascript_and_keeps_every_condition(full: Site) -> None:
    text = full.client.get("/runs?status=error&key.order=O-900&since=2026-10-01T00:00Z").text
    form = re.search(r'<form class="filters".*?</form>', text, re.DOTALL)
    assert form is not None
    hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', form[0]))
    assert hidden == {
        "status": "error",
        "key.order": "O-900",
        "since": "2026-10-01T00:00Z",
    }
    assert '<button class="nojs">Filter</button>' in form[0]


def test_the_strip_says_and_links_what_it_draws(full: Site) -> None:
    text = full.client.get("/runs?period=30d").text
    strip = re.search(r"<svg class=\"strip\".*?</svg>", text, re.DOTALL)
    assert strip is not None
    links = json.loads(
        re.search(r'data-href="([^"]*)"', strip[0])[1].replace("&#34;", '"').replace("&amp;", "&")
    )  # type: ignore[index]
    readings = json.loads(re.search(r'data-read="([^"]*)"', strip[0])[1].replace("&#34;", '"'))  # type: ignore[index]
    assert len(links) == len(readings) == 30
    shown = re.search(r"(\d+) runs", readings[10])
    assert shown is not None
    assert f"{shown[1]} runs" in " ".join(page(full, links[10]).words.split())


def test_new_runs_are_announced_and_counted_not_inserted(full: Site) -> None:
    address = re.search(r'data-poll="(/news/runs[^"]+)"', full.client.get("/runs").text)
    assert address is not None
    path = address[1].replace("&amp;", "&")
    headers = {**PARTIAL, "HX-Target": "news"}
    quiet = full.client.get(path, headers=headers)
    assert quiet.text == ""
    newest = full.reader.all[0]
    full.reader.add(replace(newest, run_id="e" * 32, started_at=Nanos(newest.started_at + 1)))  # type: ignore[arg-type]
    try:
        tagged = {**headers, "If-None-Match": quiet.headers["ETag"]}
        assert "1 new run · show" in full.client.get(path, headers=tagged).text
    finally:
        full.reader.all = [run for run in full.reader.all if run.run_id != "e" * 32]
        full.reader.revision += 1


def test_runs_dated_ahead_are_counted_said_and_do_not_hide_what_is_new(full: Site) -> None:
    newest = full.reader.all[0]
    ahead = replace(newest, run_id=RunId("f" * 32), started_at=Nanos(desk.NOW + 400 * desk.DAY))
    kept = list(full.reader.all)
    plain = page(full, "/runs").words
    full.reader.add(ahead)
    try:
        text = full.client.get("/runs").text
        words = " ".join(Page(text).words.split())
        before = re.search(r"([\d,]+) runs", " ".join(plain.split()))
        after = re.search(r"([\d,]+) runs", words)
        assert before is not None
        assert after is not None
        number = int(before[1].replace(",", ""))
        assert int(after[1].replace(",", "")) == number + 1
        assert "1 run dated after now: the clock of a sender is ahead" in words
        assert "f" * 32 not in re.findall(r'href="/runs/([0-9a-f]{32})[^"]*" data-row', text)
        link = re.search(r'leave them out; <a href="([^"]+)"', text)
        assert link is not None
        shown = full.client.get(link[1].replace("&amp;", "&")).text
        assert re.findall(r'href="/runs/([0-9a-f]{32})[^"]*" data-row', shown) == ["f" * 32]
        assert "25 Nov 2027 12:00" in shown  # a year that is not this one is written
        assert "dated after now" not in shown
        address = re.search(r'data-poll="(/news/runs[^"]+)"', text)
        assert address is not None
        path = address[1].replace("&amp;", "&")
        headers = {**PARTIAL, "HX-Target": "news"}
        assert full.client.get(path, headers=headers).text == ""
        fresh = replace(newest, run_id=RunId("e" * 32), started_at=Nanos(newest.started_at + 1))
        full.reader.add(fresh)
        assert "1 new run · show" in full.client.get(path, headers=headers).text
    finally:
        full.reader.all = kept
        full.reader.revision += 1


def test_an_error_inside_a_run_that_went_well_is_not_its_end(full: Site) -> None:
    run = next(one for one in full.reader.all if one.status is RunStatus.OK and one.error_types)
    words = " ".join(page(full, f"/runs/{run.run_id}").words.split())
    assert f"ok recovered from {run.error_types[0]}" in words
    assert f"ok · {run.error_types[0]}" not in words
    title = title_of(replace(run, error_types=("A", "B", "C")))
    assert (title.failure, title.inside) == ("", "recovered from A, B and 1 more")
    assert title_of(replace(run, status=RunStatus.UNKNOWN)).inside.endswith(" inside")


def test_the_header_counts_every_kind_of_step_and_says_which_cost_is_partial(full: Site) -> None:
    run = next(one for one in full.reader.all if one.status is RunStatus.OK)
    facts = dict(
        fact[:2]
        for fact in run_facts(
            replace(
                run, steps=9, llm_calls=4, embedding_calls=3, tool_calls=2, retrievals=0,
                handoffs=0, guardrail_trips=0, human_actions=0, cost_usd=0.25, unpriced_calls=2,
            ),
            (),
        )
    )  # fmt: skip
    assert facts["Steps"] == "9 (4 model calls, 3 embeddings, 2 tool calls)"
    assert facts["Cost"] == "≥ $0.25 (2 calls without a price)"
    unknown = dict(fact[:2] for fact in run_facts(replace(run, cost_usd=None, llm_calls=4), ()))
    assert unknown["Cost"] == "unknown"
    none = replace(run, cost_usd=None, models=(), llm_calls=0, embedding_calls=0)
    silent = dict(fact[:2] for fact in run_facts(none, ()))
    assert silent["Cost"] == silent["Model"] == "no model call recorded"


def test_jump_finds_a_run_by_id_and_else_searches_all_time(full: Site) -> None:
    run = full.reader.all[7]
    assert full.client.get(f"/jump?q= {run.run_id} ").headers["location"] == f"/runs/{run.run_id}"
    other = full.client.get("/jump?q=O-731").headers["location"]
    assert other == "/runs?period=all&q=O-731"
    assert "order O-731" in page(full, other).words


def test_a_run_opens_at_its_first_error(full: Site) -> None:
    text = full.client.get(f"/runs/{run_of(full, error='ToolTimeout')}").text
    selected = re.search(r'aria-selected="true".*?data-k="(\w+)">([^<]+)<', text)
    assert selected is not None
    assert selected.groups() == ("tool", "issue_refund")
    words = " ".join(Page(text).words.split())
    assert "ToolTimeout no answer within 4000 ms" in words
    assert "Against the last call of this tool that went well" in words
    assert "idempotency_key" in words


def test_a_tool_call_shows_arguments_and_result_side_by_side(full: Site) -> None:
    run = run_of(full, RunStatus.OK)
    step = next(one for one in full.reader.steps[run] if one.tool_name == "consult_refund_policy")
    seen = page(full, f"/runs/{run}?step={step.span_id}")
    words = " ".join(seen.words.split())
    assert 'Arguments { "topic": "refunds" }' in words
    assert 'Result { "policy": "Refund once. Confirm the status before any retry." }' in words


def test_a_model_call_shows_new_messages_open_and_earlier_ones_folded(full: Site) -> None:
    run = run_of(full, RunStatus.OK)
    calls = [step for step in full.reader.steps[run] if step.kind is Kind.LLM]
    words = " ".join(page(full, f"/runs/{run}?step={calls[2].span_id}").words.split())
    assert "+4 earlier messages, seen by the last call already" in words
    assert "New since the last call tool result call_1" in words
    assert "System prompt" in words


def test_facts_raw_and_explanation_are_one_link_away(full: Site) -> None:
    run = run_of(full, RunStatus.OK)
    call = next(step for step in full.reader.steps[run] if step.kind is Kind.LLM)
    base = f"/runs/{run}?step={call.span_id}"
    facts = " ".join(page(full, base + "&view=facts").words.split())
    assert "Model asked for m-large" in facts
    assert "Model that answered m-large-2026-08" in facts
    raw = " ".join(page(full, base + "&view=raw").words.split())
    assert "gen_ai.request.model m-large" in raw
    assert "service.name refunds" in raw
    why = " ".join(page(full, base + "&view=explain").words.split())
    assert "input_tokens" in why
    assert "T1 usage" in why
    assert f"gnomon spans explain {run} {call.span_id}" in why


def test_log_records_of_a_step_are_part_of_its_raw_view(
    full: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(full, RunStatus.OK)
    call = next(step for step in full.reader.steps[run] if step.kind is Kind.LLM)
    record = LogRecord(
        trace_id=call.trace_id,
        span_id=call.span_id,
        time=call.started_at,
        observed=call.started_at,
        event_name="gen_ai.choice",
        body='{"index": 0}',
    )
    monkeypatch.setattr(full.reader, "span_logs", lambda *_: [record])
    words = " ".join(page(full, f"/runs/{run}?step={call.span_id}&view=raw").words.split())
    assert "Log gen_ai.choice" in words
    assert '"index": 0' in words


def test_previous_and_next_follow_the_list_one_came_from(full: Site) -> None:
    failed = [run for run in full.reader.all if run.status is RunStatus.ERROR]
    text = full.client.get(f"/runs/{failed[1].run_id}?list=period%3D30d%26status%3Derror").text
    for name, other in (("run-prev", failed[0]), ("run-next", failed[2])):
        found = re.search(rf'href="([^"]+)" data-follow="{name}"', text)
        assert found is not None
        assert urlsplit(found[1]).path == f"/runs/{other.run_id}"
        assert "status%3Derror" in found[1]
    assert 'href="/runs?period=30d&amp;status=error">Runs</a>' in text


def test_wrappers_with_one_child_fold_and_bars_lie_inside_the_plot(full: Site) -> None:
    text = full.client.get(f"/runs/{run_of(full, RunStatus.OK)}").text
    assert "<em>turn 5 / </em>m-large-2026-08" in text
    for x, width in re.findall(r'<rect x="([\d.]+)%" width="([\d.]+)%"', text):
        assert 0 <= float(x) <= 100
        assert float(x) + float(width) <= 100.2


def test_tokens_and_cost_stand_in_every_row_and_nothing_stands_for_unknown(full: Site) -> None:
    text = full.client.get(f"/runs/{run_of(full, RunStatus.OK)}").text
    assert re.search(r'data-k="llm".*?data-t="[\d,.k]+" data-c="\$[\d.]+"', text)
    assert re.search(r'data-k="tool".*?data-t="" data-c=""', text)


def test_a_large_run_opens_at_its_error_and_offers_the_rest(full: Site) -> None:
    text = full.client.get(f"/runs/{30_000:032x}").text
    assert "30,000 spans, " in Page(text).words
    assert re.search(r'aria-selected="true".*?fetch_15003', text)
    more = re.search(r"data-more><span[^>]*>([\d,]+) more inside", text)
    assert more is not None
    opened = re.findall(r'row more[^>]*href="([^"]+)" data-more', text)[-1]
    address, _, first = opened.replace("&amp;", "&").partition("#")
    wider = full.client.get(address).text
    assert f'data-step="{first}"' in wider
    assert f'data-step="{first}"' not in text


def test_a_large_run_stays_small_on_the_wire_and_reads_only_what_it_draws(
    full: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = replace(full.reader.all[0], run_id=RunId("d" * 32))
    made, steps = desk.wide_run(50_000, root=run.run_id)
    full.reader.add(made, steps)
    read: list[int | None] = []
    real = full.reader.outline
    monkeypatch.setattr(
        full.reader,
        "outline",
        lambda run, only=None: read.append(only and len(only)) or real(run, only),
    )
    # The shape of a run that is read from the store comes without its outline.
    monkeypatch.setattr(full.reader, "shape", lambda run: shape_of(real(run)))
    try:
        answer = full.client.get(f"/runs/{run.run_id}")
        assert len(gzip.compress(answer.content, 5)) <= 40_000
        assert len(answer.content) < 1024 * 1024
        assert answer.text.count('role="treeitem"') <= 1_000
        assert len(read) == 1
        assert read[0] is not None
        assert read[0] <= 1_000
    finally:
        full.reader.all = [one for one in full.reader.all if one.run_id != run.run_id]
        full.reader.revision += 1


def test_a_run_of_nothing_but_lost_steps_stays_small(full: Site) -> None:
    made, steps = desk.wide_run(5_000, root="b" * 32)
    full.reader.add(made, [replace(step, parent_span_id="lost") for step in steps])
    try:
        text = full.client.get(f"/runs/{made.run_id}").text
        assert text.count('role="treeitem"') <= 202
        more = re.search(r'row more[^>]*href="([^"]+)" data-more', text)
        assert more is not None
        wider = full.client.get(more[1].replace("&amp;", "&")).text
        assert wider.count('role="treeitem"') >= 400
    finally:
        full.reader.all = [one for one in full.reader.all if one.run_id != made.run_id]
        full.reader.revision += 1


def test_an_open_run_polls_for_more_and_a_settled_one_does_not(full: Site) -> None:
    waiting = next(run for run in full.reader.all if run.state is RunState.OPEN)
    text = full.client.get(f"/runs/{waiting.run_id}").text
    assert f'data-poll="/news/run?run_id={waiting.run_id}&amp;than={waiting.spans}"' in text
    news = full.client.get(
        f"/news/run?run_id={waiting.run_id}&than={waiting.spans - 3}",
        headers={**PARTIAL, "HX-Target": "news"},
    )
    assert "3 new spans · show" in news.text
    assert "data-poll" not in full.client.get(f"/runs/{run_of(full)}").text


def test_the_limits_of_a_run_are_said(full: Site) -> None:
    run, steps = desk.wide_run(30, root="c" * 32)
    full.reader.add(replace(run, orphans=2), steps)
    try:
        words = page(full, f"/runs/{run.run_id}").words
        assert "This run has no model spans" in words
        assert "2 steps name a parent that never arrived" in words
    finally:
        full.reader.all.remove(next(r for r in full.reader.all if r.run_id == run.run_id))
        full.reader.revision += 1


def test_what_agents_wrote_is_escaped_always(empty: Site) -> None:
    evil = '<script>alert("x")</script><img src=x onerror=alert(1)>'
    made = desk.desk(1)
    run = replace(
        made.all[0],
        input=evil,
        business_keys={evil: evil},
        error_types=[evil],
        agent_name=evil,
        models=[evil],
    )
    steps = [
        replace(step, tool_name=evil, tool_arguments=evil, error_message=evil, model=evil)
        for step in made.steps[run.run_id]
    ]
    empty.reader.add(run, steps)
    empty.reader.said = made.said
    for path in ("/?period=7d", "/runs?period=all", f"/runs/{run.run_id}"):
        text = empty.client.get(path).text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert Page(text).inline == []


def test_the_list_is_a_file_of_exactly_its_runs_and_no_cell_is_a_formula(full: Site) -> None:
    newest = full.reader.all[0]
    evil = replace(
        newest, run_id=RunId("=evil"), started_at=Nanos(newest.started_at + 1),
        agent_name="+cmd|calc", agent_version="@v", business_keys={}, status=RunStatus.ERROR,
    )  # fmt: skip
    full.reader.add(evil)
    try:
        address = re.search(
            r'href="(/runs.csv[^"]*)"', full.client.get("/runs?period=30d&status=error").text
        )
        assert address is not None
        answer = full.client.get(address[1].replace("&amp;", "&"))
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        since = Query(period="30d").where(desk.NOW).since
        expected = [
            run for run in full.reader.all
            if run.status is RunStatus.ERROR and run.started_at >= (since or 0)
        ]  # fmt: skip
        assert [row["run_id"].removeprefix("'") for row in rows] == [one.run_id for one in expected]
        assert len(rows) > 50
        assert (rows[0]["run_id"], rows[0]["agent"], rows[0]["version"]) == (
            "'=evil", "'+cmd|calc", "'@v",
        )  # fmt: skip
        assert rows[1]["cost_usd"] == str(expected[1].cost_usd)
        assert answer.headers["content-type"].startswith("text/csv")
        assert full.client.get("/runs.csv?colour=red").status_code == 400
    finally:
        full.reader.all.remove(evil)


def test_a_run_leads_to_those_like_it_and_is_among_them(full: Site) -> None:
    for run in full.reader.all[:40]:
        words, address = similar(run)
        assert f"status {run.status}" in words
        listed = full.client.get("/runs.csv" + address.removeprefix("/runs"))
        rows = list(csv.DictReader(io.StringIO(listed.text)))
        assert run.run_id in {row["run_id"] for row in rows}
        assert {row["status"] for row in rows} == {str(run.status)}
        assert {row["agent"] for row in rows} == {run.agent_name or ""} or run.agent_name is None
    assert "+ runs like this" in full.client.get(f"/runs/{full.reader.all[0].run_id}").text
