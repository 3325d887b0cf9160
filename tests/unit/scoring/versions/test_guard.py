from dataclasses import replace

import pytest

from scoring.metrics.guards import COMPLETENESS
from scoring.stats.gates import Decision, Verdict
from scoring.stats.rates import zero_event_upper
from scoring.stats.shown import shown_rate
from scoring.versions.guard import Broken, Guard, Sides, guard_of, new_violations

WON = Decision(verdict=Verdict.PASS, reason="shown")
BOTH = {"base": "old", "cand": "new"}


BESIDE = ("checked", "no_rule_judged", "rules_unclear", "hard_unclear", "m_violations")
"""What rows say beside the shares; `m_violations`: runs of which it is known whether they broke a rule."""


def broken(version: str, task: str, rule: str = "prohibited.0", runs: int = 1) -> Broken:
    return Broken(version=version, task=task, policy="p", rule=rule, runs=runs, run_ids=("r",))


def guard(*new: Broken, complete: float = 1.0, known: bool = True) -> Guard:
    found = shown_rate(None, n=0, unit="run", method="wilson")
    seen = guard_of(
        [row("old", complete=100), row("new", complete=round(100 * complete))], [],
        metric="completion", unit="run", confidence=0.95, **BOTH,
    )  # fmt: skip
    shares = {**seen.shares, "unverified": Sides(base=found, cand=found)}
    return Guard(shares=shares, new=new if known else None)


def row(version: str, **hits: int) -> dict[str, object]:
    made: dict[str, object] = {"version": version, "runs": 100, "checked": 100}
    made |= {part: hits.pop(part) for part in BESIDE if part in hits}
    given = {
        "violations": 0, "false_claims": 0, "over_budget": 0, "aborted": 0, "unverified": 0,
        COMPLETENESS: hits.pop("complete", 100), **hits,
    }  # fmt: skip
    for name, y in given.items():
        made |= {
            f"clusters_{name}": 100, f"sum_m_{name}": float(made.pop(f"m_{name}", 100)), f"sum_y_{name}": float(y),
            f"mm_{name}": 100.0, f"my_{name}": float(y), f"yy_{name}": float(y),
        }  # fmt: skip
    return made


def test_a_version_that_wins_and_breaks_a_rule_anew_fails() -> None:
    found = guard(broken("new", "t1"), broken("new", "t2")).over(WON)
    assert found.verdict is Verdict.FAIL
    assert found.reason == "shown, but new violations at 2 tasks: p/prohibited.0"


def test_without_a_new_violation_the_decision_stands() -> None:
    assert guard().over(WON) == WON


def test_nothing_passes_while_nobody_knows_of_violations() -> None:
    blind = guard(known=False)
    found = blind.over(WON)
    assert found.verdict is Verdict.NOT_ENOUGH_DATA
    assert "nobody knows which rules they break" in found.reason
    assert "write a policy for them, or `violations: not_judged` into the rule" in found.reason
    lost = Decision(verdict=Verdict.FAIL, reason="shown worse")
    assert blind.over(lost) == lost


def test_a_rule_that_asks_for_no_policy_says_so_with_its_verdict() -> None:
    found = guard(known=False).over(WON, known=False)
    assert found.verdict is Verdict.PASS
    assert found.reason == "shown; violations are not judged, which the rule allows"
    seen = guard(broken("new", "t1")).over(WON, known=False)
    assert seen.verdict is Verdict.FAIL


def test_runs_that_no_policy_judged_are_told_beside_no_violation() -> None:
    rows = [row("old"), row("new", m_violations=60, checked=60, no_rule_judged=40)]
    found = guard_of(rows, [], metric="completion", unit="run", confidence=0.95, **BOTH)
    assert found.shares["violations"].cand.excluded == {"no_rule_judged": 40}
    assert found.text == "no new violation; 40 runs no policy judged"
    assert guard_of([row("old"), row("new")], [], metric="clean", unit="run", confidence=0.95, **BOTH).text == "no new violation"  # fmt: skip


def test_a_violation_waits_for_no_look() -> None:
    early = Decision(verdict=Verdict.NOT_ENOUGH_DATA, reason="no planned look", missing=40)
    assert guard(broken("new", "t1")).over(early).verdict is Verdict.FAIL


def test_too_many_incomplete_traces_decide_nothing() -> None:
    found = guard(complete=0.9).over(WON)
    assert found.verdict is Verdict.NOT_ENOUGH_DATA
    assert "90.0% of the traces" in found.reason


def test_at_a_task_new_is_what_the_baseline_did_not_break_there() -> None:
    rows = [broken("old", "t1", runs=3), broken("new", "t1"), broken("new", "t2"), broken("old", "t3")]  # fmt: skip
    found = new_violations(rows, {"old": 9, "new": 9}, **BOTH)
    assert found is not None
    assert [one.task for one in found] == ["t2"]


@pytest.mark.parametrize(("new", "is_new"), [(9, False), (10, False), (11, True)])
def test_live_new_is_a_rule_that_a_larger_share_of_runs_breaks(new: int, is_new: bool) -> None:
    rows = [broken("old", "", runs=20), broken("new", "", runs=new)]
    found = new_violations(rows, {"old": 200, "new": 100}, **BOTH)
    assert found is not None
    assert bool(found) is is_new


def test_without_a_policy_on_a_side_nobody_knows() -> None:
    assert new_violations([], {"old": 0, "new": 100}, **BOTH) is None
    assert new_violations([broken("old", "t1")], {"old": 9, "new": 0}, **BOTH) is None


@pytest.mark.parametrize("task", ["t1", ""])
def test_a_breach_that_is_seen_is_new_where_nobody_judged_the_baseline(task: str) -> None:
    assert new_violations([broken("new", task)], {"old": 0, "new": 100}, **BOTH) == (
        broken("new", task),
    )


@pytest.mark.parametrize("known", [True, False])
def test_a_breach_that_is_seen_fails_whatever_the_rule_asks_of_policies(known: bool) -> None:
    rows = [row("old", checked=0, m_violations=0, no_rule_judged=100), row("new")]
    found = guard_of(rows, [broken("new", "", runs=3)], metric="completion", unit="run", confidence=0.95, **BOTH)  # fmt: skip
    decision = found.over(WON, known=known)
    assert (decision.verdict, decision.reason) == (
        Verdict.FAIL, "shown, but new violations: p/prohibited.0",
    )  # fmt: skip


def test_nothing_passes_while_policies_can_not_tell_what_the_candidate_breaks() -> None:
    rows = [row("old"), row("new", checked=60, m_violations=60, rules_unclear=40, hard_unclear=40)]
    found = guard_of(rows, [], metric="completion", unit="run", confidence=0.95, **BOTH)
    assert found.shares["violations"].cand.excluded == {"rules_unclear": 40}
    assert found.text.startswith("which rules the candidate breaks can not be told of 40 runs: ")
    assert (found.unjudged, found.less_judged) == (0, False)
    assert found.as_json()["new_violations"]["n"] is None  # type: ignore[index,call-overload]
    decision = found.over(WON)
    assert (decision.verdict, decision.reason) == (Verdict.NOT_ENOUGH_DATA, found.text)
    assert found.swapped.over(WON) == WON
    assert found.over(WON, known=False).verdict is Verdict.PASS


def test_of_a_candidate_that_can_not_be_told_of_a_breach_that_is_seen_fails() -> None:
    rows = [row("old"), row("new", hard_unclear=40)]
    found = guard_of(rows, [broken("new", "t1")], metric="completion", unit="run", confidence=0.95, **BOTH)  # fmt: skip
    assert found.over(WON).verdict is Verdict.FAIL
    assert found.text == "new violations at 1 task: p/prohibited.0"


def test_a_run_that_can_not_be_told_of_is_one() -> None:
    rows = [row("old"), row("new", hard_unclear=1)]
    found = guard_of(rows, [], metric="completion", unit="run", confidence=0.95, **BOTH)
    assert "can not be told of 1 run:" in found.text


def test_each_share_comes_with_n_interval_and_both_sides() -> None:
    rows = [row("old"), row("new", false_claims=5)]
    found = guard_of(rows, [], metric="completion", unit="run", confidence=0.95, **BOTH)
    claims = found.shares["false_claims"]
    assert (claims.base.value, claims.cand.value, claims.cand.n) == (0.0, 0.05, 100)
    kept = found.shares["violations"].cand
    assert (kept.value, kept.high) == (0.0, pytest.approx(zero_event_upper(100)))
    assert set(found.as_json()) == {
        "violations", "false_claims", "over_budget", "aborted", "unverified", COMPLETENESS,
        "new_violations",
    }  # fmt: skip


def test_a_guard_without_shares_can_not_be_made() -> None:
    with pytest.raises(ValueError, match="guard"):
        Guard(shares={}, new=())


def test_of_a_version_without_runs_the_shares_are_unknown() -> None:
    found = guard_of([row("old")], [], metric="clean", unit="run", confidence=0.95, **BOTH)
    passed = found.shares["false_claims"].cand
    assert (passed.value, passed.low, passed.high, passed.n) == (None, 0.0, 1.0, 0)
    assert found.new is None


def test_nothing_passes_while_policies_judged_less_of_the_candidate() -> None:
    seen = replace(guard(), judged=(1.0, 0.9))
    decision = seen.over(WON)
    assert decision.verdict is Verdict.NOT_ENOUGH_DATA
    assert "smaller share of the candidate's runs" in decision.reason
    assert seen.over(WON, known=False).verdict is Verdict.PASS
    assert replace(guard(), judged=(0.5, 0.5)).over(WON).verdict is Verdict.PASS
    assert replace(guard(broken("new", "t1")), judged=(1.0, 0.9)).over(WON).verdict is Verdict.FAIL


def test_the_share_that_policies_judged_is_that_of_each_side() -> None:
    rows = [row("old"), row("new", m_violations=60, checked=60, no_rule_judged=40)]
    found = guard_of(rows, [], metric="completion", unit="run", confidence=0.95, **BOTH)
    assert found.judged == (1.0, 0.6)
    assert found.less_judged
    assert not found.swapped.less_judged
