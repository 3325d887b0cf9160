"""Judges: corrected by people, doubted when unproven, refused when useless."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import stats
from scoring.stats.calibration import phi_squared, trusted
from scoring.stats.effective import at_effective_size, effective_size

few = settings(max_examples=40)
BITS = st.integers(0, 1)


@st.composite
def graded(draw):
    """Return people's grades, the judge's on the same runs, and the judge's on others."""
    pairs = draw(st.lists(st.tuples(BITS, BITS), min_size=1, max_size=80))
    others = draw(st.lists(BITS, max_size=80))
    return [y for y, _ in pairs], [f for _, f in pairs], others


@few
@given(graded())
def test_an_assisted_rate_holds_its_value(sample):
    found = stats.ppi(*sample)
    assert 0 <= found.weight <= 1
    estimate = found.estimate
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


@few
@given(graded())
def test_a_judge_of_weight_zero_leaves_people_alone(sample):
    y, f, others = sample
    alone = stats.ppi(y, f, others, weight=0).estimate
    exact = stats.clopper_pearson(sum(y), len(y))
    assert (alone.value, alone.low, alone.high) == pytest.approx(
        (exact.value, exact.low, exact.high), abs=1e-7
    )
    assert stats.ppi(y, f, []).estimate == alone
    assert stats.ppi(y, [1] * len(y), others).weight == 0


@few
@given(graded().filter(lambda s: len(s[2]) > 1 and len(s[0]) > 1))
def test_the_estimate_follows_the_definition(sample):
    y, f, others = (np.array(part, dtype=float) for part in sample)
    found = stats.ppi(*sample)
    lam = found.weight
    value = lam * others.mean() + (y - lam * f).mean()
    variance = lam**2 * others.var() / len(others) + (y - lam * f).var() / len(y)
    assert found.estimate.value == pytest.approx(min(1, max(0, value)), abs=1e-12)
    assert found.estimate.se == pytest.approx(variance**0.5, abs=1e-9)


def test_a_judge_that_agrees_narrows_the_interval():
    y = [1] * 70 + [0] * 30
    f = [1] * 66 + [0] * 4 + [0] * 26 + [1] * 4
    helped = stats.ppi(y, f, [1] * 640 + [0] * 260).estimate
    alone = stats.clopper_pearson(70, 100)
    assert helped.high - helped.low < 0.8 * (alone.high - alone.low)


def test_few_failures_or_disagreements_leave_people_only():
    y = [0] * 4 + [1] * 46
    found = stats.judged_rate(y, y, [1] * 400)
    assert found.estimate.flags == ("human_only",)
    assert (found.weight, found.judged) == (0, 0)
    exact = stats.clopper_pearson(46, 50)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((exact.low, exact.high))
    assert stats.judged_rate([], [], [1]) is None
    proven = stats.judged_rate([0] * 10 + [1] * 90, [0] * 10 + [1] * 90, [1] * 400)
    assert "human_only" not in proven.estimate.flags
    assert not trusted([0] * 6 + [1] * 50, [0] * 6 + [1] * 50)
    assert trusted([0] * 6 + [1] * 50, [1] * 6 + [1] * 50)


@few
@given(st.lists(st.integers(0, 40), min_size=4, max_size=4), st.integers(0, 200), st.floats(0, 1))
def test_double_sampling_holds_its_value(cells, others, share):
    n00, n01, n10, n11 = cells
    found = stats.tenenbein([[n00, n01], [n10, n11]], round(share * others), others)
    if sum(cells) == 0:
        assert found is None
        return
    assert 0 <= found.low <= found.value <= found.high <= 1
    if others == 0:
        assert found.value == pytest.approx((n01 + n11) / sum(cells))


def test_a_one_sided_judge_leaves_people_only():
    found = stats.tenenbein([[0, 0], [4, 36]], 400, 400)
    assert (found.value, found.flags) == (0.9, ("human_only",))
    assert phi_squared([[0, 0], [4, 36]]) is None
    with pytest.raises(ValueError, match="2 x 2"):
        stats.tenenbein([[1, 2, 3]], 0, 0)
    with pytest.raises(ValueError, match="X"):
        stats.tenenbein([[1, 2], [3, 4]], 5, 4)


def test_a_useless_judge_is_refused():
    assert stats.rogan_gladen(0.5, 0.5, 0.5) is None
    assert stats.rogan_gladen(0.5, 0.6, 0.59) is None
    assert stats.rogan_gladen(0.5, 0.6, 0.6) is not None


def test_what_lies_outside_zero_and_one_is_clipped_and_flagged():
    low = stats.rogan_gladen(0.05, 0.9, 0.9, n=400, n_pos=50, n_neg=50)
    assert (low.value, low.low, low.flags) == (0, 0, ("clipped",))
    assert low.high > 0
    assert stats.rogan_gladen(0.95, 0.9, 0.9).value == 1
    with pytest.raises(ValueError, match="positive"):
        stats.rogan_gladen(0.5, 0.9, 0.9, n=0, n_pos=1, n_neg=1)
    with pytest.raises(ValueError, match="ap must"):
        stats.rogan_gladen(1.5, 0.9, 0.9)


@few
@given(st.floats(0, 1), st.floats(0.7, 1), st.floats(0.7, 1))
def test_a_perfect_correction_undoes_the_judge(truth, se, sp):
    apparent = truth * se + (1 - truth) * (1 - sp)
    found = stats.rogan_gladen(apparent, se, sp, n=500, n_pos=60, n_neg=60)
    assert found.value == pytest.approx(truth, abs=1e-9)
    assert found.low <= found.value <= found.high


def test_the_four_rates_of_a_judge():
    found = stats.judge_quality([[21, 7], [9, 63]])
    assert found.sensitivity.value == 63 / 70
    assert found.specificity.value == 21 / 30
    assert found.ppv.value == 63 / 72
    assert found.npv.value == 21 / 28
    assert found.phi == pytest.approx(0.375**0.5)
    nothing = stats.judge_quality([[0, 0], [0, 5]])
    assert (nothing.specificity, nothing.npv, nothing.phi) == (None, None, None)


def test_what_a_judge_is_worth():
    told = {0.3: 109, 0.5: 129, 0.7: 179, 0.9: 369}
    assert {phi: round(stats.judge_worth(100, phi, 1000)) for phi in told} == told
    assert stats.judge_worth(100, 1, 1000) == pytest.approx(1000)
    assert stats.judge_worth(0, 0.5, 10) == 0


def test_strata_are_combined_by_their_share_of_the_frame():
    parts = [
        (900, stats.Estimate(value=0.9, se=0.02), 100),
        (100, stats.Estimate(value=0.5, se=0.05), 50),
    ]
    found = stats.combine_strata(parts)
    assert found.value == pytest.approx(0.86)
    assert found.se == pytest.approx(((0.9 * 0.02) ** 2 + (0.1 * 0.05) ** 2) ** 0.5)
    assert stats.combine_strata([]) is None
    with pytest.raises(ValueError, match="standard error"):
        stats.combine_strata([(1, stats.Estimate(value=None), 0)])


@few
@given(st.floats(0, 1), st.floats(0, 1), st.floats(1, 500))
def test_an_effective_size_gives_limits_that_hold_the_value(p, variance, fallback):
    found = at_effective_size(p, variance, fallback=fallback)
    assert 0 <= found.low <= found.value <= found.high <= 1
    size = effective_size(p, variance)
    assert size is None or size > 0
