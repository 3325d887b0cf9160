"""Gates and looks: what passes, what fails, and what is not known yet."""

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate
from scipy import stats as scipy_stats

from scoring import stats
from scoring.stats.planning import effective_units, half_width, joint_power, look_confidence
from scoring.stats.twophase import Disagreements, unclear_levels

few = settings(max_examples=40)
PASS, FAIL, OPEN = stats.Verdict.PASS, stats.Verdict.FAIL, stats.Verdict.NOT_ENOUGH_DATA


def at(n, planned=None, looks=1):
    return stats.Look(n=n, planned=planned or n, looks=looks)


@pytest.mark.parametrize(
    ("b", "c", "n", "margin", "verdict", "reason"),
    [
        (14, 10, 200, 0.05, PASS, "shown"),
        (63, 90, 1000, 0.05, FAIL, "not shown"),
        (63, 90, 1000, 0.10, PASS, "shown"),
        (10, 150, 1000, 0.05, FAIL, "shown worse"),
    ],
)
def test_the_margin_decides_and_is_fixed_first(b, c, n, margin, verdict, reason):
    found = stats.non_inferiority(stats.tango(b, c, n), margin, at(n))
    assert (found.verdict, found.reason) == (verdict, reason)


def test_before_the_planned_number_nothing_passes_or_fails():
    for found in (stats.tango(90, 0, 100), stats.tango(0, 90, 100)):
        decision = stats.non_inferiority(found, 0.05, at(100, planned=481))
        assert (decision.verdict, decision.missing) == (OPEN, 381)


def test_a_planned_look_may_pass_or_fail_early_but_not_give_up():
    look = at(120, planned=360, looks=3)
    assert stats.superiority(stats.tango(40, 5, 120), look).verdict is PASS
    assert stats.superiority(stats.tango(5, 40, 120), look).reason == "shown worse"
    undecided = stats.superiority(stats.tango(20, 18, 120), look)
    assert (undecided.verdict, undecided.missing) == (OPEN, 120)
    between = stats.superiority(stats.tango(40, 5, 121), at(121, planned=360, looks=3))
    assert (between.verdict, between.reason, between.missing) == (OPEN, "no planned look", 119)
    final = stats.superiority(stats.tango(20, 18, 360), at(360, planned=360, looks=3))
    assert (final.verdict, final.reason) == (FAIL, "not shown")


def test_a_floor_takes_the_lower_limit_and_a_budget_the_upper():
    level = stats.clopper_pearson(95, 100)
    assert stats.floor(level, 0.85, at(100)).verdict is PASS
    assert stats.floor(level, level.low, at(100)).verdict is PASS
    assert stats.floor(level, 0.90, at(100)).reason == "not shown"
    assert stats.floor(level, 0.99, at(100)).reason == "shown worse"
    cost = stats.ratio([4, 5, 6, 5], [1, 1, 1, 1])
    passed = stats.Decision(verdict=PASS, reason="shown")
    failed = stats.Decision(verdict=FAIL, reason="shown worse")
    assert stats.budget(cost, 10, at(4), after=[passed]).verdict is PASS
    assert stats.budget(cost, 1, at(4), after=[passed]).reason == "shown worse"
    assert stats.budget(cost, 5, at(4), after=[passed]).reason == "not shown"
    assert stats.budget(cost, 10, at(4), after=[passed, failed]).verdict is OPEN
    assert stats.budget(None, 10, at(4), after=[]).reason == "no interval"


def test_one_violation_fails_and_none_asks_for_the_bound():
    assert stats.invariant(1, 10_000, 0.01).verdict is FAIL
    assert stats.invariant(0, 299, 0.01).verdict is PASS
    waiting = stats.invariant(0, 298, 0.01)
    assert (waiting.verdict, waiting.missing) == (OPEN, 1)
    assert waiting.bound > 0.01
    assert stats.invariant(0, 0, 0.01).bound == 1


def test_twenty_customers_bound_the_share_of_customers_at_13_9_percent():
    assert stats.invariant(0, 20, 0.05).bound == pytest.approx(0.139, abs=5e-4)


def test_all_checks_must_pass_together():
    passed = stats.Decision(verdict=PASS, reason="shown")
    failed = stats.Decision(verdict=FAIL, reason="shown worse")
    waiting = stats.Decision(verdict=OPEN, reason="no planned look", missing=7)
    assert stats.joint([passed, passed]).verdict is PASS
    assert stats.joint([passed, waiting]).missing == 7
    assert stats.joint([passed, waiting, failed]).verdict is FAIL
    assert stats.joint([]).verdict is OPEN
    assert joint_power([0.9, 0.9, 0.8]) == pytest.approx(0.6)
    with pytest.raises(ValueError, match="powers"):
        joint_power([1.2])


def test_a_changed_rule_is_another_rule():
    rule = stats.Rule(measure="correct", kind="non_inferiority", limit=0.05, planned=481)
    assert rule.digest() == dataclasses.replace(rule).digest()
    for change in ({"limit": 0.10}, {"planned": 600}, {"looks": 2}, {"confidence": 0.9}):
        assert dataclasses.replace(rule, **change).digest() != rule.digest()
    assert rule.look_confidence() == 0.95
    two = dataclasses.replace(rule, looks=2)
    assert two.look_confidence() == pytest.approx(0.9706, abs=5e-5)
    with pytest.raises(ValueError, match="looks"):
        dataclasses.replace(rule, looks=6)
    with pytest.raises(ValueError, match="limit"):
        dataclasses.replace(rule, limit=math.nan)


def test_nothing_is_tested_beyond_the_plan():
    with pytest.raises(ValueError, match="take the first"):
        at(121, planned=120)


def test_looks_are_equally_spaced_and_end_at_the_plan():
    assert stats.look_sizes(481, 3) == [161, 321, 481]
    with pytest.raises(ValueError, match="looks"):
        stats.look_sizes(10, 0)


def test_sample_sizes_are_those_of_the_page():
    assert stats.suite_size(0.25, 0.08) == 77
    assert stats.suite_size(0.25, 0.05) == 197
    told = {20: 13.7, 50: 8.5, 100: 6.0, 200: 4.2, 400: 3.0}
    assert {n: round(100 * half_width(n, 0.9), 1) for n in told} == told
    assert half_width(0, 0.9) is None
    assert stats.n_for_margin(0.05, N=0) == 0
    assert effective_units(200, 2.2) == pytest.approx(90.9, abs=0.05)
    with pytest.raises(ValueError, match="p_disc"):
        stats.ni_sample_size(1.2, 0.05)
    with pytest.raises(ValueError, match="e must"):
        stats.n_for_margin(0)


@few
@given(st.floats(0.05, 0.9), st.floats(0.01, 0.2), st.floats(0, 0.05))
def test_a_better_agent_needs_fewer_pairs(p_disc, margin, gain):
    assert stats.ni_sample_size(p_disc, margin, gain) <= stats.ni_sample_size(p_disc, margin)


@few
@given(
    st.integers(0, 200),
    st.lists(st.tuples(st.integers(0, 500), st.floats(0, 1)), min_size=1, max_size=5),
)
def test_neyman_takes_what_is_asked_and_no_more_than_there_is(n, strata):
    sizes, spreads = [size for size, _ in strata], [spread for _, spread in strata]
    drawn = stats.neyman(n, sizes, spreads)
    assert all(min(10, size) <= k <= size for k, size in zip(drawn, sizes, strict=True))
    assert sum(drawn) >= min(n, sum(sizes)) or any(
        k == size for k, size in zip(drawn, sizes, strict=True)
    )


def test_neyman_spends_where_the_spread_is():
    assert stats.neyman(100, [500, 500], [0.4, 0.1]) == [80, 20]
    assert stats.neyman(100, [500, 500], [0, 0]) == [50, 50]
    assert stats.neyman(100, [], []) == []
    with pytest.raises(ValueError, match="spreads"):
        stats.neyman(10, [5], [])


# --- two phases ----------------------------------------------------------------------------


def test_agreement_is_neither_partys_correctness():
    found = stats.two_phase_difference(
        820, [Disagreements(size=180, judged=180, first_only=63, second_only=90)]
    )
    assert found.value == pytest.approx(-0.027)
    assert (found.low, found.high) == pytest.approx((-0.052, -0.003), abs=5e-4)
    agent = stats.two_phase([stats.rate_stratum(820, 60, 57), stats.rate_stratum(180, 180, 81)])
    human = stats.two_phase([stats.rate_stratum(820, 60, 57), stats.rate_stratum(180, 180, 108)])
    assert (agent.value, human.value) == pytest.approx((0.860, 0.887))
    assert agent.low < agent.value < agent.high


def test_a_sample_of_disagreements_is_wider_than_all_of_them():
    whole = Disagreements(size=180, judged=180, first_only=62, second_only=90)
    half = Disagreements(size=180, judged=90, first_only=31, second_only=45)
    every, some = (stats.two_phase_difference(820, [d]) for d in (whole, half))
    assert some.value == pytest.approx(every.value)
    assert some.high - some.low > every.high - every.low
    assert some.df == 89
    with pytest.raises(ValueError, match="merge"):
        stats.two_phase_difference(
            5, [Disagreements(size=9, judged=1, first_only=1, second_only=0)]
        )
    assert stats.two_phase_difference(0, []) is None
    assert stats.two_phase([]) is None


def test_a_fully_judged_two_phase_sample_has_the_plain_variance():
    found = stats.two_phase([stats.rate_stratum(50, 50, 40)])
    assert found.se == pytest.approx(math.sqrt(0.8 * 0.2 / 49))


def test_unclear_is_counted_for_both_sides_and_never_dropped():
    both = stats.unclear_difference(14, 10, 6, 200)
    assert both.for_first.value == pytest.approx(0.05)
    assert both.for_second.value == pytest.approx(-0.01)
    worst, best = unclear_levels([(820, 60, 50, 5), (180, 180, 81, 9)])
    assert worst.value < best.value
    with pytest.raises(ValueError, match="unclear"):
        stats.unclear_difference(3, 3, 5, 10)


# --- looking more than once ----------------------------------------------------------------


def test_five_looks_at_1_96_raise_the_error_to_14_percent():
    assert stats.crossing_probability(1.96, 5) == pytest.approx(0.142, abs=5e-4)


@few
@given(st.floats(0.5, 4))
def test_one_look_has_the_error_of_one_test(z):
    exact = 2 * float(scipy_stats.norm.sf(z))
    assert stats.crossing_probability(z, 1) == pytest.approx(exact, abs=1e-9)


def test_two_looks_equal_the_bivariate_normal():
    z, rho = 2.178, math.sqrt(0.5)
    joint = scipy_stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    inside = float(joint.cdf([z, z], lower_limit=[-z, -z]))
    assert stats.crossing_probability(z, 2) == pytest.approx(1 - inside, abs=1e-6)


def test_more_looks_cost_more():
    errors = [stats.crossing_probability(2.2, k) for k in range(1, 6)]
    assert errors == sorted(errors)
    assert stats.pocock(1) == pytest.approx(1.959964, abs=1e-6)
    assert look_confidence(1.959963984540054) == pytest.approx(0.95)
    assert stats.pocock_confidence(2) == pytest.approx(0.9706, abs=5e-5)
    for bad in (0, -1):
        with pytest.raises(ValueError, match="looks"):
            stats.pocock(bad)
    with pytest.raises(ValueError, match="alpha"):
        stats.pocock(2, 0.7)


@few
@given(st.integers(0, 400), st.integers(0, 400), st.floats(0.01, 0.2))
def test_a_sequence_is_wider_than_a_fixed_sample(s, f, alpha):
    found = stats.beta_sequence(s, f, alpha)
    if s + f == 0:
        assert found is None
        return
    exact = stats.wilson(s, s + f, confidence=1 - alpha)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low <= exact.low + 1e-12
    assert exact.high <= found.high + 1e-12
    mirrored = stats.beta_sequence(f, s, alpha)
    assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


def test_300_clean_runs_bound_at_any_time():
    assert stats.beta_sequence(0, 300).high == pytest.approx(0.0212, abs=5e-5)
    assert stats.zero_event_upper(300) == pytest.approx(0.0099, abs=5e-5)
    ratio = [stats.beta_sequence(170, 30), stats.wilson(170, 200)]
    widths = [found.high - found.low for found in ratio]
    assert 1.6 < widths[0] / widths[1] < 1.8


@few
@given(st.integers(0, 40), st.integers(0, 40), st.floats(0.05, 0.9))
def test_an_e_value_is_the_integral_over_the_alternative(s, f, p0):
    def likelihood(p):
        return (p / p0) ** s * ((1 - p) / (1 - p0)) ** f / (1 - p0)

    expected = integrate.quad(likelihood, p0, 1, limit=200)[0]
    assert stats.e_greater(s, f, p0) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@few
@given(st.integers(1, 60), st.floats(0.05, 0.9))
def test_an_e_value_is_fair_under_the_null_and_unfair_above(n, p0):
    def mean(p):
        return sum(
            float(scipy_stats.binom.pmf(s, n, p)) * stats.e_greater(s, n - s, p0)
            for s in range(n + 1)
        )

    assert mean(p0) == pytest.approx(1, abs=1e-9)
    assert mean(p0 / 2) <= 1
    assert mean((1 + p0) / 2) >= 1


def test_evidence_neither_overflows_nor_turns_nan():
    assert math.isfinite(stats.e_greater(100_000, 0, 0.01))
    assert stats.e_greater(0, 100_000, 0.9) == 0
    assert stats.e_greater(0, 0, 0.5) == 1
    assert stats.e_less(0, 50, 0.5) == pytest.approx(stats.e_greater(50, 0, 0.5))
    with pytest.raises(ValueError, match="p0"):
        stats.e_greater(1, 1, 1.0)


@few
@given(st.lists(st.floats(0, 1), max_size=80))
def test_a_score_sequence_only_narrows(x):
    found = stats.bernstein_sequence(x)
    if not x:
        assert found is None
    elif found.flags != ("empty",):
        assert 0 <= found.low <= found.value <= found.high <= 1
        before = stats.bernstein_sequence(x[:-1])
        if before is not None and before.low is not None:
            assert before.low <= found.low
            assert found.high <= before.high


def test_scores_that_jump_leave_no_interval_rather_than_a_wrong_one():
    found = stats.bernstein_sequence([0.0] * 300 + [1.0] * 3000)
    assert (found.low, found.flags) == (None, ("empty",))
    with pytest.raises(ValueError, match=r"x\[0\]"):
        stats.bernstein_sequence([1.5])


def test_two_phase_without_spread_is_worth_what_its_weights_are() -> None:
    found = stats.two_phase([stats.rate_stratum(820, 60, 60), stats.rate_stratum(180, 180, 180)])
    worth = stats.kish([820 / 60] * 60 + [1.0] * 180)
    assert worth is not None
    assert worth == pytest.approx(87.8, abs=0.05)
    exact = stats.clopper_pearson(worth, worth)
    assert found is not None
    assert exact is not None
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(exact.low)
    assert found.low == pytest.approx(0.9589, abs=1e-4)
