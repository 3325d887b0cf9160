"""Suites of k trials: every subset counted, and what must never be a number."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import stats
from scoring.stats.headline import Attempt
from scoring.stats.verdicts import TrialVerdict
from scoring.stats.versions import far_apart

few = settings(max_examples=40)


@few
@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_pass_at_and_pass_hat_count_every_subset(task):
    n, c = task
    results = [True] * c + [False] * (n - c)
    for k in range(1, n + 1):
        subsets = list(itertools.combinations(results, k))
        assert stats.pass_at(n, c, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))
        assert stats.pass_hat(n, c, k) == pytest.approx(sum(map(all, subsets)) / len(subsets))


@few
@given(st.integers(2, 200).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_more_attempts_help_one_and_hurt_all(task):
    n, c = task
    some = [stats.pass_at(n, c, k) for k in range(1, n + 1)]
    every = [stats.pass_hat(n, c, k) for k in range(1, n + 1)]
    assert some == sorted(some)
    assert every == sorted(every, reverse=True)
    assert some[0] == pytest.approx(every[0]) == pytest.approx(c / n)


@pytest.mark.parametrize(("n", "c", "k"), [(3, 2, 4), (3, 4, 1), (3, 2, 0), (0, 0, 1)])
def test_more_attempts_than_trials_is_an_error_and_never_a_number(n, c, k):
    for make in (stats.pass_at, stats.pass_hat):
        with pytest.raises(ValueError, match=r"k must|c is"):
            make(n, c, k)


def test_tasks_with_too_few_trials_are_left_out_and_listed():
    found = stats.suite_pass_hat({"a": (4, 4), "b": (4, 0), "c": (2, 2)}, 3)
    assert found.too_few == ("c",)
    assert found.measure.excluded == {"too_few_trials": 1}
    assert (found.measure.n, found.measure.value) == (2, 0.5)
    assert found.measure.flags == ("clipped",)
    none = stats.suite_pass_at({"c": (2, 2)}, 3).measure
    assert (none.value, none.low, none.n) == (None, None, 0)
    with pytest.raises(ValueError, match="k must"):
        stats.suite_pass_at({}, 0)


def test_cases_of_one_task_are_averaged_first():
    cases = {"a1": (2, 2), "a2": (2, 0), "b": (2, 2)}
    found = stats.suite_pass_at(cases, 1, task_of={"a1": "a", "a2": "a"}).measure
    assert (found.n, found.unit, found.value) == (2, "task", 0.75)


def test_a_mean_rate_to_the_power_k_is_not_pass_hat():
    tasks = {str(task): (8, 8 if task < 61 else 0) for task in range(100)}
    found = stats.suite_pass_hat(tasks, 8).measure
    assert found.value == pytest.approx(0.61)
    assert found.value > 30 * 0.61**8


def anova(tasks):
    """Return the intraclass correlation from the zeros and ones themselves."""
    groups = [np.array([1.0] * c + [0.0] * (n - c)) for n, c in tasks]
    everything = np.concatenate(groups)
    total, count = len(everything), len(groups)
    between = sum(len(g) * (g.mean() - everything.mean()) ** 2 for g in groups) / (count - 1)
    within = sum(((g - g.mean()) ** 2).sum() for g in groups) / (total - count)
    usual = (total - sum(len(g) ** 2 for g in groups) / total) / (count - 1)
    below = between + (usual - 1) * within
    return None if below == 0 else (between - within) / below


trials = st.integers(2, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@few
@given(st.lists(trials, min_size=2, max_size=15))
def test_the_intraclass_correlation_equals_the_analysis_of_variance(tasks):
    found, expected = stats.icc(tasks), anova(tasks)
    if found is None:
        assert expected is None or len({c / n for n, c in tasks}) == 1
    else:
        assert found == pytest.approx(expected, abs=1e-9)
        assert found <= 1


def test_no_variation_has_no_correlation():
    assert stats.icc([(4, 4), (4, 4)]) is None
    assert stats.icc([(4, 2)]) is None
    assert stats.icc([(1, 1), (1, 0)]) is None
    assert stats.design_effect(4, 0.40) == pytest.approx(2.2)
    with pytest.raises(ValueError, match="n must"):
        stats.design_effect(0, 0.4)
    assert stats.task_variance(1, 1) is None


def test_infrastructure_is_counted_apart_and_everything_else_counts():
    v = TrialVerdict
    seen = [v.PASS] * 12 + [v.FAIL, v.ABORTED, v.TAMPERED, v.CONTAMINATED, v.NEEDS_REVIEW]
    found = stats.tally([*seen, v.INFRA_ERROR])
    assert (found.n, found.passed, found.open) == (17, 12, 1)
    assert found.excluded == {"infra_error": 1}
    assert (found.bounds.low, found.bounds.high) == (12 / 17, 13 / 17)
    assert found.bounds.value is None
    assert found.verdict_possible
    assert not stats.tally([v.PASS] * 8 + [v.UNSCORABLE]).verdict_possible
    assert not stats.tally([]).verdict_possible
    assert stats.tally([]).bounds is None


def test_odd_tasks_are_flagged():
    assert stats.task_flags([("m1", 3, 0), ("m2", 3, 0)]) == ("never_solved",)
    assert stats.task_flags([("m1", 3, 3), ("m2", 3, 3)]) == ("always_solved",)
    assert stats.task_flags([("m1", 3, 3), ("m1", 3, 0)]) == ("changed_alone",)
    assert stats.task_flags([("m1", 3, 3), ("m2", 3, 0)]) == ()
    assert stats.task_flags([]) == ()
    assert far_apart({"a": 30, "b": -4000}) == ["b"]


def test_the_histogram_covers_zero_to_k():
    assert stats.histogram([0, 3, 3, 1], 3) == [1, 1, 0, 2]
    with pytest.raises(ValueError, match="passes"):
        stats.histogram([4], 3)


def row(case, attempt, succeeded, cost=1.0, *, done=True, steps=1):
    return Attempt(
        case=case, attempt=attempt, succeeded=succeeded, cost=cost, done=done, steps=steps
    )


def test_nothing_solved_costs_none_and_not_the_total():
    found = stats.three_numbers([row("a", 0, False, 5), row("b", 0, False, 7, done=False)])
    assert found.cost_per_success is None
    assert found.solution_rate.value == 0
    assert (found.aborted, found.mean_steps_successful) == (0.5, None)


def test_no_attempt_has_three_times_none():
    found = stats.three_numbers([])
    assert (found.solution_rate, found.cost_per_success, found.aborted) == (None, None, None)


def test_tasks_count_alike_however_often_they_were_tried():
    rows = [row("a", place, True) for place in range(9)] + [row("b", 0, False)]
    assert stats.three_numbers(rows).solution_rate.value == 0.5


def test_versions_are_compared_on_tasks_both_solved():
    found = stats.tool_use({"a": [(9, True)]}, {"b": [(3, True)], "a": [(4, False)]})
    assert (found.old, found.new, found.difference, found.tasks) == (None, None, None, ())
    assert (found.naive_old, found.naive_new) == (9, 3)


def test_no_nan_reaches_json():
    tasks = {"a": (1, 1), "b": (3, 0)}
    for shown in (
        stats.suite_pass_hat(tasks, 3).measure,
        stats.compare_tasks(tasks, tasks),
        stats.survival([1, 2], [True, False]),
        stats.incidence([1, 2], [1, 2]),
        stats.rate(0, 0, unit="run"),
    ):
        text = json.dumps(shown.as_json(), allow_nan=False)
        assert not math.isnan(len(text))


def test_a_cost_per_success_is_never_below_0_where_no_cost_is():
    rows = [
        row(case, 0, True, cost) for case, cost in zip("abcd", (0.0, 0.0, 0.0, 3.0), strict=True)
    ]
    assert stats.three_numbers(rows).cost_per_success.low == 0.0
    refund = [
        row(case, 0, True, cost) for case, cost in zip("abcd", (-1.0, 0.0, 0.0, 4.0), strict=True)
    ]
    assert stats.three_numbers(refund).cost_per_success.low < 0
