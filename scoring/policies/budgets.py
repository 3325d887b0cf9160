"""Whether a run stayed within its limits; what is known only in part may still be too much."""

from collections.abc import Iterator, Sequence

from gnomon.model import MODEL_CALLS, Kind, Run, Step
from scoring.policies.language import Budgets
from scoring.policies.verdict import Finding, Rule, RuleKind


def over_budget(limits: Budgets, run: Run, steps: Sequence[Step]) -> Iterator[Finding]:
    """Yield a finding for each limit that was passed, or that can not be compared."""
    spent: tuple[tuple[str, float | None, float | None, bool], ...] = (
        ("steps", limits.steps, run.steps, True),
        ("model_calls", limits.model_calls, run.llm_calls, True),
        ("tool_calls", limits.tool_calls, run.tool_calls, True),
        ("tokens", limits.tokens, _tokens(run), _all_told(run, steps)),
        ("usd", limits.usd, run.cost_usd, run.cost_usd is not None and not run.unpriced_calls),
        ("seconds", limits.seconds, run.duration_ns / 1e9, True),
    )
    for name, limit, value, whole in spent:
        rule = Rule(f"budgets.{name}", RuleKind.BUDGET)
        if limit is None:
            continue
        if value is not None and value > limit:
            root = [run.root_span_id] if run.root_span_id else []
            least = "" if whole else "at least "
            message = f"{least}{value:g} {name}, at most {limit:g} allowed"
            yield rule.broken(message, root)
        elif not whole:
            known = "not known" if value is None else f"known only in part: {value:g}"
            reason = f"{name} of this run are {known}"
            yield rule.unknown(reason, [])
        else:
            yield rule.kept()


def _tokens(run: Run) -> int | None:
    known = [part for part in (run.input_tokens, run.output_tokens) if part is not None]
    return sum(known) if known else None


def _all_told(run: Run, steps: Sequence[Step]) -> bool:
    """Return whether every model call reported its tokens: what it read and what it wrote."""
    if run.input_tokens is None or (run.output_tokens is None and run.llm_calls):
        return False
    if run.usage_source == "aggregate":
        return True
    calls = (step for step in steps if step.counted and step.kind in MODEL_CALLS)
    return all(_told(step) for step in calls)


def _told(step: Step) -> bool:
    if step.input_tokens is None:
        # A call that failed before anything was read has nothing to report.
        return step.status == "error" and step.output_tokens is None
    return step.output_tokens is not None or step.kind is Kind.EMBEDDING or step.status == "error"
