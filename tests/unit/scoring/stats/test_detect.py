"""Detectors, changes and budgets: closed forms, brute force, and what never pages."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special
from scipy import stats as scipy_stats

from scoring import stats
from scoring.stats.burn import RULES, burn_error_rate
from scoring.stats.detect import alternative_rate, reference_rate, wanted_run_length

few = settings(max_examples=40)


def test_a_threshold_that_one_failure_reaches_waits_one_over_p():
    for p in (0.02, 0.3, 1):
        assert stats.run_length(2, p, 0.1, 0.3) == pytest.approx(1 / p)


@pytest.mark.parametrize(("p0", "q", "threshold", "p"), [(0.2, 0.4, 6, 0.2), (0.1, 0.3, 12, 0.3)])
def test_the_run_length_is_that_of_simulated_detectors(p0, q, threshold, p):
    chance = np.random.default_rng(11)
    lengths = []
    for _ in range(400):
        m, n = 1.0, 0
        while m < threshold:
            m = max(m, 1) * (q / p0 if chance.random() < p else (1 - q) / (1 - p0))
            n += 1
        lengths.append(n)
    found = stats.run_length(threshold, p, p0, q)
    assert found == pytest.approx(np.mean(lengths), abs=4 * np.std(lengths) / 20 + 0.04 * found)


def test_a_higher_threshold_waits_longer_and_a_higher_rate_shorter():
    lengths = [stats.run_length(a, 0.1, 0.1, 0.25) for a in (3, 10, 30, 100)]
    assert lengths == sorted(lengths)
    delays = [stats.run_length(30, p, 0.1, 0.25) for p in (0.1, 0.2, 0.4)]
    assert delays == sorted(delays, reverse=True)
    assert stats.run_length(30, 0, 0.1, 0.25) is None


@pytest.mark.parametrize(
    ("p0", "q", "guaranteed", "calibrated"),
    [(0.02, 0.06, 236, 83), (0.05, 0.15, 90, 44), (0.1, 0.2, 140, 63), (0.2, 0.35, 102, 51)],
)
def test_calibration_halves_the_delay_and_keeps_the_promise(p0, q, guaranteed, calibrated):
    found = stats.calibrated_threshold(p0, q, 1000)
    assert found.guaranteed == 1000
    assert found.in_control >= 1000
    assert found.delay == pytest.approx(calibrated, abs=0.6)
    assert stats.run_length(1000, q, p0, q) == pytest.approx(guaranteed, abs=0.6)
    if p0 == 0.05:
        assert found.calibrated == pytest.approx(36.5, abs=0.1)


def test_the_alarm_knows_where_its_evidence_began():
    found = stats.bernoulli_cusum([0, 0, 1, 0, 1, 1, 1, 0, 0], 0.05, 0.25, 100)
    assert (found.alarm, found.since) == (6, 2)  # 5, 3.9, 19.7, 98.7, 493
    quiet = stats.bernoulli_cusum([0] * 5, 0.05, 0.25, 100)
    assert (quiet.alarm, quiet.since) == (None, 4)
    assert stats.bernoulli_cusum([], 0.05, 0.25, 100).values == ()
    assert max(stats.bernoulli_cusum([1] * 2000, 0.05, 0.25, 100).values) == 1e300


def test_the_reference_is_the_cautious_end_and_the_shift_is_bounded():
    assert reference_rate(5, 100) == stats.wilson(5, 100, confidence=0.8).high
    assert reference_rate(0, 0) is None
    assert [round(alternative_rate(p), 6) for p in (0.02, 0.05, 0.2)] == [0.06, 0.15, 0.3]
    assert wanted_run_length(4, 500, 3) == 6000
    for bad in (lambda: alternative_rate(0.95), lambda: stats.run_length(9, 0.1, 0.3, 0.2)):
        with pytest.raises(ValueError, match="q must"):
            bad()
    with pytest.raises(ValueError, match="threshold"):
        stats.bernoulli_cusum([1], 0.1, 0.2, 1)


@few
@given(st.lists(st.floats(-3, 3), max_size=40))
def test_turning_the_values_swaps_the_two_sums(x):
    one = stats.tabular_cusum(x, 0, 0.5, 4)
    other = stats.tabular_cusum([-value for value in x], 0, 0.5, 4)
    assert one.high == pytest.approx(other.low)
    assert one.alarm == other.alarm
    assert all(value >= 0 for value in one.high)


def test_a_huge_limit_is_never_reached_soon():
    lengths = [stats.cusum_arl_normal(0.5, h) for h in (1, 3, 5)]
    assert lengths == sorted(lengths)
    assert stats.cusum_arl_normal(0.5, 1e-6) == pytest.approx(
        1 / float(scipy_stats.norm.sf(0.5)), rel=1e-3
    )
    with pytest.raises(ValueError, match="h must"):
        stats.cusum_arl_normal(0.5, 0)
    with pytest.raises(ValueError, match="k must"):
        stats.tabular_cusum([1], 0, -1, 4)


# --- when, mix, slices ---------------------------------------------------------------------


def run_lengths_by_enumeration(x, hazard):
    """Return the run-length posterior from all 2^n places of changes."""
    n, weights = len(x), [0.0] * (len(x) + 1)
    for changes in itertools.product((False, True), repeat=n):
        weight, ones, zeros, length = 1.0, 0, 0, 0
        pieces = []
        for seen, change in zip(x, changes, strict=True):
            ones, zeros, length = ones + seen, zeros + 1 - seen, length + 1
            weight *= hazard if change else 1 - hazard
            if change:
                pieces.append((ones, zeros))
                ones = zeros = length = 0
        pieces.append((ones, zeros))
        for a, b in pieces:
            weight *= math.exp(special.betaln(1 + a, 1 + b))
        weights[length] += weight
    return [weight / sum(weights) for weight in weights]


@few
@given(st.lists(st.integers(0, 1), max_size=8), st.floats(0.01, 0.9))
def test_run_lengths_equal_the_enumeration_and_add_to_one(x, hazard):
    found = stats.bocpd(x, hazard)
    assert sum(found) == pytest.approx(1)
    assert found == pytest.approx(run_lengths_by_enumeration(x, hazard), abs=1e-9)


def test_a_long_series_stays_a_distribution():
    found = stats.bocpd([0] * 500 + [1] * 30, 0.01)
    assert sum(found) == pytest.approx(1)
    assert 25 <= int(np.argmax(found)) <= 32


@few
@given(st.lists(st.floats(-2, 2), max_size=30))
def test_page_hinkley_never_falls_below_zero(x):
    found = stats.page_hinkley(x, 0.05, 1e9)
    assert all(value >= 0 for value in found.values)
    assert found.alarm is None


@few
@given(st.lists(st.tuples(*[st.floats(0.01, 1)] * 2, *[st.floats(0, 1)] * 2), min_size=1))
def test_mix_and_rate_add_to_the_change(slices):
    w0, w1, p0, p1 = (np.array(column) for column in zip(*slices, strict=True))
    w0, w1 = w0 / w0.sum(), w1 / w1.sum()
    found = stats.mix_and_rate(list(w0), list(p0), list(w1), list(p1))
    assert found.mix + found.rate == pytest.approx(float((w1 * p1).sum() - (w0 * p0).sum()))
    assert found.total == found.mix + found.rate
    assert stats.standardised(list(w0), list(p0)) == pytest.approx(float((w0 * p0).sum()))
    turned = stats.mix_and_rate(list(w1), list(p1), list(w0), list(p0))
    assert turned.mix == pytest.approx(-found.mix)


def test_shares_that_do_not_add_to_one_are_refused():
    with pytest.raises(ValueError, match="w1 must add to 1"):
        stats.mix_and_rate([1], [0.5], [0.5], [0.5])
    with pytest.raises(ValueError, match="one length"):
        stats.standardised([1], [])


def test_a_drop_while_both_slices_improved_is_the_mix():
    found = stats.mix_and_rate([0.7, 0.3], [0.95, 0.7], [0.4, 0.6], [0.96, 0.72])
    assert (found.mix, found.rate) == pytest.approx((-0.0735, 0.0145))


@few
@given(st.lists(st.floats(0, 1000), max_size=12), st.floats(0.01, 0.5))
def test_e_bh_keeps_the_largest_and_more_of_them_at_a_higher_alpha(e_values, alpha):
    kept = stats.e_bh(e_values, alpha)
    assert kept == sorted(kept)
    assert set(kept) <= set(stats.e_bh(e_values, min(0.99, alpha * 1.5)))
    if kept:
        least = min(e_values[place] for place in kept)
        assert least >= len(e_values) / (len(kept) * alpha) * (1 - 1e-12)
        assert all(e <= least for place, e in enumerate(e_values) if place not in kept)


def test_evidence_without_end_counts_and_nan_does_not():
    assert stats.e_bh([math.inf, 0]) == [0]
    assert stats.e_bh([]) == []
    with pytest.raises(ValueError, match="e_values"):
        stats.e_bh([-1])
    with pytest.raises(ValueError, match="e_values"):
        stats.e_bh([math.nan])


def test_the_mix_test_knows_no_change_and_sees_a_large_one():
    same = stats.mix_drift([100, 50, 25], [20, 10, 5], seed=1, shuffles=499)
    other = stats.mix_drift([100, 50, 25], [5, 10, 20], seed=1, shuffles=499)
    assert same.p > 0.5
    assert other.p < 0.01
    assert other == stats.mix_drift([100, 50, 25], [5, 10, 20], seed=1, shuffles=499)
    expected = scipy_stats.chi2_contingency([[100, 50, 25], [5, 10, 20]], correction=False)
    assert other.statistic == pytest.approx(float(expected.statistic))
    assert stats.mix_drift([5, 0], [3, 0], seed=1) is None
    assert stats.mix_drift([5, 3], [0, 0], seed=1) is None
    assert stats.mix_drift([], [], seed=1) is None


def test_the_stability_index_is_shown_only_on_enough_units():
    assert stats.psi([100, 100], [100, 100]) == 0
    assert stats.psi([100, 99], [100, 100]) is None
    assert stats.psi([200, 0], [100, 100]) is None
    assert stats.psi_null_mean(10, 0, 5) is None
    with pytest.raises(ValueError, match="bins"):
        stats.psi_null_mean(0, 5, 5)


def test_shrunk_rates_move_towards_the_whole():
    assert stats.shrunk(0, 4, 0.5, 4) == 0.25
    assert stats.shrunk(3, 4, 0.5, 0) == 0.75
    assert stats.shrunk(0, 0, 0.5, 0) is None
    with pytest.raises(ValueError, match="strength"):
        stats.shrunk(1, 2, 0.5, -1)


# --- error budgets -------------------------------------------------------------------------


def test_one_failure_in_ten_runs_burns_a_month_and_does_not_page():
    assert stats.burn(1, 10, 0.999) == pytest.approx(100)
    assert stats.budget_spent(100, 1) == pytest.approx(0.139, abs=5e-4)
    assert not stats.burns(RULES[0], 0.999, (1, 10), (1, 10))
    assert not stats.burns(RULES[0], 0.999, (2, 100), (1, 5))
    assert stats.burns(RULES[0], 0.999, (3, 100), (1, 5))
    assert not stats.burns(RULES[0], 0.999, (3, 100), (0, 0))
    assert stats.burn(0, 0, 0.999) is None


def test_a_burn_that_can_never_fire_is_refused_with_the_mend():
    with pytest.raises(ValueError, match="use at most 10"):
        stats.check_burn(14.4, 0.9)
    stats.check_burn(5, 0.9)
    stats.check_burn(14.4, 0.9306)
    with pytest.raises(ValueError, match="can never fire"):
        stats.burns(RULES[0], 0.9, (3, 10), (1, 5))


@few
@given(st.floats(0.5, 20), st.floats(0.9, 0.9999))
def test_at_the_least_number_of_runs_one_failure_does_not_trip(times, slo):
    n = stats.least_runs(times, slo)
    assert stats.burn(1, n, slo) < times * (1 + 1e-9)
    if n > 1 and not math.isclose(1 / burn_error_rate(times, slo), n - 1, rel_tol=1e-6):
        assert stats.burn(1, n - 1, slo) >= times


def test_the_three_rules_spend_2_5_and_10_percent():
    spent = [stats.budget_spent(rule.times, rule.long_hours) for rule in RULES]
    assert spent == pytest.approx([0.02, 0.05, 0.10])
