"""Steps and runs as the bytes that ClickHouse takes: made where they are folded, sent on unread."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from collector.reading.rows import Place
from gnomon import rows
from gnomon.clock import Nanos
from gnomon.model import Run, RunId, RunState, SpanId, Step, TraceId

StepKey = tuple[str, str, str, Nanos]
"""Trace id, span id, run id, start of a stored step."""

_STATE = ("state", "settled_at")
_RUN = tuple(name for name in rows.columns(Run) if name not in _STATE)
_RUN_COLUMNS = (*_RUN, "reading", *_STATE, "folded_at", "is_deleted")
"""What changes when a run settles comes last, so that the rest need not be written again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Rows of one table in one INSERT."""

    table: Literal["steps", "runs"]
    columns: Sequence[str]
    format: Literal["JSONCompactColumns", "JSONCompactEachRow"]
    body: bytes
    count: int


def steps(found: Sequence[Step], *, folded_at: int, is_deleted: int = 0) -> Iterator[Rows]:
    """Yield the present version of some steps."""
    if not found:
        return
    for part in rows.parts(found, {"folded_at": folded_at, "is_deleted": is_deleted}):
        yield Rows(
            table="steps",
            columns=part.columns,
            format="JSONCompactColumns",
            body=part.body,
            count=part.count,
        )


def gone_steps(keys: Iterable[StepKey], *, folded_at: int) -> Iterator[Rows]:
    """Yield rows that take steps back which a fold no longer names."""
    gone = [
        Step(
            run_id=RunId(run_id),
            trace_id=TraceId(trace_id),
            span_id=SpanId(span_id),
            started_at=started_at,
            ended_at=started_at,
            duration_ns=0,
        )
        for trace_id, span_id, run_id, started_at in keys
    ]
    return steps(gone, folded_at=folded_at, is_deleted=1)


def heads(found: Sequence[Run], *, reading: str) -> list[bytes]:
    """Return the rows of runs but for their state and what follows it.

    `reading` names the mapping that made them.
    """
    told = f',"{reading}",'.encode()
    return [line[:-1] + told for line in rows.lines(found, _RUN)]


def settling(head: bytes, at: Nanos) -> bytes:
    """Return the row of a run that will be settled, as far as it is known before it is written."""
    return head + f'"{RunState.SETTLED}","{rows.moment(at)}",'.encode()


def settled(row: bytes, *, folded_at: int) -> bytes:
    """Return the row that `settling` began."""
    return row + f"{folded_at},0]".encode()


def row(head: bytes, run: Run, *, folded_at: int, is_deleted: int = 0) -> bytes:
    """Return the row of a run in the state it has."""
    at = "null" if run.settled_at is None else f'"{rows.moment(run.settled_at)}"'
    return head + f'"{run.state}",{at},{folded_at},{is_deleted}]'.encode()


def runs(lines: Sequence[bytes]) -> Iterator[Rows]:
    """Yield the rows of runs, one a line."""
    if lines:
        yield Rows(
            table="runs",
            columns=_RUN_COLUMNS,
            format="JSONCompactEachRow",
            body=b"\n".join(lines),
            count=len(lines),
        )


def gone_runs(places: Sequence[Place], *, folded_at: int) -> Iterator[Rows]:
    """Yield rows that take runs back from where they stood."""
    gone = [
        Run(
            run_id=place.run_id,
            trace_ids=place.trace_ids,
            root_span_id=None,
            started_at=place.started_at,
            ended_at=place.started_at,
            duration_ns=0,
            active_ns=0,
            last_received_at=place.last_received_at,
        )
        for place in places
    ]
    named = zip(heads(gone, reading=""), gone, strict=True)
    return runs([row(head, run, folded_at=folded_at, is_deleted=1) for head, run in named])
