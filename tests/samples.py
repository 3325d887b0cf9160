"""The recorded requests beside the project, read as the store would hand them back."""

import base64
import json
import math
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from collector.spans import Event, Link, LogRecord, Span
from gnomon.clock import Nanos

SHARED = Path(os.environ.get("TEST_SHARED", Path(__file__).parents[2] / "shared"))
OTLP = SHARED / "otlp"
WHY_SKIPPED = f"no recorded requests at {OTLP} (set TEST_SHARED)"

KINDS = ("Unspecified", "Internal", "Server", "Client", "Producer", "Consumer")
CODES = ("Unset", "Ok", "Error")


def names() -> list[str]:
    """Return the names of all samples; empty where the folder is absent."""
    return sorted(path.name.removesuffix(".expected.json") for path in OTLP.glob("*.expected.json"))


def expected(name: str) -> dict[str, Any]:
    return json.loads((OTLP / f"{name}.expected.json").read_text())


def trace_request(name: str) -> ExportTraceServiceRequest:
    return ExportTraceServiceRequest.FromString((OTLP / f"{name}.binpb").read_bytes())


def logs_request(name: str) -> ExportLogsServiceRequest | None:
    path = OTLP / f"{name}.logs.binpb"
    return ExportLogsServiceRequest.FromString(path.read_bytes()) if path.exists() else None


def spans(name: str) -> list[Span]:
    return spans_of(trace_request(name))


def logs(name: str) -> list[LogRecord]:
    request = logs_request(name)
    return [] if request is None else logs_of(request)


def spans_of(request: ExportTraceServiceRequest) -> list[Span]:
    found = []
    for block in request.resource_spans:
        resource = attributes(block.resource.attributes)
        for scoped in block.scope_spans:
            for span in scoped.spans:
                found.append(
                    Span(
                        trace_id=span.trace_id.hex(),
                        span_id=span.span_id.hex(),
                        parent_span_id=span.parent_span_id.hex(),
                        trace_state=span.trace_state,
                        name=span.name,
                        kind=KINDS[span.kind] if span.kind < len(KINDS) else "Unspecified",
                        start=Nanos(span.start_time_unix_nano),
                        end=Nanos(span.end_time_unix_nano),
                        status_code=CODES[span.status.code],
                        status_message=span.status.message,
                        resource=resource,
                        attributes=attributes(span.attributes),
                        scope_name=scoped.scope.name,
                        scope_version=scoped.scope.version,
                        events=[
                            Event(
                                time=Nanos(e.time_unix_nano),
                                name=e.name,
                                attributes=attributes(e.attributes),
                            )
                            for e in span.events
                        ],
                        links=[
                            Link(
                                trace_id=link.trace_id.hex(),
                                span_id=link.span_id.hex(),
                                attributes=attributes(link.attributes),
                            )
                            for link in span.links
                        ],
                        dropped_attributes=span.dropped_attributes_count,
                        dropped_events=span.dropped_events_count,
                        dropped_links=span.dropped_links_count,
                    )
                )
    return found


def logs_of(request: ExportLogsServiceRequest) -> list[LogRecord]:
    found = []
    for block in request.resource_logs:
        resource = attributes(block.resource.attributes)
        for scoped in block.scope_logs:
            for record in scoped.log_records:
                values = attributes(record.attributes)
                found.append(
                    LogRecord(
                        trace_id=record.trace_id.hex(),
                        span_id=record.span_id.hex(),
                        time=Nanos(record.time_unix_nano),
                        observed=Nanos(record.observed_time_unix_nano),
                        event_name=record.event_name or values.get("event.name", ""),
                        severity=record.severity_number,
                        body=text(record.body),
                        resource=resource,
                        attributes=values,
                        scope_name=scoped.scope.name,
                    )
                )
    return found


def attributes(pairs: Any) -> dict[str, str]:
    return {pair.key: text(pair.value) for pair in pairs}


def text(value: AnyValue) -> str:
    """Return a value as the text ClickHouse keeps."""
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value
        case "bool_value":
            return "true" if value.bool_value else "false"
        case "int_value":
            return str(value.int_value)
        case "double_value":
            return double(value.double_value)
        case "bytes_value":
            return base64.b64encode(value.bytes_value).decode()
        case None:
            return ""
        case _:
            return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))


def double(value: float) -> str:
    """Return a number as ClickHouse writes it: the shortest digits, no exponent from 1e-6 to 1e21."""
    if not math.isfinite(value):
        return str(value)
    digits = Decimal(repr(value))
    if value == 0 or 1e-6 <= abs(value) < 1e21:
        text = f"{digits:f}"
        return text.removesuffix(".0")
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"


def plain(value: AnyValue) -> Any:
    match value.WhichOneof("value"):
        case "array_value":
            return [plain(item) for item in value.array_value.values]
        case "kvlist_value":
            return {pair.key: plain(pair.value) for pair in value.kvlist_value.values}
        case "bytes_value":
            return base64.b64encode(value.bytes_value).decode()
        case None:
            return None
        case name:
            return getattr(value, name)
