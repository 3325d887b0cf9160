"""Where input and output of a span stand, in order: the first source that says anything wins."""

from collections.abc import Callable, Iterator, Sequence
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


Source = Callable[[Place], list[Message]]


def first(place: Place, sources: Sequence[Source]) -> list[Message]:
    """Return the messages of the first source that says anything."""
    for source in sources:
        made = [turn for turn in source(place) if turn["parts"]]
        if spoken(made):
            return made
    return []


def _attribute(key: str, role: str) -> Source:
    """Return a source that reads one attribute: JSON of any shape, or text."""

    def read(place: Place) -> list[Message]:
        return messages_of(value_of(place.get(key)), role)

    return read


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

    return read


def _typed(side: str, role: str) -> Source:
    """Return a source that reads `input.value` or `output.value` as its media type says."""

    def read(place: Place) -> list[Message]:
        words = place.get(f"{side}.value")
        if words and place.get(f"{side}.mime_type") == _PLAIN:
            return said(role, words)
        return messages_of(_structure(words), role)

    return read


def _structure(words: str | None) -> JsonValue:
    """Return JSON objects, lists and quoted text; numbers and the like stay what was written."""
    if not words or words.lstrip()[:1] not in ("{", "[", '"'):
        return words
    value = as_json(words)
    return words if value is None else value


INPUT: Final[tuple[Source, ...]] = (
    _genai("gen_ai.input.messages", "user"),
    lambda place: flattened.openinference(place.span.attributes, "llm.input_messages", "user"),
    lambda place: flattened.completions(place.span.attributes)[0],
    lambda place: flattened.embedded(place.span.attributes),
    _typed("input", "user"),
    lambda place: flattened.openllmetry(place.span.attributes, "gen_ai.prompt", "user"),
    lambda place: flattened.openllmetry(place.span.attributes, "llm.prompts", "user"),
    _attribute("traceloop.entity.input", "user"),
    _attribute("gen_ai.task.input", "user"),
    _attribute("langfuse.observation.input", "user"),
    _attribute("langfuse.trace.input", "user"),
    _attribute("mlflow.spanInputs", "user"),
    _attribute("gen_ai.prompt", "user"),
    _attribute("gen_ai.content.prompt", "user"),
    lambda place: frameworks.vercel_input(place.span.attributes),
    lambda place: frameworks.adk_input(place.span.attributes),
    lambda place: frameworks.haystack(place.span.attributes, frameworks.HAYSTACK_INPUTS, "user"),
    lambda place: frameworks.pydantic_ai(place.span.attributes)[0],
    lambda place: frameworks.claude_code_input(place.span, place.logs),
    lambda place: frameworks.logfire_input(place.span.attributes),
    lambda place: events.of_logs(place.span, place.logs)[0],
    lambda place: events.of_span(place.span)[0],
    lambda place: frameworks.crewai(place.span.attributes)[0],
)

OUTPUT: Final[tuple[Source, ...]] = (
    _genai("gen_ai.output.messages", "assistant"),
    lambda place: flattened.openinference(
        place.span.attributes, "llm.output_messages", "assistant"
    ),
    lambda place: flattened.completions(place.span.attributes)[1],
    _typed("output", "assistant"),
    lambda place: flattened.openllmetry(place.span.attributes, "gen_ai.completion", "assistant"),
    lambda place: flattened.openllmetry(place.span.attributes, "llm.completions", "assistant"),
    _attribute("traceloop.entity.output", "assistant"),
    _attribute("gen_ai.task.output", "assistant"),
    _attribute("langfuse.observation.output", "assistant"),
    _attribute("langfuse.trace.output", "assistant"),
    _attribute("mlflow.spanOutputs", "assistant"),
    _attribute("gen_ai.completion", "assistant"),
    _attribute("gen_ai.content.completion", "assistant"),
    lambda place: frameworks.vercel_output(place.span.attributes),
    lambda place: frameworks.adk_output(place.span.attributes),
    lambda place: frameworks.haystack(
        place.span.attributes, frameworks.HAYSTACK_OUTPUTS, "assistant"
    ),
    lambda place: frameworks.pydantic_ai(place.span.attributes)[1],
    lambda place: frameworks.claude_code_output(place.span, place.logs),
    lambda place: frameworks.logfire_output(place.span.attributes),
    lambda place: events.of_logs(place.span, place.logs)[1],
    lambda place: events.of_span(place.span)[1],
    lambda place: frameworks.crewai(place.span.attributes)[1],
)
