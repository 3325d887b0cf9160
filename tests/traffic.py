"""Requests for tests, put into a spool and stored by the real writer; and the tables read back."""

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from collector.queue.port import Request, Signal
from collector.queue.spool import Spool
from collector.writer import Writer
from gnomon.clock import to_nanos, utc_now
from gnomon.config import QueueSettings
from gnomon.store import Store
from tests import samples

SPANS = """
SELECT trace_id, span_id, parent_span_id, trace_state, name, kind,
    toUnixTimestamp64Nano(start) AS start, toUnixTimestamp64Nano(end) AS end,
    status_code, status_message, resource, attributes, scope_name, scope_version, scope_attributes,
    arrayMap(t -> toUnixTimestamp64Nano(t), `events.time`) AS events_time,
    `events.name` AS events_name, `events.attributes` AS events_attributes,
    `links.trace_id` AS links_trace_id, `links.span_id` AS links_span_id,
    `links.trace_state` AS links_trace_state, `links.attributes` AS links_attributes,
    dropped_attributes, dropped_events, dropped_links, toString(version) AS version
FROM spans FINAL ORDER BY trace_id, span_id
"""


LOG_FIELDS = [
    "trace_id",
    "span_id",
    "time",
    "observed",
    "event_name",
    "severity",
    "body",
    "resource",
    "attributes",
    "scope_name",
]


LOGS = """
SELECT trace_id, span_id, toUnixTimestamp64Nano(time) AS time,
    toUnixTimestamp64Nano(observed) AS observed, event_name, severity, body, resource, attributes,
    scope_name FROM logs FINAL ORDER BY trace_id, span_id, time, digest
"""


def put(spool: Spool, payload: bytes, items: int, signal: Signal = "traces", **more: Any) -> None:
    spool.put(
        Request(
            signal=signal,
            source=f"{signal}/http/loopback",
            payload=payload,
            digest=hashlib.sha256(signal.encode() + payload).digest(),
            received=items,
            received_at=to_nanos(utc_now()),
            **more,
        )
    ).result(10)


def write(spool: Spool, store: Any, **settings: Any) -> Writer:
    """Store everything that waits: a writer that is told to stop drains the queue."""
    given = {"flush_after": 0, **settings}
    writer = Writer(spool, store, QueueSettings(**given), clock=utc_now)
    writer.start()
    writer.stop(60)
    return writer


def sent(spool: Spool, store: Any, *requests: ExportTraceServiceRequest, **settings: Any) -> None:
    for request in requests:
        put(spool, request.SerializeToString(), count(request))
    write(spool, store, **settings)


def until(true: Callable[[], bool]) -> None:
    """Wait for another thread; fail after a minute."""
    for _ in range(3000):
        if true():
            return
        time.sleep(0.02)
    pytest.fail("it did not happen within a minute")


def count(request: ExportTraceServiceRequest) -> int:
    return sum(len(s.spans) for block in request.resource_spans for s in block.scope_spans)


def plain_nested(pairs: Any) -> None:
    """Do what the receiver does: nested values and empty lists become JSON text."""
    for pair in pairs:
        if holds_more_than_scalars(pair.value):
            pair.value.string_value = samples.text(pair.value)


def holds_more_than_scalars(value: AnyValue) -> bool:
    match value.WhichOneof("value"):
        case "kvlist_value":
            return True
        case "array_value":
            inner = [item.WhichOneof("value") for item in value.array_value.values]
            return not inner or "kvlist_value" in inner or "array_value" in inner
        case _:
            return False


def received(request: ExportTraceServiceRequest) -> ExportTraceServiceRequest:
    for block in request.resource_spans:
        plain_nested(block.resource.attributes)
        for scoped in block.scope_spans:
            for span in scoped.spans:
                plain_nested(span.attributes)
                for part in (*span.events, *span.links):
                    plain_nested(part.attributes)
    return request


def received_logs(request: ExportLogsServiceRequest) -> ExportLogsServiceRequest:
    for block in request.resource_logs:
        plain_nested(block.resource.attributes)
        for scoped in block.scope_logs:
            for record in scoped.log_records:
                plain_nested(record.attributes)
                if holds_more_than_scalars(record.body):
                    record.body.string_value = samples.text(record.body)
    return request


def span(number: int = 1, **fields: Any) -> WireSpan:
    given = {"name": "s", "start_time_unix_nano": 10, "end_time_unix_nano": 20, **fields}
    return WireSpan(trace_id=b"\x01" * 16, span_id=bytes([number]) * 8, **given)


def request_of(*spans: WireSpan) -> ExportTraceServiceRequest:
    made = ExportTraceServiceRequest()
    made.resource_spans.add().scope_spans.add().spans.extend(spans)
    return made


def pair(key: str, **value: Any) -> KeyValue:
    return KeyValue(key=key, value=AnyValue(**value))


def unlike(request: ExportTraceServiceRequest, number: int) -> bytes:
    """Return the same spans as another request, as a client that sends them again would."""
    return request.SerializeToString() + bytes([15 << 3, 1]) * number


def rows(store: Store, sql: str = SPANS) -> list[dict[str, Any]]:
    return store.read(sql, tag="tests.read")


@contextmanager
def open_spool(folder: Path) -> Iterator[Spool]:
    folder.mkdir(exist_ok=True)
    spool = Spool(folder, QueueSettings(), clock=utc_now)
    spool.start()
    try:
        yield spool
    finally:
        spool.stop(5)
