"""How Gnomon tells about itself: events by structlog, figures for Prometheus."""

import logging
import sys
from contextlib import suppress
from typing import TextIO, cast

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from structlog.typing import Processor

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_LAG = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)


class _Unbroken:
    """A stream that may be closed by its reader: then nobody is told, and the work goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        """Write, if anybody reads."""
        with suppress(OSError, ValueError):
            self._stream.write(text)

    def flush(self) -> None:
        """Hand over what was written."""
        with suppress(OSError, ValueError):
            self._stream.flush()


def set_up_logging(level: str, style: str) -> None:
    """Send events to stderr: one JSON object a line, or colours where a person watches."""
    if style == "auto":
        style = "console" if sys.stderr.isatty() else "json"
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if style == "console":
        # The renderer's own choice shows every local variable: pages of people's words for one
        # error, and ten seconds of CPU to colour them.
        last: list[Processor] = [
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            )
        ]
    else:
        last = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    structlog.configure(
        processors=[*shared, *last],
        wrapper_class=structlog.make_filtering_bound_logger(
            logging.getLevelNamesMapping()[level.upper()]
        ),
        logger_factory=structlog.WriteLoggerFactory(file=cast("TextIO", _Unbroken(sys.stderr))),
        cache_logger_on_first_use=True,
    )
    # Libraries speak through `logging`; only what needs a look gets through.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s: %(message)s")
    quieten()


def quieten() -> None:
    """Let libraries be silent about what Gnomon tells itself, with the mend."""
    for name in ("clickhouse_connect", "urllib3", "opentelemetry.exporter"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    # A tick that comes while the last one works is no news: the ledger of the jobs decides.
    logging.getLogger("apscheduler").setLevel(logging.ERROR)


class Metrics:
    """Every figure for Prometheus that is not read from the ledger itself."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self.refused = Counter(
            "gnomon_ingest_refused_total",
            "Requests answered with an error before they counted as received.",
            ["transport", "reason"],
            registry=registry,
        )
        self.ingest_lag = Histogram(
            "gnomon_ingest_lag_seconds",
            "From the arrival of a span to the moment its run shows it.",
            buckets=_LAG,
            registry=registry,
        )
        self.request_duration = Histogram(
            "gnomon_http_request_duration_seconds",
            "Time to answer a page or an API call.",
            ["route"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.part_failures = Counter(
            "gnomon_part_failures_total",
            "Passes of a background part that failed and will be tried again.",
            ["part", "code"],
            registry=registry,
        )
        self.batch_seconds = Histogram(
            "gnomon_ingest_batch_seconds",
            "Time to insert one batch into ClickHouse.",
            ["signal"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.config_loaded = Gauge(
            "gnomon_config_loaded_timestamp_seconds",
            "When gnomon.yaml was read last.",
            ["digest"],
            registry=registry,
        )
