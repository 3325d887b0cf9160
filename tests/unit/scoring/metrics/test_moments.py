import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.moments import NO_UNIT, Moments, Own, mean, mean_share, share
from scoring.stats.clusters import cluster_mean, cluster_rate
from scoring.stats.rates import clopper_pearson, wilson

CLUSTERS = st.lists(
    st.integers(1, 20).flatmap(lambda m: st.tuples(st.integers(0, m), st.just(m))),
    min_size=1,
    max_size=40,
)


def moments(clusters: list[tuple[int, int]]) -> Moments:
    return Moments(
        clusters=sum(m > 0 for _, m in clusters),
        m=sum(m for _, m in clusters),
        y=sum(y for y, _ in clusters),
        mm=sum(m * m for _, m in clusters),
        my=sum(m * y for y, m in clusters),
        yy=sum(y * y for y, _ in clusters),
    )


@given(CLUSTERS)
def test_sums_over_clusters_are_enough_for_the_rate_that_the_lists_give(
    clusters: list[tuple[int, int]],
) -> None:
    expected = cluster_rate([y for y, _ in clusters], [m for _, m in clusters])
    found = share(moments(clusters), clustered=True)
    assert expected is not None
    assert found is not None
    for name in ("value", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-6)


@given(CLUSTERS)
def test_sums_over_clusters_are_enough_for_the_mean_that_the_lists_give(
    clusters: list[tuple[int, int]],
) -> None:
    expected = cluster_mean([y for y, _ in clusters], [m for _, m in clusters])
    found = mean(moments(clusters))
    assert expected is not None
    assert found is not None
    assert found.value == pytest.approx(expected.value)
    assert (found.low is None) == (expected.low is None)
    if expected.low is not None:
        assert found.low == pytest.approx(expected.low, abs=1e-6)
        assert found.high == pytest.approx(expected.high, abs=1e-6)


def test_runs_without_clusters_get_the_wilson_interval() -> None:
    runs = moments([(1, 1)] * 14 + [(0, 1)] * 6)
    assert share(runs, clustered=False) == wilson(14, 20)


def test_no_run_is_no_number() -> None:
    nothing = Moments(clusters=0, m=0, y=0, mm=0, my=0, yy=0)
    assert share(nothing, clustered=False) is None
    assert share(nothing, clustered=True) is None
    assert mean(nothing) is None
    assert nothing.mean is None


def own(tasks: list[tuple[int, int]]) -> Own:
    return Own(
        units=len(tasks),
        shares=sum(y / m for y, m in tasks),
        squares=sum((y / m) ** 2 for y, m in tasks),
        inverse=sum(1 / m for _, m in tasks),
    )


def test_a_task_counts_once_however_often_it_was_tried() -> None:
    # 9 of 9 and 0 of 1: half, and not 9 of 10. s^2 = .5, V = .25, and as many runs that count
    # alike as 2^2 / (1/9 + 1) = 3.6, so 3: n_eff = .25/.25 (4.302653 / 12.706205)^2 = .114667.
    tasks = own([(9, 9), (0, 1)])
    assert (tasks.mean, tasks.variance(), tasks.worth) == (0.5, pytest.approx(0.25), 3)
    found = mean_share(tasks)
    assert found is not None
    exact = clopper_pearson(0.114667 / 2, 0.114667)
    assert exact is not None
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-5)


@given(st.integers(1, 6).flatmap(lambda k: st.lists(st.integers(0, k).map(lambda x: (x, k)), min_size=1, max_size=30)))  # fmt: skip
def test_tasks_with_equally_many_runs_have_the_rate_of_their_runs(
    tasks: list[tuple[int, int]],
) -> None:
    found, expected = mean_share(own(tasks)), share(moments(tasks), clustered=True)
    assert found is not None
    assert expected is not None
    for name in ("value", "low", "high"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-6)


def test_one_task_tried_a_thousand_times_is_no_thousand_tasks() -> None:
    # Nine tasks tried once and passed, one with 999 of 1,000: ten units, not a thousand runs.
    found = mean_share(own([(1, 1)] * 9 + [(999, 1000)]))
    assert found is not None
    assert found.low is not None
    assert found.low < 0.8
    assert mean_share(NO_UNIT) is None
