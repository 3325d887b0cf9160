"""A store that is lost or exchanged does not pass for an empty one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from collector.identity import ensure_pair
from collector.queue.spool import Spool
from gnomon.clock import utc_now
from gnomon.errors import StoreMismatch
from gnomon.store import Store
from tests import otlp
from tests.spools import Hands, everything, opened, request
from tests.stores import put


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    spool = opened(tmp_path, Hands())
    yield spool
    spool.stop(5)


def stored(spool: Spool) -> None:
    spool.put(request("a")).result(5)
    spool.stored(everything(spool))


def lost(store: Store) -> None:
    store.command("TRUNCATE TABLE store_id", tag="tests.truncate")


def ids(store: Store) -> list[str]:
    return [row["id"] for row in store.read("SELECT id FROM store_id", tag="tests.ids")]


def test_a_new_queue_and_a_new_store_are_paired_once_and_for_all(store, spool):
    ensure_pair(store, spool.books, clock=utc_now)
    assert [spool.books.store_id()] == ids(store)
    stored(spool)
    ensure_pair(store, spool.books, clock=utc_now)
    assert len(ids(store)) == 1


def test_a_lost_store_stops_the_start_and_names_both_mends(store, spool):
    ensure_pair(store, spool.books, clock=utc_now)
    stored(spool)
    lost(store)
    for _ in range(2):  # the second start must not take the new store for the old one
        with pytest.raises(StoreMismatch, match=r"Restore that store .* move spool.sqlite"):
            ensure_pair(store, spool.books, clock=utc_now)
    assert StoreMismatch.exit_code == 2


def test_another_store_stops_the_start(store, spool, tmp_path):
    ensure_pair(store, spool.books, clock=utc_now)
    stored(spool)
    lost(store)
    other = opened(tmp_path / "other", Hands())
    ensure_pair(store, other.books, clock=utc_now)
    other.stop(5)
    with pytest.raises(StoreMismatch, match="another one"):
        ensure_pair(store, spool.books, clock=utc_now)


def test_a_new_ledger_begins_with_the_store_there_is(store, spool, tmp_path):
    ensure_pair(store, spool.books, clock=utc_now)
    fresh = opened(tmp_path / "fresh", Hands())
    ensure_pair(store, fresh.books, clock=utc_now)
    assert fresh.books.store_id() == spool.books.store_id()
    fresh.stop(5)


def test_a_queue_that_stored_nothing_takes_any_store(store, spool):
    ensure_pair(store, spool.books, clock=utc_now)
    lost(store)
    ensure_pair(store, spool.books, clock=utc_now)
    assert [spool.books.store_id()] == ids(store)


def test_a_queue_from_before_identities_is_paired_unless_the_store_is_empty(store, spool):
    stored(spool)
    with pytest.raises(StoreMismatch, match="holds none of them"):
        ensure_pair(store, spool.books, clock=utc_now)
    put(store, "traces", otlp.traces(otlp.span()).SerializeToString())
    ensure_pair(store, spool.books, clock=utc_now)
    assert [spool.books.store_id()] == ids(store)
