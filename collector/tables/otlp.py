"""Rows of the Collector's tables back to the OTLP they were, so that one road leads to the store."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

Attributes = Mapping[str, str] | str
"""A `Map` as it is read, or the text of a `JSON`."""

_KINDS = {name.removeprefix("SPAN_KIND_").lower(): n for name, n in Span.SpanKind.items()}
_STATUS = {name.removeprefix("STATUS_CODE_").lower(): n for name, n in Status.StatusCode.items()}
_SERVICE = "service.name"


class SpanRow(NamedTuple):
    """One row of `otel_traces`, in the order of `collector.tables.shape`; times in ns."""

    trace_id: str
    span_id: str
    parent_span_id: str
    trace_state: str
    name: str
    kind: str
    start: int
    duration: int
    status_code: str
    status_message: str
    service: str
    resource: Attributes
    scope_name: str
    scope_version: str
    attributes: Attributes
    event_times: Sequence[int]
    event_names: Sequence[str]
    event_attributes: Sequence[Attributes]
    link_traces: Sequence[str]
    link_spans: Sequence[str]
    link_states: Sequence[str]
    link_attributes: Sequence[Attributes]


class LogRow(NamedTuple):
    """One row of `otel_logs`, in the order of `collector.tables.shape`; times in ns."""

    trace_id: str
    span_id: str
    time: int
    flags: int
    severity_text: str
    severity: int
    service: str
    body: str
    resource: Attributes
    scope_name: str
    scope_version: str
    attributes: Attributes
    event_name: str


R = TypeVar("R", SpanRow, LogRow)


def trace_request(rows: Iterable[SpanRow]) -> bytes:
    """Return rows as one ExportTraceServiceRequest; equal rows in equal order give equal bytes."""
    request = ExportTraceServiceRequest()
    for row, scope in _scoped(rows, request.resource_spans, "scope_spans"):
        scope.spans.append(_span(row))
    return request.SerializeToString(deterministic=True)


def log_request(rows: Iterable[LogRow]) -> bytes:
    """Return rows as one ExportLogsServiceRequest; equal rows in equal order give equal bytes."""
    request = ExportLogsServiceRequest()
    for row, scope in _scoped(rows, request.resource_logs, "scope_logs"):
        scope.log_records.append(_record(row))
    return request.SerializeToString(deterministic=True)


def well_named(row: SpanRow) -> bool:
    """Tell whether a span's ids are such that it can be stored and found again."""
    return len(_id(row.trace_id)) == 16 and len(_id(row.span_id)) == 8


def flat(attributes: Attributes) -> dict[str, str]:
    """Return attributes by their dotted names, values as the text a `Map` would hold.

    A `JSON` column makes paths of dotted keys, so `gen_ai.prompt` may stand beside
    `gen_ai.prompt.name`: its text then names `prompt` twice, which is why pairs are read.
    """
    if not isinstance(attributes, str):
        return dict(attributes)
    found: dict[str, str] = {}
    _flatten(json.loads(attributes or "{}", object_pairs_hook=_Pairs), "", found)
    return found


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that a name may stand twice."""


def _flatten(pairs: _Pairs, prefix: str, found: dict[str, str]) -> None:
    for name, value in pairs:
        key = f"{prefix}{name.replace('%2E', '.')}"
        if isinstance(value, _Pairs):
            _flatten(value, f"{key}.", found)
        elif value is not None:
            found[key] = value if isinstance(value, str) else _text(value)


def _text(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, _Pairs):
        return {name: _plain(item) for name, item in value}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _scoped(rows: Iterable[R], blocks: Any, field: str) -> Iterator[tuple[R, Any]]:
    """Yield each row with the scope it belongs into, made when its first row comes."""
    scopes: dict[tuple[str, ...], Any] = {}
    for row in rows:
        around = (row.service, repr(row.resource), row.scope_name, row.scope_version)
        if around not in scopes:
            scope = InstrumentationScope(name=row.scope_name, version=row.scope_version)
            block = blocks.add(resource=_resource(row))
            scopes[around] = getattr(block, field).add(scope=scope)
        yield row, scopes[around]


def _resource(row: SpanRow | LogRow) -> Resource:
    attributes = flat(row.resource)
    if row.service:
        attributes.setdefault(_SERVICE, row.service)
    return Resource(attributes=_key_values(attributes))


def _key_values(attributes: Mapping[str, str]) -> list[KeyValue]:
    return [
        KeyValue(key=key, value=AnyValue(string_value=value)) for key, value in attributes.items()
    ]


def _id(text: str) -> bytes:
    """Return the bytes of a hex id; of other text none, which the inspection refuses."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _span(row: SpanRow) -> Span:
    span = Span(
        trace_id=_id(row.trace_id),
        span_id=_id(row.span_id),
        parent_span_id=_id(row.parent_span_id),
        trace_state=row.trace_state,
        name=row.name,
        kind=_KINDS.get(_word(row.kind), 0),  # type: ignore[arg-type]
        start_time_unix_nano=max(row.start, 0),
        end_time_unix_nano=max(row.start, 0) + row.duration,
        attributes=_key_values(flat(row.attributes)),
        status=Status(code=_STATUS.get(_word(row.status_code), 0), message=row.status_message),  # type: ignore[arg-type]
    )
    for time, name, attributes in zip(
        row.event_times, row.event_names, row.event_attributes, strict=True
    ):
        span.events.add(
            time_unix_nano=max(time, 0), name=name, attributes=_key_values(flat(attributes))
        )
    for trace, linked, state, attributes in zip(
        row.link_traces, row.link_spans, row.link_states, row.link_attributes, strict=True
    ):
        span.links.add(
            trace_id=_id(trace),
            span_id=_id(linked),
            trace_state=state,
            attributes=_key_values(flat(attributes)),
        )
    return span


def _record(row: LogRow) -> LogRecord:
    return LogRecord(
        time_unix_nano=max(row.time, 0),
        trace_id=_id(row.trace_id),
        span_id=_id(row.span_id),
        flags=row.flags,
        severity_text=row.severity_text,
        severity_number=row.severity,  # type: ignore[arg-type]
        body=AnyValue(string_value=row.body),
        attributes=_key_values(flat(row.attributes)),
        event_name=row.event_name,
    )


def _word(text: str) -> str:
    """Return `client` of `Client` and of `SPAN_KIND_CLIENT`."""
    return text.lower().removeprefix("span_kind_").removeprefix("status_code_")
