"""Both receivers over real connections, with a queue in memory behind them."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import httpx2
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from collector.receiving.grpc import GrpcReceiver
from collector.receiving.listener import HttpListener
from collector.receiving.receivers import build_receivers
from gnomon.clock import from_nanos
from gnomon.config import IngestSettings, Settings
from tests import otlp
from tests.memory_queue import MemoryQueue

MAX_BODY = 256 * 1024
PROTOBUF = "application/x-protobuf"
SERVICES = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
    "metrics": "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
GOOD = otlp.traces(otlp.span(1), otlp.span(2)).SerializeToString()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    status: int
    """HTTP status, or gRPC code."""
    message: str = ""
    body: bytes = b""
    retry: int | None = None


@dataclass(slots=True, kw_only=True)
class House:
    queue: MemoryQueue
    http: httpx2.Client
    channel: grpc.Channel
    parts: tuple[GrpcReceiver, HttpListener]
    refused: Counter[tuple[str, str]] = field(default_factory=Counter)

    def post(self, body: Any, path: str = "/v1/traces", **headers: str) -> httpx2.Response:
        sent = {"content-type": PROTOBUF} | {k.replace("_", "-"): v for k, v in headers.items()}
        sent = {name: value for name, value in sent.items() if value}
        return self.http.post(path, content=body, headers=sent)

    def call(self, body: bytes, signal: str = "traces", **options: Any) -> Answered:
        export = self.channel.unary_unary(f"/{SERVICES[signal]}/Export")
        try:
            return Answered(status=0, body=export(body, timeout=20, **options))
        except grpc.RpcError as error:
            return grpc_error(error)

    def send(self, transport: str, body: bytes, signal: str = "traces") -> Answered:
        """Send protobuf either way; the status is always that of gRPC."""
        if transport == "grpc":
            return self.call(body, signal)
        response = self.post(body, f"/v1/{signal}")
        if response.status_code == 200:
            return Answered(status=0, body=response.content)
        status = Status.FromString(response.content)
        retry = response.headers.get("retry-after")
        return Answered(
            status=status.code, message=status.message, retry=int(retry) if retry else None
        )


def grpc_error(error: Any) -> Answered:
    retry = None
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            status = Status.FromString(value)
            assert (status.code, status.message) == (error.code().value[0], error.details())
            for detail in status.details:
                info = RetryInfo()
                if detail.Unpack(info):
                    retry = info.retry_delay.seconds
    return Answered(status=error.code().value[0], message=error.details(), retry=retry)


def house_of(**settings: Any) -> Iterator[House]:
    queue = MemoryQueue()
    refused: Counter[tuple[str, str]] = Counter()
    ingest = {"max_body": MAX_BODY, "max_inflight": 4 * MAX_BODY} | settings.pop("ingest", {})
    tree = Settings(otlp_grpc_port=0, otlp_http_port=0, ingest=IngestSettings(**ingest), **settings)
    parts = build_receivers(
        queue,
        tree,
        lambda: from_nanos(otlp.NOW),
        lambda transport, reason: refused.update([(transport, reason)]),
    )
    grpc_part, http_part = parts
    grpc_part.start()
    http_part.start()
    options = [("grpc.max_send_message_length", -1)]
    channel = grpc.insecure_channel(f"127.0.0.1:{grpc_part.port}", options=options)
    http = httpx2.Client(base_url=f"http://127.0.0.1:{http_part.port}", timeout=30)
    try:
        yield House(queue=queue, http=http, channel=channel, parts=parts, refused=refused)
    finally:
        http.close()
        channel.close()
        http_part.stop(5)
        grpc_part.stop(5)


def json_span(**fields: Any) -> dict[str, Any]:
    given = {
        "traceId": otlp.TRACE_ID.hex(),
        "spanId": "eee19b7ec3c1b174",
        "startTimeUnixNano": str(otlp.START),
        "endTimeUnixNano": str(otlp.START + 1),
    }
    return given | fields


def wait_for(seen: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.002)
