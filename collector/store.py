"""Spans, logs, steps and runs in ClickHouse: who reads them, and who writes steps and runs."""

from collector.encoded import Rows
from collector.reading.changes import ChangeReader
from collector.reading.spans import SpanReader
from collector.reading.steps import StepReader
from collector.reading.unread import LineReader
from gnomon.store import Store


class Reader(SpanReader, StepReader, ChangeReader, LineReader):
    """What others may ask of the collector's tables. Every answer is de-duplicated."""

    def __init__(self, store: Store) -> None:
        StepReader.__init__(self, store)


class Writer:
    """Steps and runs as the roll-up writes them. Every write may come again."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def write(self, rows: Rows) -> None:
        """Write rows of one table."""
        self._store.insert_raw(
            f"INSERT INTO {rows.table} ({', '.join(rows.columns)}) FORMAT {rows.format}",
            rows.body,
            tag=f"insert.{rows.table}",
            settings={"optimize_on_insert": 0},  # FINAL sees to repeats
        )
