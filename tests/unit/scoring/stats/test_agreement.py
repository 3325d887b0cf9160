"""Agreement: what statsmodels says, and what is undefined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import stats
from scoring.stats.raters import counts_of_ratings
from tests.oracles import agreement
from tests.unit.scoring.stats.strategies import tables

few = settings(max_examples=40)


@few
@given(tables())
def test_kappa_equals_statsmodels(table):
    found = stats.cohen_kappa(table)
    if found.value is None:
        assert found.flags == ("undefined",)
        return
    with np.errstate(invalid="ignore", divide="ignore"):  # its other coefficients
        expected = agreement.cohens_kappa(table)
    assert found.value == pytest.approx(float(expected.kappa), abs=1e-9)
    assert found.se == pytest.approx(float(max(expected.var_kappa, 0)) ** 0.5, abs=1e-6)
    if found.low is not None:
        assert -1 <= found.low <= found.value <= found.high <= 1


@few
@given(tables())
def test_ac1_of_a_table_equals_that_of_two_ratings_per_subject(table):
    counts = []
    for i, row in enumerate(table):
        for j, times in enumerate(row):
            subject = [0] * len(table)
            subject[i] += 1
            subject[j] += 1
            counts += [subject] * times
    one, other = stats.gwet_ac1(table), stats.gwet_ac1(counts=counts)
    assert one.value == pytest.approx(other.value)
    assert one.value <= 1


@few
@given(tables())
def test_swapping_raters_or_categories_changes_no_coefficient(table):
    turned = [list(row) for row in zip(*table, strict=True)]
    renamed = [row[::-1] for row in table[::-1]]
    for make in (stats.cohen_kappa, stats.scott_pi, stats.brennan_prediger, stats.gwet_ac1):
        values = [make(each).value for each in (table, turned, renamed)]
        if values[0] is None:
            assert values == [None] * 3
        else:
            assert values == pytest.approx([values[0]] * 3)


@few
@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=20))
def test_fleiss_kappa_equals_statsmodels(ratings):
    counts = counts_of_ratings(ratings)
    found = stats.fleiss_kappa(counts)
    if len(counts[0]) == 1:
        assert found.value is None
    else:
        assert found.value == pytest.approx(float(agreement.fleiss_kappa(counts)), abs=1e-9)


@pytest.mark.parametrize("table", [[[50, 0], [0, 0]], [[50]]])
def test_everything_in_one_category_is_undefined_and_ac1_is_one(table):
    both = stats.two_raters(table)
    assert both.kappa.value is None
    assert stats.scott_pi(table).value is None
    assert both.ac1.value == 1
    assert both.raw.value == 1
    units = [["yes", "yes"]] * 40
    assert stats.krippendorff(units).value is None
    assert stats.fleiss_kappa([[2]] * 3).value is None
    assert stats.gwet_ac1(counts=[[2]] * 3).value == 1


def test_nothing_rated_has_no_coefficient():
    for make in (stats.cohen_kappa, stats.scott_pi, stats.brennan_prediger, stats.gwet_ac1):
        assert make([[0, 0], [0, 0]]) is None
    assert stats.fleiss_kappa([]) is None
    assert stats.gwet_ac1(counts=[]) is None
    assert stats.krippendorff([[1], [None]]) is None
    assert stats.gwet_ac1(counts=[[1, 0], [0, 1]]).value is None
    empty = stats.two_raters([[0, 0], [0, 0]])
    assert (empty.raw.value, empty.kappa, empty.per_class) == (None, None, [None, None])


def test_raw_per_class_kappa_ac1_and_prevalence_come_together():
    both = stats.two_raters([[80, 10], [5, 5]])
    assert both.raw.value == 0.85
    assert both.per_class[0].value == pytest.approx(160 / 175)
    assert both.per_class[1].value == pytest.approx(10 / 25)
    assert both.prevalence == pytest.approx([0.875, 0.125])
    assert (round(both.kappa.value, 2), round(both.ac1.value, 2)) == (0.32, 0.81)
    assert (both.decimals, both.flags) == (2, ())
    assert stats.two_raters([[8, 1], [5, 5]]).flags == ("fix_the_rubric",)
    assert stats.two_raters([[8, 1], [5, 5]]).decimals == 1


@pytest.mark.parametrize("n", [50, 100, 200, 400])
def test_the_error_of_kappa_shrinks_as_told(n):
    told = {50: 0.13, 100: 0.09, 200: 0.065, 400: 0.046}[n]
    cell = n / 100
    table = [[round(36 * cell), round(14 * cell)], [round(14 * cell), round(36 * cell)]]
    assert stats.cohen_kappa(table).se == pytest.approx(told, abs=0.006)


def test_perfect_agreement_has_no_interval():
    assert stats.cohen_kappa([[5, 0], [0, 5]]).flags == ("no_spread",)
    assert stats.gwet_ac1([[5, 0], [0, 5]]).flags == ("no_spread",)


def test_a_table_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match="square"):
        stats.cohen_kappa([[1, 2]])
    with pytest.raises(ValueError, match="table"):
        stats.gwet_ac1([[1, -2], [1, 1]])
    with pytest.raises(ValueError, match="either"):
        stats.gwet_ac1()
    with pytest.raises(ValueError, match="same number"):
        stats.fleiss_kappa([[2, 0], [1, 0]])
    with pytest.raises(ValueError, match="level"):
        stats.krippendorff([[1, 2]], "metric")
    with pytest.raises(ValueError, match="numbers"):
        stats.krippendorff([["a", "b"]], "interval")


units = st.lists(
    st.lists(st.sampled_from([1, 2, 3, 4, None]), min_size=2, max_size=4), min_size=2, max_size=15
)


@few
@given(units, st.sampled_from(["nominal", "ordinal", "interval", "ratio"]))
def test_the_order_of_units_and_raters_changes_no_alpha(ratings, level):
    found = stats.krippendorff(ratings, level)
    turned = stats.krippendorff([unit[::-1] for unit in ratings[::-1]], level)
    if found is None or found.value is None:
        assert turned == found
    else:
        assert turned.value == pytest.approx(found.value)
        assert found.value <= 1


def test_alpha_gets_limits_from_thirty_units_on():
    ratings = [[k % 3, k % 3 if k % 5 else (k + 1) % 3] for k in range(60)]
    found = stats.krippendorff(ratings, "nominal", seed=5, resamples=500)
    assert found.low < found.value < found.high <= 1
    assert found == stats.krippendorff(ratings, "nominal", seed=5, resamples=500)
    assert stats.krippendorff(ratings[:29]).flags == ("few_units",)
