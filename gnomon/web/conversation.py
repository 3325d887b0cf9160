"""What a model call read and wrote: the messages that are new since the last call; pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gnomon.model import Bodies, JsonValue
from gnomon.web.blocks import Block, block, value_block
from gnomon.web.formats import size
from gnomon.web.jsontext import parsed

Look = Literal["text", "thought", "call", "result", "media", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One piece of a message."""

    look: Look
    block: Block
    name: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message as it is shown."""

    role: str
    name: str = ""
    finish_reason: str = ""
    parts: Sequence[Part] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """The messages of one step."""

    earlier: Sequence[Message]
    """Seen by the last call of this agent already."""
    fresh: Sequence[Message]
    answer: Sequence[Message]
    system: Block | None = None
    tools: Block | None = None
    captured: bool = True

    @property
    def empty(self) -> bool:
        """Whether nothing was captured."""
        return not (self.earlier or self.fresh or self.answer or self.system)


def conversation(
    bodies: Bodies, before: Bodies | None = None, *, full: bool = False
) -> Conversation:
    """Return a step's messages, split at what the call before it had read or written already."""
    read, wrote = _messages(bodies.input), _messages(bodies.output)
    known = [] if before is None else _messages(before.input)
    same = 0
    for mine, other in zip(read, known, strict=False):
        if mine != other:
            break
        same += 1
    if before is not None and same == len(known):
        same += _repeats_answer(read[same:])
    return Conversation(
        earlier=[_shown(message, full=full) for message in read[:same]],
        fresh=[_shown(message, full=full) for message in read[same:]],
        answer=[_shown(message, full=full) for message in wrote],
        system=None if bodies.system is None else block(_plain(bodies.system), full=full),
        tools=None
        if bodies.tool_definitions is None
        else block(bodies.tool_definitions, full=full),
        captured=not (bodies.input is None and bodies.output is None),
    )


def _repeats_answer(rest: Sequence[Mapping[str, JsonValue]]) -> int:
    """Return how many messages at the head of the rest are what the last call answered."""
    count = 0
    while count < len(rest) and rest[count].get("role") == "assistant":
        count += 1
    return count if count < len(rest) else 0


def _messages(text: str | None) -> Sequence[Mapping[str, JsonValue]]:
    """Read canonical messages; anything else becomes one message of one text."""
    if text is None:
        return []
    value = parsed(text)
    if isinstance(value, list) and all(
        isinstance(item, dict) and "parts" in item for item in value
    ):
        return value
    return [{"role": "", "parts": [{"type": "other", "raw": value}]}]


def _shown(message: Mapping[str, JsonValue], *, full: bool) -> Message:
    parts = message.get("parts")
    return Message(
        role=str(message.get("role") or ""),
        name=str(message.get("name") or ""),
        finish_reason=str(message.get("finish_reason") or ""),
        parts=[_part(part, full=full) for part in parts] if isinstance(parts, list) else [],
    )


def _part(part: JsonValue, *, full: bool) -> Part:
    if not isinstance(part, dict):
        return Part(look="other", block=value_block(part, full=full))
    match part.get("type"):
        case "text":
            return Part(look="text", block=_said(part.get("text"), full=full))
        case "reasoning":
            return Part(look="thought", block=_said(part.get("text"), full=full))
        case "tool_call":
            return Part(
                look="call",
                name=str(part.get("name") or "?"),
                id=str(part.get("id") or ""),
                block=value_block(part.get("arguments"), full=full),
            )
        case "tool_result":
            return Part(
                look="result",
                id=str(part.get("id") or ""),
                block=value_block(part.get("result"), full=full),
            )
        case "media":
            return Part(look="media", block=Block(text=_media(part)))
        case _:
            return Part(look="other", block=value_block(part.get("raw", part), full=full))


def _said(text: JsonValue, *, full: bool) -> Block:
    return value_block("" if text is None else text, full=full, fold=False)


def _media(part: Mapping[str, JsonValue]) -> str:
    words = [str(part.get("modality") or "media"), str(part.get("mime_type") or "")]
    if isinstance(part.get("size"), int):
        words.append(size(part["size"]))
    uri = str(part.get("uri") or "")
    if uri and not uri.startswith("data:"):
        words.append(uri)
    elif part.get("bytes_sha256"):
        words.append(f"sha256 {part['bytes_sha256']}")
    return " · ".join(word for word in words if word)


def _plain(text: str) -> str:
    """Return a system prompt as text where it is a list of text parts."""
    value = parsed(text)
    if isinstance(value, list) and all(
        isinstance(item, dict) and isinstance(item.get("text"), str) for item in value
    ):
        return "\n".join(item["text"] for item in value)
    return text
