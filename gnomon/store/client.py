"""One way to speak to ClickHouse, whichever engine answers: typed parameters, tagged queries."""

import datetime as dt
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import orjson
from clickhouse_connect.driver.client import Client

from gnomon import rows as row_text
from gnomon.config import Settings
from gnomon.errors import StoreDamaged, StoreUnavailable
from gnomon.store.engines import Embedded, Engine, Insert, Server, directory_of, settings_clause
from gnomon.store.faults import translated
from gnomon.store.sql import load
from gnomon.tracing import step

Value = str | int | float | bool | dt.datetime | None | Sequence[str] | Sequence[int]
"""What a typed parameter `{name:Type}` may be. Moments as Nanos go in as Int64."""

Row = dict[str, Any]
"""One row by column name, as JSON carries it: the columns of a query are known to its caller."""

_INSERT = re.compile(
    r"\s*INSERT\s+INTO\s+(?P<target>[\w.]+(?:\s*\([\w\s,.]+\))?)\s+FORMAT\s+(?P<format>\w+)\s*;?\s*",
    re.IGNORECASE,
)
_WRITE_PATIENCE = 10
"""A write may take so many times longer than a read: giving up costs more."""

READERS = 8
"""Reads at once; more wait. Each may use as much memory as one query may."""

_TAG = re.compile(r"[\w.:/-]{1,120}")


class Store:
    """ClickHouse. Safe from any thread: each call borrows a handle of its own."""

    def __init__(self, engine: Engine, *, read_seconds: int, cluster: str = "") -> None:
        self.cluster = cluster
        """Name of the cluster the tables are spread over; '' = none."""
        self._engine = engine
        self._read_seconds = read_seconds
        self._write_seconds = read_seconds * _WRITE_PATIENCE
        self._idle: list[Client] = []
        self._lent = 0
        self._closed = False
        self._pid = os.getpid()
        self._changed = threading.Condition()
        self._readers = threading.BoundedSemaphore(READERS)

    @property
    def embedded(self) -> bool:
        """Whether the engine runs in this process."""
        return isinstance(self._engine, Embedded)

    @property
    def database(self) -> str:
        """Name of the database the tables lie in."""
        return self._engine.database

    def read(
        self,
        sql: str,
        *,
        tag: str,
        settings: Mapping[str, str | int] | None = None,
        bind: Mapping[str, Value] | None = None,
        **params: Value,
    ) -> list[Row]:
        """Run a SELECT; return its rows by column name. Parameters come by name or in `bind`."""
        text = self._select(sql, "JSONEachRow", tag, settings, {**(bind or {}), **params})
        return [orjson.loads(line) for line in text.splitlines()]

    def rows(
        self,
        sql: str,
        *,
        tag: str,
        settings: Mapping[str, str | int] | None = None,
        bind: Mapping[str, Value] | None = None,
        **params: Value,
    ) -> Iterator[list[Any]]:
        """Run a SELECT; yield its rows as lists in the order of its columns."""
        text = self._select(sql, "JSONCompactEachRow", tag, settings, {**(bind or {}), **params})
        for line in text.splitlines():
            yield orjson.loads(line)

    def lines(
        self,
        sql: str,
        *,
        tag: str,
        settings: Mapping[str, str | int] | None = None,
        **params: Value,
    ) -> bytes:
        """Run a SELECT; return its rows as JSON lists, one a line, for somebody else to read."""
        return self._select(sql, "JSONCompactEachRow", tag, settings, params)

    def insert(
        self,
        table: str,
        rows: Sequence[Any],
        *,
        token: str | None = None,
        tag: str | None = None,
        **extra: str | int,
    ) -> None:
        """Insert dataclasses of one type; the columns are its fields and those of `extra`.

        `token` is made of what is written, so that ClickHouse recognises a repeat.
        """
        if not rows:
            return
        settings: dict[str, str | int] = {"optimize_on_insert": 0}  # FINAL sees to repeats
        if token is not None:
            settings["insert_deduplication_token"] = token
        for part in row_text.parts(rows, extra):
            self.insert_raw(
                f"INSERT INTO {table} ({', '.join(part.columns)}) FORMAT JSONCompactColumns",
                part.body,
                tag=tag or f"insert.{table}",
                settings=settings,
            )

    def insert_raw(
        self,
        sql: str,
        body: bytes,
        *,
        tag: str,
        settings: Mapping[str, str | int] | None = None,
    ) -> None:
        """Insert bytes as they are; `sql` reads `INSERT INTO table (columns) FORMAT format`."""
        match = _INSERT.fullmatch(sql)
        if match is None:
            raise ValueError(f"{tag}: expected INSERT INTO table (columns) FORMAT format")
        given: dict[str, str | int] = {
            "log_comment": _checked_tag(tag),
            "max_execution_time": self._write_seconds,
            **(settings or {}),
        }
        insert = Insert(match["target"], match["format"], body, given)
        with (
            step("store.insert", tag=tag, bytes=len(body)),
            self._handle() as handle,
            translated(tag=tag, writing=True),
        ):
            self._engine.insert(handle, insert)

    def command(
        self, sql: str, *, tag: str, settings: Mapping[str, str | int] | None = None
    ) -> None:
        """Run a statement that returns nothing."""
        given: dict[str, str | int] = {
            "log_comment": _checked_tag(tag),
            "max_execution_time": self._write_seconds,
            **(settings or {}),
        }
        with (
            step("store.command", tag=tag),
            self._handle() as handle,
            translated(tag=tag, writing=True),
        ):
            handle.command(sql, settings=given)

    def close(self, timeout: float = 10.0) -> None:
        """Wait for the calls in progress, then let go of the engine. Harmless when repeated."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.wait_for(lambda: self._lent == 0, timeout)
            idle, self._idle = self._idle, []
        for handle in idle:
            handle.close()
        self._engine.close()

    def _select(
        self,
        sql: str,
        format_: str,
        tag: str,
        settings: Mapping[str, str | int] | None,
        params: Mapping[str, Value],
    ) -> bytes:
        clause = settings_clause({"log_comment": _checked_tag(tag), **(settings or {})})
        given = {name: _param(value) for name, value in params.items()}
        if not self._readers.acquire(timeout=self._read_seconds):
            raise StoreUnavailable(
                f"{tag}: {READERS} queries are running and none has ended", tag=tag
            )
        try:
            with step("store.read", tag=tag), self._handle() as handle, translated(tag=tag):
                return handle.raw_query(f"{sql}\n{clause}", parameters=given, fmt=format_)
        finally:
            self._readers.release()

    @contextmanager
    def _handle(self) -> Iterator[Client]:
        handle = self._borrow()
        try:
            yield handle
        finally:
            self._give_back(handle)

    def _borrow(self) -> Client:
        with self._changed:
            if self._closed:
                raise StoreUnavailable("the store is closed; this process is stopping")
            if os.getpid() != self._pid:
                raise StoreUnavailable("the store was opened before a fork; open it in the child")
            self._lent += 1
            if self._idle:
                return self._idle.pop()
        try:
            with translated(tag="store.open"):
                return self._engine.handle()
        except BaseException:
            self._give_back(None)
            raise

    def _give_back(self, handle: Client | None) -> None:
        with self._changed:
            self._lent -= 1
            keep = handle is not None and not self._closed
            if keep and handle is not None:
                self._idle.append(handle)
            self._changed.notify_all()
        if handle is not None and not keep:
            handle.close()


def is_there(settings: Settings) -> bool:
    """Tell whether the store the settings name was ever opened; nothing is created."""
    if settings.store.url is None:
        return directory_of(settings.data).is_dir()
    return Server(settings.store, settings.store.url, create=False).has_database()


def open_store(settings: Settings) -> Store:
    """Open the store the settings name; the embedded one in `settings.data` by default."""
    engine: Engine
    if settings.store.url is None:
        engine = Embedded(settings.data, settings.store)
    else:
        engine = Server(settings.store, settings.store.url)
    store = Store(
        engine,
        read_seconds=max(1, int(settings.store.timeout.total_seconds())),
        cluster=settings.store.cluster,
    )
    if store.embedded:
        _refuse_damage(store)
    return store


def _refuse_damage(store: Store) -> None:
    """Raise when the engine set data aside that it could not read: it says so nowhere else."""
    try:
        broken = store.read(load("gnomon.store")["broken_parts"], tag="store.broken_parts")
    except BaseException:
        store.close()
        raise
    if broken:
        store.close()
        named = "; ".join(f"{part['table']}: {part['path']}" for part in broken)
        raise StoreDamaged(
            f"{len(broken)} parts cannot be read and were set aside: {named}. Restore them from a"
            " backup, or delete these folders to go on without what they held."
        )


def _checked_tag(tag: str) -> str:
    if _TAG.fullmatch(tag) is None:
        raise ValueError(f"a tag names the query in letters, digits and . : / -: {tag!r}")
    return tag


def _param(value: Value) -> Any:
    match value:
        case bool():
            return int(value)
        case dt.datetime():
            if value.utcoffset() is None:
                raise ValueError("a moment needs an aware datetime")
            return f"{value.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S.%f}"
        case str():
            return _Literal(_escaped(value))
        case int() | float() | None:
            return value
        case _:
            return _Literal(f"[{', '.join(map(_item, value))}]")


class _Literal:
    """A parameter as ClickHouse reads it. The driver would look at each character in Python."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text


_ESCAPES = str.maketrans({sign: f"\\{sign}" for sign in "\\'`\t\n"})


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)


def _item(value: str | int) -> str:
    return f"'{_escaped(value)}'" if isinstance(value, str) else str(value)
