"""A table of the Collector as a way in: looked at again and again, what is new goes to the queue.

Rows have no time of arrival and come late: a span is written when it ends and stands at its start.
So time is cut into windows by `Timestamp`. A fingerprint of each window tells, for the price of
four columns, whether its rows changed since it was read; then it is read again. What Gnomon's own
table has already is left out by the statement, and the queue knows a request by its digest, so a
window that is read twice changes neither ledger nor runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import orjson
import structlog

from collector.queue.port import Books, Signal
from collector.receiving.intake import COMMIT_SECONDS, Intake, Parcel
from collector.tables import otlp
from collector.tables.shape import Shape, shape_of
from gnomon.clock import Clock, to_nanos
from gnomon.config import SourceSettings
from gnomon.errors import GnomonError, Unavailable
from gnomon.service import Background
from gnomon.store import Store
from gnomon.store.client import Value
from gnomon.store.sql import load
from gnomon.store.statements import filled

log = structlog.get_logger(__name__)

SECOND = 1_000_000_000

WINDOW = 10 * SECOND
"""Rows whose `Timestamp` lies in one such stretch are read together."""

LATELY = 900 * SECOND
"""How far back each look goes; further back, as far as is set, every `RARELY`."""

RARELY = 600 * SECOND
ROWS = 5_000
"""Rows of one request at most."""

LARGEST = 16 * 1024**2
"""Bytes of one request at most, unless one row alone is larger."""

_FUTURE = 86_400 * SECOND
"""Senders' clocks may be ahead by so much."""

_OF_SERVICES = "has(JSONExtract({services:String}, 'Array(String)'), ServiceName)"

_Row = Sequence[Any]
R = TypeVar("R")


class Window(NamedTuple):
    """One window of one table and what its rows add up to."""

    number: int
    rows: int
    print: int

    @property
    def since(self) -> int:
        """First nanosecond of the window."""
        return self.number * WINDOW


class Table:
    """One table: which of its windows changed, and their rows as requests."""

    def __init__(self, store: Store, signal: Signal, name: str, services: Sequence[str]) -> None:
        self.signal: Signal = signal
        self.name = name
        database, dot, table = name.rpartition(".")
        self._store = store
        self._where = {"database": database if dot else store.database, "table": table}
        self._services = list(services)
        self._sql = load("collector.tables")
        self._shape: Shape | None = None
        self._read: dict[int, Window] = {}

    def open(self) -> None:
        """Look at the columns; raises ConfigError when this is no such table."""
        rows = self._store.read(
            self._sql["columns"], tag="collector.tables.columns", bind=self._where
        )
        types = {str(row["name"]): str(row["type"]) for row in rows}
        setting = f"GNOMON_SOURCE__{self.signal.upper()}={self.name}"
        self._shape = shape_of(self.signal, types, setting=setting)

    def changed(self, since: int, until: int) -> list[Window]:
        """Return the windows in [since, until) ns whose rows are not those that were read."""
        found = self._ask("prints", since, until, width=WINDOW)
        windows = [Window(int(number), int(rows), int(print_)) for number, rows, print_ in found]
        return [window for window in windows if self._read.get(window.number) != window]

    def requests(self, window: Window) -> Iterator[bytes]:
        """Yield what is new in a window, as OTLP requests.

        A span that will be refused stands alone: its request is the same at the next look.
        """
        after = self._start()
        while rows := list(self._ask("rows", window.since, window.since + WINDOW, **after)):
            yield from self._written(rows)
            if len(rows) < ROWS:
                return
            after = self._next(after, rows)

    def done(self, window: Window, *, forget_before: int) -> None:
        """Note that a window was read; windows that end before `forget_before` are forgotten."""
        self._read[window.number] = window
        oldest = forget_before // WINDOW
        for number in [number for number in self._read if number < oldest]:
            del self._read[number]

    def _start(self) -> dict[str, Value]:
        if self.signal == "logs":
            return {"limit": ROWS, "offset": 0}
        return {"limit": ROWS, "trace": "", "span": "", "start": 0, "duration": 0}

    def _next(self, after: Mapping[str, Value], rows: Sequence[_Row]) -> dict[str, Value]:
        """Return where the next page begins: spans drop out of the statement once stored."""
        if self.signal == "logs":
            return {**after, "offset": int(str(after["offset"])) + len(rows)}
        last = otlp.SpanRow(*rows[-1])
        return {
            "limit": ROWS,
            "trace": last.trace_id,
            "span": last.span_id,
            "start": last.start,
            "duration": last.duration,
        }

    def _written(self, rows: Sequence[_Row]) -> Iterator[bytes]:
        if self.signal == "logs":
            yield from _within(otlp.log_request, [otlp.LogRow(*row) for row in rows])
            return
        spans = [otlp.SpanRow(*row) for row in rows]
        yield from _within(otlp.trace_request, [row for row in spans if otlp.well_named(row)])
        for row in spans:
            if not otlp.well_named(row):
                yield otlp.trace_request([row])

    def _ask(self, what: str, since: int, until: int, **params: Value) -> Iterator[_Row]:
        if self._shape is None:
            self.open()
        assert self._shape is not None
        kind = "trace" if self.signal == "traces" else "log"
        sql = filled(
            self._sql[f"{kind}_{what}"],
            columns=self._shape.columns,
            named=self._shape.named,
            of_services=_OF_SERVICES if self._services else "true",
        )
        bind: dict[str, Value] = {**self._where, "since": since, "until": until, **params}
        if self._services:
            bind["services"] = orjson.dumps(self._services).decode()
        return self._store.rows(sql, tag=f"collector.tables.{kind}_{what}", bind=bind)


def _within(write: Callable[[Sequence[R]], bytes], rows: Sequence[R]) -> Iterator[bytes]:
    """Yield rows as requests of a bounded size."""
    if not rows:
        return
    body = write(rows)
    if len(body) <= LARGEST or len(rows) == 1:
        yield body
        return
    middle = len(rows) // 2
    yield from _within(write, rows[:middle])
    yield from _within(write, rows[middle:])


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
        that leaves out what is stored would find it again.
        """
        oldest = self._books.oldest_pending()
        if oldest is not None and oldest <= self._last_put:
            return 0
        now = to_nanos(self._clock())
        whole = now >= self._all_due
        since = (
            (now - (self._lookback if whole else min(LATELY, self._lookback))) // WINDOW * WINDOW
        )
        queued = 0
        for table in self._tables:
            for window in table.changed(since, now + _FUTURE):
                if self._thread.stopping.is_set():
                    return queued
                queued += self._take(table, window)
                table.done(window, forget_before=now - self._lookback)
        if whole:
            self._all_due = now + RARELY
        return queued

    def _take(self, table: Table, window: Window) -> int:
        queued = 0
        for body in table.requests(window):
            self._put(table, body)
            queued += 1
        return queued

    def _put(self, table: Table, body: bytes) -> None:
        """Queue one request and wait until it is kept; raises Unavailable when it can not be."""
        parcel = Parcel(
            signal=table.signal,
            transport="table",
            sender=table.name,
            body=body,
            encoding="identity",
            is_json=False,
        )
        with self._intake.hold() as hold:
            taken = self._intake.take(parcel, hold)
            if taken.done is not None:
                taken.done.result(COMMIT_SECONDS)
        if taken.answer.retry_after is not None:
            raise Unavailable(taken.answer.message or "the queue takes nothing now")
        self._last_put = to_nanos(self._clock())

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
