"""The ledger as Prometheus figures, read when they are asked for, so that the two never differ."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from collector.folding.set_aside import SetAside
from collector.queue.port import Books
from gnomon.clock import LAST_MOMENT, Clock, Nanos, to_nanos

_ALWAYS = Nanos(0)
_LETTERS = 500


class LedgerMetrics(Collector):
    """Received, stored, rejected by reason, pending and dead, per source."""

    def __init__(
        self, books: Books, clock: Clock, unread: Callable[[], Sequence[SetAside]] = tuple
    ) -> None:
        self._books = books
        self._unread = unread
        self._clock = clock

    def collect(self) -> Iterable[Metric]:
        """Yield the figures as they are now."""
        received = CounterMetricFamily(
            "gnomon_ingest_received", "Spans and log records that arrived.", labels=["source"]
        )
        stored = CounterMetricFamily(
            "gnomon_ingest_stored", "Spans and log records that are stored.", labels=["source"]
        )
        rejected = CounterMetricFamily(
            "gnomon_ingest_rejected",
            "Spans and records not stored.",
            labels=["source", "reason"],
        )
        pending = GaugeMetricFamily(
            "gnomon_ingest_pending", "Spans and log records that wait.", labels=["source"]
        )
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        refusals: dict[tuple[str, str], int] = defaultdict(int)
        for row in self._books.ledger(_ALWAYS, LAST_MOMENT):
            for place, value in enumerate((row.received, row.stored, row.pending)):
                sums[row.source][place] += value
            for reason, count in row.rejected.items():
                refusals[row.source, reason] += count
        for source, (came, kept, waits) in sums.items():
            received.add_metric([source], came)
            stored.add_metric([source], kept)
            pending.add_metric([source], waits)
        for (source, reason), count in refusals.items():
            rejected.add_metric([source, reason], count)
        yield from (received, stored, rejected, pending)
        yield self._oldest()
        yield self._letters()
        traces = GaugeMetricFamily(
            "gnomon_traces_unread", "Traces that are stored but cannot be folded into runs."
        )
        traces.add_metric([], len(self._unread()))
        yield traces

    def _oldest(self) -> Metric:
        age = GaugeMetricFamily(
            "gnomon_ingest_oldest_pending_seconds",
            "Age of the oldest request that is not stored; 0 when none waits.",
        )
        oldest = self._books.oldest_pending()
        now = to_nanos(self._clock())
        age.add_metric([], 0.0 if oldest is None else max(0, now - oldest) / 1e9)
        return age

    def _letters(self) -> Metric:
        letters = GaugeMetricFamily(
            "gnomon_dead_letters", "Requests that wait for a decision.", labels=["source"]
        )
        counts: dict[str, int] = defaultdict(int)
        for source in self._sources():
            counts[source] += 1
        for source, count in counts.items():
            letters.add_metric([source], count)
        return letters

    def _sources(self) -> Iterator[str]:
        after = 0
        while page := self._books.dead_letters(after=after, limit=_LETTERS):
            yield from (letter.source for letter in page)
            after = page[-1].id
