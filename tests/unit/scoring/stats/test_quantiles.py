"""Quantiles by nearest rank, order statistics, and when the bootstrap is refused."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, quantile_test

from scoring import stats
from tests.unit.scoring.stats.strategies import CONFIDENCE

few = settings(max_examples=40)


def test_the_p90_of_one_to_nine_and_a_hundred_is_nine():
    assert stats.quantile([*range(1, 10), 100], 0.9) == 9


@few
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.floats(0.01, 0.99))
def test_a_quantile_is_one_of_the_values_and_inside_its_interval(x, q):
    found = stats.quantile_interval(x, q)
    assert found.value in x
    assert found.low is None or found.low <= found.value
    assert found.high is None or found.value <= found.high


@few
@given(st.lists(st.floats(-100, 100), min_size=1, max_size=50), st.floats(0.1, 0.8))
def test_a_higher_quantile_is_not_smaller(x, q):
    assert stats.quantile(x, q) <= stats.quantile(x, q + 0.1)


@few
@given(st.integers(1, 120), st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9, 0.95]))
def test_the_limits_have_the_ranks_of_the_definition(n, q):
    lows = [r for r in range(1, n + 1) if binom.cdf(r - 1, n, q) <= 0.025]
    highs = [s for s in range(1, n + 1) if binom.sf(s - 1, n, q) <= 0.025]
    found = stats.quantile_interval(range(1, n + 1), q)
    assert found.low == (max(lows) if lows else None)
    assert found.high == (min(highs) if highs else None)


@few
@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=400),
    st.one_of(st.sampled_from([0.25, 0.5, 0.75, 0.9, 0.95]), st.floats(0.01, 0.99)),
    st.one_of(st.sampled_from([0.75, 0.875, 0.95]), CONFIDENCE),
)
def test_the_limits_are_those_of_the_quantile_test_of_scipy(x, q, confidence):
    found = stats.quantile_interval(x, q, confidence=confidence)
    limits = quantile_test(x, q=0, p=q).confidence_interval(confidence)
    low, high = (None if math.isnan(limit) else limit for limit in limits)
    assert (found.low, found.high) == (low, high)


def test_the_p90_has_no_upper_limit_under_36_values():
    assert stats.quantile_interval(range(35), 0.9).flags == ("no_upper",)
    assert stats.quantile_interval(range(36), 0.9).high == 35


def test_no_value_has_no_quantile():
    assert stats.quantile([], 0.5) is None
    assert stats.quantile_interval([], 0.5) is None
    with pytest.raises(ValueError, match="q must"):
        stats.quantile([1], 1)
    with pytest.raises(ValueError, match=r"x\[0\]"):
        stats.quantile([math.inf], 0.5)


def mean(units):
    return sum(units) / len(units)


def test_the_bootstrap_is_refused_under_thirty_units():
    found = stats.bootstrap_interval(list(range(29)), mean, seed=1)
    assert (found.value, found.low, found.flags) == (14, None, ("few_units",))


def test_the_bootstrap_repeats_itself_and_holds_its_value():
    units = [place % 7 for place in range(40)]
    one = stats.bootstrap_interval(units, mean, seed=3, resamples=400)
    assert one == stats.bootstrap_interval(units, mean, seed=3, resamples=400)
    assert one != stats.bootstrap_interval(units, mean, seed=4, resamples=400)
    assert one.low < one.value < one.high
    student = stats.paired_mean(units)
    assert (one.low, one.high) == pytest.approx((student.low, student.high), abs=0.25)


def test_a_statistic_that_some_resample_leaves_undefined_has_no_interval():
    def share(units):
        return None if min(units) == max(units) else mean(units)

    units = [1] + [0] * 39
    found = stats.bootstrap_interval(units, share, seed=1, resamples=200)
    assert found.flags == ("undefined_resamples",)
    assert stats.bootstrap_interval([], mean, seed=1) is None
    equal = stats.bootstrap_interval([2] * 40, mean, seed=1, resamples=50)
    assert (equal.low, equal.flags) == (None, ("no_spread",))
