"""What the steps of a run add up to: counts, tokens, costs, names. Counted steps only (3.1, 3.2)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import fsum

from collector.dialects.usage import TOKEN_FIELDS
from collector.folding.guardrails import tripped
from collector.folding.parts import Part
from gnomon.model import MODEL_CALLS, JsonValue, Kind, Step


def counts(parts: Sequence[Part]) -> dict[str, JsonValue]:
    """Count steps by kind, and those that failed."""
    counted = [part for part in parts if part.step.counted]
    kinds = Counter(part.step.kind for part in counted)
    errors = Counter(part.step.kind for part in counted if part.step.status == "error")
    return {
        "llm_calls": kinds[Kind.LLM],
        "llm_errors": errors[Kind.LLM],
        "embedding_calls": kinds[Kind.EMBEDDING],
        "tool_calls": kinds[Kind.TOOL],
        "tool_errors": errors[Kind.TOOL],
        "retrievals": kinds[Kind.RETRIEVAL],
        "handoffs": kinds[Kind.HANDOFF],
        "human_actions": kinds[Kind.HUMAN],
        "guardrail_trips": sum(tripped(part.draft) for part in counted),
    }


def usage(parts: Sequence[Part]) -> tuple[dict[str, JsonValue], str | None]:
    """Sum model steps; only where none of them reports tokens, the outermost aggregates (3.2)."""
    calls = [part.step for part in parts if part.step.counted and part.step.kind in MODEL_CALLS]
    totals = _sums({name: getattr(step, name) for name in TOKEN_FIELDS} for step in calls)
    if totals:
        return totals, "model_steps"
    totals = _sums(part.step.aggregate_usage for part in _outermost_aggregates(parts))
    return totals, "aggregate" if totals else None


def _sums(usages: Iterable[Mapping[str, int | None]]) -> dict[str, JsonValue]:
    totals: dict[str, int] = {}
    for usage in usages:
        for name, value in usage.items():
            if value is not None:
                totals[name] = totals.get(name, 0) + value
    return totals


def _outermost_aggregates(parts: Sequence[Part]) -> list[Part]:
    """Return the steps with an aggregate that no step above them in the run has."""
    outermost: list[Part] = []
    covered: set[int] = set()
    for part in sorted(parts, key=lambda part: part.draft.depth):
        above = id(part.draft.parent) in covered
        tells = bool(part.step.aggregate_usage) and part.step.duplicate_of is None
        if tells and not above:
            outermost.append(part)
        if tells or above:
            covered.add(id(part.draft))
    return outermost


def costs(counted: Sequence[Step]) -> dict[str, JsonValue]:
    """Sum costs; a failed call without tokens has nothing to price and is not missed."""
    calls = [step for step in counted if step.kind in MODEL_CALLS]
    own = [step.cost_usd for step in calls if step.cost_usd is not None]
    told = [step.cost_reported_usd for step in calls if step.cost_reported_usd is not None]
    missing = [step for step in calls if step.cost_usd is None and _has_a_price(step)]
    return {
        "cost_usd": fsum(own) if own else None,
        "cost_reported_usd": fsum(told) if told else None,
        "unpriced_calls": len(missing),
    }


def _has_a_price(step: Step) -> bool:
    return step.status != "error" or step.input_tokens is not None


def lists(steps: Sequence[Step], counted: Sequence[Step]) -> dict[str, JsonValue]:
    """Return the distinct models, tools, agents and dialects, sorted."""
    calls = [step for step in counted if step.kind in MODEL_CALLS]
    return {
        "models": distinct(step.model for step in calls),
        "tools": distinct(step.tool_name for step in counted if step.kind is Kind.TOOL),
        "agents": distinct(step.agent_name for step in steps if step.kind is Kind.AGENT),
        "dialects": distinct(step.dialect for step in steps),
    }


def distinct(values: Iterable[str | None]) -> tuple[str, ...]:
    """Return the values that say something, sorted, each once."""
    return tuple(sorted({value for value in values if value}))
