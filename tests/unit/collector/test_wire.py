"""Cutting requests: every byte of every block survives, nothing else does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import ResourceLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from collector import wire
from tests import samples

LIMIT = 1 << 20


def unframed(body: bytes) -> list[bytes]:
    """Read varint-delimited messages the way the format defines them."""
    found = []
    at = 0
    while at < len(body):
        length = shift = 0
        while True:
            byte = body[at]
            at += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        found.append(body[at : at + length])
        at += length
    assert at == len(body)
    return found


def request(resources: int, spans: int, text: str = "x") -> ExportTraceServiceRequest:
    made = ExportTraceServiceRequest()
    for number in range(resources):
        block = made.resource_spans.add()
        block.resource.attributes.add(key="service.name").value.string_value = f"s{number}"
        scoped = block.scope_spans.add()
        scoped.scope.name = "scope"
        for _ in range(spans):
            scoped.spans.add(name=text, trace_id=b"t" * 16, span_id=b"s" * 8)
    return made


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
def test_the_blocks_of_a_recorded_request_are_its_resource_spans():
    for name in samples.names():
        whole = samples.trace_request(name)
        (body,) = wire.bodies("traces", [whole.SerializeToString()], 1 << 30)
        assert [ResourceSpans.FromString(b) for b in unframed(body)] == list(whole.resource_spans)


def test_the_blocks_of_logs_are_their_resource_logs():
    whole = ExportLogsServiceRequest()
    whole.resource_logs.add().scope_logs.add().log_records.add().body.string_value = "hello"
    (body,) = wire.bodies("logs", [whole.SerializeToString()], LIMIT)
    assert [ResourceLogs.FromString(b) for b in unframed(body)] == list(whole.resource_logs)


def test_fields_beside_the_blocks_are_skipped():
    block = request(1, 1).SerializeToString()
    noise = (
        bytes([2 << 3 | 0, 0x96, 0x01])
        + bytes([3 << 3 | 1])
        + b"8bytes!!"
        + bytes([4 << 3 | 2, 3])
        + b"abc"
        + bytes([5 << 3 | 5])
        + b"four"
    )
    assert b"".join(wire.blocks(noise + block + noise)) == b"".join(wire.blocks(block))


def test_no_request_and_an_empty_one_give_no_body():
    assert list(wire.bodies("traces", [], LIMIT)) == []
    assert list(wire.bodies("traces", [b""], LIMIT)) == []


def test_bodies_stay_under_the_limit_and_hold_every_span_once():
    whole = request(resources=3, spans=50, text="n" * 100)
    payload = whole.SerializeToString()
    found = list(wire.bodies("traces", [payload, payload], 1000))
    assert max(map(len, found)) <= 1200
    spans = 0
    for body in found:
        for block in map(ResourceSpans.FromString, unframed(body)):
            assert block.resource.attributes[0].value.string_value.startswith("s")
            for scoped in block.scope_spans:
                assert scoped.scope.name == "scope"
                spans += len(scoped.spans)
    assert spans == 2 * 3 * 50


def test_a_span_larger_than_the_limit_goes_alone():
    whole = request(resources=1, spans=2, text="n" * 5000)
    found = list(wire.bodies("traces", [whole.SerializeToString()], 1000))
    assert [len(ResourceSpans.FromString(unframed(b)[0]).scope_spans[0].spans) for b in found] == [
        1,
        1,
    ]


def test_a_large_resource_is_not_repeated_for_too_many_spans_at_once():
    whole = request(resources=1, spans=400)
    whole.resource_spans[0].resource.attributes.add(key="big").value.string_value = "b" * 1000
    found = list(wire.bodies("traces", [whole.SerializeToString()], 3000))
    spans = [
        sum(
            len(scoped.spans)
            for block in map(ResourceSpans.FromString, unframed(body))
            for scoped in block.scope_spans
        )
        for body in found
    ]
    assert sum(spans) == 400
    assert max(spans) * 1000 <= 3000 * 32


@given(st.lists(st.integers(0, 6), max_size=5), st.integers(1, 600))
def test_whatever_the_limit_every_span_is_there_once_and_in_order(counts, limit):
    payloads = []
    number = 0
    for count in counts:
        made = request(1, count)
        for span in made.resource_spans[0].scope_spans[0].spans:
            number += 1
            span.name = str(number)
        payloads.append(made.SerializeToString())
    names = [
        span.name
        for body in wire.bodies("traces", payloads, limit)
        for block in map(ResourceSpans.FromString, unframed(body))
        for scoped in block.scope_spans
        for span in scoped.spans
    ]
    assert names == [str(n + 1) for n in range(number)]


@given(st.binary(max_size=200))
def test_no_bytes_make_the_cutting_fail_in_another_way_than_malformed(data):
    try:
        cut = list(wire.blocks(data))
    except wire.Malformed:
        return
    assert sum(map(len, cut)) <= len(data)


@pytest.mark.parametrize("kept", [1, 5, 20])
def test_a_truncated_request_is_malformed(kept):
    data = request(1, 1).SerializeToString()
    with pytest.raises(wire.Malformed):
        list(wire.blocks(data[:kept]))


def test_sanitising_removes_a_deprecated_group_and_keeps_the_spans():
    group = bytes([15 << 3 | 3, 15 << 3 | 4])
    whole = request(1, 2)
    payload = whole.SerializeToString() + group
    with pytest.raises(wire.Malformed):
        list(wire.blocks(payload))
    assert ExportTraceServiceRequest.FromString(wire.sanitised("traces", payload)) == whole


def test_sanitising_garbage_is_malformed():
    with pytest.raises(wire.Malformed):
        wire.sanitised("logs", b"\xff\xff not protobuf")


def test_the_schema_sent_to_clickhouse_is_the_shipped_one():
    given_ = wire.settings("logs")
    assert "message ResourceLogs" in str(given_["format_schema"])
    assert given_["format_schema_message_name"] == "ResourceLogs"
    assert wire.settings("traces")["format_schema_message_name"] == "ResourceSpans"
