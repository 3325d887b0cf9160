"""What the receivers refuse, and how: the refusing rows of the conformance table."""

import gzip
import os
from typing import Any

import grpc
import orjson
import pytest
import zstandard
from google.rpc.error_details_pb2 import BadRequest
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)

from collector.receiving.refusals import Refused
from tests import otlp
from tests.receiving import (
    GOOD,
    MAX_BODY,
    PROTOBUF,
    SERVICES,
    House,
    house_of,
    json_span,
)

both = pytest.mark.parametrize("transport", ["http", "grpc"])


# What is refused as a whole


@both
@pytest.mark.parametrize("body", [b"hello", GOOD[:-3], os.urandom(2000), b"\x0a\xff\xff"])
def test_garbage_is_refused_for_good(house: House, transport: str, body: bytes) -> None:
    answer = house.send(transport, body)
    assert (answer.status, answer.retry) == (3, None)
    assert "no OTLP protobuf" in answer.message
    assert house.queue.rejected == {"undecodable": 1}
    assert house.queue.requests[0].payload == b""


def test_a_refusal_says_what_is_wrong_in_protobuf_and_in_json(house: House) -> None:
    response = house.post(b"hello")
    assert response.status_code == 400
    assert response.headers["content-type"] == PROTOBUF
    status = Status.FromString(response.content)
    detail = BadRequest()
    assert status.details[0].Unpack(detail)
    assert detail.field_violations[0].description == status.message

    body = orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [json_span(name=1)]}]}]})
    response = house.post(body, content_type="application/json")
    where = "resourceSpans[0].scopeSpans[0].spans[0].name"
    assert response.status_code == 400
    assert response.json() == {
        "code": 3,
        "message": f"{where}: text expected, found a number",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [
                    {"field": where, "description": f"{where}: text expected, found a number"}
                ],
            }
        ],
    }


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"resourceSpans": 5}', GOOD])
def test_json_that_can_not_be_read_is_refused(house: House, body: bytes) -> None:
    assert house.post(body, content_type="application/json").status_code == 400
    assert house.queue.rejected == {"undecodable": 1}


@pytest.mark.parametrize("media", ["", "text/plain", "application/octet-stream"])
def test_an_unknown_content_type_is_refused_in_json(house: House, media: str) -> None:
    response = house.post(GOOD, content_type=media)
    assert response.status_code == 415
    assert "application/x-protobuf" in response.json()["message"]
    assert house.queue.rejected == {"unsupported_media_type": 1}


def test_an_unknown_encoding_is_refused_with_those_that_are_known(house: House) -> None:
    response = house.post(GOOD, content_encoding="br")
    assert response.status_code == 415
    assert "gzip, deflate, zstd, identity" in Status.FromString(response.content).message
    assert response.headers["accept-encoding"] == "gzip, deflate, zstd, identity"
    assert house.queue.rejected == {"unsupported_encoding": 1}


def test_the_same_body_is_taken_once_its_label_is_right(house: House) -> None:
    assert house.post(GOOD, content_type="text/plain").status_code == 415
    assert house.post(GOOD, content_type="application/json").status_code == 400
    assert house.post(GOOD).status_code == 200
    assert house.queue.accepted == 2


@pytest.mark.parametrize("encoding", ["gzip", "zstd", "deflate"])
def test_a_body_that_is_not_packed_as_it_says_is_refused(house: House, encoding: str) -> None:
    assert house.post(b"hello world", content_encoding=encoding).status_code == 400
    assert house.queue.rejected == {"undecodable": 1}


def test_a_grpc_message_that_is_half_a_gzip_is_refused(house: House) -> None:
    assert house.call(gzip.compress(GOOD)[:-4]).status == 3
    assert house.queue.rejected == {"undecodable": 1}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_is_refused_and_the_limit_itself_is_not(
    house: House, packed: bool, chunked: bool
) -> None:
    for size, expected in ((MAX_BODY, 200), (MAX_BODY + 1, 413)):
        body = of_size(size)
        sent = gzip.compress(body) if packed else body
        headers = {"content_encoding": "gzip"} if packed else {}
        answer = house.post(iter([sent]) if chunked else sent, **headers)
        assert answer.status_code == expected
        assert "retry-after" not in answer.headers
    assert house.queue.rejected == {"too_large": 1}


def of_size(size: int) -> bytes:
    """Return a valid request of exactly this many bytes."""
    filler = otlp.field(77, b"")
    body = GOOD + otlp.field(77, bytes(size - len(GOOD) - len(filler) - 4))
    body = GOOD + otlp.field(77, bytes(size - len(GOOD) - len(filler) - 4 + size - len(body)))
    assert len(body) == size
    return body


def test_a_grpc_message_over_the_limit_is_refused_without_a_retry(house: House) -> None:
    assert house.call(of_size(MAX_BODY)).status == 0
    answer = house.call(of_size(MAX_BODY + 1))
    assert (answer.status, answer.retry) == (8, None)
    packed = house.call(of_size(MAX_BODY + 1), compression=grpc.Compression.Gzip)
    assert (packed.status, packed.retry) == (8, None)
    assert house.queue.rejected == {"too_large": 1}, "the plain one was refused by the library"


def test_a_million_to_one_bomb_is_refused(house: House) -> None:
    bomb = zstandard.ZstdCompressor().compress(bytes(1024**3))
    assert len(bomb) < 40_000
    assert house.post(bomb, content_encoding="zstd").status_code == 413
    assert house.call(gzip.compress(bytes(64 * 1024**2))).status == 8
    assert house.queue.rejected == {"too_large": 2}


# Other paths, methods and signals


@pytest.mark.parametrize("path", ["/", "/v1/trace", "/v1/traces/v1/traces", "/v2/traces"])
def test_an_unknown_path_is_404_with_a_status(house: House, path: str) -> None:
    response = house.post(GOOD, path)
    assert response.status_code == 404
    assert "/v1/traces" in Status.FromString(response.content).message
    assert house.queue.requests == []


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS", "HEAD"])
def test_another_method_is_405(house: House, method: str) -> None:
    response = house.http.request(method, "/v1/traces")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")
    assert house.queue.requests == []


@pytest.mark.parametrize("path", ["/v1/metrics", "/otel/v1/metrics", "/v1development/profiles"])
def test_unused_signals_are_refused_clearly(house: House, path: str) -> None:
    response = house.post(b"", path)
    assert response.status_code == 404
    assert "GNOMON_INGEST_METRICS=discard" in Status.FromString(response.content).message


def test_an_unknown_service_is_unimplemented(house: House) -> None:
    told = house.call(b"", "metrics")
    assert told.status == 12
    assert "GNOMON_INGEST_METRICS=discard" in told.message


def test_metrics_are_discarded_where_that_is_asked_for() -> None:
    points = otlp.field(5, otlp.field(1, b"") * 3)
    body = otlp.field(1, otlp.field(2, otlp.field(2, points) * 2))
    for house in house_of(ingest_metrics="discard"):
        for answer in (house.post(body, "/v1/metrics").content, house.call(body, "metrics").body):
            partial = ExportMetricsServiceResponse.FromString(answer).partial_success
            assert partial.rejected_data_points == 6
            assert "discarded" in partial.error_message
        as_json = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{"sum": {"dataPoints": [{}, {}]}}]}]}]}  # fmt: skip
        response = house.post(orjson.dumps(as_json), "/v1/metrics", content_type="application/json")
        assert response.json()["partialSuccess"]["rejectedDataPoints"] == "2"
        assert house.post(b"junk", "/v1/metrics").status_code == 400
        assert house.call(b"junk", "metrics").status == 3
        assert house.queue.requests == []


def test_health_is_served_on_both_ports(house: House) -> None:
    assert house.http.get("/healthz").status_code == 200
    stub = health_pb2_grpc.HealthStub(house.channel)
    for service in ("", SERVICES["traces"], SERVICES["logs"]):
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


# Browsers


def test_a_browser_of_a_listed_origin_may_send() -> None:
    for house in house_of(ingest={"cors_origins": ("https://desk.example",)}):
        asked = {
            "origin": "https://desk.example",
            "access-control-request-method": "POST",
            "access-control-request-headers": "content-type, x-api-key, cookie",
        }
        response = house.http.options("/v1/traces", headers=asked)
        assert response.status_code == 204
        assert response.headers["access-control-allow-origin"] == "https://desk.example"
        assert response.headers["access-control-allow-headers"] == "content-type, x-api-key"
        response = house.post(GOOD, origin="https://desk.example")
        assert response.status_code == 200
        assert response.headers["access-control-allow-origin"] == "https://desk.example"
        asked["origin"] = "https://elsewhere.example"
        assert house.http.options("/v1/traces", headers=asked).status_code == 405
        response = house.post(GOOD, origin="https://elsewhere.example")
        assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize(
    ("reason", "status", "code"), [("unauthenticated", 401, 16), ("forbidden", 403, 7)]
)
def test_a_sender_the_token_check_refuses_is_told_and_counted(
    house: House, monkeypatch: pytest.MonkeyPatch, reason: Any, status: int, code: int
) -> None:
    def refuse(_headers: object) -> str:
        raise Refused(reason, "this token may not send")

    monkeypatch.setattr("collector.receiving.http.sender_of", refuse)
    monkeypatch.setattr("collector.receiving.grpc.sender_of", refuse)
    assert house.post(GOOD).status_code == status
    answer = house.call(GOOD)
    assert (answer.status, answer.message, answer.retry) == (code, "this token may not send", None)
    assert house.queue.rejected == {reason: 2}
    assert {request.source for request in house.queue.requests} == {
        "traces/http/unknown",
        "traces/grpc/unknown",
    }
