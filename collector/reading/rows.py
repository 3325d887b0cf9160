"""Rows of the store back to the nouns they were, and the place where a run stands."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collector.quick import quick
from collector.spans import Event, Link, LogRecord, Span
from collector.views import Outline, RunBucket
from gnomon.clock import Nanos
from gnomon.model import Evaluation, Kind, Origin, Run, RunId, RunState, RunStatus, Step
from gnomon.rows import columns

_span = quick(Span)
_KINDS = {kind.value: kind for kind in Kind}
_ORIGINS = {origin.value: origin for origin in Origin}
_OUTLINE = columns(Outline)
_LOG = columns(LogRecord)
_BUCKET = columns(RunBucket)
_STEP_LISTS = ("agent_path", "tags", "guardrails", "flags")
_RUN_LISTS = ("trace_ids", "error_types", "models", "tools", "agents", "dialects", "flags")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the row of a run stands, and what the next fold needs of it."""

    run_id: RunId
    started_at: Nanos
    trace_ids: Sequence[str]
    state: RunState
    settled_at: Nanos | None
    revision: int
    last_received_at: Nanos
    content_digest: str
    reading: str
    folded_at: int


def span(row: Sequence[Any], version: str = "") -> Span:
    """Return a span from a row in the order of `statements.SPAN_COLUMNS`."""
    (
        trace_id, span_id, parent_span_id, trace_state, name, kind, start, end,
        status_code, status_message, resource, attributes, scope_name, scope_version,
        event_times, event_names, event_attributes, link_traces, link_spans, link_attributes,
        dropped_attributes, dropped_events, dropped_links,
    ) = row  # fmt: skip
    return _span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent_span_id,
        trace_state=trace_state,
        name=name,
        kind=kind,
        start=start,
        end=end,
        status_code=status_code,
        status_message=status_message,
        resource=resource,
        attributes=attributes,
        scope_name=scope_name,
        scope_version=scope_version,
        events=[
            Event(time=time, name=event, attributes=values)
            for time, event, values in zip(event_times, event_names, event_attributes, strict=True)
        ]
        if event_times
        else (),
        links=[
            Link(trace_id=trace, span_id=linked, attributes=values)
            for trace, linked, values in zip(link_traces, link_spans, link_attributes, strict=True)
        ]
        if link_traces
        else (),
        dropped_attributes=dropped_attributes,
        dropped_events=dropped_events,
        dropped_links=dropped_links,
        version=version,
    )


def unread_span(row: Sequence[Any]) -> Span:
    """Return a span from a row of `collector.reading.unread`: its version comes first."""
    version, *others = row
    return span(others, version)


def log_record(row: Mapping[str, Any]) -> LogRecord:
    """Return a log record from a row by column name."""
    return LogRecord(**row)


def log_line(row: Sequence[Any]) -> LogRecord:
    """Return a log record from a row in the order of its fields."""
    return LogRecord(**dict(zip(_LOG, row, strict=True)))


def step(row: dict[str, Any]) -> Step:
    """Return a step from a row by column name; the row is used up."""
    row["kind"] = _KINDS[row["kind"]]
    row["origin"] = _ORIGINS[row["origin"]]
    for name in _STEP_LISTS:
        row[name] = tuple(row[name])
    row["evaluations"] = tuple(Evaluation(**given) for given in row["evaluations"])
    return Step(**row)


def run(row: dict[str, Any]) -> Run:
    """Return a run from a row by column name; the row is used up."""
    for name in _RUN_LISTS:
        row[name] = tuple(row[name])
    row["origin"] = _ORIGINS[row["origin"]]
    row["state"] = RunState(row["state"])
    row["status"] = RunStatus(row["status"])
    return Run(**row)


def outline(row: Sequence[Any]) -> Outline:
    """Return a line of the tree from a row in the order of its fields."""
    named = dict(zip(_OUTLINE, row, strict=True))
    named["kind"] = _KINDS[named["kind"]]
    named["agent_path"] = tuple(named["agent_path"])
    named["flags"] = tuple(named["flags"])
    return Outline(**named)


def place(row: Mapping[str, Any]) -> Place:
    """Return a place from a row by column name."""
    return Place(**{**row, "state": RunState(row["state"]), "trace_ids": tuple(row["trace_ids"])})


def newest(places: Iterable[Place]) -> dict[RunId, Place]:
    """Return the last written place of each run."""
    found: dict[RunId, Place] = {}
    for place in places:
        known = found.get(place.run_id)
        if known is None or place.folded_at > known.folded_at:
            found[place.run_id] = place
    return found


def bucket(row: Mapping[str, Any]) -> RunBucket:
    """Return the figures of a bucket from a row by column name."""
    return RunBucket(**{name: row[name] for name in _BUCKET})
