"""What the telemetry of a run can not say, in sentences."""

from collections.abc import Sequence

from collector.limits import limits_of
from collector.views import Outline
from gnomon.clock import Nanos
from gnomon.model import MODEL_CALLS, Kind, Run, RunState, RunStatus, SpanId, Step, TraceId
from gnomon.web.formats import plural


def limits(run: Run, steps: Sequence[Outline]) -> Sequence[str]:
    """Return what a reader of this run must know before trusting its numbers."""
    known = limits_of(_telling(run, steps))
    found = [_sentence(limit.sentence, limit.mend) for limit in known]
    names = " ".join(limit.name for limit in known)
    counted = [step for step in steps if step.counted]
    models = [step for step in counted if step.kind in MODEL_CALLS]
    agents = any(step.kind is Kind.AGENT for step in steps)
    if not models and (agents or counted) and "no_model_spans" not in names:
        found.append(
            "This run has no model spans, so calls, tokens and cost are unknown, not zero. "
            "Add the instrumentor of the model provider's SDK."
        )
    silent = all(step.input_tokens is None and step.output_tokens is None for step in models)
    if models and silent and "no_tokens" not in names:
        found.append("No model call reports tokens, so tokens and cost are unknown, not zero.")
    return [*found, *_usage(run), *_missing(run, told="orphan" in names)]


def _telling(run: Run, steps: Sequence[Outline]) -> Sequence[Step]:
    """Return the steps that limits are read from: every model call, and one of each scope."""
    seen: set[tuple[str, str, bool]] = set()
    found = []
    for step in steps:
        mark = (step.scope_name, step.scope_version, "orphan" in step.flags)
        if mark in seen and not (step.counted and step.kind is Kind.LLM):
            continue
        seen.add(mark)
        found.append(
            Step(
                run_id=run.run_id,
                trace_id=TraceId(step.trace_id),
                span_id=SpanId(step.span_id),
                started_at=step.started_at,
                ended_at=Nanos(step.started_at + step.duration_ns),
                duration_ns=step.duration_ns,
                scope_name=step.scope_name,
                scope_version=step.scope_version,
                kind=step.kind,
                counted=step.counted,
                status=step.status,
                input_tokens=step.input_tokens,
                output_tokens=step.output_tokens,
                cached_tokens=step.cached_tokens,
                reasoning_tokens=step.reasoning_tokens,
                streamed=step.streamed,
                flags=step.flags,
            )
        )
    return found


def _sentence(text: str, mend: str) -> str:
    return f"{text[:1].upper()}{text[1:]} {mend}".rstrip()


def _usage(run: Run) -> Sequence[str]:
    found = []
    if run.usage_source == "aggregate":
        found.append(
            "Tokens come from the agent's own total, since no model call reports them; "
            "they can not be split by call."
        )
    if run.unpriced_calls:
        found.append(
            f"{plural(run.unpriced_calls, 'model call')} could not be priced: the model or its "
            "tokens are unknown. Add the model to prices in gnomon.yaml."
        )
    return found


def _missing(run: Run, *, told: bool) -> Sequence[str]:
    found = []
    if run.status is RunStatus.UNKNOWN:
        ending = (
            "It may still come." if run.state is RunState.OPEN else "How the run ended is unknown."
        )
        found.append(f"The root span never arrived. {ending}")
    if run.orphans and not told:
        found.append(
            f"{plural(run.orphans, 'step')} name a parent that never arrived; "
            "the exporter lost spans or was stopped too early."
        )
    dropped = [
        plural(number, noun)
        for number, noun in (
            (run.dropped_attributes, "attribute"),
            (run.dropped_events, "event"),
            (run.dropped_links, "link"),
        )
        if number
    ]
    if dropped:
        found.append(f"The agent's SDK dropped {', '.join(dropped)} before sending.")
    return found
