"""Content blocks of every dialect become the same canonical parts."""

import hashlib
from typing import Any

import pytest

from collector.dialects.content.parts import parts_of
from tests.unit.collector.content.reading import answered, called, text

CITY = {"city": "Paris"}

BLOCKS: list[tuple[str, Any, list[Any]]] = [
    ("genai text", {"type": "text", "content": "hi"}, [text("hi")]),
    ("anthropic text", {"type": "text", "text": "hi"}, [text("hi")]),
    ("responses input", {"type": "input_text", "text": "hi"}, [text("hi")]),
    ("responses output", {"type": "output_text", "text": "hi", "annotations": []}, [text("hi")]),
    ("assistants text", {"type": "text", "text": {"value": "hi"}}, [text("hi")]),
    ("refusal", {"type": "refusal", "refusal": "no"}, [text("no")]),
    ("gemini text", {"text": "hi"}, [text("hi")]),
    ("gemini thought", {"text": "hm", "thought": True}, [{"type": "reasoning", "text": "hm"}]),
    (
        "genai reasoning",
        {"type": "reasoning", "content": "hm"},
        [{"type": "reasoning", "text": "hm"}],
    ),
    (
        "pydantic-ai thinking",
        {"type": "thinking", "content": "hm"},
        [{"type": "reasoning", "text": "hm"}],
    ),
    (
        "anthropic thinking",
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        [{"type": "reasoning", "text": "hm"}],
    ),
    (
        "responses reasoning",
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
        [{"type": "reasoning", "text": "hm"}],
    ),
    (
        "bedrock reasoning",
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
        [{"type": "reasoning", "text": "hm"}],
    ),
    (
        "genai call",
        {"type": "tool_call", "id": "c1", "name": "w", "arguments": CITY},
        [called("w", CITY, "c1")],
    ),
    (
        "call with arguments as text",
        {"type": "tool_call", "id": "c1", "name": "w", "arguments": '{"city": "Paris"}'},
        [called("w", CITY, "c1")],
    ),
    (
        "server tool call",
        {"type": "server_tool_call", "id": "c1", "name": "s", "server_tool_call": CITY},
        [called("s", CITY, "c1")],
    ),
    (
        "anthropic call",
        {"type": "tool_use", "id": "c1", "name": "w", "input": CITY},
        [called("w", CITY, "c1")],
    ),
    (
        "openai call",
        {"type": "function", "id": "c1", "function": {"name": "w", "arguments": '{"a":1}'}},
        [called("w", {"a": 1}, "c1")],
    ),
    (
        "responses call",
        {"type": "function_call", "id": "fc", "call_id": "c1", "name": "w", "arguments": "{}"},
        [called("w", {}, "c1")],
    ),
    (
        "vercel call",
        {"type": "tool-call", "toolCallId": "c1", "toolName": "w", "input": CITY},
        [called("w", CITY, "c1")],
    ),
    (
        "vercel 4 call without type",
        {"toolCallId": "c1", "toolName": "w", "args": '{"city":"Paris"}'},
        [called("w", CITY, "c1")],
    ),
    (
        "langchain call",
        {"type": "tool_call", "id": "c1", "name": "w", "args": CITY},
        [called("w", CITY, "c1")],
    ),
    (
        "strands call",
        {"toolUse": {"toolUseId": "c1", "name": "w", "input": CITY}},
        [called("w", CITY, "c1")],
    ),
    ("gemini call", {"function_call": {"name": "w", "args": CITY}}, [called("w", CITY)]),
    ("gemini call (camel)", {"functionCall": {"name": "w", "args": CITY}}, [called("w", CITY)]),
    (
        "haystack call",
        {"tool_call": {"tool_name": "w", "arguments": CITY, "id": "c1", "extra": None}},
        [called("w", CITY, "c1")],
    ),
    (
        "llama-index call",
        {
            "block_type": "tool_call",
            "tool_call_id": "c1",
            "tool_name": "w",
            "tool_kwargs": '{"city": "Paris"}',
        },
        [called("w", CITY, "c1")],
    ),
    (
        "genai result",
        {"type": "tool_call_response", "id": "c1", "response": "sunny"},
        [answered("sunny", "c1")],
    ),
    (
        "older genai result",
        {"type": "tool_call_response", "id": "c1", "result": "sunny"},
        [answered("sunny", "c1")],
    ),
    (
        "server result",
        {"type": "server_tool_call_response", "id": "c1", "server_tool_call_response": {"a": 1}},
        [answered({"a": 1}, "c1")],
    ),
    (
        "anthropic result",
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a"}]},
        [answered("a", "c1")],
    ),
    (
        "responses result",
        {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
        [answered("sunny", "c1")],
    ),
    (
        "vercel result",
        {
            "type": "tool-result",
            "toolCallId": "c1",
            "toolName": "w",
            "output": {"type": "text", "value": "sunny"},
        },
        [answered("sunny", "c1")],
    ),
    (
        "vercel error result",
        {
            "type": "tool-result",
            "toolCallId": "c1",
            "output": {"type": "error-text", "value": "no such city"},
        },
        [answered("no such city", "c1")],
    ),
    (
        "strands result",
        {"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "no"}]}},
        [answered("no", "c1")],
    ),
    (
        "bedrock json result",
        {"toolResult": {"toolUseId": "c1", "content": [{"json": {"a": 1}}]}},
        [answered({"a": 1}, "c1")],
    ),
    (
        "gemini result",
        {"function_response": {"name": "w", "response": {"status": "ok"}}},
        [answered({"status": "ok"})],
    ),
    (
        "haystack result",
        {"tool_call_result": {"result": "sunny", "origin": {"id": "c1"}, "error": False}},
        [answered("sunny", "c1")],
    ),
    (
        "json text result",
        {"type": "tool_call_response", "id": "c1", "response": '{"a": 1}'},
        [answered({"a": 1}, "c1")],
    ),
    (
        "number as text stays text",
        {"type": "tool_call_response", "id": "c1", "response": "007"},
        [answered("007", "c1")],
    ),
    ("compaction", {"type": "compaction", "content": "x"}, [{"type": "other", "raw": {"type": "compaction", "content": "x"}}]),
    ("unknown", {"what": 1}, [{"type": "other", "raw": {"what": 1}}]),
    ("bare text", "hi", [text("hi")]),
    ("bare number", 5, [{"type": "other", "raw": 5}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("block", "expected"), [case[1:] for case in BLOCKS], ids=[case[0] for case in BLOCKS]
)
def test_a_block_of_any_dialect_has_one_canonical_form(block: Any, expected: list[Any]) -> None:
    assert parts_of(block) == expected
    assert parts_of([block]) == expected


PNG = "iVBORw0KGgo="
DIGEST = hashlib.sha256(b"\x89PNG\r\n\x1a\n").hexdigest()

MEDIA: list[tuple[str, Any, dict[str, Any]]] = [
    (
        "genai blob",
        {"type": "blob", "mime_type": "image/png", "modality": "image", "content": PNG},
        {"modality": "image", "mime_type": "image/png", "bytes_sha256": DIGEST},
    ),
    (
        "genai uri",
        {"type": "uri", "modality": "video", "mime_type": "video/mp4", "uri": "gs://a/b"},
        {"modality": "video", "mime_type": "video/mp4", "uri": "gs://a/b"},
    ),
    (
        "genai file",
        {"type": "file", "modality": "image", "mime_type": "image/png", "file_id": "f1"},
        {"modality": "image", "mime_type": "image/png", "uri": "f1"},
    ),
    (
        "openai url",
        {"type": "image_url", "image_url": {"url": "https://x.test/a.png", "detail": "low"}},
        {"modality": "image", "mime_type": None, "uri": "https://x.test/a.png"},
    ),
    (
        "openai data url",
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
        {"modality": "image", "mime_type": "image/png", "bytes_sha256": DIGEST},
    ),
    (
        "responses image",
        {"type": "input_image", "image_url": "https://x.test/a.png"},
        {"modality": "image", "mime_type": None, "uri": "https://x.test/a.png"},
    ),
    (
        "openai sound",
        {"type": "input_audio", "input_audio": {"data": PNG, "format": "wav"}},
        {"modality": "audio", "mime_type": "audio/wav", "bytes_sha256": DIGEST},
    ),
    (
        "anthropic image",
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"modality": "image", "mime_type": "image/png", "bytes_sha256": DIGEST},
    ),
    (
        "anthropic document",
        {"type": "document", "source": {"type": "url", "url": "https://x.test/a.pdf"}},
        {"modality": "document", "mime_type": None, "uri": "https://x.test/a.pdf"},
    ),
    (
        "vercel file",
        {"type": "file", "mediaType": "image/png", "data": PNG},
        {"modality": "document", "mime_type": "image/png", "bytes_sha256": DIGEST},
    ),
    (
        "gemini inline",
        {"inline_data": {"mime_type": "image/png", "data": PNG}},
        {"modality": "image", "mime_type": "image/png", "bytes_sha256": DIGEST},
    ),
    (
        "gemini file",
        {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://a/b"}},
        {"modality": "document", "mime_type": "application/pdf", "uri": "gs://a/b"},
    ),
    (
        "bedrock image",
        {"image": {"format": "png", "source": {"bytes": PNG}}},
        {"modality": "image", "mime_type": "image/png", "bytes_sha256": DIGEST},
    ),
    (
        "pydantic-ai url",
        {"type": "image-url", "url": "https://x.test/a.png"},
        {"modality": "image", "mime_type": None, "uri": "https://x.test/a.png"},
    ),
    (
        "pydantic-ai bytes",
        {"type": "binary", "media_type": "image/png", "content": PNG},
        {"modality": "image", "mime_type": "image/png", "bytes_sha256": DIGEST},
    ),
]


@pytest.mark.parametrize(
    ("block", "expected"), [case[1:] for case in MEDIA], ids=[case[0] for case in MEDIA]
)
def test_media_are_named_by_place_or_digest_and_never_copied(
    block: Any, expected: dict[str, Any]
) -> None:
    [part] = parts_of([block])
    assert part == {"type": "media", **expected}
    assert PNG not in repr(part)


def test_media_without_a_place_are_kept_as_they_came() -> None:
    block = {"type": "image", "detail": "high"}
    assert parts_of([block]) == [{"type": "other", "raw": block}]
