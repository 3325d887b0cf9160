"""The pure fold of a run's steps into a run: late, missing and doubled spans included (1.2)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from collector.dialects.values import found
from collector.folding import bounds
from collector.folding.gists import gist_of
from collector.folding.manifest import hash_of, pins_of
from collector.folding.parts import Part, most_frequent
from collector.folding.settling import Previous, Settler
from collector.folding.totals import costs, counts, lists, usage
from collector.spans import Span
from gnomon.clock import Nanos
from gnomon.model import Kind, Run, RunId, RunStatus, Step

_CHUNK = "gen_ai.content.completion.chunk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summing:
    """What the fold of one run needs beside its steps."""

    settler: Settler
    before: Previous | None
    last_received: Nanos
    digest: str
    """Of the spans and logs the run is folded from."""
    manifest: Mapping[str, Sequence[str]]


def run_of(run_id: RunId, parts: Sequence[Part], summing: Summing) -> tuple[Run, Nanos | None]:
    """Fold the steps of one run; also return when to fold again while it is open."""
    parts = sorted(parts, key=lambda part: part.key)
    steps = [part.step for part in parts]
    counted = [step for step in steps if step.counted]
    root, is_true_root = _root(parts)
    agent = _outermost_agent(parts)
    started, ended = min(s.started_at for s in steps), max(_end(s) for s in steps)
    orphaned = [step for step in steps if "orphan" in step.flags]
    tokens, source = usage(parts)
    pins = pins_of(parts, root, summing.manifest)
    question, answer = gist_of(parts, root, agent)
    named = lists(steps, counted) | {"error_types": _error_types(counted, root.step)}
    flags = _flags(
        steps,
        is_true_root=is_true_root,
        aggregate=source == "aggregate",
        crowded=any(len(names) > bounds.LISTED for names in named.values()),
    )
    settlement = summing.settler.settle(
        summing.before, digest=summing.digest, last_received=summing.last_received, flags=flags
    )
    run = Run(
        run_id=run_id,
        trace_ids=tuple(sorted({step.trace_id for step in steps})),
        root_span_id=root.step.span_id,
        agent_name=_agent_name(root.step, agent.step if agent else None),
        agent_version=_agent_version(root, agent, steps),
        workflow_name=_chosen(root, agent, steps, "workflow_name"),
        service_name=root.step.service_name,
        conversation_id=_chosen(root, agent, steps, "conversation_id"),
        user_id=_chosen(root, agent, steps, "user_id"),
        environment=_chosen(root, agent, steps, "environment") or "",
        business_keys=_business_keys(root, agent, steps),
        started_at=started,
        ended_at=ended,
        duration_ns=ended - started,
        active_ns=active_ns((step.started_at, _end(step)) for step in counted),
        complete=is_true_root
        and "pending" not in flags
        and not any(step.counted and step.parent_span_id for step in orphaned),
        status=RunStatus(root.step.status) if is_true_root else RunStatus.UNKNOWN,
        error_type=root.step.error_type if is_true_root else None,
        input=question,
        output=answer,
        steps=len(counted),
        spans=len(steps),
        **counts(parts),
        **tokens,
        usage_source=source,
        origin=root.step.origin,
        manifest=pins,
        manifest_hash=hash_of(pins),
        flags=flags,
        duplicates=sum(step.duplicate_of is not None for step in steps),
        orphans=len(orphaned),
        dropped_attributes=sum(part.draft.span.dropped_attributes for part in parts),
        dropped_events=sum(_dropped_events(part.draft.span) for part in parts),
        dropped_links=sum(part.draft.span.dropped_links for part in parts),
        last_received_at=summing.last_received,
        content_digest=summing.digest,
        state=settlement.state,
        settled_at=settlement.settled_at,
        revision=settlement.revision,
        **costs(counted),
        **{name: names[: bounds.LISTED] for name, names in named.items()},
    )
    return run, settlement.again


def _end(step: Step) -> Nanos:
    return max(step.started_at, step.ended_at)


def active_ns(intervals: Iterable[tuple[int, int]]) -> int:
    """Return the length of the union of intervals."""
    total = reached = 0
    for start, end in sorted(intervals):
        if end > reached:
            total += end - max(start, reached)
            reached = end
    return total


def _root(parts: Sequence[Part]) -> tuple[Part, bool]:
    """Return the root, and whether there is exactly one; otherwise the earliest step stands in.

    A root has no parent, or its parent belongs to another run (many requests under one server
    span). A run folded from several traces has one root in each; the earliest is the run's.
    """
    roots = [part for part in parts if _is_root(part)]
    by_trace = Counter(part.step.trace_id for part in roots)
    traces = {part.step.trace_id for part in parts}
    if traces == by_trace.keys() and all(number == 1 for number in by_trace.values()):
        return roots[0], True
    return parts[0], False


def _is_root(part: Part) -> bool:
    """Tell a root; of two roots that report one call, the one that is kept."""
    draft = part.draft
    if draft.parent is None:
        kept = draft.duplicate_of
        return not draft.parent_id and (kept is None or bool(kept.parent_id))
    return draft.parent.run_id != draft.run_id


def _outermost_agent(parts: Sequence[Part]) -> Part | None:
    agents = [part for part in parts if part.step.kind is Kind.AGENT]
    return min(agents, key=lambda part: (part.draft.depth, part.key)) if agents else None


def _agent_name(root: Step, agent: Step | None) -> str | None:
    if agent is not None and agent.agent_name is not None:
        return agent.agent_name
    return root.workflow_name or found(root.service_name)


def _agent_version(root: Part, agent: Part | None, steps: Sequence[Step]) -> str | None:
    if agent is not None and agent.step.agent_version is not None:
        return agent.step.agent_version
    return _chosen(root, agent, steps, "agent_version")


def _chosen(root: Part, agent: Part | None, steps: Sequence[Step], name: str) -> str | None:
    """Return the root's value, else the outermost agent's, else the most frequent one."""
    for part in (root, agent):
        if part is not None and (value := getattr(part.step, name)):
            return str(value)
    return most_frequent(getattr(step, name) for step in steps)


def _business_keys(root: Part, agent: Part | None, steps: Sequence[Step]) -> dict[str, str]:
    names = sorted({name for step in steps for name in step.business_keys})
    keys: dict[str, str] = {}
    for name in names:
        own = [part.step.business_keys.get(name) for part in (root, agent) if part is not None]
        value = next((value for value in own if value), None)
        keys[name] = value or most_frequent(s.business_keys.get(name) for s in steps) or ""
    return keys


def _error_types(counted: Sequence[Step], root: Step) -> tuple[str, ...]:
    failed = [*counted, root]
    return tuple(sorted({step.error_type for step in failed if step.error_type is not None}))


def _flags(
    steps: Sequence[Step], *, is_true_root: bool, aggregate: bool, crowded: bool
) -> tuple[str, ...]:
    flags = {flag for step in steps for flag in step.flags}
    if not is_true_root:
        flags.add("no_root")
    if aggregate:
        flags.add("aggregate_only")
    if crowded:
        flags.add(bounds.TRUNCATED)
    return tuple(sorted(flags))


def _dropped_events(span: Span) -> int:
    """Count what the source dropped, and the chunk events that nobody keeps (L2)."""
    return span.dropped_events + sum(event.name == _CHUNK for event in span.events)
