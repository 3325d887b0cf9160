import pytest

from scoring.stats.rates import newcombe
from scoring.versions.cells import Alike, Cell, common
from scoring.versions.live import between_weeks
from scoring.versions.mix import mix
from scoring.versions.strata import Pair

WEEK = 604_800
PAIR = Pair(base="old", cand="new")
CUSTOMERS = Pair(base="old", cand="new", unit="customer_id")


def cell(version: str, passed: int, runs: int, *, week: int = 0, slice_: str = "", undecided: int = 0) -> Cell:  # fmt: skip
    return Cell(week=week * WEEK, slice=slice_, version=version, runs=runs, passed=passed, undecided=undecided)  # fmt: skip


# .875 before, .816 after although both slices improved: 70/30 at .95/.70, then 40/60 at .96/.72.
DROP = [
    cell("old", 665, 700, slice_="easy"),
    cell("old", 210, 300, slice_="hard"),
    cell("new", 384, 400, slice_="easy"),
    cell("new", 432, 600, slice_="hard"),
]


def test_a_drop_that_is_mix_alone_is_called_mix() -> None:
    raw = between_weeks(DROP, PAIR)
    assert raw.value == pytest.approx(0.816 - 0.875)
    found = mix(DROP, "topic", PAIR)
    assert found is not None
    assert found.effects.mix == pytest.approx(-0.0735)
    assert found.effects.rate == pytest.approx(0.0145)
    assert found.effects.mix + found.effects.rate == pytest.approx(raw.value)
    assert found.standardised == pytest.approx(0.7 * 0.96 + 0.3 * 0.72)
    # Mantel-Haenszel weights 700·400/1100 and 300·600/900.
    w_easy, w_hard = 700 * 400 / 1100, 300 * 600 / 900
    expected = (w_easy * 0.01 + w_hard * 0.02) / (w_easy + w_hard)
    assert found.adjusted.value == pytest.approx(expected)
    assert found.adjusted.value is not None
    assert found.adjusted.value > 0


def test_the_difference_inside_slices_is_one_inside_weeks_too() -> None:
    """Pooled over the weeks of the one topic, the candidate of the worse week looks worse."""
    cells = [
        cell("old", 45, 90, week=0, slice_="late"), cell("new", 5, 10, week=0, slice_="late"),
        cell("old", 9, 10, week=1, slice_="late"), cell("new", 81, 90, week=1, slice_="late"),
        cell("old", 1, 9, week=1, slice_="other"),
    ]  # fmt: skip
    found = mix(cells, "topic", PAIR)
    assert found is not None
    assert found.adjusted.value == pytest.approx(0, abs=1e-12)
    assert found.adjusted.method == "mantel-haenszel over weeks and slices"
    assert (found.adjusted.n, found.adjusted.excluded) == (100, {"slices_of_base_only": 9})
    assert found.adjusted.flags == ("slices_of_one_version",)


def test_one_week_gives_newcombe_s_interval() -> None:
    found = between_weeks([cell("old", 8, 10), cell("new", 9, 10)], PAIR)
    expected = newcombe(9, 10, 8, 10)
    assert expected is not None
    assert (found.value, found.low, found.high) == (expected.value, expected.low, expected.high)
    assert found.method == "newcombe"
    assert found.n == 10


def test_only_weeks_that_both_have_are_compared() -> None:
    cells = [
        cell("old", 0, 50, week=0),
        cell("old", 8, 10, week=1),
        cell("new", 9, 10, week=1),
        cell("new", 7, 7, week=2),
    ]
    weeks, left = common(cells, base="old", cand="new")
    assert weeks == [WEEK]
    assert left == {"weeks_of_base_only": 50, "weeks_of_cand_only": 7}
    found = between_weeks(cells, PAIR)
    assert found.value == pytest.approx(0.1)
    assert found.excluded == left


def test_another_share_of_runs_per_week_gets_mantel_haenszel_weights() -> None:
    cells = [
        cell("old", 45, 90, week=0),
        cell("new", 6, 10, week=0),
        cell("old", 9, 10, week=1),
        cell("new", 90, 90, week=1),
    ]
    found = between_weeks(cells, PAIR)
    assert found.value == pytest.approx(0.1)  # both weeks +.1, although pooled rates say +.42
    assert found.method == "mantel-haenszel over weeks"


def test_undecided_runs_leave_bounds_and_no_value() -> None:
    cells = [cell("old", 8, 10, undecided=1), cell("new", 8, 10, undecided=2)]
    found = between_weeks(cells, PAIR)
    worst, best = newcombe(8, 10, 9, 10), newcombe(10, 10, 8, 10)
    assert worst is not None
    assert best is not None
    assert found.value is None
    assert (found.low, found.high) == (worst.low, best.high)
    assert found.open == 3


def test_versions_that_never_ran_together_are_not_compared() -> None:
    found = between_weeks([cell("old", 8, 10), cell("new", 9, 10, week=3)], PAIR)
    assert found.value is None
    assert found.n == 0
    assert mix([cell("old", 8, 10)], "topic", PAIR) is None


def test_a_slice_of_one_version_is_mix_and_not_rate() -> None:
    cells = [
        cell("old", 8, 10, slice_="a"),
        cell("new", 8, 10, slice_="a"),
        cell("new", 2, 10, slice_="b"),
    ]
    found = mix(cells, "topic", PAIR)
    assert found is not None
    assert found.effects.rate == 0
    assert found.effects.mix == pytest.approx(-0.3)
    assert "slices_of_one_version" in found.adjusted.flags


def customers(*weeks: tuple[str, int, int, int]) -> tuple[list[Cell], list[Alike]]:
    """Return cells and clusters of customers with two runs in one week, that both pass or both fail."""
    cells, alike = [], []
    for version, week, passing, number in weeks:
        cells.append(cell(version, 2 * passing, 2 * number, week=week))
        for passed, some in ((2, passing), (0, number - passing)):
            alike += [Alike(cells=[cell(version, passed, 2, week=week)], clusters=some)] if some else []  # fmt: skip
    return cells, alike


def test_another_share_of_customers_per_week_gets_the_same_weights_as_that_of_runs() -> None:
    """Both versions pass half in the first week and 90 % in the second: there is no difference."""
    cells, alike = customers(("old", 0, 45, 90), ("old", 1, 9, 10), ("new", 0, 5, 10), ("new", 1, 81, 90))  # fmt: skip
    found = between_weeks(cells, CUSTOMERS, clusters=alike)
    assert found.value == pytest.approx(0, abs=1e-12)
    # By hand: .5² (.25/9 + .09/89 + .25/89 + .09/9), .1020; Satterthwaite: 17.8 degrees, t 2.102.
    assert found.high == pytest.approx(0.2144, abs=1e-3)
    assert found.low == pytest.approx(-0.2144, abs=1e-3)
    assert (found.n, found.unit) == (100, "customer_id")
    assert found.method == "wider of mantel-haenszel over weeks and clusters"


def test_equal_shares_of_customers_per_week_are_pooled() -> None:
    cells, alike = customers(("old", 0, 4, 10), ("old", 1, 2, 5), ("new", 0, 12, 20), ("new", 1, 6, 10))  # fmt: skip
    found = between_weeks(cells, CUSTOMERS, clusters=alike)
    assert found.value == pytest.approx(0.6 - 0.4)
    assert found.method == "wider of newcombe and clusters"
    # By hand: .6·.4/29 + .4·.6/14, .1594; t at 26.7 degrees is 2.053. Newcombe over runs is narrower.
    assert found.high == pytest.approx(0.2 + 0.3272, abs=2e-3)
    assert found.low == pytest.approx(0.2 - 0.3272, abs=2e-3)


def test_runs_of_thin_weeks_are_in_the_number_that_counts_them() -> None:
    cells = [
        cell("old", 1, 1, week=0), cell("new", 10, 100, week=0),
        cell("old", 90, 100, week=1), cell("new", 0, 1, week=1),
        cell("old", 0, 2, week=2), cell("new", 1, 2, week=2),
    ]  # fmt: skip
    found = between_weeks(cells, PAIR)
    assert found.value == pytest.approx(-0.43, abs=5e-4)
    assert (found.n, found.excluded, found.flags) == (103, {}, ("thin_weeks",))
