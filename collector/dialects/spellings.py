"""Usage objects: how providers and libraries spell the tokens of a call inside JSON (2.6, 3.3)."""

from collections.abc import Mapping
from typing import Final

from collector.dialects.belief import BEYOND, as_tokens
from collector.dialects.meaning import LeftOut, bring, decide
from gnomon.model import JsonValue

Path = tuple[str, ...]


def _paths(*spellings: str) -> tuple[Path, ...]:
    return tuple(tuple(spelling.split(".")) for spelling in spellings)


SPELLINGS: Final[Mapping[str, tuple[Path, ...]]] = {
    "input_tokens": _paths(
        "input",
        "prompt_tokens",
        "input_tokens",
        "promptTokens",
        "inputTokens",
        "prompt_token_count",
        "promptTokenCount",
    ),
    "output_tokens": _paths(
        "output",
        "completion_tokens",
        "output_tokens",
        "completionTokens",
        "outputTokens",
        "candidates_token_count",
        "candidatesTokenCount",
    ),
    "cached_tokens": _paths(
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
        "input_token_details.cache_read",
        "inputTokenDetails.cacheReadTokens",
        "inputTokensDetails.cachedTokens",
        "promptTokensDetails.cachedTokens",
        "input_cached_tokens",
        "input_cache_read",
        "cache_read_input_tokens",
        "cacheReadInputTokens",
        "cache_read_tokens",
        "cached_input_tokens",
        "cachedInputTokens",
        "cachedPromptTokens",
        "prompt_cache_hit_tokens",
        "cached_content_token_count",
        "cachedContentTokenCount",
    ),
    "cache_write_tokens": _paths(
        "prompt_tokens_details.cache_write_tokens",
        "prompt_tokens_details.cache_creation_tokens",
        "input_tokens_details.cache_write_tokens",
        "input_token_details.cache_creation",
        "inputTokenDetails.cacheWriteTokens",
        "input_cache_creation",
        "cache_creation_input_tokens",
        "cache_write_input_tokens",
        "cacheCreationInputTokens",
        "cacheWriteInputTokens",
        "cache_creation_tokens",
        "cache_write_tokens",
    ),
    "reasoning_tokens": _paths(
        "completion_tokens_details.reasoning_tokens",
        "output_tokens_details.reasoning_tokens",
        "output_tokens_details.thinking_tokens",
        "output_token_details.reasoning",
        "outputTokenDetails.reasoningTokens",
        "outputTokensDetails.reasoningTokens",
        "completionTokensDetails.reasoningTokens",
        "output_reasoning_tokens",
        "output_reasoning",
        "reasoning_tokens",
        "reasoningTokens",
        "thoughts_token_count",
        "thoughtsTokenCount",
    ),
}
"""Field to the places where it may stand, best first: OpenAI, Anthropic, Bedrock, Gemini, DeepSeek,
LangChain, Langfuse, LiteLLM, MLflow, Vercel."""

_LIFETIMES: Final = tuple(
    (parent, f"ephemeral_{lifetime}_input_tokens")
    for parent in ("cache_creation", "input_token_details")
    for lifetime in ("5m", "1h")
)
"""What was written into the caches that live for five minutes and for an hour. LangChain sets the
whole to 0 where it tells them."""

_TOTALS: Final = ("total", "total_tokens", "totalTokens", "total_token_count", "totalTokenCount")

_INCLUSIVE_DETAILS: Final = frozenset(
    {"input_tokens_details", "input_token_details", "prompt_tokens_details", "inputTokenDetails"}
)
"""Objects by which OpenAI, LangChain and Vercel break the input down: it holds them."""

_RAW_INPUT: Final = frozenset(_paths("input", "input_tokens", "inputTokens"))
_RAW_CACHE: Final = frozenset(
    {
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "cacheReadInputTokens",
        "cacheWriteInputTokens",
        "input_cache_read",
        "input_cache_creation",
    }
)
"""Counters of Anthropic and Bedrock, and those of Langfuse for LangChain: kept beside the input."""

_RAW_OUTPUT: Final = frozenset(_paths("candidates_token_count", "candidatesTokenCount"))
_RAW_REASONING: Final = frozenset(_paths("output_reasoning"))
"""Gemini's candidates, and Langfuse's reasoning for LangChain: kept beside the output."""


def at(value: JsonValue, path: Path) -> JsonValue:
    """Return what lies at a path of keys, or None; a key may hold the dots itself."""
    whole = value
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    if value is None and len(path) > 1 and isinstance(whole, dict):
        return whole.get(".".join(path))
    return value


def total_in(value: JsonValue) -> int | None:
    """Return the sum of all tokens that a usage object names."""
    if isinstance(value, dict):
        for name in _TOTALS:
            count = as_tokens(value.get(name))
            if count is not None:
                return count
    return None


def usage_in(value: JsonValue, *, without_cache: bool | None = None) -> dict[str, int]:
    """Read a usage object into the inclusive meaning.

    `without_cache`: whether its input leaves out the cache; None where the spelling tells. What
    the object contradicts is left as it is, for the guard that looks at the whole span. Counts
    that are not believed are `BEYOND`.
    """
    if not isinstance(value, dict):
        return {}
    usage: dict[str, int] = {}
    told_at: dict[str, Path] = {}
    for name, paths in SPELLINGS.items():
        for path in paths:
            count = as_tokens(at(value, path))
            if count is not None:
                usage[name], told_at[name] = count, path
                break
    _by_lifetime(value, usage)
    spelled = LeftOut(
        cache=told_at.get("input_tokens") in _RAW_INPUT
        and not _RAW_CACHE.isdisjoint(value)
        and _INCLUSIVE_DETAILS.isdisjoint(value),
        reasoning=told_at.get("output_tokens") in _RAW_OUTPUT
        or told_at.get("reasoning_tokens") in _RAW_REASONING,
    )
    if without_cache is not None:
        spelled = LeftOut(cache=without_cache, reasoning=spelled.reasoning)
    total = total_in(value)
    totals = () if total is None else (total,)
    said = decide(usage, spelled, totals, sure=without_cache is True)
    bring(
        usage,
        LeftOut(cache=spelled.cache and said.cache, reasoning=spelled.reasoning and said.reasoning),
    )
    return {name: min(count, BEYOND) for name, count in usage.items()}


def _by_lifetime(value: JsonValue, usage: dict[str, int]) -> None:
    if not usage.get("cache_write_tokens"):
        told = [as_tokens(at(value, path)) for path in _LIFETIMES]
        known = [count for count in told if count is not None]
        if known:
            usage["cache_write_tokens"] = sum(known)
