"""Requests, answers and wrappers of every provider and framework become canonical messages."""

from typing import Any

import pytest

from collector.dialects.content.shapes import messages_of
from tests.unit.collector.content.reading import answered, called, text

CITY = {"city": "Paris"}
CALL = {"id": "c1", "type": "function", "function": {"name": "w", "arguments": '{"city":"Paris"}'}}


def said(role: str, words: str, **more: Any) -> dict[str, Any]:
    return {"role": role, **more, "parts": [text(words)]}


ANSWERS: list[tuple[str, Any, list[Any]]] = [
    (
        "openai chat",
        {"id": "x", "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}]},
        [said("assistant", "hi", finish_reason="stop")],
    ),
    (
        "openai chat, two choices",
        {"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]},
        [said("assistant", "a"), said("assistant", "b")],
    ),
    (
        "openai tool call",
        {"choices": [{"finish_reason": "tool_calls", "message": {"role": "assistant", "content": None, "tool_calls": [CALL]}}]},
        [{"role": "assistant", "finish_reason": "tool_calls", "parts": [called("w", CITY, "c1")]}],
    ),
    (
        "openai function call",
        {"role": "assistant", "content": None, "function_call": {"name": "w", "arguments": "{}"}},
        [{"role": "assistant", "parts": [called("w", {})]}],
    ),
    ("text completion", {"choices": [{"text": "hi", "finish_reason": "length"}]}, [said("assistant", "hi", finish_reason="length")]),
    (
        "responses, as the agents SDK lists a streamed answer of chat completions",
        [{"id": "__fake_id__", "object": "response", "usage": None, "output": [{"type": "function_call", "call_id": "c1", "name": "w", "arguments": '{"city":"Paris"}'}]}],
        [{"role": "assistant", "parts": [called("w", CITY, "c1")]}],
    ),
    (
        "responses",
        {
            "object": "response",
            "output": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                {"type": "function_call", "call_id": "c1", "name": "w", "arguments": '{"city":"Paris"}'},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
            ],
        },
        [
            {"role": "assistant", "parts": [{"type": "reasoning", "text": "hm"}]},
            {"role": "assistant", "parts": [called("w", CITY, "c1")]},
            said("assistant", "hi"),
        ],
    ),
    (
        "anthropic",
        {"role": "assistant", "stop_reason": "tool_use", "content": [{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "c1", "name": "w", "input": CITY}]},
        [{"role": "assistant", "finish_reason": "tool_use", "parts": [text("hi"), called("w", CITY, "c1")]}],
    ),
    (
        "gemini",
        {"candidates": [{"content": {"parts": [{"text": "hi"}], "role": "model"}, "finish_reason": "STOP"}]},
        [said("assistant", "hi", finish_reason="STOP")],
    ),
    (
        "adk",
        {"content": {"parts": [{"function_call": {"name": "w", "args": CITY}}], "role": "model"}, "finish_reason": "STOP"},
        [{"role": "assistant", "finish_reason": "STOP", "parts": [called("w", CITY)]}],
    ),
    (
        "bedrock converse",
        {"output": {"message": {"role": "assistant", "content": [{"text": "hi"}]}}, "stopReason": "end_turn"},
        [said("assistant", "hi")],
    ),
    (
        "langchain result",
        {"generations": [[{"text": "hi", "generation_info": {"finish_reason": "stop"}, "message": {"lc": 1, "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "hi", "type": "ai"}}}]]},
        [said("assistant", "hi", finish_reason="stop")],
    ),
    ("langchain dump", {"type": "ai", "data": {"content": "hi", "type": "ai"}}, [said("assistant", "hi")]),
    (
        "langgraph state",
        {"messages": [{"type": "human", "content": "q"}, {"type": "ai", "content": "", "tool_calls": [{"name": "w", "args": CITY, "id": "c1", "type": "tool_call"}]}, {"type": "tool", "content": "sunny", "tool_call_id": "c1", "name": "w"}]},
        [
            said("user", "q"),
            {"role": "assistant", "parts": [called("w", CITY, "c1")]},
            {"role": "tool", "name": "w", "parts": [answered("sunny", "c1")]},
        ],
    ),
    ("langgraph command", {"output": [{"graph": None, "update": {"messages": [{"type": "ai", "content": "hi"}]}}]}, [said("assistant", "hi")]),
    ("langchain run", {"outputs": "hi", "kwargs": {"tags": []}}, [said("assistant", "hi")]),
    ("haystack replies", {"replies": [{"role": "assistant", "meta": {"finish_reason": "stop"}, "name": None, "content": [{"text": "hi"}]}]}, [said("assistant", "hi", finish_reason="stop")]),
    ("haystack pipeline", {"llm": {"replies": [{"_role": "assistant", "_content": [{"text": "hi"}], "_meta": {}}]}}, [said("assistant", "hi")]),
    ("llama-index", {"response": {"role": "assistant", "blocks": [{"block_type": "text", "text": "hi"}]}, "tool_calls": []}, [said("assistant", "hi")]),
    ("ollama", {"message": {"role": "assistant", "content": "hi"}, "done": True}, [said("assistant", "hi")]),
    ("deepseek", {"role": "assistant", "content": "hi", "reasoning_content": "hm"}, [{"role": "assistant", "parts": [{"type": "reasoning", "text": "hm"}, text("hi")]}]),
    ("semantic kernel", {"role": "assistant", "content": "hi"}, [said("assistant", "hi")]),
    ("strings", ["a"], [said("assistant", "a")]),
    ("answer in a field", {"answer": "hi"}, [said("assistant", "hi")]),
    ("graph state", {"q": "why?", "a": "so"}, [{"role": "assistant", "parts": [text("so"), {"type": "other", "raw": {"q": "why?"}}]}]),
    ("unknown object", {"score": 0.9}, [{"role": "assistant", "parts": [{"type": "other", "raw": {"score": 0.9}}]}]),
    ("unknown list", [{"a": 1}, {"b": 2}], [{"role": "assistant", "parts": [{"type": "other", "raw": [{"a": 1}, {"b": 2}]}]}]),
    ("a person is no message", {"role": "Analyst", "goal": "x"}, [{"role": "assistant", "parts": [{"type": "other", "raw": {"role": "Analyst", "goal": "x"}}]}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"), [case[1:] for case in ANSWERS], ids=[case[0] for case in ANSWERS]
)
def test_an_answer_of_any_dialect_becomes_messages(value: Any, expected: list[Any]) -> None:
    assert messages_of(value, "assistant") == expected


REQUESTS: list[tuple[str, Any, list[Any]]] = [
    ("text", "why?", [said("user", "why?")]),
    ("openai", {"model": "m", "messages": [{"role": "developer", "content": "be"}, {"role": "user", "content": "why?"}], "tools": []}, [said("system", "be"), said("user", "why?")]),
    ("anthropic", {"model": "m", "system": "be", "messages": [{"role": "user", "content": "why?"}]}, [said("system", "be"), said("user", "why?")]),
    ("anthropic result", [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a"}]}], [{"role": "tool", "parts": [answered("a", "c1")]}]),
    ("responses", {"model": "m", "input": "why?", "instructions": "be"}, [said("system", "be"), said("user", "why?")]),
    ("gemini", {"model": "m", "contents": [{"parts": [{"text": "why?"}], "role": "user"}], "config": {"system_instruction": "be"}}, [said("system", "be"), said("user", "why?")]),
    ("gemini rest", {"contents": [{"parts": [{"text": "why?"}]}], "systemInstruction": {"parts": [{"text": "be"}]}}, [said("system", "be"), said("user", "why?")]),
    ("adk run", {"user_id": "u", "new_message": {"parts": [{"text": "why?"}], "role": "user"}}, [said("user", "why?")]),
    ("vercel", {"system": "be", "prompt": "why?"}, [said("system", "be"), said("user", "why?")]),
    ("dspy", {"prompt": None, "messages": [{"role": "user", "content": "why?"}]}, [said("user", "why?")]),
    ("langchain batch", {"messages": [[{"lc": 1, "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": "why?"}}]]}, [said("user", "why?")]),
    ("traced function", {"args": ["why?"], "kwargs": {}}, [said("user", "why?")]),
    ("traced function by name", {"args": [], "kwargs": {"question": "why?"}}, [said("user", "why?")]),
    ("traced function of nothing", {"args": [], "kwargs": {}}, []),
    ("smolagents", {"task": "why?", "stream": False, "images": None}, [said("user", "why?")]),
    ("messages as texts", ['{"role": "user", "content": "why?"}'], [said("user", "why?")]),
    ("calls handed on", [{"name": "w", "args": CITY, "id": "c1", "type": "tool_call"}], [{"role": "assistant", "parts": [called("w", CITY, "c1")]}]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"), [case[1:] for case in REQUESTS], ids=[case[0] for case in REQUESTS]
)
def test_a_request_of_any_dialect_becomes_messages(value: Any, expected: list[Any]) -> None:
    assert messages_of(value, "user") == expected


def test_a_call_told_twice_is_kept_once() -> None:
    made = messages_of(
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "w", "input": CITY}],
            "tool_calls": [CALL],
        },
        "assistant",
    )
    assert made[0]["parts"] == [called("w", CITY, "c1")]


@pytest.mark.parametrize("value", [None, "", [], {}, {"messages": []}, {"role": "assistant"}])
def test_nothing_said_is_nothing(value: Any) -> None:
    assert not any(turn["parts"] for turn in messages_of(value, "user"))
