"""Looking through a request once: count, check ids and times, mend, and keep the bytes if we can."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

from google.protobuf.message import DecodeError, EncodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

from collector.queue.port import Signal
from collector.receiving import glance, twins
from collector.receiving.mend import Mender
from collector.receiving.otlp_json import FromJson
from collector.receiving.refusals import ItemReason, Refused, Tally
from collector.spans import FLAGS_ATTRIBUTE
from gnomon.clock import Nanos

FUTURE = 300 * 1_000_000_000
"""Nanoseconds a sender's clock may be ahead of ours before its spans are marked `bad_clock`."""

_FLAGS_FIELD = b"\x0a" + bytes([len(FLAGS_ATTRIBUTE)]) + FLAGS_ATTRIBUTE.encode()
"""How the key of our own flags stands in a request; whoever sends it may not set them."""

_NOUNS: dict[Signal, str] = {"traces": "spans", "logs": "log records"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """What is left of a request, and what is told to its sender."""

    payload: bytes
    """Protobuf of what is accepted; b'' if nothing is."""
    received: int
    rejected: dict[str, int] = field(default_factory=dict)
    message: str = ""
    """Why items were rejected, for `partial_success`."""
    traces: Sequence[str] = ()


class Inspector:
    """Inspects requests. Holds the twins, and nothing of any request."""

    def __init__(self, *, max_value: int) -> None:
        self._max_value = max_value
        self._strict = twins.strict()
        self._loose = twins.loose()

    def inspect(
        self, signal: Signal, body: bytes, now: Nanos, *, from_json: FromJson | None = None
    ) -> Inspected:
        """Look through a protobuf request; raises Refused when it can not be read at all.

        `from_json`: what the reader of JSON made of the request; its flags are ours.
        """
        legacy = 0 if from_json is None else from_json.legacy
        repair = False
        if from_json is None and _FLAGS_FIELD in body:
            repair = not _is_readable(signal, body)
        elif not legacy:
            try:
                fine = self._glance(signal, body, now + FUTURE)
            except EncodeError:  # a nested value
                fine = None
            except DecodeError:  # bytes as a value, bad text, or garbage
                fine = None
                repair = not _is_readable(signal, body)
            if fine is not None:
                return fine
        return self._mend(signal, body, now, repair=repair, from_json=from_json)

    def _glance(self, signal: Signal, body: bytes, horizon: int) -> Inspected | None:
        """Return the result for a request that needs no change; this is the fast way."""
        size = self._max_value if len(body) > self._max_value else None
        limits = glance.Limits(size=size, horizon=horizon)
        if signal == "traces":
            spans = self._strict.traces.FromString(body)
            same = len(spans.SerializeToString()) == len(body)
            found = glance.spans(spans, limits) if same else None
        else:
            logs = self._strict.logs.FromString(body)
            same = len(logs.SerializeToString()) == len(body)
            found = glance.records(logs, limits) if same else None
        if found is None:
            return None
        received, traces = found
        payload = body if received else b""
        return Inspected(payload=payload, received=received, traces=_hex(traces))

    def _mend(
        self, signal: Signal, body: bytes, now: Nanos, *, repair: bool, from_json: FromJson | None
    ) -> Inspected:
        family = self._loose.traces if signal == "traces" else self._loose.logs
        mender = Mender(
            max_value=self._max_value,
            horizon=now + FUTURE,
            text_fields=self._loose.text_fields,
            repair=repair,
            flags_are_ours=from_json is not None,
        )
        bench = _Bench(mender, now)
        bench.leave_out(0 if from_json is None else from_json.legacy)
        try:
            request = family.FromString(body)
            if signal == "traces":
                bench.spans(cast("ExportTraceServiceRequest", request))
            else:
                bench.records(cast("ExportLogsServiceRequest", request))
        except DecodeError as error:
            raise Refused(
                "undecodable", f"the body is no OTLP protobuf: {_cause(error)}"
            ) from error
        payload = body
        if mender.changed or bench.tally.total or request.ByteSize() != len(body):
            request.DiscardUnknownFields()
            payload = request.SerializeToString()
        received = bench.kept + bench.tally.total
        return Inspected(
            payload=payload if bench.kept else b"",
            received=received,
            rejected=bench.tally.rejected,
            message=bench.tally.sentence(received, _NOUNS[signal]),
            traces=_hex(bench.traces),
        )


class _Bench:
    """Where one request lies while it is mended, item by item."""

    def __init__(self, mender: Mender, now: int) -> None:
        self._mender = mender
        self._now = now
        self.tally = Tally()
        self.kept = 0
        self.traces: dict[bytes, None] = {}

    def leave_out(self, legacy: int) -> None:
        """Count items that stand where old OTLP had them."""
        if legacy:
            self.tally.add("legacy_library_spans", count=legacy)

    def spans(self, request: ExportTraceServiceRequest) -> None:
        """Mend the spans and take out those that can not be kept."""
        for block in request.resource_spans:
            self._take_out_legacy(block)
            around = self._mender.surroundings(block, block.resource)
            for scoped in block.scope_spans:
                shared = around | self._mender.surroundings(scoped, scoped.scope)
                kept = [span for span in scoped.spans if self._admits_span(span)]
                for span in kept:
                    self._mender.span(span, shared)
                    self.traces[span.trace_id] = None
                self.kept += len(kept)
                if len(kept) != len(scoped.spans):
                    scoped.ClearField("spans")
                    scoped.spans.extend(kept)

    def records(self, request: ExportLogsServiceRequest) -> None:
        """Mend the log records and take out those that can not be kept."""
        for block in request.resource_logs:
            self._take_out_legacy(block)
            around = self._mender.surroundings(block, block.resource)
            for scoped in block.scope_logs:
                shared = around | self._mender.surroundings(scoped, scoped.scope)
                kept = [record for record in scoped.log_records if self._admits_record(record)]
                for record in kept:
                    self._mender.log_record(record, shared, self._now)
                    if record.trace_id:
                        self.traces[record.trace_id] = None
                self.kept += len(kept)
                if len(kept) != len(scoped.log_records):
                    scoped.ClearField("log_records")
                    scoped.log_records.extend(kept)

    def _take_out_legacy(self, block: ResourceSpans | ResourceLogs) -> None:
        old = block.legacy  # type: ignore[union-attr] # the twins have it
        self.leave_out(sum(len(library.items) for library in old))
        block.ClearField("legacy")  # type: ignore[arg-type]

    def _admits_span(self, span: Span) -> bool:
        trace_id, span_id = span.trace_id, span.span_id
        reason: ItemReason | None = None
        example = span_id
        if len(trace_id) != 16 or trace_id == glance.NO_TRACE_ID:
            reason, example = "invalid_trace_id", trace_id
        elif len(span_id) != 8 or span_id == glance.NO_SPAN_ID:
            reason = "invalid_span_id"
        elif not span.start_time_unix_nano and not span.end_time_unix_nano:
            reason = "invalid_time"
        if reason is not None:
            self.tally.add(reason, example)
        return reason is None

    def _admits_record(self, record: LogRecord) -> bool:
        """A log record may stand outside any trace, but an id it has must be one."""
        trace_id, span_id = record.trace_id, record.span_id
        if trace_id and len(trace_id) != 16:
            self.tally.add("invalid_trace_id", trace_id)
            return False
        if span_id and len(span_id) != 8:
            self.tally.add("invalid_span_id", span_id)
            return False
        return True


def _is_readable(signal: Signal, body: bytes) -> bool:
    """Tell whether the real decoder takes a body: then every text in it is UTF-8."""
    real = ExportTraceServiceRequest if signal == "traces" else ExportLogsServiceRequest
    try:
        real.FromString(body)
    except DecodeError:
        return False
    return True


def _cause(error: DecodeError) -> str:
    """Return the decoder's own words without the name of the type."""
    return str(error).rpartition(": ")[2] or "unreadable"


def _hex(traces: Iterable[bytes]) -> tuple[str, ...]:
    return tuple(trace.hex() for trace in traces)
