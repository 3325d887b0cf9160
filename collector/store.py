"""Spans, logs, steps and runs in ClickHouse: who reads them, and who writes steps and runs."""

from collections.abc import Sequence

from collector.reading.changes import ChangeReader
from collector.reading.rows import Place
from collector.reading.spans import SpanReader
from collector.reading.steps import StepKey, StepReader
from gnomon.model import Run, RunId, SpanId, Step, TraceId
from gnomon.store import Store


class Reader(SpanReader, StepReader, ChangeReader):
    """What others may ask of the collector's tables. Every answer is de-duplicated."""

    def __init__(self, store: Store) -> None:
        StepReader.__init__(self, store)


class Writer:
    """Steps and runs as the roll-up writes them. Every write may come again."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def steps(self, steps: Sequence[Step], *, folded_at: int) -> None:
        """Write the present version of some steps."""
        self._store.insert("steps", steps, folded_at=folded_at, is_deleted=0)

    def runs(self, runs: Sequence[Run], *, reading: str, folded_at: int) -> None:
        """Write the present version of some runs; `reading` names the mapping that made them."""
        self._store.insert("runs", runs, reading=reading, folded_at=folded_at, is_deleted=0)

    def forget_steps(self, keys: Sequence[StepKey], *, folded_at: int) -> None:
        """Take back steps that a fold no longer names."""
        gone = [
            Step(
                run_id=RunId(key.run_id),
                trace_id=TraceId(key.trace_id),
                span_id=SpanId(key.span_id),
                started_at=key.started_at,
                ended_at=key.started_at,
                duration_ns=0,
            )
            for key in keys
        ]
        self._store.insert("steps", gone, folded_at=folded_at, is_deleted=1)

    def forget_runs(self, places: Sequence[Place], *, folded_at: int) -> None:
        """Take back runs from where they stood."""
        gone = [
            Run(
                run_id=place.run_id,
                trace_ids=place.trace_ids,
                root_span_id=None,
                started_at=place.started_at,
                ended_at=place.started_at,
                duration_ns=0,
                active_ns=0,
                last_received_at=place.last_received_at,
            )
            for place in places
        ]
        self._store.insert("runs", gone, reading="", folded_at=folded_at, is_deleted=1)
