"""Content blocks of every dialect as canonical parts: text, reasoning, tool call, tool result, media, other."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from collector.dialects.content.media import media_of
from collector.dialects.values import as_data, as_json
from gnomon.model import JsonValue

Part = dict[str, JsonValue]
Block = Mapping[str, JsonValue]

_CALL_IDS: Final = (
    "call_id",
    "toolCallId",
    "tool_call_id",
    "toolUseId",
    "tool_use_id",
    "tool_id",
    "id",
)
"""`call_id` first: an item of OpenAI's Responses API has an `id` of its own beside it."""

_CALL_NAMES: Final = ("name", "toolName", "tool_name")
_CALL_ARGUMENTS: Final = (
    "arguments",
    "args",
    "input",
    "tool_kwargs",
    "parameters",
    "server_tool_call",
)
_RESULTS: Final = (
    "response",
    "result",
    "output",
    "content",
    "tool_output",
    "value",
    "error",
    "server_tool_call_response",
)
_TEXTS: Final = ("text", "content", "refusal", "value")
_REASONINGS: Final = (
    "thinking",
    "text",
    "content",
    "reasoning_text",
    "reasoningText",
    "reasoning",
    "summary",
)

_TEXT_TYPES: Final = frozenset(
    {"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"}
)
_REASONING_TYPES: Final = frozenset({"reasoning", "thinking"})
_CALL_TYPES: Final = frozenset(
    {
        "tool_call",
        "tool-call",
        "tool_use",
        "toolUse",
        "function_call",
        "function",
        "server_tool_call",
        "server_tool_use",
        "mcp_tool_use",
        "custom_tool_call",
    }
)
_RESULT_TYPES: Final = frozenset(
    {
        "tool_call_response",
        "tool_call_result",
        "tool_result",
        "tool-result",
        "tool-error",
        "toolResult",
        "function_call_output",
        "custom_tool_call_output",
        "server_tool_call_response",
        "mcp_tool_result",
        "web_search_tool_result",
        "code_execution_tool_result",
    }
)


def text(value: str) -> Part:
    """Return a part that people read."""
    return {"type": "text", "text": value}


def reasoning(value: str) -> Part:
    """Return a part that the model wrote for itself."""
    return {"type": "reasoning", "text": value}


def other(raw: JsonValue) -> Part:
    """Return a part that keeps what no rule understands."""
    return {"type": "other", "raw": raw}


def call(block: Block) -> Part:
    """Return the tool call that a block of any dialect describes."""
    function = block.get("function")
    if isinstance(function, Mapping):
        block = {**function, "id": first(block, _CALL_IDS)}
    return {
        "type": "tool_call",
        "id": _identifier(first(block, _CALL_IDS)),
        "name": _identifier(first(block, _CALL_NAMES)),
        "arguments": _arguments(first(block, _CALL_ARGUMENTS)),
    }


def result(block: Block, *, identifier: JsonValue = None) -> Part:
    """Return the tool result that a block of any dialect describes."""
    value = first(block, _RESULTS)
    return tool_result(identifier or first(block, _CALL_IDS), None if value is False else value)


def tool_result(identifier: JsonValue, value: JsonValue) -> Part:
    """Return a tool result; text blocks are joined, JSON text becomes its value."""
    return {"type": "tool_result", "id": _identifier(identifier), "result": _outcome(value)}


def parts_of(content: JsonValue) -> list[Part]:
    """Return the canonical parts of a message's content, whatever its dialect."""
    if content is None or content == "":
        return []
    if isinstance(content, list):
        return [part for block in content for part in _parts_of_item(block)]
    return _parts_of_item(content)


def _parts_of_item(block: JsonValue) -> list[Part]:
    if isinstance(block, str):
        return [text(block)] if block else []
    if isinstance(block, Mapping):
        return block_of(block)
    return [] if block is None else [other(block)]


def block_of(block: Block) -> list[Part]:
    """Return the parts of one content block; what is unknown becomes one `other` part."""
    kind = block.get("type") or block.get("block_type")
    if isinstance(kind, str) and (known := _by_type(kind, block)) is not None:
        return known
    return _by_key(block)


def _by_type(kind: str, block: Block) -> list[Part] | None:
    if kind in _TEXT_TYPES:
        return _texts(block)
    if kind in _REASONING_TYPES:
        return _reasonings(block)
    if kind in _CALL_TYPES:
        return [call(_inner(block, "tool_call", "toolUse"))]
    if kind in _RESULT_TYPES:
        return [result(_inner(block, "tool_call_result", "toolResult"))]
    if (media := media_of(kind, block)) is not None:
        return [media]
    return None


def _by_key(block: Block) -> list[Part]:
    """Read blocks that name their kind by a key (Gemini, Bedrock, Haystack, Vercel)."""
    for key, read in _KEYED:
        inner = block.get(key)
        if inner is not None and (found := read(block, inner)):
            return found
    return [other(dict(block))]


def _keyed_text(block: Block, inner: JsonValue) -> list[Part]:
    if not isinstance(inner, str):
        return []
    return [reasoning(inner)] if block.get("thought") is True else [text(inner)]


def _keyed_call(block: Block, inner: JsonValue) -> list[Part]:
    return [call(inner)] if isinstance(inner, Mapping) else []


def _keyed_result(block: Block, inner: JsonValue) -> list[Part]:
    if not isinstance(inner, Mapping):
        return []
    origin = inner.get("origin")
    identifier = origin.get("id") if isinstance(origin, Mapping) else None
    return [result(inner, identifier=identifier)]


def _keyed_reasoning(block: Block, inner: JsonValue) -> list[Part]:
    if isinstance(inner, str):
        return [reasoning(inner)]
    return _reasonings(inner) if isinstance(inner, Mapping) else []


def _keyed_media(block: Block, inner: JsonValue) -> list[Part]:
    media = next((media_of(key, block) for key in _MEDIA_KEYS if key in block), None)
    return [] if media is None else [media]


_MEDIA_KEYS: Final = (
    "inline_data",
    "inlineData",
    "file_data",
    "fileData",
    "image",
    "document",
    "video",
    "audio",
)

_KEYED: Final[tuple[tuple[str, Callable[[Block, JsonValue], list[Part]]], ...]] = (
    ("text", _keyed_text),
    ("toolUse", _keyed_call),
    ("toolResult", _keyed_result),
    ("tool_call", _keyed_call),
    ("tool_call_result", _keyed_result),
    ("function_call", _keyed_call),
    ("functionCall", _keyed_call),
    ("function_response", _keyed_result),
    ("functionResponse", _keyed_result),
    ("function", lambda block, inner: _keyed_call(block, block)),
    ("toolCallId", lambda block, inner: _vercel(block)),
    ("reasoningContent", _keyed_reasoning),
    ("reasoning", _keyed_reasoning),
    *((key, _keyed_media) for key in _MEDIA_KEYS),
)


def _vercel(block: Block) -> list[Part]:
    """Read a tool call or tool result that only its `toolCallId` betrays."""
    if "toolName" not in block:
        return []
    return [result(block)] if {"result", "output"} & block.keys() else [call(block)]


def _texts(block: Block) -> list[Part]:
    value = first(block, _TEXTS)
    if isinstance(value, Mapping):
        value = value.get("value")
    if not isinstance(value, str):
        return [] if value is None else [other(dict(block))]
    return [text(value)] if value else []


def _reasonings(block: Block) -> list[Part]:
    value = first(block, _REASONINGS)
    if isinstance(value, Mapping):
        return _reasonings(value)
    if isinstance(value, list):
        found = [part["text"] for part in parts_of(value) if part["type"] in ("text", "reasoning")]
        return [reasoning(words) for words in found]
    if isinstance(value, str):
        return [reasoning(value)]
    return [other(dict(block))]


def _inner(block: Block, *keys: str) -> Block:
    """Return the block inside a block that repeats its type as a key."""
    for key in keys:
        if isinstance(inner := block.get(key), Mapping):
            return inner
    return block


def first(block: Block, keys: Iterable[str]) -> JsonValue:
    """Return the first value that says something."""
    for key in keys:
        if (value := block.get(key)) is not None:
            return value
    return None


def _identifier(value: JsonValue) -> str | None:
    return str(value) if isinstance(value, str | int) and value != "" else None


def _arguments(value: JsonValue) -> JsonValue:
    """Return arguments as a value: JSON text and Python literals are read, other text stays."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    data = as_data(value)
    return value if data is None else data


def _outcome(value: JsonValue) -> JsonValue:
    """Return what a tool answered without the wrapping of its message."""
    if isinstance(value, Mapping):
        if value.get("type") in _VERCEL_OUTPUTS and "value" in value:
            return _outcome(value["value"])
        return value
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], Mapping) and value[0].keys() == {"json"}:
            return value[0]["json"]
        joined = joined_text(value)
        return value if joined is None else joined
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        data = as_json(value)
        return data if isinstance(data, dict | list) else value
    return value


_VERCEL_OUTPUTS: Final = frozenset({"text", "json", "error-text", "error-json", "content"})


def joined_text(blocks: JsonValue) -> str | None:
    """Return the text of a list that holds nothing but text blocks; None for any other."""
    if not isinstance(blocks, list) or not blocks:
        return None
    words = [_block_text(block) for block in blocks]
    known = [word for word in words if word is not None]
    return "\n".join(known) if len(known) == len(words) else None


def _block_text(block: JsonValue) -> str | None:
    if not isinstance(block, Mapping):
        return None
    kind = block.get("type") or block.get("block_type") or "text"
    value = block.get("text")
    if value is None and block.keys() <= {"type", "content"}:
        value = block.get("content")
    return value if kind in _TEXT_TYPES and isinstance(value, str) else None
