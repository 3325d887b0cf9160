"""Tables of the Collector's ClickHouse exporter, of three generations, read as a way in."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from collector.folding.fold import fold_traces
from collector.queue.spool import Spool
from collector.receiving.intake import Intake, count_nothing
from collector.spans import LogRecord, Span
from collector.store import Reader
from collector.tables import source
from collector.tables.source import TableSource, tables_of
from collector.watched import Watched
from gnomon.clock import Nanos, from_nanos
from gnomon.config import Settings, SourceSettings
from gnomon.errors import ConfigError
from gnomon.model import Step
from gnomon.store import Store
from tests import samples
from tests.spools import ALWAYS
from tests.stores import BOTH, emptied, migrated_store
from tests.traffic import open_spool, until, write

SECOND = 1_000_000_000
MAPS = "Map(LowCardinality(String), String)"
GENERATIONS = ["map", "map with items", "json"]
needs_samples = pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)


def traces_table(generation: str) -> str:
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
        SpanAttributes {attributes}, Duration UInt64, StatusCode LowCardinality(String),
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


@pytest.fixture(scope="module", params=BOTH)
def opened(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    with migrated_store(request.param, tmp_path_factory.mktemp("data")) as store:
        yield store


class House:
    """A store with somebody's tables, and the road from them to spans, on a clock that stands."""

    def __init__(
        self, store: Store, spool: Spool, generation: str = "map", **settings: Any
    ) -> None:
        self.store = emptied(store)
        self.spool = spool
        self.generation = generation
        self.now = Nanos(1_900_000_000 * SECOND)
        for table, made in (("theirs", traces_table), ("their_logs", logs_table)):
            store.command(f"DROP TABLE IF EXISTS {table}", tag="tests.drop")
            store.command(made(generation), tag="tests.create")
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

    def look(self) -> int:
        self.now = Nanos(self.now + 3_600 * SECOND)
        queued = self.source.look()
        write(self.spool, self.store)
        return queued

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


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    with open_spool(tmp_path) as spool:
        yield spool


@needs_samples
@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_table_gives_the_steps_that_the_receiver_gives(opened, spool, generation):
    house = House(opened, spool, generation)
    sent, told = [], []
    for name in samples.names()[:: 4 if opened.embedded else 15]:
        house.send_sample(name)
        sent += samples.spans(name)
        told += [log for log in samples.logs(name) if log.event_name]
    house.look()
    reader = Reader(opened)
    traces = {span.trace_id for span in sent}
    theirs = folded(reader.spans(traces), reader.logs(traces))
    ours = folded(sent, told)
    assert [step for step in theirs if step not in ours] == []
    assert len(theirs) == len(ours)


def folded(spans: Sequence[Span], logs: Sequence[LogRecord]) -> list[Step]:
    received = {span.trace_id: Nanos(1) for span in spans}
    found = fold_traces(
        spans, logs, watched=Watched(), previous={}, received=received, now=Nanos(2**61)
    )
    return sorted(found.steps, key=lambda step: (step.trace_id, step.span_id))


def test_a_window_that_did_not_change_is_not_read_again(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(1), one_span(2))
    assert [house.look(), house.look()] == [1, 0]
    assert house.ledger() == (2, 2, 0)


def test_a_row_that_comes_late_into_its_window_is_received_alone(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(2))
    house.look()
    house.insert("theirs", one_span(1))
    house.look()
    assert house.names() == ["span 1", "span 2"]
    assert house.ledger() == (2, 2, 0)


def test_after_a_start_nothing_is_received_a_second_time(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(1), one_span(2, TraceId="xyz"))
    house.look()
    house.source = house.restarted()
    house.look()
    assert house.ledger() == (2, 1, 1)


def test_a_span_that_comes_again_with_a_later_end_replaces_the_first(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(1))
    house.look()
    house.insert("theirs", one_span(1, SpanName="finished", Duration=9_000))
    house.look()
    assert house.names() == ["finished"]


def test_while_a_request_waits_for_the_store_its_rows_are_not_read_again(opened, spool):
    house = House(opened, spool)
    house.insert("theirs", one_span(1))
    assert house.source.look() == 1
    house.insert("theirs", one_span(2))
    assert house.source.look() == 0
    write(spool, opened)
    house.look()
    assert house.ledger() == (2, 2, 0)


def test_a_window_of_many_pages_is_read_whole(opened, spool, monkeypatch):
    monkeypatch.setattr(source, "ROWS", 7)
    house = House(opened, spool)
    house.insert("theirs", *[one_span(number) for number in range(1, 51)])
    assert house.look() == 8
    assert house.ledger() == (50, 50, 0)


def test_rows_too_large_for_one_request_go_in_several(opened, spool, monkeypatch):
    monkeypatch.setattr(source, "LARGEST", 5_000)
    house = House(opened, spool)
    house.insert(
        "theirs",
        *[one_span(number, SpanAttributes={"text": "x" * 1_000}) for number in range(1, 21)],
    )
    assert house.look() > 4
    assert house.ledger() == (20, 20, 0)


def test_only_named_services_are_read(opened, spool):
    house = House(opened, spool, services=("desk", "shop"))
    house.insert("theirs", one_span(1), one_span(2, ServiceName="proxy"))
    house.look()
    assert house.names() == ["span 1"]


def test_dotted_names_of_a_json_column_stay_apart_from_longer_ones(opened, spool):
    house = House(opened, spool, "json")
    attributes = {
        "gen_ai.prompt": "hello",
        "gen_ai.prompt.name": "greeting",
        "gen_ai.usage.input_tokens": 0,
        "success": False,
        "list": ["a", {"b": 1}],
    }
    house.insert("theirs", one_span(1, SpanAttributes=attributes))
    house.look()
    (span,) = Reader(opened).spans([f"{1:032x}"])
    assert span.attributes == {
        "gen_ai.prompt": "hello",
        "gen_ai.prompt.name": "greeting",
        "gen_ai.usage.input_tokens": "0",
        "success": "false",
        "list": '["a",{"b":1}]',
    }
    assert span.resource == {"service.name": "desk"}


def test_a_missing_table_is_named_with_its_setting(opened, spool):
    house = House(opened, spool)
    opened.command("DROP TABLE theirs", tag="tests.drop")
    with pytest.raises(ConfigError, match="GNOMON_SOURCE__TRACES=theirs: there is no such table"):
        house.restarted().start()


def test_a_table_of_another_kind_is_refused_by_what_it_lacks(opened, spool):
    house = House(opened, spool)
    opened.command("ALTER TABLE theirs DROP COLUMN Duration", tag="tests.alter")
    with pytest.raises(ConfigError, match="the table lacks Duration"):
        house.restarted().start()


def test_a_table_that_went_away_is_told_and_waited_for(opened, spool):
    house = House(opened, spool, every=timedelta(0))
    running = house.restarted()
    running.start()
    try:
        opened.command("RENAME TABLE theirs TO elsewhere", tag="tests.rename")
        until(lambda: "the tables are not read" in (running.problem() or ""))
        opened.command("RENAME TABLE elsewhere TO theirs", tag="tests.rename")
        until(lambda: running.problem() is None)
    finally:
        running.stop(20)
