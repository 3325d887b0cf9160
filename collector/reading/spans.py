"""Spans and log records read back from ClickHouse, de-duplicated."""

from collections.abc import Iterable

from collector.reading import rows
from collector.reading import statements as st
from collector.reading.lots import MANY_TRACES, Key, ids, in_lots, lists
from collector.spans import LogRecord, Span
from gnomon.clock import Nanos
from gnomon.store import Store
from gnomon.store.sql import load
from gnomon.store.statements import filled


class SpanReader:
    """What came over the wire, as it came."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("collector")

    def spans(self, traces: Iterable[str]) -> list[Span]:
        """Return all spans of some traces, in no order."""
        sql = filled(self._sql["spans_of_traces"], columns=st.span_columns())
        return [
            rows.span(row)
            for some in lists(traces, MANY_TRACES)
            for row in self._store.rows(sql, tag="collector.spans_of_traces", traces=some)
        ]

    def span_counts(self, traces: Iterable[str]) -> dict[str, int]:
        """Return how many spans each of these traces has."""
        return {
            row["trace_id"]: row["spans"]
            for some in lists(traces, MANY_TRACES)
            for row in self._store.read(
                self._sql["span_counts"], tag="collector.span_counts", traces=some
            )
        }

    def spans_at(self, keys: Iterable[Key]) -> dict[Key, Span]:
        """Return some spans by their ids; those that do not exist are left out."""
        sql = filled(self._sql["spans_of_keys"], columns=st.span_columns())
        found: dict[Key, Span] = {}
        for some in in_lots(keys):
            wanted = set(some)
            for row in self._store.rows(sql, tag="collector.spans_of_keys", bind=ids(some)):
                span = rows.span(row)
                if (span.trace_id, span.span_id) in wanted:
                    found[span.trace_id, span.span_id] = span
        return found

    def span(self, trace_id: str, span_id: str) -> Span | None:
        """Return one raw span."""
        return self.spans_at([(trace_id, span_id)]).get((trace_id, span_id))

    def logs(self, traces: Iterable[str]) -> list[LogRecord]:
        """Return all log records of some traces, in no order."""
        sql = filled(self._sql["logs_of_traces"], columns=st.log_columns())
        return [
            rows.log_record(row)
            for some in lists(traces, MANY_TRACES)
            for row in self._store.read(sql, tag="collector.logs_of_traces", traces=some)
        ]

    def span_logs(self, trace_id: str, span_id: str) -> list[LogRecord]:
        """Return the log records that name this span, in order of time."""
        sql = filled(self._sql["logs_of_span"], columns=st.log_columns())
        found = self._store.read(sql, tag="collector.logs_of_span", trace=trace_id, span=span_id)
        return [rows.log_record(row) for row in found]

    def traces_stored(self, *, since: Nanos, after: str, limit: int) -> dict[str, Nanos]:
        """Return traces with a span from `since` on, by id behind `after`, and when it was stored."""
        found = self._store.read(
            self._sql["traces_stored"],
            tag="collector.traces_stored",
            settings={"optimize_aggregation_in_order": 1},
            since=since, after=after, limit=limit,
        )  # fmt: skip
        return {row["trace_id"]: row["stored_at"] for row in found}
