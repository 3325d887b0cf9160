"""Metrics, surfaces, links and comparisons over the real engine, from runs judged by hand."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from starlette.datastructures import QueryParams
from starlette.testclient import TestClient

from collector.store import Reader
from collector.views import RunFilter
from gnomon.clock import LAST_MOMENT, Nanos, from_nanos
from gnomon.errors import InputError
from gnomon.http import install_problems
from gnomon.model import Kind, Run, RunState, RunStatus
from gnomon.web.behind import address_of
from gnomon.web.filters import parse
from gnomon.web.port import Judging
from gnomon.web.runs import judged_where
from scoring.acts import acts_of
from scoring.grading.port import GraderKind, State, Surface
from scoring.metrics.reader import Behind, MetricReader, MetricReport, Which
from scoring.metrics.scope import BEHIND_PATH, RUNS_PATH, Link, Scope
from scoring.metrics.watched import CompareSection, MetricsWatched, RuleSection
from scoring.metrics_router import build_router
from scoring.policies.verdict import Held, RuleKind
from scoring.reading import RunJudgments
from scoring.verdict import verdict_row
from scoring.versions.reader import CompareReader
from tests.judged_world import DAY, MONDAY, SECOND, World, seen_first
from tests.row_writer import RowWriter

WATCHED = MetricsWatched(
    slices={"topic": "topic"},
    compare=CompareSection(rule=RuleSection(agent="desk", margin=0.05, n=4)),
)
SCOPE = Scope(agent="desk")
TASKS = Scope(agent="desk", origin=None)


def metrics_of(world: World, scope: Scope = SCOPE, **more: Any) -> MetricReport:
    (report,) = MetricReader(world.store, MetricsWatched(**more)).metrics(scope)
    return report


def test_completion_is_what_was_verified_and_never_what_was_claimed(world: World) -> None:
    world.run(verified=True, claimed=True)
    world.run(verified=False, claimed=True)
    world.run(verified=False, claimed=False)
    world.run(verified=True, claimed=True)
    completion = metrics_of(world).metric("completion")
    assert completion.measure.shown.value == 0.5
    assert completion.measure.shown.n == 4
    false = completion.guard["false_claims"].shown
    assert false.value == pytest.approx(1 / 3)
    assert false.excluded == {"no_claim": 1}


def test_unverified_runs_leave_bounds(world: World) -> None:
    for verified in (True, True, False, None):
        world.run(verified=verified, claimed=None)
    completion = metrics_of(world).metric("completion")
    shown = completion.measure.shown
    assert (shown.value, shown.low, shown.high, shown.open) == (None, 0.5, 0.75, 1)
    assert completion.guard["unverified"].shown.value == 0.25


def test_running_runs_and_infrastructure_are_left_out_and_counted(world: World) -> None:
    world.run()
    world.run(state=RunState.OPEN, settled_at=None)
    world.run(flags=("infra_error",), verified=False)
    shown = metrics_of(world).metric("completion").measure.shown
    assert (shown.value, shown.n, shown.excluded) == (1.0, 1, {"running": 1, "infra_error": 1})


def test_a_run_is_judged_at_its_present_revision_by_the_newest_version_of_a_grader(
    world: World,
) -> None:
    run = world.run(verified=False)
    world.label(run, "state", Surface.OUTCOME, version="2", at=5, passed=True)
    assert metrics_of(world).metric("completion").measure.shown.value == 1.0
    late = Run(**{**{f: getattr(run, f) for f in Run.__dataclass_fields__}, "revision": 2})
    RowWriter(world.store).runs([late], reading="r", folded_at=99)
    shown = metrics_of(world).metric("completion").measure.shown
    assert (shown.value, shown.open) == (None, 1)
    world.label(late, "state", Surface.OUTCOME, version="2", at=9, passed=False)
    assert metrics_of(world).metric("completion").measure.shown.value == 0.0


def test_a_version_that_abstains_leaves_no_old_verdict_standing(world: World) -> None:
    run = world.run(verified=True)
    world.label(run, "state", Surface.OUTCOME, version="2", at=5, state=State.ABSTAINED)
    assert metrics_of(world).metric("completion").measure.shown.open == 1


def test_a_model_verifies_nothing_and_a_person_does_where_no_code_can(world: World) -> None:
    run = world.run(verified=None)
    world.label(run, "judge", Surface.OUTCOME, kind=GraderKind.MODEL, passed=True)
    assert metrics_of(world).metric("completion").measure.shown.open == 1
    world.label(run, "people", Surface.OUTCOME, kind=GraderKind.HUMAN, passed=True)
    assert metrics_of(world).metric("completion").measure.shown.value == 1.0


def test_correctness_counts_only_what_people_examined(world: World) -> None:
    first, second = world.run(verified=True), world.run(verified=True)
    world.run(verified=True)
    world.label(first, "people", Surface.OUTCOME, kind=GraderKind.HUMAN, passed=True)
    world.label(second, "people", Surface.OUTCOME, kind=GraderKind.HUMAN, passed=False)
    correctness = metrics_of(world).metric("correctness")
    assert correctness.measure.shown.value == 0.5
    assert correctness.guard["examined"].shown.value == pytest.approx(2 / 3)


def test_violations_are_counted_once_a_run_and_budgets_apart(world: World) -> None:
    effects, budget = RuleKind.EFFECTS, RuleKind.BUDGET
    world.run(broken="prohibited.0", held=[Held(kind=effects, broken=1)])
    world.run(broken="budgets.usd", held=[Held(kind=budget, broken=1)])
    world.run(held=[Held(kind=budget, kept=1), Held(kind=effects, kept=2)])
    world.run(held=[Held(kind=budget, kept=1)])
    found = metrics_of(world)
    over = found.metric("completion").guard["over_budget"].shown
    assert (over.value, over.n) == (pytest.approx(1 / 3), 3)
    assert found.metric("human_intervention").guard["violations"].shown.value == 0.5
    twice = found.metric("recovery").guard["duplicates"].shown
    assert (twice.value, twice.n, twice.excluded) == (0.5, 2, {"no_effects_counted": 2})


def test_latency_and_cost_come_from_the_runs(world: World) -> None:
    for seconds in (5, 8, 12, 20):
        world.run(duration_ns=seconds * SECOND)
    for _ in range(3):
        world.run(duration_ns=60 * SECOND, status=RunStatus.ERROR, verified=False)
    found = metrics_of(world)
    latency = found.metric("latency")
    assert latency.measure.shown.value == 8.0
    assert latency.guard["median_with_aborted"].shown.value == 20.0
    assert found.metric("cost").measure.shown.value == pytest.approx(7 * 0.5 / 4)
    assert found.three.aborted.shown.value == pytest.approx(3 / 7)


def test_steps_tell_repeats_missing_usage_and_what_people_did(world: World) -> None:
    run = world.run()
    world.step(run, 1, Kind.TOOL, tool_name="get", tool_arguments='{"a":1}')
    world.step(run, 2, Kind.TOOL, tool_name="get", tool_arguments='{"a":1}')
    world.step(run, 3, Kind.TOOL, tool_name="get", tool_arguments='{"a":2}')
    world.step(run, 4, Kind.LLM, input_tokens=100, output_tokens=10)
    world.step(run, 5, Kind.LLM)
    world.step(run, 6, Kind.HUMAN, decision="rejected", duration_ns=4 * SECOND)
    world.step(run, 7, Kind.HUMAN, decision="approve", duration_ns=6 * SECOND)
    world.step(run, 8, Kind.TOOL, decision="accept", decision_source="config")
    found = metrics_of(world)
    assert found.metric("tool_use").guard["repeats"].shown.value == pytest.approx(1 / 3)
    assert found.metric("model_calls").guard["p90_tokens_per_call"].shown.value == 110
    assert "partial" in found.metric("cost").measure.shown.flags
    human = found.metric("human_intervention")
    assert human.measure.shown.value == 1.0
    assert human.guard["override_rate"].shown.value == 0.5
    assert human.guard["planned_approvals"].shown.value == 1
    assert human.guard["automatic_approvals"].shown.value == 1
    assert human.guard["median_decision_time"].shown.value == 4.0
    assert "people_not_priced" in found.metric("cost").measure.shown.flags
    priced = metrics_of(world, metrics={"people_usd_per_minute": 6.0})
    assert priced.metric("cost").measure.shown.value == pytest.approx(0.5 + 10 / 60 * 6.0)


def test_people_s_minutes_are_in_every_number_of_the_cost(world: World) -> None:
    """Four minutes at $0.75 are $3; of four solved runs two waited, one of them without any model call."""
    waits = [world.run(), world.run(cost_usd=None, llm_calls=0, usage_source=None)]
    world.run()
    world.run()
    for run in waits:
        world.step(run, 1, Kind.HUMAN, decision="approve", duration_ns=240 * SECOND)
    cost = metrics_of(world, metrics={"people_usd_per_minute": 0.75}).metric("cost")
    assert cost.measure.shown.value == pytest.approx((3.5 + 3.0 + 0.5 + 0.5) / 4)
    found = {name: cost.guard[name].shown for name in ("max", "p90", "cost_per_run")}
    assert found["max"].value == pytest.approx(3.5)
    assert found["p90"].value == pytest.approx(3.5)
    assert found["cost_per_run"].value == cost.measure.shown.value
    assert {name: shown.n for name, shown in found.items()} == dict.fromkeys(found, 4)
    reader = MetricReader(world.store, MetricsWatched(metrics={"people_usd_per_minute": 0.75}))
    assert len(reader.behind(SCOPE, Which(part="priced"), limit=9)) == 4
    unpaid = metrics_of(world).metric("cost")
    assert unpaid.guard["max"].shown.value == 0.5
    for figure in (unpaid.measure, unpaid.guard["max"], unpaid.guard["cost_per_run"]):
        assert "people_not_priced" in figure.shown.flags


def test_a_call_without_a_price_is_told_wherever_money_is(world: World) -> None:
    world.run()
    run = world.run(unpriced_calls=1)
    for number in range(1, 41):
        world.step(run, number, Kind.LLM, input_tokens=1, output_tokens=1)
    cost = metrics_of(world).metric("cost")
    (pulse,) = MetricReader(world.store, MetricsWatched()).pulse(SCOPE)
    (report,) = MetricReader(world.store, MetricsWatched()).surfaces(SCOPE)
    operations = next(one for one in report.surfaces if one.name == "operations")
    for figure in (
        cost.measure,
        cost.guard["max"],
        cost.guard["cost_per_run"],
        pulse.three.cost_per_success,
        operations.figures["cost_per_run"],
    ):
        assert figure.shown.value == 0.5
        assert "lower_bound" in figure.shown.flags


def test_planned_approvals_are_told_for_each_action_that_needed_one(world: World) -> None:
    run = world.run(held=[Held(kind=RuleKind.GATE, kept=3, broken=1)])
    world.step(run, 1, Kind.HUMAN, decision="approve", duration_ns=6 * SECOND)
    planned = metrics_of(world).metric("human_intervention").guard["planned_approvals"]
    assert planned.shown.value == 1
    assert planned.text == "for 4 actions that needed one: 0.25 each"


def test_customers_are_the_units_where_the_configuration_names_them(world: World) -> None:
    for customer, verified in (("a", True), ("a", True), ("a", True), ("b", False), ("b", False)):
        world.run(verified=verified, keys={"customer_id": customer})
    world.run(verified=True)
    shown = metrics_of(world, cluster_by="customer_id").metric("completion").measure.shown
    assert (shown.n, shown.unit, shown.method) == (3, "customer_id", "korn-graubard")
    assert shown.value == pytest.approx(4 / 6)
    assert "runs_without_customer_id" in shown.flags
    plain = metrics_of(world).metric("completion").measure.shown
    assert (plain.n, plain.unit) == (6, "run")
    assert plain.low is not None
    assert shown.low is not None
    assert shown.low < plain.low


TRIED = CompareSection(task="task_id")


@pytest.mark.parametrize("cluster_by", [None, "customer_id"])
def test_completion_is_the_mean_of_the_tasks_where_their_runs_repeat(
    world: World, cluster_by: str | None
) -> None:
    """Task a: 9 of 9, task b: 0 of 1. Half of the tasks, not 9 of 10; a cluster nobody names changes nothing."""
    for _ in range(9):
        world.run(verified=True, keys={"task_id": "a"})
    world.run(verified=False, keys={"task_id": "b"})
    reader = MetricReader(world.store, MetricsWatched(cluster_by=cluster_by, compare=TRIED))
    (report,), (seven,), (pulse,) = reader.metrics(SCOPE), reader.surfaces(SCOPE), reader.pulse(SCOPE)  # fmt: skip
    (day,) = reader.beats(SCOPE, width_ns=DAY)
    outcome = next(one.figures for one in seven.surfaces if one.name == "outcome")
    figures = [
        report.metric("completion").measure,
        report.metric("latency").guard["completion"],
        report.three.solution_rate,
        outcome["completion"],
        outcome["grader state"],
        pulse.pass_rate.measure,
        day.pass_rate,
    ]
    for figure in figures:
        shown = figure.shown
        assert (shown.value, shown.n, shown.unit) == (0.5, 2, "task_id")
        assert shown.method == "mean of tasks, korn-graubard"
        assert "each task_id counts once; of all runs 9 of 10" in figure.text
        assert figure.link is not None
        assert figure.hits is not None
        assert (figure.link.runs, figure.hits.runs) == (10, 9)
    assert (day.least.shown.value, day.most.shown.value, day.course["completion"]) == (0.5,) * 3
    aborted = report.three.aborted.shown
    assert aborted.value == 0.0, "what is of runs stays of runs"
    flag = "runs_without_customer_id"
    assert (flag in figures[0].shown.flags) is (cluster_by is not None)


def test_open_runs_of_a_task_are_bounds_of_its_own_share(world: World) -> None:
    for verified in (True, True, None, False):
        world.run(verified=verified, keys={"task_id": "a"})
    world.run(verified=False, keys={"task_id": "b"})
    completion = metrics_of(world, compare=TRIED).metric("completion").measure
    shown = completion.shown
    # a: from 2/4 to 3/4; b: 0. Their means.
    assert (shown.value, shown.low, shown.high, shown.open) == (None, 0.25, 0.375, 1)
    assert completion.text.startswith("1 of 5 runs are not verified")


def test_customers_stay_a_ratio_beside_tasks(world: World) -> None:
    for customer, verified in (("a", True), ("a", True), ("a", True), ("b", False)):
        world.run(verified=verified, keys={"customer_id": customer, "task_id": f"t{customer}"})
    watched = {"cluster_by": "customer_id", "compare": TRIED}
    shown = metrics_of(world, **watched).metric("completion").measure.shown
    assert (shown.value, shown.n, shown.unit) == (0.75, 2, "customer_id")
    keyed = metrics_of(world, cluster_by="task_id").metric("completion").measure.shown
    assert (keyed.value, keyed.n, keyed.unit) == (0.5, 2, "task_id")


def test_incomplete_traces_are_not_enough_data(world: World) -> None:
    world.run()
    world.run(complete=False)
    completion = metrics_of(world).metric("completion")
    assert completion.measure.shown.value is None
    assert "not_enough_data" in completion.measure.shown.flags


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("version", {"rc3": 2, "rc4": 1}),
        ("environment", {"prod": 3}),
        ("slice:topic", {"damaged": 2, "": 1}),
        ("week", {"2008-05-05T00:00:00.000000000Z": 2, "2008-05-12T00:00:00.000000000Z": 1}),
        ("day", {"2008-05-05T00:00:00.000000000Z": 2, "2008-05-12T00:00:00.000000000Z": 1}),
    ],
)
def test_runs_can_be_grouped(world: World, by: str, groups: dict[str, int]) -> None:
    world.run(keys={"topic": "damaged"})
    world.run(keys={"topic": "damaged"}, agent_version="rc4")
    world.run(later=7 * DAY)
    reader = MetricReader(world.store, WATCHED)
    assert {report.group: report.runs for report in reader.metrics(SCOPE, by=by)} == groups
    assert {report.group: report.runs for report in reader.surfaces(SCOPE, by=by)} == groups


def listed(world: World, link: Link) -> int:
    """Count the runs that an address lists, by the functions its route calls."""
    query = dict(link.query)
    scope = Scope(
        agent=str(query["agent"]) if "agent" in query else None,
        version=str(query["version"]) if "version" in query else None,
        environment=str(query["environment"]) if "environment" in query else None,
        slices=dict(str(pair).split(":", 1) for pair in query.get("slice", ())),
    )
    if link.path == RUNS_PATH:
        where = RunFilter(
            agent=scope.agent, version=scope.version, environment=scope.environment,
            business_keys=dict(str(pair).split(":", 1) for pair in query.get("key", ())),
            state=RunState(str(query["state"])),
        )  # fmt: skip
        return Reader(world.store).count(where)
    assert link.path == BEHIND_PATH
    which = Which(
        part=str(query.get("part", "scoped")), grader=str(query.get("grader", "")),
        verdict=str(query.get("verdict", "any")), rule=str(query.get("rule", "")),
    )  # fmt: skip
    return len(MetricReader(world.store, WATCHED).behind(scope, which, limit=500))


@pytest.mark.parametrize(
    ("by", "infra"),
    [("", True), ("version", False), ("environment", False), ("slice:topic", True)],
)
def test_promise_12_every_number_links_to_exactly_the_runs_behind_it(
    world: World, by: str, infra: bool
) -> None:
    world.run(verified=True, claimed=True, keys={"topic": "damaged"})
    world.run(verified=False, claimed=True, broken="prohibited.0")
    world.run(verified=None, agent_version="rc4", status=RunStatus.ERROR, cost_usd=None)
    world.run(verified=True, agent_version=None, environment="", keys={"topic": "late"})
    world.run(state=RunState.OPEN, settled_at=None)
    if infra:
        world.run(flags=("infra_error",))
    person = world.run(verified=True)
    world.label(person, "people", Surface.OUTCOME, kind=GraderKind.HUMAN, passed=True)
    reader = MetricReader(world.store, WATCHED)
    figures = [
        figure
        for report in reader.metrics(SCOPE, by=by)
        for metric in report.metrics
        for figure in (metric.measure, *metric.guard.values(), *metric.beside.values())
    ]
    figures += [
        figure
        for report in reader.surfaces(SCOPE, by=by)
        for surface in report.surfaces
        for figure in surface.figures.values()
    ]
    links = {
        (link.path, str(link.query)): link
        for figure in figures
        for link in (figure.link, figure.hits)
        if link is not None
    }
    assert len(links) > 25
    for link in links.values():
        assert listed(world, link) == link.runs, link


def test_promise_12_tool_use_links_to_the_solved_runs_on_the_common_tasks(
    world: World, client: TestClient
) -> None:
    """Both solved t1; only rc4 solved t2 (rc3 of another agent did) and a run without a task."""
    for task in ("t1", "t1", "t2"):
        world.run(agent_version="rc4", keys={"task_id": task, "topic": "late"})
    world.run(agent_version="rc4", verified=False, keys={"task_id": "t1", "topic": "late"})
    world.run(agent_version="rc4", keys={"topic": "late"})
    world.run(keys={"task_id": "t1", "topic": "late"})
    world.run(verified=False, keys={"task_id": "t2", "topic": "late"})
    world.run(keys={"task_id": "t2", "topic": "late"}, agent_name="other")
    world.run(keys={"task_id": "t2"})
    reader = MetricReader(world.store, WATCHED)
    scope = replace(SCOPE, slices={"topic": "late"})
    found = {one.group: one.metric("tool_use") for one in reader.metrics(scope, by="version")}
    figures = [
        (found["rc4"].measure, 1, 2),
        (found["rc4"].beside["less_other_version"], 1, 2),
        (found["rc4"].beside["naive_mean"], 3, 3),
        (found["rc3"].measure, 1, 1),
    ]
    for figure, n, runs in figures:
        link = figure.link
        assert link is not None
        assert (figure.shown.n, link.runs) == (n, runs)
        items = client.get(link.path, params=dict(link.query)).json()["items"]
        assert len(items) == runs
        page = parse(QueryParams(urlsplit(address_of(link, WATCHED.slices)).query))
        judging = cast("Judging", SimpleNamespace(metrics=reader))
        where = judged_where(page, Nanos(MONDAY + DAY), judging)
        assert Reader(world.store).count(where) == runs
    among = reader.among(scope, Which(part="verified", common="rc4"))
    assert Reader(world.store).count(RunFilter(among=among, version="rc3")) == 1


def test_the_list_behind_a_number_can_be_turned_page_by_page(world: World) -> None:
    ids = [world.run().run_id for _ in range(5)]
    reader = MetricReader(world.store, WATCHED)
    first = reader.behind(SCOPE, Which(part="verified"), limit=2)
    assert [run.run_id for run in first] == ids[:-3:-1]
    second = reader.behind(SCOPE, Which(part="verified"), limit=9, before=first[-1])
    assert [run.run_id for run in second] == ids[2::-1]
    assert isinstance(first[0], Behind)


@pytest.mark.parametrize(
    ("by", "group"),
    [
        ("", ""),
        ("week", "2262-04-07T00:00:00.000000000Z"),
        ("day", "2262-04-11T00:00:00.000000000Z"),
        (f"width:{DAY}", str(LAST_MOMENT // DAY * DAY)),
    ],
)
def test_a_run_of_the_last_moment_there_is_lies_behind_its_number(
    world: World, client: TestClient, by: str, group: str
) -> None:
    run = world.run(later=LAST_MOMENT - MONDAY - SECOND)
    assert run.started_at == LAST_MOMENT
    reader = MetricReader(world.store, WATCHED)
    (report,) = reader.metrics(SCOPE, by=by)
    assert (report.group, report.runs) == (group, 1)
    hits = report.metric("completion").measure.hits
    assert hits is not None
    (found,) = client.get(hits.path, params=dict(hits.query)).json()["items"]
    assert found["run_id"] == run.run_id
    among = reader.among(SCOPE, Which())
    assert Reader(world.store).count(RunFilter(among=among)) == 1


def test_surfaces_name_graders_rules_and_what_was_left_out(world: World) -> None:
    world.run(broken="prohibited.0")
    run = world.run()
    world.label(run, "citations", Surface.FACTUALITY, state=State.ABSTAINED)
    (report,) = MetricReader(world.store, WATCHED).surfaces(SCOPE)
    surfaces = {surface.name: surface.figures for surface in report.surfaces}
    assert surfaces["policy"]["rule refunds/prohibited.0"].shown.value == 0.5
    assert surfaces["policy"]["grader refunds"].shown.value == 0.5
    assert surfaces["factuality"]["grader citations"].shown.excluded == {"abstained": 1}
    assert surfaces["outcome"]["grader state"].shown.value == 1.0


def test_the_share_of_a_rule_is_of_runs_whatever_they_come_in(world: World) -> None:
    """Three customers with 5, 2 and 1 judged runs, of which 2, 1 and 0 broke it."""
    for customer, runs, broken in (("c1", 5, 2), ("c2", 2, 1), ("c3", 1, 0)):
        for number in range(runs):
            breaks = "prohibited.0" if number < broken else ""
            world.run(broken=breaks, keys={"customer_id": customer})
    for watched, unit, n in ((MetricsWatched(), "run", 8), (MetricsWatched(cluster_by="customer_id"), "customer_id", 3)):  # fmt: skip
        (report,) = MetricReader(world.store, watched).surfaces(SCOPE)
        policy = next(one.figures for one in report.surfaces if one.name == "policy")
        figure, grader = policy["rule refunds/prohibited.0"], policy["grader refunds"]
        assert (figure.shown.value, figure.shown.n, figure.shown.unit) == (3 / 8, n, unit)
        assert figure.link is not None
        assert figure.hits is not None
        assert (figure.link.runs, figure.hits.runs) == (8, 3)
        # It is the only rule: its limits are those of its policy's passes, turned over.
        assert figure.shown.low == pytest.approx(1 - grader.shown.high)
        assert figure.shown.high == pytest.approx(1 - grader.shown.low)


@pytest.mark.parametrize("cluster_by", [None, "customer_id"])
def test_a_breach_without_a_verdict_of_pass_is_one_of_a_judged_run(
    world: World, cluster_by: str | None
) -> None:
    """Of 12 runs the plug-in passes 3, and finds a breach in 9 of which it says no more."""
    for number in range(12):
        run = world.run(judged=False, keys={"customer_id": f"c{number % 5}"})
        found = number % 4 > 0
        passed = None if found else True
        if found:
            world.breach(run, "own", "r1")
        world.label(run, "own", Surface.POLICY, violations=found, passed=passed)
    reader = MetricReader(world.store, MetricsWatched(cluster_by=cluster_by))
    (report,) = reader.surfaces(SCOPE)
    figures = next(one.figures for one in report.surfaces if one.name == "policy")
    (rule,) = reader.rules(SCOPE, [])
    for figure in (figures["rule own/r1"], rule.share):
        assert figure.shown.value == 9 / 12
        assert figure.shown.n == (12 if cluster_by is None else 5)
        for link, runs in ((figure.link, 12), (figure.hits, 9)):
            assert link is not None
            assert (link.runs, listed(world, link)) == (runs, runs)
    assert figures["grader own"].shown.value == 1.0, "of the runs that it says pass or fail of"
    assert figures["grader own"].shown.excluded == {"no_verdict": 9}
    assert figures["violations"].shown.value == 9 / 12


def test_a_rule_is_read_against_all_runs_of_its_policy_though_its_surface_changed(
    world: World,
) -> None:
    for number, surface in enumerate([Surface.TRAJECTORY] * 3 + [Surface.POLICY]):
        run = world.run(judged=False)
        if number:
            world.breach(run, "own", "r1")
        world.label(run, "own", surface, violations=number > 0, passed=number == 0)
    (report,) = MetricReader(world.store, WATCHED).surfaces(SCOPE)
    figures = next(one.figures for one in report.surfaces if one.name == "policy")
    share = figures["rule own/r1"]
    assert share.shown.value == 3 / 4
    for link, runs in ((share.link, 4), (share.hits, 3)):
        assert link is not None
        assert (link.runs, listed(world, link)) == (runs, runs)


def test_a_stored_breach_of_which_no_grader_tells_is_counted_and_ends_no_page(
    world: World,
) -> None:
    run = world.run(judged=False)
    row = verdict_row(run, RunJudgments(), acts_of(()), at=MONDAY)
    odd = replace(row, policies=["ghost", "ghost"], rules=["r1", "r1"], severities=["hard", "hard"])
    world.store.insert("verdicts", [odd])
    reader = MetricReader(world.store, WATCHED)
    (report,) = reader.surfaces(SCOPE)
    figures = next(one.figures for one in report.surfaces if one.name == "policy")
    (rule,) = reader.rules(SCOPE, [])
    assert figures["rule ghost/r1"].shown.value == rule.share.shown.value == 1.0


def test_tool_use_compares_the_tasks_both_versions_solved(world: World) -> None:
    for task, version, calls, verified in (
        ("easy", "rc3", 9, True),
        ("middling", "rc3", 9, True),
        ("hard", "rc3", 30, False),
        ("easy", "rc4", 8, True),
        ("middling", "rc4", 8, True),
        ("hard", "rc4", 40, True),
    ):
        world.run(
            verified=verified, agent_version=version, tool_calls=calls, keys={"task_id": task}
        )
    reports = MetricReader(world.store, WATCHED).metrics(SCOPE, by="version")
    old, new = (report.metric("tool_use") for report in reports)
    assert (old.measure.shown.value, new.measure.shown.value) == (9.0, 8.0)
    assert new.beside["naive_mean"].shown.value == pytest.approx(56 / 3)
    assert new.beside["less_other_version"].shown.value == -1.0


def pair(world: World, task: str, old: bool | None, new: bool | None, **more: Any) -> None:
    keys = {"task_id": task, "topic": "damaged" if task < "t3" else "late"}
    world.run(verified=old, keys=keys, **more)
    world.run(verified=new, keys=keys, agent_version="rc4", **more)


def compare(world: World, watched: MetricsWatched = WATCHED) -> CompareReader:
    """Return a reader of a process that started before anybody ran."""
    reader = CompareReader(world.store, MetricReader(world.store, watched))
    if reader.plan is not None:
        seen_first(world.store, reader.plan)
    return reader


def test_the_same_tasks_are_compared_and_changed_ones_come_with_their_runs(world: World) -> None:
    for task, old, new in (("t1", False, True), ("t2", True, False), ("t3", True, True), ("t4", False, True)):  # fmt: skip
        pair(world, task, old, new, manifest={"policy": "p"})
    found = compare(world).on_tasks(TASKS, base="rc3", cand="rc4")
    shown = found.comparison.difference
    assert (shown.n, shown.better, shown.same, shown.worse) == (4, 2, 1, 1)
    assert shown.value == 0.25
    assert {task.task: task.word for task in found.comparison.changed} == {
        "t1": "fixed", "t2": "broke", "t4": "fixed",
    }  # fmt: skip
    first = next(task for task in found.comparison.changed if task.task == "t1")
    assert (first.base.run_ids, first.cand.run_ids) == (("run-001",), ("run-002",))
    assert found.ruling.decision.verdict == "FAIL"
    assert len(found.ruling.digest) == 12
    assert found.setting.runs == {"rc3": 4, "rc4": 4}
    assert found.setting.manifests.changed == []
    for version, link in found.setting.links.items():
        assert listed(world, link) == found.setting.runs[version]


def test_live_versions_are_compared_in_the_weeks_both_have(world: World) -> None:
    for topic, old, new in (("damaged", False, True), ("damaged", True, True), ("late", True, True)):  # fmt: skip
        world.run(verified=old, keys={"topic": topic})
        world.run(verified=new, keys={"topic": topic}, agent_version="rc4")
    world.run(verified=False, later=14 * DAY)
    found = compare(world).live(SCOPE, base="rc3", cand="rc4")
    assert found.difference.value == pytest.approx(1 / 3)
    assert found.difference.excluded == {"weeks_of_base_only": 1}
    assert found.weeks == 1
    assert found.mix is not None
    assert found.mix.effects.mix == 0
    assert found.mix.effects.rate == pytest.approx(1 / 3)
    assert found.ruling.decision.reason == "the rule is about completion on tasks"


def test_customers_served_by_both_versions_are_the_units_of_a_live_comparison(
    world: World,
) -> None:
    for customer, old, new in (("a", True, True), ("b", False, True), ("c", True, False), ("d", False, True)):  # fmt: skip
        world.run(verified=old, keys={"customer_id": customer})
        world.run(verified=new, agent_version="rc4", keys={"customer_id": customer})
    watched = MetricsWatched(cluster_by="customer_id")
    found = compare(world, watched).live(SCOPE, base="rc3", cand="rc4").difference
    assert (found.n, found.unit, found.value) == (4, "customer_id", 0.25)
    assert found.method == "wider of newcombe and clusters"
    # By hand: differences 0, 1, -1, 1; mean .25, sd .957; t(3) 3.182: .25 ± 1.52, clipped.
    assert (found.low, found.high) == (-1.0, 1.0)


def test_undecided_runs_of_customers_leave_bounds(world: World) -> None:
    for customer, old, new in (("a", True, True), ("b", None, True), ("c", True, None)):
        world.run(verified=old, keys={"customer_id": customer})
        world.run(verified=new, agent_version="rc4", keys={"customer_id": customer})
    watched = MetricsWatched(cluster_by="customer_id")
    found = compare(world, watched).live(SCOPE, base="rc3", cand="rc4").difference
    assert (found.value, found.open) == (None, 2)


def test_more_than_one_changed_pin_and_other_graders_are_told(world: World) -> None:
    world.run(manifest={"model": "a", "prompt": "7"})
    new = world.run(manifest={"model": "b", "prompt": "8"}, agent_version="rc4", verified=None)
    world.label(new, "state", Surface.OUTCOME, version="2", passed=True)
    found = compare(world).live(SCOPE, base="rc3", cand="rc4")
    pins, judges = found.setting.warnings
    assert pins.startswith("2 pins changed at once (model, prompt)")
    assert "state 1 and state 2" in judges


def test_a_comparison_that_can_not_be_made_says_why(world: World) -> None:
    world.run()
    reader = compare(world)
    assert (
        reader.on_tasks(TASKS, base="rc3", cand="rc9").text == "no settled run of rc9 in this scope"
    )
    world.run(agent_version="rc4")
    assert "no run names its task" in reader.on_tasks(TASKS, base="rc3", cand="rc4").text
    with pytest.raises(InputError, match="name two versions"):
        reader.live(SCOPE, base="rc3", cand="rc3")
    with pytest.raises(InputError, match="no slice"):
        reader.live(Scope(slices={"colour": "red"}), base="rc3", cand="rc4")


@pytest.fixture
def client(world: World) -> TestClient:
    app = FastAPI()
    install_problems(app)
    metrics = MetricReader(world.store, WATCHED)
    now = from_nanos(Nanos(MONDAY + DAY))
    app.include_router(build_router(metrics, compare(world), clock=lambda: now))
    return TestClient(app)


def test_the_api_gives_a_metric_only_with_its_guard(world: World, client: TestClient) -> None:
    pair(world, "t1", False, True)
    answer = client.get("/v1/metrics", params={"agent": "desk", "by": "version", "since": "7d"})
    assert answer.status_code == 200
    groups = answer.json()["groups"]
    assert [group["group"] for group in groups] == ["rc3", "rc4"]
    for group in groups:
        assert len(group["metrics"]) == 9
        assert all(metric["guard"] for metric in group["metrics"].values())
        assert set(group["three"]) > {"solution_rate", "cost_per_success", "aborted"}
    link = groups[0]["metrics"]["completion"]["hits"]
    assert client.get(link["path"], params=link["query"]).json() == {"items": [], "next": None}
    link = groups[1]["metrics"]["completion"]["hits"]
    assert len(client.get(link["path"], params=link["query"]).json()["items"]) == link["runs"] == 1
    surfaces = client.get("/v1/surfaces").json()["groups"][0]["surfaces"]
    assert len(surfaces) == 7


def test_the_api_lists_runs_behind_a_number_page_by_page(world: World, client: TestClient) -> None:
    ids = [world.run().run_id for _ in range(3)]
    first = client.get("/v1/metrics/runs", params={"part": "verified", "limit": 2}).json()
    rest = client.get(
        "/v1/metrics/runs", params={"part": "verified", "cursor": first["next"]}
    ).json()
    assert [run["run_id"] for run in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next"] is None


def test_the_api_compares_and_says_no_with_a_mend(world: World, client: TestClient) -> None:
    pair(world, "t1", False, True)
    versions = {"base": "rc3", "cand": "rc4"}
    tasks = client.get("/v1/compare/tasks", params=versions).json()
    assert (tasks["fixed"], tasks["same"], tasks["broke"]) == (1, 0, 0)
    assert tasks["ruling"]["verdict"] == "NOT ENOUGH DATA"
    assert tasks["ruling"]["missing"] == 3
    assert len(tasks["ruling"]["hash"]) == 12
    live = client.get("/v1/compare/live", params={**versions, "mix": "topic"}).json()
    assert (live["difference"]["value"], live["at_shared_tasks"]) == (None, 2)
    assert "same_tasks" in live["difference"]["flags"]
    wrong = client.get("/v1/metrics", params={"by": "colour"})
    assert wrong.status_code == 400
    assert "slice:topic" in wrong.json()["detail"]
    assert client.get("/v1/metrics", params={"slice": "topic"}).status_code == 400


def test_nothing_is_said_of_people_gates_and_budgets_that_nobody_has(world: World) -> None:
    world.run()
    world.label(world.run(), "convergence", Surface.EFFICIENCY, passed=True)
    report = metrics_of(world)
    human = report.metric("human_intervention")
    figures = {
        "intervention": human.measure,
        **human.guard,
        "waiting": report.metric("latency").beside["waiting_for_people"],
        "over_budget": report.metric("completion").guard["over_budget"],
        "required_checks": report.metric("tool_use").guard["required_checks"],
        "duplicates": report.metric("recovery").guard["duplicates"],
    }
    del figures["violations"], figures["trace_completeness"]
    for name, figure in figures.items():
        assert figure.shown.value is None, name
        assert figure.text, name
        assert figure.shown.low in (None, 0.0), name
    assert human.guard["violations"].shown.value == 0.0, "that somebody looked for"


def test_incomplete_traces_leave_no_number_on_the_first_page_and_no_rule(world: World) -> None:
    world.run(broken="prohibited.0")
    world.run(complete=False)
    reader = MetricReader(world.store, MetricsWatched())
    (found,) = reader.pulse(SCOPE)
    shares = [found.pass_rate.measure, found.unknown_share, found.violations, found.false_claims]
    shares += [found.three.solution_rate, found.three.aborted, found.three.cost_per_success]
    (rule,) = reader.rules(SCOPE, [])
    for figure in (*shares, rule.share):
        assert figure.shown.value is None
        assert "not_enough_data" in figure.shown.flags
    assert found.pass_rate.guard["trace_completeness"].shown.value == 0.5
