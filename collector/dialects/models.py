"""The table of model calls: provider, models, ids, parameters, tier (2.5), finish reason (2.9)."""

from collections.abc import Iterable

from collector.dialects.facts import Facts
from collector.dialects.providers import REGISTRY, provider_of
from collector.dialects.rules import (
    ANSWERED,
    BODY,
    FAILED,
    MODEL_CALL,
    SUCCEEDED,
    Field,
    Source,
    family,
    inside,
    keys,
    of_span,
    quoted,
    truth,
)
from collector.dialects.values import (
    as_data,
    as_json,
    as_object,
    as_text,
    found,
    indexed,
    unquoted,
)
from gnomon.model import JsonValue, Kind

_VERCEL = frozenset({"vercel-ai", "vercel-genai"})


def _provider(facts: Facts, key: str) -> JsonValue:
    """Read M1 by M2 and M3; a retrieval's provider must be known, else it is a vector store."""
    name = provider_of(facts.attributes.get(key), cut=facts.dialect in _VERCEL)
    return None if facts.kind is Kind.RETRIEVAL and name not in REGISTRY else name


def _first_part(facts: Facts, key: str) -> JsonValue:
    return provider_of(facts.attributes.get(key), cut=True)


def _answered_model(facts: Facts, _key: str) -> JsonValue:
    return facts.answer.model


def _answered_id(facts: Facts, _key: str) -> JsonValue:
    return facts.answer.id


def _name(value: JsonValue) -> JsonValue:
    """Read a name; an object that describes a model is none."""
    return found(value) if isinstance(value, str) else None


_UNDIRECTED = (
    "llm.model_name",
    "embedding.model_name",
    "reranker.model_name",
    "langfuse.observation.model.name",
    "mlflow.llm.model",
)

_PARAMETERS = (
    "gen_ai.request.max_tokens",
    "gen_ai.request.temperature",
    "gen_ai.request.top_p",
    "gen_ai.request.top_k",
    "gen_ai.request.seed",
    "gen_ai.request.stop_sequences",
    "gen_ai.request.frequency_penalty",
    "gen_ai.request.presence_penalty",
    "gen_ai.request.choice.count",
    "gen_ai.request.encoding_formats",
    "gen_ai.request.stream",
    "gen_ai.request.reasoning.level",
)
_SETTINGS = "ai.settings"
_MOST_SETTINGS = 64


def _gathered(facts: Facts, key: str) -> JsonValue:
    """Gather the parameters that stand beside the key that was found, as one JSON object.

    Vercel's settings are whatever the program set, so that their names are not known before.
    """
    prefix, names = "gen_ai.request.", list(_PARAMETERS)
    if key == _SETTINGS:
        prefix = f"{_SETTINGS}."
        own = sorted(name for name in facts.attributes if name.startswith(prefix))
        names = own[:_MOST_SETTINGS]
    settings: dict[str, JsonValue] = {}
    attributes = facts.attributes
    for name in names:
        if name in attributes and (value := found(attributes[name])) is not None:
            plain = as_json(value)
            settings[name.removeprefix(prefix)] = value if plain is None else plain
    return settings or None


def _object(facts: Facts, key: str) -> JsonValue:
    value = facts.data(key)
    if not isinstance(value, dict):
        return None
    return {name: item for name, item in value.items() if name not in _NO_PARAMETERS} or None


_NO_PARAMETERS = frozenset({"messages", "input", "prompt", "tools", "functions"})
"""What a request holds beside its parameters; it belongs to the content of the step."""


def _reasons(values: Iterable[JsonValue]) -> JsonValue:
    """Return one reason as text, several different ones as a list."""
    known = list(dict.fromkeys(text for value in values if (text := as_text(value)) is not None))
    return known[0] if len(known) == 1 else known or None


def _listed_reasons(facts: Facts, key: str) -> JsonValue:
    value = facts.attributes.get(key)
    if value and value.lstrip().startswith(("[", "(")):
        listed = as_data(value)
        if isinstance(listed, list):
            return _reasons(listed)
    return unquoted(value)


def _flattened_reasons(facts: Facts, key: str) -> JsonValue:
    return _reasons(one.get("finish_reason") for one in indexed(facts.attributes, key).values())


def _of_output_messages(facts: Facts, key: str) -> JsonValue:
    return _reasons(item.get("finish_reason") for item in _objects(facts.data(key)))


_DETAILS = "gen_ai.client.inference.operation.details"


def _has_details_event(facts: Facts) -> bool:
    return any(event.name == _DETAILS for event in facts.span.events)


def _of_details_events(facts: Facts, _key: str) -> JsonValue:
    """Strands writes its messages into an event of the span."""
    return _reasons(
        item.get("finish_reason")
        for event in facts.span.events
        if event.name == _DETAILS
        for item in _objects(as_json(event.attributes.get("gen_ai.output.messages")))
    )


def _objects(value: JsonValue) -> list[dict[str, JsonValue]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _of_choice_events(facts: Facts, _key: str) -> JsonValue:
    return _reasons(
        _event_reason(event.attributes.get("finish_reason"), event.attributes.get("message"))
        for event in facts.span.events
        if event.name == "gen_ai.choice"
    )


def _event_reason(own: str | None, message: str | None) -> JsonValue:
    return found(own) or as_object(message).get("finish_reason")


def _has_choice_event(facts: Facts) -> bool:
    return any(event.name == "gen_ai.choice" for event in facts.span.events)


def _answered_reason(facts: Facts, _key: str) -> JsonValue:
    return _reasons(facts.answer.finish_reasons)


FINISH_REASONS: tuple[Source, ...] = (
    *keys("2.9", "gen_ai.response.finish_reasons", take=_listed_reasons),
    *keys("2.9", "gen_ai.response.finish_reason", take=_listed_reasons),
    *keys("2.9", "llm.finish_reason", "ai.response.finishReason", take=quoted),
    *family("2.9", "gen_ai.completion", _flattened_reasons),
    *keys("2.9", "anthropic.message.stop_reason", "stop_reason", take=quoted),
    *keys("2.9", "gen_ai.response.stop_reason", take=quoted),
    *keys("2.9", "gen_ai.output.messages", take=_of_output_messages),
    *of_span("2.9", f"span event {_DETAILS}", _of_details_events, when=_has_details_event),
    *of_span("2.9", "span event gen_ai.choice", _of_choice_events, when=_has_choice_event),
    *of_span("M8", BODY, _answered_reason, ANSWERED),
)

MODELS: tuple[Field, ...] = (
    Field(
        "provider",
        (
            *keys("M1", "gen_ai.provider.name", "gen_ai.system", take=_provider),
            *keys("M1", "llm.provider", "llm.system", take=_provider),
            *keys("M1", "ai.model.provider", take=_first_part),
            *keys("M1", "langsmith.metadata.ls_provider", take=_provider),
            *keys("M1", "traceloop.association.properties.ls_provider", take=_provider),
            *keys("M1", "mlflow.llm.provider", "error.llm_provider", take=_provider),
        ),
    ),
    Field(
        "request_model",
        (
            *keys("M4", "gen_ai.request.model", "llm.request.model_name"),
            *inside("M4", "llm.invocation_parameters", "model", take=_name),
            *inside("M4", "input.value", "model", take=_name, only=MODEL_CALL),
            *keys("M4", "ai.model.id"),
            *inside("M4", "mlflow.spanInputs", "model", take=_name, only=MODEL_CALL),
            *keys("M4", "model", take=quoted, only=MODEL_CALL),
            *keys("M4", "langsmith.metadata.ls_model_name", "model_name", "crewai.agent.llm"),
            *keys("M6", *_UNDIRECTED, take=quoted, only=FAILED),
        ),
    ),
    Field(
        "response_model",
        (
            *keys(
                "M5",
                "gen_ai.response.model",
                "llm.response.model_name",
                "ai.response.model",
                only=SUCCEEDED,
            ),
            *of_span("M8", BODY, _answered_model, ANSWERED),
        ),
    ),
    Field("model", keys("M6", *_UNDIRECTED, take=quoted)),
    Field(
        "response_id",
        (
            *keys("M9", "gen_ai.response.id", "ai.response.id", only=SUCCEEDED),
            *of_span("M8", BODY, _answered_id, ANSWERED),
        ),
    ),
    Field(
        "request_params",
        keys("M10", *_PARAMETERS, take=_gathered)
        + keys("M10", "llm.invocation_parameters", take=_object)
        + family("M10", _SETTINGS, _gathered)
        + keys("M10", "langfuse.observation.model.parameters", take=_object),
    ),
    Field(
        "streamed",
        keys(
            "M10",
            "gen_ai.request.stream",
            "gen_ai.is_streaming",
            "llm.is_streaming",
            take=truth,
        ),
    ),
    Field(
        "service_tier",
        keys(
            "M11",
            "openai.response.service_tier",
            "gen_ai.openai.response.service_tier",
            "anthropic.response.service_tier",
        ),
    ),
    Field("finish_reason_raw", FINISH_REASONS),
)

_FINISHED: dict[str, tuple[str, ...]] = {
    "tool_call": ("tool_calls", "tool_call", "tool_use", "tool-calls", "function_call"),
    "stop": ("stop", "end_turn", "stop_sequence", "completed"),
    "length": ("length", "max_tokens"),
    "content_filter": ("content_filter", "content-filter", "safety", "refusal"),
    "error": ("error",),
}
_NORMAL = {word: reason for reason, words in _FINISHED.items() for word in words}


def finish_reason_of(raw: str) -> str:
    """Return the common word for a vendor's finish reason; unknown ones stay as they are."""
    word = raw.rpartition(".")[2] if raw.startswith("FinishReason.") else raw
    return _NORMAL.get(word.strip().lower(), word)
