"""Tags, guardrails inside a model call, the place in the agent's graph (K20, 2.3, 2.4)."""

import pytest

from tests.spans import read

OPERATION = "gen_ai.operation.name"


def test_k20_a_guardrail_of_the_gateway_is_noted_on_the_model_call_it_stands_in():
    step = read({OPERATION: "chat", "metadata.applied_guardrails": '["pii"]'})
    assert (step.kind, step.guardrails) == ("llm", ["pii"])
    assert read({OPERATION: "chat", "aws.bedrock.guardrail.id": "gr-1"}).guardrails == ["gr-1"]
    assert read({OPERATION: "chat", "metadata.applied_guardrails": "[]"}).guardrails == ()
    assert read({OPERATION: "execute_tool", "aws.bedrock.guardrail.id": "gr-1"}).guardrails == ()


@pytest.mark.parametrize(
    ("attributes", "tags"),
    [
        ({"tag.tags": '["a", "b", "a"]'}, ["a", "b"]),
        ({"tag.tags": "['a', 'b']"}, ["a", "b"]),
        ({"langfuse.trace.tags": '["a"]', "logfire.tags": '["b"]'}, ["a"]),
        ({"langsmith.span.tags": "seq:step:1, prod"}, ["seq:step:1", "prod"]),
        ({"logfire.tags": '["b", 7, {"no": 1}]'}, ["b", "7"]),
        ({"tag.tags": "[]", "logfire.tags": '["b"]'}, ["b"]),
        ({"langsmith.span.tags": " , "}, ()),
    ],
)
def test_2_4_tags_are_words_in_order_each_once(attributes, tags):
    assert read(attributes).tags == tags


@pytest.mark.parametrize(
    ("attributes", "place"),
    [
        ({"graph.node.id": "n", "graph.node.parent_id": "p"}, ("n", "p", None)),
        (
            {
                "traceloop.association.properties.langgraph_node": "agent",
                "traceloop.association.properties.langgraph_step": "0",
            },
            ("agent", None, 0),
        ),
        (
            {"langsmith.metadata.langgraph_node": "t", "langsmith.metadata.langgraph_step": "3"},
            ("t", None, 3),
        ),
        ({"metadata": '{"langgraph_node": "m", "langgraph_step": 2}'}, ("m", None, 2)),
        ({"metadata": '{"langgraph_step": "soon"}'}, (None, None, None)),
    ],
)
def test_2_3_the_place_in_the_graph_is_read(attributes, place):
    step = read(attributes)
    assert (step.graph_node, step.graph_parent, step.graph_step) == place
