"""What stands above the tree of a run: who, with what, how long, how much."""

from collections.abc import Sequence

from gnomon.model import Run
from gnomon.web.filters import Query
from gnomon.web.formats import cost, count, duration, plural, short_count, usd
from gnomon.web.titles import keys_of


def run_facts(run: Run, order: Sequence[str]) -> Sequence[tuple[str, str, str]]:
    """Return label, value and address ('' when there is none) of what is known of a run."""
    fresh = Query(period="all")
    found = [
        (name, value, Query(period="all", keys={name: value}).url())
        for name, value in keys_of(run, order)
    ]
    if run.agent_name:
        agent = fresh.having(agent=run.agent_name)
        found.append(("Agent", run.agent_name, agent.url()))
        if run.agent_version:
            version = agent.having(version=run.agent_version)
            found.append(("Version", run.agent_version, version.url()))
    found.append(("Model", ", ".join(run.models) or _unknown(run), ""))
    took, active = duration(run.duration_ns), duration(run.active_ns)
    found.append(("Duration", took if took == active else f"{took} ({active} at work)", ""))
    found.append(("Steps", _steps(run), ""))
    cached = f", {short_count(run.cached_tokens)} cached" if run.cached_tokens else ""
    tokens = f"{short_count(run.input_tokens)} in{cached} · {short_count(run.output_tokens)} out"
    known = run.input_tokens is not None or run.output_tokens is not None
    found.append(("Tokens", tokens if known else "not reported", ""))
    found.append(("Cost", _cost(run), ""))
    if run.conversation_id:
        talk = fresh.having(conversation=run.conversation_id)
        found.append(("Conversation", run.conversation_id, talk.url()))
    if run.user_id:
        found.append(("User", run.user_id, ""))
    if run.environment:
        found.append(("Environment", run.environment, ""))
    found.append(("Similar", *similar(run)))
    return found


def similar(run: Run) -> tuple[str, str]:
    """Return in words and as an address the runs like this one: what it met, else what it used."""
    error = run.error_type or next(iter(run.error_types), "")
    tool = "" if error else next(iter(run.tools), "")
    alike = {"agent": run.agent_name, "status": str(run.status), "error": error, "tool": tool}
    words = [
        f"status {run.status}",
        f"met {error}" if error else "",
        f"used {tool}" if tool else "",
    ]
    said = ", ".join(word for word in ("same agent" if run.agent_name else "", *words) if word)
    return f"+ runs like this: {said}", Query(period="all").having(**alike).url()


def _unknown(run: Run) -> str:
    return "unknown" if run.llm_calls or run.embedding_calls else "no model call recorded"


def _cost(run: Run) -> str:
    found = cost(run.cost_usd, run.unpriced_calls) if run.cost_usd is not None else _unknown(run)
    parts = [f"{plural(run.unpriced_calls, 'call')} without a price"] if run.unpriced_calls else []
    if run.cost_reported_usd is not None:
        parts.append(f"{usd(run.cost_reported_usd)} reported")
    return f"{found} ({', '.join(parts)})" if parts else found


def _steps(run: Run) -> str:
    parts = [
        plural(number, noun)
        for number, noun in (
            (run.llm_calls, "model call"),
            (run.embedding_calls, "embedding"),
            (run.tool_calls, "tool call"),
            (run.retrievals, "retrieval"),
            (run.handoffs, "hand-off"),
            (run.guardrail_trips, "guardrail trip"),
            (run.human_actions, "human action"),
        )
        if number
    ]
    told = f" ({', '.join(parts)})" if parts else ""
    doubled = f"; {count(run.duplicates)} reported twice" if run.duplicates else ""
    return count(run.steps) + told + doubled
