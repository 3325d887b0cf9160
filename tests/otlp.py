"""Requests made by hand: valid unless a test spoils them."""

from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

TRACE_ID = bytes.fromhex("5b8efff798038103d269b633813fc60c")
START = 1_796_078_724_000_000_000
NOW = START + 3_600_000_000_000
"""An hour after the spans, in nanoseconds since 1970."""


def span(number: int = 1, **fields: Any) -> Span:
    given = {
        "trace_id": TRACE_ID,
        "span_id": number.to_bytes(8, "big"),
        "name": f"step {number}",
        "kind": 3,
        "start_time_unix_nano": START + number,
        "end_time_unix_nano": START + number + 1000,
    }
    return Span(**(given | fields))


def record(number: int = 1, **fields: Any) -> LogRecord:
    given = {
        "trace_id": TRACE_ID,
        "span_id": number.to_bytes(8, "big"),
        "time_unix_nano": START + number,
        "body": AnyValue(string_value=f"line {number}"),
    }
    return LogRecord(**(given | fields))


def traces(*spans: Span, **resource: Any) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    block = request.resource_spans.add()
    block.resource.attributes.extend(pairs(**(resource or {"service": "shop"})))
    scoped = block.scope_spans.add()
    scoped.scope.name = "made by hand"
    scoped.spans.extend(spans)
    return request


def logs(*records: LogRecord) -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    block = request.resource_logs.add()
    block.resource.attributes.extend(pairs(service="shop"))
    block.scope_logs.add().log_records.extend(records)
    return request


def pairs(**values: Any) -> list[KeyValue]:
    return [KeyValue(key=key, value=value(given)) for key, given in values.items()]


def value(given: Any) -> AnyValue:
    """Return a Python value as OTLP carries it."""
    match given:
        case AnyValue():
            return given
        case None:
            return AnyValue()
        case bool():
            return AnyValue(bool_value=given)
        case int():
            return AnyValue(int_value=given)
        case float():
            return AnyValue(double_value=given)
        case bytes():
            return AnyValue(bytes_value=given)
        case list():
            return AnyValue(array_value=ArrayValue(values=[value(item) for item in given]))
        case dict():
            return AnyValue(kvlist_value=KeyValueList(values=pairs(**given)))
        case _:
            return AnyValue(string_value=given)


def spans_in(payload: bytes) -> list[Span]:
    request = ExportTraceServiceRequest.FromString(payload)
    return [s for b in request.resource_spans for scoped in b.scope_spans for s in scoped.spans]


def records_in(payload: bytes) -> list[LogRecord]:
    request = ExportLogsServiceRequest.FromString(payload)
    return [r for b in request.resource_logs for scoped in b.scope_logs for r in scoped.log_records]


def attribute(item: Any, key: str) -> AnyValue:
    (found,) = [pair.value for pair in item.attributes if pair.key == key]
    return found


def flags(item: Any) -> set[str]:
    found = [p.value.string_value for p in item.attributes if p.key == "gnomon.ingest.flags"]
    return set(found[0].split(",")) if found else set()


def field(number: int, content: bytes) -> bytes:
    """Return one length-delimited field as it lies on the wire."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def nested_wire(levels: int, kind: int = 6) -> bytes:
    """Return the bytes of an AnyValue with maps (6) or lists (5) in one another."""
    found = field(1, b"deep")
    for _ in range(levels):
        inside = field(1, field(1, b"k") + field(2, found)) if kind == 6 else field(1, found)
        found = field(kind, inside)
    return found


def with_raw_value(request: ExportTraceServiceRequest, raw: bytes) -> bytes:
    """Return the request with one more span, whose attribute `raw` has these bytes as value."""
    extra = span(99).SerializeToString() + field(9, field(1, b"raw") + field(2, raw))
    block = field(2, field(2, extra))
    return request.SerializeToString() + field(1, block)
