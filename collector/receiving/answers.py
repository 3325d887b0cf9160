"""What a sender is told: success, partial success and errors, in the encoding it speaks."""

from dataclasses import dataclass
from typing import Literal

import orjson
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, RetryInfo  # type: ignore[import-untyped]
from google.rpc.status_pb2 import Status  # type: ignore[import-untyped]
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.profiles.v1development.profiles_service_pb2 import (
    ExportProfilesServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from collector.receiving.refusals import Refused, RequestReason
from gnomon.errors import GnomonError

Sent = Literal["traces", "logs", "metrics", "profiles"]
"""What a sender can send; metrics and profiles are not kept."""

RETRY_SECONDS = 5
"""What a sender is asked to wait when the queue is full or a disk is."""

_INTERNAL, _UNAVAILABLE = 13, 14

_CODES: dict[RequestReason, tuple[int, int]] = {
    "unsupported_media_type": (415, 3),
    "unsupported_encoding": (415, 12),
    "undecodable": (400, 3),
    "too_large": (413, 8),
    "unauthenticated": (401, 16),
    "forbidden": (403, 7),
    "internal": (500, _INTERNAL),
}
"""HTTP status and gRPC code of each reason; senders repeat none of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One answer, before it is written down."""

    status: int = 200
    """HTTP."""
    code: int = 0
    """gRPC."""
    message: str = ""
    rejected: int = 0
    """Items left out of a request that was taken."""
    field: str | None = None
    retry_after: int | None = None
    """Seconds."""

    @property
    def is_error(self) -> bool:
        """Whether nothing was taken."""
        return self.code != 0


def refusal(refused: Refused) -> Answer:
    """Return the answer to a request that is refused for good."""
    status, code = _CODES[refused.reason]
    return Answer(status=status, code=code, message=refused.detail, field=refused.field)


def later(error: GnomonError, seconds: int = RETRY_SECONDS) -> Answer:
    """Return the answer that makes a sender try again."""
    return Answer(
        status=503,
        code=_UNAVAILABLE,
        message=f"{error.detail.rstrip('.')}. Try again.",
        retry_after=seconds,
    )


def status_message(answer: Answer) -> Status:
    """Return the error as `google.rpc.Status` with its details."""
    status = Status(code=answer.code, message=answer.message)
    if answer.status == 400:
        violation = BadRequest.FieldViolation(field=answer.field or "", description=answer.message)
        status.details.add().Pack(BadRequest(field_violations=[violation]))
    if answer.retry_after is not None:
        info = RetryInfo()
        info.retry_delay.FromSeconds(answer.retry_after)
        status.details.add().Pack(info)
    return status


def error_body(answer: Answer, *, as_json: bool) -> bytes:
    """Return the body of an error over HTTP."""
    if not as_json:
        body: bytes = status_message(answer).SerializeToString()
        return body
    details: list[dict[str, object]] = []
    if answer.status == 400:
        violation = {"field": answer.field or "", "description": answer.message}
        details.append({"@type": _type_of(BadRequest), "fieldViolations": [violation]})
    if answer.retry_after is not None:
        details.append({"@type": _type_of(RetryInfo), "retryDelay": f"{answer.retry_after}s"})
    shown: dict[str, object] = {"code": answer.code, "message": answer.message}
    if details:
        shown["details"] = details
    return orjson.dumps(shown)


def _type_of(message: type[Message]) -> str:
    return f"type.googleapis.com/{message.DESCRIPTOR.full_name}"


def success_body(answer: Answer, sent: Sent, *, as_json: bool) -> bytes:
    """Return the `Export…ServiceResponse`; nothing at all when everything was taken."""
    if not answer.rejected and not answer.message:
        return b"{}" if as_json else b""
    if as_json:
        return orjson.dumps({"partialSuccess": _partial_json(answer, sent)})
    match sent:
        case "traces":
            traces = ExportTraceServiceResponse()
            traces.partial_success.rejected_spans = answer.rejected
            traces.partial_success.error_message = answer.message
            return traces.SerializeToString()
        case "logs":
            logs = ExportLogsServiceResponse()
            logs.partial_success.rejected_log_records = answer.rejected
            logs.partial_success.error_message = answer.message
            return logs.SerializeToString()
        case "metrics":
            metrics = ExportMetricsServiceResponse()
            metrics.partial_success.rejected_data_points = answer.rejected
            metrics.partial_success.error_message = answer.message
            return metrics.SerializeToString()
        case "profiles":
            profiles = ExportProfilesServiceResponse()
            profiles.partial_success.rejected_profiles = answer.rejected
            profiles.partial_success.error_message = answer.message
            return profiles.SerializeToString()


_JSON_NAMES: dict[Sent, str] = {
    "traces": "rejectedSpans",
    "logs": "rejectedLogRecords",
    "metrics": "rejectedDataPoints",
    "profiles": "rejectedProfiles",
}


def _partial_json(answer: Answer, sent: Sent) -> dict[str, str]:
    """Return the partial success; a 64-bit number is a string in OTLP/JSON, and 0 is left out."""
    found = {"errorMessage": answer.message}
    if answer.rejected:
        found[_JSON_NAMES[sent]] = str(answer.rejected)
    return found
