from dataclasses import replace

import pytest

from collector.reading.rows import Place
from collector.reading.steps import StepPosition
from collector.spans import LogRecord, Span
from collector.store import Reader
from collector.views import Deploy, FacetCount, Outline, RunBucket, RunFilter, RunPosition
from gnomon.clock import Nanos
from gnomon.model import (
    Bodies,
    Evaluation,
    Kind,
    Origin,
    Run,
    RunId,
    RunState,
    RunStatus,
    SpanId,
    Step,
    TraceId,
)
from gnomon.store import Store
from tests import samples
from tests.row_writer import RowWriter
from tests.stores import put

HOUR = 3_600_000_000_000
START = 490_000 * HOUR


def make_run(number: int, **values: object) -> Run:
    at = Nanos(START + number)
    given: dict[str, object] = {
        "run_id": RunId(f"{number:032x}"),
        "trace_ids": (f"{number:032x}",),
        "root_span_id": f"{number:016x}",
        "started_at": at,
        "ended_at": Nanos(at + 10),
        "duration_ns": 10,
        "active_ns": 5,
        "last_received_at": at,
        "state": RunState.SETTLED,
        "status": RunStatus.OK,
        **values,
    }
    return Run(**given)  # type: ignore[arg-type]


def make_step(number: int, **values: object) -> Step:
    at = Nanos(START + number)
    given: dict[str, object] = {
        "run_id": RunId("run"),
        "trace_id": TraceId("t" * 32),
        "span_id": SpanId(f"{number:016x}"),
        "started_at": at,
        "ended_at": Nanos(at + 10),
        "duration_ns": 10,
        **values,
    }
    return Step(**given)  # type: ignore[arg-type]


def write(store: Store, *runs: Run, folded_at: int = 1) -> None:
    RowWriter(store).runs(runs, reading="r", folded_at=folded_at)


FULL_RUN = make_run(
    7,
    trace_ids=("a" * 32, "b" * 32), agent_name="desk", agent_version="v2", workflow_name="w",
    service_name="s", conversation_id="c", user_id="u", environment="prod",
    business_keys={"order_id": "it's \\ 1", "": ""}, settled_at=Nanos(START + 99), revision=3,
    complete=True, status=RunStatus.ERROR, error_type="E", error_types=("E", "F"), input="in\n",
    output="out \0 é", steps=1, spans=2, llm_calls=3, llm_errors=4, embedding_calls=5, tool_calls=6,
    tool_errors=7, retrievals=8, handoffs=9, guardrail_trips=10, human_actions=11, input_tokens=0,
    output_tokens=2**40, cached_tokens=1, cache_write_tokens=2, reasoning_tokens=3,
    usage_source="model_steps", cost_usd=0.1 + 0.2, cost_reported_usd=1e-9, unpriced_calls=1,
    models=("m", "n"), tools=("t",), agents=("desk",), dialects=("otel",), origin=Origin.SHADOW,
    manifest={"model": "m"}, manifest_hash="h", flags=("no_root",), duplicates=1, orphans=2,
    dropped_attributes=3, dropped_events=4, dropped_links=5, content_digest="d",
)  # fmt: skip

FULL_STEP = make_step(
    7,
    parent_span_id="p", origin=Origin.REPLAY, span_name="n", scope_name="sc", scope_version="1",
    service_name="s", service_version="2", environment="e", dialect="mcp", kind=Kind.TOOL,
    counted=True, duplicate_of="d", duplicate_reason="D1", status="error", status_from="E1",
    error_type="E", error_message="m", agent_name="a", agent_id="i", agent_version="v",
    agent_path=("x", "y"), workflow_name="w", conversation_id="c", user_id="u",
    business_keys={"k": "v"}, provider="openai", request_model="rm", response_model="rs", model="m",
    response_id="r", finish_reason="stop", finish_reason_raw="end_turn", streamed=False,
    service_tier="t", request_params='{"a":1}', input_tokens=0, output_tokens=1, cached_tokens=2,
    cache_write_tokens=3, reasoning_tokens=4, aggregate_usage={"input_tokens": 9}, ttft_ns=5,
    cost_reported_usd=0.5, cost_usd=0.25, tool_name="tn", tool_call_id="tc",
    tool_arguments='{"q":"é"}', tool_result='"x"', tool_type="function", handoff_from="f",
    handoff_to="t", query="q", prompt_name="pn", prompt_version="1", decision="yes",
    decision_source="person", attempts=6, tags=("x", "y"), guardrails=("pii",), graph_node="gn",
    graph_parent="gp", graph_step=0, content_captured=True, flags=("bad_clock",),
    evaluations=(Evaluation(name="good", score=0.5), Evaluation(name="", explanation="because")),
)  # fmt: skip


def test_a_run_comes_back_as_it_was_written(store: Store) -> None:
    write(store, FULL_RUN, make_run(8))
    reader = Reader(store)
    assert reader.run(FULL_RUN.run_id) == FULL_RUN
    assert reader.run(make_run(8).run_id) == make_run(8)
    assert reader.run("nobody") is None


def test_a_step_comes_back_as_it_was_written(store: Store) -> None:
    RowWriter(store).steps([FULL_STEP, make_step(8)], folded_at=1)
    reader = Reader(store)
    assert reader.step(FULL_STEP.trace_id, FULL_STEP.span_id) == FULL_STEP
    assert reader.step(FULL_STEP.trace_id, make_step(8).span_id) == make_step(8)
    assert reader.step("nothing", "there") is None


def test_the_last_fold_wins_whatever_the_order_of_writing(store: Store) -> None:
    write(store, make_run(1, steps=2), folded_at=2)
    write(store, make_run(1, steps=1), folded_at=1)
    RowWriter(store).steps([make_step(1, span_name="new")], folded_at=2)
    RowWriter(store).steps([make_step(1, span_name="old")], folded_at=1)
    reader = Reader(store)
    assert [run.steps for run in reader.runs(RunFilter(), limit=9)] == [2]
    assert reader.run(make_run(1).run_id) == make_run(1, steps=2)
    found = reader.step("t" * 32, f"{1:016x}")
    assert found is not None
    assert found.span_name == "new"


def test_an_older_version_of_a_run_does_not_answer_a_filter(store: Store) -> None:
    write(store, make_run(1, state=RunState.OPEN, agent_name="before", tools=("x",)), folded_at=1)
    write(store, make_run(1, agent_name="after"), folded_at=2)
    reader = Reader(store)
    for stale in (
        RunFilter(state=RunState.OPEN),
        RunFilter(agent="before"),
        RunFilter(tool="x"),
        RunFilter(text="before"),
    ):
        assert reader.runs(stale, limit=9) == []
        assert reader.count(stale) == 0
        assert reader.facets(stale, limit=9)["status"] == []
        assert reader.totals(stale).runs == 0


def test_runs_are_found_by_the_beginning_of_their_id(store: Store) -> None:
    writer, reader = RowWriter(store), Reader(store)
    ids = ("284b6d4c01", "284b6d4c02", "284B6D4C03", "x284b6d4c", "a%b", "a_b")
    runs = [make_run(number, run_id=RunId(one)) for number, one in enumerate(ids)]
    writer.runs(runs, reading="", folded_at=1)
    writer.forget_runs(reader.places([ids[1]]), folded_at=2)
    found = reader.beginning("284b6d4c", limit=9)
    assert found == [RunPosition(runs[0].started_at, runs[0].run_id)]
    assert [one.run_id for one in reader.beginning("a%", limit=9)] == ["a%b"]
    assert len(reader.beginning("", limit=4)) == 4


def test_what_was_taken_back_is_gone(store: Store) -> None:
    run = make_run(1, run_id=RunId("run"), trace_ids=("t" * 32,))
    write(store, run)
    writer, reader = RowWriter(store), Reader(store)
    writer.steps([make_step(1), make_step(2)], folded_at=1)
    writer.forget_runs(reader.places(["run"]), folded_at=2)
    writer.forget_steps(reader.step_key_lines(["t" * 32]).splitlines()[0], folded_at=2)
    assert reader.run("run") is None
    assert reader.runs(RunFilter(), limit=9) == []
    assert reader.count(RunFilter()) == 0
    assert reader.places(["run"]) == []
    assert len(reader.steps(run, limit=9)) == 1
    write(store, run, folded_at=3)
    assert reader.run("run") == run, "and may come back"


def test_a_run_whose_start_moved_stands_at_its_new_place_only(store: Store) -> None:
    write(store, make_run(5, run_id=RunId("run")))
    reader, writer = Reader(store), RowWriter(store)
    old = reader.places(["run"])
    write(store, make_run(3, run_id=RunId("run")), folded_at=2)
    assert {place.started_at for place in reader.places(["run"])} == {START + 5, START + 3}
    found = reader.run("run")
    assert found is not None
    assert found.started_at == START + 3, "the newer fold, even before the old place is cleared"
    writer.forget_runs(old, folded_at=2)
    assert [run.started_at for run in reader.runs(RunFilter(), limit=9)] == [START + 3]


def test_a_place_holds_what_the_next_fold_needs(store: Store) -> None:
    write(store, FULL_RUN, folded_at=77)
    assert Reader(store).places([FULL_RUN.run_id, "nobody"]) == [
        Place(
            run_id=FULL_RUN.run_id,
            started_at=FULL_RUN.started_at,
            trace_ids=FULL_RUN.trace_ids,
            state=FULL_RUN.state,
            settled_at=FULL_RUN.settled_at,
            revision=3,
            last_received_at=FULL_RUN.last_received_at,
            content_digest="d",
            reading="r",
            folded_at=77,
        )
    ]


def test_pages_of_runs_join_without_gap_or_double_in_both_directions(store: Store) -> None:
    # Two start at the same moment; every run was folded three times.
    runs = [make_run(n, started_at=Nanos(START + n // 2)) for n in range(25)]
    for fold in range(3):
        write(store, *runs, folded_at=fold)
    reader = Reader(store)
    want = sorted(runs, key=lambda run: (run.started_at, run.run_id), reverse=True)
    seen: list[Run] = []
    after: RunPosition | None = None
    while page := reader.runs(RunFilter(), limit=4, after=after):
        seen += page
        after = RunPosition(page[-1].started_at, page[-1].run_id)
    assert seen == want
    middle = RunPosition(want[12].started_at, want[12].run_id)
    assert reader.runs(RunFilter(), limit=4, after=middle, newer=True) == want[8:12]
    first = RunPosition(want[0].started_at, want[0].run_id)
    assert reader.runs(RunFilter(), limit=4, after=first, newer=True) == []


def test_a_list_looks_further_back_when_many_rows_were_taken_back(store: Store) -> None:
    write(store, *[make_run(n) for n in range(100)])
    reader, writer = Reader(store), RowWriter(store)
    gone = reader.places([make_run(n).run_id for n in range(10, 100)])
    for fold in range(2, 5):
        writer.forget_runs(gone, folded_at=fold)
    assert [run.started_at - START for run in reader.runs(RunFilter(), limit=3)] == [9, 8, 7]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (RunFilter(), [3, 2, 1]),
        (RunFilter(origin=None), [4, 3, 2, 1]),
        (RunFilter(origin=Origin.SHADOW), [4]),
        (RunFilter(since=Nanos(START + 2)), [3, 2]),
        (RunFilter(until=Nanos(START + 2)), [1]),
        (RunFilter(since=Nanos(START + 2), until=Nanos(START + 3)), [2]),
        (RunFilter(status=RunStatus.ERROR), [2]),
        (RunFilter(state=RunState.OPEN), [3]),
        (RunFilter(agent="desk"), [2, 1]),
        (RunFilter(agent="desk", version="v2"), [2]),
        (RunFilter(environment="prod"), [1]),
        (RunFilter(error_type="Timeout"), [2, 1]),
        (RunFilter(error_type="RootOnly"), [3]),
        (RunFilter(model="gpt"), [1]),
        (RunFilter(tool="refund"), [2]),
        (RunFilter(conversation_id="c1"), [3]),
        (RunFilter(business_keys={"order_id": "A-1"}), [1]),
        (RunFilter(business_keys={"order_id": "A-1", "ticket": "9"}), []),
        (RunFilter(text="REFUND my"), [1]),
        (RunFilter(text="ÉCLAIR"), [2]),
        (RunFilter(text="a-1"), [1]),
        (RunFilter(text="100%"), []),
        (RunFilter(text="my_order"), []),
        (RunFilter(text="\\"), []),
        (RunFilter(text=f"{2:032x}"), [2]),
    ],
)
def test_a_filter_finds_exactly_what_it_says(
    store: Store, condition: RunFilter, expected: list[int]
) -> None:
    write(
        store,
        make_run(1, agent_name="desk", agent_version="v1", environment="prod", models=("gpt",),
                 business_keys={"order_id": "A-1"}, input="Please refund MY order",
                 error_types=("Timeout",)),
        make_run(2, agent_name="desk", agent_version="v2", status=RunStatus.ERROR,
                 error_type="Timeout", error_types=("Other", "Timeout"), tools=("refund", "x"),
                 output="an éclair"),
        make_run(3, agent_name="coder", state=RunState.OPEN, conversation_id="c1",
                 error_type="RootOnly"),
        make_run(4, origin=Origin.SHADOW),
    )  # fmt: skip
    reader = Reader(store)
    assert [run.started_at - START for run in reader.runs(condition, limit=9)] == expected
    assert reader.count(condition) == len(expected)


def test_each_facet_leaves_out_its_own_condition(store: Store) -> None:
    write(
        store,
        make_run(1, agent_name="desk", status=RunStatus.OK, models=("a", "b")),
        make_run(2, agent_name="desk", status=RunStatus.ERROR, error_types=("E",), error_type="E"),
        make_run(3, agent_name="coder", status=RunStatus.ERROR, error_type="RootOnly"),
        make_run(4),
    )
    found = Reader(store).facets(RunFilter(status=RunStatus.ERROR), limit=5)
    assert found["status"] == [
        FacetCount(value="error", runs=2), FacetCount(value="ok", runs=2),
    ]  # fmt: skip
    assert found["agent"] == [
        FacetCount(value="coder", runs=1), FacetCount(value="desk", runs=1),
    ]  # fmt: skip
    assert found["error_type"] == [
        FacetCount(value="E", runs=1), FacetCount(value="RootOnly", runs=1),
    ]  # fmt: skip
    assert found["model"] == []
    everything = Reader(store).facets(RunFilter(), limit=1)
    assert everything["agent"] == [FacetCount(value="desk", runs=2)]
    assert everything["model"] == [FacetCount(value="a", runs=1)]


def test_figures_are_exact_and_nothing_is_not_zero(store: Store) -> None:
    first = [
        make_run(n, duration_ns=n * 100, cost_usd=0.1, input_tokens=10, agent_version="v1")
        for n in range(1, 21)
    ]
    second = [
        make_run(HOUR + 1, status=RunStatus.ERROR, state=RunState.OPEN, unpriced_calls=2),
        make_run(HOUR + 2, status=RunStatus.UNKNOWN, duration_ns=7, cached_tokens=0),
    ]
    write(store, *first, *second)
    reader = Reader(store)
    hours = reader.figures(RunFilter(), width_ns=HOUR, versions=9).points
    assert hours == [
        RunBucket(
            start=Nanos(START), runs=20, errors=0, unknown=0, open=0, cost_usd=2.0,
            costed=20, p50_ns=1000, p95_ns=1900, input_tokens=200, tokened=20,
        ),
        RunBucket(
            start=Nanos(START + HOUR), runs=2, errors=1, unknown=1, open=1, unpriced_calls=2,
            p50_ns=7, p95_ns=7, cached_tokens=0,
        ),
    ]  # fmt: skip
    total = reader.totals(RunFilter(since=Nanos(START)))
    assert (total.start, total.runs, total.cost_usd) == (START, 22, 2.0)
    assert reader.totals(RunFilter(agent="nobody", since=Nanos(5))) == RunBucket(
        start=Nanos(5), runs=0, errors=0, unknown=0, open=0
    )


def test_agents_that_call_their_versions_the_same_are_not_added_up(store: Store) -> None:
    write(
        store,
        make_run(1, agent_name="desk", agent_version="1", cost_usd=1.0),
        make_run(2, agent_name="desk", agent_version="1", cost_usd=2.0),
        make_run(3, agent_name="coder", agent_version="1", status=RunStatus.ERROR),
        make_run(4, agent_name="desk", agent_version="2"),
        make_run(5, agent_name="desk"),
    )
    reader = Reader(store)
    found = reader.figures(RunFilter(), width_ns=HOUR, versions=9).versions
    assert [(one.agent, one.version, one.runs, one.errors, one.cost_usd) for one in found] == [
        ("desk", "1", 2, 0, 3.0), ("coder", "1", 1, 1, None), ("desk", "2", 1, 0, None),
    ]  # fmt: skip
    whole = reader.figures(RunFilter(), width_ns=HOUR, versions=1)
    assert len(whole.versions) == 1
    assert whole.total == reader.totals(RunFilter())
    assert whole.total.runs == sum(point.runs for point in whole.points) == 5
    nothing = reader.figures(RunFilter(agent="nobody"), width_ns=HOUR, versions=9)
    assert (nothing.total.runs, nothing.points, nothing.versions) == (0, [], [])


def test_totals_hold_every_run_once_however_far_off_it_starts(store: Store) -> None:
    last = 2**63 - 1 - START  # what later times are stored as
    write(store, make_run(1), make_run(2**62 - START), make_run(2**62 + 1), make_run(last))
    total = Reader(store).totals(RunFilter())
    assert (total.start, total.runs) == (0, 4)
    assert Reader(store).count(RunFilter()) == 4


def test_a_version_first_seen_at_the_end_of_time_is_a_deploy(store: Store) -> None:
    last = 2**63 - 1 - START
    write(store, make_run(last, agent_name="desk", agent_version="v1"))
    assert [deploy.version for deploy in Reader(store).deploys(RunFilter())] == ["v1"]


def test_sums_of_tokens_do_not_wrap_around(store: Store) -> None:
    write(store, *[make_run(n, input_tokens=2**63, output_tokens=10**18) for n in (1, 2, 3)])
    total = Reader(store).totals(RunFilter())
    assert (total.input_tokens, total.cached_tokens) == (2**64 - 1, None)
    assert total.output_tokens == 3 * 10**18


def test_a_deploy_is_the_first_run_of_a_version_ever(store: Store) -> None:
    write(
        store,
        make_run(1, agent_name="desk", agent_version="v1"),
        make_run(5, agent_name="desk", agent_version="v1"),
        make_run(6, agent_name="desk", agent_version="v2", status=RunStatus.ERROR),
        make_run(7, agent_name="desk", agent_version="v2"),
    )
    where = RunFilter(since=Nanos(START + 4), status=RunStatus.OK)
    assert Reader(store).deploys(where) == [Deploy(agent="desk", version="v2", at=Nanos(START + 6))]
    assert len(Reader(store).deploys(RunFilter())) == 2


def test_the_data_version_changes_with_every_write_of_runs(store: Store) -> None:
    reader = Reader(store)
    seen = [reader.data_version()]
    for n in range(3):
        write(store, make_run(n))
        seen.append(reader.data_version())
    assert len(set(seen)) == 4
    assert reader.data_version() == seen[-1]


def test_steps_are_listed_by_start_with_ties_by_span_id(store: Store) -> None:
    run = make_run(1, run_id=RunId("run"), trace_ids=("t" * 32, "u" * 32))
    steps = [
        make_step(1), make_step(2, started_at=Nanos(START)), make_step(0),
        make_step(3, trace_id=TraceId("u" * 32)), make_step(9, run_id=RunId("other")),
    ]  # fmt: skip
    RowWriter(store).steps(steps, folded_at=1)
    reader = Reader(store)
    want = [f"{n:016x}" for n in (0, 2, 1, 3)]
    assert [listed.step.span_id for listed in reader.steps(run, limit=9)] == want
    assert [line.span_id for line in reader.outline(run)] == want
    page = reader.steps(run, limit=2)
    last = page[-1].step
    rest = reader.steps(
        run, limit=9, after=StepPosition(last.started_at, last.span_id, last.trace_id)
    )
    assert [listed.step.span_id for listed in page + rest] == want


def test_the_outline_of_a_step_says_what_the_step_says(store: Store) -> None:
    RowWriter(store).steps([FULL_STEP], folded_at=1)
    run = make_run(1, run_id=RunId("run"), trace_ids=(FULL_STEP.trace_id,))
    (line,) = Reader(store).outline(run)
    assert line == Outline(
        **{name: getattr(FULL_STEP, name) for name in Outline.__dataclass_fields__}
    )


def test_long_texts_are_left_out_of_a_list_and_named(store: Store) -> None:
    long = '"' + "x" * 20_000 + '"'
    RowWriter(store).steps([make_step(1, tool_result=long, tool_arguments="{}")], folded_at=1)
    run = make_run(1, run_id=RunId("run"), trace_ids=("t" * 32,))
    (listed,) = Reader(store).steps(run, limit=9, whole=False)
    assert (listed.step.tool_result, listed.step.tool_arguments) == (None, "{}")
    assert listed.left_out == ["tool_result"]
    (whole,) = Reader(store).steps(run, limit=9)
    assert whole.step.tool_result == long


def test_what_lies_under_a_span_is_found_at_any_depth(store: Store) -> None:
    parents = {1: "", 2: 1, 3: 2, 4: 1, 5: 9, 6: 3}
    steps = [
        make_step(n, parent_span_id=f"{parent:016x}" if parent else "")
        for n, parent in parents.items()
    ]
    RowWriter(store).steps(steps, folded_at=1)
    run = make_run(1, run_id=RunId("run"), trace_ids=("t" * 32,))
    found = Reader(store).steps(run, limit=2, under=f"{2:016x}")
    assert [listed.step.span_id for listed in found] == [f"{3:016x}", f"{6:016x}"]


@pytest.fixture
def sample() -> str:
    if not samples.names():
        pytest.skip(samples.WHY_SKIPPED)
    return "agent-framework-1.23.0-tool"


def by_id(spans: list[Span]) -> dict[tuple[str, str], Span]:
    return {(span.trace_id, span.span_id): _comparable(span) for span in spans}


def _comparable(span: Span) -> Span:
    return replace(span, events=tuple(span.events), links=tuple(span.links))


def test_spans_and_logs_come_back_as_they_were_sent(store: Store, sample: str) -> None:
    for _ in range(2):  # a repeat is one span
        put(store, "traces", samples.trace_request(sample).SerializeToString())
        logs = samples.logs_request(sample)
        assert logs is not None
        put(store, "logs", logs.SerializeToString())
    sent, reader = samples.spans(sample), Reader(store)
    traces = {span.trace_id for span in sent}
    found = reader.spans(traces)
    assert by_id(found) == by_id(sent)
    assert len(found) == len(sent)
    assert reader.span_counts(traces) == {
        trace: sum(span.trace_id == trace for span in sent) for trace in traces
    }
    (one,) = [span for span in sent if span.parent_span_id == ""][:1]
    read = reader.span(one.trace_id, one.span_id)
    assert read is not None
    assert _comparable(read) == _comparable(one)
    assert reader.span(one.trace_id, "0" * 16) is None

    def key(record: LogRecord) -> tuple[object, ...]:
        return (record.time, record.event_name, record.body, sorted(record.attributes.items()))

    read_logs = reader.logs({record.trace_id for record in samples.logs(sample)})
    assert sorted(read_logs, key=key) == sorted(samples.logs(sample), key=key)
    with_span = next(record for record in read_logs if record.span_id)
    assert with_span in reader.span_logs(with_span.trace_id, with_span.span_id)


def test_bodies_are_read_from_the_raw_span(store: Store) -> None:
    if not samples.names():
        pytest.skip(samples.WHY_SKIPPED)
    sample = "anthropic-sdk-2.14.0-content-stream"
    put(store, "traces", samples.trace_request(sample).SerializeToString())
    reader = Reader(store)
    span = next(s for s in samples.spans(sample) if "gen_ai.input.messages" in s.attributes)
    step = make_step(
        1, trace_id=TraceId(span.trace_id), span_id=SpanId(span.span_id), kind=Kind.LLM
    )
    assert reader.bodies(step).input is not None
    assert reader.bodies(make_step(2)) == Bodies()


def test_stored_traces_are_listed_page_by_page_from_a_time_on(store: Store, sample: str) -> None:
    put(
        store,
        "traces",
        *[samples.trace_request(n).SerializeToString() for n in samples.names()[:6]],
    )
    spans = [span for name in samples.names()[:6] for span in samples.spans(name)]
    reader = Reader(store)
    seen: dict[str, Nanos] = {}
    while page := reader.traces_stored(since=Nanos(0), after=max(seen, default=""), limit=2):
        assert not seen.keys() & page.keys()
        seen |= page
    assert set(seen) == {span.trace_id for span in spans}
    late = Nanos(max(span.start for span in spans))
    assert set(reader.traces_stored(since=late, after="", limit=9)) == {
        span.trace_id for span in spans if span.start >= late
    }


def test_the_largest_page_of_steps_is_read_in_one_statement(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make_run(1)
    RowWriter(store).steps(
        [
            Step(
                run_id=one.run_id, trace_id=TraceId(one.trace_ids[0]), span_id=SpanId(f"{n:016x}"),
                started_at=Nanos(START + n), ended_at=Nanos(START + n), duration_ns=0,
            )
            for n in range(600)
        ],
        folded_at=1,
    )  # fmt: skip
    reader, asked = Reader(store), []
    read = store.read
    monkeypatch.setattr(
        store, "read", lambda *a, tag, **k: (asked.append(tag), read(*a, tag=tag, **k))[1]
    )
    page = reader.steps(one, limit=501)
    assert [int(listed.step.span_id, 16) for listed in page] == list(range(501))
    assert asked == ["collector.step_page"]
