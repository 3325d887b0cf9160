"""Rows of the Collector's tables back to the OTLP they were, so that one road leads to the store.

Requests are built as the loose twin (collector.receiving.twins), whose text is bytes: what the
inspection would mend of a sender, it finds and flags here as well.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeVar

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from collector.receiving import twins
from collector.receiving.refusals import id_bytes

Attributes = Mapping[str, str] | str
"""A `Map` as it is read, or the text of a `JSON`."""

_KINDS = {name.removeprefix("SPAN_KIND_").lower(): n for name, n in Span.SpanKind.items()}
_STATUS = {name.removeprefix("STATUS_CODE_").lower(): n for name, n in Status.StatusCode.items()}
_SERVICE = "service.name"
_twins = cache(twins.loose)


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
    request = _twins().traces()
    for row, scope in _scoped(rows, request.resource_spans, "scope_spans"):
        _span(row, scope.spans.add())
    return request.SerializeToString(deterministic=True)


def log_request(rows: Iterable[LogRow]) -> bytes:
    """Return rows as one ExportLogsServiceRequest; equal rows in equal order give equal bytes."""
    request = _twins().logs()
    for row, scope in _scoped(rows, request.resource_logs, "scope_logs"):
        _record(row, scope.log_records.add())
    return request.SerializeToString(deterministic=True)


def stands_alone(row: SpanRow | LogRow) -> bool:
    """Tell whether the inspection refuses a row: its request must then be the same at each look."""
    trace, span = id_bytes(row.trace_id), id_bytes(row.span_id)
    if isinstance(row, LogRow):
        return len(trace) not in (0, 16) or len(span) not in (0, 8)
    named = len(trace) == 16 and any(trace) and len(span) == 8 and any(span)
    return not named or not (row.start or row.duration)


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
            block = blocks.add()
            _fill(block.resource.attributes, _resource(row))
            scoped = getattr(block, field).add()
            scoped.scope.name = _bytes(row.scope_name)
            scoped.scope.version = _bytes(row.scope_version)
            scopes[around] = scoped
        yield row, scopes[around]


def _resource(row: SpanRow | LogRow) -> Mapping[str, str]:
    attributes = flat(row.resource)
    if row.service:
        attributes.setdefault(_SERVICE, row.service)
    return attributes


def _fill(pairs: Any, attributes: Mapping[str, str]) -> None:
    for key, value in attributes.items():
        pair = pairs.add()
        pair.key = _bytes(key)
        pair.value.string_value = _bytes(value)


def _bytes(text: str) -> bytes:
    """Return a text as it lies in the table: what is no UTF-8 there is mended by the inspection."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, written out in the text of a JSON
        return text.encode("utf-8", "surrogatepass")


def _nanos(time: int) -> int:
    """Return the OTLP time of a `DateTime64` or of a sum: the exporter takes both as signed."""
    return time % 2**64


def _span(row: SpanRow, span: Any) -> None:
    span.trace_id = id_bytes(row.trace_id)
    span.span_id = id_bytes(row.span_id)
    span.parent_span_id = id_bytes(row.parent_span_id)
    span.trace_state = _bytes(row.trace_state)
    span.name = _bytes(row.name)
    span.kind = _KINDS.get(_word(row.kind), 0)
    span.start_time_unix_nano = _nanos(row.start)
    span.end_time_unix_nano = _nanos(row.start + row.duration)
    span.status.code = _STATUS.get(_word(row.status_code), 0)
    span.status.message = _bytes(row.status_message)
    _fill(span.attributes, flat(row.attributes))
    for time, name, attributes in zip(
        row.event_times, row.event_names, row.event_attributes, strict=True
    ):
        event = span.events.add(time_unix_nano=_nanos(time), name=_bytes(name))
        _fill(event.attributes, flat(attributes))
    for trace, linked, state, attributes in zip(
        row.link_traces, row.link_spans, row.link_states, row.link_attributes, strict=True
    ):
        link = span.links.add(
            trace_id=id_bytes(trace), span_id=id_bytes(linked), trace_state=_bytes(state)
        )
        _fill(link.attributes, flat(attributes))


def _record(row: LogRow, record: Any) -> None:
    record.time_unix_nano = _nanos(row.time)
    record.trace_id = id_bytes(row.trace_id)
    record.span_id = id_bytes(row.span_id)
    record.flags = row.flags
    record.severity_text = _bytes(row.severity_text)
    record.severity_number = row.severity
    record.body.string_value = _bytes(row.body)
    record.event_name = _bytes(row.event_name)
    _fill(record.attributes, flat(row.attributes))


def _word(text: str) -> str:
    """Return `client` of `Client` and of `SPAN_KIND_CLIENT`."""
    return text.lower().removeprefix("span_kind_").removeprefix("status_code_")
