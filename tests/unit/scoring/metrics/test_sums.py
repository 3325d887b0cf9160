"""Sums as they come from the store."""

import pytest

from scoring.metrics.sums import of_row

LISTS = ("finished_ns", "aborted_ns", "costs", "unit_costs", "unit_solved", "decision_ns")


def test_what_was_not_asked_for_is_not_there_instead_of_0() -> None:
    row = {"grp": "", "calls_with_tokens": 0, "p90_call_tokens": 0, "parts_scoped": 3}
    found = of_row({**row, **{name: [] for name in LISTS}})
    assert dict(found.parts) == {"scoped": 3}
    for numbers in (found.totals, found.ratios):
        assert not numbers
    with pytest.raises(KeyError):
        found.parts["not_summed_up"]
