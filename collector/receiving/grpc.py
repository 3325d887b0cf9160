"""OTLP over gRPC: the services, and the server they run in.

The threaded server, not `grpc.aio`: it was as fast here (10 spans a request 1,520 to 1,480 requests
a second, 100 spans 1,070 to 960), and it reads a message only when a thread is free for it, so that
memory stays bounded. Messages are unpacked by us: then the limit holds while they are unpacked, and
what is refused stands in the ledger.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import grpc
import structlog
from grpc_health.v1 import health, health_pb2_grpc
from grpc_health.v1.health_pb2 import HealthCheckResponse

from collector.queue.port import Signal
from collector.receiving.answers import Answer, Sent, refusal, status_message, success_body
from collector.receiving.decompress import looks_like_gzip, looks_like_zlib, unpack
from collector.receiving.discard import discarded
from collector.receiving.discard import refused as unused
from collector.receiving.intake import (
    COMMIT_SECONDS,
    Hold,
    Intake,
    Parcel,
    sender_of,
)
from collector.receiving.refusals import Refused
from gnomon.config import Settings
from gnomon.errors import ConfigError, Unavailable

_THREADS = 16
"""Requests in work at once; each may hold one message of the largest size."""
_DETAILS = "grpc-status-details-bin"
_PACKAGE = "opentelemetry.proto.collector"
_TRACES = f"{_PACKAGE}.trace.v1.TraceService"
_LOGS = f"{_PACKAGE}.logs.v1.LogsService"
_METRICS = f"{_PACKAGE}.metrics.v1.MetricsService"
_PROFILES = f"{_PACKAGE}.profiles.v1development.ProfilesService"
_CODES = {code.value[0]: code for code in grpc.StatusCode}

log = structlog.get_logger(__name__)

_Method = Callable[[bytes, grpc.ServicerContext], bytes]


class GrpcReceiver:
    """Serves the trace and log services and their health on one port."""

    name = "otlp_grpc"

    def __init__(self, intake: Intake, settings: Settings) -> None:
        self._intake = intake
        self._host = settings.host
        self._discards = settings.ingest_metrics == "discard"
        self.port = settings.otlp_grpc_port
        """The port asked for; once started, the port that was bound."""
        self._server: grpc.Server | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._health: health.HealthServicer | None = None
        self._failed = False

    def start(self) -> None:
        """Bind and serve; raises ConfigError when the port is taken."""
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="otlp-grpc")
        server = grpc.server(
            self._pool,
            options=[
                ("grpc.max_receive_message_length", self._intake.max_body),
                ("grpc.per_message_decompression", 0),
                ("grpc.so_reuseport", 0),
            ],
        )
        services = [
            _service(_TRACES, self._export("traces")),
            _service(_LOGS, self._export("logs")),
        ]
        unkept = self._discard if self._discards else self._refuse
        services += [
            _service(_METRICS, unkept("metrics")),
            _service(_PROFILES, unkept("profiles")),
        ]
        server.add_generic_rpc_handlers(services)
        self._health = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        for service in ("", _TRACES, _LOGS):
            self._health.set(service, HealthCheckResponse.SERVING)
        host = f"[{self._host}]" if ":" in self._host else self._host
        try:
            self.port = server.add_insecure_port(f"{host}:{self.port}")
        except RuntimeError as error:
            raise ConfigError(
                f"can not listen on {host}:{self.port};"
                " stop what listens there, or set GNOMON_OTLP_GRPC_PORT"
            ) from error
        server.start()
        self._server = server

    def stop(self, timeout: float) -> None:
        """Answer what has begun, then close."""
        server, self._server = self._server, None
        if self._health is not None:
            self._health.enter_graceful_shutdown()
        if server is not None:
            server.stop(timeout).wait(timeout + 1)
        if self._pool is not None:
            self._pool.shutdown(wait=False)

    def problem(self) -> str | None:
        """Say when nothing is served."""
        return None if self._server is not None else f"nothing listens on port {self.port}"

    def _export(self, signal: Signal) -> _Method:
        def export(message: bytes, context: grpc.ServicerContext) -> bytes:
            try:
                with self._intake.hold() as hold:
                    answer = self._answer(signal, message, _headers(context), hold)
            except Exception as error:  # noqa: BLE001 - our own bug, said and counted
                answer = self._broken(error)
            return _written(answer, signal, context)

        return export

    def _answer(
        self, signal: Signal, message: bytes, headers: dict[str, str], hold: Hold
    ) -> Answer:
        """Take one request, and answer when the queue has it."""
        parcel = Parcel(
            signal=signal,
            transport="grpc",
            sender="unknown",
            body=message,
            encoding=_encoding(message),
            is_json=False,
        )
        try:
            hold.grow(len(message))
            parcel = replace(parcel, sender=sender_of(headers))
        except Unavailable as error:
            return self._intake.busy("grpc", error)
        except Refused as refused:
            taken = self._intake.refuse(parcel, refused, None)
        else:
            taken = self._intake.take(parcel, hold)
        if taken.done is not None:
            try:
                taken.done.result(COMMIT_SECONDS)
            except Exception as error:  # noqa: BLE001 - the queue is a plug-in; the sender tries again
                return self._intake.failed("grpc", error)
        return taken.answer

    def _broken(self, error: Exception) -> Answer:
        if not self._failed:
            self._failed = True
            log.error("grpc_receiver_failed", error=repr(error), exc_info=error)
        self._intake.count_refused("grpc", "internal")
        return Answer(status=500, code=13, message="Gnomon failed on this request")

    def _refuse(self, sent: Sent) -> _Method:
        """Refuse a signal nobody reads, in the words of the other transport."""

        def export(message: bytes, context: grpc.ServicerContext) -> bytes:
            self._intake.count_refused("grpc", f"unused_{sent}")
            code = grpc.StatusCode.UNIMPLEMENTED
            answer = Answer(status=404, code=code.value[0], message=unused(sent))
            return _written(answer, sent, context)

        return export

    def _discard(self, sent: Sent) -> _Method:
        def export(message: bytes, context: grpc.ServicerContext) -> bytes:
            self._intake.count_refused("grpc", f"unused_{sent}")
            limit = self._intake.max_body
            try:
                with self._intake.hold() as hold:
                    hold.grow(len(message))
                    body = unpack(message, _encoding(message), limit=limit, grow=hold.grow)
                    answer = discarded(sent, body, is_json=False)
            except Refused as refused:
                answer = refusal(refused)
            except Unavailable as error:
                answer = self._intake.busy("grpc", error)
            return _written(answer, sent, context)

        return export


def _service(name: str, export: _Method) -> grpc.GenericRpcHandler:
    """Return a service whose one method takes and gives bytes."""
    return grpc.method_handlers_generic_handler(
        name, {"Export": grpc.unary_unary_rpc_method_handler(export)}
    )


def _headers(context: grpc.ServicerContext) -> dict[str, str]:
    return {
        key: value if isinstance(value, str) else value.decode("latin-1")
        for key, value in context.invocation_metadata()
    }


def _encoding(message: bytes) -> str:
    """Tell how a message is compressed; no OTLP request begins like gzip or zlib."""
    if looks_like_gzip(message):
        return "gzip"
    return "deflate" if looks_like_zlib(message) else "identity"


def _written(answer: Answer, sent: Sent, context: grpc.ServicerContext) -> bytes:
    """Return the response, or end the call with the status and its details."""
    if answer.is_error:
        details = status_message(answer).SerializeToString()
        context.set_trailing_metadata(((_DETAILS, details),))
        context.abort(_CODES[answer.code], answer.message)
    return success_body(answer, sent, as_json=False)
