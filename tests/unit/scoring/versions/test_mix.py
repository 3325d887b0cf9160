"""The adjusted difference says no more than what is decided, and no more than its clusters."""

import pytest

from scoring.stats.rates import newcombe
from scoring.versions.cells import Alike, Cell
from scoring.versions.mix import Mix, mix
from scoring.versions.strata import Pair

PAIR = Pair(base="old", cand="new")
CUSTOMERS = Pair(base="old", cand="new", unit="customer_id")


def cell(version: str, passed: int, runs: int, slice_: str, *, undecided: int = 0) -> Cell:
    return Cell(
        week=0, slice=slice_, version=version, runs=runs, passed=passed, undecided=undecided
    )


def made(*cells: Cell) -> Mix:
    found = mix(cells, "topic", PAIR)
    assert found is not None
    return found


def test_unverified_runs_are_neither_passed_nor_failed_inside_slices() -> None:
    """100 of 100 runs of the candidate are unverified: nobody knows, and nothing says -100."""
    sides = [cell("old", 50, 50, topic) for topic in ("late", "broken")]
    sides += [cell("new", 0, 50, topic, undecided=50) for topic in ("late", "broken")]
    found = made(*sides)
    worst, best = newcombe(0, 100, 100, 100), newcombe(100, 100, 100, 100)
    assert worst is not None
    assert best is not None
    adjusted = found.adjusted
    assert (adjusted.value, adjusted.low, adjusted.high) == (None, worst.low, best.high)
    assert (adjusted.open, "undecided" in adjusted.flags) == (100, True)
    assert (found.effects, found.standardised, found.open) == (None, None, 100)
    assert found.why_nothing.startswith("100 of 200 runs are undecided")
    said = found.as_json()
    assert isinstance(said, dict)
    names = ("mix", "rate", "total", "standardised", "open", "text")
    assert [said[name] for name in names] == [None] * 4 + [100, found.why_nothing]
    assert [(row.base_open, row.cand_open) for row in found.rows] == [(0, 50), (0, 50)]


def test_undecided_runs_of_a_slice_that_one_version_has_move_the_mix_alone() -> None:
    found = made(cell("old", 8, 10, "a"), cell("new", 8, 10, "a"), cell("new", 2, 10, "b", undecided=3))  # fmt: skip
    assert (found.adjusted.value, found.adjusted.open) == (0.0, 0)
    assert found.adjusted.excluded == {"slices_of_cand_only": 10}
    assert (found.effects, found.open) == (None, 3)
    assert found.swapped.adjusted.excluded == {"slices_of_base_only": 10}


def customers(*passing: tuple[str, int, int]) -> tuple[list[Cell], list[Alike]]:
    """Return cells and clusters of 20 runs a customer, that all pass or all fail."""
    alike = [
        Alike(cells=[cell(version, 20 * passes, 20, "late")], clusters=number)
        for version, good, bad in passing
        for passes, number in ((1, good), (0, bad))
        if number
    ]
    cells = [cell(v, 20 * good, 20 * (good + bad), "late") for v, good, bad in passing]
    return cells, alike


def test_customers_are_the_units_inside_slices_too() -> None:
    cells, alike = customers(("old", 8, 2), ("new", 5, 5))
    found = mix(cells, "topic", CUSTOMERS, clusters=alike)
    assert found is not None
    shown = found.adjusted
    assert (shown.value, shown.n, shown.unit) == (pytest.approx(-0.3), 10, "customer_id")
    assert shown.method == "wider of newcombe and clusters"  # one slice: equal shares of runs
    assert shown.low == pytest.approx(-0.75, abs=1e-3)
    assert shown.high == pytest.approx(0.15, abs=1e-3)
    turned = found.swapped.adjusted
    assert (turned.low, turned.high, turned.n) == (-shown.high, -shown.low, 10)


def test_one_customer_a_side_gives_no_interval_and_says_why() -> None:
    cells, alike = customers(("old", 1, 0), ("new", 1, 2))
    found = mix(cells, "topic", CUSTOMERS, clusters=alike)
    assert found is not None
    shown = found.adjusted
    assert (shown.low, shown.high, shown.n, shown.flags) == (None, None, 1, ("few_clusters",))


def test_undecided_runs_of_customers_leave_the_bounds_of_the_clusters() -> None:
    alike = [
        Alike(cells=[cell("old", 3, 4, "a"), cell("new", 2, 4, "a", undecided=1)], clusters=6),
        Alike(cells=[cell("old", 1, 4, "a"), cell("new", 3, 4, "a")], clusters=5),
    ]
    cells = [cell("old", 23, 44, "a"), cell("new", 27, 44, "a", undecided=6)]
    found = mix(cells, "topic", CUSTOMERS, clusters=alike)
    assert found is not None
    decided = []
    for passed in (2, 3):
        sides = [cell("old", 3, 4, "a"), cell("new", passed, 4, "a")]
        both = [Alike(cells=sides, clusters=6), alike[1]]
        cells = [cell("old", 23, 44, "a"), cell("new", 15 + 6 * passed, 44, "a")]
        one = mix(cells, "topic", CUSTOMERS, clusters=both)
        assert one is not None
        decided.append(one.adjusted)
    shown = found.adjusted
    assert (shown.value, shown.open) == (None, 6)
    assert (shown.low, shown.high) == (decided[0].low, decided[1].high)
