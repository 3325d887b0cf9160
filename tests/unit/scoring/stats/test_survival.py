"""Late outcomes: scipy, lifelines, and the two ways to the same curve."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import stats
from scoring.stats.cohorts import Position, closing_time, open_share, position
from scoring.stats.incidence import incidence_at
from scoring.stats.survival import charted, survival_at
from tests.oracles import survival, survival_tests
from tests.unit.scoring.stats.strategies import watched

few = settings(max_examples=40)


@few
@given(watched())
def test_the_curve_equals_lifelines(seen):
    time, event = seen
    curve = stats.survival(time, event)
    fitted = survival.KaplanMeierFitter().fit(time, event).survival_function_.iloc[:, 0]
    for row in curve.rows:
        assert row.survival == pytest.approx(float(fitted.loc[row.time]), abs=1e-9)
        assert row.low is None or 0 <= row.low <= row.survival <= row.high <= 1


@few
@given(watched())
def test_own_product_limit_and_scipy_are_equal(seen):
    time, event = seen
    one = stats.survival(time, event).rows
    other = stats.survival(time, event, [0] * len(time)).rows
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert (a.time, a.at_risk, a.events) == (b.time, b.at_risk, b.events)
        assert a.survival == pytest.approx(b.survival, abs=1e-12)
        assert (a.low is None) == (b.low is None)
        if a.low is not None:
            assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=1e-9)


@few
@given(watched(), st.randoms())
def test_the_order_of_runs_changes_no_curve(seen, chance):
    both = list(zip(*seen, strict=True))
    chance.shuffle(both)
    shuffled = stats.survival([t for t, _ in both], [e for _, e in both])
    assert shuffled == stats.survival(*seen)


@few
@given(watched())
def test_without_censoring_the_curve_counts(seen):
    time, _ = seen
    for row in stats.survival(time, [True] * len(time)).rows:
        assert row.survival == pytest.approx(sum(t > row.time for t in time) / len(time))


@few
@given(watched(), watched())
def test_the_logrank_test_equals_lifelines(first, second):
    found = stats.logrank(*first, *second)
    expected = survival_tests.logrank_test(first[0], second[0], first[1], second[1])
    if found is None:
        assert not expected.test_statistic > 1e-9
    else:
        assert found.p == pytest.approx(float(expected.p_value), abs=1e-7)


def test_nobody_and_nothing_are_said():
    empty = stats.survival([], [])
    assert (empty.value, empty.rows, empty.n) == (None, (), 0)
    quiet = stats.survival([3, 4], [False, False])
    assert (quiet.value, quiet.low, quiet.rows) == (1, None, ())
    assert stats.median_time(quiet) is None
    assert quiet.last_time == 4
    assert survival_at(quiet, 3).value == 1
    assert survival_at(quiet, 5) is None
    gone = stats.survival([3], [True]).rows[0]
    assert (gone.survival, gone.se, gone.low) == (0, None, None)
    assert stats.logrank([], [], [1], [True]) is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1, -1], [True, True]), "negative"),
        (([1], [True, False]), "one length"),
        (([2], [True], [2]), "entry"),
        (([math.nan], [True]), r"t\[0\]"),
    ],
)
def test_impossible_times_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        stats.survival(*arguments)


def test_charts_stop_where_fewer_than_ten_are_at_risk():
    curve = stats.survival(range(1, 21), [True] * 20)
    assert [row.at_risk for row in charted(curve)] == list(range(20, 9, -1))


def test_latency_counts_the_aborted_as_not_done_yet():
    time, done = [5, 8, 12, 20, 60, 60, 60], [True] * 4 + [False] * 3
    assert stats.median_time(stats.survival(time, done)) == 20
    assert stats.quantile(time[:4], 0.5) == 8


ends = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3)), min_size=1, max_size=40)


@few
@given(ends)
def test_incidences_and_survivors_add_to_one(seen):
    found = stats.incidence([t for t, _ in seen], [kind for _, kind in seen])
    for row in found.rows:
        parts = [part.value for part in row.incidence.values()]
        assert row.survived + sum(parts) == pytest.approx(1)
        assert all(
            part.low is None or part.low <= part.value <= part.high
            for part in row.incidence.values()
        )


@few
@given(watched())
def test_a_single_cause_is_one_minus_the_curve(seen):
    time, event = seen
    rows = stats.incidence(time, [int(e) for e in event]).rows
    for row, other in zip(rows, stats.survival(time, event).rows, strict=True):
        assert row.incidence[1].value == pytest.approx(1 - other.survival)
        if other.se is not None and other.low is not None:
            assert row.incidence[1].se == pytest.approx(other.se)
            assert row.incidence[1].low == pytest.approx(1 - other.high)


@few
@given(st.permutations(range(1, 16)), st.lists(st.integers(0, 2), min_size=15, max_size=15))
def test_incidence_equals_lifelines_without_ties(time, cause):
    if 1 not in cause:
        return
    found = stats.incidence(time, cause)
    fitted = survival.AalenJohansenFitter(calculate_variance=False).fit(
        time, cause, event_of_interest=1
    )
    expected = fitted.cumulative_density_.iloc[:, 0]
    for row in found.rows:
        assert row.incidence[1].value == pytest.approx(float(expected.loc[row.time]), abs=1e-9)


def test_without_censoring_the_error_of_an_incidence_is_binomial():
    time, cause = [1, 2, 2, 3, 4, 5, 6, 6, 7, 8], [1, 2, 1, 1, 2, 1, 2, 1, 2, 1]
    for row in stats.incidence(time, cause).rows:
        share = row.incidence[1].value
        assert row.incidence[1].se == pytest.approx(math.sqrt(share * (1 - share) / 10), abs=1e-12)


def test_nobody_ended_has_no_incidence():
    assert stats.incidence([], []).value is None
    quiet = stats.incidence([2, 3], [0, 0])
    assert (quiet.value, quiet.rows) == (1, ())
    assert incidence_at(quiet, 2, 1).value == 0
    with pytest.raises(ValueError, match="cause"):
        stats.incidence([1], [-1])


def test_delay_is_estimated_from_the_cohorts_old_enough():
    shares = stats.delay_distribution([[10, 5, 3, 2], [12, 6, 4, None], [9, 6, None, None]])
    assert shares[-1] == 1
    assert shares == sorted(shares)
    assert shares[2] == pytest.approx(1 - 2 / 20)
    assert stats.delay_distribution([]) is None
    assert stats.delay_distribution([[0, 0]]) is None
    assert stats.delay_distribution([[1, None]]) is None
    with pytest.raises(ValueError, match="gap"):
        stats.delay_distribution([[1, None, 2]])
    with pytest.raises(ValueError, match="same delays"):
        stats.delay_distribution([[1, 2], [1]])


def test_nothing_seen_yet_is_bounded_and_not_zero():
    found = stats.nowcast(0, 0.5)
    assert (found.value, found.low, found.flags) == (None, 0, ("nothing_seen",))
    assert found.high == pytest.approx(-math.log(0.05) / 0.5)
    assert stats.nowcast(3, 0.5).value == 6
    assert stats.nowcast(3, 0) is None
    with pytest.raises(ValueError, match="share"):
        stats.nowcast(1, 1.5)


# --- windows -------------------------------------------------------------------------------

RUNS = [(0, 3), (0, None), (1, None), (2, 9), (3, None), (4, None), (6, 8), (8, None), (9, 12)]


def test_closed_cohort_early_read_and_open_share_come_in_order():
    found = stats.cohort(RUNS, 7, 14)
    assert (found.closed.n, found.closed.open) == (7, 2)
    assert found.closed.value == pytest.approx(3 / 7)
    assert found.open_share == pytest.approx(2 / 9)
    assert found.closes_at == 16
    assert found.early.low < found.early.value < found.early.high


def test_once_all_are_closed_the_early_read_is_the_closed_cohort():
    found = stats.cohort(RUNS, 7, 100)
    assert found.closed.open == 0
    assert found.early.value == pytest.approx(found.closed.value)


def test_no_run_or_no_watched_run_has_no_number():
    empty = stats.cohort([], 7, 14)
    assert (empty.closed.value, empty.early, empty.open_share, empty.closes_at) == (None,) * 4
    future = stats.cohort([(20, None)], 7, 14)
    assert (future.closed.value, future.closed.low, future.closed.high) == (None, 0, 1)
    assert future.early is None
    assert open_share([(20, None)], 7, 14) == 1
    young = stats.early_read([(10, None), (11, 12)], 7, 14)
    assert (young.value, young.flags) == (None, ("watched_too_short",))
    with pytest.raises(ValueError, match="window"):
        stats.is_closed(0, 0, 1)


def test_an_event_before_the_start_or_after_the_window_does_not_count():
    assert not stats.in_window(10, 7, 10)
    assert stats.in_window(10, 7, 17)
    assert not stats.in_window(10, 7, 17.000001)


@pytest.mark.parametrize(
    ("interval", "where"),
    [
        ((2, 5), Position.INSIDE),
        ((5, 7), Position.INSIDE),
        ((6, 8), Position.BOUNDARY_UNKNOWN),
        ((-1, 1), Position.BOUNDARY_UNKNOWN),
        ((7, 9), Position.OUTSIDE),
        ((-3, 0), Position.OUTSIDE),
    ],
)
def test_a_polling_interval_that_straddles_the_end_is_unknown(interval, where):
    assert position(0, 7, *interval) is where
    with pytest.raises(ValueError, match="not_before"):
        position(0, 7, 2, 2)


def test_a_source_without_watermark_closes_after_its_longest_usual_delay():
    assert closing_time(0, 7, range(1, 101)) == 7 + 99
    assert closing_time(0, 7, []) is None
