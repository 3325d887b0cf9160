"""Input and output come from the first source that says anything, in the order of the table."""

from typing import Any

import pytest

from collector.dialects import content
from gnomon.model import Kind
from tests.unit.collector.content.reading import (
    answered,
    called,
    finish_of,
    log,
    messages,
    named,
    parts,
    read,
    span,
    text,
    user_text,
)

CITY = {"city": "Paris"}

OUTPUTS: list[tuple[str, dict[str, Any]]] = [
    ("genai", {"gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}]}),
    ("genai without parts", {"gen_ai.output.messages": [{"role": "assistant", "content": "hi"}]}),
    ("genai text", {"gen_ai.output.messages": "hi"}),
    ("openinference", {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": "hi"}),
    ("openinference contents", {"llm.output_messages.0.message.contents.0.message_content.type": "text", "llm.output_messages.0.message.contents.0.message_content.text": "hi"}),
    ("claude agent sdk", {"llm.output_messages.0.message.content.0": "hi"}),
    ("list from one", {"llm.output_messages.1.message.content": "hi"}),
    ("openinference completion", {"llm.choices.0.completion.text": "hi"}),
    ("output.value text", {"output.value": "hi", "output.mime_type": "text/plain"}),
    ("output.value json", {"output.value": {"choices": [{"message": {"role": "assistant", "content": "hi"}}]}, "output.mime_type": "application/json"}),
    ("output.value without type", {"output.value": ["hi"]}),
    ("openllmetry", {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "hi"}),
    ("first openllmetry", {"llm.completions.0.content": "hi"}),
    ("traceloop", {"traceloop.entity.output": '"hi"'}),
    ("traceloop langchain", {"traceloop.entity.output": {"outputs": "hi", "kwargs": {"tags": []}}}),
    ("langfuse", {"langfuse.observation.output": {"role": "assistant", "content": "hi"}}),
    ("langfuse text", {"langfuse.observation.output": "hi"}),
    ("mlflow", {"mlflow.spanOutputs": '"hi"'}),
    ("langsmith", {"gen_ai.completion": {"generations": [[{"text": "hi"}]]}}),
    ("openlit", {"gen_ai.completion": "hi"}),
    ("vercel", {"ai.response.text": "hi"}),
    ("vercel 3", {"ai.result.text": "hi"}),
    ("adk", {"gcp.vertex.agent.llm_response": {"content": {"parts": [{"text": "hi"}], "role": "model"}}}),
    ("haystack component", {"haystack.component.output": {"replies": [{"role": "assistant", "content": [{"text": "hi"}]}]}}),
    ("haystack text generator", {"haystack.component.output": {"replies": ["hi"], "meta": [{}]}}),
    ("haystack agent", {"haystack.agent.output": {"messages": [{"role": "assistant", "content": [{"text": "hi"}]}]}}),
    ("haystack step", {"haystack.agent.step.llm.output": {"replies": [{"role": "assistant", "content": [{"text": "hi"}]}]}}),
    ("pydantic-ai 1", {"events": [{"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": "hi"}}]}),
    ("pydantic-ai 1 agent", {"all_messages_events": [{"event.name": "gen_ai.user.message", "role": "user", "content": "q"}, {"event.name": "gen_ai.assistant.message", "role": "assistant", "content": "hi"}]}),
    ("pydantic-ai 2 agent", {"pydantic_ai.all_messages": [{"role": "user", "parts": [{"type": "text", "content": "q"}]}, {"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}], "final_result": "hi"}),
    ("pydantic-ai result", {"final_result": "hi"}),
    ("logfire", {"response_data": {"message": {"role": "assistant", "content": "hi"}, "usage": {}}}),
    ("logfire stream", {"response_data": {"combined_chunk_content": "hi", "chunk_count": 2}}),
    ("crewai", {"crewai.crew.result": "hi"}),
]  # fmt: skip


@pytest.mark.parametrize(
    "attributes", [case[1] for case in OUTPUTS], ids=[case[0] for case in OUTPUTS]
)
def test_every_source_of_output_is_read(attributes: dict[str, Any]) -> None:
    bodies = read(attributes)
    assert [part for part in parts(bodies.output) if part["type"] == "text"] == [text("hi")]
    assert messages(bodies.output)[-1]["role"] == "assistant"
    assert content.content_captured(span(attributes), Kind.LLM)


INPUTS: list[tuple[str, dict[str, Any]]] = [
    ("genai", {"gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "why?"}]}]}),
    ("openinference", {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "why?"}),
    ("openinference prompts", {"llm.prompts.0.prompt.text": "why?"}),
    ("openinference embedding", {"embedding.embeddings.0.embedding.text": "why?"}),
    ("input.value", {"input.value": {"messages": [{"role": "user", "content": "why?"}]}}),
    ("openllmetry", {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "why?"}),
    ("openllmetry completion", {"gen_ai.prompt.0.user": "why?"}),
    ("openllmetry blocks", {"gen_ai.prompt.0.content": [{"type": "text", "text": "why?"}]}),
    ("first openllmetry", {"llm.prompts.0.role": "user", "llm.prompts.0.content": "why?"}),
    ("traceloop", {"traceloop.entity.input": {"args": ["why?"], "kwargs": {}}}),
    ("langfuse", {"langfuse.observation.input": [{"role": "user", "content": "why?"}]}),
    ("mlflow", {"mlflow.spanInputs": {"messages": [{"role": "user", "content": "why?"}]}}),
    ("langsmith", {"gen_ai.prompt": {"messages": [[{"lc": 1, "id": ["a", "HumanMessage"], "kwargs": {"content": "why?"}}]]}}),
    ("vercel messages", {"ai.prompt.messages": [{"role": "user", "content": [{"type": "text", "text": "why?"}]}]}),
    ("vercel prompt", {"ai.prompt": {"prompt": "why?"}}),
    ("vercel value", {"ai.value": '"why?"'}),
    ("vercel values", {"ai.values": ['"why?"']}),
    ("adk", {"gcp.vertex.agent.llm_request": {"model": "m", "contents": [{"parts": [{"text": "why?"}], "role": "user"}]}}),
    ("haystack", {"haystack.agent.input": {"messages": [{"role": "user", "content": [{"text": "why?"}]}]}}),
    ("pydantic-ai", {"events": [{"event.name": "gen_ai.user.message", "role": "user", "content": "why?"}]}),
    ("claude code", {"user_prompt": "why?"}),
    ("logfire", {"request_data": {"model": "m", "messages": [{"role": "user", "content": "why?"}]}}),
    ("crewai", {"crewai.task.description": "why?"}),
]  # fmt: skip


@pytest.mark.parametrize(
    "attributes", [case[1] for case in INPUTS], ids=[case[0] for case in INPUTS]
)
def test_every_source_of_input_is_read(attributes: dict[str, Any]) -> None:
    bodies = read(attributes)
    assert messages(bodies.input) == [{"role": "user", "parts": [text("why?")]}]
    assert user_text(bodies) == "why?"


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"gen_ai.request.model": "m"},
        {"gcp.vertex.agent.llm_request": "{}", "gcp.vertex.agent.llm_response": "{}"},
        {"user_prompt": "<REDACTED>"},
        {"request_data": {"model": "m"}},
        {"gen_ai.input.messages": "[]", "gen_ai.output.messages": "null"},
        {"llm.output_messages.0.message.role": "assistant"},
        {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.finish_reason": "stop"},
        {"output.value": "None"},
    ],
)
def test_no_content_is_none(attributes: dict[str, Any]) -> None:
    bodies = read(attributes)
    assert bodies.input is None
    assert bodies.output is None
    assert not content.content_captured(span(attributes), Kind.LLM)


def test_messages_of_the_conventions_come_before_other_sources() -> None:
    bodies = read(
        {
            "gen_ai.output.messages": [{"role": "assistant", "content": "first"}],
            "output.value": "second",
            "gen_ai.completion.0.content": "third",
        }
    )
    assert content.assistant_text(bodies) == "first"


def test_messages_without_parts_give_way_to_the_next_source() -> None:
    bodies = read(
        {
            "gen_ai.output.messages": [{"role": "assistant", "parts": [], "finish_reason": "x"}],
            "gen_ai.completion.0.function_call.name": "w",
            "gen_ai.completion.0.function_call.arguments": '{"city": "Paris"}',
        }
    )
    assert parts(bodies.output) == [called("w", CITY)]


def test_vercel_answers_hold_reasoning_text_and_calls() -> None:
    bodies = read(
        {
            "ai.response.reasoning": "hm",
            "ai.response.text": "hi",
            "ai.response.toolCalls": [
                {"toolCallId": "c1", "toolName": "w", "input": '{"city":"Paris"}'}
            ],
            "ai.response.finishReason": "tool-calls",
        }
    )
    [turn] = messages(bodies.output)
    assert turn["finish_reason"] == "tool-calls"
    assert turn["parts"] == [
        {"type": "reasoning", "text": "hm"},
        text("hi"),
        called("w", CITY, "c1"),
    ]


def test_vercel_objects_stay_the_text_the_model_wrote() -> None:
    words = '{"city": "Paris", "temperature_c": 21}'
    assert content.assistant_text(read({"ai.response.object": words})) == words


def test_openinference_content_and_contents_are_not_told_twice() -> None:
    start = "llm.output_messages.0.message."
    bodies = read(
        {
            f"{start}content": "hi",
            f"{start}contents.0.message_content.type": "text",
            f"{start}contents.0.message_content.text": "hi",
            f"{start}contents.1.message_content.type": "tool_use",
            f"{start}contents.1.tool_call.id": "c1",
            f"{start}contents.1.tool_call.function.name": "w",
            f"{start}contents.1.tool_call.function.arguments": '{"city": "Paris"}',
            f"{start}tool_calls.0.tool_call.id": "c1",
            f"{start}tool_calls.0.tool_call.function.name": "w",
            f"{start}tool_calls.0.tool_call.function.arguments": '{"city": "Paris"}',
        }
    )
    assert parts(bodies.output) == [text("hi"), called("w", CITY, "c1")]


def test_openinference_images_and_tool_answers_are_read() -> None:
    start = "llm.input_messages"
    bodies = read(
        {
            f"{start}.0.message.role": "user",
            f"{start}.0.message.contents.0.message_content.type": "image",
            f"{start}.0.message.contents.0.message_content.image.image.url": "https://x.test/a",
            f"{start}.2.message.role": "tool",
            f"{start}.2.message.tool_call_id": "c1",
            f"{start}.2.message.content": "sunny",
            f"{start}.10.message.role": "user",
            f"{start}.10.message.content": "last",
        }
    )
    assert messages(bodies.input) == [
        {
            "role": "user",
            "parts": [
                {
                    "type": "media",
                    "modality": "image",
                    "mime_type": None,
                    "uri": "https://x.test/a",
                }
            ],
        },
        {"role": "tool", "parts": [answered("sunny", "c1")]},
        {"role": "user", "parts": [text("last")]},
    ]


def test_openllmetry_calls_and_answers_are_read() -> None:
    bodies = read(
        {
            "gen_ai.prompt.0.role": "tool",
            "gen_ai.prompt.0.tool_call_id": "c0",
            "gen_ai.prompt.0.content": "sunny",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "w",
            "gen_ai.completion.0.tool_calls.0.arguments": '{"city": "Paris"}',
        }
    )
    assert messages(bodies.input) == [{"role": "tool", "parts": [answered("sunny", "c0")]}]
    [turn] = messages(bodies.output)
    assert turn == {
        "role": "assistant",
        "finish_reason": "tool_calls",
        "parts": [called("w", CITY, "c1")],
    }


def test_haystack_reprs_stay_text() -> None:
    words = "{'messages': [ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[])]}"
    assert user_text(read({"haystack.component.input": words})) == words


def test_structured_results_of_an_agent_are_its_answer() -> None:
    bodies = read(
        {
            "pydantic_ai.all_messages": [
                {"role": "user", "parts": [{"type": "text", "content": "why?"}]},
                {
                    "role": "assistant",
                    "parts": [
                        {"type": "tool_call", "id": "c1", "name": "final_result", "arguments": "{}"}
                    ],
                },
            ],
            "final_result": '{"city": "Paris"}',
        },
        Kind.AGENT,
    )
    assert content.assistant_text(bodies) == '{"city": "Paris"}'
    assert len(messages(bodies.input)) == 2


SYSTEMS: list[Any] = [
    [{"type": "text", "content": "be"}],
    "be",
    ["be"],
    [{"role": "system", "content": "be"}],
    [{"role": "system", "parts": [{"type": "text", "content": "be"}]}],
]


@pytest.mark.parametrize("value", SYSTEMS)
def test_system_instructions_are_canonical_parts(value: Any) -> None:
    import json

    assert json.loads(read({"gen_ai.system_instructions": value}).system or "") == [text("be")]


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL = {"name": "w", "description": "Weather", "parameters": SCHEMA}

DEFINITIONS: list[tuple[str, dict[str, Any]]] = [
    ("genai", {"gen_ai.tool.definitions": [TOOL]}),
    ("openinference", {"llm.tools.0.tool.json_schema": TOOL}),
    (
        "openllmetry",
        {
            "llm.request.functions.0.name": "w",
            "llm.request.functions.0.description": "Weather",
            "llm.request.functions.0.parameters": SCHEMA,
        },
    ),
    ("vercel", {"ai.prompt.tools": ['{"name":"w","description":"Weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}']}),
    ("mlflow", {"mlflow.chat.tools": [TOOL]}),
    ("plain", {"tools": [TOOL]}),
    ("a whole request", {"langfuse.observation.input": {"tools": [TOOL], "messages": []}}),
    ("adk", {"gcp.vertex.agent.llm_request": {"config": {"tools": [TOOL]}, "contents": []}}),
    ("pydantic-ai", {"model_request_parameters": {"function_tools": [TOOL], "output_tools": []}}),
]  # fmt: skip


@pytest.mark.parametrize(
    "attributes", [case[1] for case in DEFINITIONS], ids=[case[0] for case in DEFINITIONS]
)
def test_tool_definitions_are_found(attributes: dict[str, Any]) -> None:
    import json

    assert json.loads(read(attributes).tool_definitions or "") == [TOOL]


def test_a_list_of_names_is_no_list_of_definitions() -> None:
    assert read({"tools": ["get_weather"]}).tool_definitions is None


def test_duplicates_fill_what_is_missing_and_overwrite_nothing() -> None:
    kept = span({"gen_ai.input.messages": "mine"})
    twins = [
        span({"gen_ai.input.messages": "b", "output.value": "late"}, span_id="b", start=3),
        span({"gen_ai.output.messages": "early", "gen_ai.system_instructions": "be"}, start=2),
    ]
    bodies = content.read_bodies(kept, Kind.LLM, (), twins)
    assert user_text(bodies) == "mine"
    assert content.assistant_text(bodies) == "early"
    assert bodies.system is not None
    assert bodies == content.read_bodies(kept, Kind.LLM, (), twins[::-1])


def test_logs_of_a_duplicate_fill_too() -> None:
    twin = span({}, span_id="00000000000000b2")
    record = log("gen_ai.choice", {"message": {"content": "hi"}}, span_id="00000000000000b2")
    assert content.read_bodies(span({}), Kind.LLM, [record]).output is None
    found = content.read_bodies(span({}), Kind.LLM, [record], [twin])
    assert content.assistant_text(found) == "hi"


def test_a_tool_step_reads_its_call_and_writes_its_result() -> None:
    bodies = read(
        {
            "gen_ai.tool.name": "w",
            "gen_ai.tool.call.id": "c1",
            "gen_ai.tool.call.arguments": CITY,
            "gen_ai.tool.call.result": "sunny",
        },
        Kind.TOOL,
    )
    assert messages(bodies.input) == [{"role": "assistant", "parts": [called("w", CITY, "c1")]}]
    assert messages(bodies.output) == [{"role": "tool", "parts": [answered("sunny", "c1")]}]


def test_details_on_a_span_event_are_read_like_attributes() -> None:
    step = span(
        {},
        events=[
            named(
                "gen_ai.client.inference.operation.details",
                {
                    "gen_ai.input.messages": [{"role": "user", "content": "why?"}],
                    "gen_ai.system_instructions": [{"type": "text", "content": "be"}],
                },
            ),
            named(
                "gen_ai.client.inference.operation.details",
                {
                    "gen_ai.output.messages": [
                        {"role": "assistant", "content": "hi", "finish_reason": "end_turn"}
                    ]
                },
            ),
        ],
    )
    bodies = content.read_bodies(step, Kind.LLM)
    assert user_text(bodies) == "why?"
    assert content.assistant_text(bodies) == "hi"
    assert bodies.system is not None
    assert finish_of(step) == "end_turn"
    assert content.content_captured(step, Kind.LLM)


def test_a_tool_call_told_twice_is_kept_once_with_what_both_tell() -> None:
    start = "llm.output_messages.0.message."
    body = read(
        {
            f"{start}tool_calls.0.tool_call.id": "c1",
            f"{start}tool_calls.0.tool_call.function.name": "pay",
            f"{start}tool_calls.0.tool_call.function.arguments": '{"iban":123456789012345678901234}',
            f"{start}contents.1.tool_call.id": "c1",
            f"{start}contents.1.tool_call.function.name": "pay",
        }
    )
    assert parts(body.output) == [called("pay", {"iban": 123456789012345678901234}, "c1")]
