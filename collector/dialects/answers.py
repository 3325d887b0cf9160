"""The provider's answer inside a body: id, model, usage and finish reasons of one call (rule M8)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from collector.dialects.belief import as_tokens
from collector.dialects.values import as_text
from gnomon.model import JsonValue

ID_PREFIXES = ("chatcmpl", "cmpl", "resp_", "msg_")
"""Ids that a provider gave; others are made up by a library (M9)."""

Path = tuple[str, ...]

_INPUT: tuple[Path, ...] = (
    ("prompt_tokens",),
    ("input_tokens",),
    ("prompt_token_count",),
    ("promptTokenCount",),
)
_OUTPUT: tuple[Path, ...] = (
    ("completion_tokens",),
    ("output_tokens",),
    ("candidates_token_count",),
    ("candidatesTokenCount",),
)
_CACHED: tuple[Path, ...] = (
    ("prompt_tokens_details", "cached_tokens"),
    ("input_tokens_details", "cached_tokens"),
    ("input_token_details", "cache_read"),
    ("cache_read_input_tokens",),
    ("cached_content_token_count",),
    ("cachedContentTokenCount",),
)
_CACHE_WRITE: tuple[Path, ...] = (
    ("cache_creation_input_tokens",),
    ("prompt_tokens_details", "cache_write_tokens"),
    ("input_tokens_details", "cache_write_tokens"),
    ("input_token_details", "cache_creation"),
)
_REASONING: tuple[Path, ...] = (
    ("completion_tokens_details", "reasoning_tokens"),
    ("output_tokens_details", "reasoning_tokens"),
    ("output_token_details", "reasoning"),
    ("thoughts_token_count",),
    ("thoughtsTokenCount",),
)
USAGE_PATHS: Mapping[str, tuple[Path, ...]] = {
    "input_tokens": _INPUT,
    "output_tokens": _OUTPUT,
    "cached_tokens": _CACHED,
    "cache_write_tokens": _CACHE_WRITE,
    "reasoning_tokens": _REASONING,
}

_ANTHROPIC_INPUT: Path = ("input_tokens",)
_ANTHROPIC_CACHE = frozenset({"cache_read_input_tokens", "cache_creation_input_tokens"})
_INCLUSIVE_DETAILS = frozenset(
    {"input_tokens_details", "input_token_details", "prompt_tokens_details"}
)
"""Objects beside `input_tokens` by which OpenAI and LangChain break it down: it holds them."""

_GEMINI_OUTPUT: frozenset[Path] = frozenset(
    {("candidates_token_count",), ("candidatesTokenCount",)}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one provider's answer says; tokens in the inclusive meaning."""

    id: str | None = None
    model: str | None = None
    finish_reasons: tuple[str, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)


NO_ANSWER = Answer()


def at(value: JsonValue, path: Path) -> JsonValue:
    """Return what lies at a path of keys, or None."""
    for part in path:
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    return value


def usage_in(value: JsonValue) -> dict[str, int]:
    """Read a usage object of OpenAI, Anthropic, Gemini or LangChain into the inclusive meaning.

    Counts that are not believed are `BEYOND` or more.
    """
    if not isinstance(value, dict):
        return {}
    usage: dict[str, int] = {}
    told_at: dict[str, Path] = {}
    for name, paths in USAGE_PATHS.items():
        for path in paths:
            count = as_tokens(at(value, path))
            if count is not None:
                usage[name] = count
                told_at[name] = path
                break
    if told_at.get("input_tokens") == _ANTHROPIC_INPUT and _is_anthropic(value):
        usage["input_tokens"] += usage.get("cached_tokens", 0) + usage.get("cache_write_tokens", 0)
    if told_at.get("output_tokens") in _GEMINI_OUTPUT:
        usage["output_tokens"] += usage.get("reasoning_tokens", 0)
    return usage


def _is_anthropic(usage: Mapping[str, JsonValue]) -> bool:
    """Tell whether `input_tokens` leaves out what was read from the cache and written to it (3.3)."""
    return not _ANTHROPIC_CACHE.isdisjoint(usage) and _INCLUSIVE_DETAILS.isdisjoint(usage)


def answer_in(body: JsonValue) -> Answer:
    """Return the answer a body holds; `NO_ANSWER` where it holds none."""
    if not isinstance(body, dict):
        return NO_ANSWER
    for key, read in _SHAPES.items():
        if key in body:
            return read(body)
    return NO_ANSWER


def _objects(value: JsonValue) -> Iterator[dict[str, JsonValue]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _first(value: JsonValue) -> JsonValue:
    return value[0] if isinstance(value, list) and value else None


def _id(value: JsonValue) -> str | None:
    text = as_text(value) if isinstance(value, str) else None
    return text if text is not None and text.startswith(ID_PREFIXES) else None


def _reasons(*values: JsonValue) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for value in values if (text := as_text(value)) is not None))


def _provider(body: dict[str, JsonValue]) -> Answer:
    """Read a chat completion, a response, an Anthropic message or a Gemini answer."""
    choices = (choice.get("finish_reason") for choice in _objects(body.get("choices")))
    candidates = (
        choice.get("finish_reason") or choice.get("finishReason")
        for choice in _objects(body.get("candidates"))
    )
    usage = body.get("usage") or body.get("usage_metadata") or body.get("usageMetadata")
    return Answer(
        id=_id(body.get("id")),
        model=_text(body.get("model") or body.get("model_version") or body.get("modelVersion")),
        finish_reasons=_reasons(
            *choices, *candidates, body.get("stop_reason"), body.get("finish_reason")
        ),
        usage=usage_in(usage),
    )


def _langchain(body: dict[str, JsonValue]) -> Answer:
    """Read a LangChain result: generations[0][0].message.kwargs.response_metadata."""
    kwargs = at(_first(_first(body.get("generations"))), ("message", "kwargs"))
    meta = at(kwargs, ("response_metadata",))
    usage = (
        at(kwargs, ("usage_metadata",))
        or at(meta, ("token_usage",))
        or at(body, ("llm_output", "token_usage"))
    )
    return Answer(
        id=_id(at(meta, ("id",))),
        model=_text(at(meta, ("model_name",)) or at(meta, ("model",))),
        finish_reasons=_reasons(at(meta, ("finish_reason",)), at(meta, ("stop_reason",))),
        usage=usage_in(usage),
    )


def _haystack(body: dict[str, JsonValue]) -> Answer:
    """Read a Haystack generator's output: replies[0].meta, or meta[0] beside plain replies."""
    reply = _first(body.get("replies"))
    meta = at(reply, ("meta",)) or at(reply, ("_meta",)) or _first(body.get("meta"))
    return Answer(
        id=_id(at(meta, ("id",))),
        model=_text(at(meta, ("model",))),
        finish_reasons=_reasons(at(meta, ("finish_reason",))),
        usage=usage_in(at(meta, ("usage",))),
    )


def _text(value: JsonValue) -> str | None:
    return as_text(value) if isinstance(value, str) else None


_SHAPES = {
    "generations": _langchain,
    "replies": _haystack,
    "choices": _provider,
    "candidates": _provider,
    "usage": _provider,
    "usage_metadata": _provider,
    "usageMetadata": _provider,
    "stop_reason": _provider,
    "model": _provider,
}
"""The key that gives a body away, and how it is read."""
