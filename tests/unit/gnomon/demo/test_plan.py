"""Faults and mistakes come at the rates that are written down."""

import math
from collections import Counter

import pytest

from gnomon.cli.demo.chance import Chance
from gnomon.cli.demo.plan import ModelFault, Plan, make_plan, possible
from gnomon.cli.demo.releases import RC3, RC4, RELEASES, Mistake, Release, release_at
from gnomon.cli.demo.tickets import Ticket, Topic, follow_up, new_ticket
from gnomon.cli.demo.world import Faults, PaymentFault

MANY = 4_000


def drawn(release: Release, *, position: float) -> list[tuple[Ticket, Plan]]:
    found = []
    for index in range(MANY):
        chance = Chance("plans").below(release.version, index)
        ticket = new_ticket(chance)
        found.append((ticket, make_plan(ticket, release, position, chance)))
    return found


def close(seen: int, n: int, rate: float) -> bool:
    """Whether a count lies within 4 standard deviations of a binomial."""
    return abs(seen - n * rate) <= 4 * math.sqrt(n * rate * (1 - rate)) + 1


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.version)
def test_every_mistake_comes_at_its_rate_where_it_is_possible(release: Release) -> None:
    made: Counter[Mistake] = Counter()
    room: Counter[Mistake] = Counter()
    # The slow hours, so that timeouts are common enough to count.
    for ticket, plan in drawn(release, position=0.4):
        if plan.model_fault is not ModelFault.DOWN:
            room.update(possible(ticket, plan.faults))
            made.update([plan.mistake] if plan.mistake else [])
    for mistake in Mistake:
        assert room[mistake] > 150, mistake
        assert close(made[mistake], room[mistake], release.rates[mistake]), (
            mistake,
            made[mistake],
            room[mistake],
        )


def test_the_older_version_makes_every_mistake_more_often() -> None:
    assert all(RC3.rates[mistake] > RC4.rates[mistake] for mistake in Mistake)


@pytest.mark.parametrize("release", RELEASES, ids=lambda release: release.version)
def test_rates_of_one_run_never_exceed_one(release: Release) -> None:
    for payment in PaymentFault:
        for topic in range(200):
            ticket = new_ticket(Chance("room").below(topic))
            together = possible(ticket, Faults(payment=payment))
            assert sum(release.rates[mistake] for mistake in together) < 1


def test_payments_time_out_far_more_often_in_the_slow_hours() -> None:
    usual = [plan.faults.payment for _, plan in drawn(RC3, position=0.1)]
    slow = [plan.faults.payment for _, plan in drawn(RC3, position=0.4)]
    timeouts = {PaymentFault.TIMEOUT_AFTER_COMMIT, PaymentFault.TIMEOUT_BEFORE_COMMIT}
    assert close(sum(fault in timeouts for fault in usual), MANY, 0.08)
    assert close(sum(fault in timeouts for fault in slow), MANY, 0.65)
    assert close(usual.count(PaymentFault.DECLINED), MANY, 0.03)


def test_a_model_that_is_down_leaves_no_room_for_a_mistake() -> None:
    down = [plan for _, plan in drawn(RC3, position=0.4) if plan.model_fault is ModelFault.DOWN]
    assert close(len(down), MANY, 0.012)
    assert all(plan.mistake is None for plan in down)


def test_the_new_version_comes_in_half_way_and_a_tenth_stays_behind() -> None:
    def share(position: float) -> float:
        chances = [Chance("release").below(position, n) for n in range(1_000)]
        return sum(release_at(position, chance) is RC4 for chance in chances) / 1_000

    assert share(0.2) == 0
    assert abs(share(0.6) - 0.5) < 0.065
    assert abs(share(1.0) - 0.9) < 0.04


def test_tickets_are_consistent() -> None:
    for index in range(1_000):
        ticket = new_ticket(Chance("tickets").below(index))
        stranger = ticket.topic is Topic.STRANGER
        assert (ticket.order.customer != ticket.customer) == stranger
        assert (ticket.due is None) == (ticket.topic in {Topic.STRANGER, Topic.LATE})
        assert (ticket.order.delivered_days_ago > 30) == (ticket.topic is Topic.LATE)
        assert (ticket.amount > 100) == (ticket.topic is Topic.EXPENSIVE)
        assert ticket.order.id in ticket.text


def test_a_follow_up_asks_about_the_same_order_and_nothing_is_due() -> None:
    before = new_ticket(Chance("first"))
    after = follow_up(before, (), Chance("second"))
    assert (after.order, after.customer) == (before.order, before.customer)
    assert after.conversation == before.conversation
    assert after.id != before.id
    assert after.due is None
