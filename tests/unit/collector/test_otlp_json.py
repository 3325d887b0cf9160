"""OTLP/JSON, read by hand."""

import json
import math
import re
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.receiving.inspection import Inspected, Inspector
from collector.receiving.otlp_json import JsonReader
from collector.receiving.refusals import Refused
from gnomon.clock import Nanos
from tests import otlp, samples

READER = JsonReader()
INSPECTOR = Inspector(max_value=1024**2)
SPAN = {
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
    "startTimeUnixNano": "1796078724000000001",
    "endTimeUnixNano": "1796078724000000002",
}


def around(*spans: Any) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def read(content: Any, signal: Any = "traces") -> bytes:
    body = content if isinstance(content, bytes) else orjson.dumps(content)
    return READER.read(signal, body).body


def inspect(content: Any) -> Inspected:
    body = content if isinstance(content, bytes) else orjson.dumps(content)
    found = READER.read("traces", body)
    return INSPECTOR.inspect("traces", found.body, Nanos(otlp.NOW), from_json=found)


def one(**fields: Any) -> Span:
    (found,) = otlp.spans_in(inspect(around(SPAN | fields)).payload)
    return found


def one_value(given: Any) -> Any:
    return otlp.attribute(one(attributes=[{"key": "key", "value": given}]), "key")


def test_a_sender_cannot_set_our_flags() -> None:
    sent = {"key": "gnomon.ingest.flags", "value": {"stringValue": "truncated"}}
    bad = {"key": "k", "value": {"stringValue": "cut\ud83d"}}
    found = one(attributes=[sent])
    assert otlp.flags(found) == set()
    assert otlp.attribute(found, "gnomon.ingest.flags.sent").string_value == "truncated"
    body = json.dumps(around(SPAN | {"attributes": [sent, bad]})).encode()
    (both,) = otlp.spans_in(inspect(body).payload)
    assert otlp.flags(both) == {"repaired_utf8"}


def test_a_byte_order_mark_is_passed_over() -> None:
    body = b"\xef\xbb\xbf" + orjson.dumps(around(SPAN))
    assert len(otlp.spans_in(inspect(body).payload)) == 1


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
@pytest.mark.parametrize("name", samples.names())
def test_json_and_protobuf_of_a_real_request_are_the_same(name: str) -> None:
    for suffix, real, signal in (
        ("", ExportTraceServiceRequest, "traces"),
        (".logs", ExportLogsServiceRequest, "logs"),
    ):
        path = samples.OTLP / f"{name}{suffix}.json"
        if path.exists():
            sent = path.with_suffix(".binpb").read_bytes()
            as_json = inspected(signal, read(path.read_bytes(), signal))
            assert real.FromString(as_json) == real.FromString(inspected(signal, sent))


def inspected(signal: Any, body: bytes) -> bytes:
    return INSPECTOR.inspect(signal, body, Nanos(otlp.NOW * 2)).payload


@pytest.mark.parametrize("case", [str.lower, str.upper])
def test_ids_are_hex_in_any_case(case: Any) -> None:
    link = {"traceId": case(SPAN["traceId"]), "spanId": case("00f067aa0ba902b7")}
    found = one(traceId=case(SPAN["traceId"]), parentSpanId=case("aaa19b7ec3c1b174"), links=[link])
    assert found.trace_id.hex() == found.links[0].trace_id.hex() == SPAN["traceId"]
    assert found.parent_span_id.hex() == "aaa19b7ec3c1b174"
    assert found.links[0].span_id.hex() == "00f067aa0ba902b7"


@pytest.mark.parametrize(
    ("field", "text", "reason"),
    [
        ("traceId", "W47/95gDgQPSabYzgT/GDA==", "invalid_trace_id"),
        ("traceId", "not hex at all", "invalid_trace_id"),
        ("traceId", "0123456", "invalid_trace_id"),
        ("traceId", "", "invalid_trace_id"),
        ("traceId", None, "invalid_trace_id"),
        ("traceId", "0" * 32, "invalid_trace_id"),
        ("traceId", "zzzzzzzzzzzzzzzz", "invalid_trace_id"),
        ("spanId", "7uGbfsPBsXQ=", "invalid_span_id"),
        ("spanId", "zzzzzzzz", "invalid_span_id"),
        ("spanId", "0" * 16, "invalid_span_id"),
        ("spanId", "aa aa aa aa aa aa aa aa", "invalid_span_id"),
        ("traceId", f" {'ab' * 16}", "invalid_trace_id"),
    ],
)
def test_a_bad_id_loses_one_span_and_the_sender_reads_why(
    field: str, text: str | None, reason: str
) -> None:
    found = inspect(around(SPAN | {field: text}, SPAN))
    assert (found.received, found.rejected) == (2, {reason: 1})
    assert "hex expected, not base64" in found.message
    if text and not text.startswith("0"):
        assert repr(text) in found.message


@pytest.mark.parametrize("parent", ["", None])
def test_an_empty_parent_is_none(parent: str | None) -> None:
    found = one(parentSpanId=parent)
    assert (found.parent_span_id, otlp.flags(found)) == (b"", set())


def test_a_base64_parent_makes_an_orphan() -> None:
    found = one(parentSpanId="7uGbfsPBsXQ=")
    assert (found.parent_span_id, otlp.flags(found)) == (b"", {"orphan"})


@pytest.mark.parametrize("text", ["1796078724123456789", 1796078724123456789])
def test_times_lose_no_digit(text: Any) -> None:
    found = one(startTimeUnixNano=text, endTimeUnixNano=text)
    assert found.start_time_unix_nano == found.end_time_unix_nano == 1796078724123456789


@pytest.mark.parametrize(
    ("given", "field", "expected"),
    [
        ({"stringValue": ""}, "string_value", ""),
        ({"intValue": "25"}, "int_value", 25),
        ({"intValue": 25}, "int_value", 25),
        ({"intValue": "-9223372036854775808"}, "int_value", -(2**63)),
        ({"intValue": 9007199254740993}, "int_value", 9007199254740993),
        ({"intValue": 0}, "int_value", 0),
        ({"boolValue": False}, "bool_value", False),
        ({"boolValue": "true"}, "bool_value", True),
        ({"doubleValue": 0.0}, "double_value", 0.0),
        ({"doubleValue": 3}, "double_value", 3.0),
        ({"doubleValue": "Infinity"}, "double_value", math.inf),
        ({"doubleValue": "-Infinity"}, "double_value", -math.inf),
        ({"bytesValue": "aGVsbG8="}, "string_value", "aGVsbG8="),
        ({"bytesValue": "_-8"}, "string_value", "/+8="),
        ({"string_value": "snake"}, "string_value", "snake"),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"intValue": "1"}}]}}, "string_value", '{"a":1}'),
        ({"kvlistValue": {}}, "string_value", "{}"),
        ({"arrayValue": {"values": [{"kvlistValue": {}}, {}]}}, "string_value", "[{},null]"),
        ({"arrayValue": {"values": [{"bytesValue": "eA=="}]}}, "string_value", '["eA=="]'),
    ],
)  # fmt: skip
def test_values_are_read_as_their_type_says(given: Any, field: str, expected: Any) -> None:
    found = one_value(given)
    assert found.WhichOneof("value") == field
    assert getattr(found, field) == expected


def test_not_a_number_is_a_number() -> None:
    assert math.isnan(one_value({"doubleValue": "NaN"}).double_value)


@pytest.mark.parametrize("given", [None, {}, {"stringValue": None}])
def test_an_empty_value_is_unset(given: Any) -> None:
    assert one_value(given).WhichOneof("value") is None


def test_an_empty_list_is_an_empty_list() -> None:
    assert one_value({"arrayValue": {}}).WhichOneof("value") == "array_value"


@pytest.mark.parametrize(
    ("given", "kind"), [("SPAN_KIND_CLIENT", 3), (3, 3), ("3", 3), (77, 77), (0, 0), ("NEWS", 0), (None, 0)]
)  # fmt: skip
def test_enums_come_as_number_or_name(given: Any, kind: int) -> None:
    assert one(kind=given).kind == kind


def test_fields_may_be_written_in_snake_case() -> None:
    snake = {
        "trace_id": SPAN["traceId"],
        "span_id": SPAN["spanId"],
        "start_time_unix_nano": SPAN["startTimeUnixNano"],
        "end_time_unix_nano": SPAN["endTimeUnixNano"],
        "dropped_attributes_count": 3,
    }
    body = {"resource_spans": [{"scope_spans": [{"spans": [snake]}]}]}
    (found,) = otlp.spans_in(inspect(body).payload)
    assert (found.trace_id.hex(), found.dropped_attributes_count) == (SPAN["traceId"], 3)


def test_null_and_missing_and_unknown_fields_are_as_if_unset() -> None:
    found = one(name=None, attributes=None, events=None, status=None, flags=257, news={"a": 1})
    assert (found.name, found.flags) == ("", 257)
    assert read({"resourceSpans": None}) == read({}) == b""


def test_old_library_spans_are_counted_and_not_read() -> None:
    block = {"instrumentationLibrarySpans": [{"spans": [SPAN, SPAN]}], "scopeSpans": [{"spans": [SPAN]}]}  # fmt: skip
    found = inspect({"resourceSpans": [block]})
    assert (found.received, found.rejected) == (3, {"legacy_library_spans": 2})


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (around(SPAN, SPAN | {"name": 5}), "resourceSpans[0].scopeSpans[0].spans[1].name"),
        (around(SPAN | {"startTimeUnixNano": "soon"}), "resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano"),
        (around(SPAN | {"startTimeUnixNano": -1}), "resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano"),
        (around(SPAN | {"traceId": 5}), "resourceSpans[0].scopeSpans[0].spans[0].traceId"),
        (around(SPAN | {"attributes": {}}), "resourceSpans[0].scopeSpans[0].spans[0].attributes"),
        (around("span"), "resourceSpans[0].scopeSpans[0].spans[0]"),
        ({"resourceSpans": 1}, "resourceSpans"),
        (around(SPAN | {"attributes": [{"key": "a"}, {"key": "b", "value": {"intValue": "x"}}]}),
         "resourceSpans[0].scopeSpans[0].spans[0].attributes[1].value.intValue"),
        (around(SPAN | {"attributes": [{"key": "a", "value": {"intValue": 2**63}}]}),
         "resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.intValue"),
        (around(SPAN | {"attributes": [{"key": "a", "value": {"arrayValue": {"values": [{"boolValue": 1}]}}}]}),
         "resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.arrayValue.values[0].boolValue"),
        (around(SPAN | {"attributes": [{"key": "a", "value": {"kvlistValue": {"values": [{"key": "b", "value": {"bytesValue": "*"}}]}}}]}),
         "resourceSpans[0].scopeSpans[0].spans[0].attributes[0].value.kvlistValue.values[0].value.bytesValue"),
    ],
)  # fmt: skip
def test_a_wrong_type_is_refused_with_its_path(body: Any, path: str) -> None:
    with pytest.raises(Refused) as refused:
        read(body)
    assert (refused.value.reason, refused.value.field) == ("undecodable", path)
    assert path in refused.value.detail


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b'{"resourceSpans": [', "line 1 column 20"),
        (b"[]", "an object expected, found a list"),
        (b"null", "an object expected, found null"),
        (b"\x0a\x05hello", "no JSON"),
        (b'{"resourceSpans": ' + b"1" * 5_000 + b"}", "a number of too many digits"),
    ],
)
def test_what_is_no_request_is_refused(body: bytes, words: str) -> None:
    with pytest.raises(Refused) as refused:
        read(body)
    assert refused.value.reason == "undecodable"
    assert words in refused.value.detail


def test_half_a_character_is_repaired_in_that_span_only() -> None:
    body = orjson.dumps(around(SPAN | {"name": "cut@"}, SPAN | {"name": "whole"}))
    first, second = otlp.spans_in(inspect(body.replace(b"cut@", rb"cut\ud83d")).payload)
    assert (first.name, otlp.flags(first)) == ("cut\ufffd", {"repaired_utf8"})
    assert (second.name, otlp.flags(second)) == ("whole", set())


def test_bytes_that_are_no_utf8_are_repaired() -> None:
    body = orjson.dumps(around(SPAN | {"attributes": [{"key": "k@", "value": {"stringValue": "é@"}}]}))  # fmt: skip
    (found,) = otlp.spans_in(inspect(body.replace(b"@", b"\xff")).payload)
    assert otlp.attribute(found, "k\ufffd").string_value == "é\ufffd"
    assert otlp.flags(found) == {"repaired_utf8"}


@pytest.mark.parametrize("levels", [32, 33, 200])
def test_deep_values_are_kept_to_32_levels(levels: int) -> None:
    deep: Any = {"stringValue": "deep"}
    for _ in range(levels):
        deep = {"arrayValue": {"values": [deep]}}
    body = json.dumps(around(SPAN | {"attributes": [{"key": "key", "value": deep}]})).encode()
    (found,) = otlp.spans_in(inspect(body).payload)
    text = otlp.attribute(found, "key").string_value
    assert text.count("[") == 32
    assert ("deep" in text, otlp.flags(found)) == ((True, set()) if levels == 32 else (False, {"truncated"}))  # fmt: skip


@pytest.mark.parametrize("levels", [340, 5_000])
@pytest.mark.parametrize("kind", ["list", "map"])
def test_a_value_nested_beyond_any_reader_loses_its_inside_and_nothing_else(
    kind: str, levels: int
) -> None:
    opens, closes = {
        "list": ('{"arrayValue":{"values":[', "]}}"),
        "map": ('{"kvlistValue":{"values":[{"key":"[\\"{","value":', "}]}}"),
    }[kind]
    deep = opens * levels + '{"stringValue": "deep"}' + closes * levels
    beside = {"key": "beside", "value": {"stringValue": "}]"}}
    given = SPAN | {"attributes": [{"key": "key", "value": "DEEP"}, beside]}
    body = json.dumps(around(given)).replace('"DEEP"', deep).encode()
    (found,) = otlp.spans_in(inspect(body).payload)
    text = otlp.attribute(found, "key").string_value
    assert len(re.findall("null", text)) == 1
    assert text.count("[" if kind == "list" else ":") == 32
    assert otlp.attribute(found, "beside").string_value == "}]"
    assert otlp.flags(found) == {"truncated"}


def test_json_nested_beyond_any_reader_is_refused() -> None:
    with pytest.raises(Refused) as refused:
        read(b'{"resourceSpans":' + b"[" * 200_000)
    assert refused.value.reason == "undecodable"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(), inside),
    max_leaves=8,
)


def received_or_refused(body: bytes) -> int | str:
    try:
        return inspect(body).received
    except Refused as refused:
        return refused.reason


keys = st.sampled_from(["stringValue", "intValue", "doubleValue", "boolValue", "bytesValue", "arrayValue", "kvlistValue", "x"])  # fmt: skip


@given(
    st.dictionaries(
        st.sampled_from([*SPAN, "name", "attributes", "events", "status", "kind", "links"]), values
    )
)
@settings(max_examples=200)
def test_any_json_is_read_or_refused(spoilt: dict[str, Any]) -> None:
    body = json.dumps(around(SPAN | spoilt)).encode()
    assert received_or_refused(body) in (1, "undecodable")


@given(
    st.dictionaries(
        keys,
        st.recursive(
            values, lambda i: st.fixed_dictionaries({"values": st.lists(i)}), max_leaves=5
        ),
    )
)
@settings(max_examples=200)
def test_any_value_is_read_or_refused(given: dict[str, Any]) -> None:
    body = json.dumps(around(SPAN | {"attributes": [{"key": "a", "value": given}]})).encode()
    assert received_or_refused(body) in (1, "undecodable")
