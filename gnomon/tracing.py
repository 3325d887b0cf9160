"""Gnomon's own traces: off unless asked for, and never about what carries them.

A batch or a lot of traces in which a span of a Gnomon lies is not traced: otherwise each would make
the next, for ever, wherever they are sent, through a Collector or to another Gnomon as well.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import structlog

from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer

log = structlog.get_logger(__name__)

_MARK = b"gnomon"
"""How the ids of our own traces begin; the other ten bytes are random."""

_SECONDS_TO_SEND = 2.0
"""So long an endpoint may take, at the end of the process, too."""

_tracer: "Tracer | None" = None

Attribute = str | int | float | bool


def own(trace_id: str) -> bool:
    """Tell whether a trace is one that a Gnomon made of itself."""
    return trace_id.startswith(_MARK.hex())


def _telling(exporter: "SpanExporter") -> "SpanExporter":
    """Wrap an exporter so that it says once that nobody takes its spans, and when somebody does."""
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Telling(SpanExporter):
        failing = False

        def export(self, spans: "Sequence[ReadableSpan]") -> SpanExportResult:
            result = exporter.export(spans)
            failed = result is not SpanExportResult.SUCCESS
            if failed and not self.failing:
                log.warning("own_traces_lost", spans=len(spans))
            elif self.failing and not failed:
                log.info("own_traces_resumed")
            self.failing = failed
            return result

        def shutdown(self) -> None:
            exporter.shutdown()

        def force_flush(self, timeout_millis: int = 30_000) -> bool:
            return exporter.force_flush(timeout_millis)

    return Telling()


@contextmanager
def tracing(endpoint: str | None, version: str) -> Iterator[None]:
    """Send Gnomon's own spans to an OTLP/HTTP endpoint while the block runs; off without one."""
    global _tracer  # noqa: PLW0603 - one process, one tracer, as the SDK itself has it
    if endpoint is None:
        yield
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Marked(RandomIdGenerator):
        """Makes trace ids that `own` knows again."""

        def generate_trace_id(self) -> int:
            return int.from_bytes(_MARK + os.urandom(16 - len(_MARK)), "big")

    provider = TracerProvider(
        resource=Resource.create({"service.name": "gnomon", "service.version": version}),
        id_generator=Marked(),
    )
    exporter = OTLPSpanExporter(endpoint=endpoint, timeout=_SECONDS_TO_SEND)
    provider.add_span_processor(BatchSpanProcessor(_telling(exporter)))
    _tracer = provider.get_tracer("gnomon", version)
    try:
        yield
    finally:
        _tracer = None
        provider.shutdown()


@contextmanager
def span(name: str, *, carries: Iterable[str] = (), **attributes: Attribute) -> Iterator[None]:
    """Trace a piece of work; `carries` are the traces it is about, of which none may be our own."""
    if _tracer is None or any(map(own, carries)):
        yield
        return
    with _traced(name, attributes):
        yield


@contextmanager
def step(name: str, **attributes: Attribute) -> Iterator[None]:
    """Trace a part of a piece of work that is traced; alone it is nothing."""
    if _tracer is None:
        yield
        return
    from opentelemetry.trace import get_current_span

    if not get_current_span().is_recording():
        yield
        return
    with _traced(name, attributes):
        yield


def say(name: str | None = None, **attributes: Attribute) -> None:
    """Add to the span that is open, if one is, what is known only now."""
    if _tracer is None:
        return
    from opentelemetry.trace import get_current_span

    opened = get_current_span()
    if name is not None:
        opened.update_name(name)
    opened.set_attributes(attributes)


@contextmanager
def _traced(name: str, attributes: dict[str, Attribute]) -> Iterator[None]:
    """Open a span; an error is told by its code, never by its text, which may hold people's words."""
    from opentelemetry.trace import Status, StatusCode

    assert _tracer is not None
    with _tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as opened:
        try:
            yield
        except BaseException as error:
            code = error.code if isinstance(error, GnomonError) else type(error).__name__
            opened.set_status(Status(StatusCode.ERROR))
            opened.set_attribute("error.type", code)
            raise
