"""What is left of a request after inspection."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collector.receiving.inspection import Inspected, Inspector
from collector.receiving.otlp_json import FromJson
from collector.receiving.refusals import Refused
from gnomon.clock import Nanos
from tests import otlp, samples

INSPECTOR = Inspector(max_value=1024)


def inspect(request: Any, signal: Any = "traces") -> Inspected:
    body = request if isinstance(request, bytes) else request.SerializeToString()
    return INSPECTOR.inspect(signal, body, Nanos(otlp.NOW))


# What needs no change


def test_a_request_without_faults_is_passed_on_byte_for_byte() -> None:
    body = otlp.traces(otlp.span(1), otlp.span(2)).SerializeToString()
    found = inspect(body)
    assert found.payload == body
    assert (found.received, found.rejected, found.message) == (2, {}, "")
    assert found.traces == (otlp.TRACE_ID.hex(),)


def test_an_unknown_field_is_passed_on() -> None:
    body = otlp.traces(otlp.span()).SerializeToString() + otlp.field(77, b"news")
    assert inspect(body).payload == body


def test_an_empty_request_holds_nothing() -> None:
    assert inspect(b"") == Inspected(payload=b"", received=0)


@pytest.mark.parametrize(
    "given", ["", "text", 0, 7, 0.0, 1.5, True, False, [], ["a", "b"], [1, 2.5, True]]
)
def test_scalars_and_lists_of_scalars_stay_what_they_are(given: Any) -> None:
    body = otlp.traces(otlp.span(attributes=otlp.pairs(key=given))).SerializeToString()
    assert inspect(body).payload == body


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
@pytest.mark.parametrize("name", samples.names())
def test_spans_of_real_libraries_are_passed_on_byte_for_byte(name: str) -> None:
    body = (samples.OTLP / f"{name}.binpb").read_bytes()
    found = inspect_sample(body)
    assert found.payload == body
    assert found.received == samples.expected(name)["spans_total"]


def inspect_sample(body: bytes) -> Inspected:
    return Inspector(max_value=1024**2).inspect("traces", body, Nanos(otlp.NOW * 2))


# Spans that are refused, one by one


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({"trace_id": b""}, "invalid_trace_id"),
        ({"trace_id": bytes(16)}, "invalid_trace_id"),
        ({"trace_id": b"x" * 15}, "invalid_trace_id"),
        ({"trace_id": b"x" * 24}, "invalid_trace_id"),
        ({"span_id": b""}, "invalid_span_id"),
        ({"span_id": bytes(8)}, "invalid_span_id"),
        ({"span_id": b"x" * 7}, "invalid_span_id"),
        ({"start_time_unix_nano": 0, "end_time_unix_nano": 0}, "invalid_time"),
    ],
)
def test_one_bad_span_among_a_thousand_loses_one_span(spoilt: dict[str, Any], reason: str) -> None:
    spans = [otlp.span(number) for number in range(1, 1001)]
    spans[500] = otlp.span(501, **spoilt)
    found = inspect(otlp.traces(*spans))
    assert (found.received, found.rejected) == (1000, {reason: 1})
    assert otlp.spans_in(found.payload) == spans[:500] + spans[501:]
    assert found.message.startswith(f"1 of 1000 spans rejected: 1 {reason} (")


def test_the_message_names_counts_reasons_and_one_example() -> None:
    bad = [otlp.span(1, trace_id=b"abc"), otlp.span(2, span_id=b"x"), otlp.span(3, span_id=b"y")]
    message = inspect(otlp.traces(*bad, otlp.span(4))).message
    assert message.startswith("3 of 4 spans rejected: 1 invalid_trace_id (for example 616263: ")
    assert "; 2 invalid_span_id (for example 78: " in message
    assert "hex expected" in message


def test_a_request_with_bad_spans_only_has_no_payload() -> None:
    found = inspect(otlp.traces(otlp.span(trace_id=b"")))
    assert (found.payload, found.received, found.traces) == (b"", 1, ())


def test_several_resources_and_traces_are_all_kept() -> None:
    request = otlp.traces(otlp.span(1))
    request.MergeFrom(otlp.traces(otlp.span(2, trace_id=b"t" * 16), service="desk"))
    found = inspect(request)
    assert found.traces == (otlp.TRACE_ID.hex(), (b"t" * 16).hex())
    assert len(otlp.spans_in(found.payload)) == 2


@pytest.mark.parametrize(("signal", "item"), [("traces", otlp.span()), ("logs", otlp.record())])
def test_items_in_the_fields_of_old_otlp_are_counted_and_not_read(signal: Any, item: Any) -> None:
    library = otlp.field(1, otlp.field(1, b"lib")) + otlp.field(2, item.SerializeToString()) * 3
    request = otlp.traces(otlp.span()) if signal == "traces" else otlp.logs(otlp.record())
    body = request.SerializeToString() + otlp.field(1, otlp.field(1000, library))
    found = inspect(body, signal)
    assert (found.received, found.rejected) == (4, {"legacy_library_spans": 3})
    assert "scopeSpans" in found.message
    assert b"lib" not in found.payload


# What is no request


@pytest.mark.parametrize("body", [b"hello world", b"\x0a\xff", b"\xff" * 40, b"{}", b"\x0a\x05abc"])
def test_garbage_is_undecodable(body: bytes) -> None:
    with pytest.raises(Refused) as refused:
        inspect(body)
    assert refused.value.reason == "undecodable"


def test_every_cut_of_a_request_is_refused_or_read() -> None:
    body = otlp.traces(
        *(otlp.span(n, attributes=otlp.pairs(a={"b": n})) for n in (1, 2))
    ).SerializeToString()
    for size in range(1, len(body)):
        with pytest.raises(Refused):
            inspect(body[:size])


# Log records


def test_a_log_record_needs_no_trace() -> None:
    body = otlp.logs(otlp.record(trace_id=b"", span_id=b"")).SerializeToString()
    found = inspect(body, "logs")
    assert (found.payload, found.received, found.traces) == (body, 1, ())


def test_ids_of_zeros_in_a_log_record_mean_none() -> None:
    found = inspect(otlp.logs(otlp.record(trace_id=bytes(16), span_id=bytes(8))), "logs")
    (record,) = otlp.records_in(found.payload)
    assert (record.trace_id, record.span_id, found.rejected) == (b"", b"", {})


@pytest.mark.parametrize("spoilt", ["trace_id", "span_id"])
def test_a_log_record_with_an_id_of_the_wrong_length_is_refused(spoilt: str) -> None:
    bad = otlp.record(2, **{spoilt: b"abc"})
    found = inspect(otlp.logs(otlp.record(1), bad, otlp.record(3)), "logs")
    assert found.rejected == {f"invalid_{spoilt}": 1}
    assert otlp.records_in(found.payload) == [otlp.record(1), otlp.record(3)]
    assert found.message.startswith("1 of 3 log records rejected: ")


def test_a_body_that_is_a_map_becomes_json_text() -> None:
    body = otlp.value({"role": "user", "content": "Paris?"})
    (record,) = otlp.records_in(inspect(otlp.logs(otlp.record(body=body)), "logs").payload)
    assert record.body.string_value == '{"role":"user","content":"Paris?"}'


def test_a_log_record_without_any_time_gets_the_time_of_its_arrival() -> None:
    (record,) = otlp.records_in(inspect(otlp.logs(otlp.record(time_unix_nano=0)), "logs").payload)
    assert (record.time_unix_nano, record.observed_time_unix_nano) == (0, otlp.NOW)


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
def test_log_records_of_real_libraries_keep_their_content() -> None:
    for name in samples.names():
        sent = samples.logs_request(name)
        if sent is not None:
            kept = inspect(sent, "logs")
            assert kept.rejected == {}
            again = type(sent).FromString(kept.payload)
            before, after = samples.logs_of(sent), samples.logs_of(again)
            assert [readable(record) for record in after] == [readable(r) for r in before], name


def readable(record: Any) -> Any:
    try:
        body = json.loads(record.body)
    except ValueError:
        body = record.body
    values = {
        key: text for key, text in record.attributes.items() if not text.startswith(("{", "["))
    }
    return record.trace_id, record.span_id, record.time, body, values


# Anything at all


@given(st.binary(max_size=400), st.sampled_from(["traces", "logs"]))
@settings(max_examples=400)
def test_inspection_never_breaks_on_arbitrary_bytes(body: bytes, signal: Any) -> None:
    try:
        found = inspect(body, signal)
    except Refused:
        return
    assert found.received >= sum(found.rejected.values())


@given(st.data())
@settings(max_examples=300)
def test_inspection_never_breaks_on_a_spoilt_request(data: st.DataObject) -> None:
    body = bytearray(
        otlp.traces(
            otlp.span(1, attributes=otlp.pairs(a={"b": [1]}, c=[1], d=b"x"))
        ).SerializeToString()
    )
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = inspect(bytes(body))
    except Refused:
        return
    kept = otlp.spans_in(found.payload)
    assert len(kept) == found.received - sum(found.rejected.values())
    ours = FromJson(body=found.payload, legacy=0)  # its flags were set by us
    again = INSPECTOR.inspect("traces", ours.body, Nanos(otlp.NOW), from_json=ours)
    assert (again.payload, again.rejected) == (found.payload, {})
