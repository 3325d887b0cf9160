"""The tool call a span reports: name, id, arguments and result, without envelopes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from collector.dialects.content import events, records, unwrap
from collector.dialects.content.frameworks import REDACTED
from collector.dialects.content.shapes import messages_of
from collector.dialects.values import as_bool, as_json, as_object, dumps, found, unquoted
from collector.spans import LogRecord, Span
from gnomon.model import JsonValue, Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a tool step did. `arguments`: JSON text; `result`: JSON text, or text as it was sent."""

    name: str | None = None
    id: str | None = None
    arguments: str | None = None
    result: str | None = None
    type: str | None = None


NOTHING: Final = ToolCall()

_NAMES: Final = (
    "gen_ai.tool.name",
    "tool.name",
    "ai.toolCall.name",
    "haystack.tool.name",
    "tool_name",
)
_IDS: Final = (
    "gen_ai.tool.call.id",
    "tool.id",
    "tool_call.id",
    "ai.toolCall.id",
    "tool_use_id",
)
ARGUMENTS: Final = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "ai.toolCall.args",
    "gcp.vertex.agent.tool_call_args",
    "haystack.agent.step.tool.input",
    "gen_ai.tool.args",
    "tool.arguments",
    "mlflow.spanInputs",
    "langfuse.observation.input",
    "traceloop.entity.input",
    "input.value",
    "gen_ai.prompt",
)
RESULTS: Final = (
    "gen_ai.tool.call.result",
    "tool_response",
    "ai.toolCall.result",
    "gcp.vertex.agent.tool_response",
    "haystack.agent.step.tool.output",
    "anthropic.tool_result.content",
    "mlflow.spanOutputs",
    "langfuse.observation.output",
    "traceloop.entity.output",
    "output.value",
    "gen_ai.completion",
)
_INVOKER_OUTPUTS: Final = ("haystack.component.output", "haystack.agent.step.tool.output")
_NAMED_BY_SPAN: Final = ("langfuse.observation.type", "mlflow.spanType", "langsmith.span.kind")
_SPAN_NAMES: Final = ("execute_tool ", "tools/call ", "running tool: ")
_OFF: Final = "{}"
"""ADK writes this where capture is off, and others as the result of a tool that failed."""

_CLAUDE_CODE: Final = (("full_command", "command"), ("file_path", "file_path"))


def tool_call(span: Span, kind: Kind, logs: Sequence[LogRecord] = ()) -> ToolCall:
    """Return the tool call of a tool step; for a human step, which tool it decided about.

    `logs`: the records of `LogIndex.of(span)`; others are ignored.
    """
    if kind is Kind.HUMAN:
        return ToolCall(name=_first(span, _NAMES), id=_first(span, _IDS))
    if kind is not Kind.TOOL:
        return NOTHING
    invoked = _invoked(span)
    answer = _result(span) or unwrap.Unwrapped(None)
    written = _result_of(answer, span) or invoked.result or _noted(span, "gen_ai.output.messages")
    return ToolCall(
        name=_name(span) or invoked.name or answer.name or _name_in_title(span),
        id=_first(span, _IDS) or answer.call_id or invoked.id or _id_in_events(span),
        arguments=_arguments(span, logs, invoked) or _noted(span, "gen_ai.input.messages"),
        result=written,
        type=_first(span, ("gen_ai.tool.type",)),
    )


def _first(span: Span, keys: Sequence[str]) -> str | None:
    for key in keys:
        if key in span.attributes and (value := unquoted(span.attributes[key])):
            return value
    return None


def _name(span: Span) -> str | None:
    if name := _first(span, _NAMES):
        return name
    entity = _first(span, ("traceloop.entity.name",))
    if entity:
        return entity
    named = any(key in span.attributes for key in _NAMED_BY_SPAN)
    return (_name_in_title(span) or found(span.name)) if named else None


def _name_in_title(span: Span) -> str | None:
    """Return X of `execute_tool X`."""
    for start in _SPAN_NAMES:
        if span.name.startswith(start):
            return found(span.name[len(start) :])
    return None


def _arguments(span: Span, logs: Sequence[LogRecord], invoked: ToolCall) -> str | None:
    for value in _argument_values(span):
        return dumps(value)
    if invoked.arguments is not None:
        return invoked.arguments
    for words in _late_arguments(span, logs):
        return dumps(unwrap.arguments(words))
    return _parameters(span)


def _argument_values(span: Span) -> Iterator[JsonValue]:
    for key in ARGUMENTS:
        words = found(span.attributes.get(key))
        if words is None or (key.startswith("gcp.") and words == _OFF):
            continue
        value = unwrap.arguments(words)
        if key.startswith("haystack.") and isinstance(value, Mapping) and "messages" in value:
            continue
        if value is not None:
            yield value


def _late_arguments(span: Span, logs: Sequence[LogRecord]) -> Iterator[str]:
    for event in span.events:
        if event.name == "gen_ai.tool.message" and (
            words := found(event.attributes.get("content"))
        ):
            yield words
    for key, argument in _CLAUDE_CODE:
        words = found(span.attributes.get(key))
        if words and words != REDACTED:
            yield dumps({argument: words})
    for name in ("tool_result", "claude_code.tool_result"):
        for log in records.of_call(span, logs, name):
            words = found(log.attributes.get("tool_input"))
            if words and words != REDACTED:
                yield words
    if words := found(span.attributes.get("mcp.request.argument")):
        yield words


def _parameters(span: Span) -> str | None:
    """Return `tool.parameters` unless it is the tool's JSON schema."""
    words = found(span.attributes.get("tool.parameters"))
    if words is None:
        return None
    value = unwrap.arguments(words)
    return None if isinstance(value, Mapping) and _is_schema(value) else dumps(value)


def _is_schema(value: Mapping[str, JsonValue]) -> bool:
    """Return whether an object describes arguments: a JSON schema, or smolagents' map of them."""
    if "type" in value or "properties" in value:
        return True
    return bool(value) and all(
        isinstance(inner, Mapping) and {"type", "description"} <= inner.keys()
        for inner in value.values()
    )


def _result(span: Span) -> unwrap.Unwrapped | None:
    for words in _result_texts(span):
        return unwrap.result(words)
    return None


def _result_texts(span: Span) -> Iterator[str]:
    for key in RESULTS:
        words = found(span.attributes.get(key))
        if words is None or (key.startswith("gcp.") and words == _OFF):
            continue
        if key in _INVOKER_OUTPUTS and '"tool_messages"' in words:
            continue
        yield words
    for event in span.events:
        told = event.attributes.get(_EVENT_RESULTS.get(event.name, ""))
        if words := found(told):
            yield words
    if words := found(span.attributes.get("mcp.response.value")):
        yield words


_EVENT_RESULTS: Final = {events.CHOICE: "message", "tool.output": "output"}


def _result_of(answer: unwrap.Unwrapped, span: Span) -> str | None:
    """Return the result as text; an empty object is no result of a tool that failed."""
    words = answer.text()
    if words is None or words == "":
        return None
    return None if words.strip() == _OFF and _failed(span) else words


def _failed(span: Span) -> bool:
    attributes = span.attributes
    return (
        span.status_code == "Error"
        or bool(found(attributes.get("error.type")))
        or attributes.get("gen_ai.tool.status") == "error"
        or attributes.get("langfuse.observation.level") == "ERROR"
        or as_bool(attributes.get("success")) is False
    )


def _invoked(span: Span) -> ToolCall:
    """Read Haystack's ToolInvoker: `tool_messages[].content[].tool_call_result`."""
    for key in _INVOKER_OUTPUTS:
        words = span.attributes.get(key, "")
        if '"tool_messages"' in words:
            for inner in _tool_results(as_object(words)):
                return _of_origin(inner)
    return NOTHING


def _tool_results(output: Mapping[str, JsonValue]) -> Iterator[Mapping[str, JsonValue]]:
    turns = output.get("tool_messages")
    for turn in turns if isinstance(turns, list) else ():
        content = turn.get("content", turn.get("_content")) if isinstance(turn, Mapping) else None
        for block in content if isinstance(content, list) else ():
            inner = block.get("tool_call_result", block) if isinstance(block, Mapping) else None
            if isinstance(inner, Mapping) and "origin" in inner:
                yield inner


def _of_origin(inner: Mapping[str, JsonValue]) -> ToolCall:
    origin = inner.get("origin")
    origin = origin if isinstance(origin, Mapping) else {}
    given, answer = origin.get("arguments"), inner.get("result")
    name, identifier = origin.get("tool_name"), origin.get("id")
    return ToolCall(
        name=name if isinstance(name, str) and name else None,
        id=identifier if isinstance(identifier, str) and identifier else None,
        arguments=None if given is None else dumps(given),
        result=answer if isinstance(answer, str | None) else dumps(answer),
    )


def _id_in_events(span: Span) -> str | None:
    for event in span.events:
        if event.name in ("gen_ai.tool.message", events.CHOICE):
            return found(event.attributes.get("id"))
    return None


def _noted(span: Span, key: str) -> str | None:
    """Read a tool call reported as messages of the current conventions (Strands)."""
    words = found(span.attributes.get(key)) or next(iter(events.details(span, (), key)), None)
    if words is None:
        return None
    wanted, field = _MESSAGE_PARTS[key]
    for turn in messages_of(as_json(words), "tool"):
        for part in turn["parts"]:
            if part["type"] == wanted and (value := part[field]) is not None:
                return value if isinstance(value, str) and field == "result" else dumps(value)
    return None


_MESSAGE_PARTS: Final = {
    "gen_ai.input.messages": ("tool_call", "arguments"),
    "gen_ai.output.messages": ("tool_result", "result"),
}


def completed(call: ToolCall, others: Sequence[ToolCall]) -> ToolCall:
    """Fill what a call lacks from other reports of the same call; nothing is overwritten."""
    for other in others:
        call = replace(
            call,
            name=call.name or other.name,
            id=call.id or other.id,
            arguments=call.arguments if call.arguments is not None else other.arguments,
            result=call.result if call.result is not None else other.result,
            type=call.type or other.type,
        )
    return call
