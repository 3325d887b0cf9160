"""Rows of the tables of the specification, each with a span of its own values and what it means."""

import json
from typing import Any

import pytest

from tests.spans import read

CHAT = {"gen_ai.operation.name": "chat"}
OPENAI_WITH_ANTHROPIC_EXTRAS = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "cache_read_input_tokens": 64,
    "cache_creation_input_tokens": 0,
    "prompt_tokens_details": {"cached_tokens": 64},
}


def body(usage: dict[str, Any]) -> dict[str, str]:
    return {"openinference.span.kind": "LLM", "output.value": json.dumps({"usage": usage})}


ROWS: list[tuple[str, dict[str, object], dict[str, object]]] = [
    (
        "3.3 prompt_tokens hold the cache, whatever stands beside them",
        body(OPENAI_WITH_ANTHROPIC_EXTRAS),
        {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 64, "cache_write_tokens": 0},
    ),
    (
        "3.3 LiteLLM restates usage in the same shape, as a Python literal",
        {**CHAT, "metadata.usage_object": repr(OPENAI_WITH_ANTHROPIC_EXTRAS)},
        {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 64, "cache_write_tokens": 0},
    ),
    (
        "3.3 input_tokens of Anthropic leave the cache out",
        body(
            {
                "input_tokens": 100,
                "output_tokens": 20,
                "cache_read_input_tokens": 64,
                "cache_creation_input_tokens": 16,
            }
        ),
        {"input_tokens": 180, "output_tokens": 20, "cached_tokens": 64, "cache_write_tokens": 16},
    ),
    (
        "3.3 input_tokens of OpenAI's Responses hold it",
        body(
            {
                "input_tokens": 100,
                "output_tokens": 20,
                "input_tokens_details": {"cached_tokens": 64},
                "cache_read_input_tokens": 64,
            }
        ),
        {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 64},
    ),
    (
        "3.3 completion_tokens hold the thoughts, whatever stands beside them",
        body({"completion_tokens": 20, "candidatesTokenCount": 8, "thoughtsTokenCount": 12}),
        {"output_tokens": 20, "reasoning_tokens": 12},
    ),
    (
        "3.3 candidatesTokenCount leaves the thoughts out",
        body({"promptTokenCount": 7, "candidatesTokenCount": 8, "thoughtsTokenCount": 12}),
        {"input_tokens": 7, "output_tokens": 20, "reasoning_tokens": 12},
    ),
]


@pytest.mark.parametrize(
    ("attributes", "expected"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_a_span_means_what_the_row_says(
    attributes: dict[str, object], expected: dict[str, object]
) -> None:
    step = read(attributes)
    assert {name: getattr(step, name) for name in expected} == expected
