"""The tools do what a refund desk's tools do, faults included."""

from typing import Any

import pytest

from gnomon.cli.demo.world import Faults, Item, Order, PaymentFault, World
from gnomon.clock import Nanos

ORDER = Order(
    id="O-817",
    customer="c1",
    items=(Item(name="lamp", price=40), Item(name="gift wrapping", price=5)),
    delivered_days_ago=3,
)


def world(**more: Any) -> World:
    return World(caller=more.pop("caller", "c1"), order=ORDER, faults=Faults(**more))


def pay(of: World, key: str, amount: int = 40) -> Any:
    arguments = {"order": "O-817", "amount": amount, "idempotency_key": key}
    return of.call("issue_refund", arguments, Nanos(5))


def test_identity_passes_for_the_one_who_writes_only() -> None:
    assert world().call("verify_identity", {"customer": "c1"}, Nanos(1)).result == {"ok": True}
    other = world(caller="c2").call("verify_identity", {"customer": "c1"}, Nanos(1))
    assert other.result == {"ok": False}
    assert other.error_type is None


def test_an_order_names_its_customer_where_the_policy_looks_for_it() -> None:
    found = world().call("get_order", {"order": "O-817"}, Nanos(1)).result
    assert found["order"]["customer"] == "c1"
    assert found["order"]["total"] == 45
    missing = world().call("get_order", {"order": "O-1"}, Nanos(1))
    assert missing.error_type == "NotFound"


def test_the_same_key_pays_once_and_another_key_pays_again() -> None:
    desk = world()
    assert pay(desk, "k1").result == {"ok": True}
    assert pay(desk, "k1").result == {"ok": True}
    assert len(desk.refunds) == 1
    pay(desk, "k2")
    assert [refund.amount for refund in desk.refunds] == [40, 40]


def test_a_timeout_after_commit_has_paid_although_it_says_timeout() -> None:
    desk = world(payment=PaymentFault.TIMEOUT_AFTER_COMMIT)
    answer = pay(desk, "k1")
    assert answer.result == {"error": "timeout"}
    assert answer.error_type == "timeout"
    assert len(desk.refunds) == 1
    assert desk.fired == ["timeout_after_commit"]
    status = desk.call("inspect_order_status", {"order": "O-817"}, Nanos(6)).result
    assert status == {"refunds": [{"refund": "R-91", "amount": 40}]}


@pytest.mark.parametrize(
    "fault", [PaymentFault.TIMEOUT_BEFORE_COMMIT, PaymentFault.DECLINED], ids=str
)
def test_other_payment_faults_pay_nothing_and_pass(fault: PaymentFault) -> None:
    desk = world(payment=fault)
    assert pay(desk, "k1").error_type is not None
    assert desk.refunds == []
    assert pay(desk, "k1").error_type is None
    assert len(desk.refunds) == 1


def test_what_the_agent_reads_never_tells_that_a_timeout_was_planted() -> None:
    desk = world(payment=PaymentFault.TIMEOUT_AFTER_COMMIT)
    answer = pay(desk, "k1")
    assert "commit" not in f"{answer.result}{answer.error}"


def test_an_approval_is_granted_unless_it_is_pending() -> None:
    arguments = {"order": "O-817", "amount": 140}
    granted = world().call("request_refund_approval", arguments, Nanos(1)).result
    assert granted["status"] == "granted"
    waiting = world(approval_pending=True).call("request_refund_approval", arguments, Nanos(1))
    assert waiting.result["status"] == "pending"
    assert waiting.error_type is None


def test_a_failed_look_up_works_at_the_second_try() -> None:
    desk = world(lookup_fails_once=True)
    assert desk.call("get_order", {"order": "O-817"}, Nanos(1)).error_type == "ConnectionError"
    assert desk.call("get_order", {"order": "O-817"}, Nanos(2)).error_type is None
