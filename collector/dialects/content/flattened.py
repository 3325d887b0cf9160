"""Messages flattened into numbered attributes (OpenInference, OpenLLMetry) as canonical messages."""

from collections.abc import Mapping
from typing import Final

from collector.dialects.content import parts
from collector.dialects.content.messages import (
    Message,
    message,
    role_of,
    said,
    with_calls,
)
from collector.dialects.content.parts import Part
from collector.dialects.values import as_json, indexed
from gnomon.model import JsonValue

Flat = Mapping[str, str]

_BLOCK: Final = "message_content."
_LEGACY_ROLES: Final = ("user", "system", "assistant")


def openinference(attributes: Flat, prefix: str, role: str) -> list[Message]:
    """Read `llm.input_messages.N.message.*` and its output twin."""
    return [_openinference(_under(flat, "message."), role) for flat in _entries(attributes, prefix)]


def _entries(attributes: Flat, prefix: str) -> list[dict[str, str]]:
    return list(indexed(attributes, prefix).values())


def _under(flat: Flat, prefix: str) -> dict[str, str]:
    length = len(prefix)
    return {key[length:]: value for key, value in flat.items() if key.startswith(prefix)}


def _openinference(flat: Flat, role: str) -> Message:
    role = role_of({"role": flat.get("role")}) or role
    blocks = [part for block in _entries(flat, "contents") for part in _block(block)]
    plain = [flat["content"]] if flat.get("content") else []
    plain += [text for block in _entries(flat, "content") if (text := block.get(""))]
    calls = [_call(call) for call in _entries(flat, "tool_calls")]
    if flat.get("function_call_name"):
        arguments = flat.get("function_call_arguments_json")
        calls.append(parts.call({"name": flat["function_call_name"], "arguments": arguments}))
    if role == "tool":
        return message(role, _answer(flat, plain, blocks), name=flat.get("name"))
    told = {part.get("text") for part in blocks}
    content = [parts.text(words) for words in plain if words not in told] + blocks
    return message(role, with_calls(content, calls), name=flat.get("name"))


def _answer(flat: Flat, plain: list[str], blocks: list[Part]) -> list[Part]:
    """Return the result a tool message carries."""
    if any(part["type"] not in ("text", "other") for part in blocks):
        return blocks
    words = plain or [part["text"] for part in blocks if part["type"] == "text"]
    return [parts.tool_result(flat.get("tool_call_id"), "\n".join(words))] if words else []


def _block(flat: Flat) -> list[Part]:
    """Read one entry of `contents`."""
    if any(key.startswith("tool_call.") for key in flat):
        return [_call(flat)]
    inner = _under(flat, _BLOCK)
    kind = inner.get("type", "")
    for end in (".url", ".file_id", ".data"):
        url = next((value for key, value in inner.items() if key.endswith(end)), None)
        if url:
            mime = next((value for key, value in inner.items() if key.endswith("mime_type")), None)
            return parts.block_of({"type": kind or "image", "url": url, "mime_type": mime})
    if "text" in inner or kind in ("reasoning", "thinking"):
        return parts.block_of({"type": kind or "text", "text": inner.get("text", "")})
    return [parts.other(dict(inner))] if inner.keys() - {"type"} else []


def _call(flat: Flat) -> Part:
    """Read `tool_call.{id,function.name,function.arguments}`."""
    call = _under(flat, "tool_call.") or flat
    return parts.call(
        {
            "id": call.get("id"),
            "name": call.get("function.name") or call.get("name"),
            "arguments": call.get("function.arguments", call.get("arguments")),
        }
    )


def completions(attributes: Flat) -> tuple[list[Message], list[Message]]:
    """Read `llm.prompts.N.prompt.text` and `llm.choices.N.completion.text`."""
    prompts = [
        made
        for flat in _entries(attributes, "llm.prompts")
        for made in said("user", flat.get("prompt.text"))
    ]
    choices = [
        made
        for flat in _entries(attributes, "llm.choices")
        for made in said("assistant", flat.get("completion.text"))
    ]
    return prompts, choices


def embedded(attributes: Flat) -> list[Message]:
    """Read the texts of an embedding call."""
    return [
        made
        for flat in _entries(attributes, "embedding.embeddings")
        for made in said("user", flat.get("embedding.text"))
    ]


def reranked(attributes: Flat) -> list[Message]:
    """Read the documents that a reranker was given to put in order."""
    entries = _entries(attributes, "reranker.input_documents")
    return [made for flat in entries for made in said("user", flat.get("document.content"))]


def openllmetry(attributes: Flat, prefix: str, role: str) -> list[Message]:
    """Read `gen_ai.prompt.N.*` and `gen_ai.completion.N.*`."""
    return [_openllmetry(flat, role) for flat in _entries(attributes, prefix)]


def _openllmetry(flat: Flat, role: str) -> Message:
    role = role_of({"role": flat.get("role")}) or role
    words = flat.get("content")
    for legacy in _LEGACY_ROLES:
        if words is None and flat.get(legacy):
            role, words = legacy, flat[legacy]
    if role == "tool" and words:
        content = [parts.tool_result(flat.get("tool_call_id"), _structured(words))]
    else:
        content = _reasoning(flat) + parts.parts_of(_structured(words))
    calls = [_call(call) for call in _entries(flat, "tool_calls")]
    if flat.get("function_call.name"):
        calls.append(_call(_under(flat, "function_call.")))
    finish = flat.get("finish_reason")
    return message(role, with_calls(content, calls), name=flat.get("name"), finish=finish)


def _reasoning(flat: Flat) -> list[Part]:
    words = flat.get("reasoning") or flat.get("reasoning_content")
    return [parts.reasoning(words)] if words else []


def _structured(words: str | None) -> JsonValue:
    """Return content blocks where a library wrote them as JSON text; plain text as it is."""
    if not words or words[:2] not in ("[{", "[ "):
        return words
    blocks = as_json(words)
    if isinstance(blocks, list) and all(
        isinstance(block, dict) and isinstance(block.get("type"), str) for block in blocks
    ):
        return blocks
    return words
