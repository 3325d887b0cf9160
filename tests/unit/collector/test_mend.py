"""What is mended in a span, and what marks it."""

import json
from typing import Any

import pytest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from collector.receiving import nested
from collector.receiving.inspection import FUTURE, Inspected, Inspector
from gnomon.clock import Nanos
from tests import otlp

INSPECTOR = Inspector(max_value=1024)


def inspect(request: Any) -> Inspected:
    body = request if isinstance(request, bytes) else request.SerializeToString()
    return INSPECTOR.inspect("traces", body, Nanos(otlp.NOW))


def one_span(**fields: Any) -> Span:
    (found,) = otlp.spans_in(inspect(otlp.traces(otlp.span(**fields))).payload)
    return found


def one_value(given: Any) -> AnyValue:
    return otlp.attribute(one_span(attributes=otlp.pairs(key=given)), "key")


# Spans that are mended


def test_a_parent_id_of_the_wrong_length_makes_an_orphan_root() -> None:
    found = one_span(parent_span_id=b"abc")
    assert (found.parent_span_id, otlp.flags(found)) == (b"", {"orphan"})


def test_a_parent_id_of_zeros_is_no_parent() -> None:
    found = one_span(parent_span_id=bytes(8))
    assert (found.parent_span_id, otlp.flags(found)) == (b"", set())


def test_a_start_of_zero_takes_the_end() -> None:
    found = one_span(start_time_unix_nano=0, end_time_unix_nano=otlp.START)
    assert found.start_time_unix_nano == found.end_time_unix_nano == otlp.START
    assert otlp.flags(found) == {"bad_clock"}


def test_an_end_before_the_start_is_kept_as_it_came() -> None:
    found = one_span(end_time_unix_nano=otlp.START - 5)
    assert (found.start_time_unix_nano, found.end_time_unix_nano) == (
        otlp.START + 1,
        otlp.START - 5,
    )


def test_a_time_in_the_future_is_kept_and_marked() -> None:
    late = otlp.NOW + FUTURE + 1
    found = one_span(end_time_unix_nano=late)
    assert (found.end_time_unix_nano, otlp.flags(found)) == (late, {"bad_clock"})
    assert otlp.flags(one_span(end_time_unix_nano=late - 1)) == set()


def test_a_time_no_database_can_hold_becomes_the_last_one_it_can() -> None:
    event = Span.Event(name="late", time_unix_nano=2**64 - 1)
    found = one_span(start_time_unix_nano=2**63, end_time_unix_nano=2**64 - 1, events=[event])
    times = (found.start_time_unix_nano, found.end_time_unix_nano, found.events[0].time_unix_nano)
    assert times == (2**63 - 1,) * 3
    assert otlp.flags(found) == {"bad_clock"}


@pytest.mark.parametrize("kind", [0, 77])
def test_an_unknown_kind_is_kept(kind: int) -> None:
    assert one_span(kind=kind).kind == kind


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"a": 1, "b": "x"}, '{"a":1,"b":"x"}'),
        ({}, "{}"),
        ([[1], [2]], "[[1],[2]]"),
        ([{"id": "é"}], '[{"id":"é"}]'),
        (["a", b"\x00\x01"], '["a","AAE="]'),
        ({"a": {"b": [True, None, 0.5, b"x"]}}, '{"a":{"b":[true,null,0.5,"eA=="]}}'),
        (b"hello", "aGVsbG8="),
        (b"", ""),
        ({"n": 0, "f": False, "s": ""}, '{"n":0,"f":false,"s":""}'),
    ],
)
def test_nested_values_become_json_text_and_bytes_base64(given: Any, text: str) -> None:
    assert one_value(given) == AnyValue(string_value=text)


def test_an_empty_value_stays_empty() -> None:
    assert one_value(None) == AnyValue()


def test_nested_values_are_found_wherever_attributes_stand() -> None:
    nested = otlp.pairs(key={"a": 1})
    span = otlp.span(
        attributes=nested,
        events=[Span.Event(name="e", attributes=nested)],
        links=[Span.Link(trace_id=otlp.TRACE_ID, span_id=b"s" * 8, attributes=nested)],
    )
    request = otlp.traces(span, key={"a": 1})
    request.resource_spans[0].scope_spans[0].scope.attributes.extend(nested)
    body = inspect(request).payload
    assert body.count(b'{"a":1}') == 5


def test_of_two_attributes_with_one_key_the_last_wins() -> None:
    twice = [*otlp.pairs(a=1, b=2), *otlp.pairs(a=3), *otlp.pairs(c=4)]
    found = one_span(attributes=twice)
    assert [(p.key, p.value.int_value) for p in found.attributes] == [("b", 2), ("a", 3), ("c", 4)]


def test_a_value_over_the_limit_is_cut_at_a_character() -> None:
    found = one_span(attributes=otlp.pairs(long="a" + "é" * 1000, short="b"))
    kept = otlp.attribute(found, "long").string_value
    assert kept == "a" + "é" * 511
    assert len(kept.encode()) == 1023
    assert otlp.flags(found) == {"truncated"}


@pytest.mark.parametrize(
    "given", [{"a": "x" * 2000}, ["x" * 600, "y" * 600], b"x" * 2000, [["x" * 2000]]]
)
def test_a_value_that_is_too_long_as_text_is_cut_too(given: Any) -> None:
    found = one_span(attributes=otlp.pairs(key=given))
    assert len(otlp.attribute(found, "key").string_value) == 1024
    assert otlp.flags(found) == {"truncated"}


def test_long_names_and_messages_are_cut() -> None:
    found = one_span(name="n" * 5000, status={"message": "m" * 5000})
    assert (len(found.name), len(found.status.message)) == (1024, 1024)


def test_a_cut_in_a_resource_marks_every_span_of_it() -> None:
    request = otlp.traces(otlp.span(1), otlp.span(2), long="x" * 2000)
    request.MergeFrom(otlp.traces(otlp.span(3)))
    assert [otlp.flags(s) for s in otlp.spans_in(inspect(request).payload)] == [
        {"truncated"},
        {"truncated"},
        set(),
    ]


def test_more_than_1024_attributes_are_dropped_and_counted() -> None:
    many = [KeyValue(key=f"k{n}", value=otlp.value(n)) for n in range(1030)]
    found = one_span(attributes=many, dropped_attributes_count=4)
    assert [p.key for p in found.attributes][:1024] == [f"k{n}" for n in range(1024)]
    assert (len(found.attributes), found.dropped_attributes_count) == (1025, 10)
    assert otlp.flags(found) == {"truncated"}


def test_a_long_conversation_keeps_its_tokens_and_its_model() -> None:
    said = [
        KeyValue(key=f"llm.input_messages.{n}.message.{part}", value=otlp.value("hi"))
        for n in range(600)
        for part in ("role", "content")
    ]
    told = otlp.pairs(**{"llm.token_count.prompt": 9_000, "llm.model_name": "m"})
    found = one_span(attributes=[*said, *told])
    assert otlp.attribute(found, "llm.token_count.prompt").int_value == 9_000
    assert otlp.attribute(found, "llm.model_name").string_value == "m"
    assert (len(found.attributes), found.dropped_attributes_count) == (1023 + 2, 178)
    assert otlp.flags(found) == {"truncated"}


def test_more_than_10000_events_are_dropped_and_counted() -> None:
    found = one_span(events=[Span.Event(name="e")] * 10_003, dropped_events_count=2**32 - 2)
    assert (len(found.events), found.dropped_events_count) == (10_000, 2**32 - 1)
    assert otlp.flags(found) == {"truncated"}


@pytest.mark.parametrize("mended", [{}, {"parent_span_id": b"abc"}])
def test_a_sender_cannot_set_our_flags(mended: dict[str, Any]) -> None:
    sent = otlp.pairs(**{"gnomon.ingest.flags": "truncated"})
    found = one_span(attributes=sent, **mended)
    assert otlp.flags(found) == ({"orphan"} if mended else set())
    assert otlp.attribute(found, "gnomon.ingest.flags.sent").string_value == "truncated"


def test_text_that_names_our_flags_is_left_alone() -> None:
    said = "what is \n\x13gnomon.ingest.flags?"
    found = one_span(attributes=otlp.pairs(said=said))
    assert otlp.attribute(found, "said").string_value == said


def test_an_odd_encoding_is_written_anew() -> None:
    body = otlp.traces(otlp.span()).SerializeToString()
    block = body[2:] if body[1] < 0x80 else body[3:]
    padded = b"\x0a" + bytes([len(block) & 0x7F | 0x80, len(block) >> 7 | 0x80, 0]) + block
    assert inspect(padded).payload == body


def test_a_value_set_twice_is_read_as_protobuf_does_and_written_anew() -> None:
    raw = otlp.field(1, b"text") + otlp.field(6, b"")
    spans = otlp.spans_in(inspect(otlp.with_raw_value(otlp.traces(), raw)).payload)
    assert otlp.attribute(spans[0], "raw").string_value == "{}"


# Text that is no UTF-8, values that are too deep


def test_bad_utf8_is_repaired_in_that_span_only() -> None:
    body = otlp.traces(otlp.span(1, name="caf@"), otlp.span(2)).SerializeToString()
    first, second = otlp.spans_in(inspect(body.replace(b"caf@", b"caf\xe9")).payload)
    assert (first.name, otlp.flags(first)) == ("caf\N{REPLACEMENT CHARACTER}", {"repaired_utf8"})
    assert (second.name, otlp.flags(second)) == ("step 2", set())


@pytest.mark.parametrize("levels", [31, 32, 33, 200])
@pytest.mark.parametrize("kind", [5, 6])
def test_deep_values_are_kept_to_32_levels(kind: int, levels: int) -> None:
    body = otlp.with_raw_value(otlp.traces(otlp.span()), otlp.nested_wire(levels, kind))
    plain, deep = otlp.spans_in(inspect(body).payload)
    found = json.loads(otlp.attribute(deep, "raw").string_value)
    depth = 0
    while found is not None and found != "deep":
        depth += 1
        found = found["k"] if kind == 6 else found[0]
    assert depth == min(levels, 32)
    assert (found == "deep") == (levels <= 32)
    assert otlp.flags(deep) == (set() if levels <= 32 else {"truncated"})
    assert plain == otlp.span()


def test_bad_utf8_inside_a_map_is_repaired() -> None:
    raw = otlp.field(
        6, otlp.field(1, otlp.field(1, b"k\xff") + otlp.field(2, otlp.field(1, b"v\xfe")))
    )
    (found,) = otlp.spans_in(inspect(otlp.with_raw_value(otlp.traces(), raw)).payload)
    assert json.loads(otlp.attribute(found, "raw").string_value) == {"k\ufffd": "v\ufffd"}
    assert otlp.flags(found) == {"repaired_utf8"}


@pytest.mark.parametrize("kind", [5, 6])
def test_a_value_with_too_many_entries_is_read_in_part(
    kind: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nested, "MAX_NODES", 100)
    raw = otlp.field(kind, b"\x0a\x00" * 600)
    (found,) = otlp.spans_in(inspect(otlp.with_raw_value(otlp.traces(), raw)).payload)
    text = otlp.attribute(found, "raw").string_value
    assert json.loads(text) == ([None] * 100 if kind == 5 else {"": None})
    assert otlp.flags(found) == {"truncated"}
