"""The beta distribution of the pages equals scipy's, and asks scipy only beyond its sizes."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from scoring.stats import beta

SHAPES = st.floats(-2.99, 6.99).map(lambda power: 10**power)
SHARES = st.one_of(st.sampled_from([0.025, 0.975, 0.005, 0.5]), st.floats(1e-4, 1 - 1e-4))


@settings(max_examples=300, deadline=None)
@given(SHAPES, SHAPES, SHARES)
def test_quantiles_and_shares_equal_scipy_s(a: float, b: float, p: float) -> None:
    expected, found = float(special.betaincinv(a, b, p)), beta.quantile(a, b, p)
    # Where nearly nothing lies between two places, both have the share p.
    flat = special.betainc(a, b, found) == pytest.approx(p, abs=1e-10)
    assert flat or found == pytest.approx(expected, abs=1e-12)
    assert beta.below(a, b, expected) == pytest.approx(special.betainc(a, b, expected), abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(
    st.floats(0, 6).map(lambda power: 10**power),
    st.sampled_from([0.755, 0.9, 0.975, 0.995, 0.9995, 0.9999995]),
)
def test_student_s_quantile_equals_scipy_s(df: float, p: float) -> None:
    assert beta.student(p, df) == pytest.approx(float(special.stdtrit(df, p)), rel=1e-9)


@pytest.mark.parametrize(("a", "b"), [(1e-4, 5.0), (0.1, 1e9), (3.0, 1e12)])
def test_beyond_the_sizes_of_pages_the_numbers_are_scipy_s(a: float, b: float) -> None:
    assert beta.quantile(a, b, 0.975) == special.betaincinv(a, b, 0.975)
    assert beta.below(a, b, 1e-4) == special.betainc(a, b, 1e-4)
    assert beta.student(0.975, 1e9) == special.stdtrit(1e9, 0.975)
    assert beta.student(0.975, 0.5) == special.stdtrit(0.5, 0.975)


def test_the_ends_of_the_range_have_nothing_and_everything_below_them() -> None:
    assert (beta.below(2, 3, 0.0), beta.below(2, 3, 1.0)) == (0.0, 1.0)


def test_intervals_of_pages_are_computed_without_scipy() -> None:
    code = (
        "import sys\n"
        "from scoring.stats.quantiles import quantile_interval\n"
        "from scoring.stats.rates import clopper_pearson\n"
        "from scoring.stats.weighted import korn_graubard\n"
        "assert clopper_pearson(170, 200).low and quantile_interval(range(90), 0.9).high\n"
        "assert korn_graubard(0.9, 0.001, 200, 40, clustered=True).low\n"
        "sys.exit('scipy' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
