"""What log records add to steps: cost, decisions, finish reasons, classes of errors (2.10).

Tokens in logs repeat those of spans and are never added: they are kept as an aggregate, and only
where the trace holds no span of a model call.
"""

from collections.abc import Iterable, Mapping, Sequence

from collector.dialects.belief import BEYOND, as_tokens, as_usd, drop_beyond
from collector.dialects.content import ordered
from collector.dialects.failures import cut_message, error_type_of
from collector.dialects.read import read_span
from collector.dialects.tally import settle
from collector.dialects.usage import TOKEN_FIELDS
from collector.dialects.values import as_object, found
from collector.folding.steps import Draft, set_finish_reason
from collector.spans import LogRecord, Span
from gnomon.model import Kind

DETAILS = "gen_ai.client.inference.operation.details"
_FROM_DETAILS = (
    "provider",
    "request_model",
    "response_model",
    "model",
    "response_id",
    "service_tier",
    "conversation_id",
    "user_id",
    "streamed",
    "ttft_ns",
)


def fill_from_logs(drafts: Sequence[Draft], logs: Iterable[LogRecord]) -> None:
    """Let the logs of one trace fill what its spans leave open."""
    by_name: dict[str, list[LogRecord]] = {}
    for log in ordered(logs):
        if log.event_name:
            by_name.setdefault(log.event_name, []).append(log)
    if not by_name:
        return
    by_id = {draft.span.span_id: draft for draft in drafts}
    _details(by_id, by_name.get(DETAILS, ()))
    _choices(by_id, by_name.get("gen_ai.choice", ()))
    _exceptions(by_id, by_name.get("gen_ai.client.operation.exception", ()))
    _decisions(by_id, by_name.get("tool_decision", ()))
    _claude_costs(drafts, by_name.get("api_request", ()))
    _claude_errors(drafts, by_name.get("api_error", ()))
    if not any(draft.is_model_call for draft in drafts):
        _tokens(by_id, (*by_name.get(DETAILS, ()), *by_name.get("api_request", ())))


def _by_span(logs: Iterable[LogRecord]) -> Mapping[str, list[LogRecord]]:
    found_logs: dict[str, list[LogRecord]] = {}
    for log in logs:
        found_logs.setdefault(log.span_id, []).append(log)
    return found_logs


def _details(by_id: Mapping[str, Draft], logs: Iterable[LogRecord]) -> None:
    """Fill a model step from the one record that restates it; two would be two calls."""
    for span_id, own in _by_span(logs).items():
        draft = by_id.get(span_id)
        if draft is None or not draft.is_model_call or len(own) != 1:
            continue
        reading = read_span(_as_span(own[0]))
        told = reading.values
        if reading.implausible:
            draft.flags.add("implausible")
        for name in _FROM_DETAILS:
            if not (draft.failed and name in ("response_model", "response_id")):
                draft.fill(name, told.get(name), "2.10", f"log {DETAILS}")
        if draft.values.get("finish_reason") is None:
            _finish(draft, told.get("finish_reason_raw"), DETAILS)


def _as_span(log: LogRecord) -> Span:
    """Return a record that carries a span's attributes as such a span."""
    return Span(
        trace_id=log.trace_id,
        span_id=log.span_id,
        start=log.time,
        end=log.time,
        resource=log.resource,
        attributes={"gen_ai.operation.name": "chat", **log.attributes},
        scope_name=log.scope_name,
    )


def _finish(draft: Draft, raw: object, event: str) -> None:
    if raw is not None:
        draft.reading.reasons["finish_reason_raw"] = ("2.10", f"log {event}")
        set_finish_reason(draft, raw)


def _choices(by_id: Mapping[str, Draft], logs: Iterable[LogRecord]) -> None:
    for span_id, own in _by_span(logs).items():
        draft = by_id.get(span_id)
        if draft is None or not draft.is_model_call or draft.values.get("finish_reason"):
            continue
        bodies = (as_object(log.body or log.attributes.get("event_body")) for log in own)
        reasons = [
            reason for body in bodies if isinstance(reason := body.get("finish_reason"), str)
        ]
        distinct = [reason for reason in dict.fromkeys(reasons) if found(reason)]
        if distinct:
            _finish(draft, distinct[0] if len(distinct) == 1 else distinct, "gen_ai.choice")


def _exceptions(by_id: Mapping[str, Draft], logs: Iterable[LogRecord]) -> None:
    for log in logs:
        draft = by_id.get(log.span_id)
        if draft is not None and draft.failed:
            key = f"log {log.event_name}"
            message = found(log.attributes.get("exception.message"))
            draft.fill("error_message", cut_message(message) if message else None, "2.8", key)
            said = found(log.attributes.get("exception.type"))
            said = said or found(log.attributes.get("error.type"))
            name = error_type_of(said, draft.text("error_message"))
            draft.fill("error_type", name, "2.8", key)


def _decisions(by_id: Mapping[str, Draft], logs: Iterable[LogRecord]) -> None:
    """Claude Code writes the decision about a tool under the span that waited for it."""
    for log in logs:
        draft = by_id.get(log.span_id)
        if draft is not None and draft.reading.facts.claude_code_type == "tool.blocked_on_user":
            key = "log tool_decision"
            draft.fill("decision", found(log.attributes.get("decision")), "2.10", key)
            draft.fill("decision_source", found(log.attributes.get("source")), "2.10", key)


_SAME = (
    ("model", "model"),
    ("input_tokens", "input_tokens"),
    ("output_tokens", "output_tokens"),
    ("cache_read_tokens", "cache_read_tokens"),
    ("cache_creation_tokens", "cache_creation_tokens"),
)
"""What a Claude Code request and its record say alike."""


def _claude_costs(drafts: Sequence[Draft], logs: Iterable[LogRecord]) -> None:
    """Claude Code tells the cost of a request in a record under the request's parent."""
    open_calls = [draft for draft in drafts if _is_claude_request(draft) and not draft.failed]
    for log in logs:
        cost = as_usd(log.attributes.get("cost_usd"))
        matching = [draft for draft in open_calls if _is_record_of(log, draft)]
        if cost is not None and matching:
            draft = min(matching, key=lambda call: (abs(log.time - call.span.end), call.key))
            if cost >= BEYOND:
                draft.flags.add("implausible")
            else:
                draft.fill("cost_reported_usd", cost, "C1", "log api_request cost_usd")
            open_calls.remove(draft)


def _claude_errors(drafts: Sequence[Draft], logs: Iterable[LogRecord]) -> None:
    open_calls = [draft for draft in drafts if _is_claude_request(draft) and draft.failed]
    for log in logs:
        near = [draft for draft in open_calls if draft.parent_id == log.span_id]
        if near:
            draft = min(near, key=lambda call: (abs(log.time - call.span.end), call.key))
            message = found(log.attributes.get("error"))
            key = "log api_error"
            draft.fill("error_message", cut_message(message) if message else None, "E7", key)
            draft.fill("error_type", found(log.attributes.get("status_code")), "E5", key)
            open_calls.remove(draft)


def _is_claude_request(draft: Draft) -> bool:
    return draft.kind is Kind.LLM and draft.reading.facts.dialect == "claude-code"


def _is_record_of(log: LogRecord, draft: Draft) -> bool:
    if draft.parent_id != log.span_id:
        return False
    own = draft.span.attributes
    return all(own.get(mine) == log.attributes.get(theirs) for mine, theirs in _SAME)


def _tokens(by_id: Mapping[str, Draft], logs: Iterable[LogRecord]) -> None:
    """Keep what records say about model calls that left no span, on the step they belong to."""
    totals: dict[str, dict[str, int]] = {}
    for log in logs:
        if log.span_id in by_id:
            sums = totals.setdefault(log.span_id, {})
            usage, flags = _usage_of(log)
            by_id[log.span_id].flags |= flags
            for name, value in usage.items():
                sums[name] = sums.get(name, 0) + value
    for span_id, sums in totals.items():
        if sums:
            by_id[span_id].fill("aggregate_usage", sums, "2.10", "log records of model calls")


def _usage_of(log: LogRecord) -> tuple[dict[str, int], set[str]]:
    """Return the tokens a record tells, and the flags of what had to be dropped or mended."""
    reading = read_span(_as_span(log))
    if log.event_name == DETAILS:
        usage = {name: reading.values[name] for name in TOKEN_FIELDS if name in reading.values}
    else:
        known = {name: as_tokens(log.attributes.get(key)) for name, key in _RECORDED.items()}
        usage = {name: value for name, value in known.items() if value is not None}
        reading.reasons["input_tokens"] = ("T1", "input_tokens")
    flags = {"implausible"} if drop_beyond(usage) or reading.implausible else set()
    if settle(reading.facts, usage, reading.reasons):
        flags.add("tokens_adjusted")
    return usage, flags


_RECORDED = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_tokens": "cache_read_tokens",
    "cache_write_tokens": "cache_creation_tokens",
}
"""Claude Code's own counters; its input leaves out the cache (3.3)."""
