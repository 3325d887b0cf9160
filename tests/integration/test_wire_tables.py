"""What ClickHouse reads from the wire: every value as it was sent, one row for each span."""

import json
import random
from collections.abc import Mapping
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as WireSpan

from tests import samples
from tests.traffic import (
    LOG_FIELDS,
    LOGS,
    open_spool,
    pair,
    put,
    received,
    received_logs,
    request_of,
    rows,
    sent,
    span,
    unlike,
    write,
)


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
def test_recorded_spans_are_read_back_attribute_by_attribute(store, spool):
    sent(spool, store, *(received(samples.trace_request(name)) for name in samples.names()))
    found = {(row["trace_id"], row["span_id"]): row for row in rows(store)}
    expected = [wanted for name in samples.names() for wanted in samples.spans(name)]
    assert set(found) == {(wanted.trace_id, wanted.span_id) for wanted in expected}
    for wanted in expected:
        row = found[wanted.trace_id, wanted.span_id]
        same(row["attributes"], wanted.attributes)
        same(row["resource"], wanted.resource)
        for field in [
            "parent_span_id",
            "trace_state",
            "name",
            "kind",
            "start",
            "end",
            "status_code",
            "status_message",
            "scope_name",
            "scope_version",
            "dropped_attributes",
            "dropped_events",
            "dropped_links",
        ]:
            assert row[field] == getattr(wanted, field), field
        assert row["events_time"] == [event.time for event in wanted.events]
        assert row["events_name"] == [event.name for event in wanted.events]
        for kept, event in zip(row["events_attributes"], wanted.events, strict=True):
            same(kept, event.attributes)
        assert row["links_trace_id"] == [link.trace_id for link in wanted.links]
        assert row["links_span_id"] == [link.span_id for link in wanted.links]
        assert row["links_attributes"] == [link.attributes for link in wanted.links]


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
def test_recorded_log_records_are_read_back_attribute_by_attribute(store, spool):
    expected: list[dict[str, Any]] = []
    for name in samples.names():
        if (logs := samples.logs_request(name)) is not None:
            records = samples.logs(name)
            expected += [{f: getattr(record, f) for f in LOG_FIELDS} for record in records]
            put(spool, received_logs(logs).SerializeToString(), len(records), "logs")
    write(spool, store)
    texts = {json.dumps(record, sort_keys=True) for record in expected}
    assert {json.dumps(row, sort_keys=True) for row in rows(store, LOGS)} == texts
    assert len(rows(store, LOGS)) == len(texts)


def same(kept: Mapping[str, str], expected: Mapping[str, str]) -> None:
    assert list(kept) == list(expected)
    for key, text in expected.items():
        assert kept[key] == text, key


VALUES = [
    ("int 0", {"int_value": 0}, "0"),
    ("double 0", {"double_value": 0.0}, "0"),
    ("false", {"bool_value": False}, "false"),
    ("true", {"bool_value": True}, "true"),
    ("empty text", {"string_value": ""}, ""),
    ("absent", {}, ""),
    ("smallest int", {"int_value": -(2**63)}, "-9223372036854775808"),
    ("half", {"double_value": 0.5}, "0.5"),
    ("third", {"double_value": 1 / 3}, "0.3333333333333333"),
    ("whole", {"double_value": 3.0}, "3"),
    ("large", {"double_value": 1e20}, "100000000000000000000"),
    ("huge", {"double_value": 1e300}, "1e300"),
    ("tiny", {"double_value": 1e-7}, "1e-7"),
    ("nan", {"double_value": float("nan")}, "nan"),
    ("infinite", {"double_value": float("-inf")}, "-inf"),
    ("bytes", {"bytes_value": b"\x00\xff"}, "AP8="),
    ("no bytes", {"bytes_value": b""}, ""),
    ("nul and quotes", {"string_value": 'a\0"\\é😀'}, 'a\0"\\é😀'),
]


@pytest.mark.parametrize(("value", "text"), [v[1:] for v in VALUES], ids=[v[0] for v in VALUES])
def test_a_value_is_kept_as_this_text_everywhere(value, text, store, spool):
    made = request_of(span(attributes=[pair("k", **value)]))
    made.resource_spans[0].resource.attributes.append(pair("k", **value))
    made.resource_spans[0].scope_spans[0].scope.attributes.append(pair("k", **value))
    whole = made.resource_spans[0].scope_spans[0].spans[0]
    whole.events.add(attributes=[pair("k", **value)])
    whole.links.add(attributes=[pair("k", **value)])
    sent(spool, store, made)
    (row,) = rows(store)
    for column in ("attributes", "resource", "scope_attributes"):
        assert row[column] == {"k": text}, column
    for column in ("events_attributes", "links_attributes"):
        assert row[column] == [{"k": text}], column


def test_an_array_of_scalars_is_json_text(store, spool):
    items = [
        {"string_value": 'a"/é'},
        {"string_value": ""},
        {"int_value": 0},
        {"double_value": 0.5},
        {"double_value": float("nan")},
        {"bool_value": False},
        {"bytes_value": b"ab"},
        {},
    ]
    array = {"array_value": {"values": items}}
    sent(spool, store, request_of(span(attributes=[pair("k", **array)])))
    (row,) = rows(store)
    assert row["attributes"]["k"] == '["a\\"/é","",0,0.5,"nan",false,"YWI=",null]'
    assert json.loads(row["attributes"]["k"])[0] == 'a"/é'


def test_unknown_enum_numbers_and_times_past_the_range_are_kept_readable(store, spool):
    odd = span(kind=77, start_time_unix_nano=2**64 - 1, end_time_unix_nano=0)
    odd.status.code = 9
    sent(spool, store, request_of(odd))
    (row,) = rows(store)
    assert (row["kind"], row["status_code"]) == ("Unspecified", "Unset")
    assert (row["start"], row["end"]) == (2**63 - 1, 0)


def test_a_log_record_has_the_event_name_of_the_record_or_of_the_attribute(store, spool):
    logs = ExportLogsServiceRequest()
    block = logs.resource_logs.add(schema_url="r").scope_logs.add(schema_url="s")
    block.log_records.add(event_name="field", attributes=[pair("event.name", string_value="no")])
    block.log_records.add(attributes=[pair("event.name", string_value="attribute")])
    block.log_records.add(observed_time_unix_nano=7, flags=257)
    put(spool, logs.SerializeToString(), 3, "logs")
    write(spool, store)
    assert sorted(row["event_name"] for row in rows(store, LOGS)) == ["", "attribute", "field"]
    (row,) = rows(store, "SELECT * FROM otel_logs WHERE EventName = ''")
    assert (row["ResourceSchemaUrl"], row["ScopeSchemaUrl"], row["TraceFlags"]) == ("r", "s", 1)
    (nanos,) = rows(
        store, "SELECT toUnixTimestamp64Nano(Timestamp) AS t FROM otel_logs WHERE EventName = ''"
    )
    assert nanos["t"] == 7, "a record without a time is shown at the time it was observed"


def versions() -> list[WireSpan]:
    short = span(end_time_unix_nano=20, attributes=[pair(c, int_value=1) for c in "abc"])
    longer = span(end_time_unix_nano=30, name="longer")
    more = span(end_time_unix_nano=30, name="more", attributes=[pair("a", int_value=1)])
    other = span(end_time_unix_nano=30, name="other", attributes=[pair("a", int_value=2)])
    return [short, longer, more, other]


def test_of_two_versions_the_later_end_wins_then_the_one_with_more_attributes(store, spool):
    short, longer, more, _ = versions()
    number = 0
    for pair_of_versions, winner in (
        ((short, longer), "longer"),
        ((longer, short), "longer"),
        ((longer, more), "more"),
        ((more, longer), "more"),
    ):
        store.command("TRUNCATE TABLE spans", tag="tests.truncate")
        for version in pair_of_versions:
            number += 1
            put(spool, unlike(request_of(version), number), 1)
            write(spool, store)
        assert [row["name"] for row in rows(store)] == [winner]


def test_order_repetition_and_batches_change_no_row(store, tmp_path):
    """Promise 3, for the raw tables."""
    chosen = samples.names()[:12]
    if not chosen:
        pytest.skip(samples.WHY_SKIPPED)
    parts = [
        request_of(s)
        for name in chosen
        for block in received(samples.trace_request(name)).resource_spans
        for scoped in block.scope_spans
        for s in scoped.spans
    ] + [request_of(version) for version in versions()]
    dice = random.Random(7)
    outcomes = []
    for turn in range(3):
        store.command("TRUNCATE TABLE spans", tag="tests.truncate")
        repeated = parts * (turn + 1)
        dice.shuffle(repeated)
        with open_spool(tmp_path / str(turn)) as spool:
            for number, part in enumerate(repeated):
                put(spool, unlike(part, number + 1), 1)
            write(spool, store, batch_bytes=[1 << 20, 20_000, 5_000][turn])
        outcomes.append(rows(store))
    assert len(outcomes[0]) > 30
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_the_views_have_the_columns_and_types_of_the_collectors_exporter(store):
    traces = {row["name"]: row["type"] for row in rows(store, "DESCRIBE TABLE otel_traces")}
    low, maps = "LowCardinality(String)", "Map(LowCardinality(String), String)"
    assert traces == {
        "Timestamp": "DateTime64(9)",
        "TraceId": "String",
        "SpanId": "String",
        "ParentSpanId": "String",
        "TraceState": "String",
        "SpanName": low,
        "SpanKind": low,
        "ServiceName": low,
        "ResourceAttributes": maps,
        "ScopeName": "String",
        "ScopeVersion": "String",
        "SpanAttributes": maps,
        "Duration": "UInt64",
        "StatusCode": low,
        "StatusMessage": "String",
        "Events.Timestamp": "Array(DateTime64(9))",
        "Events.Name": f"Array({low})",
        "Events.Attributes": f"Array({maps})",
        "Links.TraceId": "Array(String)",
        "Links.SpanId": "Array(String)",
        "Links.TraceState": "Array(String)",
        "Links.Attributes": f"Array({maps})",
    }
    logs = {row["name"]: row["type"] for row in rows(store, "DESCRIBE TABLE otel_logs")}
    assert logs == {
        "Timestamp": "DateTime64(9)",
        "TraceId": "String",
        "SpanId": "String",
        "TraceFlags": "UInt8",
        "SeverityText": low,
        "SeverityNumber": "UInt8",
        "ServiceName": low,
        "Body": "String",
        "ResourceSchemaUrl": low,
        "ResourceAttributes": maps,
        "ScopeSchemaUrl": low,
        "ScopeName": "String",
        "ScopeVersion": low,
        "ScopeAttributes": maps,
        "LogAttributes": maps,
        "EventName": "String",
    }


def test_the_view_shows_one_row_for_a_span_with_its_duration_and_service(store, spool):
    made = request_of(span(start_time_unix_nano=100, end_time_unix_nano=350))
    made.resource_spans[0].resource.attributes.append(pair("service.name", string_value="desk"))
    backwards = span(2, start_time_unix_nano=350, end_time_unix_nano=100)
    sent(spool, store, made, request_of(backwards), request_of(span(1, end_time_unix_nano=90)))
    found = rows(store, "SELECT SpanId, Duration, ServiceName FROM otel_traces ORDER BY SpanId")
    assert found == [
        {"SpanId": "01" * 8, "Duration": 250, "ServiceName": "desk"},
        {"SpanId": "02" * 8, "Duration": 0, "ServiceName": ""},
    ]


def test_the_time_of_a_trace_is_found_where_grafana_asks_for_it(store, spool):
    second = 1_000_000_000
    sent(
        spool,
        store,
        request_of(span(1, start_time_unix_nano=5 * second, end_time_unix_nano=9 * second)),
        request_of(span(2, start_time_unix_nano=7 * second, end_time_unix_nano=8 * second)),
    )
    sql = (
        "SELECT toUnixTimestamp(min(Start)) AS start, toUnixTimestamp(max(End)) AS end"
        f" FROM otel_traces_trace_id_ts WHERE TraceId = '{'01' * 16}'"
    )
    assert rows(store, sql) == [{"start": 5, "end": 7}]
