"""Lists of actions: symmetric, bounded, and in the order that counts."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import stats
from scoring.stats.actions import edit_share

few = settings(max_examples=60)
ACTIONS = st.lists(st.sampled_from("abcd"), max_size=8)


@few
@given(ACTIONS, ACTIONS)
def test_similarities_know_no_side_and_stay_between_0_and_1(a, b):
    for measure in (stats.multiset_f1, stats.multiset_jaccard, edit_share):
        assert 0 <= measure(a, b) <= 1
        assert measure(a, b) == measure(b, a)
    assert (stats.multiset_f1(a, b) == 1) == (sorted(a) == sorted(b))
    assert (stats.edit_distance(a, b) == 0) == (a == b)


@few
@given(ACTIONS, ACTIONS)
def test_the_longest_common_order_is_found(a, b):
    longest = max(
        len(part)
        for size in range(len(a) + 1)
        for part in itertools.combinations(a, size)
        if inside(part, b)
    )
    assert stats.lcs_length(a, b) == longest
    assert stats.edit_distance(a, b) >= max(len(a), len(b)) - longest


def inside(part, whole):
    """Return whether part is a subsequence of whole."""
    rest = iter(whole)
    return all(name in rest for name in part)


@few
@given(ACTIONS, ACTIONS, ACTIONS)
def test_the_edit_distance_keeps_the_triangle(a, b, c):
    assert stats.edit_distance(a, c) <= stats.edit_distance(a, b) + stats.edit_distance(b, c)


def test_agreeing_to_do_nothing_is_full_agreement():
    assert stats.multiset_f1([], []) == stats.multiset_jaccard([], []) == 1
    assert stats.multiset_f1([], ["refund"]) == 0
    assert stats.multiset_f1(["refund"] * 2, ["refund"]) == pytest.approx(2 / 3)


def test_what_never_happens_breaks_no_order():
    before = {"refund": ["verify"]}
    assert stats.order_kept(["policy"], before)
    assert not stats.order_kept(["refund", "verify"], before)
    assert not stats.order_kept(["verify", "refund", "refund"], before, once=["refund"])


def test_a_relative_tolerance_alone_rejects_everything_near_zero():
    assert not stats.within_tolerance(0.004, 0.0, absolute=0, relative=0.1)
    assert stats.within_tolerance(0.004, 0.0, absolute=0.005, relative=0.1)
    assert stats.within_tolerance(95, 100, absolute=0.005, relative=0.05)
    with pytest.raises(ValueError, match="negative"):
        stats.within_tolerance(1, 1, absolute=-1, relative=0)


@few
@given(st.lists(st.lists(st.floats(0, 9), min_size=3, max_size=3), max_size=4))
def test_the_cheapest_matching_is_found(cost):
    found = stats.best_matching(cost)
    total = sum(cost[i][j] for i, j in found)
    short, long = sorted((len(cost), 3))
    rows = len(cost) <= 3
    every = (
        sum(cost[i][j] if rows else cost[j][i] for i, j in enumerate(order))
        for order in itertools.permutations(range(long), short)
    )
    assert total == pytest.approx(min(every, default=0) if cost else 0)
    assert len(found) == (short if cost else 0)


def test_ragged_costs_are_refused():
    assert stats.best_matching([[]]) == []
    with pytest.raises(ValueError, match="same columns"):
        stats.best_matching([[1], [1, 2]])
