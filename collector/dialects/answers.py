"""The provider's answer inside a body: id, model, usage and finish reasons of one call (rule M8)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from collector.dialects.spellings import at, total_in, usage_in
from collector.dialects.values import as_text
from gnomon.model import JsonValue

ID_PREFIXES = ("chatcmpl", "cmpl", "resp_", "msg_")
"""Ids that a provider gave; others are made up by a library (M9)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one provider's answer says; tokens in the inclusive meaning."""

    id: str | None = None
    model: str | None = None
    finish_reasons: tuple[str, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    total: int | None = None
    """All tokens of the call, as the provider adds them up."""


NO_ANSWER = Answer()


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
        total=total_in(usage),
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
        total=total_in(usage),
    )


def _haystack(body: dict[str, JsonValue]) -> Answer:
    """Read a Haystack generator's output: replies[0].meta, or meta[0] beside plain replies."""
    reply = _first(body.get("replies"))
    meta = at(reply, ("meta",)) or at(reply, ("_meta",)) or _first(body.get("meta"))
    usage = at(meta, ("usage",))
    return Answer(
        id=_id(at(meta, ("id",))),
        model=_text(at(meta, ("model",))),
        finish_reasons=_reasons(at(meta, ("finish_reason",))),
        usage=usage_in(usage),
        total=total_in(usage),
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
