"""Sums as they come from the store."""

import pytest

from scoring.metrics.asked import FIRST, WHOLE, Asked
from scoring.metrics.moments import Moments, Own
from scoring.metrics.parts import PARTS, RATIOS
from scoring.metrics.sums import of_row

LISTS = ("finished_ns", "aborted_ns", "costs", "decision_ns")
ROW = {
    "grp": "",
    "calls_with_tokens": 0,
    "p90_call_tokens": 0,
    **{name: [] for name in LISTS},
    "spent_n": 0, "spent": 0.0, "solved": 0, "spent_variance": 0.0, "solved_variance": 0.0,
    "covariance": 0.0, "own_shares": [], "own_squares": [], "own_inverse": [],
}  # fmt: skip


def test_what_was_not_asked_for_is_not_there_instead_of_0() -> None:
    counted = {"counts": [3.0], "squares": [5.0], "clusters": [2], "products": [], "totals": []}
    found = of_row({**ROW, **counted}, Asked(parts=("scoped",), ratios=(), totals=()))
    assert dict(found.parts) == {"scoped": 3}
    for numbers in (found.totals, found.ratios):
        assert not numbers
    with pytest.raises(KeyError):
        found.parts["not_summed_up"]


def test_each_ratio_finds_its_own_sums() -> None:
    asked = Asked(
        parts=("scoped", "verified", "gated", "unapproved"),
        ratios=("completion", "unapproved", "steps"),
        totals=("approvals",),
    )
    assert [text.split("(")[0] for text in asked.counts()] == ["toFloat64"] * 4 + ["if"] * 3
    counts = [10.0, 6.0, 4.0, 1.0, 3.0, 9.0, 70.0]
    found = of_row(
        {
            **ROW,
            "counts": counts,
            "squares": [n + 100 for n in counts],
            "clusters": [7, 5, 4, 1, 2, 4, 7],
            "products": [46.0, 27.0, 530.0],
            "totals": [8],
            "own_shares": [4.5],
            "own_squares": [3.5],
            "own_inverse": [6.0],
        },
        asked,
    )
    assert dict(found.ratios) == {
        "completion": Moments(clusters=7, m=10, y=6, mm=110, my=46, yy=106),
        # Of actions: 3 of 9, in 4 clusters.
        "unapproved": Moments(clusters=4, m=9, y=3, mm=109, my=27, yy=103),
        "steps": Moments(clusters=7, m=10, y=70, mm=110, my=530, yy=170),
    }
    assert dict(found.totals) == {"approvals": 8}
    assert dict(found.own) == {"completion": Own(units=7, shares=4.5, squares=3.5, inverse=6.0)}


def test_a_group_without_scoped_runs_adds_nothing_to_its_totals() -> None:
    counted = {"counts": [0.0], "squares": [0.0], "clusters": [0], "products": [], "totals": []}
    found = of_row(
        {**ROW, **counted}, Asked(parts=("scoped",), ratios=(), totals=("approvals", "repeats"))
    )
    assert dict(found.totals) == {"approvals": 0, "repeats": 0}


@pytest.mark.parametrize("asked", [WHOLE, FIRST])
def test_every_ratio_stands_on_counts_that_are_asked_for(asked: Asked) -> None:
    counts = asked.counts()
    assert set(asked.parts) <= set(PARTS)
    for name, (m, y) in zip(asked.ratios, asked.places(), strict=True):
        assert 1 <= m <= len(counts)
        assert 1 <= y <= len(counts)
        if not (RATIOS[name].amount or RATIOS[name].actions):
            assert (asked.parts[m - 1], asked.parts[y - 1]) == (RATIOS[name].m, RATIOS[name].y)
