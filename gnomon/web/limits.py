"""What the telemetry of a run can not say, in sentences; from what is known of each library."""

from collections.abc import Sequence

from collector.views import Outline
from gnomon.model import MODEL_CALLS, Kind, Run, RunState, RunStatus
from gnomon.web.formats import plural

_NO_MODEL_SPANS = (
    ("autogen", "AutoGen writes none"),
    ("crewai", "neither CrewAI instrumentor writes any"),
    ("opentelemetry.instrumentation.llamaindex", "OpenLLMetry's LlamaIndex one writes none"),
    ("opentelemetry.instrumentation.genai.openai_agents", "otel-genai-openai-agents writes none"),
)
"""Part of a scope name, and what is known of it."""
_NO_CACHED = (
    ("opentelemetry.instrumentation.openai_v2", "otel-openai-v2"),
    ("semantic_kernel", "Semantic Kernel"),
    ("smolagents", "smolagents"),
    ("openinference.instrumentation.haystack", "Haystack through OpenInference"),
)


def limits(run: Run, steps: Sequence[Outline]) -> Sequence[str]:
    """Return what a reader of this run must know before trusting its numbers."""
    counted = [step for step in steps if step.counted]
    models = [step for step in counted if step.kind in MODEL_CALLS]
    agents = any(step.kind is Kind.AGENT for step in steps)
    found: list[str] = []
    if not models and (agents or counted):
        found.append(_no_models(steps))
    if models and all(step.input_tokens is None and step.output_tokens is None for step in models):
        found.append("No model call reports tokens, so tokens and cost are unknown, not zero.")
    found += _usage(run)
    found += _missing(run)
    found += _cached(run, steps)
    return found


def _no_models(steps: Sequence[Outline]) -> str:
    why = _known(_NO_MODEL_SPANS, steps)
    return (
        f"This run has no model spans: {f'{why}; ' if why else ''}add an instrumentor of the model "
        "provider to see calls, tokens and cost."
    )


def _known(table: Sequence[tuple[str, str]], steps: Sequence[Outline]) -> str | None:
    scopes = {step.scope_name.lower() for step in steps}
    return next((words for part, words in table if any(part in name for name in scopes)), None)


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


def _missing(run: Run) -> Sequence[str]:
    found = []
    if run.status is RunStatus.UNKNOWN:
        ending = (
            "It may still come." if run.state is RunState.OPEN else "How the run ended is unknown."
        )
        found.append(f"The root span never arrived. {ending}")
    if run.orphans:
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


def _cached(run: Run, steps: Sequence[Outline]) -> Sequence[str]:
    library = _known(_NO_CACHED, steps)
    if library is None or not run.input_tokens or run.cached_tokens is not None:
        return []
    return [f"{library} does not report cached tokens, so the cost may be overstated."]
