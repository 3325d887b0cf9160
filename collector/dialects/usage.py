"""The table of tokens, cost and latency (2.6), and what the token fields mean (3.3)."""

import datetime as dt
from collections.abc import Collection, Mapping

from collector.dialects.answers import usage_in
from collector.dialects.belief import BEYOND, LONGEST_NS, as_tokens, as_usd, as_wait
from collector.dialects.facts import Facts
from collector.dialects.rules import Field, Only, Source, count, dollars, inside, keys, of_span
from collector.dialects.values import as_int, unquoted
from gnomon.clock import Nanos, to_nanos
from gnomon.model import JsonValue, Kind

TOKEN_FIELDS = (
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)

_USAGE = "gen_ai.usage"
_DETAILS = "langfuse.observation.usage_details"
_MLFLOW = "mlflow.chat.tokenUsage"
_LANGSMITH = "langsmith.metadata.usage_metadata"


def _counted(rule: str, *names: str) -> tuple[Source, ...]:
    return keys(rule, *names, take=count)


def _json(rule: str, key: str, *paths: str) -> tuple[Source, ...]:
    return inside(rule, key, *paths, take=as_tokens)


def _is_claude_code(facts: Facts) -> bool:
    return facts.dialect == "claude-code"


_LIFETIMES = tuple(
    f"anthropic.usage.cache_creation.ephemeral_{lifetime}_input_tokens" for lifetime in ("5m", "1h")
)


def _of_lifetimes(facts: Facts, _: str) -> JsonValue:
    """Add up what was written into the caches that live for five minutes and for an hour."""
    told = [as_tokens(facts.attributes.get(key)) for key in _LIFETIMES]
    known = [tokens for tokens in told if tokens is not None]
    return as_tokens(sum(known)) if known else None


_EMBEDDING = Only(kinds=frozenset({Kind.EMBEDDING}))

TOKENS: tuple[Field, ...] = (
    Field(
        "input_tokens",
        (
            *keys("T1", "ai.usage.tokens", take=count, only=_EMBEDDING),
            *_counted(
                "T1",
                f"{_USAGE}.input_tokens",
                f"{_USAGE}.prompt_tokens",
                "llm.token_count.prompt",
                "llm.usage.prompt_tokens",
                "ai.usage.inputTokens",
                "ai.usage.promptTokens",
                "ai.usage.tokens",
            ),
            *_json("T1", _DETAILS, "input", "prompt_tokens", "input_tokens"),
            *_json("T1", _MLFLOW, "input_tokens"),
            *_json("T1", _LANGSMITH, "input_tokens"),
            *keys("T1", "input_tokens", take=count, when=_is_claude_code),
        ),
    ),
    Field(
        "output_tokens",
        (
            *_counted(
                "T2",
                f"{_USAGE}.output_tokens",
                f"{_USAGE}.completion_tokens",
                "llm.token_count.completion",
                "llm.usage.completion_tokens",
                "ai.usage.outputTokens",
                "ai.usage.completionTokens",
            ),
            *_json("T2", _DETAILS, "output", "completion_tokens", "output_tokens"),
            *_json("T2", _MLFLOW, "output_tokens"),
            *_json("T2", _LANGSMITH, "output_tokens"),
            *keys("T2", "output_tokens", take=count, when=_is_claude_code),
        ),
    ),
    Field(
        "cached_tokens",
        (
            *_counted(
                "T3",
                f"{_USAGE}.cache_read.input_tokens",
                f"{_USAGE}.cache_read_input_tokens",
                f"{_USAGE}.details.cache_read_tokens",
                f"{_USAGE}.details.cached_tokens",
                "llm.token_count.prompt_details.cache_read",
                "llm.token_count.prompt_details.cache_input",
                "ai.usage.cachedInputTokens",
                "ai.usage.inputTokenDetails.cacheReadTokens",
            ),
            *_json(
                "T3",
                _DETAILS,
                "input_cached_tokens",
                "cache_read_input_tokens",
                "prompt_tokens_details.cached_tokens",
            ),
            *_json("T3", _MLFLOW, "cache_read_input_tokens"),
            *_json("T3", _LANGSMITH, "input_token_details.cache_read"),
            *_counted("T3", "cache_read_tokens"),
        ),
    ),
    Field(
        "cache_write_tokens",
        (
            *_counted(
                "T4",
                f"{_USAGE}.cache_write.input_tokens",
                f"{_USAGE}.cache_creation.input_tokens",
                f"{_USAGE}.cache_creation_input_tokens",
                f"{_USAGE}.cache_write_input_tokens",
                f"{_USAGE}.details.cache_write_tokens",
                "llm.token_count.prompt_details.cache_write",
                "ai.usage.inputTokenDetails.cacheWriteTokens",
                "cache_creation_tokens",
            ),
            *keys("T4", *_LIFETIMES, take=_of_lifetimes),
        ),
    ),
    Field(
        "reasoning_tokens",
        (
            *_counted(
                "T5",
                f"{_USAGE}.reasoning.output_tokens",
                f"{_USAGE}.reasoning_tokens",
                "llm.usage.reasoning_tokens",
                f"{_USAGE}.details.reasoning_tokens",
                "llm.token_count.completion_details.reasoning",
                "ai.usage.reasoningTokens",
                "ai.usage.outputTokenDetails.reasoningTokens",
            ),
            *_json("T5", _DETAILS, "output_reasoning_tokens"),
            *_json("T5", _LANGSMITH, "output_token_details.reasoning"),
        ),
    ),
)

AGGREGATES: Mapping[str, str] = {
    "gen_ai.aggregated_usage.input_tokens": "input_tokens",
    "gen_ai.aggregated_usage.output_tokens": "output_tokens",
    "gen_ai.aggregated_usage.cache_read.input_tokens": "cached_tokens",
    "gen_ai.aggregated_usage.cache_write.input_tokens": "cache_write_tokens",
    "gen_ai.aggregated_usage.cache_creation.input_tokens": "cache_write_tokens",
    "gen_ai.aggregated_usage.details.reasoning_tokens": "reasoning_tokens",
}
"""T7: what pydantic-ai 2 calls an aggregate."""

_CREWAI: Mapping[str, str] = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_prompt_tokens": "cached_tokens",
    "cache_creation_tokens": "cache_write_tokens",
    "reasoning_tokens": "reasoning_tokens",
}

RESTATED = (("T3", "metadata.usage_object"), ("T5", "gen_ai.usage.raw"))
"""Objects in which a gateway or a library restates the usage it has written into token keys."""

_TOTALS = ("input_tokens", "output_tokens")


def told_elsewhere(facts: Facts, own: Collection[str]) -> dict[str, tuple[str, str, int]]:
    """Return rule, key and count of what the token keys of a model call leave open.

    The provider's answer fills field by field (M8). An object that restates the usage fills input
    and output; what it says beyond them only where the span has neither under a key of its own.
    """
    found: dict[str, tuple[str, str, int]] = {}
    told = [] if facts.failed else [("M8", facts.answer_key, facts.answer.usage)]
    bare = not any(name in own for name in _TOTALS)
    for rule, key in RESTATED:
        if key in facts.attributes:
            restated = usage_in(facts.data(key))
            told.append((rule, key, {n: restated[n] for n in restated if bare or n in _TOTALS}))
    for rule, key, usage in told:
        for name, tokens in usage.items():
            if name not in own:
                found.setdefault(name, (rule, key, tokens))
    return found


def aggregated(facts: Facts) -> dict[str, int]:
    """Return what a span says about the calls below it under the keys made for that (T7)."""
    totals: dict[str, int] = {}
    for key in AGGREGATES.keys() & facts.attributes.keys():
        value = as_tokens(facts.attributes[key])
        if value is not None:
            totals[AGGREGATES[key]] = value
    if "crewai.crew.usage_metrics" in facts.attributes:
        metrics = facts.data("crewai.crew.usage_metrics")
        for name, field in _CREWAI.items():
            value = as_tokens(metrics.get(name)) if isinstance(metrics, dict) else None
            if value is not None:
                totals.setdefault(field, value)
    return totals


def is_exclusive(facts: Facts, input_key: str | None) -> bool:
    """Tell whether the input tokens leave out cache reads and writes at this source (3.3).

    `input_key`: the attribute they stand in; None where they were not read from one.
    """
    if input_key is None or input_key == "input_tokens":
        return input_key is not None
    return facts.dialect == "openllmetry" and facts.span.scope_name.endswith(".bedrock")


def inclusive(usage: dict[str, int], *, exclusive: bool, failed: bool) -> bool:
    """Bring tokens into the inclusive meaning, in place; True when the guard had to mend them."""
    if usage.get("input_tokens") == 0 and usage.get("output_tokens") == 0 and not failed:
        for name in [name for name, value in usage.items() if value == 0]:
            del usage[name]
    if "input_tokens" not in usage:
        return False
    cache = usage.get("cached_tokens", 0) + usage.get("cache_write_tokens", 0)
    if exclusive or cache > usage["input_tokens"]:
        usage["input_tokens"] += cache
        return not exclusive
    return False


def _known_cost(facts: Facts, key: str) -> JsonValue:
    """OpenLIT writes 0 where it knows no price."""
    return as_usd(facts.attributes.get(key)) or None


COST = Field(
    "cost_reported_usd",
    (
        Source("C1", "gen_ai.usage.cost", _known_cost),
        *keys("C1", "operation.cost", "llm.cost.total", "gen_ai.cost.total_cost", take=dollars),
        *inside("C1", "langfuse.observation.cost_details", "total", take=as_usd),
        *inside("C1", "mlflow.llm.cost", "total_cost", take=as_usd),
        *keys("C1", "cost_usd", take=dollars, when=_is_claude_code),
    ),
)


def _seconds(facts: Facts, key: str) -> JsonValue:
    return as_wait(facts.attributes.get(key), 1e9)


def _milliseconds(facts: Facts, key: str) -> JsonValue:
    return as_wait(facts.attributes.get(key), 1e6)


def _seconds_or_milliseconds(facts: Facts, key: str) -> JsonValue:
    """Strands sends whole milliseconds under a key that is in seconds for all others.

    The store has the double 2.0 as `2`, so that only the dialect tells.
    """
    whole = facts.dialect == "strands" and as_int(facts.attributes.get(key)) is not None
    return _milliseconds(facts, key) if whole else _seconds(facts, key)


def _since_start(facts: Facts, key: str) -> JsonValue:
    """Read an ISO time, quoted or not, as nanoseconds since the start of the span."""
    text = unquoted(facts.attributes.get(key))
    if text is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(text)
        waited = to_nanos(moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC))
    except (ValueError, OverflowError):
        return None
    return _after(facts, waited)


def _first_token_event(facts: Facts, _key: str) -> JsonValue:
    times = [event.time for event in facts.span.events if event.name == _FIRST_EVENT]
    return _after(facts, min(times)) if times else None


def _after(facts: Facts, moment: Nanos) -> int:
    waited = max(0, moment - facts.span.start)
    return waited if waited <= LONGEST_NS else BEYOND


def _has_events(facts: Facts) -> bool:
    return bool(facts.span.events)


_FIRST_EVENT = "First Token Stream Event"

TTFT = Field(
    "ttft_ns",
    (
        *keys(
            "L1",
            "gen_ai.response.time_to_first_chunk",
            "gen_ai.client.operation.time_to_first_chunk",
            take=_seconds,
        ),
        Source("L1", "gen_ai.server.time_to_first_token", _seconds_or_milliseconds),
        *keys("L1", "ai.response.msToFirstChunk", "ttft_ms", take=_milliseconds),
        Source("L1", "langfuse.observation.completion_start_time", _since_start),
        *of_span("L1", f"span event {_FIRST_EVENT}", _first_token_event, when=_has_events),
    ),
)

USAGE: tuple[Field, ...] = (*TOKENS, COST, TTFT)
