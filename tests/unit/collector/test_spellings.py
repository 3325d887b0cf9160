"""Usage objects and counts of many libraries mean the same: tables T1 to T6 and section 3.3."""

import json
from typing import Any, NamedTuple

import pytest

from gnomon.model import Step
from tests.spans import make_log, make_span, read, steps_of

CHAT = {"gen_ai.operation.name": "chat"}
ANTHROPIC = {
    "input_tokens": 25,
    "output_tokens": 29,
    "cache_read_input_tokens": 64,
    "cache_creation_input_tokens": 48,
}
BEDROCK = {
    "inputTokens": 25,
    "outputTokens": 29,
    "totalTokens": 166,
    "cacheReadInputTokens": 64,
    "cacheWriteInputTokens": 48,
}
GEMINI = {
    "promptTokenCount": 120,
    "candidatesTokenCount": 17,
    "thoughtsTokenCount": 9,
    "cachedContentTokenCount": 32,
    "totalTokenCount": 146,
}
LANGCHAIN = {
    "input_tokens": 140,
    "output_tokens": 29,
    "total_tokens": 169,
    "input_token_details": {"cache_read": 32, "cache_creation": 48},
    "output_token_details": {"reasoning": 7},
}
OPENAI = {
    "prompt_tokens": 140,
    "completion_tokens": 29,
    "total_tokens": 169,
    "prompt_tokens_details": {"cached_tokens": 32},
    "completion_tokens_details": {"reasoning_tokens": 7},
}

Usage = tuple[int | None, int | None, int | None, int | None, int | None]


def usage(step: Step) -> Usage:
    return (
        step.input_tokens,
        step.output_tokens,
        step.cached_tokens,
        step.cache_write_tokens,
        step.reasoning_tokens,
    )


class Told(NamedTuple):
    """What a library writes, and what it means."""

    library: str
    written: dict[str, Any]
    means: Usage
    adjusted: bool = False


LANGFUSE = "langfuse.observation.usage_details"
MLFLOW = "mlflow.chat.tokenUsage"
LANGSMITH = "langsmith.metadata.usage_metadata"
METADATA = "ai.response.providerMetadata"
BODY = "output.value"

TOLD = (
    Told("Anthropic through Langfuse", {LANGFUSE: ANTHROPIC}, (137, 29, 64, 48, None)),
    Told("OpenAI through Langfuse", {LANGFUSE: OPENAI}, (140, 29, 32, None, 7)),
    Told("Bedrock through Langfuse", {LANGFUSE: BEDROCK}, (137, 29, 64, 48, None)),
    Told("Gemini through Langfuse", {LANGFUSE: GEMINI}, (120, 26, 32, None, 9)),
    Told(
        "LangChain through Langfuse, which takes details out of the whole",
        {
            LANGFUSE: {
                "input": 60,
                "input_cache_read": 32,
                "input_cache_creation": 48,
                "output": 22,
                "output_reasoning": 7,
                "total": 169,
            }
        },
        (140, 29, 32, 48, 7),
    ),
    Told(
        "Langfuse, parts that add up to the total beside the whole",
        {LANGFUSE: {"input": 10, "input_cached_tokens": 4, "output": 5, "total": 19}},
        (14, 5, 4, None, None),
        adjusted=True,
    ),
    Told(
        "Langfuse, Anthropic's names inside a whole that makes the total",
        {LANGFUSE: {"input": 10, "cache_read_input_tokens": 4, "output": 5, "total": 15}},
        (10, 5, 4, None, None),
    ),
    Told(
        "OpenAI through MLflow, under the names of Anthropic",
        {MLFLOW: {**ANTHROPIC, "input_tokens": 120, "total_tokens": 149}},
        (120, 29, 64, 48, None),
    ),
    Told(
        "Anthropic through MLflow, whose total leaves the cache out",
        {
            MLFLOW: {**ANTHROPIC, "input_tokens": 200, "total_tokens": 229},
            "mlflow.message.format": '"anthropic"',
        },
        (312, 29, 64, 48, None),
    ),
    Told("LangSmith", {LANGSMITH: LANGCHAIN}, (140, 29, 32, 48, 7)),
    Told(
        "LangSmith, a cache write told by lifetime alone",
        {
            LANGSMITH: {
                **LANGCHAIN,
                "input_token_details": {
                    "cache_read": 32,
                    "cache_creation": 0,
                    "ephemeral_5m_input_tokens": 30,
                    "ephemeral_1h_input_tokens": 18,
                },
            }
        },
        (140, 29, 32, 48, 7),
    ),
    Told(
        "Gemini through LangChain, thoughts beside the output in the total",
        {
            LANGSMITH: {
                "input_tokens": 120,
                "output_tokens": 17,
                "total_tokens": 146,
                "output_token_details": {"reasoning": 9},
            }
        },
        (120, 26, None, None, 9),
        adjusted=True,
    ),
    Told("Bedrock's body", {BODY: {"usage": BEDROCK}}, (137, 29, 64, 48, None)),
    Told(
        "Strands' body, which holds the cache under Bedrock's names",
        {BODY: {"usage": {**BEDROCK, "inputTokens": 137}}},
        (137, 29, 64, 48, None),
    ),
    Told(
        "DeepSeek's body",
        {
            BODY: {
                "usage": {
                    "prompt_tokens": 140,
                    "completion_tokens": 29,
                    "prompt_cache_hit_tokens": 128,
                    "prompt_cache_miss_tokens": 12,
                }
            }
        },
        (140, 29, 128, None, None),
    ),
    Told(
        "LiteLLM's body, Anthropic's cache inside OpenAI's prompt",
        {
            BODY: {
                "usage": {
                    **OPENAI,
                    "cache_creation_input_tokens": 48,
                    "cache_read_input_tokens": 32,
                }
            }
        },
        (140, 29, 32, 48, 7),
    ),
    Told(
        "Vercel's own object in a body",
        {
            BODY: {
                "usage": {
                    "inputTokens": 140,
                    "inputTokenDetails": {"cacheReadTokens": 32, "cacheWriteTokens": 48},
                    "outputTokens": 29,
                    "outputTokenDetails": {"reasoningTokens": 7},
                    "totalTokens": 169,
                    "cachedInputTokens": 32,
                    "reasoningTokens": 7,
                }
            }
        },
        (140, 29, 32, 48, 7),
    ),
    Told(
        "Vercel 5 with Anthropic, whose input it passes on as it is",
        {
            "ai.usage.inputTokens": 200,
            "ai.usage.outputTokens": 29,
            "ai.usage.totalTokens": 229,
            "ai.usage.cachedInputTokens": 64,
            METADATA: {
                "anthropic": {
                    "usage": {**ANTHROPIC, "input_tokens": 200},
                    "cacheCreationInputTokens": 48,
                }
            },
        },
        (312, 29, 64, 48, None),
    ),
    Told(
        "Vercel 6 with Anthropic, whose input it brings into the common meaning",
        {
            "ai.usage.inputTokens": 312,
            "ai.usage.outputTokens": 29,
            "ai.usage.totalTokens": 341,
            METADATA: {"anthropic": {"usage": {**ANTHROPIC, "input_tokens": 200}}},
        },
        (312, 29, 64, 48, None),
    ),
    Told(
        "Vercel 5 with Bedrock",
        {
            "ai.usage.promptTokens": 137,
            "ai.usage.completionTokens": 29,
            METADATA: {"bedrock": {"usage": {"cacheWriteInputTokens": 48}}},
        },
        (137, 29, None, 48, None),
    ),
    Told(
        "Vercel 5 with Gemini, thoughts beside the output in the total",
        {
            "ai.usage.inputTokens": 120,
            "ai.usage.outputTokens": 17,
            "ai.usage.reasoningTokens": 9,
            "ai.usage.totalTokens": 146,
        },
        (120, 26, None, None, 9),
        adjusted=True,
    ),
    Told(
        "Gemini through OpenLLMetry, a total that holds the thoughts inside the output",
        {
            "gen_ai.usage.input_tokens": 120,
            "gen_ai.usage.output_tokens": 26,
            "gen_ai.usage.reasoning_tokens": 9,
            "llm.usage.total_tokens": 146,
        },
        (120, 26, None, None, 9),
    ),
    Told(
        "Gemini through Logfire, more thoughts than output and no total",
        {
            "gen_ai.usage.input_tokens": 2,
            "gen_ai.usage.output_tokens": 13,
            "gen_ai.usage.details.thoughts_tokens": 58,
        },
        (2, 71, None, None, 58),
        adjusted=True,
    ),
    Told(
        "more reasoning than output, whatever the total says",
        {
            "gen_ai.usage.input_tokens": 2,
            "gen_ai.usage.output_tokens": 13,
            "gen_ai.usage.reasoning.output_tokens": 58,
            "gen_ai.usage.total_tokens": 15,
        },
        (2, 71, None, None, 58),
        adjusted=True,
    ),
    Told(
        "cache and reasoning both beside the wholes in the total",
        {
            "llm.token_count.prompt": 100,
            "llm.token_count.completion": 50,
            "llm.token_count.prompt_details.cache_read": 30,
            "llm.token_count.prompt_details.cache_write": 20,
            "llm.token_count.completion_details.reasoning": 10,
            "llm.token_count.total": 210,
        },
        (150, 60, 30, 20, 10),
        adjusted=True,
    ),
    Told(
        "pydantic-ai's details of Anthropic",
        {
            "gen_ai.usage.input_tokens": 137,
            "gen_ai.usage.output_tokens": 29,
            "gen_ai.usage.details.cache_read_input_tokens": 64,
            "gen_ai.usage.details.cache_creation_input_tokens": 48,
        },
        (137, 29, 64, 48, None),
    ),
)


def attributes(written: dict[str, Any]) -> dict[str, Any]:
    return {key: json.dumps(v) if isinstance(v, dict) else v for key, v in written.items()}


@pytest.mark.parametrize("told", TOLD, ids=lambda told: told.library)
def test_what_a_library_writes_means(told: Told) -> None:
    step = read({**CHAT, **attributes(told.written)})
    assert usage(step) == told.means
    assert step.flags == (("tokens_adjusted",) if told.adjusted else ())


@pytest.mark.parametrize(
    "told", [told for told in TOLD if BODY not in told.written], ids=lambda told: told.library
)
def test_a_container_restates_in_the_same_meaning(told: Told) -> None:
    step = read({"gen_ai.operation.name": "invoke_agent", **attributes(told.written)})
    known = {name: step.aggregate_usage.get(name) for name in NAMES}
    assert tuple(known.values()) == told.means


NAMES = (
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def test_an_aggregate_under_keys_of_its_own_is_guarded_too() -> None:
    step = read(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.aggregated_usage.input_tokens": 10,
            "gen_ai.aggregated_usage.cache_read.input_tokens": 64,
            "gen_ai.aggregated_usage.output_tokens": 5,
            "gen_ai.aggregated_usage.details.reasoning_tokens": 7,
        }
    )
    assert step.aggregate_usage == {
        "input_tokens": 74,
        "cached_tokens": 64,
        "output_tokens": 12,
        "reasoning_tokens": 7,
    }
    assert step.flags == ("tokens_adjusted",)


def test_a_record_of_a_call_without_a_span_is_guarded_too() -> None:
    span = make_span(attributes={"gen_ai.operation.name": "invoke_agent"})
    told = {
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.reasoning.output_tokens": 7,
    }
    log = make_log("gen_ai.client.inference.operation.details", span, attributes=told)
    (step,) = steps_of(span, logs=[log]).values()
    assert step.aggregate_usage == {"input_tokens": 10, "output_tokens": 12, "reasoning_tokens": 7}
    assert step.flags == ("tokens_adjusted",)
