"""Tool arguments and results without the envelopes that frameworks put around them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from collector.dialects.content.parts import joined_text
from collector.dialects.values import as_data, as_json, as_literal, dumps
from gnomon.model import JsonValue

_MAX_ENVELOPES: Final = 8

_CALL_FRAME: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})
_LANGCHAIN_FRAME: Final = frozenset({"inputs", "input_str", "tags", "metadata", "kwargs"})
_CALL_MARKS: Final = frozenset({"kwargs", "sanitize_inputs_outputs"})
"""What stands only in the frame of a Python call: a tool may have an argument `args` of its own."""

_NAMED_FRAMES: Final = (
    frozenset({"name", "arguments"}),
    frozenset({"tool_name", "arguments"}),
    frozenset({"name", "arguments", "_meta"}),
)
_ADK_FRAME: Final = frozenset({"id", "name", "response", "parts", "scheduling", "will_continue"})
_OUTPUT_FRAME: Final = frozenset({"output", "outputs", "kwargs", "tags", "metadata"})
_MCP_FRAME: Final = frozenset(
    {"content", "isError", "is_error", "structuredContent", "structured_content", "_meta", "meta"}
)
_MESSAGE_REPR: Final = re.compile(r"""content=(?=['"\[])""")
_REPR_ID: Final = re.compile(r"""\btool_call_id=(['"])([^'"]+)\1""")
_REPR_END: Final = re.compile(r"""\s(?:name|id|tool_call_id|additional_kwargs|status|artifact)=""")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """What was inside, and what the envelopes told beside it."""

    value: JsonValue
    call_id: str | None = None
    name: str | None = None

    def text(self) -> str | None:
        """Return text as it is and any other value as JSON text."""
        if self.value is None or isinstance(self.value, str):
            return self.value
        return dumps(self.value)


def arguments(words: str) -> JsonValue:
    """Return the arguments inside an attribute: a JSON value; a bare word stays a word."""
    value = _read(words)
    for _ in range(_MAX_ENVELOPES):
        inner = _open_arguments(value)
        if inner is value:
            break
        value = inner
    return value


def _read(words: str) -> JsonValue:
    value = as_data(words)
    if isinstance(value, str) and value[:1] in ("{", "["):
        inner = as_data(value)
        return value if inner is None else inner
    return words if value is None else value


def _open_arguments(value: JsonValue) -> JsonValue:
    if not isinstance(value, Mapping) or not value:
        return value
    keys = value.keys()
    if keys <= _CALL_FRAME and not _CALL_MARKS.isdisjoint(keys):
        return _of_call(value)
    if keys <= _LANGCHAIN_FRAME:
        return _of_langchain(value)
    if keys in _NAMED_FRAMES:
        inner = value["arguments"]
        inner = _read(inner) if isinstance(inner, str) else inner
        return inner if isinstance(inner, Mapping) else value
    return value


def _of_call(value: Mapping[str, JsonValue]) -> JsonValue:
    """Return the keyword arguments of a Python call; positional ones become `arg0`, `arg1`, …"""
    args, kwargs = value.get("args"), value.get("kwargs")
    if not isinstance(kwargs if kwargs is not None else {}, Mapping):
        return value
    if not isinstance(args if args is not None else [], list) or (args is None and kwargs is None):
        return value
    return {f"arg{place}": item for place, item in enumerate(args or ())} | dict(kwargs or {})


def _of_langchain(value: Mapping[str, JsonValue]) -> JsonValue:
    """Return `inputs`, else what the Python literal in `input_str` says."""
    if value.get("inputs") is not None:
        return value["inputs"]
    words = value.get("input_str")
    if not isinstance(words, str):
        return value
    literal = as_literal(words) if words[:1] in ("{", "[", "(") else None
    return words if literal is None else literal


def result(words: str) -> Unwrapped:
    """Return the result inside an attribute."""
    value = as_json(words)
    if value is None:
        return _of_repr(words)
    opened = _open_all(value)
    if opened.value is value and not isinstance(value, str):
        return Unwrapped(words, opened.call_id, opened.name)
    return opened


def _open_all(value: JsonValue) -> Unwrapped:
    call_id = name = None
    for _ in range(_MAX_ENVELOPES):
        if isinstance(value, Mapping):
            call_id = call_id or _told(value, "tool_call_id", "toolUseId", "tool_id")
            name = name or _told(value, "tool_name")
            if "tool_name" not in value and "tool_call_id" in value:
                name = name or _told(value, "name")
        inner = _open_result(value)
        if inner is value:
            break
        if isinstance(value, Mapping) and "response" in value and value.keys() <= _ADK_FRAME:
            call_id = call_id or _told(value, "id")
        value = inner
    return Unwrapped(value, call_id, name)


def _told(value: Mapping[str, JsonValue], *keys: str) -> str | None:
    for key in keys:
        word = value.get(key)
        if isinstance(word, str) and word:
            return word
    return None


def _open_result(value: JsonValue) -> JsonValue:
    """Return what lies in the outermost envelope; the value itself where there is none."""
    if isinstance(value, list):
        return _open_list(value)
    if not isinstance(value, Mapping):
        return value
    for opened in (_langchain, _framed, _llama_index, _strands):
        inner = opened(value)
        if inner is not value:
            return inner
    return value


def _open_list(value: list[JsonValue]) -> JsonValue:
    joined = joined_text(value)
    if joined is not None:
        return joined
    if len(value) == 1 and isinstance(value[0], Mapping) and "toolResult" in value[0]:
        return value[0]
    return value


def _langchain(value: Mapping[str, JsonValue]) -> JsonValue:
    """Open `{"data": {"content", …}}`, `{"lc": 1, "kwargs": {…}}` and `{"content", "tool_call_id"}`."""
    data = value.get("data")
    if isinstance(data, Mapping) and "content" in data and value.keys() <= {"data", "type"}:
        return data
    kwargs = value.get("kwargs")
    if "lc" in value and isinstance(kwargs, Mapping):
        return kwargs
    speaks = "tool_call_id" in value or "tool" in (value.get("type"), value.get("role"))
    if "content" in value and speaks:
        return value["content"]
    return value


def _framed(value: Mapping[str, JsonValue]) -> JsonValue:
    """Open `{"output": …}`, ADK's `{"id", "name", "response"}` and MCP's `{"content": […]}`."""
    keys = value.keys()
    if keys <= _OUTPUT_FRAME:
        for key in ("output", "outputs"):
            if value.get(key) is not None:
                return value[key]
    if "response" in value and {"id", "name"} & keys and keys <= _ADK_FRAME:
        return value["response"]
    failed = True in (value.get("isError"), value.get("is_error"))
    if isinstance(value.get("content"), list) and keys <= _MCP_FRAME and not failed:
        joined = joined_text(value["content"])
        return value if joined is None else joined
    return value


def _llama_index(value: Mapping[str, JsonValue]) -> JsonValue:
    """Open `{"blocks": [{"text"}], "tool_name"}`, also inside `{"tool_output": …}`."""
    if isinstance(value.get("tool_output"), Mapping) and "tool_name" in value:
        return value["tool_output"]
    if "tool_name" in value and isinstance(value.get("blocks"), list):
        joined = joined_text(value["blocks"])
        if joined is not None:
            return joined
        return value.get("raw_output", value)
    return value


def _strands(value: Mapping[str, JsonValue]) -> JsonValue:
    """Open Bedrock's `{"toolResult": {"toolUseId", "content": […]}}`."""
    inner = value.get("toolResult")
    if isinstance(inner, Mapping):
        return inner
    if "toolUseId" in value and "content" in value:
        return value["content"]
    return value


def _of_repr(words: str) -> Unwrapped:
    """Open the repr of a LangChain message: `content='…' name='…' tool_call_id='…'`."""
    if not _MESSAGE_REPR.match(words) or (told := _REPR_ID.search(words)) is None:
        return Unwrapped(words)
    for end in _REPR_END.finditer(words):
        literal = as_literal(words[len("content=") : end.start()])
        if literal is not None:
            return Unwrapped(literal, told.group(2))
    return Unwrapped(words, told.group(2))
