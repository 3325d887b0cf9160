"""The tables of a Collector as a way in: looked at again and again, what is new goes to the queue."""

from collections.abc import Sequence

import structlog

from collector.queue.port import Books, Signal
from collector.receiving.intake import COMMIT_SECONDS, Intake, Parcel
from collector.receiving.refusals import Refused
from collector.tables.table import SECOND, WINDOW, Table, Unwritten
from gnomon.clock import Clock, to_nanos
from gnomon.config import SourceSettings
from gnomon.errors import ConfigError, GnomonError, StoreRefused, Unavailable
from gnomon.service import Background
from gnomon.store import Store

log = structlog.get_logger(__name__)

LATELY = 900 * SECOND
"""How far back each look goes; further back, as far as is set, every `RARELY`."""

RARELY = 600 * SECOND

_AHEAD = 86_400 * SECOND
"""Senders' clocks may be ahead by so much; rows of later times are read together as one window."""

_KINDS_TOLD = 100


def tables_of(store: Store, settings: SourceSettings) -> list[Table]:
    """Return the tables that the settings name."""
    named: tuple[tuple[Signal, str | None], ...] = (
        ("traces", settings.traces),
        ("logs", settings.logs),
    )
    return [
        Table(store, signal, name, settings.services) for signal, name in named if name is not None
    ]


class TableSource:
    """One thread that looks at the tables and queues what is new in them."""

    name = "table_source"

    def __init__(
        self,
        tables: Sequence[Table],
        intake: Intake,
        books: Books,
        settings: SourceSettings,
        *,
        clock: Clock,
    ) -> None:
        self._tables = tables
        self._intake = intake
        self._books = books
        self._clock = clock
        self._every = settings.every.total_seconds()
        self._lookback = int(settings.lookback.total_seconds()) * SECOND
        self._thread = Background(self.name, self._run)
        self._failure: str | None = None
        self._last_put = to_nanos(clock())
        self._all_due = 0
        self._told: set[str] = set()

    def start(self) -> None:
        """Begin; raises ConfigError when a table can not be read."""
        for table in self._tables:
            table.open()
        self._thread.start()

    def stop(self, timeout: float) -> None:
        """Finish the request in work; the rest of the window is read after the next start."""
        self._thread.stop(timeout)

    def problem(self) -> str | None:
        """Return why the tables are not read, or None."""
        return self._thread.problem() or self._failure

    def look(self) -> int:
        """Look at every table once; return how many requests were queued.

        Waits while something that was queued earlier is not stored: until it is, the statement
        that leaves out what is stored would find it again. A table that can not be read keeps
        none of the others waiting; the first such error is raised when all were looked at.
        """
        oldest = self._books.oldest_pending()
        if oldest is not None and oldest <= self._last_put:
            return 0
        now = to_nanos(self._clock())
        whole = now >= self._all_due
        back = self._lookback if whole else min(LATELY, self._lookback)
        since = max(0, (now - back) // WINDOW * WINDOW)
        queued = 0
        failed: list[GnomonError] = []
        for table in self._tables:
            try:
                queued += self._read(table, since, now)
            except (ConfigError, StoreRefused) as error:
                failed.append(error)
        if whole:
            self._all_due = now + RARELY
        if failed:
            raise failed[0]
        return queued

    def _read(self, table: Table, since: int, now: int) -> int:
        """Queue what is new in one table; its columns may be others than before."""
        table.open()
        queued = 0
        for window in table.changed(since, (now + _AHEAD) // WINDOW * WINDOW):
            for found in table.requests(window):
                if self._thread.stopping.is_set():
                    return queued
                self._put(table, found)
                queued += 1
            table.done(window, forget_before=now - self._lookback)
        return queued

    def _put(self, table: Table, found: bytes | Unwritten) -> None:
        """Queue one request and wait until it is kept; raises Unavailable when it can not be."""
        parcel = Parcel(
            signal=table.signal,
            transport="table",
            sender=table.name,
            body=found.row if isinstance(found, Unwritten) else found,
            encoding="identity",
            is_json=False,
        )
        with self._intake.hold() as hold:
            if isinstance(found, Unwritten):
                self._tell(table, found)
                refused = Refused("undecodable", found.why)
                taken = self._intake.refuse(parcel, refused, parcel.body)
            else:
                taken = self._intake.take(parcel, hold)
            if taken.done is not None:
                taken.done.result(COMMIT_SECONDS)
        if taken.answer.retry_after is not None:
            raise Unavailable(taken.answer.message or "the queue takes nothing now")
        self._last_put = to_nanos(self._clock())

    def _tell(self, table: Table, found: Unwritten) -> None:
        """Name the first row of a kind that is lost, not its content; the ledger counts them all."""
        kind = f"{table.name} {found.why}"
        if kind not in self._told and len(self._told) < _KINDS_TOLD:
            self._told.add(kind)
            log.warning(
                "table_row_refused",
                table=table.name,
                error=found.why,
                trace_id=found.trace_id,
                span_id=found.span_id,
            )

    def _run(self) -> None:
        while not self._thread.stopping.is_set():
            try:
                self.look()
            except Exception as error:  # noqa: BLE001 - shown by /readyz, and tried again
                self._failed(error)
            else:
                self._failure = None
            self._thread.stopping.wait(self._every)

    def _failed(self, error: Exception) -> None:
        if self._failure is None:
            code = error.code if isinstance(error, GnomonError) else type(error).__name__
            log.warning("table_source_waits", code=code, detail=str(error)[:500])
        self._failure = f"the tables are not read: {error}"
