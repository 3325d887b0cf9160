"""The refund desk's world: customers, orders, refunds, and what the tools do to them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from gnomon.clock import Nanos

APPROVAL_ABOVE = 100
"""Refunds above this amount need the approval of a lead."""

POLICY_TEXT = (
    "Refund once, within 30 days of delivery. Refund what the faulty item cost. "
    "Amounts above 100 need the approval of a lead. Confirm the status before any retry."
)


class PaymentFault(StrEnum):
    """How the payment provider answers the first attempt at a refund."""

    NONE = "none"
    TIMEOUT_AFTER_COMMIT = "timeout_after_commit"
    TIMEOUT_BEFORE_COMMIT = "timeout_before_commit"
    DECLINED = "declined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """What goes wrong around the agent in one run; never its own fault."""

    payment: PaymentFault = PaymentFault.NONE
    approval_pending: bool = False
    lookup_fails_once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing somebody bought. Prices are whole units of one currency."""

    name: str
    price: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a customer bought, and how long ago it arrived."""

    id: str
    customer: str
    items: tuple[Item, ...]
    delivered_days_ago: int

    @property
    def total(self) -> int:
        """What the whole order cost."""
        return sum(item.price for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """Money that went back; committed, whatever the agent was told."""

    order: str
    amount: int
    idempotency_key: str
    at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool call gave back: a result, and the class of the error when it failed."""

    result: Mapping[str, Any]
    error_type: str | None = None
    error: str = ""


Tool = Callable[["World", Mapping[str, Any], Nanos], Answer]


@dataclass(slots=True, kw_only=True)
class World:
    """The slice of the shop that one ticket touches."""

    caller: str
    """Who really writes; the identity check passes for this customer only."""
    order: Order
    faults: Faults = field(default_factory=Faults)
    refunds: list[Refund] = field(default_factory=list)
    fired: list[str] = field(default_factory=list)
    """The faults that came about, in order."""
    _attempts: dict[str, int] = field(default_factory=dict)

    def call(self, tool: str, arguments: Mapping[str, Any], now: Nanos) -> Answer:
        """Carry out one tool call."""
        self._attempts[tool] = self._attempts.get(tool, 0) + 1
        return TOOLS[tool](self, arguments, now)

    def first(self, tool: str) -> bool:
        """Say whether this is the first call of a tool."""
        return self._attempts.get(tool, 0) == 1

    def fire(self, fault: str) -> None:
        """Note that a fault came about."""
        self.fired.append(fault)


def _verify_identity(world: World, arguments: Mapping[str, Any], now: Nanos) -> Answer:
    del now
    return Answer(result={"ok": arguments["customer"] == world.caller})


def _get_order(world: World, arguments: Mapping[str, Any], now: Nanos) -> Answer:
    del now
    if world.faults.lookup_fails_once and world.first("get_order"):
        world.fire("lookup_failed")
        gone = "order service: connection reset by peer"
        return Answer(result={"error": gone}, error_type="ConnectionError", error=gone)
    order = world.order
    if arguments["order"] != order.id:
        return Answer(
            result={"error": "no such order"}, error_type="NotFound", error="no such order"
        )
    return Answer(
        result={
            "order": {
                "id": order.id,
                "customer": order.customer,
                "state": "delivered",
                "delivered_days_ago": order.delivered_days_ago,
                "items": [{"name": item.name, "price": item.price} for item in order.items],
                "total": order.total,
            }
        }
    )


def _consult_refund_policy(world: World, arguments: Mapping[str, Any], now: Nanos) -> Answer:
    del world, arguments, now
    return Answer(result={"policy": POLICY_TEXT})


def _request_refund_approval(world: World, arguments: Mapping[str, Any], now: Nanos) -> Answer:
    del now
    approval = f"A-{arguments['order'].removeprefix('O-')}"
    if world.faults.approval_pending:
        world.fire("approval_pending")
        return Answer(result={"status": "pending", "approval": approval})
    return Answer(result={"status": "granted", "approval": approval})


def _issue_refund(world: World, arguments: Mapping[str, Any], now: Nanos) -> Answer:
    key = str(arguments["idempotency_key"])
    if any(refund.idempotency_key == key for refund in world.refunds):
        return Answer(result={"ok": True})
    fault = world.faults.payment if world.first("issue_refund") else PaymentFault.NONE
    if fault is not PaymentFault.NONE:
        world.fire(str(fault))
    if fault is PaymentFault.DECLINED:
        text = "the card issuer declined the refund"
        return Answer(result={"error": text}, error_type="PaymentDeclined", error=text)
    if fault is not PaymentFault.TIMEOUT_BEFORE_COMMIT:
        world.refunds.append(
            Refund(
                order=str(arguments["order"]),
                amount=int(arguments["amount"]),
                idempotency_key=key,
                at=now,
            )
        )
    if fault is PaymentFault.NONE:
        return Answer(result={"ok": True})
    return Answer(
        result={"error": "timeout"},
        error_type="timeout",
        error="payment provider did not answer within 400 ms",
    )


def _inspect_order_status(world: World, arguments: Mapping[str, Any], now: Nanos) -> Answer:
    del now
    rows = [
        {"refund": f"R-{91 + place}", "amount": refund.amount}
        for place, refund in enumerate(world.refunds)
        if refund.order == arguments["order"]
    ]
    return Answer(result={"refunds": rows})


TOOLS: Mapping[str, Tool] = {
    "verify_identity": _verify_identity,
    "get_order": _get_order,
    "consult_refund_policy": _consult_refund_policy,
    "request_refund_approval": _request_refund_approval,
    "issue_refund": _issue_refund,
    "inspect_order_status": _inspect_order_status,
}
