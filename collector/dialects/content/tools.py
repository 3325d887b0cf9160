"""The tool call a span reports: name, id, arguments and result, without envelopes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from collector.dialects.content import events, records, unwrap
from collector.dialects.content.frameworks import REDACTED
from collector.dialects.content.shapes import messages_of
from collector.dialects.failures import failure_of
from collector.dialects.values import as_json, as_object, dumps, found, unquoted
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
    keys: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Field to the attribute (or event, or log) it was read from."""


@dataclass(frozen=True, slots=True)
class Told:
    """A value and where it stands."""

    value: str | None = None
    key: str = ""


_UNTOLD: Final = Told()

NOTHING: Final = ToolCall()

_NAMES: Final = (
    "gen_ai.tool.name",
    "tool.name",
    "ai.toolCall.name",
    "haystack.tool.name",
    "tool_name",
)
_TOOL_NAMES: Final = (*_NAMES, "traceloop.entity.name")
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
_SPAN_NAME: Final = "span name"
_OFF: Final = "{}"
"""ADK writes this where capture is off, and others as the result of a tool that failed."""

_CLAUDE_CODE: Final = (("full_command", "command"), ("file_path", "file_path"))


def tool_call(span: Span, kind: Kind, logs: Sequence[LogRecord] = ()) -> ToolCall:
    """Return the tool call of a tool step; for a human step, which tool it decided about.

    `logs`: the records of `LogIndex.of(span)`; others are ignored.
    """
    if kind is Kind.HUMAN:
        return _call(name=_first(span, _NAMES), id=_first(span, _IDS))
    if kind is not Kind.TOOL:
        return NOTHING
    invoked = _invoked(span)
    answer, answered_in = _result(span)
    return _call(
        name=_best(
            _name(span),
            _of(invoked, invoked.name, "name"),
            Told(answer.name, answered_in),
            _name_in_title(span),
        ),
        id=_best(
            _first(span, _IDS),
            Told(answer.call_id, answered_in),
            _of(invoked, invoked.id, "id"),
            _id_in_events(span),
        ),
        arguments=_said(_arguments(span, logs, invoked)) or _noted(span, "gen_ai.input.messages"),
        result=_said(Told(_result_of(answer, span), answered_in))
        or _said(_of(invoked, invoked.result, "result"))
        or _noted(span, "gen_ai.output.messages"),
        type=_first(span, ("gen_ai.tool.type",)),
    )


def _call(**told: Told) -> ToolCall:
    keys = {name: one.key for name, one in told.items() if one.value is not None}
    return ToolCall(**{name: one.value for name, one in told.items()}, keys=keys)


def _said(told: Told) -> Told | None:
    return told if told.value else None


def _best(*choices: Told) -> Told:
    return next((told for told in choices if told.value), _UNTOLD)


def _of(call: ToolCall, value: str | None, name: str) -> Told:
    return Told(value, call.keys.get(name, ""))


def _first(span: Span, keys: Sequence[str]) -> Told:
    for key in keys:
        if key in span.attributes and (value := unquoted(span.attributes[key])):
            return Told(value, key)
    return _UNTOLD


def _name(span: Span) -> Told:
    name = _first(span, _TOOL_NAMES)
    if name.value or not any(key in span.attributes for key in _NAMED_BY_SPAN):
        return name
    return _best(_name_in_title(span), Told(found(span.name), _SPAN_NAME))


def _name_in_title(span: Span) -> Told:
    """Return X of `execute_tool X`."""
    for start in _SPAN_NAMES:
        if span.name.startswith(start):
            return Told(found(span.name[len(start) :]), _SPAN_NAME)
    return _UNTOLD


def _arguments(span: Span, logs: Sequence[LogRecord], invoked: ToolCall) -> Told:
    for key, value in _argument_values(span):
        return Told(dumps(value), key)
    if invoked.arguments is not None:
        return _of(invoked, invoked.arguments, "arguments")
    for key, words in _late_arguments(span, logs):
        return Told(dumps(unwrap.arguments(words)), key)
    return _parameters(span)


def _argument_values(span: Span) -> Iterator[tuple[str, JsonValue]]:
    attributes = span.attributes
    for key in [key for key in ARGUMENTS if key in attributes]:
        words = found(attributes[key])
        if words is None or (key.startswith("gcp.") and words == _OFF):
            continue
        value = unwrap.arguments(words)
        if key.startswith("haystack.") and isinstance(value, Mapping) and "messages" in value:
            continue
        if value is not None:
            yield key, value


def _late_arguments(span: Span, logs: Sequence[LogRecord]) -> Iterator[tuple[str, str]]:
    for event in span.events:
        if event.name == "gen_ai.tool.message" and (
            words := found(event.attributes.get("content"))
        ):
            yield f"event {event.name}", words
    for key, argument in _CLAUDE_CODE:
        words = found(span.attributes.get(key))
        if words and words != REDACTED:
            yield key, dumps({argument: words})
    for name in ("tool_result", "claude_code.tool_result"):
        for log in records.of_call(span, logs, name):
            words = found(log.attributes.get("tool_input"))
            if words and words != REDACTED:
                yield f"log {name}", words
    if words := found(span.attributes.get("mcp.request.argument")):
        yield "mcp.request.argument", words


def _parameters(span: Span) -> Told:
    """Return `tool.parameters` unless it is the tool's JSON schema."""
    words = found(span.attributes.get("tool.parameters"))
    if words is None:
        return _UNTOLD
    value = unwrap.arguments(words)
    if isinstance(value, Mapping) and _is_schema(value):
        return _UNTOLD
    return Told(dumps(value), "tool.parameters")


def _is_schema(value: Mapping[str, JsonValue]) -> bool:
    """Return whether an object describes arguments: a JSON schema, or smolagents' map of them."""
    if "type" in value or "properties" in value:
        return True
    return bool(value) and all(
        isinstance(inner, Mapping) and {"type", "description"} <= inner.keys()
        for inner in value.values()
    )


def _result(span: Span) -> tuple[unwrap.Unwrapped, str]:
    for key, words in _result_texts(span):
        return unwrap.result(words), key
    return unwrap.Unwrapped(None), ""


def _result_texts(span: Span) -> Iterator[tuple[str, str]]:
    attributes = span.attributes
    for key in [key for key in RESULTS if key in attributes]:
        words = found(attributes[key])
        if words is None or (key.startswith("gcp.") and words == _OFF):
            continue
        if key in _INVOKER_OUTPUTS and '"tool_messages"' in words:
            continue
        yield key, words
    for event in span.events:
        told = event.attributes.get(_EVENT_RESULTS.get(event.name, ""))
        if words := found(told):
            yield f"event {event.name}", words
    if words := found(span.attributes.get("mcp.response.value")):
        yield "mcp.response.value", words


_EVENT_RESULTS: Final = {events.CHOICE: "message", "tool.output": "output"}


def _result_of(answer: unwrap.Unwrapped, span: Span) -> str | None:
    """Return the result as text; an empty object is no result of a tool that failed."""
    words = answer.text()
    if words is None or words == "":
        return None
    return None if words.strip() == _OFF and failure_of(span) else words


def _invoked(span: Span) -> ToolCall:
    """Read Haystack's ToolInvoker: `tool_messages[].content[].tool_call_result`."""
    for key in _INVOKER_OUTPUTS:
        words = span.attributes.get(key, "")
        if '"tool_messages"' in words:
            for inner in _tool_results(as_object(words)):
                return _of_origin(inner, key)
    return NOTHING


def _tool_results(output: Mapping[str, JsonValue]) -> Iterator[Mapping[str, JsonValue]]:
    turns = output.get("tool_messages")
    for turn in turns if isinstance(turns, list) else ():
        content = turn.get("content", turn.get("_content")) if isinstance(turn, Mapping) else None
        for block in content if isinstance(content, list) else ():
            inner = block.get("tool_call_result", block) if isinstance(block, Mapping) else None
            if isinstance(inner, Mapping) and "origin" in inner:
                yield inner


def _of_origin(inner: Mapping[str, JsonValue], key: str) -> ToolCall:
    origin = inner.get("origin")
    origin = origin if isinstance(origin, Mapping) else {}
    given, answer = origin.get("arguments"), inner.get("result")
    name, identifier = origin.get("tool_name"), origin.get("id")
    return ToolCall(
        name=name if isinstance(name, str) and name else None,
        id=identifier if isinstance(identifier, str) and identifier else None,
        arguments=None if given is None else dumps(given),
        result=answer if isinstance(answer, str | None) else dumps(answer),
        keys=dict.fromkeys(("name", "id", "arguments", "result"), key),
    )


def _id_in_events(span: Span) -> Told:
    for event in span.events:
        if event.name in ("gen_ai.tool.message", events.CHOICE):
            return Told(found(event.attributes.get("id")), f"event {event.name}")
    return _UNTOLD


def _noted(span: Span, key: str) -> Told:
    """Read a tool call reported as messages of the current conventions (Strands)."""
    words = found(span.attributes.get(key)) or next(iter(events.details(span, (), key)), None)
    if words is None:
        return _UNTOLD
    wanted, field_name = _MESSAGE_PARTS[key]
    for turn in messages_of(as_json(words), "tool"):
        for part in turn["parts"]:
            if part["type"] == wanted and (value := part[field_name]) is not None:
                plain = isinstance(value, str) and field_name == "result"
                return Told(value if plain else dumps(value), key)
    return _UNTOLD


_MESSAGE_PARTS: Final = {
    "gen_ai.input.messages": ("tool_call", "arguments"),
    "gen_ai.output.messages": ("tool_result", "result"),
}
