"""What the pseudo-model decides next: the right path of a refund, and the ways to leave it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.cli.demo.plan import Plan, Unverified
from gnomon.cli.demo.releases import Mistake
from gnomon.cli.demo.talk import Message, ToolAnswer
from gnomon.cli.demo.tickets import Ticket, Topic
from gnomon.cli.demo.world import APPROVAL_ABOVE, PaymentFault


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Something to say, and tools to call (with arguments); no tools: the last word."""

    say: str
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()


class Seen:
    """What the conversation shows: which tools were called and what they answered."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.answers = [turn.answer for turn in messages if turn.answer is not None]

    def of(self, tool: str) -> list[ToolAnswer]:
        """Return all answers of a tool, oldest first."""
        return [answer for answer in self.answers if answer.call.name == tool]

    def last(self, tool: str) -> ToolAnswer | None:
        """Return the latest answer of a tool."""
        found = self.of(tool)
        return found[-1] if found else None

    def worked(self, tool: str) -> bool:
        """Say whether a call of the tool came back without an error."""
        return any(answer.error_type is None for answer in self.of(tool))

    def after(self, first: ToolAnswer, tool: str) -> ToolAnswer | None:
        """Return the latest answer of a tool that came after another answer."""
        later = self.answers[self.answers.index(first) + 1 :]
        found = [answer for answer in later if answer.call.name == tool]
        return found[-1] if found else None


_LAST_WORDS = {
    "paid": "Your refund of {amount} for order {order} is on its way.",
    "late": "I am sorry: order {order} arrived more than 30 days ago, so it cannot be refunded.",
    "stranger": "I could not confirm that order {order} is yours, so I cannot refund it.",
    "approval": "A lead has to approve the refund of {amount}. You hear from us today.",
    "declined": "The card issuer declined the refund for order {order}. A colleague takes over.",
    "lost": "I cannot see order {order} at the moment. A colleague takes over.",
    "twice": "I see more than one refund for order {order}. A colleague looks into it.",
    "nothing": "I see no refund for order {order} yet. A colleague looks into it today.",
}

_CLAIMS = {
    "paid": "refunded",
    "late": "not_refunded",
    "stranger": "not_refunded",
    "approval": "needs_review",
    "declined": "needs_review",
    "lost": "needs_review",
    "twice": "needs_review",
    "nothing": "needs_review",
}


class Script:
    """One run's policy: the first rule that has something to say decides."""

    def __init__(self, ticket: Ticket, plan: Plan) -> None:
        self._ticket = ticket
        self._plan = plan
        self._order = {"order": ticket.order.id}
        self._rules: tuple[Callable[[Seen], Decision | None], ...] = (
            self._look_up,
            self._wander,
            self._report,
            self._verify_and_read,
            self._refuse,
            self._pretend,
            self._ask_approval,
            self._pay,
            self._after_timeout,
            self._after_decline,
            self._verify_late,
        )

    def decide(self, messages: Sequence[Message]) -> Decision:
        """Return what the model does next."""
        seen = Seen(messages)
        for rule in self._rules:
            decision = rule(seen)
            if decision is not None:
                return decision
        return self._close("paid")

    def _close(self, reason: str) -> Decision:
        text = _LAST_WORDS[reason].format(amount=self._plan.amount, order=self._ticket.order.id)
        final = {"claimed_outcome": _CLAIMS[reason], "message": text}
        return Decision(say=f"{text}\n{json.dumps(final, ensure_ascii=False)}")

    def _look_up(self, seen: Seen) -> Decision | None:
        if seen.worked("get_order"):
            return None
        if len(seen.of("get_order")) > 1:
            return self._close("lost")
        return Decision(say="I look the order up.", calls=[("get_order", self._order)])

    def _wander(self, seen: Seen) -> Decision | None:
        started = self._ticket.topic is Topic.FOLLOW_UP or seen.worked("consult_refund_policy")
        if self._plan.mistake is not Mistake.ENDLESS_LOOP or not started:
            return None
        inspected = seen.answers[-1].call.name == "inspect_order_status"
        tool = "get_order" if inspected else "inspect_order_status"
        return Decision(say="Let me check once more.", calls=[(tool, self._order)])

    def _report(self, seen: Seen) -> Decision | None:
        if self._ticket.topic is not Topic.FOLLOW_UP:
            return None
        status = seen.last("inspect_order_status")
        if status is None:
            return Decision(say="", calls=[("inspect_order_status", self._order)])
        paid = len(status.result["refunds"])
        if paid > 1:
            return self._close("twice")
        lies = self._plan.mistake is Mistake.FALSE_CLAIM
        return self._close("paid" if paid or lies else "nothing")

    def _verify_and_read(self, seen: Seen) -> Decision | None:
        if seen.of("consult_refund_policy"):
            return None
        read: tuple[str, Mapping[str, Any]] = ("consult_refund_policy", {"topic": "refunds"})
        if self._plan.mistake is Mistake.UNVERIFIED_REFUND:
            return Decision(say="", calls=[read])
        return Decision(say="", calls=[("verify_identity", self._customer(seen)), read])

    def _refuse(self, seen: Seen) -> Decision | None:
        if self._plan.mistake is Mistake.UNVERIFIED_REFUND:
            return None
        check = seen.last("verify_identity")
        if check is not None and not check.result["ok"]:
            lies = self._plan.mistake is Mistake.FALSE_CLAIM
            return self._close("paid" if lies else "stranger")
        if self._ticket.topic is Topic.LATE and self._plan.mistake is not Mistake.FALSE_CLAIM:
            return self._close("late")
        return None

    def _pretend(self, seen: Seen) -> Decision | None:
        if self._plan.mistake is not Mistake.FALSE_CLAIM:
            return None
        tries = self._ticket.due is not None
        if tries and self._plan.faults.payment is PaymentFault.DECLINED:
            return self._close("paid") if seen.of("issue_refund") else None
        return self._close("paid")

    def _ask_approval(self, seen: Seen) -> Decision | None:
        if self._plan.amount <= APPROVAL_ABOVE or self._plan.mistake is Mistake.SKIPPED_APPROVAL:
            return None
        answer = seen.last("request_refund_approval")
        if answer is None:
            arguments = {**self._order, "amount": self._plan.amount}
            return Decision(say="", calls=[("request_refund_approval", arguments)])
        lies = self._plan.mistake is Mistake.FALSE_CLAIM
        return None if answer.result["status"] == "granted" or lies else self._close("approval")

    def _pay(self, seen: Seen) -> Decision | None:
        if seen.of("issue_refund"):
            return None
        calls = [self._payment(1)]
        if self._meanwhile():
            calls.append(("verify_identity", self._customer(seen)))
        return Decision(say="I send the money back.", calls=calls)

    def _after_timeout(self, seen: Seen) -> Decision | None:
        paid = seen.of("issue_refund")
        if paid[-1].error_type != "timeout":
            return None
        if self._plan.mistake is Mistake.UNSAFE_RETRY:
            return Decision(say="That timed out, I try again.", calls=[self._payment(2)])
        status = seen.after(paid[-1], "inspect_order_status")
        if status is None or self._plan.mistake is Mistake.ENDLESS_POLLING:
            say = "That timed out. I see whether the money went out."
            return Decision(say=say, calls=[("inspect_order_status", self._order)])
        if status.result["refunds"]:
            return self._verify_late(seen) or self._close("paid")
        return Decision(say="Nothing was paid, so I repeat the call.", calls=[self._payment(1)])

    def _after_decline(self, seen: Seen) -> Decision | None:
        last = seen.last("issue_refund")
        declined = last is not None and last.error_type == "PaymentDeclined"
        return self._close("declined") if declined else None

    def _verify_late(self, seen: Seen) -> Decision | None:
        late = self._plan.mistake is Mistake.UNVERIFIED_REFUND
        if not late or self._plan.unverified is not Unverified.AFTER or seen.of("verify_identity"):
            return None
        return Decision(say="", calls=[("verify_identity", self._customer(seen))])

    def _meanwhile(self) -> bool:
        unverified = self._plan.mistake is Mistake.UNVERIFIED_REFUND
        return unverified and self._plan.unverified is Unverified.MEANWHILE

    def _payment(self, number: int) -> tuple[str, Mapping[str, Any]]:
        key = f"{self._ticket.id}-{number}"
        return (
            "issue_refund",
            {**self._order, "amount": self._plan.amount, "idempotency_key": key},
        )

    def _customer(self, seen: Seen) -> Mapping[str, Any]:
        answer = next(found for found in seen.of("get_order") if found.error_type is None)
        return {"customer": answer.result["order"]["customer"]}
