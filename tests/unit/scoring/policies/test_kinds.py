"""What a rule is about is known from what it is, and a number of breaches from what was held against it."""

import pytest

from gnomon.model import Step
from scoring.policies.check import check_run
from scoring.policies.verdict import Held, Outcome, RuleKind, held_of, outcome_of
from tests.unit.scoring.policies.test_check import policy, run, step

TIMEOUT = {"error": "timeout"}
ORDER = {"order": "A"}


def refund(number: int, **arguments: object) -> Step:
    return step(number, "refund", {**ORDER, **arguments}, {"ok": True})


@pytest.mark.parametrize(
    ("rule", "steps", "kind"),
    [
        ("required_before: {refund: [{tool: check}]}", [refund(1)], RuleKind.CHECK),
        (
            "conditionally_required_before:"
            " {refund: [{tool: approve, when: {arg: amount, above: 100}}]}",
            [refund(1, amount=101)],
            RuleKind.GATE,
        ),
        (
            "after_ambiguous_write:"
            " {refund: {related: [look], next_must_be: look, must_follow: true}}",
            [step(1, "refund", ORDER, TIMEOUT)],
            RuleKind.REACTION,
        ),
        (
            "prohibited: [{tool: refund, before: check}]",
            [refund(1), step(2, "check", {}, {"ok": True})],
            RuleKind.ORDER,
        ),
        (
            "prohibited: [{tool: refund, after: close}]",
            [step(1, "close", {}, {"ok": True}), refund(2)],
            RuleKind.ORDER,
        ),
        ("prohibited: [{tool: refund}]", [refund(1)], RuleKind.PROHIBITED),
        ("prohibited: [{tool: refund, max_committed: 0}]", [refund(1)], RuleKind.PROHIBITED),
        (
            "prohibited: [{tool: refund, max_committed: 1}]",
            [refund(1), refund(2)],
            RuleKind.EFFECTS,
        ),
        ("arguments: {refund: {required: [amount]}}", [refund(1)], RuleKind.ARGUMENTS),
        ("budgets: {seconds: 1}", [], RuleKind.BUDGET),
    ],
)
def test_a_violation_knows_what_its_rule_is_about(
    rule: str, steps: list[Step], kind: RuleKind
) -> None:
    checked = check_run(policy(rule), run(), steps)
    assert [one.kind for one in checked.violations] == [kind]
    assert checked.held == [Held(kind=kind, broken=1)]


GATE = """
conditionally_required_before:
  refund:
    - {tool: approve, when: {arg: amount, above: 100}, bind: {order: order}}
    - {tool: sign, when: {arg: amount, above: 1000}, bind: {order: order}}
"""


def test_gated_actions_are_counted_one_by_one_and_only_those_that_need_an_approval() -> None:
    steps = [
        step(1, "approve", {"order": "A"}, {"approved": True}),
        step(2, "refund", {"order": "A", "amount": 200}, {"ok": True}),
        step(3, "refund", {"order": "B", "amount": 2_000}, {"ok": True}),
        step(4, "refund", {"order": "C", "amount": 20}, {"ok": True}),
        step(5, "refund", {"order": "D"}, {"ok": True}),
    ]
    checked = check_run(policy(GATE), run(), steps)
    # B lacks both approvals and is one action; C needs none; of D nobody knows the amount.
    assert checked.held == [Held(kind=RuleKind.GATE, kept=1, broken=1, unknown=1)]


def test_a_call_below_the_gate_is_held_against_nothing_and_the_policy_is_kept() -> None:
    checked = check_run(policy(GATE), run(), [refund(1, amount=20)])
    assert (checked.outcome, checked.held) == (Outcome.KEPT, [])


def test_a_budget_that_is_known_in_part_is_not_kept_and_other_kinds_are_told_apart() -> None:
    text = "{budgets: {steps: 50, usd: 1}, prohibited: [{tool: refund, max_committed: 1}]}"
    checked = check_run(policy(text), run(), [refund(1)])
    held = {one.kind: one for one in checked.held}
    assert outcome_of([held[RuleKind.BUDGET]]) is Outcome.NOT_EVALUABLE
    assert outcome_of([held[RuleKind.EFFECTS]]) is Outcome.KEPT
    assert checked.outcome is Outcome.NOT_EVALUABLE


def test_nothing_held_is_no_outcome_and_a_breach_outweighs_what_nobody_knows() -> None:
    assert outcome_of([]) is Outcome.NOT_APPLICABLE
    assert held_of([]) == []
    kind = RuleKind.EFFECTS
    assert outcome_of([Held(kind=kind, unknown=1), Held(kind=kind, broken=1)]) is Outcome.BROKEN
    assert outcome_of([Held(kind=kind, kept=5), Held(kind=kind, unknown=1)]) is Outcome.NOT_EVALUABLE  # fmt: skip
