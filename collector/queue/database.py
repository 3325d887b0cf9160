"""The SQLite file of the spool: how it is opened, and what its errors mean."""

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from gnomon.errors import ConfigError, DiskFull, GnomonError, StoreDamaged, Unavailable

FILE = "spool.sqlite"

PAGE = 16 * 1024
"""Bytes. Payloads are kilobytes: pages of 4 kB cost half as much CPU again."""

_SCHEMA = 1
_CHECKPOINT_PAGES = 2000
_WAL_LIMIT = 64 * 1024**2
_BUSY_SECONDS = 10.0
_PRIMARY = 0xFF
_KEEP_FREE = 4096
"""Free pages (64 MB) that stay in the file, since the next requests need them."""
_GIVE_BACK = 1024


def open_database(path: Path) -> sqlite3.Connection:
    """Open the file for writing; create or check the schema."""
    with translated(path):
        db = _connect(path)
        try:
            db.execute(f"PRAGMA page_size = {PAGE}")
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            db.execute(f"PRAGMA journal_size_limit = {_WAL_LIMIT}")
            _bring_up(db, path)
        except BaseException:
            db.close()
            raise
        return db


def give_back_space(db: sqlite3.Connection) -> None:
    """Return free pages beyond a reserve to the disk, a bounded number at a time."""
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    if free > _KEEP_FREE:
        # `execute` would step once, which frees one page.
        db.executescript(f"PRAGMA incremental_vacuum({min(free - _KEEP_FREE, _GIVE_BACK)})")


def _bring_up(db: sqlite3.Connection, path: Path) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > _SCHEMA:
        raise ConfigError(
            f"{path} was written by a newer Gnomon (schema {version}, this one knows {_SCHEMA}):"
            " install that version, let it drain the queue, then go back"
        )
    script = resources.files(__package__ or "").joinpath("schema.sql").read_text(encoding="utf-8")
    db.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {_SCHEMA}; COMMIT;")


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS
    )


@dataclass(frozen=True, slots=True)
class Resting:
    """What lies in the file of a queue that nobody has open."""

    waiting: int
    """Spans and log records that were acknowledged and are not in ClickHouse yet."""
    dead_letters: int
    stored: int = 0
    """Spans and log records that the ledger counts as stored."""
    store_id: str | None = None
    """The store that the queue feeds; None before the first start."""


def at_rest(path: Path) -> Resting:
    """Look into the file without changing it; raises StoreDamaged when it can not be read."""
    address = f"{path.absolute().as_uri()}?mode=ro"
    with (
        translated(path),
        closing(sqlite3.connect(address, uri=True, timeout=_BUSY_SECONDS)) as db,
    ):
        (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise _damaged(path, said)
        return Resting(
            *db.execute(
                "SELECT (SELECT coalesce(sum(items), 0) FROM queue),"
                " (SELECT count(*) FROM dead_letters),"
                " (SELECT coalesce(sum(stored), 0) FROM ledger),"
                " (SELECT store_id FROM paired)"
            ).fetchone()
        )


class ReadConnection:
    """One connection that only reads, for one caller at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        with translated(path):
            self._db = _connect(path)
            self._db.execute("PRAGMA query_only = ON")

    def all(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return every row."""
        with self._lock, translated(self._path):
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def rows(self, sql: str, values: Sequence[object] = ()) -> Iterator[Iterator[tuple[Any, ...]]]:
        """Hand out rows one by one; those not asked for are not read."""
        with self._lock, translated(self._path):
            cursor = self._db.execute(sql, values)
            try:
                yield cursor
            finally:
                cursor.close()

    def close(self) -> None:
        """Close the connection once its present caller is done."""
        with self._lock:
            self._db.close()


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn an error of SQLite into one of the house."""
    try:
        yield
    except sqlite3.Error as error:
        raise fault(error, path) from error


def fault(error: sqlite3.Error, path: Path) -> GnomonError:
    """Return the error of the house for one of SQLite; decided by its numeric code."""
    code = getattr(error, "sqlite_errorcode", None)
    match None if code is None else code & _PRIMARY:
        case sqlite3.SQLITE_FULL:
            return DiskFull(f"{path}: no space left; free some, or move the data directory")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return _damaged(path, error)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return ConfigError(f"{path} cannot be written ({error}); mend its rights or --data")
        case _:
            return Unavailable(f"{path}: {error}")


def _damaged(path: Path, why: object) -> StoreDamaged:
    return StoreDamaged(
        f"{path} cannot be read ({why}). Move the file away to start with an empty queue;"
        " what it held and ClickHouse has not is lost unless the file can be repaired"
        " (`sqlite3 spool.sqlite .recover`)"
    )
