"""Two versions inside strata whose runs come in clusters: by hand, equal cases, coverage."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import stats
from scoring.metrics.moments import Crossed, Moments, difference

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
    """What `difference` finds from sums of products, from the clusters themselves."""
    clusters = [(3, 5, 1, 4), (0, 6, 2, 3), (4, 4, 4, 7), (2, 8, 0, 2), (5, 9, 3, 3)]
    found = stats.compare_clustered([({"all": counts}, 1) for counts in clusters])

    def sums(x: int, n: int) -> Moments:
        pairs = [(c[x], c[n]) for c in clusters]
        return Moments(
            clusters=len(clusters), m=sum(m for _, m in pairs), y=sum(y for y, _ in pairs),
            mm=sum(m * m for _, m in pairs), my=sum(y * m for y, m in pairs),
            yy=sum(y * y for y, _ in pairs),
        )  # fmt: skip

    crossed = Crossed(
        clusters=len(clusters), yy=sum(c[0] * c[2] for c in clusters),
        ym=sum(c[0] * c[3] for c in clusters), my=sum(c[1] * c[2] for c in clusters),
        mm=sum(c[1] * c[3] for c in clusters),
    )  # fmt: skip
    expected = difference(sums(0, 1), sums(2, 3), crossed, confidence=0.95)
    assert found.value == pytest.approx(expected.value)
    assert (found.se, found.df) == (pytest.approx(expected.se), pytest.approx(expected.df))


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


def test_strata_in_which_clusters_can_not_vary_are_left_out_and_flagged():
    clusters = [({"a": (0, 3, 1, 3)}, 2), ({"a": (2, 3, 2, 3)}, 2), ({"b": (3, 3, 0, 0)}, 4)]
    alone = stats.compare_clustered(clusters[:2])
    thin = [*clusters, ({"b": (0, 0, 0, 5)}, 1)]
    for given_, flag in ((clusters, "weeks_of_one_version"), (thin, "thin_weeks")):
        found = stats.compare_clustered(given_)
        assert found.flags == (flag,)
        assert found.value == pytest.approx(alone.value)
        assert found.low == pytest.approx(alone.low)
    assert stats.compare_clustered([({"b": (3, 3, 0, 0)}, 4)]) is None
    with pytest.raises(ValueError, match="x1"):
        stats.compare_clustered([({"a": (4, 3, 0, 1)}, 2)])


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
