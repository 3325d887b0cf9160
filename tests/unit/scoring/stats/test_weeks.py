"""Two versions inside strata whose runs come in clusters: by hand, equal cases, coverage."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import stats

RATES = {"a": 0.5, "b": 0.7, "c": 0.35}


@st.composite
def full_weeks(draw):
    n1, n2 = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    return (draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from("abc"), full_weeks(), min_size=1))
def test_clusters_of_one_run_have_the_standard_error_of_independent_runs(weeks):
    singles = []
    for name, (x1, n1, x2, n2) in weeks.items():
        for alike, counts in (
            (x1, (1, 1, 0, 0)),
            (n1 - x1, (0, 1, 0, 0)),
            (x2, (0, 0, 1, 1)),
            (n2 - x2, (0, 0, 0, 1)),
        ):
            singles.append(({name: counts}, alike))
    found, plain = stats.compare_clustered(singles), stats.mantel_haenszel(list(weeks.values()))
    assert found.value == pytest.approx(plain.value)
    if plain.se is None:
        assert (found.low, found.flags) == (None, ("no_spread",))
    else:
        assert found.se == pytest.approx(plain.se)
        assert found.low <= plain.low + 1e-12


def test_clusters_of_both_versions_in_one_stratum_are_linearised_together():
    """Three customers, each served by both versions: the sum of squares cluster by cluster."""
    clusters = [(3, 4, 2, 3), (2, 3, 1, 3), (1, 2, 1, 2)]
    found = stats.compare_clustered([({"all": counts}, 1) for counts in clusters])
    z = [(x1 - 6 / 9 * n1) / 9 - (x0 - 4 / 8 * n0) / 8 for x1, n1, x0, n0 in clusters]
    assert found.value == pytest.approx(6 / 9 - 4 / 8)
    assert found.se == pytest.approx(math.sqrt(3 / 2 * sum(value**2 for value in z)))
    assert found.df == 2


def test_customers_that_fail_together_are_ten_and_not_two_hundred():
    """10 customers of 20 runs a side, 8 and 5 of them always pass: by hand."""
    apart = [({"late": (0, 0, 20, 20)}, 8), ({"late": (0, 0, 0, 20)}, 2)]
    apart += [({"late": (20, 20, 0, 0)}, 5), ({"late": (0, 20, 0, 0)}, 5)]
    found = stats.compare_clustered(apart)
    assert found.value == pytest.approx(-0.3)
    first, second = 0.25 / 9, 0.16 / 9
    assert found.se == pytest.approx(math.sqrt(first + second))
    assert found.df == pytest.approx((first + second) ** 2 / (first**2 / 9 + second**2 / 9))
    # t at 17.1 degrees is 2.108: -.3 ± .450.
    assert (found.low, found.high) == (pytest.approx(-0.75, abs=1e-3), pytest.approx(0.15, abs=1e-3))  # fmt: skip
    assert stats.compare_weeks([(100, 200, 160, 200)]).high < -0.2


def test_a_cluster_may_lie_in_several_strata_and_order_and_grouping_change_nothing():
    clusters = [
        ({"a": (3, 5, 0, 0), "b": (1, 4, 0, 0)}, 1),
        ({"a": (0, 5, 2, 3), "b": (2, 4, 0, 0)}, 1),
        ({"a": (0, 0, 2, 6), "b": (0, 0, 3, 3)}, 2),
        ({"b": (0, 0, 1, 5)}, 1),
    ]
    found = stats.compare_clustered(clusters)
    apart = [(weeks, 1) for weeks, alike in clusters for _ in range(alike)]
    other = stats.compare_clustered(apart[::-1])
    assert other.se == pytest.approx(found.se)
    assert (other.low, other.high) == (pytest.approx(found.low), pytest.approx(found.high))
    turned = stats.compare_clustered(
        [({n: (c, d, a, b) for n, (a, b, c, d) in weeks.items()}, k) for weeks, k in clusters]
    )
    assert (turned.low, turned.high) == (pytest.approx(-found.high), pytest.approx(-found.low))
    # At most the clusters of a side less 1 stand behind the variance of that side.
    assert found.df <= 4


def test_too_few_clusters_have_a_value_and_no_interval():
    found = stats.compare_clustered([({"a": (15, 20, 0, 0)}, 1), ({"a": (0, 0, 5, 20)}, 3)])
    assert (found.value, found.low, found.high, found.flags) == (0.5, None, None, ("few_clusters",))


def test_strata_of_one_version_are_left_out_and_flagged():
    clusters = [({"a": (0, 3, 1, 3)}, 2), ({"a": (2, 3, 2, 3)}, 2), ({"b": (3, 3, 0, 0)}, 4)]
    alone, found = stats.compare_clustered(clusters[:2]), stats.compare_clustered(clusters)
    assert found.flags == ("weeks_of_one_version",)
    assert (found.value, found.low) == (pytest.approx(alone.value), pytest.approx(alone.low))
    assert stats.compare_clustered([*clusters, ({}, 3)]) == found
    assert stats.compare_clustered([({"b": (3, 3, 0, 0)}, 4)]) is None
    assert stats.compare_clustered([]) is None
    with pytest.raises(ValueError, match="x1"):
        stats.compare_clustered([({"a": (4, 3, 0, 1)}, 2)])


def test_a_cluster_alone_on_its_side_counts_with_the_largest_variance():
    """By hand: weights 12·12/24 and 12·5/17; in a 4 of 12 against 6 of 12, in b 12 of 12 against 0 of 5."""
    clusters = [({"a": (0, 3, 1, 3)}, 2), ({"a": (2, 3, 2, 3)}, 2)]
    clusters += [({"b": (3, 3, 0, 0)}, 4), ({"b": (0, 0, 0, 5)}, 1)]
    found = stats.compare_clustered(clusters)
    a, b = 6 / (6 + 60 / 17), (60 / 17) / (6 + 60 / 17)
    assert found.flags == ("thin_weeks",)
    assert found.value == pytest.approx(-a / 6 + b)
    # Each of the four clusters of a is off by ±.5 of 12 runs, G/(G - 1) = 4/3; b² /4 is the most.
    assert found.se == pytest.approx(math.sqrt(4 * a**2 * 4 / 3 * (0.5 / 12) ** 2 + b**2 / 4))


def test_a_cluster_alone_in_two_strata_is_one_and_not_two():
    """What it adds may rise and fall together: the deviations add up before they are squared."""
    mates = [({"a": (1, 2, 0, 0), "b": (1, 2, 0, 0)}, 3), ({"a": (2, 2, 0, 0), "b": (0, 2, 0, 0)}, 3)]  # fmt: skip
    mates += [({"c": (0, 2, 0, 0)}, 3), ({"c": (2, 2, 0, 0)}, 3), ({"c": (0, 0, 1, 2)}, 6)]
    one = stats.compare_clustered([*mates, ({"a": (0, 0, 1, 4), "b": (0, 0, 3, 4)}, 1)])
    two = stats.compare_clustered([*mates, ({"a": (0, 0, 1, 4)}, 1), ({"b": (0, 0, 3, 4)}, 1)])
    assert one.value == pytest.approx(two.value)
    # 12 against 4 runs in a and in b, 12 against 12 in c: weights 3, 3 and 6 of 12.
    assert one.se**2 - two.se**2 == pytest.approx((2 * 0.25 / 2) ** 2 - 2 * (0.25 / 2) ** 2)


def test_no_run_of_a_week_that_both_have_is_dropped():
    """Nearly all runs lie in weeks with one run of the other side: dropped, they turn the sign."""
    weeks = [(10, 100, 1, 1), (0, 1, 90, 100), (1, 2, 0, 2)]
    found = stats.compare_weeks(weeks)
    thin, full = 100 / 101, 1.0
    value = (2 * thin * -0.9 + full * 0.5) / (2 * thin + full)
    assert found.value == pytest.approx(value) == pytest.approx(-0.43, abs=5e-4)
    variance = 2 * thin**2 * (0.1 * 0.9 / 99 + 1 / 4) + full**2 * 0.25
    assert found.se == pytest.approx(math.sqrt(variance) / (2 * thin + full))
    assert found.flags == ("thin_weeks",)
    with pytest.raises(ValueError, match="a run of each version"):
        stats.mantel_haenszel([(1, 2, 0, 0)])


@pytest.mark.parametrize("plan", [
    [(1, 60), (40, 1), (30, 20), (1, 8), (12, 25)],
    [(1, 50), (1, 80), (1, 30), (1, 44), (1, 61)],
], ids=["some_thin", "one_run_a_week"])  # fmt: skip
def test_weeks_with_a_single_run_are_covered_at_least_at_the_stated_level(plan):
    rng, hits, reps = random.Random(5), 0, 1500

    def passed(runs: int, p: float) -> int:
        return sum(rng.random() < p for _ in range(runs))

    for _ in range(reps):
        rates = (0.5, 0.7, 0.35, 0.8, 0.2)
        weeks = [(passed(n, p + 0.1), n, passed(m, p), m) for (n, m), p in zip(plan, rates, strict=True)]  # fmt: skip
        found = stats.compare_weeks(weeks)
        hits += found.low <= 0.1 <= found.high
    assert hits / reps >= 0.93


def test_weeks_without_spread_are_not_pooled_where_that_is_another_difference():
    """All easy runs pass and all hard ones fail on both sides: pooled, the mix is the difference."""
    found = stats.compare_weeks([(10, 10, 90, 90), (0, 90, 0, 10)])
    assert (found.value, found.low, found.flags) == (0.0, None, ("no_spread",))
    thin = stats.compare_weeks([(1, 1, 90, 90), (0, 90, 0, 1)])
    assert (thin.value, thin.low, thin.flags) == (0.0, None, ("thin_weeks", "no_spread"))


def _drawn(rng: random.Random, groups: tuple[int, int], *, span: bool, shared: bool):
    """Return clusters whose runs rise and fall together, .1 better on the first side."""

    def one(sides):
        common, weeks = rng.gauss(0, 0.16), {}
        for name in RATES if span else rng.choices("abc", (5, 3, 2)):
            row = [0, 0, 0, 0]
            for side in sides:
                p = min(1.0, max(0.0, RATES[name] + (0.0 if side else 0.1) + common))
                row[2 * side + 1] = rng.randint(1, 8)
                row[2 * side] = sum(rng.random() < p for _ in range(row[2 * side + 1]))
            weeks[name] = tuple(row)
        return weeks, 1

    if shared:
        return [one((0, 1)) for _ in range(groups[0])]
    return [one((side,)) for side in (0, 1) for _ in range(groups[side])]


@pytest.mark.parametrize(
    ("groups", "span", "shared"),
    [((20, 20), False, False), ((12, 30), True, False), ((20, 20), True, True)],
    ids=["in_one_stratum", "over_all_strata", "both_versions"],
)
def test_clustered_strata_are_covered_at_the_stated_level(groups, span, shared):
    rng, hits, reps = random.Random(11), 0, 600
    for _ in range(reps):
        found = stats.compare_clustered(_drawn(rng, groups, span=span, shared=shared))
        hits += found.low <= 0.1 <= found.high
    assert 0.93 <= hits / reps <= 0.97
