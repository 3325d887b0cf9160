"""One test for each entry of the list of what is forbidden."""

import inspect
import math

import pytest

from scoring import stats
from scoring.stats.effective import at_effective_size


def names():
    return {name.lower() for name in stats.__all__}


def test_no_rate_has_the_wald_interval():
    assert stats.wilson(19, 20).high < 1
    wald = 1.96 * (0.95 * 0.05 / 20) ** 0.5
    assert 0.95 + wald > 1
    assert not any("wald" in name for name in names())
    assert stats.wilson(20, 20).low < 1


def test_a_judge_assisted_rate_has_no_z_interval():
    found = at_effective_size(0.97, 0.017**2, fallback=50)
    assert found.value - found.low > 1.3 * (found.high - found.value)
    assert found.high < 1


def test_no_bootstrap_under_thirty_units():
    assert stats.bootstrap_interval([1.0, 2.0] * 14, max, seed=0).flags == ("few_units",)
    assert stats.krippendorff([[1, 2], [1, 1]] * 14).flags == ("few_units",)


def test_trials_are_never_units():
    once = {str(task): (1, task % 2) for task in range(10)}
    often = {str(task): (9, 9 * (task % 2)) for task in range(10)}
    one, other = (stats.suite_pass_hat(tasks, 1).measure for tasks in (once, often))
    assert (one.n, one.low, one.high) == (other.n, other.low, other.high)


def test_k_is_never_lowered_and_nothing_is_made_up():
    with pytest.raises(ValueError, match="k must"):
        stats.pass_hat(3, 3, 4)
    assert stats.pass_hat(4, 2, 3) == 0
    assert stats.suite_pass_hat({"a": (3, 3)}, 4).measure.value is None


def test_events_over_all_runs_has_no_function():
    runs = [(day, day + 1 if day % 5 == 0 else None) for day in range(10)]
    found = stats.closed_cohort(runs, 7, 10)
    assert (found.n, found.open) == (4, 6)
    parameters = inspect.signature(stats.closed_cohort).parameters
    assert "watermark" in parameters
    assert parameters["watermark"].default is inspect.Parameter.empty


def test_competing_ends_are_causes():
    time, cause = [1, 2, 2, 3, 4, 5, 5, 6, 7, 7], [1, 2, 1, 0, 1, 2, 0, 1, 0, 0]
    last = stats.incidence(time, cause).rows[-1]
    naive = stats.survival(time, [kind == 1 for kind in cause])
    assert last.incidence[1].value == pytest.approx(0.472, abs=5e-4)
    assert 1 - naive.value == pytest.approx(0.556, abs=5e-4)


def test_kappa_never_stands_alone_and_is_never_0_or_1_for_nothing():
    assert stats.cohen_kappa([[9, 0], [0, 0]]).value is None
    both = stats.two_raters([[80, 10], [5, 5]])
    assert None not in (both.raw.value, both.kappa, both.ac1, both.per_class[0])


def test_agreement_is_not_called_correctness():
    agreed = stats.two_phase([stats.rate_stratum(820, 60, 57), stats.rate_stratum(180, 180, 81)])
    assert agreed.value != pytest.approx(0.82, abs=0.01)


def test_nothing_is_tested_after_every_run():
    early = stats.Look(n=50, planned=200, looks=2)
    decision = stats.superiority(stats.tango(40, 0, 50), early)
    assert decision.verdict is stats.Verdict.NOT_ENOUGH_DATA


def test_a_handful_of_runs_never_pages():
    assert stats.least_runs(14.4, 0.999) == 70
    assert not any("psi" in name and "alarm" in name for name in names())
    assert stats.psi([50] * 10, [5] * 10) is None


def test_nothing_is_dropped_unseen():
    bounds = stats.open_bounds(3, 10, 4)
    assert (bounds.value, bounds.low, bounds.high) == (None, 0.3, 0.7)
    shown = stats.rate(3, 6, unit="run", excluded={"unverified": 4})
    assert shown.excluded == {"unverified": 4}


def test_no_number_where_there_is_none():
    assert stats.ratio([5, 7], [0, 0]) is None
    assert stats.burn(0, 0, 0.99) is None
    assert stats.rate(0, 0, unit="run").value is None


def test_no_metric_without_its_guard():
    measure = stats.rate(1, 2, unit="run")
    with pytest.raises(TypeError):
        stats.Metric(name="latency", measure=measure)
    with pytest.raises(ValueError, match="guard"):
        stats.Metric(name="latency", measure=measure, guard={})


@pytest.mark.parametrize(
    "call",
    [
        lambda bad: stats.design_effect(4, bad),
        lambda bad: stats.early_read([(0.0, None)], 7.0, bad),
        lambda bad: stats.early_read([(0.0, bad)], 7.0, 9.0),
        lambda bad: stats.cohort([(bad, None)], 7.0, 9.0),
        lambda bad: stats.is_closed(0.0, 7.0, bad),
        lambda bad: stats.in_window(0.0, 7.0, bad),
    ],
)
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_time_or_correlation_that_is_no_number_is_refused(call, bad) -> None:
    with pytest.raises(ValueError, match="finite"):
        call(bad)


def test_a_design_effect_under_one_plans_nothing() -> None:
    with pytest.raises(ValueError, match="deff must be at least 1"):
        stats.n_for_margin(0.05, deff=0.1)


def test_exact_limits_of_more_units_than_a_float_tells_apart() -> None:
    found = stats.clopper_pearson(1e18, 1e18 + 1)
    assert found is not None
    assert found.high == 1.0
    assert 1 - 1e-9 < found.low <= 1.0
