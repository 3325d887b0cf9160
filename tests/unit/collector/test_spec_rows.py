"""Rows of the tables of the specification, each with a span of its own values and what it means."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from tests.spans import read

OI = "openinference.span.kind"
CHAT = {"gen_ai.operation.name": "chat"}
REASONED = {"completion_tokens_details": {"reasoning_tokens": 5}}
TOOL = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "w"}
LLM = {"kind": "llm"}
WORKFLOW = {"kind": "workflow"}
RETRIEVAL = {"kind": "retrieval"}
AGENTS_SDK = {"scope_name": "openinference.instrumentation.openai_agents"}
CLAUDE_CODE = {"scope_name": "com.anthropic.claude_code.tracing"}
CHAIN = {"kind": "chain"}
PREPARATION = {"name": "ReActAgent._prepare_chat"}
OPENAI_WITH_ANTHROPIC_EXTRAS = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "cache_read_input_tokens": 64,
    "cache_creation_input_tokens": 0,
    "prompt_tokens_details": {"cached_tokens": 64},
}


def body_of(answer: dict[str, Any]) -> dict[str, str]:
    return {OI: "LLM", "output.value": json.dumps(answer)}


def body(usage: dict[str, Any]) -> dict[str, str]:
    return body_of({"usage": usage})


class Row(NamedTuple):
    """A rule, a span, and fields of its step."""

    rule: str
    attributes: Mapping[str, object]
    expected: Mapping[str, object]
    changes: Mapping[str, Any] = {}


ROWS: list[Row] = [
    Row(
        "3.3 prompt_tokens hold the cache, whatever stands beside them",
        body(OPENAI_WITH_ANTHROPIC_EXTRAS),
        {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 64, "cache_write_tokens": 0},
    ),
    Row(
        "3.3 LiteLLM restates usage in the same shape, as a Python literal",
        {**CHAT, "metadata.usage_object": repr(OPENAI_WITH_ANTHROPIC_EXTRAS)},
        {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 64, "cache_write_tokens": 0},
    ),
    Row(
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
    Row(
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
    Row(
        "3.3 completion_tokens hold the thoughts, whatever stands beside them",
        body({"completion_tokens": 20, "candidatesTokenCount": 8, "thoughtsTokenCount": 12}),
        {"output_tokens": 20, "reasoning_tokens": 12},
    ),
    Row(
        "3.3 candidatesTokenCount leaves the thoughts out",
        body({"promptTokenCount": 7, "candidatesTokenCount": 8, "thoughtsTokenCount": 12}),
        {"input_tokens": 7, "output_tokens": 20, "reasoning_tokens": 12},
    ),
    Row(
        "L1 only Strands sends milliseconds; the store has 2.0 as 2",
        {**CHAT, "gen_ai.server.time_to_first_token": "2"},
        {"ttft_ns": 2_000_000_000},
    ),
    *(
        Row(f"K4a {key} shows that a model was called", {OI: "LLM", key: value}, LLM, PREPARATION)
        for key, value in {
            "gen_ai.usage.input_tokens": 7,
            "llm.usage.prompt_tokens": 7,
            "llm.token_count.completion": 7,
            "gen_ai.usage.reasoning_tokens": 7,
            "langfuse.observation.usage_details": '{"input": 7}',
            "metadata.usage_object": "{'prompt_tokens': 7}",
            "gen_ai.response.finish_reasons": '["stop"]',
            "anthropic.message.stop_reason": "end_turn",
            "gen_ai.response.id": "chatcmpl-1",
            "llm.output_messages.1.message.content": "hi",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f",
            "gen_ai.completion.1.content": "hi",
            "output.value": '{"choices":[{"finish_reason":"stop"}]}',
        }.items()
    ),
    *(
        Row(f"K4a {key}={value} shows nothing", {OI: "LLM", key: value}, CHAIN, PREPARATION)
        for key, value in {
            "output.value": "the prepared chat",
            "input.value": "hi",
            "llm.token_count.total": 0,
            "gen_ai.response.id": "unknown",
            "llm.input_messages.0.message.content": "hi",
        }.items()
    ),
    Row(
        "T2 the output of the body beside an input of its own",
        {
            **CHAT,
            "gen_ai.usage.input_tokens": 100,
            "output.value": json.dumps(
                {"usage": {"prompt_tokens": 99, "completion_tokens": 20, **REASONED}}
            ),
        },
        {"input_tokens": 100, "output_tokens": 20, "reasoning_tokens": 5},
    ),
    Row(
        "T3 the cache of the body beside input and output of its own",
        {
            **CHAT,
            "llm.token_count.prompt": 100,
            "llm.token_count.completion": 20,
            "mlflow.spanOutputs": json.dumps(
                {"usage": {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 64}}}
            ),
        },
        {"input_tokens": 100, "output_tokens": 20, "cached_tokens": 64},
    ),
    Row(
        "T2 the output of an object that restates, beside an input of its own; no more than that",
        {
            **CHAT,
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.raw": json.dumps({"completion_tokens": 20, **REASONED}),
        },
        {"input_tokens": 100, "output_tokens": 20, "reasoning_tokens": None},
    ),
    Row(
        "M7 a failed call has no body to read tokens from",
        {
            **CHAT,
            "error.type": "X",
            "gen_ai.usage.input_tokens": 100,
            "output.value": json.dumps({"usage": {"completion_tokens": 20}}),
        },
        {"input_tokens": 100, "output_tokens": None},
    ),
    Row(
        "3.3 a body is inclusive after it was read, whoever wrote the span",
        body(
            {"input_tokens": 100, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 20}
        ),
        {"input_tokens": 150, "cached_tokens": 30, "cache_write_tokens": 20},
        {"scope_name": "opentelemetry.instrumentation.bedrock"},
    ),
    Row(
        "2.9 a list of completions that starts at 1",
        {**CHAT, "gen_ai.completion.1.finish_reason": "max_tokens"},
        {"finish_reason": "length", "finish_reason_raw": "max_tokens", "content_captured": False},
    ),
    Row(
        "2.9 choices with different reasons, in the order of their numbers",
        {
            **CHAT,
            "gen_ai.completion.10.finish_reason": "length",
            "gen_ai.completion.2.finish_reason": "stop",
            "gen_ai.completion.2.content": "hi",
        },
        {"finish_reason": '["stop","length"]', "content_captured": True},
    ),
    Row(
        "2.10 content at an index beyond the first",
        {**CHAT, "gen_ai.prompt.7.content": "hi"},
        {"content_captured": True},
    ),
    Row(
        "M6 on a failed reranker the undirected name is the request model",
        {OI: "RERANKER", "error.type": "X", "reranker.model_name": "rerank-v3"},
        {"kind": "retrieval", "request_model": "rerank-v3", "model": "rerank-v3"},
    ),
    Row(
        "M6 on a reranker that answered it fills model alone",
        {OI: "RERANKER", "reranker.model_name": "rerank-v3"},
        {"request_model": None, "response_model": None, "model": "rerank-v3"},
    ),
    Row(
        "M10 the settings of Vercel are a family",
        {**CHAT, "ai.settings.maxSteps": 5},
        {"request_params": '{"maxSteps":5}'},
    ),
    Row(
        "M10 every setting is kept",
        {**CHAT, "ai.settings.zeta": "a", "ai.settings.maxSteps": 5, "ai.settings.none": ""},
        {"request_params": '{"maxSteps":5,"zeta":"a"}'},
    ),
    *(
        Row(f"2.7 arguments {told}", {**TOOL, "input.value": told}, {"tool_arguments": meant})
        for told, meant in {
            '{"args":["ls","-l"]}': '{"args":["ls","-l"]}',
            '{"args":["ls"],"kwargs":{"all":true}}': '{"arg0":"ls","all":true}',
            '{"args":["ls"],"sanitize_inputs_outputs":true,"kwargs":{}}': '{"arg0":"ls"}',
            '{"kwargs":{"all":true}}': '{"all":true}',
            '{"inputs":{"city":"Paris"}}': '{"city":"Paris"}',
            "{\"input_str\":\"{'city': 'Paris'}\"}": '{"city":"Paris"}',
            '"Paris"': '"Paris"',
            "Paris": '"Paris"',
            '{"name":"bob","arguments":"--flag"}': '{"name":"bob","arguments":"--flag"}',
            '{"name":"bob","arguments":["--flag"]}': '{"name":"bob","arguments":["--flag"]}',
            '{"name":"w","arguments":"{\\"city\\":\\"Paris\\"}"}': '{"city":"Paris"}',
            '{"name":"w","arguments":{"city":"Paris"}}': '{"city":"Paris"}',
            '{"iban":123456789012345678901234}': '{"iban":123456789012345678901234}',
            "{'iban': 123456789012345678901234}": '{"iban":123456789012345678901234}',
            '{"big":18446744073709551616,"e":1.5}': '{"big":18446744073709551616,"e":1.5}',
        }.items()
    ),
    *(
        Row(f"2.7 result {told}", {**TOOL, "output.value": told}, {"tool_result": meant})
        for told, meant in {
            '{"iban":123456789012345678901234}': '{"iban":123456789012345678901234}',
            '{"output":{"iban":123456789012345678901234}}': '{"iban":123456789012345678901234}',
            '{"data":{"content":"sunny","tool_call_id":"c1"}}': "sunny",
            '{"lc":1,"kwargs":{"content":"sunny","tool_call_id":"c1"}}': "sunny",
            '{"content":"sunny","tool_call_id":"c1"}': "sunny",
            '{"id":"c1","name":"w","response":{"sky":"blue"}}': '{"sky":"blue"}',
            '{"blocks":[{"text":"sunny"}],"tool_name":"w"}': "sunny",
            '[{"text":"sun"},{"text":"ny"}]': "sun\nny",
            '[{"type":"text","text":"sunny"}]': "sunny",
            '"sunny"': "sunny",
            "{}": "{}",
        }.items()
    ),
    *(
        Row(
            f"2.7 an empty result of a tool that failed by {key}",
            {**TOOL, "output.value": "{}", key: value},
            {"status": "error", "tool_result": None},
        )
        for key, value in {
            "error.type": "X",
            "langfuse.observation.level": '"ERROR"',
            "gen_ai.tool.status": "Error",
            "success": "False",
            "gen_ai.task.status": "FAILURE",
        }.items()
    ),
    Row("K1 an empty agent.name is none", {OI: "AGENT", "agent.name": ""}, WORKFLOW, AGENTS_SDK),
    Row("K1 a placeholder is none", {OI: "AGENT", "agent.name": "unknown"}, WORKFLOW, AGENTS_SDK),
    Row("K4 an empty kind decides nothing", {OI: "", **CHAT}, LLM),
    Row("K5 MLflow quotes every value", {"mlflow.spanType": '"CHAT_MODEL"'}, LLM),
    Row(
        "K7 and so it does in what it exports", {"gen_ai.operation.name": '"RETRIEVER"'}, RETRIEVAL
    ),
    Row(
        "K8 a task with an empty tool.name is a task",
        {"traceloop.span.kind": "task", "tool.name": "", "tool.arguments": "{}"},
        CHAIN,
    ),
    Row("K12 an empty operation decides nothing", {"ai.operationId": "", **CHAT}, LLM),
    Row("K12 rerank", {"ai.operationId": "ai.rerank.doRerank"}, RETRIEVAL),
    Row("K12 roots hold calls", {"ai.operationId": "ai.streamText"}, WORKFLOW),
    Row(
        "K14 a call of a tool without a name",
        {"mcp.method.name": "tools/call", "gen_ai.tool.name": ""},
        {"kind": "other"},
    ),
    Row(
        "M2 old spellings",
        {**CHAT, "gen_ai.system": "az.ai.openai"},
        {"provider": "azure.ai.openai"},
    ),
    Row("M2 capitals", {**CHAT, "gen_ai.system": "Anthropic"}, {"provider": "anthropic"}),
    Row(
        "M1 a framework is no provider, the next key is asked",
        {**CHAT, "gen_ai.system": "spring_ai", "llm.provider": "groq"},
        {"provider": "groq"},
    ),
    Row(
        "M3 a vector store is no provider",
        {
            "gen_ai.operation.name": "retrieval",
            "langsmith.metadata.ls_provider": "InMemoryVectorStore",
        },
        {"kind": "retrieval", "provider": None},
    ),
    Row(
        "M1 cut at the first dot",
        {"ai.operationId": "ai.generateText.doGenerate", "ai.model.provider": "openai.responses"},
        {"provider": "openai"},
    ),
    Row(
        "M4 the model of a failed call of OpenInference",
        {OI: "LLM", "llm.invocation_parameters": '{"model":"gpt-9"}', "error.type": "X"},
        {"request_model": "gpt-9", "model": "gpt-9", "response_model": None},
    ),
    Row(
        "M7 a failed call has no response",
        {
            **CHAT,
            "error.type": "X",
            "gen_ai.response.model": "m",
            "gen_ai.response.id": "chatcmpl-1",
        },
        {"response_model": None, "response_id": None},
    ),
    Row(
        "M8 of LangChain",
        body_of(
            {
                "generations": [
                    [
                        {
                            "message": {
                                "kwargs": {
                                    "response_metadata": {
                                        "id": "chatcmpl-7",
                                        "model_name": "gpt-9-2026",
                                        "finish_reason": "tool_calls",
                                        "token_usage": {"prompt_tokens": 3, "completion_tokens": 2},
                                    }
                                }
                            }
                        }
                    ]
                ]
            }
        ),
        {
            "response_id": "chatcmpl-7",
            "response_model": "gpt-9-2026",
            "finish_reason": "tool_call",
            "input_tokens": 3,
            "output_tokens": 2,
        },
    ),
    Row(
        "M8 of Haystack",
        {
            "haystack.component.type": "OpenAIChatGenerator",
            "haystack.component.output": json.dumps(
                {
                    "replies": [
                        {
                            "meta": {
                                "model": "gpt-9",
                                "finish_reason": "length",
                                "usage": {"prompt_tokens": 3, "completion_tokens": 2},
                            }
                        }
                    ]
                }
            ),
        },
        {"kind": "llm", "response_model": "gpt-9", "finish_reason": "length", "output_tokens": 2},
        {"name": "haystack.component.run", "scope_name": "haystack"},
    ),
    Row(
        "M9 an id of a library is none",
        body_of({"id": "run-1", "choices": []}),
        {"response_id": None},
    ),
    Row(
        "M9 an id of a provider", body_of({"id": "resp_1", "model": "m"}), {"response_id": "resp_1"}
    ),
    *(
        Row(
            f"2.9 {told}",
            {**CHAT, "gen_ai.response.finish_reasons": told},
            {"finish_reason": meant},
        )
        for told, meant in {
            '["tool-calls"]': "tool_call",
            "['stop']": "stop",
            "FinishReason.TOOL_CALLS": "tool_call",
            '["FinishReason.SAFETY"]': "content_filter",
            "MAX_TOKENS": "length",
            "refusal": "content_filter",
            '["stop","stop"]': "stop",
            '["stop","length"]': '["stop","length"]',
            "pause_turn": "pause_turn",
            "[]": None,
            "None": None,
        }.items()
    ),
    Row(
        "E5 a class in its repr",
        {"error.type": "<class 'openai.RateLimitError'>"},
        {"status": "error", "error_type": "RateLimitError"},
    ),
    Row("E5 numbers stay", {"error.type": "429"}, {"error_type": "429"}),
    Row("E5 _OTHER stays", {"error.type": "_OTHER"}, {"error_type": "_OTHER"}),
    Row(
        "E6 the class that stands in the message",
        {"error.type": "builtins.Exception", "error.message": "APITimeoutError('x')"},
        {"error_type": "APITimeoutError", "error_message": "APITimeoutError('x')"},
    ),
    Row(
        "E7 without its traceback",
        {"error.type": "X", "error": "no\nTraceback (most recent call last):\n  File"},
        {"error_message": "no"},
    ),
    Row("E2 needs an unset status", {"error.type": "X"}, {"status": "ok"}, {"status_code": "Ok"}),
    Row(
        "2.4 Claude Code's own session",
        {"gen_ai.conversation.id": "sub-agent", "session.id": "s"},
        {"conversation_id": "s"},
        CLAUDE_CODE,
    ),
    Row(
        "2.4 the project of LangSmith is no conversation",
        {"langsmith.trace.session_id": "p", "langsmith.trace.session_name": "p"},
        {"conversation_id": None},
    ),
    Row("2.4 MLflow's", {"mlflow.trace.session": '"s"'}, {"conversation_id": "s"}),
    Row("2.4 inside metadata", {"metadata": '{"thread_id": 7}'}, {"conversation_id": "7"}),
    Row("2.4 of the resource", {}, {"conversation_id": "r"}, {"resource": {"session.id": "r"}}),
    Row(
        "N8 the Claude Agent SDK names its spans after its functions",
        {OI: "AGENT"},
        {"agent_name": None},
        {"name": "ClaudeAgentSDK.query"},
    ),
    Row("N8 without suffix", {OI: "AGENT"}, {"agent_name": "Desk"}, {"name": "Desk._execute_core"}),
    Row(
        "2.3 an arrow in the name",
        {"traceloop.span.kind": "handoff"},
        {"kind": "handoff", "handoff_from": "Triage", "handoff_to": "Desk"},
        {"name": "Triage → Desk.handoff"},
    ),
    Row(
        "C1 OpenLIT writes 0 for unknown",
        {**CHAT, "gen_ai.usage.cost": 0, "llm.cost.total": 0.5},
        {"cost_reported_usd": 0.5},
    ),
    Row("L1 Vercel", {**CHAT, "ai.response.msToFirstChunk": 12.5}, {"ttft_ns": 12_500_000}),
    Row(
        "1.1 a reported 0 is 0",
        {**CHAT, "gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 0},
        {"input_tokens": 5, "output_tokens": 0, "cached_tokens": None},
    ),
    Row(
        "2.10 numbers as text, quoted and with a point",
        {**CHAT, "gen_ai.usage.input_tokens": '"25"', "gen_ai.usage.output_tokens": "7.0"},
        {"input_tokens": 25, "output_tokens": 7},
    ),
    Row(
        "K14 an empty method decides nothing",
        {"mcp.method.name": "", "db.system": "x", "db.vector.query.top_k": 3},
        RETRIEVAL,
    ),
    Row(
        "M4 an object that describes a model is no name",
        {OI: "LLM", "input.value": '{"model":{"id":7}}', "model_name": "m"},
        {"request_model": "m"},
    ),
    Row(
        "M4 the order of the keys",
        {
            **CHAT,
            "llm.invocation_parameters": '{"model":"second"}',
            "gen_ai.request.model": "first",
            "ai.model.id": "fourth",
            "input.value": '{"model":"third"}',
        },
        {"request_model": "first"},
    ),
    Row(
        "T3 the cache in the details of Langfuse, with dots in the key",
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.usage_details": json.dumps(
                {"input": 9, "output": 2, "prompt_tokens_details.cached_tokens": 4}
            ),
        },
        {"kind": "llm", "input_tokens": 9, "output_tokens": 2, "cached_tokens": 4},
    ),
    Row(
        "T1 of an embedding Vercel's own count comes first",
        {"ai.operationId": "ai.embed.doEmbed", "ai.usage.tokens": 4, "ai.usage.inputTokens": 9},
        {"kind": "embedding", "input_tokens": 4},
    ),
    Row(
        "3.3 Claude Code leaves the cache out",
        {
            "span.type": "llm_request",
            "input_tokens": 5,
            "output_tokens": 2,
            "cache_read_tokens": 70,
            "cache_creation_tokens": 25,
        },
        {"input_tokens": 100, "cached_tokens": 70, "cache_write_tokens": 25, "flags": ()},
        CLAUDE_CODE,
    ),
    Row(
        "T4 a cache write told by lifetime alone is their sum",
        {
            **CHAT,
            "gen_ai.usage.input_tokens": 100,
            "anthropic.usage.cache_creation.ephemeral_5m_input_tokens": 20,
            "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 5,
        },
        {"input_tokens": 100, "cache_write_tokens": 25},
    ),
    Row(
        "T4 one lifetime alone is the cache write",
        {
            **CHAT,
            "gen_ai.usage.input_tokens": 100,
            "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 5,
        },
        {"cache_write_tokens": 5},
    ),
    Row(
        "T4 lifetimes are a detail of the cache write, not more of it",
        {
            **CHAT,
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.cache_creation.input_tokens": 30,
            "anthropic.usage.cache_creation.ephemeral_5m_input_tokens": 20,
            "anthropic.usage.cache_creation.ephemeral_1h_input_tokens": 5,
        },
        {"cache_write_tokens": 30},
    ),
    Row(
        "3.3 more cache than input: it was exclusive",
        {
            **CHAT,
            "gen_ai.usage.input_tokens": 5,
            "gen_ai.usage.cache_read.input_tokens": 70,
            "gen_ai.usage.cache_write.input_tokens": 25,
        },
        {"input_tokens": 100, "flags": ("tokens_adjusted",)},
    ),
    Row(
        "T7 tokens of a container are kept apart",
        {
            "ai.operationId": "ai.generateText",
            "ai.usage.inputTokens": 9,
            "ai.usage.outputTokens": 2,
        },
        {
            "kind": "workflow",
            "input_tokens": None,
            "aggregate_usage": {"input_tokens": 9, "output_tokens": 2},
        },
    ),
    Row(
        "2.7 Claude Code's command",
        {"span.type": "tool", "tool_name": "Bash", "full_command": "ls -l"},
        {"tool_name": "Bash", "tool_arguments": '{"command":"ls -l"}'},
        CLAUDE_CODE,
    ),
    Row(
        "2.7 tool.parameters that are a schema",
        {OI: "TOOL", "tool.name": "w", "tool.parameters": '{"type":"object","properties":{}}'},
        {"tool_arguments": None},
    ),
    Row(
        "2.7 tool.parameters that are arguments",
        {OI: "TOOL", "tool.name": "w", "tool.parameters": '{"city":"Paris"}'},
        {"tool_arguments": '{"city":"Paris"}'},
    ),
    Row(
        "2.7 the id of a call inside its result",
        {
            OI: "TOOL",
            "tool.name": "w",
            "output.value": '{"output":{"kwargs":{"content":"ok","tool_call_id":"c9"},"lc":1}}',
        },
        {"tool_call_id": "c9", "tool_result": "ok"},
    ),
    Row(
        "2.7 the name of a tool that only the span tells",
        {"gen_ai.operation.name": "execute_tool"},
        {"tool_name": "get_weather"},
        {"name": "execute_tool get_weather"},
    ),
    Row(
        "2.7 the tool a ToolInvoker called",
        {
            "haystack.component.type": "ToolInvoker",
            "haystack.component.output": json.dumps(
                {
                    "tool_messages": [
                        {
                            "content": [
                                {
                                    "tool_call_result": {
                                        "result": "sunny",
                                        "error": False,
                                        "origin": {
                                            "tool_name": "w",
                                            "arguments": {"a": 1},
                                            "id": "c",
                                        },
                                    }
                                }
                            ]
                        }
                    ]
                }
            ),
        },
        {
            "tool_name": "w",
            "tool_call_id": "c",
            "tool_arguments": '{"a":1}',
            "tool_result": "sunny",
        },
        {"name": "haystack.component.run", "scope_name": "haystack"},
    ),
    Row(
        "2.7 prompts carry a version as text",
        {**CHAT, "traceloop.prompt.key": "desk", "traceloop.prompt.version": 7},
        {"prompt_name": "desk", "prompt_version": "7"},
    ),
    Row(
        "K10 who decided",
        {"span.type": "tool.blocked_on_user", "source": "user_temporary", "decision": "accept"},
        {"kind": "human", "decision": "accept", "decision_source": "user_temporary"},
        CLAUDE_CODE,
    ),
    Row(
        "K10 what the configuration decided is no action of a person",
        {"span.type": "tool.blocked_on_user", "source": "config", "decision": "accept"},
        {"kind": "other", "decision": "accept", "decision_source": "config"},
        CLAUDE_CODE,
    ),
    Row(
        "M8 of Gemini",
        body_of({"candidates": [{"finishReason": "MAX_TOKENS"}], "modelVersion": "gemini-9"}),
        {"finish_reason": "length", "response_model": "gemini-9"},
    ),
    Row(
        "2.10 MLflow quotes JSON, too",
        {
            "mlflow.spanType": '"LLM"',
            "mlflow.spanOutputs": json.dumps(json.dumps({"id": "chatcmpl-1", "choices": []})),
            "mlflow.chat.tokenUsage": json.dumps(json.dumps({"input_tokens": 3})),
        },
        {"response_id": "chatcmpl-1", "input_tokens": 3},
    ),
    Row(
        "2.3 the version of the application",
        {"langfuse.release": "r1"},
        {"service_version": "v2", "agent_version": "v2"},
        {"resource": {"service.version": "v2"}},
    ),
    Row(
        "2.4 else the release that Langfuse names",
        {"langfuse.release": "r1"},
        {"service_version": "r1", "agent_version": "r1"},
    ),
    Row(
        "2.3 an agent's own version comes first",
        {**CHAT, "gen_ai.agent.version": "a3"},
        {"service_version": "v2", "agent_version": "a3"},
        {"resource": {"service.version": "v2"}},
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=[row.rule for row in ROWS])
def test_a_span_means_what_the_row_says(row: Row) -> None:
    step = read(row.attributes, **row.changes)
    assert {name: getattr(step, name) for name in row.expected} == row.expected
