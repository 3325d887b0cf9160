import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.metrics.moments import Moments, mean, share
from scoring.stats.clusters import cluster_mean, cluster_rate
from scoring.stats.rates import wilson

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
