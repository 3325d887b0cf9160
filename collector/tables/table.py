"""One table of the Collector: which stretches of time changed, and what is new there, as requests.

Rows have no time of arrival and come late: a span is written when it ends and stands at its start.
So time is cut into windows by `Timestamp`. A fingerprint of each window tells, for the price of
a few columns, whether its rows changed since it was read; then it is read again. What Gnomon's own
table has already is left out by the statement, and the queue knows a request by its digest, so a
window that is read twice changes neither ledger nor runs.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import orjson

from collector.queue.port import Signal
from collector.receiving.density import LARGE
from collector.receiving.mend import MAX_TIME
from collector.spans import FLAGS_ATTRIBUTE
from collector.tables import otlp
from collector.tables.shape import Shape, shape_of
from gnomon.errors import ConfigError, Unavailable
from gnomon.store import Store
from gnomon.store.client import Value
from gnomon.store.sql import load
from gnomon.store.statements import filled

SECOND = 1_000_000_000

WINDOW = 10 * SECOND
"""Rows whose `Timestamp` lies in one such stretch are read together."""

ROWS = 5_000
"""Rows of one request at most."""

LARGEST = LARGE - 1
"""Bytes of one request at most, unless one row alone is larger: it is never refused as too dense."""

_PAGE_BYTES = 64 * 1024**2
"""Of one page of rows, as text: the next one asks for fewer rows where it was more."""

_FAR = MAX_TIME // WINDOW
"""The number of the one window of all that lies behind the time up to which is asked."""

_TIMELESS = -1
"""The number of the window of rows without any time."""

_MEMORY_LIMIT = 241
"""ClickHouse: the query needed more memory than it may use."""

_OWN = frozenset({"otel_traces", "otel_logs"})
"""Gnomon's own views in the form of the Collector's tables."""

_OF_SERVICES = "has(JSONExtract({services:String}, 'Array(String)'), ServiceName)"

_AS_STORED = {"output_format_json_validate_utf8": 0}
"""Text that is no UTF-8 comes as it lies there: the inspection mends it, and says that it did."""

_SHOWN = 500
_ID_SHOWN = 64

_Row = list[Any]
R = TypeVar("R", otlp.SpanRow, otlp.LogRow)


class Window(NamedTuple):
    """One window of one table and what its rows add up to."""

    number: int
    rows: int
    print: int
    since: int
    """First nanosecond."""
    until: int
    """The first one behind it."""


class Unwritten(NamedTuple):
    """A row that is no span or log record, whatever one makes of it."""

    row: bytes
    """All that was read of it, so that it is known again."""
    why: str
    trace_id: str
    span_id: str


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
        self._limit = ROWS

    def open(self) -> None:
        """Look at the columns; raises ConfigError when this is no such table."""
        setting = f"GNOMON_SOURCE__{self.signal.upper()}={self.name}"
        if self._is_our_own():
            raise ConfigError(
                f"{setting}: this is the view of what Gnomon itself has stored; name the table"
                " that your Collector writes, as database.table"
            )
        rows = self._store.read(
            self._sql["columns"], tag="collector.tables.columns", bind=self._where
        )
        types = {str(row["name"]): str(row["type"]) for row in rows}
        self._shape = shape_of(self.signal, types, setting=setting)

    def changed(self, since: int, until: int) -> list[Window]:
        """Return the windows whose rows are not those that were read.

        Those that begin in [since, until) ns, that of what lies behind, and that of rows
        without a time.
        """
        text = self._ask("prints", since, until, width=WINDOW, far=_FAR, timeless=_TIMELESS)
        windows = []
        for number, rows, print_ in map(orjson.loads, text.splitlines()):
            start, end = number * WINDOW, (number + 1) * WINDOW
            if number == _FAR:
                start, end = until, MAX_TIME + 1
            elif number == _TIMELESS:
                start, end = 0, 1
            windows.append(Window(number, rows, print_, start, end))
        return [window for window in windows if not self._is_read(window)]

    def requests(self, window: Window) -> Iterator[bytes | Unwritten]:
        """Yield what is new in a window, as OTLP requests, and the rows that can be none.

        A row that will be refused stands alone: its request is the same at the next look.
        """
        after = ""
        while True:
            limit, lines = self._page(window, after)
            read = [_row(line) for line in lines]
            yield from self._written([row[:-1] for row in read])
            if len(read) < limit:
                return
            after = read[-1][-1]

    def done(self, window: Window, *, forget_before: int) -> None:
        """Note that a window was read; windows that end before `forget_before` are forgotten."""
        self._read[window.number] = window
        oldest = forget_before // WINDOW
        for number in [number for number in self._read if _TIMELESS < number < oldest]:
            del self._read[number]

    def _is_read(self, window: Window) -> bool:
        known = self._read.get(window.number)
        return known is not None and known[:3] == window[:3]

    def _is_our_own(self) -> bool:
        if self._where["database"] != self._store.database or self._where["table"] not in _OWN:
            return False
        found = self._store.read(self._sql["kind"], tag="collector.tables.kind", bind=self._where)
        return [row["engine"] for row in found] == ["View"]

    def _page(self, window: Window, after: str) -> tuple[int, list[bytes]]:
        """Return rows of a window and how many were asked for: as many as memory bears."""
        while True:
            limit = self._limit
            try:
                text = self._ask("rows", window.since, window.until, after=after, limit=limit)
            except Unavailable as error:
                if error.context.get("code") != _MEMORY_LIMIT or limit == 1:
                    raise
                self._limit = limit // 2
                continue
            self._limit = min(ROWS, max(1, limit * _PAGE_BYTES // max(len(text), 1)), limit * 2)
            return limit, text.splitlines()

    def _written(self, rows: Sequence[_Row]) -> Iterator[bytes | Unwritten]:
        if self.signal == "logs":
            yield from _requests(otlp.log_request, [otlp.LogRow(*row) for row in rows])
        else:
            yield from _requests(otlp.trace_request, [otlp.SpanRow(*row) for row in rows])

    def _ask(self, what: str, since: int, until: int, **params: Value) -> bytes:
        if self._shape is None:
            self.open()
        assert self._shape is not None
        kind = "trace" if self.signal == "traces" else "log"
        sql = filled(
            self._sql[f"{kind}_{what}"],
            moment=self._sql[f"{kind}_moment"],
            lying=self._sql["lying"],
            candidates=self._sql["candidates"],
            columns=self._shape.columns,
            named=self._shape.named,
            weight=self._shape.weight,
            of_services=_OF_SERVICES if self._services else "true",
        )
        bind: dict[str, Value] = {**self._where, **params}
        if self._services:
            bind["services"] = orjson.dumps(self._services).decode()
        return self._store.lines(
            sql,
            tag=f"collector.tables.{kind}_{what}",
            settings=_AS_STORED,
            since=since,
            until=until,
            last=MAX_TIME,
            mark=FLAGS_ATTRIBUTE,
            **bind,
        )


def _row(line: bytes) -> _Row:
    """Return a row; bytes that are no UTF-8 stand in its texts as halves of characters."""
    try:
        found: _Row = orjson.loads(line)
    except orjson.JSONDecodeError:
        found = json.loads(line.decode(errors="surrogateescape"))
    return found


def _requests(
    write: Callable[[Sequence[R]], bytes], rows: Sequence[R]
) -> Iterator[bytes | Unwritten]:
    alone = [row for row in rows if otlp.stands_alone(row)]
    yield from _within(write, [row for row in rows if not otlp.stands_alone(row)])
    for row in alone:
        yield from _within(write, [row])


def _within(
    write: Callable[[Sequence[R]], bytes], rows: Sequence[R]
) -> Iterator[bytes | Unwritten]:
    """Yield rows as requests of a bounded size; one that can not be written loses itself alone."""
    if not rows:
        return
    try:
        body = write(rows)
    except Exception as error:  # noqa: BLE001 - rows of strangers: said, counted, and passed over
        if len(rows) == 1:
            yield _unwritten(rows[0], repr(error)[:_SHOWN])
            return
    else:
        if len(body) <= LARGEST or len(rows) == 1:
            yield body
            return
    middle = len(rows) // 2
    yield from _within(write, rows[:middle])
    yield from _within(write, rows[middle:])


def _unwritten(row: otlp.SpanRow | otlp.LogRow, why: str) -> Unwritten:
    whole = repr(row).encode(errors="backslashreplace")
    return Unwritten(whole, why, _shown(row.trace_id), _shown(row.span_id))


def _shown(name: str) -> str:
    """Return an id, which may be any bytes, as a text that every log can hold."""
    return name[:_ID_SHOWN].encode(errors="backslashreplace").decode()
