"""The ledger and the dead letters, as the API and the pages read them."""

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from collector.queue import entries
from collector.queue.committer import Committer
from collector.queue.database import ReadConnection
from collector.queue.port import DeadLetter, LedgerRow
from collector.queue.room import Room
from gnomon.clock import Clock, Nanos

_LETTER = (
    "SELECT id, source, signal, reason, detail, items, size, received_at, buried_at"
    " FROM dead_letters"
)


class SpoolBooks:
    """What came, what became of it, and what a person must decide."""

    def __init__(
        self, committer: Committer, reading: ReadConnection, room: Room, clock: Clock
    ) -> None:
        self._committer = committer
        self._reading = reading
        self._room = room
        self._clock = clock

    def ledger(self, since: Nanos, until: Nanos) -> Sequence[LedgerRow]:
        """Return the rows of the hours in [since, until), newest hour first, then by source."""
        # One statement, so that counts and refusals are of the same moment.
        rows = self._reading.all(
            "SELECT source, hour, received, stored, pending, reason, refusals.items"
            " FROM ledger LEFT JOIN refusals USING (source, hour)"
            " WHERE hour >= ? AND hour < ? ORDER BY hour DESC, source, reason",
            (since, until),
        )
        rejected: dict[tuple[str, int], dict[str, int]] = defaultdict(dict)
        counts: dict[tuple[str, int], tuple[int, int, int]] = {}
        for source, hour, received, stored, pending, reason, items in rows:
            counts[source, hour] = (received, stored, pending)
            if reason is not None and items:
                rejected[source, hour][reason] = items
        return [
            LedgerRow(
                source=source,
                hour=Nanos(hour),
                received=received,
                stored=stored,
                rejected=rejected[source, hour],
                pending=pending,
            )
            for (source, hour), (received, stored, pending) in counts.items()
        ]

    def oldest_pending(self) -> Nanos | None:
        """Return when the oldest request that is not stored yet arrived."""
        rows = self._reading.all("SELECT received_at FROM queue ORDER BY id LIMIT 1")
        return Nanos(rows[0][0]) if rows else None

    def store_id(self) -> str | None:
        """Return the identity of the store that this queue feeds, or None before the first start."""
        rows = self._reading.all("SELECT store_id FROM paired")
        return rows[0][0] if rows else None

    def pair(self, store_id: str) -> None:
        """Remember the identity of the store."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO paired (one, store_id) VALUES (1, ?)", (store_id,))

        self._committer.submit(work).result()

    def ever_stored(self) -> int:
        """Return how many spans and log records the ledger counts as stored."""
        ((stored,),) = self._reading.all("SELECT coalesce(sum(stored), 0) FROM ledger")
        number: int = stored
        return number

    def dead_letters(self, *, after: int = 0, limit: int = 50) -> Sequence[DeadLetter]:
        """List dead letters with an id above `after`, oldest first."""
        rows = self._reading.all(f"{_LETTER} WHERE id > ? ORDER BY id LIMIT ?", (after, limit))
        return [_letter(row) for row in rows]

    def dead_letter(self, letter: int) -> tuple[DeadLetter, bytes]:
        """Return one with its payload; raises NotFound."""
        rows = self._reading.all(f"{_LETTER} WHERE id = ?", (letter,))
        bodies = self._reading.all("SELECT body FROM dead_letters WHERE id = ?", (letter,))
        if not rows or not bodies:
            raise entries.no_letter(letter)
        return _letter(rows[0]), bodies[0][0]

    def resend(self, letter: int) -> None:
        """Put a dead letter back into the queue; its items become pending again."""
        back = self._committer.submit(lambda db: entries.resend(db, letter)).result()
        self._room.raised(back.signal, back.size)

    def drop(self, letter: int) -> None:
        """Delete a dead letter for good; its items stay counted as rejected."""
        self._room.dropped(self._committer.submit(lambda db: entries.drop(db, letter)).result())


def _letter(row: tuple[Any, ...]) -> DeadLetter:
    number, source, signal, reason, detail, items, size, received_at, buried_at = row
    return DeadLetter(
        id=number,
        source=source,
        signal=signal,
        reason=reason,
        detail=detail,
        items=items,
        size=size,
        received_at=Nanos(received_at),
        buried_at=Nanos(buried_at),
    )
