import json
from dataclasses import replace
from typing import Any

import pytest

from scoring.metrics.compute import nine
from scoring.metrics.conditions import Condition
from scoring.metrics.definitions import DEFINITIONS
from scoring.metrics.figures import Guarded
from scoring.metrics.three import three
from scoring.metrics.tooluse import Sides
from scoring.stats.clusters import pairs_of
from tests.unit.scoring.metrics.groups import SECOND, group

CONDITIONS = [
    Condition(task="a", variant="", fault=False, runs=2, verified=2),
    Condition(task="a", variant="reworded", fault=False, runs=2, verified=1),
    Condition(task="a", variant="typo", fault=False, runs=1, verified=1),
    Condition(task="a", variant="", fault=True, runs=4, verified=1),
    Condition(task="b", variant="base", fault=False, runs=2, verified=1),
    Condition(task="b", variant="typo", fault=False, runs=1, verified=0),
]


def metrics(made: Any, **more: Any) -> dict[str, Guarded]:
    return {metric.name: metric for metric in nine(made, **more)}


def test_there_are_nine_each_with_its_own_guards() -> None:
    found = metrics(group(scoped=4, verified=3, failed=1))
    assert list(found) == list(DEFINITIONS)
    guards = {name: set(metric.guard) for name, metric in found.items()}
    assert {"over_budget", "false_claims"} <= guards["completion"]
    assert {"completion", "required_checks", "repeats", "tool_errors"} <= guards["tool_use"]
    assert {"examined", "weakened_assertions", "agreement"} <= guards["correctness"]
    assert {"violations", "unapproved", "override_rate", "median_decision_time"} <= guards["human_intervention"]  # fmt: skip
    assert {"completion", "aborted", "median_with_aborted"} <= guards["latency"]
    assert {"over_budget", "max", "p90", "cost_per_run"} <= guards["cost"]
    assert {"p90_tokens_per_call", "completion"} <= guards["model_calls"]
    assert {"duplicates", "paired_drop", "natural_faults"} <= guards["recovery"]
    assert {"base_success", "refusals_on_clean_twins", "obeyed"} <= guards["robustness"]


def test_promise_5_without_data_every_metric_is_none_and_json_holds_no_nan() -> None:
    for metric in nine(group()):
        assert metric.measure.shown.value is None, metric.name
        for figure in metric.guard.values():
            assert figure.shown.value is None or figure.shown.scale == "count"
        json.dumps(metric.as_json(), allow_nan=False)


def test_tool_use_is_read_on_the_common_tasks_and_the_naive_mean_is_struck_through() -> None:
    # The new version also solves a hard task: 9.0 against 18.7 by the naive mean, 9.0 against 8.0.
    old = {"easy": [9], "middling": [9]}
    new = {"easy": [8], "middling": [8], "hard": [40]}
    own = Sides(other="rc3", own_steps=new, other_steps=old)
    metric = metrics(group(scoped=3, verified=3), sides=own)["tool_use"]
    assert metric.measure.shown.value == pytest.approx(8.0)
    assert metric.beside["less_other_version"].shown.value == pytest.approx(-1.0)
    naive = metric.beside["naive_mean"].shown
    assert naive.value == pytest.approx(18.7, abs=0.05)
    assert "struck_through" in naive.flags
    other = Sides(other="rc4", own_steps=old, other_steps=new)
    assert metrics(group(scoped=2, verified=2), sides=other)["tool_use"].measure.shown.value == 9.0


def test_tool_use_without_a_common_task_is_none() -> None:
    sides = Sides(other="rc3", own_steps={"a": [3]}, other_steps={"b": [4]})
    measure = metrics(group(scoped=1, verified=1), sides=sides)["tool_use"].measure
    assert measure.shown.value is None
    assert "no task was solved by both" in measure.text


def test_latency_shows_the_median_beside_the_one_that_counts_aborted_runs() -> None:
    times = [second * SECOND for second in (5, 8, 12, 20)]
    made = group(
        scoped=7, finished=4, aborted=3, verified=4, failed=3,
        finished_ns=times, aborted_ns=[60 * SECOND] * 3,
    )  # fmt: skip
    metric = metrics(made)["latency"]
    assert metric.measure.shown.value == 8.0  # nearest rank of four
    assert metric.guard["median_with_aborted"].shown.value == 20.0
    assert metric.guard["aborted"].shown.value == pytest.approx(3 / 7)
    assert metric.beside["p90"].shown.high is None
    assert metric.beside["p90"].text.startswith("≥")


def test_money_that_solved_nothing_is_told_and_no_price_is_made_up() -> None:
    made = group(scoped=2, failed=2, priced=2, costs=[0.5, 1.5], spent=pairs_of([0.5, 1.5], [0, 0]))
    measure = metrics(made)["cost"].measure
    assert measure.shown.value is None
    assert measure.text == "spent $2.00, solved none"


def test_money_of_runs_that_nobody_verified_solved_nothing_that_is_known() -> None:
    made = group(
        scoped=2, failed=1, unverified=1, priced=2, costs=[0.5, 1.5],
        spent=pairs_of([0.5, 1.5], [0, 0]),
    )  # fmt: skip
    measure = metrics(made)["cost"].measure
    assert measure.text == "spent $2.00, solved none for sure: 1 not verified"


def test_cost_per_solved_is_bounds_while_runs_are_unverified() -> None:
    given = {"scoped": 4, "verified": 2, "unverified": 2, "priced": 4, "costs": [1.1] * 4}
    given |= {"spent": pairs_of([1.1] * 4, [1, 1, 0, 0])}
    shown = metrics(group(**given))["cost"].measure.shown
    assert shown.value is None
    assert (shown.low, shown.high) == (pytest.approx(1.1), pytest.approx(2.2))
    calls = {"model_steps": 4, "unpriced_calls": 1}
    least = metrics(group(**given, totals=calls))["cost"].measure
    assert (least.shown.low, least.shown.high) == (pytest.approx(1.1), None)
    assert least.text.startswith("at least $1.10, which it is if all 2 not verified are solved")


def test_cost_per_solved_counts_the_money_of_failed_runs() -> None:
    made = group(
        scoped=4, verified=2, failed=2, priced=4, costs=[1, 1, 2, 2],
        spent=pairs_of([1, 1, 2, 2], [1, 0, 1, 0]),
    )  # fmt: skip
    assert metrics(made)["cost"].measure.shown.value == pytest.approx(3.0)
    assert metrics(made)["cost"].guard["max"].shown.value == 2


def test_a_cost_nobody_reports_names_the_field() -> None:
    measure = metrics(group(scoped=2, verified=2))["cost"].measure
    assert measure.missing == ("cost_usd",)


def test_usage_missing_on_over_5_percent_of_the_steps_is_partial() -> None:
    given: dict[str, Any] = {"scoped": 2, "verified": 2, "priced": 2, "with_usage": 2}
    given |= {"costs": [1, 1], "spent": pairs_of([1, 1], [1, 1])}
    full = group(**given, totals={"model_steps": 100, "steps_without_usage": 5})
    assert "partial" not in metrics(full)["cost"].measure.shown.flags
    part = group(**given, totals={"model_steps": 100, "steps_without_usage": 6})
    assert "partial" in metrics(part)["cost"].measure.shown.flags
    assert "6.0% of model steps report no usage" in metrics(part)["cost"].measure.text
    assert "partial" in metrics(part)["model_calls"].beside["input_tokens_per_run"].shown.flags


def test_under_99_percent_complete_traces_no_metric_has_a_number() -> None:
    kept = metrics(group(scoped=100, verified=90, failed=10, complete=99))
    assert kept["completion"].measure.shown.value == 0.9
    for metric in nine(group(scoped=100, verified=90, failed=10, complete=98)):
        assert metric.measure.shown.value is None
        assert "not_enough_data" in metric.measure.shown.flags
        assert "98.0% of the traces are complete" in metric.measure.text
        assert metric.guard["trace_completeness"].shown.value == 0.98


def test_recovery_without_a_fault_is_none_and_not_100_percent() -> None:
    measure = metrics(group(scoped=5, verified=5))["recovery"].measure
    assert measure.shown.value is None
    assert measure.missing == ("manifest.fault",)


def test_recovery_is_paired_with_the_same_task_without_the_fault() -> None:
    made = group(scoped=10, verified=6, failed=4, faulty=4, recovered=1)
    metric = metrics(made, conditions=CONDITIONS)["recovery"]
    assert metric.measure.shown.value == 0.25
    assert metric.guard["paired_drop"].shown.value == pytest.approx(0.25 - 1.0)


def test_robustness_is_the_mean_over_tasks_of_variant_less_base() -> None:
    # a: variants .5 and 1, base 1: -.25; b: variant 0, base .5: -.5. Worst: -.5 and -.5.
    made = group(scoped=10, verified=6, failed=4)
    metric = metrics(made, conditions=CONDITIONS)["robustness"]
    assert metric.measure.shown.value == pytest.approx(-0.375)
    assert metric.beside["worst_variant"].shown.value == pytest.approx(-0.5)
    assert "the link lists all settled runs" in metric.measure.text
    assert metric.guard["base_success"].shown.value == pytest.approx(0.75)


def test_the_three_numbers_come_together_and_are_three_none_without_a_run() -> None:
    empty = three(group())
    shown = (empty.solution_rate, empty.cost_per_success, empty.aborted)
    assert [figure.shown.value for figure in shown] == [None, None, None]
    assert set(empty.as_json()) == {"definition", "solution_rate", "cost_per_success", "aborted"}


def test_not_examined_is_not_correct() -> None:
    made = group(scoped=10, verified=8, failed=2, passed_check=8, examined=4, correct=3)
    metric = metrics(made)["correctness"]
    assert metric.measure.shown.value == 0.75
    assert metric.measure.shown.excluded == {"not_examined": 6}
    assert metric.guard["examined"].shown.value == 0.5


def test_one_call_without_a_price_makes_money_a_lower_bound_whatever_its_share() -> None:
    given: dict[str, Any] = {"scoped": 4, "verified": 4, "priced": 4, "costs": [1, 2, 3, 4]}
    given |= {"spent": pairs_of([1, 2, 3, 4], [1, 1, 1, 1]), "amounts": {"cost_per_run": 10.0}}
    calls = {"model_steps": 500, "unpriced_calls": 1}
    made = group(**given, totals={**calls, "unpriced_within": 1})
    cost = metrics(made)["cost"]
    figures = [cost.measure, *(cost.guard[name] for name in ("max", "p90", "cost_per_run"))]
    for figure in (*figures, three(made).cost_per_success):
        assert "lower_bound" in figure.shown.flags
        assert "partial" not in figure.shown.flags
        assert figure.shown.value is not None
        assert figure.shown.high is None
        assert "1 of 500 model calls have no price" in figure.text
    whole = metrics(group(**given, totals={"model_steps": 500}))["cost"]
    assert "lower_bound" not in whole.measure.shown.flags
    assert whole.measure.shown.high is not None
    # The call lies in a run that has no cost at all: the mean of the others is whole.
    apart = metrics(group(**given, totals=calls))["cost"]
    assert "lower_bound" in apart.measure.shown.flags
    assert "lower_bound" not in apart.guard["cost_per_run"].shown.flags


def test_what_was_spent_in_vain_is_at_least_that_where_a_call_has_no_price() -> None:
    made = group(
        scoped=2, failed=2, priced=2, costs=[0.5, 1.5], spent=pairs_of([0.5, 1.5], [0, 0]),
        totals={"model_steps": 40, "unpriced_calls": 1},
    )  # fmt: skip
    assert metrics(made)["cost"].measure.text.startswith("spent at least $2.00, solved none")


def test_no_limit_of_what_is_never_negative_lies_below_0() -> None:
    # One dear run of four: Student's interval of the mean 0.75 begins at -1.6.
    costs = [0.0, 0.0, 0.0, 3.0]
    made = group(
        scoped=4, verified=4, priced=4, costs=costs, spent=pairs_of(costs, [1, 1, 1, 1]),
        amounts={"steps": 4.0},
    )  # fmt: skip
    shown = metrics(made)["cost"].measure.shown
    assert (shown.value, shown.low) == (0.75, 0.0)
    assert shown.high == pytest.approx(0.75 + 3.182446 * 0.75, abs=1e-5)
    spread = replace(made.sums.ratios["steps"], y=3.0, my=3.0, yy=9.0)
    sums = replace(made.sums, ratios={**made.sums.ratios, "steps": spread})
    mean = replace(made, sums=sums).mean("steps", scale="steps").shown
    assert (mean.value, mean.low) == (0.75, 0.0)
