"""What customers ask for, and what the desk should do about it."""

from dataclasses import dataclass
from enum import StrEnum

from gnomon.cli.demo.chance import Chance
from gnomon.cli.demo.world import Item, Order, Refund

CUSTOMERS = 120


class Topic(StrEnum):
    """Why a customer writes: the slice of a ticket."""

    DAMAGED = "damaged"
    WRONG_ITEM = "wrong_item"
    EXPENSIVE = "expensive"
    LATE = "late"
    STRANGER = "stranger"
    FOLLOW_UP = "follow_up"


_SHARES = (
    (Topic.DAMAGED, 0.40),
    (Topic.WRONG_ITEM, 0.27),
    (Topic.EXPENSIVE, 0.13),
    (Topic.LATE, 0.11),
    (Topic.STRANGER, 0.09),
)

FOLLOW_UP_RATE = 0.10

_GOODS = ("lamp", "kettle", "backpack", "headphones", "jacket", "desk fan", "tea set", "bike light")

_WORDS = {
    Topic.DAMAGED: (
        "Hello, my {item} from order {order} arrived broken. I would like my {amount} back. {mail}",
        "Order {order}: the {item} has a crack right through it. Please refund {amount}. {mail}",
        "The parcel was crushed and the {item} inside too. Order {order}. Can I have the {amount} "
        "back? You reach me at {mail}.",
    ),
    Topic.WRONG_ITEM: (
        "In order {order} the {item} is the wrong colour. The rest is fine. Please pay back the "
        "{amount} for it. {mail}",
        "You sent a wrong {item} with order {order}; I keep the other things. {amount} back, "
        "please. {mail}",
    ),
    Topic.EXPENSIVE: (
        "The {item} of order {order} stopped working after two days. That was {amount}! I want a "
        "refund. {mail}",
        "Please refund {amount} for order {order}, the {item} came without its power supply. {mail}",
    ),
    Topic.LATE: (
        "I found the {item} from order {order} in the cupboard, it never worked. Refund the "
        "{amount}, please. {mail}",
    ),
    Topic.STRANGER: (
        "A friend ordered the {item}, number {order}. It broke, send the {amount} to me. {mail}",
    ),
    Topic.FOLLOW_UP: (
        "Any news about my refund for order {order}? Nothing has arrived so far. {mail}",
        "Did the money for order {order} go out? {mail}",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """One request to the desk."""

    id: str
    conversation: str
    topic: Topic
    customer: str
    """Who writes."""
    order: Order
    amount: int
    """What the item in question cost."""
    due: int | None
    """What must go back; None: nothing may."""
    text: str
    paid_before: tuple[Refund, ...] = ()
    task: str = ""
    """The task that is rehearsed; '' for a customer's own request."""


def new_ticket(chance: Chance) -> Ticket:
    """Return a customer's first message about an order."""
    topic = _topic(chance)
    customer = f"c{chance.whole('customer', 1, CUSTOMERS)}"
    order = _order(topic, customer, chance)
    amount = order.items[0].price
    due = None if topic in {Topic.LATE, Topic.STRANGER} else amount
    return Ticket(
        id=f"T-{chance.code('ticket')}",
        conversation=f"conv-{chance.code('conversation', 10).lower()}",
        topic=topic,
        customer=customer,
        order=order,
        amount=amount,
        due=due,
        text=_text(topic, customer, order, chance),
    )


def follow_up(before: Ticket, refunds: tuple[Refund, ...], chance: Chance) -> Ticket:
    """Return the same customer's question about what became of the money."""
    return Ticket(
        id=f"T-{chance.code('ticket')}",
        conversation=before.conversation,
        topic=Topic.FOLLOW_UP,
        customer=before.customer,
        order=before.order,
        amount=before.amount,
        due=None,
        text=_text(Topic.FOLLOW_UP, before.customer, before.order, chance),
        paid_before=refunds,
    )


def _topic(chance: Chance) -> Topic:
    left = chance.share("topic")
    for topic, share in _SHARES:
        if left < share:
            return topic
        left -= share
    return _SHARES[0][0]


def _order(topic: Topic, customer: str, chance: Chance) -> Order:
    low, high = (110, 480) if topic is Topic.EXPENSIVE else (12, 60)
    items = [Item(name=chance.pick("item", _GOODS), price=chance.whole("price", low, high))]
    if topic is Topic.WRONG_ITEM:
        items.append(Item(name="gift wrapping", price=chance.whole("wrapping", 3, 30)))
    number = int(customer.removeprefix("c"))
    buyer = f"c{number % CUSTOMERS + 1}" if topic is Topic.STRANGER else customer
    days = (40, 200) if topic is Topic.LATE else (1, 28)
    return Order(
        id=f"O-{chance.code('order')}",
        customer=buyer,
        items=tuple(items),
        delivered_days_ago=chance.whole("days", *days),
    )


def _text(topic: Topic, customer: str, order: Order, chance: Chance) -> str:
    item = order.items[0]
    return chance.pick("words", _WORDS[topic]).format(
        item=item.name,
        order=order.id,
        amount=item.price,
        mail=f"user-{customer}@example.test",
    )
