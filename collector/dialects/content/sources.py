"""Where input and output of a span stand, in order: the first source that says anything wins."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from collector.dialects.content import events, flattened, frameworks
from collector.dialects.content.frameworks import value_of
from collector.dialects.content.messages import Message, said, spoken
from collector.dialects.content.shapes import messages_of
from collector.dialects.values import as_json, found
from collector.spans import LogRecord, Span
from gnomon.model import JsonValue

_PLAIN: Final = "text/plain"


@dataclass(frozen=True, slots=True)
class Place:
    """A span with the log records that may belong to it."""

    span: Span
    logs: Sequence[LogRecord] = ()

    def get(self, key: str) -> str | None:
        """Return an attribute, or None where nobody knew it."""
        return found(self.span.attributes.get(key))


@dataclass(frozen=True, slots=True)
class Source:
    """One place where messages stand: the attributes it looks at, and how they are read."""

    keys: tuple[str, ...]
    """Attributes, or beginnings of attributes (`llm.input_messages`), the best first."""
    read: Callable[[Place], list[Message]]

    def key_in(self, place: Place) -> str:
        """Return which of its attributes the span has."""
        attributes = place.span.attributes
        for key in self.keys:
            if key in attributes or any(name.startswith(f"{key}.") for name in attributes):
                return key
        return f"events or logs with {self.keys[0]}" if self.keys else "events or logs"


def first(place: Place, sources: Sequence[Source]) -> list[Message]:
    """Return the messages of the first source that says anything."""
    told = first_told(place, sources)
    return [] if told is None else told[1]


def first_told(place: Place, sources: Sequence[Source]) -> tuple[Source, list[Message]] | None:
    """Return the first source that says anything, and its messages."""
    for source in sources:
        made = [turn for turn in source.read(place) if turn["parts"]]
        if spoken(made):
            return source, made
    return None


def _attribute(key: str, role: str) -> Source:
    """Return a source that reads one attribute: JSON of any shape, or text."""

    def read(place: Place) -> list[Message]:
        return messages_of(value_of(place.get(key)), role)

    return Source((key,), read)


def _genai(key: str, role: str) -> Source:
    """Return a source that reads messages of the current conventions, on the span or in events."""

    def values(place: Place) -> Iterator[str]:
        if own := place.get(key):
            yield own
        yield from events.details(place.span, place.logs, key)

    def read(place: Place) -> list[Message]:
        for words in values(place):
            made = messages_of(value_of(words), role)
            if spoken(made):
                return made
        return []

    return Source((key,), read)


def _typed(side: str, role: str) -> Source:
    """Return a source that reads `input.value` or `output.value` as its media type says."""

    def read(place: Place) -> list[Message]:
        words = place.get(f"{side}.value")
        if words and place.get(f"{side}.mime_type") == _PLAIN:
            return said(role, words)
        return messages_of(_structure(words), role)

    return Source((f"{side}.value",), read)


def _of(read: Callable[[Mapping[str, str]], list[Message]], *keys: str) -> Source:
    """Return a source that reads some attributes together."""
    return Source(keys, lambda place: read(place.span.attributes))


def _flat(
    read: Callable[[Mapping[str, str], str, str], list[Message]], key: str, role: str
) -> Source:
    """Return a source that reads a flattened list."""
    return Source((key,), lambda place: read(place.span.attributes, key, role))


def _structure(words: str | None) -> JsonValue:
    """Return JSON objects, lists and quoted text; numbers and the like stay what was written."""
    if not words or words.lstrip()[:1] not in ("{", "[", '"'):
        return words
    value = as_json(words)
    return words if value is None else value


_PYDANTIC_AI = ("events", "all_messages_events", "pydantic_ai.all_messages", "final_result")
_VERCEL = tuple(
    f"ai.{name}.{part}"
    for name in ("response", "result")
    for part in ("reasoning", "text", "toolCalls", "object")
)

INPUT: Final[tuple[Source, ...]] = (
    _genai("gen_ai.input.messages", "user"),
    _flat(flattened.openinference, "llm.input_messages", "user"),
    _of(lambda flat: flattened.completions(flat)[0], "llm.prompts"),
    _of(flattened.embedded, "embedding.embeddings"),
    _of(flattened.reranked, "reranker.input_documents"),
    _typed("input", "user"),
    _flat(flattened.openllmetry, "gen_ai.prompt", "user"),
    _flat(flattened.openllmetry, "llm.prompts", "user"),
    _attribute("traceloop.entity.input", "user"),
    _attribute("gen_ai.task.input", "user"),
    _attribute("langfuse.observation.input", "user"),
    _attribute("langfuse.trace.input", "user"),
    _attribute("mlflow.spanInputs", "user"),
    _attribute("gen_ai.prompt", "user"),
    _attribute("gen_ai.content.prompt", "user"),
    _of(frameworks.vercel_input, "ai.prompt.messages", "ai.prompt", "ai.value", "ai.values"),
    _of(frameworks.adk_input, "gcp.vertex.agent.llm_request"),
    _of(
        lambda flat: frameworks.haystack(flat, frameworks.HAYSTACK_INPUTS, "user"),
        *frameworks.HAYSTACK_INPUTS,
    ),
    _of(lambda flat: frameworks.pydantic_ai(flat)[0], *_PYDANTIC_AI),
    Source(("user_prompt",), lambda place: frameworks.claude_code_input(place.span, place.logs)),
    _of(frameworks.logfire_input, "request_data"),
    Source((), lambda place: events.of_logs(place.span, place.logs)[0]),
    Source((), lambda place: events.of_span(place.span)[0]),
    _of(lambda flat: frameworks.crewai(flat)[0], "crewai.task.description"),
)

OUTPUT: Final[tuple[Source, ...]] = (
    _genai("gen_ai.output.messages", "assistant"),
    _flat(flattened.openinference, "llm.output_messages", "assistant"),
    _of(lambda flat: flattened.completions(flat)[1], "llm.choices"),
    _typed("output", "assistant"),
    _flat(flattened.openllmetry, "gen_ai.completion", "assistant"),
    _flat(flattened.openllmetry, "llm.completions", "assistant"),
    _attribute("traceloop.entity.output", "assistant"),
    _attribute("gen_ai.task.output", "assistant"),
    _attribute("langfuse.observation.output", "assistant"),
    _attribute("langfuse.trace.output", "assistant"),
    _attribute("mlflow.spanOutputs", "assistant"),
    _attribute("gen_ai.completion", "assistant"),
    _attribute("gen_ai.content.completion", "assistant"),
    _of(frameworks.vercel_output, *_VERCEL),
    _of(frameworks.adk_output, "gcp.vertex.agent.llm_response"),
    _of(
        lambda flat: frameworks.haystack(flat, frameworks.HAYSTACK_OUTPUTS, "assistant"),
        *frameworks.HAYSTACK_OUTPUTS,
    ),
    _of(lambda flat: frameworks.pydantic_ai(flat)[1], *_PYDANTIC_AI),
    Source(
        ("assistant_response",),
        lambda place: frameworks.claude_code_output(place.span, place.logs),
    ),
    _of(frameworks.logfire_output, "response_data"),
    Source((), lambda place: events.of_logs(place.span, place.logs)[1]),
    Source((), lambda place: events.of_span(place.span)[1]),
    _of(lambda flat: frameworks.crewai(flat)[1], "crewai.crew.result"),
)
