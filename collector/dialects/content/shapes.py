"""Any JSON value that carries messages (requests, answers, wrappers of frameworks) as canonical messages."""

from collections.abc import Callable, Mapping
from typing import Final

from collector.dialects.content import parts
from collector.dialects.content.messages import (
    Message,
    canonical,
    finish_of,
    is_message,
    message,
    of_class,
    said,
)
from collector.dialects.content.parts import Block
from collector.dialects.values import as_json
from gnomon.model import JsonValue

_MAX_NESTING: Final = 12
"""Wrappers inside wrappers that are opened; what lies deeper stays as it is."""

_WRAPPERS: Final = (
    "messages",
    "chat_history",
    "new_message",
    "prompt",
    "input",
    "inputs",
    "query_bundle",
    "str_or_query_bundle",
    "output",
    "outputs",
    "update",
    "result",
    "response",
    "return_values",
    "value",
    "llm_output",
)
"""Keys under which frameworks put messages; the rest of such an object is parameters."""

_QUESTIONS: Final = (
    "question",
    "query",
    "query_str",
    "q",
    "task",
    "text",
    "user_input",
    "user_prompt",
    "user_message",
    "user_msg",
)
_ANSWERED: Final = (
    "answer",
    "a",
    "text",
    "output_text",
    "final_output",
    "completion",
    "reply",
    "raw",
)
"""Keys whose text is what was asked, and what was answered."""

_INSTRUCTIONS: Final = ("system", "instructions", "system_instruction", "systemInstruction")
_NOTHING: Final[tuple[JsonValue, ...]] = (None, "", [], {}, False)
_NOISE: Final = frozenset({*_INSTRUCTIONS, "tags", "metadata", "kwargs", "type", "id"})
"""What frameworks put beside the text of a wrapper."""

_CALL_ITEMS: Final = ("function_call", "custom_tool_call")
_RESULT_ITEMS: Final = ("function_call_output", "custom_tool_call_output")


def messages_of(value: JsonValue, role: str, *, nesting: int = 0) -> list[Message]:
    """Return canonical messages; `role` speaks where nobody is named. Nothing is thrown away."""
    if value is None or value == "":
        return []
    if nesting > _MAX_NESTING:
        return [message(role, [parts.other(value)])]
    if isinstance(value, str):
        return said(role, value)
    if isinstance(value, list):
        return _of_list(value, role, nesting + 1)
    if isinstance(value, Mapping):
        return _of_object(value, role, nesting + 1)
    return [message(role, [parts.other(value)])]


def _of_list(values: list[JsonValue], role: str, nesting: int) -> list[Message]:
    values = [_parsed(item) for item in values if item is not None]
    if all(isinstance(item, list) for item in values):
        return [made for item in values for made in messages_of(item, role, nesting=nesting)]
    if any(_is_turn(item) for item in values):
        return [made for item in values for made in messages_of(item, role, nesting=nesting)]
    content = parts.parts_of(values)
    if content and all(part["type"] == "other" for part in content):
        content = [parts.other(values)]
    return [message(role, content)] if content else []


def _parsed(item: JsonValue) -> JsonValue:
    """Return the message inside an item of a list of JSON texts; other items as they are."""
    if isinstance(item, str) and item[:1] == "{" and ('"role"' in item or '"type"' in item):
        value = as_json(item)
        return value if _is_turn(value) else item
    return item


def _is_turn(item: JsonValue) -> bool:
    """Return whether a list item is a message, an item of the Responses API or a wrapper of one."""
    if not isinstance(item, Mapping):
        return False
    if is_message(item) or _is_item(item):
        return True
    if item.get("object") == "response":
        return isinstance(item.get("output"), list)
    return "lc" in item or "update" in item or isinstance(item.get("parts"), list)


def _is_item(value: Block) -> bool:
    kind = value.get("type")
    if not isinstance(kind, str):
        return False
    if kind in (*_CALL_ITEMS, *_RESULT_ITEMS) or kind.endswith("_call_output"):
        return "call_id" in value or "name" in value
    return kind == "reasoning" and "summary" in value


def _of_object(value: Block, role: str, nesting: int) -> list[Message]:
    if "lc" in value and isinstance(value.get("kwargs"), Mapping):
        return _of_serialised(value, role, nesting)
    if _is_item(value):
        return [_of_item(value)]
    if is_message(value):
        return [canonical(value, role)]
    for key, read in _ANSWERS:
        inner = value.get(key)
        if inner and (made := read(value, inner, role, nesting)):
            return made
    return _of_wrapper(value, role, nesting)


def _of_serialised(value: Block, role: str, nesting: int) -> list[Message]:
    """Read LangChain's `{"lc": 1, "id": […, "AIMessage"], "kwargs": {…}}`."""
    kwargs: Block = value["kwargs"]
    path = value.get("id")
    name = path[-1] if isinstance(path, list) and path and isinstance(path[-1], str) else ""
    if "content" in kwargs:
        return [of_class(name, kwargs, role)]
    if "messages" in kwargs:
        return messages_of(kwargs["messages"], role, nesting=nesting)
    if isinstance(kwargs.get("text"), str):
        return said(role, kwargs["text"])
    return [message(role, [parts.other(dict(value))])]


def _of_item(value: Block) -> Message:
    """Read one item of the Responses API that is no message."""
    kind = value["type"]
    if kind in _CALL_ITEMS:
        return message("assistant", [parts.call(value)])
    if kind == "reasoning":
        return message("assistant", parts.block_of(value))
    return message("tool", [parts.result(value)])


def _choices(value: Block, inner: JsonValue, role: str, nesting: int) -> list[Message]:
    """Read the choices of a chat or text completion, streamed or not."""
    made: list[Message] = []
    for choice in inner if isinstance(inner, list) else ():
        if not isinstance(choice, Mapping):
            return []
        content = choice.get("message") or choice.get("delta") or choice.get("text")
        made += _finished(messages_of(content, role, nesting=nesting), choice)
    return made


def _candidates(value: Block, inner: JsonValue, role: str, nesting: int) -> list[Message]:
    """Read the candidates of a Gemini answer."""
    made: list[Message] = []
    for candidate in inner if isinstance(inner, list) else ():
        if not isinstance(candidate, Mapping):
            return []
        made += _finished(messages_of(candidate.get("content"), role, nesting=nesting), candidate)
    return made


def _generations(value: Block, inner: JsonValue, role: str, nesting: int) -> list[Message]:
    """Read the generations of a LangChain result, a list per prompt."""
    made: list[Message] = []
    rows = inner if isinstance(inner, list) else ()
    flat = [one for row in rows for one in (row if isinstance(row, list) else [row])]
    for generation in flat:
        if not isinstance(generation, Mapping):
            return []
        content = generation.get("message") or generation.get("text")
        made += _finished(messages_of(content, role, nesting=nesting), generation)
    return made


def _finished(made: list[Message], source: Block) -> list[Message]:
    """Give the last message the finish reason that stands beside it."""
    reason = finish_of(source)
    if made and reason and "finish_reason" not in made[-1]:
        content = made[-1].pop("parts")
        made[-1] |= {"finish_reason": reason, "parts": content}
    return made


def _content(value: Block, inner: JsonValue, role: str, nesting: int) -> list[Message]:
    """Read `{"content": {"parts": …}, "finish_reason"}` (ADK) and MCP's `{"content": […]}`."""
    if isinstance(inner, Mapping):
        return _finished(messages_of(inner, role, nesting=nesting), value)
    content = parts.parts_of(inner)
    if not content:
        return []
    return _beside([message(role, content, finish=finish_of(value))], value, "content")


def _contents(value: Block, inner: JsonValue, role: str, nesting: int) -> list[Message]:
    """Read a Gemini request."""
    config = value.get("config")
    system = _instructions(value) or _instructions(config if isinstance(config, Mapping) else {})
    return system + messages_of(inner, role, nesting=nesting)


def _turns(value: Block, inner: JsonValue, role: str, nesting: int) -> list[Message]:
    return messages_of(inner, role, nesting=nesting)


def _parts(value: Block, inner: JsonValue, role: str, nesting: int) -> list[Message]:
    return [message(role, parts.parts_of(inner), finish=finish_of(value))]


def _named(value: Block, inner: JsonValue, role: str, nesting: int) -> list[Message]:
    """Read a pipeline's output by component: `{"llm": {"replies": […]}}`."""
    return _turns(value, inner["replies"], role, nesting)


_Read = Callable[[Block, JsonValue, str, int], list[Message]]

_ANSWERS: Final[tuple[tuple[str, _Read], ...]] = (
    ("choices", _choices),
    ("candidates", _candidates),
    ("generations", _generations),
    ("replies", _turns),
    ("tool_messages", _turns),
    ("contents", _contents),
    ("parts", _parts),
    ("blocks", _parts),
    ("content", _content),
    ("message", _turns),
)
"""Bodies of providers and frameworks, told by one key."""


def _instructions(value: Block) -> list[Message]:
    """Return the system message that a request body carries beside its messages."""
    for key in _INSTRUCTIONS:
        inner = value.get(key)
        if isinstance(inner, Mapping) and "parts" in inner:
            inner = inner["parts"]
        if inner and isinstance(inner, str | list):
            return [message("system", parts.parts_of(inner))]
    return []


def _of_wrapper(value: Block, role: str, nesting: int) -> list[Message]:
    if value.keys() <= {"args", "kwargs"} and isinstance(value.get("kwargs"), Mapping):
        return _of_call(value, role, nesting)
    for key in _WRAPPERS:
        inner = value.get(key)
        if inner and isinstance(inner, str | list | Mapping):
            made = messages_of(inner, role, nesting=nesting)
            return _instructions(value) + _beside(made, value, key)
    for inner in value.values():
        if isinstance(inner, Mapping) and isinstance(inner.get("replies"), list):
            return _named(value, inner, role, nesting)
    return _of_fields(value, role)


def _beside(made: list[Message], value: Block, key: str) -> list[Message]:
    """Keep what stands beside a text, unless the object is a request and holds parameters."""
    if not isinstance(value[key], str) or not made or "model" in value:
        return made
    rest = {
        name: inner
        for name, inner in value.items()
        if name != key and name not in _NOISE and inner not in _NOTHING
    }
    if rest:
        made[-1]["parts"].append(parts.other(rest))
    return made


def _of_call(value: Block, role: str, nesting: int) -> list[Message]:
    """Read the arguments of a traced Python function."""
    args, kwargs = value.get("args"), value["kwargs"]
    if args and isinstance(args, list) and not kwargs:
        return messages_of(args[0] if len(args) == 1 else args, role, nesting=nesting)
    if kwargs and not args:
        return messages_of(kwargs, role, nesting=nesting)
    return [message(role, [parts.other(dict(value))])] if args else []


def _of_fields(value: Block, role: str) -> list[Message]:
    """Read an object nobody knows: its question as text, what stands beside it as it came."""
    told = {key: inner for key, inner in value.items() if inner not in _NOTHING}
    if not told:
        return []
    known = parts.block_of(value)
    if any(part["type"] != "other" for part in known):
        return [message(role, known)]
    for key in _ANSWERED if role == "assistant" else _QUESTIONS:
        words = told.get(key)
        if isinstance(words, str):
            return _beside(said(role, words), value, key)
    return [message(role, [parts.other(dict(value))])]
