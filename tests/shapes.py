"""Runs of extreme shapes: chains, fans, and mixtures, with ids and times as irregular as real ones."""

import hashlib
from collections.abc import Sequence

from gnomon.clock import Nanos
from gnomon.model import Kind, Run, RunId, RunState, RunStatus, SpanId, Step, TraceId
from tests.desk import NOW, SECOND

NOBODY = -1


def chain(count: int) -> Sequence[int]:
    """Return the parents of steps that lie in one another."""
    return range(NOBODY, count - 1)


def fan(count: int) -> Sequence[int]:
    """Return the parents of steps that all lie in the first."""
    return [NOBODY, *[0] * (count - 1)]


def fan_of_chains(chains: int, deep: int) -> Sequence[int]:
    """Return the parents of many chains that begin in one step."""
    return [NOBODY, *(0 if n % deep == 0 else n for n in range(chains * deep))]


def chain_of_fans(levels: int, wide: int) -> Sequence[int]:
    """Return the parents of a chain each level of which has leaves beside the next level."""
    return [NOBODY, *((n // wide) * wide for n in range(levels * wide))]


def span_of(index: int) -> SpanId:
    """Return the id of a step."""
    return SpanId(_digest("span", index)[:16])


def shaped(
    parents: Sequence[int], *, root: str, failed: int | None = None, kind: Kind = Kind.TOOL
) -> tuple[Run, list[Step]]:
    """Return a run whose steps lie in those named; `failed` is one that failed."""
    length = 50_000_000
    steps = [
        _step(index, parent, len(parents) - index, root, kind, failed=index == failed)
        for index, parent in enumerate(parents)
    ]
    run = Run(
        run_id=RunId(root),
        trace_ids=[TraceId(root)],
        root_span_id=steps[0].span_id,
        agent_name="crawler",
        agent_version="2",
        started_at=steps[0].started_at,
        ended_at=Nanos(steps[0].started_at + len(parents) * length),
        duration_ns=len(parents) * length,
        active_ns=len(parents) * length,
        status=RunStatus.OK,
        state=RunState.SETTLED,
        steps=len(parents),
        spans=len(parents),
        tool_calls=len(parents),
        last_received_at=steps[0].ended_at,
    )
    return run, steps


def _step(index: int, parent: int, left: int, root: str, kind: Kind, *, failed: bool) -> Step:
    irregular = int(_digest("time", index)[:6], 16)
    start = NOW - 600 * SECOND + index * 50_000_000 + irregular
    length = left * 50_000_000 - irregular
    return Step(
        run_id=RunId(root),
        trace_id=TraceId(root),
        span_id=span_of(index),
        parent_span_id=SpanId("") if parent == NOBODY else span_of(parent),
        started_at=Nanos(start),
        ended_at=Nanos(start + length),
        duration_ns=length,
        kind=kind,
        counted=kind is Kind.TOOL,
        span_name=f"delegate to the next specialist {irregular % 97}",
        agent_name="crawler",
        tool_name=f"fetch_{index}" if kind is Kind.TOOL else None,
        tool_arguments="{}" if kind is Kind.TOOL else None,
        status="error" if failed else "ok",
        error_type="ToolTimeout" if failed else None,
    )


def _digest(what: str, index: int) -> str:
    return hashlib.sha256(f"{what} {index}".encode()).hexdigest()
