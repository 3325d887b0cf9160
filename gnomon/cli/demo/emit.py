"""Sends spans to a receiver as agents do: OTLP over HTTP, and a part of it over gRPC."""

from collections.abc import Callable, Sequence
from typing import Protocol

import grpc
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult

from gnomon.errors import Unavailable

_TIMEOUT = 10.0
"""Seconds for one request, the exporter's own retries included."""
_EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_RETRIED = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    }
)


class Sender(Protocol):
    """A way to a receiver."""

    def send(self, spans: Sequence[ReadableSpan]) -> bool:
        """Send one batch; True: the receiver has acknowledged it."""

    def close(self) -> None:
        """Let go of the connection."""


class HttpSender:
    """The SDK's own exporter: protobuf, gzip, with its retries."""

    def __init__(self, endpoint: str) -> None:
        self._exporter = OTLPSpanExporter(
            endpoint=f"{endpoint.rstrip('/')}/v1/traces",
            timeout=_TIMEOUT,
            compression=Compression.Gzip,
        )

    def send(self, spans: Sequence[ReadableSpan]) -> bool:
        """Send one batch."""
        return self._exporter.export(spans) is SpanExportResult.SUCCESS

    def close(self) -> None:
        """Let go of the connection."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]


class GrpcSender:
    """A plain gRPC channel; the package of the gRPC exporter is not needed for one method."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._channel = grpc.insecure_channel(address, compression=grpc.Compression.Gzip)
        self._export: Callable[..., bytes] = self._channel.unary_unary(
            _EXPORT, request_serializer=None, response_deserializer=None
        )

    def send(self, spans: Sequence[ReadableSpan]) -> bool:
        """Send one batch."""
        try:
            self._export(encode_spans(spans).SerializeToString(), timeout=_TIMEOUT)
        except grpc.RpcError as error:
            code = error.code() if isinstance(error, grpc.Call) else None
            if code in _RETRIED:
                return False
            raise Unavailable(f"{self._address} refused spans over gRPC: {code}") from error
        return True

    def close(self) -> None:
        """Let go of the connection."""
        self._channel.close()
