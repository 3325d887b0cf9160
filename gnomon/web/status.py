"""Status: does Gnomon itself work? The ledger, what waits, and the dead letters."""

from collections.abc import Sequence
from dataclasses import dataclass

from collector.folding.set_aside import SetAside
from collector.queue.port import Books, DeadLetter, LedgerRow, Rereading, TouchedTraces
from gnomon.clock import Nanos
from gnomon.web.freshness import HOUR, Account, Freshness, account, accounts, freshness
from gnomon.web.work import Work

DONE = {
    "backfill": "The grader judges history; its progress stands beside it.",
    "resend": "The dead letter is in the queue again; its spans are pending until it is stored.",
    "drop": "The dead letter is deleted; its spans stay counted as rejected.",
}
LETTERS = 50
UNREAD = 50
"""Traces without a run that the page names; all are counted."""
_SHOWN = 4_000
"""Bytes of a payload that the page prints."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusView:
    """The page."""

    hours: int
    spans: Sequence[tuple[int, str]]
    """How many hours the ledger may go back, and the address that does."""
    total: Account
    sources: Sequence[Account]
    rows: Sequence[LedgerRow]
    freshness: Freshness
    unread: Sequence[SetAside]
    """The first traces that are stored and cannot be read into runs."""
    unread_traces: int
    """How many there are."""
    letters: Sequence[DeadLetter]
    more_letters: str
    """The address of the next page of dead letters, '' at the end."""
    done: str
    """What the last form did, in words."""
    rereading: Rereading
    """What is left of history that is read again."""
    work: Work | None
    """Jobs and graders; None without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterView:
    """One dead letter."""

    letter: DeadLetter
    dump: str
    """The first bytes, in hex and as text."""
    shown: int


def status(
    books: Books,
    touched: TouchedTraces,
    now: Nanos,
    *,
    hours: int,
    after: int,
    done: str,
    unread: Sequence[SetAside] = (),
    work: Work | None = None,
) -> StatusView:
    """Return the page."""
    since = Nanos(now // HOUR * HOUR - (hours - 1) * HOUR)
    rows = books.ledger(since, Nanos(now + HOUR))
    letters = list(books.dead_letters(after=after, limit=LETTERS + 1))
    return StatusView(
        hours=hours,
        spans=[(span, f"/status?hours={span}") for span in (6, 24, 168)],
        total=account("all", rows),
        sources=accounts(rows),
        rows=rows,
        freshness=freshness(books, touched, now),
        unread=unread[:UNREAD],
        unread_traces=len(unread),
        letters=letters[:LETTERS],
        more_letters=f"/status?hours={hours}&after={letters[LETTERS - 1].id}"
        if len(letters) > LETTERS
        else "",
        done=done,
        rereading=touched.rereading(),
        work=work,
    )


def letter_page(books: Books, letter_id: int) -> LetterView:
    """Return one dead letter with the beginning of its payload; raises NotFound."""
    letter, payload = books.dead_letter(letter_id)
    shown = payload[:_SHOWN]
    lines = []
    for start in range(0, len(shown), 16):
        piece = shown[start : start + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in piece)
        lines.append(f"{start:06x}  {piece.hex(' '):<47}  {text}")
    return LetterView(letter=letter, dump="\n".join(lines), shown=len(shown))
