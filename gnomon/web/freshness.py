"""Until when the data are complete, and whether the books balance."""

from collections.abc import Sequence
from dataclasses import dataclass

from collector.queue.port import Books, LedgerRow, TouchedTraces
from gnomon.clock import Nanos

HOUR = 3_600_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """What has arrived and is not visible yet."""

    complete_until: Nanos
    """Everything received before is in the runs."""
    oldest_pending: Nanos | None
    """When the oldest request that is not stored yet arrived."""
    oldest_unfolded: Nanos | None
    """When something last came for the trace that waits longest to be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The ledger of one source, or of all, over some hours."""

    source: str
    received: int
    stored: int
    rejected: int
    pending: int
    reasons: Sequence[tuple[str, int]]

    @property
    def balanced(self) -> bool:
        """Whether received = stored + rejected + pending."""
        return self.received == self.stored + self.rejected + self.pending


def freshness(books: Books, touched: TouchedTraces, now: Nanos) -> Freshness:
    """Return until when everything received can be seen."""
    pending = books.oldest_pending()
    due = touched.due(now, 1)
    unfolded = due[0].last_received if due else None
    known = [moment for moment in (pending, unfolded) if moment is not None]
    return Freshness(
        complete_until=min([*known, now]), oldest_pending=pending, oldest_unfolded=unfolded
    )


def accounts(rows: Sequence[LedgerRow]) -> Sequence[Account]:
    """Return one account a source, by name."""
    sources = sorted({row.source for row in rows})
    return [account(source, [row for row in rows if row.source == source]) for source in sources]


def account(source: str, rows: Sequence[LedgerRow]) -> Account:
    """Return the sums of some ledger rows."""
    reasons: dict[str, int] = {}
    for row in rows:
        for reason, number in row.rejected.items():
            reasons[reason] = reasons.get(reason, 0) + number
    return Account(
        source=source,
        received=sum(row.received for row in rows),
        stored=sum(row.stored for row in rows),
        rejected=sum(reasons.values()),
        pending=sum(row.pending for row in rows),
        reasons=sorted(reasons.items(), key=lambda item: (-item[1], item[0])),
    )
