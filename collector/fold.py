"""From spans and logs of some traces to steps and runs: pure, whatever the order of arrival."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from collector.dialects import content
from collector.dialects.values import dumps
from collector.duplicates import complete_kept, mark_duplicates
from collector.lineage import complete_handoffs, inherit_agents, linked, settle_claude_code_tools
from collector.log_events import fill_from_logs
from collector.naming import Naming, naming_of
from collector.parts import Part
from collector.prices import PriceList
from collector.runs import run_of
from collector.spans import LogRecord, Span
from collector.steps import Draft, draft_of, step_of
from collector.watched import Watched
from gnomon.clock import Nanos
from gnomon.model import WORK, Run, RunId, RunState, Step

PATIENCE = 10
"""A run without a root, or with a pending span, settles after so many quiet periods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Previous:
    """What is stored of a run from the last time it was folded."""

    run_id: RunId
    state: RunState
    revision: int
    settled_at: Nanos | None
    content_digest: str
    trace_ids: Sequence[str]
    started_at: Nanos


@dataclass(frozen=True, slots=True, kw_only=True)
class Folded:
    """The steps and runs of some traces, and when each trace with an open run is due again."""

    steps: Sequence[Step]
    runs: Sequence[Run]
    again: Mapping[str, Nanos]


def fold_traces(
    spans: Iterable[Span],
    logs: Iterable[LogRecord],
    *,
    watched: Watched,
    previous: Mapping[RunId, Previous],
    received: Mapping[str, Nanos],
    now: Nanos,
) -> Folded:
    """Fold whole traces; every trace a run lies in must be there, or the run is only a part.

    `received` tells when something last came for each trace.
    """
    naming, prices = naming_of(watched), PriceList(watched.prices)
    records = _distinct_logs(logs)
    parts: dict[RunId, list[Part]] = {}
    for trace_id, own in sorted(_by_trace(_distinct_spans(spans)).items()):
        for part in _fold_trace(own, records.get(trace_id, ()), naming, prices):
            parts.setdefault(part.step.run_id, []).append(part)
    quiet = watched.runs.quiet_period // dt.timedelta(microseconds=1) * 1_000
    runs = []
    again: dict[str, Nanos] = {}
    for run_id in sorted(parts):
        members = parts[run_id]
        run = run_of(
            run_id,
            members,
            last_received=Nanos(
                max(received.get(trace, 0) for trace in {p.step.trace_id for p in members})
            ),
            digest=_content_digest(members, records),
            manifest=watched.runs.manifest,
        )
        run, due = _settled(run, previous.get(run_id), quiet=quiet, now=now)
        runs.append(run)
        for trace in run.trace_ids if due is not None else ():
            again[trace] = min(due or now, again.get(trace, due or now))
    steps = sorted(
        (part.step for members in parts.values() for part in members),
        key=lambda step: (step.trace_id, step.started_at, step.span_id),
    )
    return Folded(steps=steps, runs=runs, again=again)


def _fold_trace(
    spans: Sequence[Span], logs: Sequence[LogRecord], naming: Naming, prices: PriceList
) -> list[Part]:
    """Read the spans of one trace and let them speak of each other."""
    drafts = read_trace(spans, logs, naming)
    return [Part(step=prices.priced(_finished(draft)), draft=draft) for draft in drafts]


def read_trace(spans: Iterable[Span], logs: Sequence[LogRecord], naming: Naming) -> list[Draft]:
    """Return the steps of one trace as drafts, parents first, with everything the trace adds."""
    by_span = content.LogIndex(logs)
    drafts = linked(draft_of(span, by_span.of(span), naming) for span in spans)
    settle_claude_code_tools(drafts)
    if logs:
        fill_from_logs(drafts, logs)
    inherit_agents(drafts)
    complete_handoffs(drafts)
    mark_duplicates(drafts)
    complete_kept(drafts)
    return drafts


def _finished(draft: Draft) -> Step:
    run_id = RunId(draft.run_id or draft.span.trace_id)
    counted = draft.kind in WORK and draft.duplicate_of is None
    return step_of(draft, run_id, counted=counted)


def _settled(
    run: Run, before: Previous | None, *, quiet: int, now: Nanos
) -> tuple[Run, Nanos | None]:
    """Decide whether more is expected of a run; also return when to look again if so.

    A settled run is reopened, and its revision raised, only by new content: a repeat of what is
    known changes nothing.
    """
    if before is not None and before.state is RunState.SETTLED:
        if before.content_digest == run.content_digest:
            return _as_settled(run, before.settled_at, before.revision), None
        revision = before.revision + 1
    else:
        revision = 0 if before is None else before.revision
    patient = "pending" in run.flags or "no_root" in run.flags
    due = Nanos(run.last_received_at + quiet * (PATIENCE if patient else 1))
    if now >= due:
        return _as_settled(run, due, revision), None
    return replace(run, state=RunState.OPEN, revision=revision), due


def _as_settled(run: Run, at: Nanos | None, revision: int) -> Run:
    complete = run.complete and "pending" not in run.flags
    return replace(run, state=RunState.SETTLED, settled_at=at, revision=revision, complete=complete)


def _by_trace(spans: Iterable[Span]) -> dict[str, list[Span]]:
    traces: dict[str, list[Span]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    return traces


def _distinct_spans(spans: Iterable[Span]) -> Iterable[Span]:
    """Keep one version of each span: the later end, then more attributes, then larger digest."""
    kept: dict[tuple[str, str], Span] = {}
    for span in spans:
        key = (span.trace_id, span.span_id)
        known = kept.get(key)
        if known is None or _weight(span) > _weight(known):
            kept[key] = span
    return kept.values()


def _weight(span: Span) -> tuple[int, int, bytes]:
    return span.end, len(span.attributes), span_digest(span)


def _distinct_logs(logs: Iterable[LogRecord]) -> dict[str, list[LogRecord]]:
    """Group log records by trace, each once."""
    seen: set[bytes] = set()
    records: dict[str, list[LogRecord]] = {}
    for log in logs:
        digest = log_digest(log)
        if digest not in seen:
            seen.add(digest)
            records.setdefault(log.trace_id, []).append(log)
    return records


def _content_digest(members: Sequence[Part], records: Mapping[str, Sequence[LogRecord]]) -> str:
    """Return a digest of the set of spans and logs a run was folded from."""
    spans = {span_digest(part.draft.span) for part in members}
    traces = {part.step.trace_id for part in members}
    logs = {log_digest(log) for trace in traces for log in records.get(trace, ())}
    digest = blake2b(digest_size=16)
    for one in (*sorted(spans), b"", *sorted(logs)):
        digest.update(one)
    return digest.hexdigest()


def span_digest(span: Span) -> bytes:
    """Return a digest of everything a span says; the order of attributes does not matter."""
    return _digest(
        [
            [span.trace_id, span.span_id, span.parent_span_id, span.trace_state, span.name],
            [span.kind, span.start, span.end, span.status_code, span.status_message],
            [span.scope_name, span.scope_version],
            [span.dropped_attributes, span.dropped_events, span.dropped_links],
            sorted(span.resource.items()),
            sorted(span.attributes.items()),
            [[event.time, event.name, sorted(event.attributes.items())] for event in span.events],
            [[link.trace_id, link.span_id, sorted(link.attributes.items())] for link in span.links],
        ]
    )


def log_digest(log: LogRecord) -> bytes:
    """Return a digest of everything a log record says."""
    return _digest(
        [
            [log.trace_id, log.span_id, log.time, log.observed, log.event_name, log.severity],
            [log.body, log.scope_name],
            sorted(log.resource.items()),
            sorted(log.attributes.items()),
        ]
    )


def _digest(value: list[object]) -> bytes:
    return blake2b(dumps(value).encode(), digest_size=16).digest()
