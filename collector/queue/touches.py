"""Which traces changed since they were last folded, kept in the file of the spool."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from collector.queue.committer import Committer
from collector.queue.database import ReadConnection
from collector.queue.port import Rereading, Touched
from gnomon.clock import Nanos


class Arrivals(NamedTuple):
    """When something came for a trace: the first and the last time."""

    first: int
    last: int


def gather(into: dict[bytes, Arrivals], traces: Iterable[bytes], received_at: int) -> None:
    """Add one arrival for each of these traces."""
    for trace in traces:
        known = into.get(trace)
        if known is None:
            into[trace] = Arrivals(received_at, received_at)
        else:
            into[trace] = Arrivals(min(known.first, received_at), max(known.last, received_at))


def record(db: sqlite3.Connection, touched: Mapping[bytes, Arrivals], now: Nanos) -> None:
    """Make these traces due at once, under a new generation."""
    if not touched:
        return
    (generation,) = db.execute("UPDATE generations SET last = last + 1 RETURNING last").fetchone()
    db.executemany(
        "INSERT INTO touched (trace_id, generation, first_received, last_received, due)"
        " VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET generation = excluded.generation,"
        " first_received = min(first_received, excluded.first_received),"
        " last_received = max(last_received, excluded.last_received),"
        " due = min(due, excluded.due)",
        [(trace, generation, came.first, came.last, now) for trace, came in touched.items()],
    )


class SpoolTouched:
    """The touched traces of a spool. Survives a crash."""

    def __init__(self, committer: Committer, reading: ReadConnection) -> None:
        self._committer = committer
        self._reading = reading

    def due(self, now: Nanos, limit: int) -> Sequence[Touched]:
        """Return traces whose time has come, longest waiting first."""
        rows = self._reading.all(
            "SELECT trace_id, generation, first_received, last_received FROM touched"
            " WHERE due <= ? ORDER BY due LIMIT ?",
            (now, limit),
        )
        return [
            Touched(
                trace_id=trace.hex(),
                generation=generation,
                first_received=Nanos(first),
                last_received=Nanos(last),
            )
            for trace, generation, first, last in rows
        ]

    def folded(self, traces: Sequence[Touched], again: Mapping[str, Nanos]) -> None:
        """Forget these traces unless touched meanwhile; those in `again` come back at that time."""
        forget = [
            (bytes.fromhex(trace.trace_id), trace.generation)
            for trace in traces
            if trace.trace_id not in again
        ]
        later = [
            (again[trace.trace_id], bytes.fromhex(trace.trace_id), trace.generation)
            for trace in traces
            if trace.trace_id in again
        ]

        def work(db: sqlite3.Connection) -> None:
            db.executemany("DELETE FROM touched WHERE trace_id = ? AND generation = ?", forget)
            db.executemany(
                "UPDATE touched SET due = ? WHERE trace_id = ? AND generation = ?", later
            )

        self._committer.submit(work).result()

    def touch(self, traces: Mapping[str, Nanos], now: Nanos) -> None:
        """Ask for these traces (trace id to last received) to be folded at once."""
        touched = {bytes.fromhex(trace): Arrivals(0, last) for trace, last in traces.items()}
        self._committer.submit(lambda db: record(db, touched, now)).result()

    def wake(self, now: Nanos) -> None:
        """Make every trace due that waits for its time."""

        def work(db: sqlite3.Connection) -> None:
            db.execute("UPDATE touched SET due = ? WHERE due > ?", (now, now))

        self._committer.submit(work).result()

    def rereading(self) -> Rereading:
        """Return what is left of the traces given to `touch`."""
        # `touch` alone names no first arrival.
        ((traces, until),) = self._reading.all(
            "SELECT count(*), max(due) FROM touched WHERE first_received = 0"
        )
        return Rereading(traces=traces, until=until)

    def waiting(self) -> int:
        """Return how many traces are not folded for good."""
        ((count,),) = self._reading.all("SELECT count(*) FROM touched")
        number: int = count
        return number
