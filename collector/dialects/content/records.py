"""Which log records belong to a span, in an order that arrival cannot change."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from collector.spans import LogRecord, Span

CALL_ATTRIBUTE: Final = "tool_use_id"
"""Claude Code joins the logs of a tool call to its span by this attribute on both."""

_CALL_KEYS: Final = (CALL_ATTRIBUTE, "gen_ai.tool.call.id")


class LogIndex:
    """The log records of some traces, found by span id and by tool call id."""

    def __init__(self, logs: Iterable[LogRecord]) -> None:
        self._by_span: dict[tuple[str, str], list[LogRecord]] = {}
        self._by_call: dict[tuple[str, str], list[LogRecord]] = {}
        for log in logs:
            self._by_span.setdefault((log.trace_id, log.span_id), []).append(log)
            if call := log.attributes.get(CALL_ATTRIBUTE):
                self._by_call.setdefault((log.trace_id, call), []).append(log)

    def of(self, span: Span) -> Sequence[LogRecord]:
        """Return the records of a span, and those of its tool call wherever they were written."""
        own = self._by_span.get((span.trace_id, span.span_id), ())
        if not self._by_call or not (call := call_id(span)):
            return own
        calls = self._by_call.get((span.trace_id, call), ())
        return [*own, *(log for log in calls if log.span_id != span.span_id)]


def call_id(span: Span) -> str | None:
    """Return the id by which logs name the tool call of a span."""
    return next((span.attributes[key] for key in _CALL_KEYS if span.attributes.get(key)), None)


def own(span: Span, logs: Iterable[LogRecord], *names: str) -> list[LogRecord]:
    """Return the records written under a span, with one of the names, in order."""
    if not logs:
        return []
    return ordered(
        log
        for log in logs
        if log.span_id == span.span_id and log.event_name in names and _same_trace(span, log)
    )


def of_call(span: Span, logs: Iterable[LogRecord], name: str) -> list[LogRecord]:
    """Return the records of a name that speak of the span's tool call, in order."""
    if not logs or not (call := call_id(span)):
        return []
    return ordered(
        log
        for log in logs
        if log.event_name == name
        and log.attributes.get(CALL_ATTRIBUTE) == call
        and _same_trace(span, log)
    )


def _same_trace(span: Span, log: LogRecord) -> bool:
    return log.trace_id == span.trace_id or not log.trace_id


def ordered(logs: Iterable[LogRecord]) -> list[LogRecord]:
    """Sort records by time, observed time and digest: the same whatever order they came in."""
    chosen = list(logs)
    return chosen if len(chosen) < 2 else sorted(chosen, key=_place)


def _place(log: LogRecord) -> tuple[int, int, bytes, str, list[tuple[str, str]]]:
    digest = hashlib.sha256(log.body.encode(errors="surrogatepass")).digest()
    return log.time, log.observed, digest, log.event_name, sorted(log.attributes.items())
