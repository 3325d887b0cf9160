"""The collector put together: queue, writer, roll-up and receivers over one store."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from fastapi import APIRouter

from collector.folding.lot import TraceFolding
from collector.folding.rollup import RollUp
from collector.identity import ensure_pair
from collector.metrics import LedgerMetrics
from collector.queue.port import Books, Signal, TouchedTraces
from collector.queue.spool import Spool
from collector.receiving.grpc import GrpcReceiver
from collector.receiving.intake import Intake
from collector.receiving.listener import HttpListener
from collector.receiving.receivers import build_receivers
from collector.router import build_router
from collector.store import Reader
from collector.store import Writer as Rows
from collector.tables.source import TableSource, tables_of
from collector.watched import Watched
from collector.writer import Writer
from gnomon.clock import Clock
from gnomon.config import Settings
from gnomon.service import STOP_TIMEOUT, Part
from gnomon.store import Store, open_store
from gnomon.store.migrate import bring_up_to_date
from gnomon.telemetry import Metrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """What the other rooms and the doors get to see."""

    store: Store
    reader: Reader
    books: Books
    touched: TouchedTraces
    watched: Watched
    rollup: RollUp
    router: APIRouter
    parts: Sequence[Part]
    """What is started and stopped with the process, in this order."""
    healthy: Sequence[Part]
    """What `/readyz` asks."""
    host: str
    grpc: GrpcReceiver
    http: HttpListener

    def addresses(self) -> Mapping[str, str]:
        """Return where the receivers listen, once they do."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return {
            "otlp_http": f"http://{host}:{self.http.port}",
            "otlp_grpc": f"{host}:{self.grpc.port}",
        }


@contextmanager
def opened(
    settings: Settings, watched: Watched, *, clock: Clock, metrics: Metrics
) -> Iterator[Collector]:
    """Open store and queue, bring the tables up to date, and put the parts together."""
    with ExitStack() as stack:
        store = open_store(settings)
        stack.callback(store.close)
        bring_up_to_date(store, clock=clock)
        queue = Spool(settings.data, settings.queue, clock=clock)
        stack.callback(queue.stop, STOP_TIMEOUT)
        queue.start()
        ensure_pair(store, queue.books, clock=clock)
        reader = Reader(store)
        folding = TraceFolding(reader, Rows(store), watched, processes=settings.fold_processes)
        meter = _Meter(metrics)
        writer = Writer(queue, store, settings.queue, clock=clock, meter=meter)
        rollup = RollUp(folding, queue.touched, clock=clock, meter=meter)
        grpc, http = build_receivers(queue, settings, clock, meter.refused)
        intake = Intake(queue, settings, clock, meter.refused)
        tables = tables_of(store, settings.source)
        sources: list[Part] = (
            [TableSource(tables, intake, queue.books, settings.source, clock=clock)]
            if tables
            else []
        )
        metrics.registry.register(LedgerMetrics(queue.books, clock, rollup.set_aside))
        parts: tuple[Part, ...] = (writer, rollup, *sources, grpc, http)
        yield Collector(
            store=store,
            reader=reader,
            books=queue.books,
            touched=queue.touched,
            watched=watched,
            rollup=rollup,
            router=build_router(
                reader, queue.books, queue.touched, watched, clock=clock, unread=rollup.set_aside
            ),
            parts=parts,
            healthy=(queue, *parts),
            host=settings.host,
            grpc=grpc,
            http=http,
        )


class _Meter:
    """What the parts tell about themselves, as figures."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def refused(self, transport: str, reason: str) -> None:
        """A request was answered with an error before it counted as received."""
        self._metrics.refused.labels(transport, reason).inc()

    def batch_stored(self, signal: Signal, items: int, size: int, seconds: float) -> None:
        """A batch is in ClickHouse."""
        self._metrics.batch_seconds.labels(signal).observe(seconds)

    def batch_failed(self, code: str) -> None:
        """A batch was not stored and will be tried again."""
        self._metrics.part_failures.labels("writer", code).inc()

    def buried(self, items: int) -> None:
        """The ledger counts these; nothing to add."""

    def run_visible(self, seconds: float) -> None:
        """A run shows what arrived so many seconds ago."""
        self._metrics.ingest_lag.observe(seconds)

    def pass_failed(self, code: str) -> None:
        """A pass of the roll-up failed and will be tried again."""
        self._metrics.part_failures.labels("rollup", code).inc()

    def set_aside(self, code: str) -> None:
        """One trace could not be folded; the log names it."""
        self._metrics.part_failures.labels("rollup_trace", code).inc()
