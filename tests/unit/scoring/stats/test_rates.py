"""Shares: bounds, symmetry, and what scipy and statsmodels say."""

import math
import subprocess
import sys

import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import stats
from scoring.stats.arguments import t_of
from tests.oracles import proportion
from tests.unit.scoring.stats.strategies import CONFIDENCE, parts

few = settings(max_examples=40)


@few
@given(parts(), CONFIDENCE)
def test_wilson_holds_its_value_and_equals_statsmodels(counts, confidence):
    x, n = counts
    found = stats.wilson(x, n, confidence=confidence)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low == pytest.approx(
        proportion.proportion_confint(x, n, 1 - confidence, method="wilson")[0], abs=1e-9
    )
    assert found.high == pytest.approx(
        proportion.proportion_confint(x, n, 1 - confidence, method="wilson")[1], abs=1e-9
    )


@few
@given(
    st.integers(1, 10**12).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), CONFIDENCE
)
def test_wilson_equals_scipy_at_every_size(counts, confidence):
    x, n = counts
    found = stats.wilson(x, n, confidence=confidence)
    limits = scipy.stats.binomtest(x, n).proportion_ci(confidence, method="wilson")
    assert (found.low, found.high) == pytest.approx((limits.low, limits.high), rel=1e-9, abs=1e-15)
    assert 0 <= found.low <= found.value <= found.high <= 1


@few
@given(st.floats(1, 1e6), CONFIDENCE)
def test_the_quantile_of_student_is_that_of_scipy_to_the_last_bit(df, confidence):
    assert t_of(confidence, df) == float(scipy.stats.t.ppf(0.5 + confidence / 2, df))


@few
@given(
    st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), CONFIDENCE
)
def test_clopper_pearson_equals_scipy_at_every_size(counts, confidence):
    x, n = counts
    found = stats.clopper_pearson(x, n, confidence=confidence)
    limits = scipy.stats.binomtest(x, n).proportion_ci(confidence, method="exact")
    assert (found.low, found.high) == pytest.approx((limits.low, limits.high), rel=1e-9, abs=1e-11)


def test_intervals_of_pages_import_only_the_special_functions_of_scipy():
    script = (
        "import sys; from scoring import stats\n"
        "stats.clopper_pearson(3, 10); stats.quantile_interval(range(40), 0.5)\n"
        "print('scipy.special' in sys.modules, 'scipy.stats' in sys.modules)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert out.stdout.split() == ["True", "False"], out.stdout + out.stderr


def test_a_wilson_interval_imports_no_scipy():
    script = (
        "import sys; from scoring.stats.rates import rate; rate(3, 10, unit='run')\n"
        "print(sorted({'scipy', 'numpy'} & {*sys.modules}))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert out.stdout.strip() == "[]", out.stdout + out.stderr


@few
@given(parts(), CONFIDENCE)
def test_clopper_pearson_holds_its_value_and_equals_statsmodels(counts, confidence):
    x, n = counts
    found = stats.clopper_pearson(x, n, confidence=confidence)
    assert 0 <= found.low <= found.value <= found.high <= 1
    low, high = proportion.proportion_confint(x, n, 1 - confidence, method="beta")
    assert found.low == pytest.approx(0 if x == 0 else low, abs=1e-8)
    assert found.high == pytest.approx(1 if x == n else high, abs=1e-8)


@few
@given(parts(), CONFIDENCE)
def test_wilson_lies_inside_a_higher_confidence(counts, confidence):
    wide = stats.wilson(*counts, confidence=(1 + confidence) / 2)
    narrow = stats.wilson(*counts, confidence=confidence)
    assert wide.low <= narrow.low
    assert narrow.high <= wide.high


@given(st.integers(1, 500))
@few
def test_no_success_starts_at_exactly_zero_and_all_end_at_exactly_one(n):
    for make in (stats.wilson, stats.clopper_pearson):
        assert make(0, n).low == 0
        assert make(n, n).high == 1


@few
@given(st.floats(0.01, 300), st.floats(0, 1))
def test_clopper_pearson_takes_effective_sizes(n, share):
    found = stats.clopper_pearson(share * n, n)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_whole_number_of_units_is_the_same_as_a_real_one():
    whole, real = stats.clopper_pearson(7, 20), stats.clopper_pearson(7 + 1e-9, 20)
    assert whole.low == pytest.approx(real.low, abs=1e-7)
    assert whole.high == pytest.approx(real.high, abs=1e-7)


def test_nothing_seen_is_none_and_never_zero_percent():
    assert stats.wilson(0, 0) is None
    assert stats.clopper_pearson(0, 0) is None
    assert stats.newcombe(0, 0, 1, 2) is None
    assert stats.zero_event_upper(0) == 1
    assert stats.zero_exposure_upper(0) is None
    shown = stats.rate(0, 0, unit="task")
    assert (shown.value, shown.low, shown.high, shown.n) == (None, 0, 1, 0)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: stats.wilson(3, 2), "x"),
        (lambda: stats.wilson(-1, 2), "x"),
        (lambda: stats.wilson(1.5, 2), "x"),
        (lambda: stats.wilson(math.nan, 2), "x"),
        (lambda: stats.wilson(1, 2, confidence=0.5), "confidence"),
        (lambda: stats.wilson(1, 2, confidence=math.nan), "confidence"),
        (lambda: stats.clopper_pearson(math.nan, 2), "x"),
        (lambda: stats.newcombe(1, 2, 3, 2), "x2"),
        (lambda: stats.zero_event_upper(-1), "n"),
        (lambda: stats.zero_exposure_upper(math.inf), "exposure"),
        (lambda: stats.runs_for_zero(0), "p"),
        (lambda: stats.runs_for_zero(1), "p"),
        (lambda: stats.open_bounds(3, 4, 2), "open"),
    ],
)
def test_an_impossible_argument_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()


@few
@given(st.floats(0.0005, 0.5))
def test_runs_for_zero_is_the_smallest_number_that_shows_it(p):
    n = stats.runs_for_zero(p)
    assert stats.zero_event_upper(n) <= p * (1 + 1e-12)
    assert n == 1 or stats.zero_event_upper(n - 1) > p


@few
@given(st.integers(1, 400))
def test_the_zero_event_bound_is_the_exact_one_sided_limit(n):
    exact = stats.clopper_pearson(0, n, confidence=0.9).high
    assert stats.zero_event_upper(n) == pytest.approx(exact, abs=1e-9)


@few
@given(parts(), parts())
def test_swapping_the_sides_mirrors_newcombe(first, second):
    one, other = stats.newcombe(*first, *second), stats.newcombe(*second, *first)
    assert -1 <= one.low <= one.value <= one.high <= 1
    assert (one.value, one.low, one.high) == pytest.approx(
        (-other.value, -other.high, -other.low), abs=1e-12
    )


@few
@given(parts(most=80), parts(most=80))
def test_newcombe_equals_statsmodels(first, second):
    found = stats.newcombe(*first, *second)
    low, high = proportion.confint_proportions_2indep(
        *first, *second, method="newcomb", compare="diff"
    )
    assert found.low == pytest.approx(float(low), abs=1e-9)
    assert found.high == pytest.approx(float(high), abs=1e-9)


@few
@given(parts(), st.integers(0, 50))
def test_open_units_keep_both_ends(counts, undecided):
    x, n = counts
    found = stats.open_bounds(x, n + undecided, undecided)
    assert found.low == x / (n + undecided)
    assert found.high == (x + undecided) / (n + undecided)
    assert (found.value is None) == (undecided > 0)


def test_weeks_that_only_one_version_has_are_left_out():
    found = stats.compare_weeks([(8, 10, 6, 10), (5, 5, 0, 0)])
    assert found.value == pytest.approx(0.2)
    assert found.flags == ("weeks_of_one_version", "pooled")
    assert stats.compare_weeks([(5, 5, 0, 0)]) is None


def test_equal_weeks_are_pooled_into_newcombe():
    found = stats.compare_weeks([(8, 10, 12, 20), (18, 20, 20, 40)])
    alone = stats.newcombe(26, 30, 32, 60)
    assert (found.value, found.low, found.high) == (alone.value, alone.low, alone.high)


def test_other_weeks_get_mantel_haenszel_weights():
    found = stats.compare_weeks([(9, 10, 24, 30), (10, 40, 1, 10)])
    weights = [10 * 30 / 40, 40 * 10 / 50]
    by_hand = (weights[0] * (0.9 - 0.8) + weights[1] * (0.25 - 0.1)) / sum(weights)
    assert found.value == pytest.approx(by_hand)
    variance = (
        weights[0] ** 2 * (0.9 * 0.1 / 9 + 0.8 * 0.2 / 29)
        + weights[1] ** 2 * (0.25 * 0.75 / 39 + 0.1 * 0.9 / 9)
    ) / sum(weights) ** 2
    assert found.se == pytest.approx(math.sqrt(variance))
    assert found.high - found.value == pytest.approx(1.959964 * found.se, rel=1e-6)


def test_weeks_without_spread_never_give_a_zero_width():
    found = stats.compare_weeks([(10, 10, 20, 20), (10, 10, 5, 5)])
    assert "pooled" in found.flags
    assert found.low < found.value == 0 < found.high
