"""Spools for tests: a clock that stands, requests that are valid by default, the ledger read back."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from collector.queue.port import LedgerRow, Queued, Request, Signal
from collector.queue.spool import Spool
from gnomon.clock import Nanos, to_nanos
from gnomon.config import QueueSettings

T0 = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
NOW = to_nanos(T0)
ALWAYS = (Nanos(0), Nanos(2**62))
SECOND = Nanos(1_000_000_000)
TRACE_A, TRACE_B = "a" * 32, "b" * 32


class Hands:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = T0

    def __call__(self) -> datetime:
        return self.now


def opened(path: Path, clock: Hands, **settings: object) -> Spool:
    spool = Spool(path, QueueSettings(**settings), clock=clock)
    spool.start()
    return spool


def request(
    name: str = "one",
    *,
    signal: Signal = "traces",
    source: str | None = None,
    size: int = 10,
    received: int = 3,
    rejected: dict[str, int] | None = None,
    traces: tuple[str, ...] = (),
    at: int = NOW,
) -> Request:
    refused = rejected or {}
    return Request(
        signal=signal,
        source=source or f"{signal}/http/loopback",
        payload=name.encode().ljust(size, b".") if received > sum(refused.values()) else b"",
        digest=hashlib.sha256(f"{signal}{name}".encode()).digest(),
        received=received,
        rejected=refused,
        traces=traces,
        received_at=Nanos(at),
    )


def everything(spool: Spool) -> list[Queued]:
    return list(spool.take(1 << 30, 0))


def row(spool: Spool, source: str = "traces/http/loopback") -> LedgerRow:
    (found,) = [r for r in spool.books.ledger(*ALWAYS) if r.source == source]
    assert found.received == found.stored + sum(found.rejected.values()) + found.pending
    return found
