"""The collector's API about itself: the ledger, the dead letters, history read again."""

from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from collector.folding.set_aside import SetAside
from collector.letters import summary
from collector.outgoing import Ledger, LetterOut, Refolded, RereadingOut, Resent
from collector.queue.port import Books, LedgerRow, TouchedTraces
from collector.refold import refold
from collector.store import Reader
from gnomon.clock import Clock, Nanos, rfc3339, to_nanos
from gnomon.http import Cursor, Json, Limit, Page, moment_of, pack, shown, unpack, window_of

When = Annotated[
    str | None, Query(max_length=64, description="RFC 3339, or an age such as `2h` or `7d`.")
]
LetterId = Annotated[int, Path(ge=0, le=2**63 - 1)]

_UNREAD = 100
"""Traces that are named; all are counted."""

_HOUR = 3_600_000_000_000


def add_ledger(
    router: APIRouter, books: Books, clock: Clock, unread: Callable[[], Sequence[SetAside]]
) -> None:
    """Add `/ledger`."""

    @router.get("/ledger", operation_id="get_ledger", tags=["ledger"], response_model=Ledger)
    def get_ledger(since: When = "24h", until: When = None) -> Response:
        """Return received = stored + rejected (by reason) + pending, by source and hour.

        `unread` names traces that are stored but cannot be folded into runs.
        """
        now = to_nanos(clock())
        start, end = window_of(since or "24h", until, now)
        # Whole hours, so that a row is either counted or not.
        rows = books.ledger(Nanos((start or 0) // _HOUR * _HOUR), end or Nanos(now + _HOUR))
        oldest = books.oldest_pending()
        aside = unread()
        return Json(
            {
                "items": [shown(row) for row in rows],
                "totals": _totals(rows),
                "balanced": all(_balanced(row) for row in rows),
                "oldest_pending": None if oldest is None else rfc3339(oldest),
                "unread": [shown(one) for one in aside[:_UNREAD]],
                "unread_traces": len(aside),
            }
        )


def add_letters(router: APIRouter, books: Books) -> None:
    """Add `/dead-letters`."""

    @router.get(
        "/dead-letters",
        operation_id="list_dead_letters",
        tags=["dead letters"],
        response_model=Page[LetterOut],  # type: ignore[valid-type] # a type made at run time
    )
    def list_letters(limit: Limit = 50, cursor: Cursor = None) -> Response:
        """List the requests that could not be stored, oldest first."""
        after = 0 if cursor is None else unpack("dead-letters", cursor, int)[0]
        found = books.dead_letters(after=after, limit=limit + 1)
        page = found[:limit]
        more = len(found) > limit
        return Json(
            {
                "items": [shown(letter) for letter in page],
                "next": pack("dead-letters", page[-1].id) if more else None,
            }
        )

    @router.get(
        "/dead-letters/{letter}",
        operation_id="get_dead_letter",
        tags=["dead letters"],
        response_model=LetterOut,
    )
    def get_letter(letter: LetterId) -> Response:
        """Return one dead letter, with what is inside as far as it can be read."""
        found, payload = books.dead_letter(letter)
        inside = summary(found.signal, payload)
        return Json({**shown(found), "summary": inside.model_dump()})

    @router.post(
        "/dead-letters/{letter}/resend",
        operation_id="resend_dead_letter",
        tags=["dead letters"],
        status_code=202,
        response_model=Resent,
    )
    def resend(letter: LetterId) -> Response:
        """Put a dead letter back into the queue; its items become pending again."""
        books.resend(letter)
        return Json({"id": letter}, status_code=202)

    @router.delete(
        "/dead-letters/{letter}",
        operation_id="drop_dead_letter",
        tags=["dead letters"],
        status_code=204,
    )
    def drop(letter: LetterId) -> None:
        """Delete a dead letter for good; its items stay counted as rejected."""
        books.drop(letter)


def add_refold(router: APIRouter, reader: Reader, touched: TouchedTraces, clock: Clock) -> None:
    """Add `/refold`."""

    @router.post(
        "/refold", operation_id="refold", tags=["runs"], status_code=202, response_model=Refolded
    )
    def refold_history(since: When = None) -> Response:
        """Read history again under the present mapping: all of it, or what started from `since` on.

        Answers when every trace is noted; they are then read one after the other.
        """
        now = to_nanos(clock())
        start = Nanos(0) if since is None else moment_of(since, now)
        return Json({"traces": sum(refold(reader, touched, since=start, now=now))}, status_code=202)

    @router.get("/refold", operation_id="get_refold", tags=["runs"], response_model=RereadingOut)
    def refold_left() -> Response:
        """Return how many traces of history are still to be read again, and until when."""
        left = touched.rereading()
        until = None if left.until is None else rfc3339(left.until)
        return Json({"traces": left.traces, "until": until})


def _totals(rows: Sequence[LedgerRow]) -> dict[str, object]:
    rejected: dict[str, int] = {}
    for row in rows:
        for reason, count in row.rejected.items():
            rejected[reason] = rejected.get(reason, 0) + count
    return {
        "received": sum(row.received for row in rows),
        "stored": sum(row.stored for row in rows),
        "rejected": rejected,
        "pending": sum(row.pending for row in rows),
    }


def _balanced(row: LedgerRow) -> bool:
    return row.received == row.stored + sum(row.rejected.values()) + row.pending
