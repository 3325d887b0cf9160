"""What a reader wants first of a body: the question, the answer, the tool calls, the finish reason."""

from collections.abc import Iterator, Mapping
from typing import Final

from collector.dialects.content.events import CHOICE, DETAILS
from collector.dialects.content.shapes import messages_of
from collector.dialects.values import as_json, dumps, found
from collector.spans import Span
from gnomon.model import Bodies, JsonValue

_OUTPUT: Final = "gen_ai.output.messages"


def user_text(bodies: Bodies) -> str | None:
    """Return the first text of a user in what was read."""
    return next(_texts(bodies.input, "user"), None)


def assistant_text(bodies: Bodies) -> str | None:
    """Return the last text of an assistant in what was written."""
    return next(reversed([*_texts(bodies.output, "assistant")]), None)


def _messages(body: str | None) -> list[Mapping[str, JsonValue]]:
    value = as_json(body)
    return [turn for turn in value if isinstance(turn, dict)] if isinstance(value, list) else []


def _texts(body: str | None, role: str) -> Iterator[str]:
    for turn in _messages(body):
        if turn.get("role") == role:
            words = [part["text"] for part in turn["parts"] if part["type"] == "text"]
            if words:
                yield "\n".join(words)


def tool_calls_of(bodies: Bodies) -> list[dict[str, JsonValue]]:
    """Return the tool calls a model asked for: id, name and arguments."""
    return [
        {"id": part["id"], "name": part["name"], "arguments": part["arguments"]}
        for turn in _messages(bodies.output)
        for part in turn["parts"]
        if part["type"] == "tool_call"
    ]


def finish_from_messages(span: Span) -> str | None:
    """Return the finish reason inside the output messages, as sent; several as a JSON list."""
    reasons = [reason for words in _outputs(span) for reason in _reasons(words)]
    if not reasons:
        events = (event.attributes for event in span.events if event.name == CHOICE)
        reasons = [reason for told in events if (reason := found(told.get("finish_reason")))]
    distinct = list(dict.fromkeys(reasons))
    return dumps(distinct) if len(distinct) > 1 else next(iter(distinct), None)


def _outputs(span: Span) -> Iterator[str]:
    if words := span.attributes.get(_OUTPUT):
        yield words
        return
    for event in span.events:
        if event.name == DETAILS and (words := event.attributes.get(_OUTPUT)):
            yield words


def _reasons(words: str) -> Iterator[str]:
    if "finish_reason" not in words and "stop_reason" not in words:
        return
    for turn in messages_of(as_json(words), "assistant"):
        if reason := found(turn.get("finish_reason")):
            yield reason
