"""History read again under the present mapping: every stored trace is touched, a page at a time."""

from collections.abc import Iterator

from collector.queue.port import TouchedTraces
from collector.store import Reader
from gnomon.clock import Nanos

PAGE = 5_000
"""Traces touched at a time."""

RATE = 2_500
"""Spans a second asked of the roll-up, so that new traces do not wait behind old ones."""

_SECOND = 1_000_000_000


def refold(reader: Reader, touched: TouchedTraces, *, since: Nanos, now: Nanos) -> Iterator[int]:
    """Touch every trace with a span from `since` on; yield after each page how many it were."""
    after = ""
    due = now
    while page := reader.traces_stored(since=since, after=after, limit=PAGE):
        after = max(page)
        places = reader.places(reader.run_ids_of_traces(page))
        known = {trace: place.last_received_at for place in places for trace in place.trace_ids}
        # When a trace was received last must not change by reading it again.
        touched.touch({trace: known.get(trace, page[trace]) for trace in page}, due)
        spans = sum(reader.span_counts(page).values())
        due = Nanos(due + spans * _SECOND // RATE)
        yield len(page)
