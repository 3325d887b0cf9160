"""Tables as an OpenTelemetry Collector makes them, and the road from them to spans, for tests."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from collector import wire
from collector.folding.fold import fold_traces
from collector.queue.spool import Spool
from collector.receiving.inspection import Inspector
from collector.receiving.intake import Intake, count_nothing
from collector.spans import LogRecord, Span
from collector.tables.source import TableSource, tables_of
from collector.watched import Watched
from gnomon.clock import Nanos, from_nanos
from gnomon.config import Settings, SourceSettings
from gnomon.model import Step
from gnomon.store import Store
from tests import samples
from tests.spools import ALWAYS
from tests.stores import emptied
from tests.traffic import request_of, write

SECOND = 1_000_000_000
MAPS = "Map(LowCardinality(String), String)"
GENERATIONS = ["map", "map with items", "json"]


def traces_table(generation: str, duration: str = "UInt64") -> str:
    attributes = "JSON" if generation == "json" else MAPS
    items = (
        ", SpanAttributeItems Array(String) ALIAS"
        " arrayMap((k, v) -> concat(k, '=', v), mapKeys(SpanAttributes), mapValues(SpanAttributes))"
        if generation == "map with items"
        else ""
    )
    keys = ", SpanAttributesKeys Array(LowCardinality(String))" if generation == "json" else ""
    return f"""CREATE TABLE theirs (
        Timestamp DateTime64(9) CODEC(Delta, ZSTD(1)), TraceId String, SpanId String,
        ParentSpanId String, TraceState String, SpanName LowCardinality(String),
        SpanKind LowCardinality(String), ServiceName LowCardinality(String),
        ResourceAttributes {attributes}, ScopeName String, ScopeVersion String,
        SpanAttributes {attributes}, Duration {duration}, StatusCode LowCardinality(String),
        StatusMessage String,
        Events Nested (Timestamp DateTime64(9), Name LowCardinality(String),
            Attributes {attributes}),
        Links Nested (TraceId String, SpanId String, TraceState String, Attributes {attributes})
        {items}{keys}
    ) ENGINE = MergeTree ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))"""


def logs_table(generation: str) -> str:
    attributes = "JSON" if generation == "json" else MAPS
    name = "" if generation == "map" else ", EventName String"
    return f"""CREATE TABLE their_logs (
        Timestamp DateTime64(9), TraceId String, SpanId String, TraceFlags UInt8,
        SeverityText LowCardinality(String), SeverityNumber UInt8,
        ServiceName LowCardinality(String), Body String, ResourceSchemaUrl String,
        ResourceAttributes {attributes}, ScopeSchemaUrl String, ScopeName String,
        ScopeVersion String, ScopeAttributes {attributes}, LogAttributes {attributes}{name}
    ) ENGINE = MergeTree ORDER BY (ServiceName, Timestamp)"""


class House:
    """A store with somebody's tables, and the road from them to spans, on a clock that stands."""

    def __init__(
        self,
        store: Store,
        spool: Spool,
        generation: str = "map",
        *,
        duration: str = "UInt64",
        **settings: Any,
    ) -> None:
        self.store = emptied(store)
        self.spool = spool
        self.generation = generation
        self.now = Nanos(1_900_000_000 * SECOND)
        made = {"theirs": traces_table(generation, duration), "their_logs": logs_table(generation)}
        for table, statement in made.items():
            store.command(f"DROP TABLE IF EXISTS {table}", tag="tests.drop")
            store.command(statement, tag="tests.create")
        given = {"lookback": timedelta(days=4_000), **settings}
        self.settings = SourceSettings(traces="theirs", logs="their_logs", **given)
        self.source = self.restarted()

    def restarted(self) -> TableSource:
        clock = lambda: from_nanos(self.now)  # noqa: E731
        intake = Intake(self.spool, Settings(), clock, count_nothing)
        tables = tables_of(self.store, self.settings)
        return TableSource(tables, intake, self.spool.books, self.settings, clock=clock)

    def insert(self, table: str, *rows: Mapping[str, object]) -> None:
        self.store.insert_raw(
            f"INSERT INTO {table} ({', '.join(rows[0])}) FORMAT JSONEachRow",
            "\n".join(json.dumps(row) for row in rows).encode(),
            tag="tests.insert",
        )

    def values(self, pairs: Any) -> dict[str, Any]:
        """Return attributes as the exporter writes them: as text, or in a JSON column as they are."""
        return {pair.key: self.value(pair.value) for pair in pairs}

    def value(self, value: AnyValue) -> Any:
        typed = self.generation == "json" and value.WhichOneof("value") != "kvlist_value"
        return samples.plain(value) if typed else samples.text(value)

    def send_sample(self, name: str) -> None:
        for block in samples.trace_request(name).resource_spans:
            for scoped in block.scope_spans:
                self.insert("theirs", *[self.span(block, scoped, span) for span in scoped.spans])
        for block in getattr(samples.logs_request(name), "resource_logs", ()):
            for scoped in block.scope_logs:
                rows = [self.record(block, scoped, record) for record in scoped.log_records]
                self.insert("their_logs", *rows)

    def span(self, block: Any, scoped: Any, span: Any) -> dict[str, object]:
        resource = self.values(block.resource.attributes)
        return {
            "Timestamp": moment(span.start_time_unix_nano),
            "TraceId": span.trace_id.hex(),
            "SpanId": span.span_id.hex(),
            "ParentSpanId": span.parent_span_id.hex(),
            "TraceState": span.trace_state,
            "SpanName": span.name,
            "SpanKind": samples.KINDS[span.kind],
            "ServiceName": resource.get("service.name", ""),
            "ResourceAttributes": resource,
            "ScopeName": scoped.scope.name,
            "ScopeVersion": scoped.scope.version,
            "SpanAttributes": self.values(span.attributes),
            "Duration": span.end_time_unix_nano - span.start_time_unix_nano,
            "StatusCode": samples.CODES[span.status.code],
            "StatusMessage": span.status.message,
            "Events.Timestamp": [moment(event.time_unix_nano) for event in span.events],
            "Events.Name": [event.name for event in span.events],
            "Events.Attributes": [self.values(event.attributes) for event in span.events],
            "Links.TraceId": [link.trace_id.hex() for link in span.links],
            "Links.SpanId": [link.span_id.hex() for link in span.links],
            "Links.TraceState": [link.trace_state for link in span.links],
            "Links.Attributes": [self.values(link.attributes) for link in span.links],
        }

    def record(self, block: Any, scoped: Any, record: Any) -> dict[str, object]:
        resource = self.values(block.resource.attributes)
        name = {"EventName": record.event_name} if self.generation != "map" else {}
        attributes = self.values(record.attributes)
        if not name and record.event_name:
            attributes.setdefault("event.name", record.event_name)
        return {
            "Timestamp": moment(record.time_unix_nano or record.observed_time_unix_nano),
            "TraceId": record.trace_id.hex(),
            "SpanId": record.span_id.hex(),
            "ServiceName": resource.get("service.name", ""),
            "SeverityNumber": record.severity_number,
            "Body": samples.text(record.body),
            "ResourceAttributes": resource,
            "ScopeName": scoped.scope.name,
            "ScopeVersion": scoped.scope.version,
            "LogAttributes": attributes,
            **name,
        }

    def timed(self, number: int, start: int, end: int) -> None:
        """Insert a span as the exporter does: Go's times and differences of times are signed."""
        began, ended = _signed(start), _signed(end)
        lasted = min(max(ended - began, -(2**63)), 2**63 - 1)
        self.store.command(
            "INSERT INTO theirs (Timestamp, TraceId, SpanId, SpanName, ServiceName, Duration)"
            f" SELECT fromUnixTimestamp64Nano(toInt64('{began}')), '{number:032x}',"
            f" '{number:016x}', 'span {number}', 'desk', toInt64('{lasted}')",
            tag="tests.insert",
        )

    def look(self) -> int:
        self.now = Nanos(self.now + 3_600 * SECOND)
        queued = self.source.look()
        write(self.spool, self.store)
        return queued

    def rejected(self, source: str = "traces/table/theirs") -> dict[str, int]:
        """Return what was rejected of one source, by reason."""
        found: Counter[str] = Counter()
        for row in self.spool.books.ledger(*ALWAYS):
            if row.source == source:
                found.update(row.rejected)
        return dict(found)

    def ledger(self, source: str = "traces/table/theirs") -> tuple[int, int, int]:
        """Return received, stored and rejected of one source."""
        rows = [row for row in self.spool.books.ledger(*ALWAYS) if row.source == source]
        return (
            sum(row.received for row in rows),
            sum(row.stored for row in rows),
            sum(sum(row.rejected.values()) for row in rows),
        )

    def names(self) -> list[str]:
        found = self.store.read("SELECT name FROM spans FINAL ORDER BY name", tag="tests.names")
        return [row["name"] for row in found]


def _signed(time: int) -> int:
    return time - 2**64 if time >= 2**63 else time


def moment(nanos: int) -> str:
    seconds, rest = divmod(nanos, SECOND)
    return f"{seconds}.{rest:09d}"


def one_span(number: int, *, second: int = 1_800_000_000, **fields: object) -> dict[str, object]:
    """Return a row as the exporter writes it; `fields` replace its columns."""
    return {
        "Timestamp": moment(second * SECOND),
        "TraceId": f"{number:032x}",
        "SpanId": f"{number:016x}",
        "SpanName": f"span {number}",
        "SpanKind": "Internal",
        "ServiceName": "desk",
        "Duration": 1_000,
        **fields,
    }


def folded(spans: Sequence[Span], logs: Sequence[LogRecord]) -> list[Step]:
    received = {span.trace_id: Nanos(1) for span in spans}
    found = fold_traces(
        spans, logs, watched=Watched(), previous={}, received=received, now=Nanos(2**61)
    )
    return sorted(found.steps, key=lambda step: (step.trace_id, step.span_id))


def by_otlp(store: Store, now: int, *spans: WireSpan) -> None:
    """Store spans as receiver and writer do."""
    body = request_of(*spans).SerializeToString()
    kept = Inspector(max_value=1024**2).inspect("traces", body, Nanos(now)).payload
    for block in wire.bodies("traces", [kept], 16 * 1024**2):
        store.insert_raw(
            wire.statement("traces"), block, tag="tests.put", settings=wire.settings("traces")
        )
