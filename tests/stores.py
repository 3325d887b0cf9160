"""The real engine for tests: embedded, or the server that TEST_CLICKHOUSE_URL names."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from collector import wire
from collector.queue.port import Signal
from collector.receiving.inspection import Inspector
from gnomon.clock import Nanos
from gnomon.config import Settings, StoreSettings
from gnomon.store import Store, open_store
from gnomon.store.migrate import apply, shipped

URL = os.environ.get("TEST_CLICKHOUSE_URL")
NOW = Nanos(2_000_000_000_000_000_000)
ENGINES = ["embedded", *(["server"] if URL else [])]
BOTH = ["embedded", "server"]
MOSTLY_EMBEDDED = ["embedded", pytest.param("server", marks=pytest.mark.soak)]
"""For what is the same SQL on both: the second engine is asked in the long run."""

"""For tests of the driver's two ways; the second goes to `tests.clickhouse_http` without a URL."""


@cache
def server_url() -> str:
    """Return the server's address; start one of our own, until this process ends, if need be."""
    if URL:
        return URL
    directory = tempfile.mkdtemp(prefix="gnomon-test-server-")
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.clickhouse_http", directory],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1],
    )  # fmt: skip

    def stop() -> None:
        server.kill()
        server.communicate()
        shutil.rmtree(directory, ignore_errors=True)

    atexit.register(stop)
    assert server.stdout is not None
    return f"http://127.0.0.1:{server.stdout.readline().strip()}"


def settings_for(engine: str, data: Path) -> Settings:
    """Return settings whose store is empty: a fresh directory, or a fresh database."""
    if engine == "embedded":
        return Settings(data=data)
    parts = urlsplit(server_url())
    fresh = urlunsplit(parts._replace(path=f"/gnomon_test_{uuid.uuid4().hex[:12]}"))
    return Settings(data=data, store=StoreSettings(url=fresh))


@contextmanager
def migrated_store(engine: str, data: Path) -> Iterator[Store]:
    """Open an empty store with all tables."""
    if engine == "embedded":
        with copied_store("migrated", data, migrated) as store:
            yield store
    else:
        with fresh_store(engine, data) as store:
            migrated(store)
            yield store


def migrated(store: Store) -> None:
    apply(store, shipped())


_FILLED: dict[str, Path] = {}


@contextmanager
def copied_store(kind: str, data: Path, fill: Callable[[Store], None]) -> Iterator[Store]:
    """Open a copy of what is filled once in each process: a third of the work of filling it."""
    if kind not in _FILLED:
        directory = Path(tempfile.mkdtemp(prefix="gnomon-test-store-"))
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        with fresh_store("embedded", directory) as store:
            fill(store)
        _FILLED[kind] = directory
    shutil.copytree(_FILLED[kind], data, dirs_exist_ok=True, symlinks=True)
    with fresh_store("embedded", data) as store:
        yield store


@contextmanager
def fresh_store(engine: str, data: Path) -> Iterator[Store]:
    """Open an empty store and leave nothing behind."""
    store = open_store(settings_for(engine, data))
    try:
        yield store
    finally:
        if not store.embedded:
            store.command(f"DROP DATABASE IF EXISTS {store.database}", tag="tests.drop")
        store.close()


def emptied(store: Store) -> Store:
    """Take all rows out of a migrated store: forty times as quick as a new one for each test."""
    filled = store.read(
        "SELECT name FROM system.tables"
        " WHERE database = currentDatabase() AND total_rows > 0 AND name != 'migrations'",
        tag="tests.filled",
    )
    for row in filled:
        store.command(f"TRUNCATE TABLE {row['name']}", tag="tests.truncate")
    return store


def put(store: Store, signal: Signal, *payloads: bytes) -> None:
    """Store the spans or log records of some export requests, as receiver and writer do."""
    inspector = Inspector(max_value=1024**2)
    kept = [inspector.inspect(signal, payload, NOW).payload for payload in payloads]
    for body in wire.bodies(signal, kept, 16 * 1024**2):
        store.insert_raw(
            wire.statement(signal), body, tag="tests.put", settings=wire.settings(signal)
        )
