"""Every field of a step can say which rule filled it from which key."""

import pytest

from collector.explain import explain
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


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
def test_an_explanation_is_the_step_that_is_stored():
    from collector.fold import fold_traces

    name = "openinference-anthropic-3.1.0-chat"
    spans = samples.spans(name)
    stored = fold_traces(spans, [], watched=Watched(), previous={}, received={}, now=0).steps
    assert [explain(span, [], Watched(), spans).step for span in spans] == [
        next(step for step in stored if step.span_id == span.span_id) for span in spans
    ]
