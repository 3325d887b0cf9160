"""Strata, inclusion probabilities, clusters and ratios: exact ends, equal cases, hand counts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import stats
from scoring.stats.clusters import wider
from tests.unit.scoring.stats.strategies import UNIT, parts

few = settings(max_examples=40)


@st.composite
def rate_strata(draw):
    """Return one to four strata with two graded or more."""
    found = []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(2, 40))
        size = n + draw(st.integers(0, 300))
        found.append(stats.rate_stratum(size, n, draw(st.integers(0, n))))
    return found


@few
@given(rate_strata())
def test_a_stratified_rate_holds_its_value_whatever_the_order_of_strata(strata):
    found = stats.stratified_rate(strata)
    assert 0 <= found.low <= found.value <= found.high <= 1
    turned = stats.stratified_rate(strata[::-1])
    assert turned.value == pytest.approx(found.value)
    assert turned.high == pytest.approx(found.high)


@few
@given(parts(most=60, least=2))
def test_one_stratum_of_a_large_frame_is_clopper_pearson(counts):
    x, n = counts
    found = stats.stratified_rate([stats.rate_stratum(10**9, n, x)])
    exact = stats.clopper_pearson(x, n)
    assert found.value == pytest.approx(x / n)
    # n_eff = n - 1 where there is spread (sample variance), n where there is none
    near = exact if x in {0, n} else stats.clopper_pearson(x / n * (n - 1), n - 1)
    assert (found.low, found.high) == pytest.approx((near.low, near.high), abs=1e-6)


def test_a_census_is_exact_and_says_so():
    strata = [stats.rate_stratum(10, 10, 4), stats.rate_stratum(5, 5, 5)]
    for found in (stats.stratified_rate(strata), stats.stratified(strata)):
        assert found.low == found.value == found.high == pytest.approx(9 / 15)
        assert found.flags == ("census",)


def test_alarmed_runs_enter_an_overall_rate_only_with_their_weight():
    alarmed, rest = stats.rate_stratum(20, 20, 2), stats.rate_stratum(980, 100, 95)
    assert stats.stratified_rate([alarmed, rest]).value == pytest.approx(0.02 * 0.1 + 0.98 * 0.95)


def test_a_stratum_with_a_single_grade_must_be_merged():
    with pytest.raises(ValueError, match="merge strata"):
        stats.rate_stratum(10, 1, 1)
    assert stats.rate_stratum(1, 1, 1).census


def test_an_empty_frame_has_no_rate():
    assert stats.stratified_rate([]) is None
    assert stats.stratified([stats.rate_stratum(0, 0, 0)]) is None


@few
@given(st.lists(st.floats(-50, 50), min_size=3, max_size=40))
def test_one_stratum_of_a_large_frame_is_students_mean(y):
    found, plain = stats.stratified([stats.value_stratum(10**12, y)]), stats.paired_mean(y)
    assert found.value == pytest.approx(plain.value, abs=1e-9)
    if plain.low is not None and np.std(y) > 1e-6:
        assert found.low == pytest.approx(plain.low, rel=1e-5, abs=1e-6)


def test_what_was_selected_but_not_graded_is_bounded_both_ways():
    worst, best = stats.ungraded_bounds([(1000, 90, 80, 10)])
    assert worst.value == pytest.approx(0.80)
    assert best.value == pytest.approx(0.90)


@few
@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=50), st.floats(0.1, 1000))
def test_kish_lies_between_1_and_n_and_knows_no_unit(w, factor):
    worth = stats.kish(w)
    assert 1 - 1e-9 <= worth <= len(w) + 1e-9
    assert stats.kish([factor * weight for weight in w]) == pytest.approx(worth)
    assert stats.kish([factor] * len(w)) == pytest.approx(len(w))


def test_no_weight_is_worth_nothing():
    assert stats.kish([]) is None
    assert stats.kish([0, 0]) is None
    with pytest.raises(ValueError, match="w must"):
        stats.kish([1, -1])


@few
@given(UNIT, st.floats(0, 0.05), st.integers(1, 300), st.integers(0, 300))
def test_korn_graubard_holds_its_value(p, variance, n, df):
    found = stats.korn_graubard(p, variance, n, df)
    if "few_units" in found.flags:
        assert found.low is None
    else:
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_without_variance_korn_graubard_uses_what_the_sample_is_worth():
    found = stats.korn_graubard(0.0, 0.0, 300, 19, worth=20)
    exact = stats.clopper_pearson(0, 20)
    assert (found.low, found.high) == pytest.approx((0, exact.high))
    assert stats.korn_graubard(0.5, 0.1, 0, 3) is None


def test_clusters_cap_the_effective_size_at_the_units():
    free = stats.korn_graubard(0.5, 1e-6, 40, 39)
    capped = stats.korn_graubard(0.5, 1e-6, 40, 39, clustered=True)
    exact = stats.clopper_pearson(20, 40)
    assert free.high - free.low < capped.high - capped.low
    assert (capped.low, capped.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


@few
@given(st.lists(st.integers(0, 1), min_size=2, max_size=60), st.floats(0.05, 0.95))
def test_equal_probabilities_give_the_plain_mean(y, pi):
    found = stats.hajek(y, [pi] * len(y))
    assert found.value == pytest.approx(sum(y) / len(y))
    assert stats.horvitz_thompson(y, [pi] * len(y)).value == pytest.approx(sum(y) / pi)
    rate = stats.hajek_rate(y, [pi] * len(y))
    assert 0 <= rate.low <= rate.value <= rate.high <= 1


def test_a_frame_drawn_as_a_whole_is_a_census():
    for make in (stats.hajek, stats.hajek_rate, stats.horvitz_thompson):
        found = make([1, 0, 1], [1, 1, 1])
        assert (found.low, found.flags) == (found.value, ("census",))
        assert make([], []) is None
        with pytest.raises(ValueError, match=r"pi\[0\]"):
            make([1], [0])
        with pytest.raises(ValueError, match="one length"):
            make([1], [1, 1])


@few
@given(st.lists(st.floats(-50, 50), min_size=2, max_size=40))
def test_clusters_of_one_are_students_mean(y):
    found, plain = stats.cluster_mean(y, [1] * len(y)), stats.paired_mean(y)
    assert found.value == pytest.approx(plain.value, abs=1e-12)
    if plain.low is not None and np.std(y) > 1e-3:
        assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=1e-8)


@pytest.mark.parametrize(
    ("sums", "sizes", "total", "flag"),
    [
        ([3], [4], None, "few_clusters"),
        ([1, 2], [2, 4], None, "no_spread"),
        ([1, 3], [2, 4], 2, "census"),
    ],
)
def test_clusters_say_why_they_have_no_interval(sums, sizes, total, flag):
    found = stats.cluster_mean(sums, sizes, clusters=total)
    assert flag in found.flags
    assert stats.cluster_mean([], []) is None
    assert (found.low == found.value) == (flag == "census")


def test_a_clustered_rate_without_failures_is_worth_its_clusters():
    found = stats.cluster_rate([0] * 20, [15] * 20)
    assert found.high == pytest.approx(stats.clopper_pearson(0, 20).high)
    with pytest.raises(ValueError, match="sums must not exceed"):
        stats.cluster_rate([3], [2])


@few
@given(st.lists(parts(most=20), min_size=2, max_size=20))
def test_a_clustered_rate_holds_its_value(clusters):
    found = stats.cluster_rate([x for x, _ in clusters], [n for _, n in clusters])
    assert 0 <= found.low <= found.value <= found.high <= 1


@few
@given(st.lists(st.lists(st.sampled_from([-1, 0, 1]), max_size=6), max_size=15))
def test_clustered_pairs_are_never_narrower_than_tango(clusters):
    found = stats.paired_clusters(clusters)
    d = [value for pairs in clusters for value in pairs]
    plain = stats.tango(d.count(1), d.count(-1), len(d))
    if plain is None:
        assert found is None
    elif "few_clusters" in found.flags:
        assert found.low is None
    else:
        assert found.low <= plain.low
        assert plain.high <= found.high
        assert found.value == pytest.approx(plain.value)


def test_single_pairs_are_tango():
    assert stats.paired_clusters([[1], [0], [-1], [1]]) == stats.tango(2, 1, 4)
    assert stats.paired_clusters([[0, 0]]).flags == ("few_clusters",)
    none_seen = stats.paired_clusters([[0] * 15] * 20)
    assert none_seen.high == pytest.approx(stats.tango(0, 0, 20).high)
    with pytest.raises(ValueError, match="-1, 0 and 1"):
        stats.paired_clusters([[2]])
    assert wider(stats.tango(2, 1, 4), None).low == stats.tango(2, 1, 4).low


@few
@given(st.lists(st.tuples(st.floats(0, 100), st.integers(0, 5)), min_size=1, max_size=40))
def test_a_ratio_holds_its_value(units):
    costs, solved = [c for c, _ in units], [s for _, s in units]
    found = stats.ratio(costs, solved)
    if sum(solved) == 0:
        assert found is None
    elif found.low is not None:
        assert found.low <= found.value <= found.high
    else:
        assert found.flags


@few
@given(st.lists(st.floats(0, 100), min_size=3, max_size=40))
def test_a_ratio_to_ones_is_students_mean(costs):
    found, plain = stats.ratio(costs, [1] * len(costs)), stats.paired_mean(costs)
    assert found.value == pytest.approx(plain.value, abs=1e-9)
    if found.low is not None and plain.low is not None:
        assert (found.low, found.high) == pytest.approx((plain.low, plain.high), abs=1e-6)


def test_fieller_solves_its_quadratic():
    c, s = [400, 1000, 600, 300, 800, 500, 700, 640], [1, 0, 2, 1, 1, 2, 1, 2]
    found = stats.ratio(c, s)
    t = 2.364624251
    for limit in (found.low, found.high):
        d = np.array(c) - limit * np.array(s)
        assert abs(d.mean()) == pytest.approx(t * d.std(ddof=1) / math.sqrt(len(d)), rel=1e-6)


def test_a_weak_denominator_has_no_interval():
    assert stats.ratio([5, 4, 3], [1, 0, 0]).flags == ("denominator_weak",)
    assert stats.ratio([5], [1]).flags == ("one_unit",)
    assert stats.ratio([2, 4], [1, 2]).flags == ("no_spread",)
    assert stats.ratio([2, 4], [0, 0]) is None


@few
@given(
    st.lists(st.tuples(st.floats(0, 100), st.integers(0, 5)), min_size=2, max_size=40),
    st.floats(0.5, 2000),
)
def test_a_ratio_of_sums_is_the_ratio_of_the_units_in_any_currency(units, scale):
    found = stats.ratio([c for c, _ in units], [s for _, s in units])
    scaled = stats.ratio([c * scale for c, _ in units], [s for _, s in units])
    if found is None:
        assert scaled is None
        return
    assert scaled.value == pytest.approx(found.value * scale)
    assert scaled.flags == found.flags
    if found.low is not None:
        limits = (found.low * scale, found.high * scale)
        assert (scaled.low, scaled.high) == pytest.approx(limits, rel=1e-6, abs=1e-6)
