"""What was asked of a retrieval."""

from collections.abc import Mapping
from typing import Final

from collector.dialects.values import as_data, found, unquoted
from collector.spans import Span
from gnomon.model import JsonValue

_PLAIN: Final = ("gen_ai.retrieval.query.text", "reranker.query")
_BODIES: Final = (
    "input.value",
    "langfuse.observation.input",
    "mlflow.spanInputs",
    "haystack.component.input",
    "traceloop.entity.input",
    "gen_ai.task.input",
    "gen_ai.prompt",
)
_WORDS: Final = (
    "query",
    "query_str",
    "question",
    "q",
    "query_bundle",
    "str_or_query_bundle",
    "input",
    "text",
)
_FRAMES: Final = ("kwargs", "inputs", "args")
_MAX_NESTING: Final = 4


def query_told(span: Span) -> tuple[str, str] | None:
    """Return the attribute that holds what a retrieval was asked, and the question."""
    for key in _PLAIN:
        if plain := unquoted(span.attributes.get(key)):
            return key, plain
    for key in _BODIES:
        words = found(span.attributes.get(key))
        if words and (asked := _asked(words)):
            return key, asked
    return None


def _asked(words: str) -> str | None:
    """Return the question inside a request; text that is no JSON is the question."""
    value = as_data(words)
    if value is None or isinstance(value, int | float | bool):
        return words
    return _inside(value, _MAX_NESTING)


def _inside(value: JsonValue, left: int) -> str | None:
    if isinstance(value, str):
        return found(value)
    if isinstance(value, list):
        return _inside(value[0], left - 1) if value and left else None
    if not isinstance(value, Mapping) or not left:
        return None
    for key in (*_WORDS, *_FRAMES):
        if (inner := value.get(key)) and (asked := _inside(inner, left - 1)):
            return asked
    only = next(iter(value.values())) if len(value) == 1 else None
    return found(only) if isinstance(only, str) else None
