"""Every field of a step can say which rule filled it from which key."""

from dataclasses import replace

import pytest

from collector.explain import explain
from collector.spans import Event
from collector.watched import Watched
from tests import samples
from tests.spans import make_span


def reasons(span, trace=(), watched=None):
    explained = explain(span, [], Watched.model_validate(watched or {}), trace)
    return {filled.field: filled.rule for filled in explained.filled}


def test_fields_name_rule_and_key():
    span = make_span(
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.system": "openai",
            "gen_ai.usage.prompt_tokens": 7,
            "output.value": '{"id": "chatcmpl-1", "model": "m", "choices": []}',
            "order": "A-1",
        }
    )
    found = reasons(span)
    assert found["kind"] == "K11 gen_ai.operation.name"
    assert found["provider"] == "M1 gen_ai.system"
    assert found["input_tokens"] == "T1 gen_ai.usage.prompt_tokens"
    assert found["response_id"] == "M8 output.value"
    assert found["model"] == "M8 output.value"
    assert explain(span, [], Watched()).unread == ("order",)


def test_configuration_and_errors_name_themselves():
    span = make_span(attributes={"customer": "u", "success": False, "error_class": "E"})
    found = reasons(span, watched={"runs": {"user": "customer"}})
    assert found["user_id"] == "configured customer"
    assert found["status"] == "E2 success"
    assert found["error_type"] == "E5 error_class"


def test_what_the_trace_adds_is_explained_with_the_trace():
    agent = make_span(
        1, attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
    )
    outer = make_span(2, 1, attributes={"gen_ai.operation.name": "chat"})
    inner = make_span(3, 2, attributes={"gen_ai.operation.name": "chat"})
    found = reasons(inner, [agent, outer, inner])
    assert found["duplicate_of"] == "D2 nested model span of the same call"
    assert found["agent_name"] == f"1.1 agent {agent.span_id}"
    assert "duplicate_of" not in reasons(inner)


def test_judgments_name_the_attributes_they_were_read_from_and_no_others():
    span = make_span(
        attributes={
            "annotations.0.annotation.name": "helpful",
            "annotations.0.annotation.score": 0.5,
            "annotations.0.annotation.colour": "red",
            "trace.evaluations.1.evaluation.label": "good",
            "mlflow.assessment.safe": '{"value": true}',
        }
    )
    told = explain(span, [], Watched())
    (one,) = [filled for filled in told.filled if filled.field == "evaluations"]
    assert (one.number, one.key.split("; ")) == (
        "2.7",
        [
            "annotations.0.annotation.name",
            "annotations.0.annotation.score",
            "mlflow.assessment.safe",
            "trace.evaluations.1.evaluation.label",
        ],
    )
    assert told.unread == ("annotations.0.annotation.colour",)


def test_a_class_that_stands_in_the_message_is_explained_by_e6():
    told = reasons(
        make_span(
            attributes={"error.type": "Exception"},
            status_code="Error",
            status_message="RateLimitError('too many')",
        )
    )
    assert told["error_type"] == "E6 status message"


def test_judgments_that_came_as_events_name_the_event():
    event = Event(
        time=1, name="gen_ai.evaluation.result", attributes={"gen_ai.evaluation.name": "n"}
    )
    told = reasons(replace(make_span(), events=[event]))
    assert told["evaluations"] == "2.7 gen_ai.evaluation.result"


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
def test_an_explanation_is_the_step_that_is_stored():
    from collector.folding.fold import fold_traces

    name = "openinference-anthropic-3.1.0-chat"
    spans = samples.spans(name)
    stored = fold_traces(spans, [], watched=Watched(), previous={}, received={}, now=0).steps
    assert [explain(span, [], Watched(), spans).step for span in spans] == [
        next(step for step in stored if step.span_id == span.span_id) for span in spans
    ]


def test_a_tool_step_names_the_attributes_of_its_call():
    span = make_span(
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "refund",
            "gen_ai.tool.call.id": "c-1",
            "gen_ai.tool.call.arguments": '{"order": "A-1"}',
            "gen_ai.tool.call.result": "done",
        }
    )
    found = reasons(span, watched={"business_keys": {"order_id": {"tool_arguments": "order"}}})
    assert found["tool_name"] == "2.7 gen_ai.tool.name"
    assert found["tool_call_id"] == "2.7 gen_ai.tool.call.id"
    assert found["tool_arguments"] == found["input"] == "2.7 gen_ai.tool.call.arguments"
    assert found["tool_result"] == found["output"] == "2.7 gen_ai.tool.call.result"
    assert found["business_keys"] == "business_keys order_id from tool argument order"
    assert explain(span, [], Watched()).unread == ()


@pytest.mark.parametrize(
    ("attributes", "name", "told"),
    [
        ({"mcp.response.value": "x"}, "tool_result", "mcp.response.value"),
        ({"tool.id": "t"}, "tool_call_id", "tool.id"),
        ({"full_command": "ls"}, "tool_arguments", "full_command"),
    ],
)
def test_each_source_of_a_tool_call_names_itself(attributes, name, told):
    span = make_span(attributes={"gen_ai.operation.name": "execute_tool", **attributes})
    assert reasons(span)[name] == f"2.7 {told}"


def test_a_tool_named_by_its_span_says_so():
    span = make_span(name="execute_tool x", attributes={"gen_ai.operation.name": "execute_tool"})
    assert reasons(span)["tool_name"] == "2.7 span name"


def test_bodies_name_the_attribute_they_are_read_from():
    span = make_span(
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": "talk-1",
            "gen_ai.system_instructions": '[{"type": "text", "content": "be kind"}]',
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "hello " * 100,
            "output.value": "hi",
            "left": "over",
        }
    )
    found = reasons(span)
    assert found["system"] == "2.7 gen_ai.system_instructions"
    assert found["input"] == "2.7 llm.input_messages"
    assert found["output"] == "2.7 output.value"
    assert found["conversation_id"].endswith("gen_ai.conversation.id")
    told = explain(span, [], Watched())
    assert told.unread == ("left",)
    assert all(len(one.value) < 250 for one in told.filled if one.field == "input")


def test_a_cost_names_its_row_of_the_table():
    span = make_span(
        attributes={
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m-1",
            "gen_ai.usage.input_tokens": 1_000_000,
            "gen_ai.usage.output_tokens": 0,
        }
    )
    table = {"prices": [{"model": "m*", "since": "2025-01-01", "input": 3, "output": 1}]}
    assert reasons(span, watched=table)["cost_usd"] == "price table m* since 2025-01-01"
    (cost,) = [
        one.value
        for one in explain(span, [], Watched.model_validate(table)).filled
        if one.field == "cost_usd"
    ]
    assert cost == 3.0


def test_the_guard_of_tokens_is_named_where_it_mended_something():
    usage = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 64,
    }
    found = reasons(make_span(attributes=usage))
    assert found["input_tokens"].startswith("T1 + T-guard 3.3")
    assert found["input_tokens"].endswith(" gen_ai.usage.input_tokens")
    fine = {**usage, "gen_ai.usage.input_tokens": 100}
    assert reasons(make_span(attributes=fine))["input_tokens"] == "T1 gen_ai.usage.input_tokens"


def test_what_was_left_out_of_the_output_is_named_with_its_proof():
    usage = {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.reasoning_tokens": 7,
    }
    found = reasons(make_span(attributes=usage))
    assert found["output_tokens"].startswith("T2 + T-guard 3.3 (reasoning larger than output")
    told = {**usage, "gen_ai.usage.output_tokens": 9, "llm.usage.total_tokens": 26}
    found = reasons(make_span(attributes=told))
    assert found["output_tokens"].startswith("T2 + T6 3.3 (reasoning beside output in the total")
    assert reasons(make_span(attributes={**told, "llm.usage.total_tokens": 19}))[
        "output_tokens"
    ].startswith("T2 gen_ai")
