"""From spans and logs of some traces to steps and runs: pure, whatever the order of arrival."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from collector.dialects import content
from collector.folding.digests import digest_of, distinct_logs, distinct_spans, span_digest
from collector.folding.duplicates import complete_kept, mark_duplicates
from collector.folding.lineage import (
    complete_handoffs,
    inherit_agents,
    linked,
    settle_claude_code_tools,
)
from collector.folding.log_events import fill_from_logs
from collector.folding.naming import Naming, naming_of
from collector.folding.parts import Part
from collector.folding.prices import PriceList
from collector.folding.runs import Summing, run_of
from collector.folding.settling import Previous, Settler
from collector.folding.steps import Draft, draft_of, step_of
from collector.spans import LogRecord, Span
from collector.watched import Watched
from gnomon.clock import Nanos
from gnomon.model import WORK, Run, RunId, Step

__all__ = ["Folded", "Previous", "fold_traces", "read_trace"]


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
    records: dict[str, dict[bytes, LogRecord]] = {}
    for digest, log in distinct_logs(logs).items():
        records.setdefault(log.trace_id, {})[digest] = log
    parts = _parts(spans, records, watched)
    settler = Settler(quiet_period=watched.runs.quiet_period, now=now)
    runs: list[Run] = []
    again: dict[str, Nanos] = {}
    for run_id in sorted(parts):
        members = parts[run_id]
        traces = sorted({part.step.trace_id for part in members})
        summing = Summing(
            settler=settler,
            before=previous.get(run_id),
            last_received=max(received.get(trace, Nanos(0)) for trace in traces),
            digest=_content_digest(members, traces, records),
            manifest=watched.runs.manifest,
        )
        run, due = run_of(run_id, members, summing)
        runs.append(run)
        if due is not None:
            again |= {trace: min(due, again.get(trace, due)) for trace in traces}
    steps = [part.step for members in parts.values() for part in members]
    steps.sort(key=lambda step: (step.trace_id, step.started_at, step.span_id))
    return Folded(steps=steps, runs=runs, again=again)


def _parts(
    spans: Iterable[Span], records: Mapping[str, Mapping[bytes, LogRecord]], watched: Watched
) -> dict[RunId, list[Part]]:
    """Read trace by trace, and sort the steps by run."""
    naming, prices = naming_of(watched), PriceList(watched.prices)
    traces: dict[str, list[Span]] = {}
    for span in distinct_spans(spans):
        traces.setdefault(span.trace_id, []).append(span)
    parts: dict[RunId, list[Part]] = {}
    for trace_id in sorted(traces):
        logs = list(records.get(trace_id, {}).values())
        for draft in read_trace(traces[trace_id], logs, naming):
            part = _part(draft, prices)
            parts.setdefault(part.step.run_id, []).append(part)
    return parts


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


def _part(draft: Draft, prices: PriceList) -> Part:
    run_id = RunId(draft.run_id or draft.span.trace_id)
    counted = draft.kind in WORK and draft.duplicate_of is None
    if draft.is_model_call:
        draft.fill("cost_usd", prices.cost(draft), "price table", draft.text("model") or "")
    return Part(step=step_of(draft, run_id, counted=counted), draft=draft)


def _content_digest(
    members: Sequence[Part],
    traces: Sequence[str],
    records: Mapping[str, Mapping[bytes, LogRecord]],
) -> str:
    """Return a digest of the set of spans and logs a run was folded from."""
    spans = [span_digest(part.draft.span) for part in members]
    return digest_of([*spans, *(digest for trace in traces for digest in records.get(trace, ()))])
