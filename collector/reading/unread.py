"""What the roll-up asks of the store and passes on as it comes: rows as lines, nothing parsed."""

from collections.abc import Iterable

from collector.dialects.content.instructions import ONLY_IN_BODIES
from collector.reading import statements as st
from collector.reading.lots import MANY_TRACES, lists
from gnomon.store import Store
from gnomon.store.sql import load
from gnomon.store.statements import filled

_KEPT = 64
_CUT = (
    "mapApply((k, v) -> (k, if(k IN ("
    + ", ".join(f"'{key}'" for key in ONLY_IN_BODIES)
    + f"), leftUTF8(v, {_KEPT}), v)), attributes) AS attributes"
)
"""What only bodies are read from need not be carried about: often a third of a span."""

_CALM = {"max_threads": 1}
"""Nobody waits for these answers; senders and readers wait for the cores."""


class LineReader:
    """All that is stored of some traces, in no order."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sql = load("collector")

    def span_lines(self, traces: Iterable[str]) -> bytes:
        """Return their spans, for `collector.reading.rows.unread_span`."""
        columns = st.span_columns().replace(" attributes,", f" {_CUT},", 1)
        return self._lines("spans_of_traces", traces, columns=f"toString(version), {columns}")

    def log_lines(self, traces: Iterable[str]) -> bytes:
        """Return their log records, for `collector.reading.rows.log_line`."""
        return self._lines("logs_of_traces", traces, columns=st.log_columns())

    def step_key_lines(self, traces: Iterable[str]) -> bytes:
        """Return the steps stored of them, as `collector.encoded.StepKey`."""
        return self._lines("step_keys_of_traces", traces)

    def _lines(self, name: str, traces: Iterable[str], **words: str) -> bytes:
        sql = filled(self._sql[name], **words)
        return b"".join(
            self._store.lines(sql, tag=f"collector.{name}", settings=_CALM, traces=some)
            for some in lists(traces, MANY_TRACES)
        )
