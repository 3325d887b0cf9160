"""Messages that arrive as events: span events, log events, and lists of events in one attribute."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from collector.dialects.content import parts, records
from collector.dialects.content.messages import Message, finish_of, message, role_of
from collector.dialects.content.parts import Block, Part
from collector.dialects.content.shapes import messages_of
from collector.dialects.values import as_json, as_object, as_text, found
from collector.spans import Event, LogRecord, Span
from gnomon.model import JsonValue

DETAILS: Final = "gen_ai.client.inference.operation.details"
"""Restates a span's attributes; values are nested on logs, JSON text on span events."""

CHOICE: Final = "gen_ai.choice"
MESSAGES: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    CHOICE: "assistant",
}
"""Events of the conventions up to 1.36 and who speaks in them."""

PROMPT: Final = "gen_ai.content.prompt"
COMPLETION: Final = "gen_ai.content.completion"
EVENT_KEYS: Final = {PROMPT: "gen_ai.prompt", COMPLETION: "gen_ai.completion"}
"""Events of the conventions 1.26 and 1.27, and the attribute that holds the content."""

BODY: Final = "gen_ai.event.content"
"""Attribute in which some libraries put the whole body of an event as JSON text."""

ELIDED: Final = "<elided>"
"""What Google's libraries write where capture is off."""

_MIND: Final = frozenset({"event.name", "gen_ai.system", "gen_ai.message.index", "index"})

_NESTED: Final[Mapping[str, type | tuple[type, ...]]] = {
    "content": list,
    "message": (list, dict),
    "tool_calls": list,
}
"""Attributes of a span event that hold JSON text, and which JSON is structure and not speech."""

Told = tuple[list[Message], list[Message]]
"""What was read and what was written."""


def details(span: Span, logs: Sequence[LogRecord], key: str) -> list[str]:
    """Return the values of an attribute that events restate: span events first, then logs."""
    values = [
        value
        for event in span.events
        if event.name == DETAILS and (value := found(event.attributes.get(key)))
    ]
    for log in records.own(span, logs, DETAILS):
        nested = found(log.attributes.get(key))
        if nested is None and key in log.body:
            body = as_json(log.body)
            nested = as_text(body.get(key)) if isinstance(body, Mapping) else None
        if nested:
            values.append(nested)
    return values


def of_span(span: Span) -> Told:
    """Read the messages in span events, in the order of their times."""
    events = [event for event in span.events if event.name in MESSAGES or event.name in EVENT_KEYS]
    if not events:
        return [], []
    return _sorted_out(_of_event(event) for event in sorted(events, key=lambda event: event.time))


def of_logs(span: Span, logs: Sequence[LogRecord]) -> Told:
    """Read the messages in the log records of a span."""
    chosen = records.own(span, logs, *MESSAGES, *EVENT_KEYS)
    return _sorted_out(_of_log(log) for log in chosen)


def of_list(value: JsonValue) -> Told:
    """Read a list of events in one attribute (pydantic-ai v1: `events`)."""
    if not isinstance(value, list):
        return [], []
    return _sorted_out(
        _of_body(str(event.get("event.name", "")), event)
        for event in value
        if isinstance(event, Mapping)
    )


def _sorted_out(told: Iterable[tuple[str, list[Message]]]) -> Told:
    read: list[Message] = []
    written: list[Message] = []
    for name, messages in told:
        (written if name in (CHOICE, COMPLETION) else read).extend(messages)
    return read, written


def _of_event(event: Event) -> tuple[str, list[Message]]:
    """Read a span event: `content` or `message` holds text or JSON text."""
    if event.name in EVENT_KEYS:
        role = "assistant" if event.name == COMPLETION else "user"
        return event.name, messages_of(_value(event.attributes.get(EVENT_KEYS[event.name])), role)
    if BODY in event.attributes and (whole := as_object(event.attributes[BODY])):
        return _of_body(event.name, whole)
    body: dict[str, JsonValue] = {
        key: value for key, value in event.attributes.items() if found(value) is not None
    }
    for key, kinds in _NESTED.items():
        if key in body:
            value = _value(event.attributes[key])
            body[key] = value if isinstance(value, kinds) else event.attributes[key]
    return _of_body(event.name, body)


def _of_log(log: LogRecord) -> tuple[str, list[Message]]:
    """Read a log event: the body is a map, or JSON text of one, or plain text."""
    body = as_json(log.body)
    if isinstance(body, str):
        body = as_json(body) or body
    if body is None and BODY in log.attributes:
        body = as_json(log.attributes[BODY])
    if log.event_name in EVENT_KEYS:
        key = EVENT_KEYS[log.event_name]
        value = _value(log.attributes.get(key)) or body or _plain(log.body)
        role = "assistant" if log.event_name == COMPLETION else "user"
        return log.event_name, messages_of(value, role)
    if isinstance(body, Mapping):
        return _of_body(log.event_name, body)
    return _of_body(log.event_name, {"content": body or _plain(log.body)})


def _plain(body: str) -> str | None:
    """Return a body that is no map as the text it is."""
    return None if body.strip() == "{}" else found(body)


def _of_body(name: str, body: Block) -> tuple[str, list[Message]]:
    """Read `{content, role, tool_calls, id}`, or the choice `{index, finish_reason, message}`."""
    role = MESSAGES.get(name, "user")
    inner = body.get("message")
    if name == CHOICE and inner is not None:
        return name, [_choice(inner, body, role)]
    role = role_of({"role": body.get("role")}) or role
    known = {key: value for key, value in body.items() if key not in _MIND and value != ELIDED}
    turns = messages_of({**known, "role": role}, role)
    return name, [turn for turn in turns if turn["parts"]]


def _choice(inner: JsonValue, body: Block, role: str) -> Message:
    """Return the message of a choice with the finish reason beside it."""
    turns = messages_of(inner, role)
    content: list[Part] = [part for turn in turns for part in turn["parts"]]
    own = next((turn.get("finish_reason") for turn in turns), None)
    named = inner.get("tool_calls") if isinstance(inner, Mapping) else None
    if not content and not named and isinstance(body.get("tool_calls"), list):
        content = [parts.call(call) for call in body["tool_calls"] if isinstance(call, Mapping)]
    return message(role, content, finish=finish_of(body) or own)


def _value(words: str | None) -> JsonValue:
    """Return the JSON that text holds where it is a list or an object; text as it is."""
    if words and words.lstrip()[:1] in ("[", "{", '"'):
        value = as_json(words)
        return words if value is None else value
    return words or None
