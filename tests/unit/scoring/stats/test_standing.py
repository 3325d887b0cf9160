"""Standing out: exact where it is few, and never by looking often enough."""

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from scoring.stats.standing import surely_above, surely_below


@given(
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
    st.floats(0.001, 0.999),
    st.integers(1, 90),
)
def test_it_says_what_the_interval_of_clopper_and_pearson_says(
    counts: tuple[int, int], share: float, looks: int
) -> None:
    x, n = counts
    tail = 0.025 / looks
    above = scipy.stats.binom.sf(x - 1, n, share)
    if abs(above - tail) > 1e-9:
        assert surely_above(x, n, share, looks=looks) == (above < tail)
    below = scipy.stats.binom.cdf(x, n, share)
    if abs(below - tail) > 1e-9:
        assert surely_below(x, n, share, looks=looks) == (below < tail)


@pytest.mark.parametrize(("x", "n", "stands"), [(1, 1, False), (2, 2, False), (3, 3, True)])
def test_one_failed_run_of_one_stands_out_of_nothing(x: int, n: int, stands: bool) -> None:
    assert surely_above(x, n, 0.05, looks=24) == stands


def test_what_is_no_count_is_refused() -> None:
    assert not surely_above(0, 0, 0.5, looks=1)
    for wrong in ((2, 1, 1), (-1, 1, 1), (1, 1, 0)):
        with pytest.raises(ValueError, match="units in"):
            surely_above(wrong[0], wrong[1], 0.5, looks=wrong[2])
