"""What the spool writes down about requests: each change of a request and of its counts at once."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from collector.queue import touches
from collector.queue.port import Request, Signal
from gnomon.clock import Nanos
from gnomon.errors import Conflict, NotFound

HOUR = 3_600_000_000_000
_TRACE_ID_BYTES = 16
DEAD_LETTER = "dead_letter"
"""Ledger reason under which the items of dead letters are counted."""
UNREAD = "internal"
"""Reason of a dead letter the receiver failed on, and its ledger reason."""

_LATE = HOUR
"""A request that waited longer is remembered from the moment it was stored."""


class Left(NamedTuple):
    """A request that left the queue."""

    signal: Signal
    size: int


def keep(db: sqlite3.Connection, request: Request) -> bool:
    """Queue and count a request; False when its digest is known."""
    known = db.execute(
        "INSERT INTO seen (digest, at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id",
        (request.digest, request.received_at),
    ).fetchone()
    if known is None:
        return False
    items = request.received - sum(request.rejected.values())
    if items:
        db.execute(
            "INSERT INTO queue (id, signal, source, received_at, items, size, traces, body)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                known[0],
                request.signal,
                request.source,
                request.received_at,
                items,
                len(request.payload),
                bytes.fromhex("".join(request.traces)),
                request.payload,
            ),
        )
    hour = hour_of(request.received_at)
    _count(db, request.source, hour, received=request.received, pending=items)
    for reason, refused in request.rejected.items():
        _refuse(db, request.source, hour, reason, refused)
    return True


def settle(db: sqlite3.Connection, ids: Sequence[int], now: Nanos) -> list[Left]:
    """Take stored requests out of the queue, count them, touch their traces."""
    left: list[Left] = []
    counts: Counter[tuple[str, int]] = Counter()
    touched: dict[bytes, touches.Arrivals] = {}
    for number in ids:
        row = db.execute(
            "DELETE FROM queue WHERE id = ?"
            " RETURNING signal, source, received_at, items, size, traces",
            (number,),
        ).fetchone()
        if row is None:
            continue
        signal, source, received_at, items, size, traces = row
        left.append(Left(signal, size))
        counts[source, hour_of(received_at)] += items
        touches.gather(touched, split(traces), received_at)
        if now - received_at > _LATE:
            db.execute("UPDATE seen SET at = ? WHERE id = ?", (now, number))
    for (source, hour), items in counts.items():
        _count(db, source, hour, stored=items, pending=-items)
    touches.record(db, touched, now)
    return left


def bury(db: sqlite3.Connection, number: int, reason: str, detail: str, now: Nanos) -> Left | None:
    """Move a request to the dead letters; its items are rejected."""
    row = db.execute(
        "INSERT INTO dead_letters (id, signal, source, received_at, buried_at, reason, detail,"
        " items, size, traces, body)"
        " SELECT id, signal, source, received_at, ?, ?, ?, items, size, traces, body"
        " FROM queue WHERE id = ? RETURNING signal, source, received_at, items, size",
        (now, reason, detail, number),
    ).fetchone()
    if row is None:
        return None
    signal, source, received_at, items, size = row
    db.execute("DELETE FROM queue WHERE id = ?", (number,))
    _count(db, source, hour_of(received_at), pending=-items)
    _refuse(db, source, hour_of(received_at), DEAD_LETTER, items)
    return Left(signal, size)


def bury_raw(
    db: sqlite3.Connection, request: Request, body: bytes, detail: str, now: Nanos
) -> bool:
    """Keep a body the receiver failed on as a dead letter; False when its digest is known."""
    known = db.execute(
        "INSERT INTO seen (digest, at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING id",
        (request.digest, request.received_at),
    ).fetchone()
    if known is None:
        return False
    db.execute(
        "INSERT INTO dead_letters (id, signal, source, received_at, buried_at, reason, detail,"
        " items, size, traces, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            known[0],
            request.signal,
            request.source,
            request.received_at,
            now,
            UNREAD,
            detail,
            request.received,
            len(body),
            b"",
            body,
        ),
    )
    hour = hour_of(request.received_at)
    _count(db, request.source, hour, received=request.received)
    _refuse(db, request.source, hour, UNREAD, request.received)
    return True


def resend(db: sqlite3.Connection, letter: int) -> Left:
    """Put a dead letter back into the queue; its items are pending again."""
    reason = db.execute("SELECT reason FROM dead_letters WHERE id = ?", (letter,)).fetchone()
    if reason == (UNREAD,):
        raise Conflict(
            f"dead letter {letter} was never inspected; post its body to the receiver again"
            " once the fault is mended, then drop it"
        )
    row = db.execute(
        "INSERT INTO queue (id, signal, source, received_at, items, size, traces, body)"
        " SELECT id, signal, source, received_at, items, size, traces, body"
        " FROM dead_letters WHERE id = ? RETURNING signal, source, received_at, items, size",
        (letter,),
    ).fetchone()
    if row is None:
        raise no_letter(letter)
    signal, source, received_at, items, size = row
    db.execute("DELETE FROM dead_letters WHERE id = ?", (letter,))
    _refuse(db, source, hour_of(received_at), DEAD_LETTER, -items)
    _count(db, source, hour_of(received_at), pending=items)
    return Left(signal, size)


def drop(db: sqlite3.Connection, letter: int) -> int:
    """Delete a dead letter; return its size. Its items stay counted as rejected."""
    row = db.execute("DELETE FROM dead_letters WHERE id = ? RETURNING size", (letter,)).fetchone()
    if row is None:
        raise no_letter(letter)
    size: int = row[0]
    return size


def forget(db: sqlite3.Connection, before: Nanos, most: int, limit: int) -> int:
    """Forget digests of finished requests older than `before`, and the oldest beyond `most`."""
    old = db.execute(
        "DELETE FROM seen WHERE id IN (SELECT id FROM seen WHERE at < ?"
        " AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.id = seen.id)"
        " AND NOT EXISTS (SELECT 1 FROM dead_letters WHERE dead_letters.id = seen.id)"
        " ORDER BY at LIMIT ?)",
        (before, limit),
    ).rowcount
    surplus = db.execute(
        "DELETE FROM seen WHERE id IN (SELECT id FROM seen"
        " WHERE id <= (SELECT max(id) FROM seen) - ?"
        " AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.id = seen.id)"
        " AND NOT EXISTS (SELECT 1 FROM dead_letters WHERE dead_letters.id = seen.id)"
        " ORDER BY id LIMIT ?)",
        (most, limit),
    ).rowcount
    return old + surplus


def no_letter(letter: int) -> NotFound:
    """Return the error for a dead letter that is not there."""
    return NotFound(f"there is no dead letter {letter}; it may have been re-sent or dropped")


def hour_of(moment: int) -> int:
    """Return the beginning of the hour of a moment."""
    return moment - moment % HOUR


def split(traces: bytes) -> list[bytes]:
    """Return the trace ids that lie in a row."""
    return [traces[at : at + _TRACE_ID_BYTES] for at in range(0, len(traces), _TRACE_ID_BYTES)]


def _count(
    db: sqlite3.Connection,
    source: str,
    hour: int,
    *,
    received: int = 0,
    stored: int = 0,
    pending: int = 0,
) -> None:
    db.execute(
        "INSERT INTO ledger (source, hour, received, stored, pending) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET received = received + excluded.received,"
        " stored = stored + excluded.stored, pending = pending + excluded.pending",
        (source, hour, received, stored, pending),
    )


def _refuse(db: sqlite3.Connection, source: str, hour: int, reason: str, items: int) -> None:
    db.execute(
        "INSERT INTO refusals (source, hour, reason, items) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET items = items + excluded.items",
        (source, hour, reason, items),
    )
