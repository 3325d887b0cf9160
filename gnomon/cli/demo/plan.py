"""What is going to happen in a run: which faults meet it, and which mistake its agent makes."""

from dataclasses import dataclass
from enum import StrEnum

from gnomon.cli.demo.chance import Chance
from gnomon.cli.demo.releases import Mistake, Release
from gnomon.cli.demo.tickets import Ticket, Topic
from gnomon.cli.demo.world import APPROVAL_ABOVE, Faults, PaymentFault

SLOW_PAYMENTS = (0.33, 0.58)
"""The part of the history in which the payment provider is slow: the dip that rc3 causes."""

_TIMEOUTS = frozenset({PaymentFault.TIMEOUT_AFTER_COMMIT, PaymentFault.TIMEOUT_BEFORE_COMMIT})
_TIMEOUTS_USUAL, _TIMEOUTS_SLOW = 0.08, 0.65


class ModelFault(StrEnum):
    """How the model's provider misbehaves in a run."""

    NONE = "none"
    RATE_LIMITED = "rate_limited"
    DOWN = "down"


class Unverified(StrEnum):
    """The three ways to pay before the identity check has passed."""

    NEVER = "never"
    AFTER = "after"
    MEANWHILE = "meanwhile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The script of one run."""

    release: Release
    faults: Faults
    model_fault: ModelFault
    mistake: Mistake | None
    unverified: Unverified
    amount: int
    """What the agent means to pay back."""


def make_plan(
    ticket: Ticket, release: Release, position: float, chance: Chance, agent: Chance | None = None
) -> Plan:
    """Draw the script of a run; positions from 1 on are live.

    agent: where the agent's own mistakes are drawn from, when the world around it is to be the
    same in several runs.
    """
    own = agent or chance
    model_fault = _model_fault(chance)
    faults = Faults(
        payment=_payment_fault(position, chance),
        approval_pending=chance.happens("approval pending", 0.12),
        lookup_fails_once=chance.happens("lookup fails", 0.03),
    )
    mistake = None
    if model_fault is not ModelFault.DOWN:
        mistake = _mistake(possible(ticket, faults), release, own)
    total = ticket.order.total
    return Plan(
        release=release,
        faults=faults,
        model_fault=model_fault,
        mistake=mistake,
        unverified=own.pick("unverified", tuple(Unverified)),
        amount=total if mistake is Mistake.WRONG_AMOUNT else ticket.amount,
    )


def possible(ticket: Ticket, faults: Faults) -> frozenset[Mistake]:
    """Return the mistakes that this ticket, under these faults, leaves room for."""
    found = {Mistake.ENDLESS_LOOP}
    if not (ticket.topic is Topic.FOLLOW_UP and ticket.paid_before):
        found.add(Mistake.FALSE_CLAIM)
    above = ticket.amount > APPROVAL_ABOVE
    due = ticket.due is not None and faults.payment is not PaymentFault.DECLINED
    pays = due and not (above and faults.approval_pending)
    if due and above:
        found.add(Mistake.SKIPPED_APPROVAL)
    if pays or ticket.topic is Topic.STRANGER:
        found.add(Mistake.UNVERIFIED_REFUND)
    if pays and ticket.topic is Topic.WRONG_ITEM:
        found.add(Mistake.WRONG_AMOUNT)
    if pays and faults.payment in _TIMEOUTS:
        found.add(Mistake.ENDLESS_POLLING)
    if pays and faults.payment is PaymentFault.TIMEOUT_AFTER_COMMIT:
        found.add(Mistake.UNSAFE_RETRY)
    return frozenset(found)


def _mistake(room: frozenset[Mistake], release: Release, chance: Chance) -> Mistake | None:
    left = chance.share("mistake")
    for mistake in Mistake:
        if mistake in room:
            if left < release.rates[mistake]:
                return mistake
            left -= release.rates[mistake]
    return None


def _model_fault(chance: Chance) -> ModelFault:
    if chance.happens("model down", 0.012):
        return ModelFault.DOWN
    return ModelFault.RATE_LIMITED if chance.happens("rate limited", 0.04) else ModelFault.NONE


def _payment_fault(position: float, chance: Chance) -> PaymentFault:
    slow = SLOW_PAYMENTS[0] <= position < SLOW_PAYMENTS[1]
    timeouts = _TIMEOUTS_SLOW if slow else _TIMEOUTS_USUAL
    drawn = chance.share("payment")
    if drawn < timeouts * 0.8:
        return PaymentFault.TIMEOUT_AFTER_COMMIT
    if drawn < timeouts:
        return PaymentFault.TIMEOUT_BEFORE_COMMIT
    return PaymentFault.DECLINED if drawn > 0.97 else PaymentFault.NONE
