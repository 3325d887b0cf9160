"""A look into a dead letter: which spans or log records lie in it, as far as it can be read."""

from collections.abc import Iterator
from itertools import islice

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.resource.v1.resource_pb2 import Resource

from collector.outgoing import Item, Summary
from collector.queue.port import Signal

_ITEMS = 50
_HEAD = 256


def summary(signal: Signal, payload: bytes) -> Summary:
    """Return the first items of a payload and its first bytes; never raises."""
    read = _spans if signal == "traces" else _records
    try:
        items, error = list(islice(read(payload), _ITEMS)), None
    except DecodeError as caught:
        items, error = [], f"not OTLP protobuf: {caught}"
    return Summary(error=error, items=items, head=payload[:_HEAD].hex())


def _spans(payload: bytes) -> Iterator[Item]:
    for block in ExportTraceServiceRequest.FromString(payload).resource_spans:
        service = _service(block.resource)
        for scoped in block.scope_spans:
            for span in scoped.spans:
                yield Item(
                    trace_id=span.trace_id.hex(),
                    span_id=span.span_id.hex(),
                    name=span.name,
                    service=service,
                )


def _records(payload: bytes) -> Iterator[Item]:
    for block in ExportLogsServiceRequest.FromString(payload).resource_logs:
        service = _service(block.resource)
        for scoped in block.scope_logs:
            for record in scoped.log_records:
                yield Item(
                    trace_id=record.trace_id.hex(),
                    span_id=record.span_id.hex(),
                    name=record.event_name,
                    service=service,
                )


def _service(resource: Resource) -> str:
    found = (pair.value.string_value for pair in resource.attributes if pair.key == "service.name")
    return next(found, "")
