"""One message of any dialect as a canonical message: role, name, finish reason, parts."""

from collections.abc import Iterable, Mapping
from typing import Final

from collector.dialects.content import parts
from collector.dialects.content.parts import Block, Part
from gnomon.model import JsonValue

Message = dict[str, JsonValue]

_ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "chatbot": "assistant",
    "bot": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
}
"""Spellings of roles, and the types LangChain gives its messages."""

_CLASSES: Final = {
    "SystemMessage": "system",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
}
"""Beginnings of the class names of serialised LangChain messages (`AIMessageChunk` too)."""

_CONTENTS: Final = ("parts", "content", "_content", "blocks", "contents")
_CALL_LISTS: Final = ("tool_calls", "toolCalls")
_SPOKEN: Final = (*_CONTENTS, *_CALL_LISTS, "function_call", "refusal", "tool_call_id")
_FINISHES: Final = ("finish_reason", "finishReason", "stop_reason", "stopReason")
_METAS: Final = ("meta", "_meta", "response_metadata", "generation_info")
_RESULT_IDS: Final = ("tool_call_id", "tool_use_id", "toolCallId", "id")


def message(
    role: str, content: Iterable[Part], *, name: JsonValue = None, finish: JsonValue = None
) -> Message:
    """Return a canonical message; absent names and finish reasons are left out."""
    content = list(content)
    made: Message = {"role": _speaker(role, content)}
    if isinstance(name, str) and name:
        made["name"] = name
    if isinstance(finish, str) and finish:
        made["finish_reason"] = finish
    made["parts"] = content
    return made


def _speaker(role: str, content: list[Part]) -> str:
    """Return who speaks: what dialects send as the user's may be a tool's answer or a call."""
    kinds = {part["type"] for part in content} if role == "user" else set()
    if kinds == {"tool_result"}:
        return "tool"
    return "assistant" if kinds == {"tool_call"} else role


def said(role: str, value: str | None) -> list[Message]:
    """Return one message of plain text, or none."""
    return [message(role, [parts.text(value)])] if value else []


def spoken(messages: Iterable[Message]) -> bool:
    """Return whether any message says anything."""
    return any(made["parts"] for made in messages)


def is_message(value: JsonValue) -> bool:
    """Return whether an object is a message of a known dialect."""
    if not isinstance(value, Mapping):
        return False
    role = value.get("role", value.get("_role"))
    if isinstance(role, str):
        return role.lower() in _ROLES or any(key in value for key in _SPOKEN)
    kind = value.get("type")
    if not isinstance(kind, str) or kind.lower() not in _ROLES:
        return False
    return "content" in value or isinstance(value.get("data"), Mapping)


def canonical(value: Block, role: str) -> Message:
    """Return a message of any dialect; `role` is the fallback."""
    data = value.get("data")
    if isinstance(data, Mapping) and "content" in data and "content" not in value:
        value = {"type": value.get("type"), **data}
    role = role_of(value) or role
    inner = value.get("content")
    if isinstance(inner, Mapping) and isinstance(inner.get("parts"), list):
        value = {**value, "content": inner["parts"]}
    content = _answer(value) if role == "tool" else _speech(value)
    return message(role, content, name=value.get("name"), finish=finish_of(value))


def of_class(name: str, kwargs: Block, role: str) -> Message:
    """Return a serialised LangChain message: the class tells the role."""
    known = next((its for start, its in _CLASSES.items() if name.startswith(start)), role)
    return canonical({"role": known, **kwargs}, known)


def role_of(value: Block) -> str | None:
    """Return the canonical role a message names, or None where it names none that is known."""
    for key in ("role", "_role", "type"):
        word = value.get(key)
        if isinstance(word, str) and (role := _ROLES.get(word.lower())):
            return role
    return None


def finish_of(value: Block) -> str | None:
    """Return the finish reason a message or a choice carries, as sent."""
    levels = [value, *(value[key] for key in _METAS if isinstance(value.get(key), Mapping))]
    for level in levels:
        for key in _FINISHES:
            reason = level.get(key)
            if isinstance(reason, str) and reason:
                return reason
    return None


def _speech(value: Block) -> list[Part]:
    """Return what a system, a user or an assistant says: reasoning, text, tool calls."""
    extra = value.get("additional_kwargs")
    extra = extra if isinstance(extra, Mapping) else {}
    content = _reasoning(value) or _reasoning(extra)
    content += parts.parts_of(parts.first(value, _CONTENTS))
    refusal = value.get("refusal")
    if isinstance(refusal, str) and refusal:
        content.append(parts.text(refusal))
    content += _spoken_sound(value)
    return with_calls(content, _calls(value) or _calls(extra))


def _spoken_sound(value: Block) -> list[Part]:
    """Return OpenAI's spoken answer: its transcript, and the sound by digest."""
    audio = value.get("audio")
    if not isinstance(audio, Mapping):
        return []
    words = audio.get("transcript")
    heard = [parts.text(words)] if isinstance(words, str) and words else []
    return heard + [
        part for part in parts.block_of({"type": "audio", **audio}) if part not in heard
    ]


def _reasoning(value: Block) -> list[Part]:
    words = value.get("reasoning_content") or value.get("reasoning")
    return [parts.reasoning(words)] if isinstance(words, str) and words else []


def _calls(value: Block) -> list[Part]:
    listed = parts.first(value, _CALL_LISTS)
    calls = [
        parts.call(inner) if isinstance(inner := _unwrapped(item), Mapping) else parts.other(item)
        for item in (listed if isinstance(listed, list) else ())
    ]
    single = value.get("function_call")
    if isinstance(single, Mapping):
        calls.append(parts.call(single))
    return calls


def _unwrapped(item: JsonValue) -> JsonValue:
    """Return the call inside `{"tool_call": {…}}`."""
    if isinstance(item, Mapping) and isinstance(item.get("tool_call"), Mapping):
        return item["tool_call"]
    return item


def with_calls(content: list[Part], calls: Iterable[Part]) -> list[Part]:
    """Append tool calls; a call that the content already holds is kept once, with what both tell."""
    seen = {_key(part): part for part in content if part["type"] == "tool_call"}
    for part in calls:
        known = seen.setdefault(_key(part), part)
        if known is part:
            content.append(part)
        else:
            known |= {name: part[name] for name in ("name", "arguments") if not known[name]}
    return content


def _key(part: Part) -> str:
    """Return what makes two reports of a call the same call: its id; without one, everything."""
    identifier = part.get("id")
    return f"id {identifier}" if identifier else repr(part)


def _answer(value: Block) -> list[Part]:
    """Return what a tool answered; content that is a list of results keeps theirs."""
    content = parts.first(value, _CONTENTS)
    blocks = parts.parts_of(content) if isinstance(content, list) else []
    if blocks and any(part["type"] in ("tool_result", "tool_call") for part in blocks):
        return blocks
    if any(part["type"] == "media" for part in blocks):
        return blocks
    if content is None and parts.first(value, ("result", "response", "output")) is not None:
        return [parts.result(value)]
    identifier = parts.first(value, _RESULT_IDS)
    return [] if content is None else [parts.tool_result(identifier, content)]
