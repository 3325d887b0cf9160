import pytest

from scoring.stats.rates import newcombe
from scoring.versions.cells import Cell, common
from scoring.versions.live import between_weeks
from scoring.versions.mix import mix

WEEK = 604_800


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
    raw = between_weeks(DROP, base="old", cand="new")
    assert raw.value == pytest.approx(0.816 - 0.875)
    found = mix(DROP, "topic", base="old", cand="new")
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


def test_one_week_gives_newcombe_s_interval() -> None:
    found = between_weeks([cell("old", 8, 10), cell("new", 9, 10)], base="old", cand="new")
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
    found = between_weeks(cells, base="old", cand="new")
    assert found.value == pytest.approx(0.1)
    assert found.excluded == left


def test_another_share_of_runs_per_week_gets_mantel_haenszel_weights() -> None:
    cells = [
        cell("old", 45, 90, week=0),
        cell("new", 6, 10, week=0),
        cell("old", 9, 10, week=1),
        cell("new", 90, 90, week=1),
    ]
    found = between_weeks(cells, base="old", cand="new")
    assert found.value == pytest.approx(0.1)  # both weeks +.1, although pooled rates say +.42
    assert found.method == "mantel-haenszel over weeks"


def test_undecided_runs_leave_bounds_and_no_value() -> None:
    cells = [cell("old", 8, 10, undecided=1), cell("new", 8, 10, undecided=2)]
    found = between_weeks(cells, base="old", cand="new")
    worst, best = newcombe(8, 10, 9, 10), newcombe(10, 10, 8, 10)
    assert worst is not None
    assert best is not None
    assert found.value is None
    assert (found.low, found.high) == (worst.low, best.high)
    assert found.open == 3


def test_versions_that_never_ran_together_are_not_compared() -> None:
    found = between_weeks([cell("old", 8, 10), cell("new", 9, 10, week=3)], base="old", cand="new")
    assert found.value is None
    assert found.n == 0
    assert mix([cell("old", 8, 10)], "topic", base="old", cand="new") is None


def test_a_slice_of_one_version_is_mix_and_not_rate() -> None:
    cells = [
        cell("old", 8, 10, slice_="a"),
        cell("new", 8, 10, slice_="a"),
        cell("new", 2, 10, slice_="b"),
    ]
    found = mix(cells, "topic", base="old", cand="new")
    assert found is not None
    assert found.effects.rate == 0
    assert found.effects.mix == pytest.approx(-0.3)
    assert "slices_of_one_version" in found.adjusted.flags
