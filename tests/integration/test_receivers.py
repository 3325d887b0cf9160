"""What the receivers take, by every road: the accepting rows of the conformance table."""

import gzip
import threading
import zlib
from typing import Any

import grpc
import orjson
import pytest
import zstandard
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (
    OTLPSpanExporter as GrpcSpanExporter,
)
from opentelemetry.exporter.otlp.proto.http import Compression as HttpCompression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import (
    OTLPSpanExporter as HttpSpanExporter,
)
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from gnomon.errors import QueueFull
from tests import otlp, samples
from tests.receiving import (
    GOOD,
    Answered,
    House,
    house_of,
    json_span,
)

both = pytest.mark.parametrize("transport", ["http", "grpc"])


# What is taken


@both
def test_a_good_request_is_answered_with_nothing(house: House, transport: str) -> None:
    assert house.send(transport, GOOD) == Answered(status=0, body=b"")
    (request,) = house.queue.requests
    assert request.payload == GOOD
    assert request.source == f"traces/{transport}/loopback"
    assert (request.signal, request.received, dict(request.rejected)) == ("traces", 2, {})
    assert request.traces == (otlp.TRACE_ID.hex(),)
    assert request.received_at == otlp.NOW
    assert len(request.digest) == 32


@both
def test_logs_go_their_own_way(house: House, transport: str) -> None:
    body = otlp.logs(otlp.record()).SerializeToString()
    assert house.send(transport, body, "logs") == Answered(status=0, body=b"")
    (request,) = house.queue.requests
    assert (request.signal, request.source) == ("logs", f"logs/{transport}/loopback")
    assert request.payload == body


@both
def test_the_same_payload_again_is_a_success_with_the_same_digest(
    house: House, transport: str
) -> None:
    for _ in range(3):
        assert house.send(transport, GOOD).status == 0
    assert len(house.queue.requests) == 1


@both
def test_an_empty_request_is_a_success(house: House, transport: str) -> None:
    assert house.send(transport, b"") == Answered(status=0, body=b"")
    assert house.queue.requests == []


def test_json_is_answered_in_json(house: House) -> None:
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [json_span()]}]}]}
    response = house.post(orjson.dumps(body), content_type="application/json; charset=utf-8")
    assert (response.status_code, response.content) == (200, b"{}")
    assert response.headers["content-type"] == "application/json"
    assert house.queue.accepted == 1
    assert house.post(b"{}", content_type="application/json").content == b"{}"


@pytest.mark.parametrize("prefix", ["", "/api/public/otel", "/otel"])
@pytest.mark.parametrize("media", ["application/protobuf", "Application/X-Protobuf; v=1"])
def test_every_path_and_spelling_of_protobuf_is_taken(
    house: House, prefix: str, media: str
) -> None:
    response = house.post(GOOD, f"{prefix}/v1/traces", content_type=media)
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"] == media.partition(";")[0].lower()


PACKED = {
    "gzip": gzip.compress(GOOD),
    "GZip": gzip.compress(GOOD[:9]) + gzip.compress(GOOD[9:]),
    "deflate": zlib.compress(GOOD),
    "Deflate": zlib.compress(GOOD)[2:-4],
    "zstd": zstandard.ZstdCompressor().compress(GOOD),
    "identity": GOOD,
}


@pytest.mark.parametrize("encoding", PACKED)
def test_every_content_encoding_is_unpacked(house: House, encoding: str) -> None:
    assert house.post(PACKED[encoding], content_encoding=encoding).status_code == 200
    assert house.queue.requests[0].payload == GOOD


@pytest.mark.parametrize("kind", [grpc.Compression.Gzip, grpc.Compression.Deflate])
def test_grpc_messages_may_be_compressed(house: House, kind: grpc.Compression) -> None:
    body = GOOD * 50
    assert house.call(body, compression=kind).status == 0
    assert house.queue.requests[0].payload == body


def test_a_body_without_a_length_is_read_to_its_end(house: House) -> None:
    pieces = (GOOD[at : at + 7] for at in range(0, len(GOOD), 7))
    assert house.post(pieces).status_code == 200
    assert house.queue.requests[0].payload == GOOD


def test_the_digest_is_that_of_the_body_unpacked(house: House) -> None:
    house.post(GOOD)
    house.post(gzip.compress(GOOD), content_encoding="gzip")
    house.call(GOOD)
    assert len(house.queue.requests) == 1


# Partial success


@both
@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({"trace_id": b"short"}, "invalid_trace_id"),
        ({"trace_id": bytes(16)}, "invalid_trace_id"),
        ({"trace_id": b""}, "invalid_trace_id"),
        ({"span_id": b"s"}, "invalid_span_id"),
        ({"span_id": bytes(8)}, "invalid_span_id"),
        ({"start_time_unix_nano": 0, "end_time_unix_nano": 0}, "invalid_time"),
    ],
)
def test_one_bad_span_among_a_thousand_loses_one_span(
    house: House, transport: str, spoilt: dict[str, Any], reason: str
) -> None:
    spans = [otlp.span(number) for number in range(1, 1001)]
    spans[321] = otlp.span(322, **spoilt)
    answer = house.send(transport, otlp.traces(*spans).SerializeToString())
    assert answer.status == 0
    partial = ExportTraceServiceResponse.FromString(answer.body).partial_success
    assert partial.rejected_spans == 1
    assert f"1 of 1000 spans rejected: 1 {reason} (" in partial.error_message
    (request,) = house.queue.requests
    assert (request.received, dict(request.rejected)) == (1000, {reason: 1})
    assert otlp.spans_in(request.payload) == spans[:321] + spans[322:]


def test_partial_success_in_json_has_its_number_as_text(house: House) -> None:
    spans = [json_span(), json_span(traceId="W47/95gDgQPSabYzgT/GDA==")]
    body = orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    response = house.post(body, content_type="application/json")
    partial = response.json()["partialSuccess"]
    assert (response.status_code, partial["rejectedSpans"]) == (200, "1")
    assert "hex expected" in partial["errorMessage"]
    assert house.queue.rejected == {"invalid_trace_id": 1}


@both
def test_a_bad_log_record_is_refused_alone(house: House, transport: str) -> None:
    body = otlp.logs(otlp.record(1), otlp.record(2, trace_id=b"x")).SerializeToString()
    answer = house.send(transport, body, "logs")
    partial = ExportLogsServiceResponse.FromString(answer.body).partial_success
    assert partial.rejected_log_records == 1
    assert house.queue.rejected == {"invalid_trace_id": 1}
    assert house.queue.accepted == 1


@both
def test_spans_of_old_otlp_are_counted_and_warned_about(house: House, transport: str) -> None:
    library = otlp.field(2, otlp.span(7).SerializeToString()) * 2
    answer = house.send(transport, GOOD + otlp.field(1, otlp.field(1000, library)))
    partial = ExportTraceServiceResponse.FromString(answer.body).partial_success
    assert "2 legacy_library_spans" in partial.error_message
    assert house.queue.rejected == {"legacy_library_spans": 2}
    assert house.queue.accepted == 2


# What is mended and taken


@both
@pytest.mark.parametrize(
    ("spoilt", "flags"),
    [
        ({"parent_span_id": b"abc"}, {"orphan"}),
        ({"parent_span_id": b""}, set()),
        ({"kind": 99}, set()),
        ({"kind": 0}, set()),
        ({"start_time_unix_nano": 0}, {"bad_clock"}),
        ({"end_time_unix_nano": otlp.NOW * 2}, {"bad_clock"}),
        ({"end_time_unix_nano": 1}, set()),
        ({"attributes": otlp.pairs(a=None, b=[], c={"d": [1, {"e": b"f"}]}, g=b"h", i=[1, "j"])}, set()),
    ],
)  # fmt: skip
def test_what_can_be_mended_is_accepted(
    house: House, transport: str, spoilt: dict[str, Any], flags: set[str]
) -> None:
    answer = house.send(transport, otlp.traces(otlp.span(**spoilt)).SerializeToString())
    assert answer == Answered(status=0, body=b"")
    assert (house.queue.accepted, house.queue.rejected) == (1, {})
    (found,) = otlp.spans_in(house.queue.requests[0].payload)
    assert otlp.flags(found) == flags


@both
def test_bad_utf8_is_repaired(house: House, transport: str) -> None:
    body = otlp.traces(otlp.span(name="caf@")).SerializeToString().replace(b"@", b"\xe9")
    assert house.send(transport, body) == Answered(status=0, body=b"")
    (found,) = otlp.spans_in(house.queue.requests[0].payload)
    assert (found.name, otlp.flags(found)) == ("caf\ufffd", {"repaired_utf8"})


@both
@pytest.mark.parametrize("kind", [5, 6])
def test_two_hundred_levels_of_nesting_are_cut(house: House, transport: str, kind: int) -> None:
    body = otlp.with_raw_value(otlp.traces(otlp.span()), otlp.nested_wire(200, kind))
    assert house.send(transport, body) == Answered(status=0, body=b"")
    deep = otlp.spans_in(house.queue.requests[0].payload)[1]
    assert otlp.flags(deep) == {"truncated"}
    assert house.queue.accepted == 2


# Real exporters, real requests


def test_the_python_exporters_send_through(house: House) -> None:
    grpc_part, http_part = house.parts
    exporters = [
        HttpSpanExporter(f"http://127.0.0.1:{http_part.port}/v1/traces"),
        HttpSpanExporter(
            f"http://127.0.0.1:{http_part.port}/v1/traces", compression=HttpCompression.Gzip
        ),
        GrpcSpanExporter(f"127.0.0.1:{grpc_part.port}", insecure=True),
        GrpcSpanExporter(
            f"127.0.0.1:{grpc_part.port}", insecure=True, compression=grpc.Compression.Gzip
        ),
    ]
    names = []
    for number, exporter in enumerate(exporters):
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        names.append(f"chat {number}")
        with provider.get_tracer("test").start_as_current_span(names[-1]) as span:
            span.set_attribute("gen_ai.usage.input_tokens", 0)
            span.set_attribute("gen_ai.response.finish_reasons", ["stop"])
        provider.shutdown()
    found = [otlp.spans_in(request.payload)[0] for request in house.queue.requests]
    assert [span.name for span in found] == names
    for span in found:
        assert otlp.attribute(span, "gen_ai.usage.input_tokens").int_value == 0
        assert otlp.flags(span) <= {"bad_clock"}, "the receiver's clock stands still here"


def test_the_python_exporter_reads_our_overload_as_try_again(house: House) -> None:
    house.queue.refuses = QueueFull()
    exporter = HttpSpanExporter(f"http://127.0.0.1:{house.parts[1].port}/v1/traces", timeout=20)
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    threading.Timer(0.2, lambda: setattr(house.queue, "refuses", None)).start()
    provider.get_tracer("test").start_span("chat").end()
    provider.shutdown()
    assert house.refused["http", "queue_full"] == 1
    assert house.queue.accepted == 1


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
@pytest.mark.parametrize("signal", ["traces", "logs"])
def test_every_recorded_request_is_the_same_by_every_road(signal: str) -> None:
    suffix, real = (
        ("", ExportTraceServiceRequest)
        if signal == "traces"
        else (".logs", ExportLogsServiceRequest)
    )
    for house in house_of(ingest={"max_body": 2**24, "max_inflight": 2**26}):
        for name in samples.names():
            path = samples.OTLP / f"{name}{suffix}.binpb"
            if not path.exists():
                continue
            sent = path.read_bytes()
            as_json = path.with_suffix(".json").read_bytes()
            target = f"/v1/{signal}"
            answers = [
                house.post(sent, target).status_code,
                house.post(gzip.compress(as_json), target, content_type="application/json", content_encoding="gzip").status_code,
                house.call(sent + otlp.field(77, b"road"), signal).status,
            ]  # fmt: skip
            assert answers == [200, 200, 0], name
            roads = [real.FromString(request.payload) for request in house.queue.requests[-3:]]
            for road in roads:
                road.DiscardUnknownFields()
            assert roads[0] == roads[1] == roads[2], name
            counts = {(r.received, tuple(r.traces)) for r in house.queue.requests[-3:]}
            assert len(counts) == 1
        assert house.queue.rejected == {}


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
def test_bodies_of_json_exporters_are_taken_in_chunks_as_they_were_sent() -> None:
    for path in samples.OTLP.glob("*.wire.jsonl"):
        name = path.name.removesuffix(".wire.jsonl")
        for house in house_of(ingest={"max_body": 2**24, "max_inflight": 2**26}):
            for line in path.read_bytes().splitlines():
                pieces = (line[at : at + 1000] for at in range(0, len(line), 1000))
                response = house.post(pieces, content_type="application/json")
                assert (response.status_code, response.content) == (200, b"{}")
            payloads = [request.payload for request in house.queue.requests]
            found = {s.SerializeToString() for body in payloads for s in otlp.spans_in(body)}
            recorded = samples.trace_request(name).SerializeToString()
            expected = {s.SerializeToString() for s in otlp.spans_in(recorded)}
            assert found == expected, name
