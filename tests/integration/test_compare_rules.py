"""Rules and looks over the real engine: written before, looked at once, never tested again."""

import datetime as dt
from typing import Any

import pytest

from gnomon.clock import Nanos, from_nanos
from gnomon.model import Origin, RunState
from gnomon.store import Store
from scoring.grading.port import Surface
from scoring.jobs import Jobs
from scoring.metrics.reader import MetricReader
from scoring.metrics.scope import Scope
from scoring.metrics.watched import CompareSection, MetricsWatched, RuleSection
from scoring.stats.paired import tango
from scoring.stats.rates import newcombe, wilson
from scoring.store import StoredLedger
from scoring.versions.reader import CompareReader
from scoring.versions.schedule import WIDTH, looks_job
from tests.judged_world import DAY, MONDAY, World, seen_first

SCOPE = Scope(agent="desk", origin=None)
LIVE = Scope(agent="desk")
BOTH = {"base": "rc3", "cand": "rc4"}
LATER = from_nanos(Nanos(MONDAY + DAY))


def rule(n: int, **more: Any) -> MetricsWatched:
    section = RuleSection(**{"kind": "superiority", "agent": "desk", "n": n, **more})
    return MetricsWatched(compare=CompareSection(rule=section))


def compare(store: Store, watched: MetricsWatched) -> CompareReader:
    """Return what a process has whose rule was there before anybody ran."""
    reader = CompareReader(store, MetricReader(store, watched), clock=lambda: LATER)
    if reader.plan is not None:
        seen_first(store, reader.plan)
    return reader


def pair(world: World, task: str, old: bool | None, new: bool | None, **more: Any) -> None:
    world.run(verified=old, keys={"task_id": task}, **more)
    world.run(verified=new, keys={"task_id": task}, agent_version="rc4", **more)


def won(world: World, first: int, last: int) -> None:
    for task in range(first, last):
        pair(world, f"t{task:02}", False, True)


def test_before_the_planned_n_only_counts_and_the_running_interval_are_told(world: World) -> None:
    won(world, 0, 9)
    found = compare(world.store, rule(12)).on_tasks(SCOPE, **BOTH)
    shown = found.comparison.difference
    assert (shown.value, shown.low, shown.high, shown.p_values) == (None, None, None, {})
    assert "withheld" in shown.flags
    assert (shown.n, shown.better) == (9, 9)
    assert (found.ruling.decision.verdict, found.ruling.decision.missing) == ("NOT ENOUGH DATA", 3)
    assert found.any_time.low is not None
    assert found.any_time.low < 1
    assert found.as_json()["ruling"]["looks"] == []  # type: ignore[index,call-overload]


def test_the_look_is_on_the_first_n_tasks_in_time_and_is_never_taken_again(world: World) -> None:
    won(world, 0, 12)
    for task in range(20, 30):  # later, and all for the worse
        pair(world, f"t{task}", True, False)
    reader = compare(world.store, rule(12))
    found = reader.on_tasks(SCOPE, **BOTH)
    expected = tango(12, 0, 12)
    assert expected is not None
    shown = found.comparison.difference
    assert (shown.n, shown.value, shown.low) == (12, 1.0, expected.low)
    assert found.ruling.decision.verdict == "PASS"
    assert found.ruling.n == 22
    (look,) = found.ruling.looks
    assert (look.look, look.n) == (1, 12)
    for task in range(30, 40):
        pair(world, f"t{task}", True, False)
    again = compare(world.store, rule(12)).on_tasks(SCOPE, **BOTH)  # as after a restart
    assert again.comparison.as_json() == found.comparison.as_json()
    assert again.guard.as_json() == found.guard.as_json()
    assert [one.as_json() for one in again.ruling.looks] == [look.as_json()]
    assert again.any_time.n == 32


def test_a_look_waits_until_its_runs_are_settled_and_judged(world: World) -> None:
    won(world, 0, 2)
    world.run(verified=False, keys={"task_id": "t2"})
    late = world.run(judged=False, keys={"task_id": "t2"}, agent_version="rc4")
    running = world.run(
        state=RunState.OPEN, keys={"task_id": "t00"}, agent_version="rc4", later=-60_000_000_000
    )
    reader = compare(world.store, rule(3))
    found = reader.on_tasks(SCOPE, **BOTH)
    assert found.ruling.decision.reason == "1 of the runs to be looked at are not settled yet"
    assert found.ruling.looks == []
    world.run(run_id=running.run_id, started_at=running.started_at, keys={"task_id": "t00"}, agent_version="rc4")  # fmt: skip
    assert "1 of the runs" in reader.on_tasks(SCOPE, **BOTH).ruling.decision.reason
    world.judge(late, True)
    assert len(reader.on_tasks(SCOPE, **BOTH).ruling.looks) == 1


def test_trials_take_the_first_runs_of_each_side(world: World) -> None:
    for task in ("a", "b"):
        for trial in range(2):
            pair(world, task, trial == 0, True)
        pair(world, task, True, False)  # a third, beyond the plan
    shown = compare(world.store, rule(2, trials=2)).on_tasks(SCOPE, **BOTH).comparison
    assert [(c.base.runs, c.base.passed, c.cand.passed) for c in shown.changed] == [(2, 1, 2)] * 2
    late = compare(world.store, rule(2, trials=4)).on_tasks(SCOPE, **BOTH)
    assert (late.ruling.n, late.ruling.decision.missing) == (0, 2)


def test_a_version_that_wins_while_it_breaks_rules_anew_is_not_better(world: World) -> None:
    won(world, 0, 11)
    world.run(verified=False, keys={"task_id": "t11"})
    bad = world.run(
        verified=True, broken="prohibited.0", keys={"task_id": "t11"}, agent_version="rc4"
    )
    found = compare(world.store, rule(12)).on_tasks(SCOPE, **BOTH)
    assert found.comparison.difference.value == 1.0
    assert found.ruling.decision.verdict == "FAIL"
    assert (
        found.ruling.decision.reason == "shown, but new violations at 1 task: refunds/prohibited.0"
    )
    assert found.guard.new is not None
    assert [(one.task, tuple(one.run_ids)) for one in found.guard.new] == [("t11", (bad.run_id,))]
    seen = found.guard.shares["violations"]
    assert (seen.base.value, seen.cand.value) == (0.0, pytest.approx(1 / 12))


def test_a_new_violation_fails_before_any_look_and_an_old_one_does_not(world: World) -> None:
    world.run(verified=True, broken="prohibited.0", keys={"task_id": "t0"})
    world.run(verified=True, broken="prohibited.0", keys={"task_id": "t0"}, agent_version="rc4")
    reader = compare(world.store, rule(12))
    assert reader.on_tasks(SCOPE, **BOTH).ruling.decision.verdict == "NOT ENOUGH DATA"
    world.run(verified=True, keys={"task_id": "t1"})
    world.run(verified=True, broken="prohibited.0", keys={"task_id": "t1"}, agent_version="rc4")
    assert reader.on_tasks(SCOPE, **BOTH).ruling.decision.verdict == "FAIL"


def test_a_violation_is_not_new_while_the_baseline_is_not_judged(world: World) -> None:
    late = world.run(judged=False, keys={"task_id": "t0"})
    world.run(verified=True, broken="prohibited.0", keys={"task_id": "t0"}, agent_version="rc4")
    reader = compare(world.store, rule(12))
    assert reader.on_tasks(SCOPE, **BOTH).ruling.decision.verdict == "NOT ENOUGH DATA"
    world.judge(late, True)
    assert reader.on_tasks(SCOPE, **BOTH).ruling.decision.verdict == "FAIL"


def test_the_guard_tells_false_claims_of_both_sides(world: World) -> None:
    for task in range(4):
        world.run(verified=True, claimed=True, keys={"task_id": f"t{task}"})
        world.run(verified=task > 1, claimed=True, keys={"task_id": f"t{task}"}, agent_version="rc4")  # fmt: skip
    for found in (
        compare(world.store, rule(12)).on_tasks(SCOPE, **BOTH),
        compare(world.store, rule(12)).live(LIVE, **BOTH),
    ):
        claims = found.guard.shares["false_claims"]
        assert (claims.base.value, claims.cand.value, claims.cand.n) == (0.0, 0.5, 4)
        assert "guard" in found.as_json()  # type: ignore[operator]


def test_a_window_or_slice_is_not_what_the_rule_is_about(world: World) -> None:
    won(world, 0, 4)
    part = Scope(agent="desk", since=MONDAY)
    found = compare(world.store, rule(4)).on_tasks(part, **BOTH)
    assert (
        found.ruling.decision.reason == "the rule is about all runs, not those of a window or slice"
    )
    assert found.ruling.looks == ()
    assert "exploratory" in found.comparison.difference.flags
    assert found.comparison.difference.p_values == {}


def test_live_a_look_is_on_the_runs_up_to_the_moment_the_plan_was_reached(world: World) -> None:
    for number in range(10):
        world.run(verified=number < 2)
        world.run(verified=number < 9, agent_version="rc4")
    for _ in range(10):
        world.run(verified=True)
        world.run(verified=False, agent_version="rc4")
    watched = rule(10, basis="live")
    found = compare(world.store, watched).live(LIVE, **BOTH)
    expected = newcombe(9, 10, 2, 10)
    assert expected is not None
    assert (found.difference.value, found.difference.low) == (expected.value, expected.low)
    assert found.ruling.decision.verdict == "PASS"
    assert (found.ruling.n, found.ruling.looks[0].n) == (20, 10)
    early = compare(world.store, rule(21, basis="live")).live(LIVE, **BOTH)
    assert (early.difference.value, early.difference.n, early.mix) == (None, 20, None)
    assert early.ruling.decision.missing == 1


def test_live_a_rule_broken_more_often_fails(world: World) -> None:
    for number in range(6):
        world.run(verified=False)
        world.run(
            verified=True, agent_version="rc4", broken="prohibited.0" if number == 3 else ""
        )  # fmt: skip
    found = compare(world.store, rule(6, basis="live")).live(LIVE, **BOTH)
    assert found.ruling.decision.verdict == "FAIL"
    assert found.ruling.decision.reason == "shown, but new violations: refunds/prohibited.0"


def test_customers_are_the_units_of_a_live_look(world: World) -> None:
    for number in range(12):
        keys = {"customer_id": f"c{number % 4}"}
        world.run(verified=False, keys=keys)
        world.run(verified=True, keys=keys, agent_version="rc4")
    watched = rule(4, basis="live").model_copy(update={"cluster_by": "customer_id"})
    found = compare(world.store, watched).live(LIVE, **BOTH)
    assert (found.ruling.n, found.difference.n, found.difference.unit) == (4, 4, "customer_id")
    assert len(found.ruling.looks) == 1


def test_incomplete_traces_decide_nothing_and_take_no_look(world: World) -> None:
    won(world, 0, 3)
    pair(world, "t3", False, True, complete=False)
    found = compare(world.store, rule(4)).on_tasks(SCOPE, **BOTH)
    assert found.ruling.decision.verdict == "NOT ENOUGH DATA"
    assert "75.0% of the traces" in found.ruling.decision.reason
    assert found.ruling.looks == []
    assert found.text.startswith("not enough data: 75.0% of the traces")
    live = compare(world.store, rule(4)).live(LIVE, **BOTH)
    assert (live.difference.value, live.difference.low, live.mix) == (None, None, None)
    assert live.text.startswith("not enough data: 75.0% of the traces")


def test_a_comparison_with_a_version_that_never_ran_names_no_changed_pin(world: World) -> None:
    world.run(manifest={"model": "a", "prompt": "7"}, keys={"task_id": "t0"})
    found = compare(world.store, rule(4)).on_tasks(SCOPE, **BOTH)
    assert found.setting.manifests.changed == []
    assert found.setting.warnings == []
    assert found.guard.shares["aborted"].cand.n == 0


def test_without_a_policy_nothing_passes_and_no_look_is_taken(world: World) -> None:
    won(world, 0, 12)
    silence(world)
    watched = rule(12)
    found = compare(world.store, watched).on_tasks(SCOPE, **BOTH)
    assert found.ruling.decision.verdict == "NOT ENOUGH DATA"
    assert "write a policy" in found.ruling.sentence
    assert found.ruling.looks == []
    assert found.comparison.difference.value is None
    live = compare(world.store, rule(12, basis="live")).live(LIVE, **BOTH)
    assert (live.ruling.decision.verdict, live.ruling.looks) == ("NOT ENOUGH DATA", [])
    allowed = compare(world.store, rule(12, violations="not_judged")).on_tasks(SCOPE, **BOTH)
    assert allowed.ruling.decision.verdict == "PASS"
    assert "violations are not judged, which the rule allows" in allowed.ruling.sentence


def silence(world: World) -> None:
    """Make the verdicts anew as if no policy had been there."""
    for key, (statuses, labels, _) in list(world.said.items()):
        kept = [one for one in statuses if one.surface is not Surface.POLICY]
        world.said[key] = (kept, [one for one in labels if one.surface is not Surface.POLICY], [])
        world.sum_up(world.runs[key[0]])


def test_a_rule_has_one_scope_and_other_runs_are_a_reading_aid(world: World) -> None:
    for task in range(6):  # production loses
        pair(world, f"p{task}", True, False)
    for task in range(6):  # staging wins
        pair(world, f"s{task}", False, True, environment="staging")
    reader = compare(world.store, rule(6, environment="prod"))
    ruled = reader.on_tasks(Scope(origin=None), **BOTH)  # what is left open is the rule's
    assert ruled.ruling.decision.verdict == "FAIL"
    assert ruled.setting.scope == Scope(agent="desk", environment="prod", origin=None)
    for shopped in (
        Scope(environment="staging", origin=None),
        Scope(agent="other", origin=None),
        Scope(origin=Origin.PRODUCTION),
    ):
        found = reader.on_tasks(shopped, **BOTH)
        assert found.ruling.decision.verdict == "NOT ENOUGH DATA"
        assert found.ruling.looks == ()
        assert (
            "the rule is about desk in prod and says nothing of other runs" in found.ruling.sentence
        )
        assert found.comparison.difference.p_values == {}
    changed = compare(world.store, rule(6, environment="staging")).on_tasks(SCOPE, **BOTH)
    assert any("rule was changed after looking" in text for text in changed.warnings)


def test_without_trials_the_first_run_of_each_side_counts(world: World) -> None:
    won(world, 0, 6)
    for _ in range(3):
        pair(world, "t00", True, False)
    world.run(state=RunState.OPEN, keys={"task_id": "t01"}, agent_version="rc4")
    found = compare(world.store, rule(6)).on_tasks(SCOPE, **BOTH)
    assert found.comparison.difference.value == 1.0
    assert len(found.ruling.looks) == 1  # a further run that is not settled yet holds up nothing


def tick(store: Store, watched: MetricsWatched, now: dt.datetime) -> None:
    """Let the job run as in a process that has just started, all verdicts being there."""
    job = looks_job(compare(store, watched), lambda: now)
    Jobs(jobs=[job], ledger=StoredLedger(store), clock=lambda: now).tick(job)


def test_the_job_takes_a_look_when_it_is_due_and_whoever_comes_later_sees_that(
    world: World,
) -> None:
    watched = rule(6, looks=2)
    some_time = LATER + WIDTH / 3
    tick(world.store, watched, some_time)
    won(world, 0, 4)
    tick(world.store, watched, some_time + WIDTH)
    won(world, 4, 9)
    tick(world.store, watched, some_time + 2 * WIDTH)
    for task in range(9):  # further runs of the same tasks, all for the worse
        pair(world, f"t{task:02}", True, False)
    found = compare(world.store, watched).on_tasks(SCOPE, **BOTH)
    looks = [(one.look, one.n, one.by) for one in found.ruling.looks]
    assert looks == [(1, 3, "job"), (2, 6, "job")]
    assert found.comparison.difference.value == 1.0
    assert found.ruling.decision.verdict == "PASS"
    assert compare(world.store, watched).take_due() == 0


def test_the_job_takes_live_looks_and_leaves_what_is_not_due(world: World) -> None:
    for number in range(10):
        world.run(verified=number < 2)
        world.run(verified=number < 9, agent_version="rc4")
    assert compare(world.store, rule(11, basis="live")).take_due() == 0
    reader = compare(world.store, rule(10, basis="live"))
    assert reader.take_due() == 1
    (look,) = reader.live(LIVE, **BOTH).ruling.looks
    assert (look.n, look.by) == (10, "job")


def test_a_look_that_the_job_could_not_take_says_so(world: World) -> None:
    won(world, 0, 3)
    reader = compare(world.store, rule(3))
    (look,) = reader.on_tasks(SCOPE, **BOTH).ruling.looks
    assert look.by == "request"
    assert reader.take_due() == 0


def repeated(world: World) -> None:
    """Four runs of each of ten tasks and version: half the tasks are always solved, half never."""
    for task in range(10):
        for _ in range(4):
            pair(world, f"t{task}", task < 5, task < 5)


BY_TASK = MetricsWatched(compare=CompareSection(task="task_id"))


def test_runs_of_one_task_are_one_unit_of_every_metric(world: World) -> None:
    repeated(world)
    (report,) = MetricReader(world.store, BY_TASK).metrics(LIVE)
    shown = report.metric("completion").measure.shown
    assert (shown.n, shown.unit) == (10, "task_id")
    assert shown.method == "mean of tasks, korn-graubard"
    runs = wilson(40, 80)
    assert runs is not None
    assert shown.low is not None
    assert shown.low < runs.low  # type: ignore[operator]
    guard = compare(world.store, BY_TASK).live(LIVE, **BOTH).guard.shares["aborted"]
    assert (guard.base.n, guard.base.unit) == (10, "task_id")


def test_runs_of_tasks_that_do_not_repeat_are_units(world: World) -> None:
    for task in range(10):
        world.run(verified=task < 5, keys={"task_id": f"t{task}"})
    (report,) = MetricReader(world.store, BY_TASK).metrics(LIVE)
    shown = report.metric("completion").measure.shown
    assert (shown.n, shown.unit, shown.method) == (10, "run", "wilson")


def test_live_runs_at_the_same_tasks_have_no_unpaired_interval(world: World) -> None:
    repeated(world)
    world.run()
    found = compare(world.store, BY_TASK).live(LIVE, **BOTH)
    assert (found.difference.value, found.difference.low, found.difference.high) == (None,) * 3
    assert "same_tasks" in found.difference.flags
    assert found.text.startswith("80 of 81 runs try tasks that both versions tried")
    for number in range(100):  # as live traffic does
        world.run(keys={"task_id": f"new-{number}"})
    assert compare(world.store, BY_TASK).live(LIVE, **BOTH).difference.low is not None


def test_a_live_rule_counts_tasks_where_they_repeat(world: World) -> None:
    for task in range(10):
        for trial in range(4):
            pair(world, f"t{task}", task < 5, task < 5 or trial == task - 5)
    section = RuleSection(kind="superiority", agent="desk", n=10, basis="live")
    watched = MetricsWatched(compare=CompareSection(task="task_id", rule=section))
    found = compare(world.store, watched).live(LIVE, **BOTH)
    assert (found.ruling.n, found.difference.n, found.difference.unit) == (10, 10, "task_id")
    assert found.ruling.decision.verdict == "FAIL"


def test_a_running_interval_of_first_runs_says_so(world: World) -> None:
    won(world, 0, 6)
    no_rule = MetricsWatched()
    found = compare(world.store, no_rule).on_tasks(SCOPE, **BOTH)
    assert "first_trials" not in found.any_time.flags, "every task was tried once"
    pair(world, "t00", True, False)
    found = compare(world.store, no_rule).on_tasks(SCOPE, **BOTH)
    assert "first_trials" in found.any_time.flags
    assert (found.comparison.difference.same, found.any_time.n) == (1, 6)
