"""Promise 2: received = stored + rejected + pending, whatever happens in whatever order."""

import hashlib
import shutil
import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from collector.queue.port import Request
from collector.queue.spool import Spool
from gnomon.clock import Nanos, utc_now
from gnomon.config import QueueSettings

HOUR = 3_600_000_000_000
ALWAYS = (Nanos(0), Nanos(2**62))


class Balance(RuleBasedStateMachine):
    """The spool beside a count kept by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.spool = self._opened()
        self.known: set[int] = set()
        self.where: dict[int, str] = {}
        self.items: dict[int, int] = {}
        self.places: dict[int, tuple[str, int]] = {}
        self.refused: Counter[tuple[str, int, str]] = Counter()

    def _opened(self) -> Spool:
        spool = Spool(self.folder, QueueSettings(), clock=utc_now)
        spool.start()
        return spool

    def teardown(self) -> None:
        self.spool.stop(5)
        shutil.rmtree(self.folder)

    @rule(
        number=st.integers(0, 15),
        items=st.integers(0, 5),
        refused=st.integers(0, 3),
        hour=st.integers(0, 2),
        source=st.sampled_from(["traces/http/a", "traces/grpc/b"]),
    )
    def put(self, number: int, items: int, refused: int, hour: int, source: str) -> None:
        new = self.spool.put(
            Request(
                signal="traces",
                source=source,
                payload=b"x" * items,
                digest=hashlib.sha256(bytes([number])).digest(),
                received=items + refused,
                rejected={"invalid_span_id": refused} if refused else {},
                received_at=Nanos(hour * HOUR + number),
            )
        ).result(5)
        assert new is (number not in self.known)
        if not new:
            return
        self.known.add(number)
        self.places[number] = (source, hour * HOUR)
        self.items[number] = items
        self.refused[source, hour * HOUR, "invalid_span_id"] += refused
        if items:
            self.where[number] = "pending"

    def _number_of(self, digest: bytes) -> int:
        return next(n for n in range(16) if hashlib.sha256(bytes([n])).digest() == digest)

    @rule(size=st.integers(1, 12), twice=st.booleans())
    def store(self, size: int, twice: bool) -> None:
        batch = self.spool.take(size, 0)
        self.spool.stored(batch)
        if twice:
            self.spool.stored(batch)
        for queued in batch:
            self.where[self._number_of(queued.request.digest)] = "stored"

    @rule()
    def bury(self) -> None:
        for queued in self.spool.take(1, 0):
            self.spool.bury(queued, reason="malformed", detail="")
            self.where[self._number_of(queued.request.digest)] = "dead"

    @precondition(lambda self: "dead" in self.where.values())
    @rule(resend=st.booleans())
    def decide(self, resend: bool) -> None:
        letter, payload = self.spool.books.dead_letter(self.spool.books.dead_letters()[0].id)
        number = letter.received_at % HOUR
        assert len(payload) == self.items[number] == letter.items
        (self.spool.books.resend if resend else self.spool.books.drop)(letter.id)
        self.where[number] = "pending" if resend else "dropped"

    @rule()
    def reopen(self) -> None:
        self.spool.stop(5)
        self.spool = self._opened()

    @invariant()
    def the_ledger_says_what_happened(self) -> None:
        expected: dict[tuple[str, int], Counter[str]] = {}
        for number, place in self.places.items():
            sums = expected.setdefault(place, Counter())
            if number in self.where:
                sums[self.where[number]] += self.items[number]
        rows = {(row.source, row.hour): row for row in self.spool.books.ledger(*ALWAYS)}
        assert set(rows) == set(expected)
        for place, row in rows.items():
            sums = expected[place]
            dead = sums["dead"] + sums["dropped"]
            refused = self.refused[*place, "invalid_span_id"]
            assert row.stored == sums["stored"]
            assert row.pending == sums["pending"]
            assert row.rejected.get("dead_letter", 0) == dead
            assert row.rejected.get("invalid_span_id", 0) == refused
            assert row.received == row.stored + row.pending + sum(row.rejected.values())

    @invariant()
    def the_dead_letters_are_those_that_were_buried(self) -> None:
        dead = [place for place in self.where.values() if place == "dead"]
        assert len(self.spool.books.dead_letters(limit=100)) == len(dead)


Balance.TestCase.settings = settings(max_examples=25, stateful_step_count=25, deadline=None)
TestBalance = Balance.TestCase
