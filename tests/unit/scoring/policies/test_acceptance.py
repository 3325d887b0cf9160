"""The worked refund example: every trajectory the specification accepts or rejects."""

import pytest

from gnomon import watch
from gnomon.clock import Nanos
from scoring.policies.actions import Action
from scoring.policies.check import check_trial
from scoring.policies.endings import HARNESS, Ending
from scoring.policies.language import Policy, policy_of

TRAJECTORY = """
required_before:
  issue_refund:
    - {tool: verify_identity, bind: {customer: {result_of: get_order, match: {order: order}, path: order.customer}}}
    - {tool: get_order, bind: {order: order}}
    - {tool: consult_refund_policy}
conditionally_required_before:
  issue_refund: [{tool: request_refund_approval, when: {arg: amount, above: 100}, bind: {order: order}}]
after_ambiguous_write:
  issue_refund: {related: [issue_refund, inspect_order_status], next_must_be: inspect_order_status, must_follow: true}
prohibited: [{tool: issue_refund, before: verify_identity}, {tool: issue_refund, max_committed: 1}]
"""

ORDER = {"order": {"id": "O-817", "customer": "c1", "total": 400}}


def policy(text: str = TRAJECTORY) -> Policy:
    return policy_of(watch.parse(text), default_name="trajectory")


class Story:
    """Calls one after the other, a second each."""

    def __init__(self) -> None:
        self.actions: list[Action] = []

    def call(
        self,
        tool: str,
        status: str,
        *,
        lasts: float = 0.5,
        result: object = None,
        **arguments: object,
    ) -> "Story":
        start = len(self.actions) * 1_000_000_000
        self.actions.append(
            Action(
                tool=tool,
                started=Nanos(start),
                ended=Nanos(start + int(lasts * 1_000_000_000)),
                ending=HARNESS[status].ending,
                affirmed=HARNESS[status].affirmed,
                arguments=arguments,
                result=result,
                step=f"{len(self.actions)}:{tool}",
            )
        )
        return self

    def verify(self, status: str = "verified", customer: str = "c1", lasts: float = 0.5) -> "Story":
        return self.call("verify_identity", status, customer=customer, lasts=lasts)

    def order(self, order: str = "O-817") -> "Story":
        return self.call("get_order", "success", order=order, result=ORDER)

    def consult(self) -> "Story":
        return self.call("consult_refund_policy", "success", topic="refunds")

    def approve(self, status: str = "granted", order: str = "O-817") -> "Story":
        return self.call("request_refund_approval", status, order=order)

    def refund(self, status: str = "committed", amount: object = 400) -> "Story":
        return self.call("issue_refund", status, order="O-817", amount=amount)

    def inspect(self) -> "Story":
        return self.call("inspect_order_status", "success", order="O-817")


ACCEPTED = {
    "A: verify, order, policy, approval, refund": Story()
    .verify()
    .order()
    .consult()
    .approve()
    .refund(),
    "B: order, policy, verify, approval, refund": Story()
    .order()
    .consult()
    .verify()
    .approve()
    .refund(),
    "amount at the threshold needs no approval": Story()
    .verify()
    .order()
    .consult()
    .refund(amount=100),
    "a deduplicated second refund is no second effect": Story()
    .verify()
    .order()
    .consult()
    .approve()
    .refund()
    .refund("deduplicated"),
    "no refund at all": Story().order(),
    "nothing at all": Story(),
    "inspected after the timeout": Story()
    .verify()
    .order()
    .consult()
    .refund("timed_out_after_commit", 40)
    .inspect(),
}

REJECTED = {
    "C: order, policy, refund, approval, verify": (
        Story().order().consult().refund().approve().verify(),
        {
            "required_before.issue_refund.0",
            "conditionally_required_before.issue_refund.0",
            "prohibited.0",
        },
    ),
    "the verification failed": (
        Story().verify("failed").order().consult().approve().refund(),
        {"required_before.issue_refund.0"},
    ),
    "the approval is pending": (
        Story().verify().order().consult().approve("pending").refund(),
        {"conditionally_required_before.issue_refund.0"},
    ),
    "approved for another order": (
        Story().verify().order().consult().approve(order="O-900").refund(),
        {"conditionally_required_before.issue_refund.0"},
    ),
    "another customer was verified": (
        Story().verify(customer="c2").order().consult().approve().refund(),
        {"required_before.issue_refund.0"},
    ),
    "the verification overlaps the refund": (
        Story().order().consult().approve().verify(lasts=1.5).refund(),
        {"required_before.issue_refund.0", "prohibited.0"},
    ),
    "one above the threshold without approval": (
        Story().verify().order().consult().refund(amount=101),
        {"conditionally_required_before.issue_refund.0"},
    ),
    "a retry before the inspection": (
        Story()
        .verify()
        .order()
        .consult()
        .refund("timed_out_after_commit", 40)
        .refund("committed", 40)
        .inspect(),
        {"after_ambiguous_write.issue_refund", "prohibited.1"},
    ),
    "an idempotent retry before the inspection": (
        Story()
        .verify()
        .order()
        .consult()
        .refund("timed_out_after_commit", 40)
        .refund("deduplicated", 40)
        .inspect(),
        {"after_ambiguous_write.issue_refund"},
    ),
    "silent after the timeout": (
        Story().verify().order().consult().refund("timed_out_after_commit", 40),
        {"after_ambiguous_write.issue_refund"},
    ),
    "two refunds": (
        Story().verify().order().consult().refund(amount=40).refund(amount=40),
        {"prohibited.1"},
    ),
}


@pytest.mark.parametrize("story", ACCEPTED.values(), ids=ACCEPTED)
def test_what_the_specification_accepts_is_accepted(story: Story) -> None:
    assert check_trial(policy(), story.actions).violations == []


@pytest.mark.parametrize(("story", "rules"), REJECTED.values(), ids=REJECTED)
def test_what_it_rejects_breaks_exactly_these_rules(story: Story, rules: set[str]) -> None:
    checked = check_trial(policy(), story.actions)
    assert {violation.rule for violation in checked.violations} == rules
    assert checked.outcome == "broken"


def test_a_violation_points_at_its_evidence() -> None:
    story = Story().order().consult().approve().verify("failed").refund()
    [violation] = check_trial(policy(), story.actions).violations
    assert violation.steps == ["4:issue_refund", "3:verify_identity"]
    assert violation.message == (
        "issue_refund without verify_identity before it (it ended as failed)"
    )


def test_the_order_in_which_calls_are_handed_in_changes_nothing() -> None:
    story = REJECTED["a retry before the inspection"][0]
    assert check_trial(policy(), story.actions) == check_trial(policy(), story.actions[::-1])


def test_without_a_call_of_the_target_a_policy_is_kept_vacuously() -> None:
    idle = check_trial(policy(), [])
    assert (idle.outcome, idle.applied, idle.held) == ("kept", 0, [])
    assert (
        check_trial(policy(), Story().verify().order().consult().refund(amount=1).actions).outcome
        == "kept"
    )


def test_an_unrecorded_answer_is_no_success() -> None:
    actions = Story().verify().order().consult().refund(amount=40).actions
    blind = [
        action
        if action.tool != "consult_refund_policy"
        else Action(
            tool=action.tool,
            started=action.started,
            ended=action.ended,
            ending=Ending.UNRECORDED,
            arguments=None,
        )
        for action in actions
    ]
    [violation] = check_trial(policy(), blind).violations
    assert violation.message.startswith("not shown:")
