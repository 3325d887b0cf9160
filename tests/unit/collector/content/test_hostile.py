"""Whatever an attribute holds, reading it never raises, and its cost is bounded."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from collector.dialects import content
from collector.spans import LogRecord, Span
from gnomon.model import Kind
from tests.unit.collector.content.reading import event, finish_of, log, messages, parts, span

KEYS = [
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.definitions",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.completion.0.content",
    "gen_ai.prompt.0.tool_calls.0.arguments",
    "gen_ai.retrieval.documents",
    "input.value",
    "output.value",
    "llm.output_messages.0.message.contents.0.message_content.text",
    "llm.input_messages.0.message.tool_calls.0.tool_call.function.arguments",
    "llm.tools.0.tool.json_schema",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "langfuse.observation.input",
    "langfuse.observation.output",
    "mlflow.spanInputs",
    "mlflow.spanOutputs",
    "mlflow.assessment.x",
    "ai.prompt",
    "ai.prompt.messages",
    "ai.response.toolCalls",
    "ai.response.reasoning",
    "ai.values",
    "ai.prompt.tools",
    "gcp.vertex.agent.llm_request",
    "gcp.vertex.agent.llm_response",
    "haystack.component.input",
    "haystack.component.output",
    "haystack.agent.step.tool.output",
    "events",
    "all_messages_events",
    "pydantic_ai.all_messages",
    "request_data",
    "response_data",
    "tool.parameters",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "model_request_parameters",
    "tools",
    "retrieval.documents.0.document.metadata",
    "evaluations.0.evaluation.score",
]

WORDS = st.sampled_from(
    [
        "role", "content", "parts", "type", "text", "tool_calls", "function", "arguments", "name",
        "id", "messages", "choices", "message", "output", "kwargs", "args", "lc", "data", "blocks",
        "tool_call_result", "origin", "tool_messages", "replies", "documents", "page_content",
        "response", "feedback", "update", "generations", "candidates", "tool_use", "tool_result",
        "source", "image", "reasoning", "summary", "value", "audio", "toolUse", "toolResult",
        "assistant", "user", "tool", "human", "ai", "function_call", "event.name", "gen_ai.choice",
        "query_bundle", "inputs", "input_str", "tool_name", "config", "tools", "finish_reason",
    ]
)  # fmt: skip
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | WORDS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
TEXTS = VALUES.map(json.dumps) | VALUES.map(repr) | st.text(max_size=20)
ATTRIBUTES = st.dictionaries(st.sampled_from(KEYS), TEXTS, max_size=6)
NAMES = st.sampled_from(
    [
        "gen_ai.user.message",
        "gen_ai.tool.message",
        "gen_ai.choice",
        "gen_ai.content.prompt",
        "gen_ai.client.inference.operation.details",
        "gen_ai.evaluation.result",
        "db.query.result",
        "tool.output",
        "tool_result",
        "user_prompt",
        "assistant_response",
    ]
)
EVENT_KEYS = st.sampled_from(
    ["content", "message", "output", "tool_calls", "id", "gen_ai.prompt", "gen_ai.event.content",
     "gen_ai.input.messages", "gen_ai.output.messages", "metadata", "score", "tool_use_id"]
)  # fmt: skip
EVENTS = st.builds(
    lambda name, time, told: event(name, time, **told),
    NAMES,
    st.integers(0, 3),
    st.dictionaries(EVENT_KEYS, TEXTS, max_size=3),
)
LOGS = st.builds(
    lambda name, body, told: log(name, body, **told),
    NAMES,
    TEXTS,
    st.dictionaries(EVENT_KEYS, TEXTS, max_size=3),
)


def everything(step: Span, kind: Kind, logs: list[LogRecord]) -> Any:
    """Call every function of the package."""
    bodies = content.read_bodies(step, kind, logs, [step])
    content.content_captured(step, kind, logs)
    for body in (bodies.input, bodies.output):
        for turn in messages(body):
            assert turn["role"] in ("system", "user", "assistant", "tool")
            assert turn["parts"]
    return (
        bodies,
        content.tool_call(step, kind, logs),
        content.documents(step, logs),
        content.query_told(step),
        content.evaluations(step, logs),
        finish_of(step),
        content.assistant_text(bodies),
    )


@settings(max_examples=400, deadline=None)
@given(
    attributes=ATTRIBUTES,
    kind=st.sampled_from(list(Kind)),
    events=st.lists(EVENTS, max_size=3),
    logs=st.lists(LOGS, max_size=3),
)
def test_no_text_makes_reading_fail(
    attributes: dict[str, str], kind: Kind, events: list[Any], logs: list[LogRecord]
) -> None:
    step = span(attributes, events=events)
    assert everything(step, kind, logs) == everything(step, kind, logs[::-1])


@settings(max_examples=300, deadline=None)
@given(attributes=ATTRIBUTES, events=st.lists(EVENTS, max_size=3))
def test_what_is_read_counts_as_captured(attributes: dict[str, str], events: list[Any]) -> None:
    step = span(attributes, events=events)
    bodies = content.read_bodies(step, Kind.LLM)
    if bodies.input or bodies.output or bodies.documents:
        assert content.content_captured(step, Kind.LLM)


def test_deep_json_is_read_or_kept_as_text() -> None:
    for depth in (50, 200, 2_000, 100_000):
        for start, end in (("[", "]"), ('{"output":', "}"), ('{"content":[', "]}")):
            words = start * depth + "1" + end * depth
            for key in KEYS:
                for kind in (Kind.LLM, Kind.TOOL, Kind.RETRIEVAL):
                    everything(span({key: words}), kind, [])
            kept = content.read_bodies(span({"output.value": words}), Kind.LLM).output
            assert kept is not None
            assert "1" in kept


def test_ten_thousand_flattened_messages_are_read_and_no_more() -> None:
    attributes = {f"llm.input_messages.{n}.message.content": str(n) for n in range(12_000)}
    bodies = content.read_bodies(span(attributes), Kind.LLM)
    found = parts(bodies.input)
    assert len(found) == 10_000
    assert found[-1]["text"] == "9999"


def test_lone_surrogates_are_carried() -> None:
    step = span({"output.value": "broken \ud800 text", "tool.name": "\ud800"})
    everything(step, Kind.LLM, [log("gen_ai.choice", "\ud800")])
    everything(step, Kind.TOOL, [log("gen_ai.choice", "\ud800")])
    assert "broken " in (content.read_bodies(step, Kind.LLM).output or "")


def test_media_of_any_text_have_a_digest() -> None:
    step = span({"output.value": [{"type": "image", "source": {"data": "not base64 \ud800"}}]})
    bodies = everything(step, Kind.LLM, [])[0]
    (media,) = parts(bodies.output)
    assert media["type"] == "media"
    assert len(media["bytes_sha256"]) == 64
