"""Digests of spans and log records: equal content, equal digest, whatever the order of arrival."""

import json
from collections.abc import Iterable
from hashlib import sha256

import orjson

from collector.spans import LogRecord, Span


def distinct_spans(spans: Iterable[Span]) -> list[Span]:
    """Keep one version of each span: the later end, then more attributes, then larger digest."""
    kept: dict[tuple[str, str], Span] = {}
    for span in spans:
        key = (span.trace_id, span.span_id)
        known = kept.get(key)
        if known is None or _weight(span) > _weight(known):
            kept[key] = span
    return list(kept.values())


def _weight(span: Span) -> tuple[int, int, bytes]:
    return span.end, len(span.attributes), span_digest(span)


def distinct_logs(logs: Iterable[LogRecord]) -> dict[bytes, LogRecord]:
    """Return each record once, by its digest."""
    return {log_digest(log): log for log in logs}


def span_digest(span: Span) -> bytes:
    """Return a digest of everything a span says.

    The store names the content of its spans already, by a hash over all columns, which is what
    decides between two versions of a span. Elsewhere the order of attributes does not matter.
    """
    if span.version:
        return f"{span.trace_id} {span.span_id} {span.version}".encode()
    return _digest(
        [
            [span.trace_id, span.span_id, span.parent_span_id, span.trace_state, span.name],
            [span.kind, span.start, span.end, span.status_code, span.status_message],
            [span.scope_name, span.scope_version],
            [span.dropped_attributes, span.dropped_events, span.dropped_links],
            span.resource,
            span.attributes,
            [[event.time, event.name, event.attributes] for event in span.events],
            [[link.trace_id, link.span_id, link.attributes] for link in span.links],
        ]
    )


def log_digest(log: LogRecord) -> bytes:
    """Return a digest of everything a log record says."""
    return _digest(
        [
            [log.trace_id, log.span_id, log.time, log.observed, log.event_name, log.severity],
            [log.body, log.scope_name],
            log.resource,
            log.attributes,
        ]
    )


def digest_of(digests: Iterable[bytes]) -> str:
    """Return the digest of a set of digests, in hex."""
    whole = sha256()
    for one in sorted(set(digests)):
        whole.update(one)
    return whole.hexdigest()[:32]


def _digest(value: list[object]) -> bytes:
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):
        text = json.dumps(value, sort_keys=True).encode()  # lone surrogates, huge numbers
    return sha256(text).digest()
