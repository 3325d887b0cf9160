"""Which store a queue belongs to: a lost or exchanged store must not pass for an empty one."""

import uuid
from dataclasses import dataclass
from typing import Protocol

from gnomon.clock import Clock, Nanos, to_nanos
from gnomon.errors import StoreMismatch
from gnomon.store import Store
from gnomon.store.sql import load

_MENDS = (
    "Restore that store (or point GNOMON_STORE__URL or --data back at it), or move spool.sqlite"
    " and its -wal and -shm files away to start a new ledger; what waits in it is then not stored"
)


class Paired(Protocol):
    """What a queue remembers of the store it feeds."""

    def store_id(self) -> str | None:
        """Return the identity of the store, or None before the first start."""

    def pair(self, store_id: str) -> None:
        """Remember the identity of the store."""

    def ever_stored(self) -> int:
        """Return how many spans and log records the ledger counts as stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The one row of `store_id`."""

    id: str
    created_at: Nanos


def ensure_pair(store: Store, queue: Paired, *, clock: Clock) -> None:
    """Pair a new queue with its store; raises StoreMismatch when the store is not the one it fed."""
    remembered, present = queue.store_id(), _identities(store)
    if remembered is not None and remembered in present:
        return
    if complaint := mismatch(store, remembered, queue.ever_stored()):
        raise StoreMismatch(complaint)
    if not present:
        store.insert("store_id", [Identity(id=str(uuid.uuid4()), created_at=to_nanos(clock()))])
        present = _identities(store)
    queue.pair(present[0])


def mismatch(store: Store | None, remembered: str | None, stored: int) -> str | None:
    """Say why this is not the store that a queue fed, or None. `store`: None where there is none."""
    present = _identities(store) if store is not None else []
    fits = remembered is not None and remembered in present
    if fits or not stored or (remembered is None and store is not None and not _is_empty(store)):
        return None
    found = "this store is another one" if present else "this store is new and holds none of them"
    return f"the ledger counts {stored:,} stored spans and log records, but {found}. {_MENDS}"


def _identities(store: Store) -> list[str]:
    found = store.read(load("collector")["store_ids"], tag="collector.store_ids")
    return [row["id"] for row in found]


def _is_empty(store: Store) -> bool:
    (row,) = store.read(load("collector")["anything_stored"], tag="collector.anything_stored")
    return not row["stored"]
