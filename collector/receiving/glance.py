"""The fast look at a request of the strict twin: is there anything that needs attention?

This is where the time of the receiver goes: about a dozen field reads a span and nothing else.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

from collector.receiving.mend import MAX_ATTRIBUTES, MAX_EVENTS, MAX_TIME

NO_TRACE_ID = bytes(16)
NO_SPAN_ID = bytes(8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an item may have without a closer look."""

    size: int | None
    """Bytes; None when the whole request is smaller."""
    horizon: int
    """The latest believable time, in nanoseconds since 1970."""


def spans(request: ExportTraceServiceRequest, limits: Limits) -> tuple[int, Iterable[bytes]] | None:
    """Count the spans and name their traces; None when something needs attention."""
    received = 0
    traces: dict[bytes, None] = {}
    for block in request.resource_spans:
        if not _is_fine_block(block, limits):
            return None
        for scoped in block.scope_spans:
            if not _is_fine_carrier(scoped.scope, limits):
                return None
            for span in scoped.spans:
                trace_id = span.trace_id
                if not _is_fine_span(span, trace_id, limits):
                    return None
                traces[trace_id] = None
            received += len(scoped.spans)
    return received, traces


def records(
    request: ExportLogsServiceRequest, limits: Limits
) -> tuple[int, Iterable[bytes]] | None:
    """Count the log records and name their traces; None when something needs attention."""
    received = 0
    traces: dict[bytes, None] = {}
    for block in request.resource_logs:
        if not _is_fine_block(block, limits):
            return None
        for scoped in block.scope_logs:
            if not _is_fine_carrier(scoped.scope, limits):
                return None
            for record in scoped.log_records:
                trace_id = record.trace_id
                if not _is_fine_record(record, trace_id, limits):
                    return None
                if trace_id:
                    traces[trace_id] = None
            received += len(scoped.log_records)
    return received, traces


def _is_fine_block(block: ResourceSpans | ResourceLogs, limits: Limits) -> bool:
    """Say whether a resource is fine and nothing stands in the fields of old OTLP."""
    return not block.legacy and _is_fine_carrier(block.resource, limits)  # type: ignore[union-attr] # the twins have it


def _is_fine_carrier(carrier: Resource | InstrumentationScope, limits: Limits) -> bool:
    if len(carrier.attributes) > MAX_ATTRIBUTES:
        return False
    return limits.size is None or carrier.ByteSize() <= limits.size


def _is_fine_span(span: Span, trace_id: bytes, limits: Limits) -> bool:
    span_id = span.span_id
    parent = span.parent_span_id
    if len(trace_id) != 16 or len(span_id) != 8 or (parent and len(parent) != 8):
        return False
    if trace_id == NO_TRACE_ID or span_id == NO_SPAN_ID or parent == NO_SPAN_ID:
        return False
    horizon = limits.horizon
    if not 0 < span.start_time_unix_nano <= horizon or span.end_time_unix_nano > horizon:
        return False
    if limits.size is not None and span.ByteSize() > limits.size:
        return False
    if len(span.attributes) > MAX_ATTRIBUTES:
        return False
    return not span.events or _are_fine_events(span)


def _are_fine_events(span: Span) -> bool:
    if len(span.events) > MAX_EVENTS:
        return False
    return all(
        event.time_unix_nano <= MAX_TIME and len(event.attributes) <= MAX_ATTRIBUTES
        for event in span.events
    )


def _is_fine_record(record: LogRecord, trace_id: bytes, limits: Limits) -> bool:
    span_id = record.span_id
    if (trace_id and len(trace_id) != 16) or (span_id and len(span_id) != 8):
        return False
    if trace_id == NO_TRACE_ID or span_id == NO_SPAN_ID:
        return False
    time, observed = record.time_unix_nano, record.observed_time_unix_nano
    if not 0 < max(time, observed) <= MAX_TIME:
        return False
    if limits.size is not None and record.ByteSize() > limits.size:
        return False
    return len(record.attributes) <= MAX_ATTRIBUTES
