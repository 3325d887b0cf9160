"""What the telemetry of a run can not say, in sentences."""

from collections.abc import Sequence

from collector.limits import limits_of
from collector.views import Told
from gnomon.model import MODEL_CALLS, Kind, Run, RunState, RunStatus
from gnomon.web.formats import plural


def limits(run: Run, told: Sequence[Told]) -> Sequence[str]:
    """Return what a reader of this run must know before trusting its numbers."""
    known = limits_of(told)
    found = [_sentence(limit.sentence, limit.mend) for limit in known]
    names = " ".join(limit.name for limit in known)
    counted = [one for one in told if one.counted]
    models = [one for one in counted if one.kind in MODEL_CALLS]
    agents = any(one.kind is Kind.AGENT for one in told)
    if not models and (agents or counted) and "no_model_spans" not in names:
        found.append(
            "This run has no model spans, so calls, tokens and cost are unknown, not zero. "
            "Add the instrumentor of the model provider's SDK."
        )
    silent = not any(one.input_tokens or one.output_tokens for one in models)
    if models and silent and "no_tokens" not in names:
        found.append("No model call reports tokens, so tokens and cost are unknown, not zero.")
    return [*found, *_usage(run), *_missing(run, told="orphan" in names)]


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
