"""Numbers no plan can hold are refused with the name of the argument, never by the arithmetic."""

import pytest

from scoring import stats
from scoring.stats.arguments import units
from scoring.stats.calibration import judge_worth
from scoring.stats.planning import effective_units
from scoring.stats.rates import runs_for_zero, zero_exposure_upper

HUGE = 1e300
TINY = 1e-300


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("c ", lambda: stats.sign_test(0, HUGE)),
        ("b ", lambda: stats.mcnemar_midp(HUGE, 1)),
        ("x ", lambda: stats.wilson(HUGE, HUGE)),
        ("n ", lambda: stats.tango(1, 1, HUGE)),
        ("sizes", lambda: stats.cluster_rate([1, 1], [HUGE, HUGE])),
        ("e ", lambda: stats.n_for_margin(TINY)),
        ("e ", lambda: stats.n_for_margin(1e-9)),
        ("sd ", lambda: stats.suite_size(HUGE, 0.5)),
        ("sd beside difference", lambda: stats.suite_size(1e70, 1e-70)),
        ("difference", lambda: stats.suite_size(0.25, TINY)),
        ("difference", lambda: stats.ni_sample_size(1, 2, HUGE)),
        ("margin", lambda: stats.ni_sample_size(0.5, TINY)),
        ("margin", lambda: stats.ni_sample_size(0.5, 1e-12)),
        ("phi", lambda: judge_worth(2, HUGE, 10)),
        ("p ", lambda: runs_for_zero(5e-324)),
        ("exposure", lambda: zero_exposure_upper(5e-324)),
        ("design_effect", lambda: effective_units(10, 5e-324)),
        ("burn", lambda: stats.budget_spent(1.7e308, 1)),
        ("d", lambda: stats.t_test([-HUGE, HUGE])),
        ("c", lambda: stats.ratio([HUGE, -HUGE, 1], [1, 1, 1])),
        ("x", lambda: stats.page_hinkley([HUGE, -HUGE], 1, 1)),
        ("points", lambda: stats.run_length(2, 0.1, 0.1, 0.5, points=1)),
        ("m ", lambda: stats.cusum_arl_normal(0.5, 4, m=10**18)),
    ],
)
def test_what_no_float_can_hold_is_refused_by_the_name_of_its_argument(name, call):
    with pytest.raises(ValueError, match=name):
        call()


def test_the_largest_plan_is_still_counted():
    assert (units("e", 0.0), units("e", 100.2)) == (1, 101)
    # z^2 / 4 / e^2 at e = 1e-7: 9.6e13 runs, which no team has, but which are a number.
    assert stats.n_for_margin(1e-7) == pytest.approx(9.6036e13, rel=1e-4)
    assert stats.n_for_margin(1e-60, N=1000) == 1000
