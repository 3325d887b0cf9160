"""The writer with the real engine: what fails, what is tried again, what is set aside."""

from collections.abc import Sequence
from typing import Any

import pytest

from collector.writer import Writer
from gnomon.clock import Nanos, to_nanos, utc_now
from gnomon.config import QueueSettings
from gnomon.errors import DiskFull, StoreRefused, StoreUnavailable
from gnomon.store import Store
from tests.traffic import put, request_of, rows, span, until, write

ALWAYS = (Nanos(0), Nanos(2**62))


def test_a_corrupt_request_among_good_ones_is_buried_alone(store, spool):
    good = [request_of(span(number)) for number in range(1, 20)]
    for number, made in enumerate(good):
        put(spool, made.SerializeToString(), 1, traces=["01" * 16])
        if number == 11:
            put(spool, bytes([0x0A, 3, 0x12, 0x7F, 0x01]), 5)
    write(spool, store)
    assert len(rows(store)) == 19
    (letter,) = spool.books.dead_letters()
    assert (letter.items, letter.reason) == (5, "refused_by_store")
    assert "collector.write.traces" in letter.detail
    (row,) = spool.books.ledger(*ALWAYS)
    assert (row.received, row.stored, row.pending) == (24, 19, 0)
    assert row.rejected == {"dead_letter": 5}
    assert [t.trace_id for t in spool.touched.due(to_nanos(utc_now()), 10)] == ["01" * 16]


def test_a_request_with_a_deprecated_group_is_mended_and_stored(store, spool):
    group = bytes([100 << 3 & 0x7F | 3 | 0x80, 100 << 3 >> 7, 100 << 3 & 0x7F | 4 | 0x80, 6])
    whole = request_of(span()).SerializeToString()
    inner = whole[2:] + group
    put(spool, bytes([0x0A, len(inner)]) + inner, 1)
    write(spool, store)
    assert len(rows(store)) == 1
    assert spool.books.dead_letters() == []


def test_what_is_refused_is_stored_after_the_mend_and_a_resend(store, spool):
    put(spool, request_of(span()).SerializeToString(), 1)
    for queued in spool.take(1 << 20, 0):
        spool.bury(queued, reason="refused_by_store", detail="")
    spool.books.resend(spool.books.dead_letters()[0].id)
    write(spool, store)
    assert len(rows(store)) == 1


def test_a_batch_inserted_and_not_noted_is_one_row_after_the_repeat(store, spool):
    """As after a kill between the insert and the note in the queue."""
    put(spool, request_of(span(1), span(2)).SerializeToString(), 2)

    class Forgetful:
        def __getattr__(self, name: str) -> Any:
            return getattr(spool, name)

        def stored(self, batch: Sequence[object]) -> None:
            raise StoreUnavailable("killed here")

    write(Forgetful(), store)  # type: ignore[arg-type]
    assert len(rows(store)) == 2
    write(spool, store, batch_bytes=10)
    assert len(rows(store)) == 2
    assert spool.take(1 << 20, 0) == []


class Broken:
    """A store that fails a number of times, then works."""

    def __init__(self, store: Store, *failures: Exception) -> None:
        self._store = store
        self.failures = list(failures)
        self.sizes: list[int] = []
        """Bytes of each insert that was tried."""

    @property
    def calls(self) -> int:
        return len(self.sizes)

    def insert_raw(self, sql: str, body: bytes, **kwargs: Any) -> None:
        self.sizes.append(len(body))
        if self.failures:
            raise self.failures.pop(0)
        self._store.insert_raw(sql, body, **kwargs)


@pytest.mark.parametrize(
    "failure",
    [StoreUnavailable("no answer"), DiskFull("no space left"), RuntimeError("a bug of ours")],
    ids=lambda failure: type(failure).__name__,
)
def test_a_failure_of_the_infrastructure_buries_nothing_and_is_named(failure, store, spool):
    put(spool, request_of(span()).SerializeToString(), 1)
    broken = Broken(store, *[failure] * 100)
    writer = Writer(spool, broken, QueueSettings(flush_after=0), clock=utc_now)
    assert writer.problem() == "not started"
    writer.start()
    until(lambda: writer.problem() is not None)
    assert str(failure) in (writer.problem() or "")
    assert "nothing stored for" in (writer.problem() or "")
    broken.failures.clear()
    until(lambda: rows(store) != [])
    writer.stop(30)
    assert spool.books.dead_letters() == []
    assert writer.problem() is None


def test_a_store_that_refuses_everything_is_no_fault_of_the_requests(store, spool):
    for number in (1, 2, 3):
        put(spool, request_of(span(number)).SerializeToString(), 1)
    broken = Broken(store, *[StoreRefused("there is no such column")] * 1000)
    write(spool, broken)
    assert broken.calls <= 4, "it does not split the batch"
    assert spool.books.dead_letters() == []
    assert len(spool.take(1 << 20, 0)) == 3


def test_a_batch_that_needs_too_much_memory_is_tried_in_smaller_ones(store, spool):
    for number in range(1, 9):
        put(spool, request_of(span(number, name="n" * 300_000)).SerializeToString(), 1)
    broken = Broken(store, *[StoreUnavailable("memory", code=241)] * 2)
    settings = QueueSettings(flush_after=0, batch_bytes=2_500_000)
    writer = Writer(spool, broken, settings, clock=utc_now)
    writer.start()
    until(lambda: len(rows(store)) == 8)
    writer.stop(30)
    first, second, third = broken.sizes[:3]
    assert first > 2_400_000
    assert second <= first / 2 + 1
    assert third <= second / 2 + 1
