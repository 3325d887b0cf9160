"""The table of tokens, cost and latency (2.6)."""

import datetime as dt

from collector.dialects.belief import BEYOND, LONGEST_NS, as_tokens, as_usd, as_wait
from collector.dialects.facts import Facts
from collector.dialects.rules import Field, Only, Source, count, dollars, inside, keys, of_span
from collector.dialects.spellings import usage_in
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
_MLFLOW = "mlflow.chat.tokenUsage"
OBJECTS = ("langfuse.observation.usage_details", _MLFLOW, "langsmith.metadata.usage_metadata")
"""Attributes that hold a usage object: all token fields are read from them, in any spelling."""

PROVIDER_METADATA = "ai.response.providerMetadata"
"""Vercel's object of what each provider tells beyond the common counts."""


def _counted(rule: str, *names: str) -> tuple[Source, ...]:
    return keys(rule, *names, take=count)


def _told(rule: str, field: str) -> tuple[Source, ...]:
    """Return the sources of a field that are usage objects."""

    def take(facts: Facts, key: str) -> JsonValue:
        raw = _is_raw_mlflow(facts) if key == _MLFLOW else None
        return facts.usage(key, without_cache=raw).get(field)

    return keys(rule, *OBJECTS, take=take)


def _is_raw_mlflow(facts: Facts) -> bool:
    """MLflow copies the counters of Anthropic and Bedrock, and writes OpenAI's under their names."""
    return unquoted(facts.attributes.get("mlflow.message.format")) in ("anthropic", "bedrock")


def _of_provider(rule: str, field: str) -> tuple[Source, ...]:
    """Return the source of a detail that is what a provider adds to Vercel's counts."""

    def take(facts: Facts, key: str) -> JsonValue:
        told = facts.data(key)
        for one in told.values() if isinstance(told, dict) else ():
            if isinstance(one, dict):
                inner = (one.get(name) for name in ("usage", "usageMetadata"))
                flat = [part for part in (one, *inner) if isinstance(part, dict)]
                found = usage_in({name: part[name] for part in flat for name in part})
                if field in found:
                    return found[field]
        return None

    return keys(rule, PROVIDER_METADATA, take=take)


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
            *_told("T1", "input_tokens"),
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
            *_told("T2", "output_tokens"),
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
                f"{_USAGE}.details.cache_read_input_tokens",
                f"{_USAGE}.details.cached_content_tokens",
                "llm.token_count.prompt_details.cache_read",
                "llm.token_count.prompt_details.cache_input",
                "ai.usage.cachedInputTokens",
                "ai.usage.inputTokenDetails.cacheReadTokens",
            ),
            *_told("T3", "cached_tokens"),
            *_counted("T3", "cache_read_tokens"),
            *_of_provider("T3", "cached_tokens"),
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
                f"{_USAGE}.details.cache_creation_input_tokens",
                "llm.token_count.prompt_details.cache_write",
                "ai.usage.inputTokenDetails.cacheWriteTokens",
            ),
            *_told("T4", "cache_write_tokens"),
            *_counted("T4", "cache_creation_tokens"),
            *keys("T4", *_LIFETIMES, take=_of_lifetimes),
            *_of_provider("T4", "cache_write_tokens"),
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
                f"{_USAGE}.details.thoughts_tokens",
                "llm.token_count.completion_details.reasoning",
                "ai.usage.reasoningTokens",
                "ai.usage.outputTokenDetails.reasoningTokens",
            ),
            *_told("T5", "reasoning_tokens"),
            *_of_provider("T5", "reasoning_tokens"),
        ),
    ),
)

TOTAL_KEYS = (
    "gen_ai.usage.total_tokens",
    "llm.usage.total_tokens",
    "llm.token_count.total",
    "ai.usage.totalTokens",
    "gen_ai.client.token.usage",
)
"""T6: used to check what the others mean, never to fill."""

RESTATED = (("T3", "metadata.usage_object"), ("T5", "gen_ai.usage.raw"))
"""Objects in which a gateway or a library restates the usage it has written into token keys."""


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
