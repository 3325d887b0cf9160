import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.group import half_done, of_sorted
from scoring.stats.quantiles import quantile_interval
from scoring.stats.survival import median_time, survival
from tests.unit.scoring.metrics.groups import group

TIMES = st.lists(st.integers(1, 60), max_size=40)


def test_the_median_of_four_that_finish_and_three_aborted_at_60_is_20_and_not_10() -> None:
    assert half_done([5, 8, 12, 20], [60, 60, 60]) == 20


@given(TIMES, TIMES)
def test_the_median_with_aborted_runs_is_that_of_the_curve(done: list[int], cut: list[int]) -> None:
    curve = survival([*done, *cut], [True] * len(done) + [False] * len(cut))
    assert half_done(sorted(done), sorted(cut)) == median_time(curve)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.sampled_from([0.5, 0.9]))
def test_a_quantile_of_sorted_values_is_the_quantile_of_the_values(
    values: list[int], q: float
) -> None:
    found, expected = of_sorted(sorted(values), q), quantile_interval(values, q)
    assert found is not None
    assert expected is not None
    assert found.value == expected.value
    if expected.low is not None and found.low is not None:
        assert found.low <= found.value


def test_runs_neither_right_nor_wrong_leave_bounds_and_no_value() -> None:
    figure = group(scoped=10, verified=6, failed=1, unverified=3).completion()
    assert figure.shown.value is None
    assert (figure.shown.low, figure.shown.high) == pytest.approx((0.6, 0.9))
    assert figure.shown.open == 3
    assert "unverified" in figure.shown.flags
    assert "3 of 10" in figure.text


def test_when_nothing_is_verified_the_text_says_what_is_missing() -> None:
    figure = group(scoped=10, unverified=10).completion()
    assert (figure.shown.value, figure.shown.low, figure.shown.high) == (None, 0.0, 1.0)
    assert figure.missing == ("verified",)
    assert "outcome_check" in figure.text


def test_what_never_happened_shows_its_exact_upper_bound() -> None:
    shown = group(scoped=300, ruled=300).share("violations", never=True).shown
    assert (shown.value, shown.low) == (0.0, 0.0)
    assert shown.high == pytest.approx(0.00994, abs=1e-5)
    assert shown.method == "exact upper bound"


def test_running_runs_and_failures_of_the_infrastructure_are_left_out_and_counted() -> None:
    figure = group(scoped=5, verified=5, running=3, infra_error=1).share("aborted")
    assert figure.shown.excluded == {"running": 3, "infra_error": 1}


def test_runs_outside_of_a_ratio_are_named() -> None:
    figure = group(scoped=10, verified=8, failed=2, claimed=7).share("false_claims", left_out="no_claim")  # fmt: skip
    assert figure.shown.excluded == {"no_claim": 3}
    assert figure.shown.n == 7
