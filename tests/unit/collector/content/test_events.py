"""Messages in span events and log events, in an order that arrival cannot change."""

from typing import Any

import pytest

from collector.dialects import content
from gnomon.model import Kind
from tests.unit.collector.content.reading import (
    answered,
    called,
    event,
    finish_of,
    log,
    messages,
    named,
    parts,
    span,
    text,
    user_text,
)

CITY = {"city": "Paris"}
CALL = {"id": "c1", "type": "function", "function": {"name": "w", "arguments": '{"city":"Paris"}'}}


def test_log_events_of_one_call_become_its_messages() -> None:
    logs = [
        log("gen_ai.system.message", {"content": "be"}, time=1),
        log("gen_ai.user.message", {"content": "why?"}, time=2),
        log("gen_ai.assistant.message", {"tool_calls": [CALL]}, time=3),
        log("gen_ai.tool.message", {"content": "sunny", "id": "c1"}, time=4),
        log(
            "gen_ai.choice",
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "hi"},
            },
            time=5,
        ),
        log("gen_ai.choice", {"message": {"content": "other"}}, span_id="00000000000000b2"),
        log("app.note", "plain line"),
    ]
    bodies = content.read_bodies(span(), Kind.LLM, logs)
    assert messages(bodies.input) == [
        {"role": "system", "parts": [text("be")]},
        {"role": "user", "parts": [text("why?")]},
        {"role": "assistant", "parts": [called("w", CITY, "c1")]},
        {"role": "tool", "parts": [answered("sunny", "c1")]},
    ]
    assert messages(bodies.output) == [
        {"role": "assistant", "finish_reason": "stop", "parts": [text("hi")]}
    ]
    assert content.read_bodies(span(), Kind.LLM, logs[::-1]) == bodies
    assert content.content_captured(span(), Kind.LLM, logs)


def test_equal_times_are_ordered_by_observed_time_and_then_by_digest() -> None:
    logs = [log("gen_ai.user.message", {"content": f"q{number}"}) for number in range(6)]
    late = log("gen_ai.user.message", {"content": "early"}, observed=0)
    one = content.read_bodies(span(), Kind.LLM, [*logs, late])
    other = content.read_bodies(span(), Kind.LLM, [late, *logs[::-1]])
    assert one == other
    assert messages(one.input)[0]["parts"] == [text("early")]


def test_a_body_may_be_json_text_of_a_map() -> None:
    record = log("gen_ai.user.message", '{"role": "user", "content": "why?"}')
    quoted = log("gen_ai.user.message", '"{\\"role\\": \\"user\\", \\"content\\": \\"why?\\"}"')
    for one in (record, quoted):
        assert user_text(content.read_bodies(span(), Kind.LLM, [one])) == "why?"


def test_a_body_may_be_plain_text() -> None:
    record = log("gen_ai.user.message", "why?")
    assert user_text(content.read_bodies(span(), Kind.LLM, [record])) == "why?"
    assert content.content_captured(span(), Kind.LLM, [record])


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("gen_ai.user.message", ""),
        ("gen_ai.user.message", {}),
        ("gen_ai.user.message", {"content": "<elided>"}),
        ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "message": {"role": "assistant"}}),
        ("gen_ai.choice", {"index": 0, "finish_reason": "stop", "content": "<elided>"}),
    ],
)
def test_events_without_content_say_nothing(name: str, body: Any) -> None:
    bodies = content.read_bodies(span(), Kind.LLM, [log(name, body)])
    assert bodies.input is None
    assert bodies.output is None
    assert not content.content_captured(span(), Kind.LLM, [log(name, body)])


def test_gemini_contents_in_events_are_opened() -> None:
    logs = [
        log("gen_ai.user.message", {"content": {"parts": [{"text": "why?"}], "role": "user"}}),
        log(
            "gen_ai.choice",
            {"content": {"parts": [{"text": "hi"}], "role": "model"}, "finish_reason": "STOP"},
        ),
    ]
    bodies = content.read_bodies(span(), Kind.LLM, logs)
    assert user_text(bodies) == "why?"
    assert messages(bodies.output) == [
        {"role": "assistant", "finish_reason": "STOP", "parts": [text("hi")]}
    ]


def test_nested_attributes_on_logs_are_read_like_the_spans_own() -> None:
    record = log(
        "gen_ai.client.inference.operation.details",
        **{
            "gen_ai.input.messages": [
                {"role": "user", "parts": [{"type": "text", "content": "why?"}]}
            ],
            "gen_ai.output.messages": [
                {"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}
            ],
            "gen_ai.system_instructions": [{"type": "text", "content": "be"}],
            "gen_ai.tool.definitions": [{"name": "w"}],
        },
    )
    bodies = content.read_bodies(span(), Kind.LLM, [record])
    assert user_text(bodies) == "why?"
    assert content.assistant_text(bodies) == "hi"
    assert bodies.system is not None
    assert bodies.tool_definitions == '[{"name":"w"}]'


def test_strands_events_hold_blocks_as_text() -> None:
    step = span(
        events=[
            event("gen_ai.choice", 3, finish_reason="tool_use", message=[{"toolUse": {"toolUseId": "c1", "name": "w", "input": CITY}}]),
            event("gen_ai.system.message", 1, content=[{"text": "be"}]),
            event("gen_ai.user.message", 2, content=[{"text": "why?"}]),
        ]
    )  # fmt: skip
    bodies = content.read_bodies(step, Kind.LLM)
    assert messages(bodies.input) == [
        {"role": "system", "parts": [text("be")]},
        {"role": "user", "parts": [text("why?")]},
    ]
    assert messages(bodies.output) == [
        {"role": "assistant", "finish_reason": "tool_use", "parts": [called("w", CITY, "c1")]}
    ]
    assert finish_of(step) == "tool_use"
    assert content.content_captured(step, Kind.LLM)


def test_strands_answers_may_be_plain_text() -> None:
    step = span(events=[event("gen_ai.choice", message="hi\n", finish_reason="end_turn")])
    assert content.assistant_text(content.read_bodies(step, Kind.AGENT)) == "hi\n"


def test_speech_that_looks_like_json_stays_speech() -> None:
    step = span(events=[event("gen_ai.user.message", content='{"order": 1}')])
    assert user_text(content.read_bodies(step, Kind.LLM)) == '{"order": 1}'


def test_the_first_conventions_put_content_into_two_events() -> None:
    step = span(
        events=[
            named(
                "gen_ai.content.prompt", {"gen_ai.prompt": [{"role": "user", "content": "why?"}]}
            ),
            named("gen_ai.content.completion", {"gen_ai.completion": "hi"}, 2),
        ]
    )
    bodies = content.read_bodies(step, Kind.LLM)
    assert user_text(bodies) == "why?"
    assert content.assistant_text(bodies) == "hi"


def test_a_body_in_one_attribute_of_an_event_is_opened() -> None:
    step = span(
        events=[named("gen_ai.user.message", {"gen_ai.event.content": {"role": "user", "content": "why?"}})]
    )  # fmt: skip
    assert user_text(content.read_bodies(step, Kind.LLM)) == "why?"


def test_the_span_comes_before_its_logs_and_logs_before_span_events() -> None:
    record = log("gen_ai.choice", {"message": {"content": "log"}})
    step = span(
        {"gen_ai.output.messages": "span"}, events=[event("gen_ai.choice", message="event")]
    )
    assert content.assistant_text(content.read_bodies(step, Kind.LLM, [record])) == "span"
    step = span(events=[event("gen_ai.choice", message="event")])
    assert content.assistant_text(content.read_bodies(step, Kind.LLM, [record])) == "log"
    assert content.assistant_text(content.read_bodies(step, Kind.LLM)) == "event"


def test_claude_code_speaks_in_logs() -> None:
    turn = span({"span.type": "interaction"})
    logs = [
        log("user_prompt", "claude_code.user_prompt", prompt="why?", time=1),
        log("assistant_response", "claude_code.assistant_response", response="wait", time=2),
        log("assistant_response", "claude_code.assistant_response", response="hi", time=3),
    ]
    bodies = content.read_bodies(turn, Kind.AGENT, logs)
    assert user_text(bodies) == "why?"
    assert content.assistant_text(bodies) == "hi"
    assert len(parts(bodies.output)) == 2


def test_redacted_words_of_claude_code_are_no_content() -> None:
    turn = span({"user_prompt": "<REDACTED>"})
    logs = [
        log("user_prompt", "claude_code.user_prompt", prompt="<REDACTED>"),
        log("assistant_response", "claude_code.assistant_response", response="<REDACTED>"),
    ]
    bodies = content.read_bodies(turn, Kind.AGENT, logs)
    assert bodies.input is None
    assert bodies.output is None
    assert not content.content_captured(turn, Kind.AGENT, logs)


def test_the_index_finds_logs_by_span_and_by_tool_call() -> None:
    tool = span({"tool_use_id": "c1"})
    own = log("app.note", "x")
    elsewhere = log("tool_result", span_id="00000000000000b2", tool_use_id="c1")
    stranger = log("tool_result", span_id="00000000000000b2", tool_use_id="c2")
    index = content.LogIndex([own, elsewhere, stranger])
    assert list(index.of(tool)) == [own, elsewhere]
    assert list(index.of(span())) == [own]


def test_finish_reasons_inside_messages_are_as_sent() -> None:
    def reason(*reasons: str) -> Any:
        turns = [{"role": "assistant", "parts": [], "finish_reason": one} for one in reasons]
        return finish_of(span({"gen_ai.output.messages": turns}))

    assert reason("tool_calls") == "tool_calls"
    assert reason("length", "length") == "length"
    assert reason("stop", "length") == ["stop", "length"]
    assert reason("") is None
    assert finish_of(span()) is None
