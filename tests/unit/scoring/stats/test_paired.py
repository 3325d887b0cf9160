"""Paired comparisons: closed forms, brute force, and other programs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from scoring import stats
from tests.oracles import tables, weighted
from tests.unit.scoring.stats.strategies import CONFIDENCE, discordant

few = settings(max_examples=40)
Z = 1.959963984540054


@few
@given(discordant(), CONFIDENCE)
def test_tango_holds_its_value_and_always_has_width(counts, confidence):
    found = stats.tango(*counts, confidence=confidence)
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high


@few
@given(discordant())
def test_swapping_the_sides_mirrors_tango(counts):
    b, c, n = counts
    one, other = stats.tango(b, c, n), stats.tango(c, b, n)
    assert (one.low, one.value, one.high) == pytest.approx(
        (-other.high, -other.value, -other.low), abs=1e-9
    )


def score_by_likelihood(b, c, n, d):
    """Return Tango's statistic with the constrained estimate found by plain maximisation."""

    def loss(q):
        shares = ((b, q + d), (c, q), (n - b - c, 1 - 2 * q - d))
        return -sum(k * math.log(max(p, 1e-300)) for k, p in shares if k)

    low, high = max(0.0, -d), (1 - d) / 2
    q = optimize.minimize_scalar(
        loss, bounds=(low, high), method="bounded", options={"xatol": 1e-13}
    ).x
    return (b - c - n * d) / math.sqrt(n * (2 * q + d - d * d))


@few
@given(discordant(most=120).filter(lambda x: x[0] + x[1] > 0 and max(x[:2]) < x[2]))
def test_the_limits_of_tango_are_where_the_score_is_1_96(counts):
    found = stats.tango(*counts)
    assert score_by_likelihood(*counts, found.low) == pytest.approx(Z, abs=2e-3)
    assert score_by_likelihood(*counts, found.high) == pytest.approx(-Z, abs=2e-3)


def test_no_discordant_pair_has_the_width_of_the_closed_form():
    found = stats.tango(0, 0, 50)
    assert found.high == -found.low == pytest.approx(Z**2 / (50 + Z**2))
    assert stats.tango(0, 0, 0) is None


def test_only_one_side_passing_ends_at_one():
    found = stats.tango(20, 0, 20)
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx((20 - Z**2) / (20 + Z**2))
    mirrored = stats.tango(0, 20, 20)
    assert (mirrored.low, mirrored.high) == (-1, -found.low)


def test_tango_refuses_more_discordant_pairs_than_pairs():
    with pytest.raises(ValueError, match=r"b \+ c"):
        stats.tango(3, 3, 5)
    with pytest.raises(ValueError, match="b must not be negative"):
        stats.tango(-1, 3, 5)


@few
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=60))
def test_the_paired_mean_equals_statsmodels(d):
    found = stats.paired_mean(d)
    if "no_spread" in found.flags:
        assert found.low is None
        return
    assert found.low <= found.value <= found.high
    if np.std(d) > 1e-6 * max(map(abs, d)):
        expected = weighted.DescrStatsW(d).tconfint_mean(0.05)
        assert (found.low, found.high) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("d", "flag"), [([2.0], "one_unit"), ([0.1] * 5, "no_spread"), ([0, 0, 0], "no_spread")]
)
def test_a_mean_without_spread_has_no_interval(d, flag):
    found = stats.paired_mean(d)
    assert (found.low, found.high, found.flags) == (None, None, (flag,))
    assert stats.t_test(d) is None


def test_no_difference_at_all_gives_none():
    assert stats.paired_mean([]) is None
    with pytest.raises(ValueError, match=r"d\[1\]"):
        stats.paired_mean([1, math.nan])


@few
@given(st.lists(st.integers(-6, 6), min_size=1, max_size=10))
def test_sign_flips_equal_the_enumeration(d):
    patterns = itertools.product((-1, 1), repeat=len(d))
    sums = [abs(sum(s * v for s, v in zip(signs, d, strict=True))) for signs in patterns]
    expected = sum(total >= abs(sum(d)) for total in sums) / len(sums)
    assert stats.sign_flip(d) == pytest.approx(expected, abs=1e-12)


@few
@given(st.lists(st.integers(-6, 6), max_size=30), st.integers(1, 5))
def test_sign_flips_know_no_order_no_side_and_no_unit(d, factor):
    p = stats.sign_flip(d)
    assert 0 < p <= 1
    assert stats.sign_flip(sorted(d)) == pytest.approx(p)
    assert stats.sign_flip([-value for value in d]) == pytest.approx(p)
    assert stats.sign_flip([value * factor for value in d]) == pytest.approx(p)


def test_sign_flips_count_hundreds_of_tasks_exactly():
    assert stats.sign_flip([1] * 400) == pytest.approx(2 * 0.5**400)


def test_real_differences_are_permuted_and_repeatable():
    d = [0.31, -0.12, 0.44, 0.05, 0.5, 0.27, -0.2, 0.33]
    patterns = itertools.product((-1, 1), repeat=len(d))
    sums = [abs(sum(s * v for s, v in zip(signs, d, strict=True))) for signs in patterns]
    expected = sum(total >= abs(sum(d)) - 1e-12 for total in sums) / len(sums)
    assert stats.sign_flip(d, seed=1) == pytest.approx(expected)
    many = [value + place / 1000 for place, value in enumerate(d * 4)]
    assert stats.sign_flip(many, seed=7) == stats.sign_flip(many, seed=7)


@pytest.mark.parametrize("shift", [0.0, 0.6])
def test_random_signs_agree_with_counting_them_out(shift):
    chance = np.random.default_rng(5)
    whole = [int(v) for v in np.round(chance.normal(shift, 3, 60))]
    exact = stats.sign_flip(whole)
    drawn = stats.sign_flip([v + 1e-9 * (v != 0) for v in whole], seed=11)
    assert abs(drawn - exact) < 5 * math.sqrt(exact * (1 - exact) / 99_999) + 2e-5


def test_a_tie_of_the_observed_sum_counts_whatever_the_order_of_adding():
    thirds = [1 / 3, -1 / 3, 2 / 3, 1 / 3, 1 / 3, -2 / 3]
    patterns = itertools.product((-1, 1), repeat=len(thirds))
    sums = [
        abs(sum(s * round(3 * v) for s, v in zip(signs, thirds, strict=True))) for signs in patterns
    ]
    expected = sum(total >= 2 for total in sums) / len(sums)
    assert stats.sign_flip(thirds) == pytest.approx(expected)


def test_no_difference_is_no_evidence():
    assert stats.sign_flip([0, 0]) == 1
    assert stats.sign_test(0, 0) == 1
    assert stats.mcnemar_midp(0, 0) == 1
    assert stats.mcnemar_chi2(0, 0) is None


@few
@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_statsmodels(b, c):
    table = [[5, b], [c, 5]]
    assert stats.sign_test(b, c) == pytest.approx(float(tables.mcnemar(table, exact=True).pvalue))
    assert 0 < stats.mcnemar_midp(b, c) <= 1
    if b + c:
        plain = tables.mcnemar(table, exact=False, correction=False)
        assert stats.mcnemar_chi2(b, c).statistic == pytest.approx(float(plain.statistic))
        assert stats.mcnemar_chi2(b, c).p == pytest.approx(float(plain.pvalue))
        assert stats.mcnemar_midp(b, c) <= stats.sign_test(b, c)


def test_equal_counts_have_the_mid_p_of_the_definition():
    assert stats.mcnemar_midp(2, 2) == pytest.approx(1 - 6 / 16 / 2)


def test_pass_rates_become_whole_numbers():
    thirds = [Fraction(2, 3) - Fraction(1, 2), Fraction(0), Fraction(-1, 4)]
    assert stats.whole_differences(thirds) == [2, 0, -3]
    assert stats.whole_differences([Fraction(4, 3), Fraction(-2, 3)]) == [2, -1]
    assert stats.whole_differences([]) == []


def unequal_suite(tasks, seed):
    """Return suites whose tasks have 500 to 3,000 trials each, and the differences as floats."""
    chance = np.random.default_rng(seed)
    new, old, gains = {}, {}, []
    for task in range(tasks):
        n, m = (int(trials) for trials in chance.integers(500, 3001, 2))
        p = chance.uniform(0.2, 0.8)
        c = int(chance.binomial(n, p))
        k = int(chance.binomial(m, np.clip(p + chance.normal(0, 0.2), 0, 1)))
        new[str(task)], old[str(task)] = (n, c), (m, k)
        gains.append(c / n - k / m)
    return new, old, gains


@pytest.mark.parametrize("tasks", [50, 150])
def test_tasks_with_thousands_of_unequal_trials_have_the_interval_and_p_of_their_differences(tasks):
    new, old, gains = unequal_suite(tasks, seed=tasks)
    found = stats.compare_tasks(new, old, seed=1)
    expected = weighted.DescrStatsW(gains)
    assert (found.low, found.high) == pytest.approx(expected.tconfint_mean())
    assert found.p_values["t"] == pytest.approx(expected.ttest_mean(0)[1])
    # By random signs: next to the t test, as both test the same mean of many differences.
    assert found.p_values["sign_flip"] == pytest.approx(found.p_values["t"], abs=0.02)
    assert stats.whole_differences([Fraction(*reversed(pair)) for pair in new.values()]) is None


def suite_of_fifty():
    """Return the fifty bugs: 9 better (3 by a third, 6 by two), 3 worse, 38 the same."""
    gains = [1] * 3 + [2] * 6 + [-1] * 3 + [0] * 38
    new = {f"bug {place:02}": (3, max(gain, 0)) for place, gain in enumerate(gains)}
    old = {f"bug {place:02}": (3, max(-gain, 0)) for place, gain in enumerate(gains)}
    return new, old


def test_fifty_bugs_are_shown_with_interval_tests_counts_and_the_twelve_to_read():
    found = stats.compare_tasks(*suite_of_fifty())
    assert found.value == pytest.approx(0.08)
    assert (found.low, found.high) == pytest.approx((0.0095, 0.1505), abs=5e-5)
    assert found.p_values["t"] == pytest.approx(0.027, abs=5e-4)
    assert found.p_values["sign_flip"] == pytest.approx(0.041, abs=5e-4)
    assert found.p_values["sign_test"] == pytest.approx(0.146, abs=5e-4)
    assert (found.better, found.same, found.worse) == (9, 38, 3)
    assert len(found.changed) == 12
    assert found.changed[0].size == pytest.approx(2 / 3)
    assert (found.n, found.unit, found.method) == (50, "task", "t over tasks")


def test_nine_better_and_three_worse_alone_do_not_say_how_sure_it_is():
    """Of the patterns of sizes with a mean of 8 points, some have an interval above zero only."""
    above = patterns = 0
    for ones, twos in itertools.product(range(10), range(10)):
        if ones + twos > 9:
            continue
        for w1, w2 in itertools.product(range(4), range(4)):
            if w1 + w2 > 3:
                continue
            threes, w3 = 9 - ones - twos, 3 - w1 - w2
            sizes = [1] * ones + [2] * twos + [3] * threes + [-1] * w1 + [-2] * w2 + [-3] * w3
            if sum(sizes) != 12:
                continue
            patterns += 1
            found = stats.paired_mean([size / 3 for size in sizes + [0] * 38])
            above += found.low > 0
    assert (patterns, above) == (46, 5)


def test_one_trial_per_task_is_tango_and_exact_mcnemar():
    new = {str(task): (1, int(task < 14)) for task in range(30)}
    old = {str(task): (1, int(4 <= task < 10)) for task in range(30)}
    found = stats.compare_tasks(new, old)
    exact = stats.tango(8, 0, 30)
    assert found.method == "tango"
    assert (found.value, found.low, found.high) == (exact.value, exact.low, exact.high)
    assert found.p_values["mcnemar"] == stats.sign_test(8, 0)


def test_what_only_one_side_tried_is_counted_and_cases_are_averaged_into_tasks():
    new = {"a1": (2, 2), "a2": (2, 1), "b": (2, 0), "only": (2, 1), "lost": (0, 0)}
    old = {"a1": (2, 1), "a2": (2, 1), "b": (2, 1), "gone": (1, 1), "lost": (2, 2)}
    found = stats.compare_tasks(new, old, task_of={"a1": "a", "a2": "a"})
    assert found.excluded == {"only_new": 1, "only_old": 1, "no_valid_trial": 1}
    assert {change.name: change.size for change in found.changed} == {"a": 0.25, "b": -0.5}
    assert found.n == 2


def test_no_common_task_has_no_value():
    found = stats.compare_tasks({"a": (1, 1)}, {"b": (1, 1)})
    assert (found.value, found.low, found.n, found.p_values) == (None, None, 0, {})
