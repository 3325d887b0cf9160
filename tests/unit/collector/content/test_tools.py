"""Names, ids, arguments and results of tool calls, from every key of the table."""

import json
from typing import Any

import pytest

from collector.dialects import content
from collector.dialects.content import unwrap
from gnomon.model import Kind
from tests.unit.collector.content.reading import event, log, named, span

CITY = {"city": "Paris"}


def call(attributes: dict[str, Any], **more: Any) -> content.ToolCall:
    return content.tool_call(span(attributes, **more), Kind.TOOL)


@pytest.mark.parametrize(
    "key",
    [
        "gen_ai.tool.name",
        "tool.name",
        "ai.toolCall.name",
        "haystack.tool.name",
        "tool_name",
        "traceloop.entity.name",
    ],
)
def test_names_come_from_attributes(key: str) -> None:
    assert call({key: "W-get_weather"}).name == "W-get_weather"


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("get_weather", {"langfuse.observation.type": "tool"}),
        ("get_weather", {"mlflow.spanType": '"TOOL"'}),
        ("get_weather", {"langsmith.span.kind": "tool"}),
        ("execute_tool get_weather", {}),
        ("tools/call get_weather", {"mcp.method.name": "tools/call"}),
    ],
)
def test_names_come_from_the_span_where_a_dialect_puts_them(
    name: str, attributes: dict[str, Any]
) -> None:
    assert call(attributes, name=name).name == "get_weather"


def test_a_span_name_of_another_dialect_is_no_tool() -> None:
    assert call({}, name="execute_tool").name is None
    assert call({}, name="running tool").name is None


@pytest.mark.parametrize(
    "key",
    ["gen_ai.tool.call.id", "tool.id", "tool_call.id", "ai.toolCall.id", "tool_use_id"],
)
def test_ids_come_from_attributes(key: str) -> None:
    assert call({key: "c1"}).id == "c1"


@pytest.mark.parametrize(
    "result",
    [
        {"data": {"content": "sunny", "tool_call_id": "c1"}},
        {"output": {"content": "sunny", "tool_call_id": "c1"}},
        {"output": {"lc": 1, "kwargs": {"content": "sunny", "tool_call_id": "c1"}}},
        {"lc": 1, "kwargs": {"content": "sunny", "tool_call_id": "c1"}},
        {"content": "sunny", "tool_call_id": "c1"},
        {"type": "tool", "data": {"content": "sunny", "type": "tool", "tool_call_id": "c1"}},
        {"id": "c1", "name": "w", "response": "sunny"},
        "content='sunny' name='get_weather' tool_call_id='c1'",
        [{"toolResult": {"toolUseId": "c1", "content": [{"text": "sunny"}]}}],
        {"tool_name": "w", "tool_id": "c1", "tool_output": {"blocks": [{"text": "sunny"}], "tool_name": "w"}},
    ],
)  # fmt: skip
def test_ids_and_results_come_out_of_the_envelope(result: Any) -> None:
    found = call({"output.value": result})
    assert found.id == "c1"
    assert found.result == "sunny"


@pytest.mark.parametrize(
    ("result", "inner"),
    [
        ("sunny", "sunny"),
        ('"sunny"', "sunny"),
        ({"output": "sunny"}, "sunny"),
        ({"output": {"status": "ok"}}, '{"status":"ok"}'),
        ({"id": "a", "name": "w", "response": {"status": "ok"}}, '{"status":"ok"}'),
        ({"blocks": [{"text": "a"}, {"text": "b"}], "tool_name": "w", "raw_output": 1}, "a\nb"),
        ([{"text": "sunny"}], "sunny"),
        ([{"type": "text", "text": "sunny"}], "sunny"),
        ({"content": [{"type": "text", "text": "sunny"}], "isError": False}, "sunny"),
        (
            {"content": [{"type": "text", "text": "no"}], "isError": True},
            '{"content": [{"type": "text", "text": "no"}], "isError": true}',
        ),
        ({"role": "tool", "content": "sunny"}, "sunny"),
        ({"stdout": "x", "stderr": ""}, '{"stdout": "x", "stderr": ""}'),
        ([1, 2], "[1, 2]"),
        ("21", "21"),
        ("{not json", "{not json"),
    ],
)
def test_results_are_unwrapped(result: Any, inner: str) -> None:
    assert call({"output.value": result}).result == inner


@pytest.mark.parametrize(
    "key",
    [
        "gen_ai.tool.call.result",
        "tool_response",
        "ai.toolCall.result",
        "gcp.vertex.agent.tool_response",
        "haystack.agent.step.tool.output",
        "anthropic.tool_result.content",
        "mlflow.spanOutputs",
        "langfuse.observation.output",
        "traceloop.entity.output",
        "output.value",
        "gen_ai.completion",
        "mcp.response.value",
    ],
)
def test_results_come_from_attributes(key: str) -> None:
    assert call({key: "sunny"}).result == "sunny"
    assert content.content_captured(span({key: "sunny"}), Kind.TOOL)


@pytest.mark.parametrize(
    "attributes",
    [
        {"error.type": "ValueError"},
        {"gen_ai.tool.status": "error"},
        {"success": "false"},
        {"langfuse.observation.level": "ERROR"},
    ],
)
def test_an_empty_object_is_no_result_of_a_failed_tool(attributes: dict[str, Any]) -> None:
    assert call({"output.value": "{}", **attributes}).result is None


def test_an_empty_object_is_the_result_of_a_tool_that_worked() -> None:
    assert call({"output.value": "{}"}).result == "{}"
    assert call({"output.value": "{}"}, failed=True).result is None


@pytest.mark.parametrize(
    "key",
    [
        "gen_ai.tool.call.arguments",
        "tool_arguments",
        "ai.toolCall.args",
        "gcp.vertex.agent.tool_call_args",
        "haystack.agent.step.tool.input",
        "gen_ai.tool.args",
        "tool.arguments",
        "mlflow.spanInputs",
        "langfuse.observation.input",
        "traceloop.entity.input",
        "input.value",
        "gen_ai.prompt",
        "mcp.request.argument",
        "tool.parameters",
    ],
)
def test_arguments_come_from_attributes(key: str) -> None:
    found = call({key: CITY}).arguments
    assert found is not None
    assert json.loads(found) == CITY


@pytest.mark.parametrize(
    ("words", "inner"),
    [
        ({"args": [], "kwargs": CITY}, CITY),
        ({"args": ["Paris"], "kwargs": {}}, {"arg0": "Paris"}),
        ({"args": ["a", 2], "kwargs": {"c": 3}}, {"arg0": "a", "arg1": 2, "c": 3}),
        ({"args": [], "kwargs": {}}, {}),
        ({"args": [], "sanitize_inputs_outputs": True, "kwargs": CITY}, CITY),
        ({"kwargs": CITY}, CITY),
        ({"inputs": CITY}, CITY),
        ({"input_str": "{'city': 'Paris'}"}, CITY),
        ({"input_str": "Paris"}, "Paris"),
        ({"input_str": "{'city': 'Paris'}", "tags": [], "metadata": {}, "inputs": CITY}, CITY),
        ({"tool_name": "w", "arguments": CITY}, CITY),
        ({"name": "w", "arguments": '{"city": "Paris"}'}, CITY),
        ("{'city': 'Paris', 'deep': None}", {"city": "Paris", "deep": None}),
        ("Paris", "Paris"),
        ('"Paris"', "Paris"),
        ('"{\\"city\\": \\"Paris\\"}"', CITY),
        ("5", 5),
        ("{broken", "{broken"),
        ("__import__('os').getcwd()", "__import__('os').getcwd()"),
        (CITY, CITY),
        ({"kwargs": "text"}, {"kwargs": "text"}),
        ({"inputs": CITY, "city": "x"}, {"inputs": CITY, "city": "x"}),
    ],
)
def test_arguments_are_unwrapped(words: Any, inner: Any) -> None:
    text = words if isinstance(words, str) else json.dumps(words)
    assert unwrap.arguments(text) == inner


@pytest.mark.parametrize(
    ("parameters", "inner"),
    [
        (CITY, CITY),
        ({"type": "object", "properties": {"city": {"type": "string"}}}, None),
        ({"properties": {"city": {}}, "required": ["city"]}, None),
        ({"city": {"type": "string", "description": "name of the city"}}, None),
    ],
)
def test_tool_parameters_are_arguments_unless_they_are_a_schema(
    parameters: Any, inner: Any
) -> None:
    found = call({"tool.parameters": parameters}).arguments
    assert (None if found is None else json.loads(found)) == inner


def test_arguments_come_before_a_schema() -> None:
    found = call({"tool.parameters": {"type": "object"}, "input.value": CITY}).arguments
    assert found == '{"city":"Paris"}'


def test_capture_off_in_adk_is_not_an_empty_call() -> None:
    found = call({"gcp.vertex.agent.tool_call_args": "{}", "gcp.vertex.agent.tool_response": "{}"})
    assert found.arguments is None
    assert found.result is None


def test_haystack_invokers_tell_the_call_in_their_output() -> None:
    messages = [
        {
            "role": "tool",
            "content": [
                {
                    "tool_call_result": {
                        "result": "sunny",
                        "origin": {"tool_name": "w", "arguments": CITY, "id": "c1"},
                        "error": False,
                    }
                }
            ],
        }
    ]
    for key in ("haystack.component.output", "haystack.agent.step.tool.output"):
        found = call({key: {"tool_messages": messages, "state": {}}})
        assert found == content.ToolCall(
            name="w", id="c1", arguments='{"city":"Paris"}', result="sunny"
        )


def test_strands_tells_calls_in_events() -> None:
    step = span(
        {"gen_ai.tool.name": "w"},
        events=[
            event("gen_ai.tool.message", 1, role="tool", content=CITY, id="c1"),
            event("gen_ai.choice", 2, message=[{"text": "sunny"}], id="c1"),
        ],
    )
    found = content.tool_call(step, Kind.TOOL)
    assert found == content.ToolCall(
        name="w", id="c1", arguments='{"city":"Paris"}', result="sunny"
    )


def test_strands_tells_calls_in_messages_of_the_current_conventions() -> None:
    details = "gen_ai.client.inference.operation.details"
    asked = [
        {
            "role": "tool",
            "parts": [{"type": "tool_call", "name": "w", "id": "c1", "arguments": CITY}],
        }
    ]
    told = [
        {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": "c1", "response": [{"text": "sunny"}]}],
        }
    ]
    step = span(
        {"gen_ai.tool.name": "w"},
        events=[
            named(details, {"gen_ai.input.messages": asked}),
            named(details, {"gen_ai.output.messages": told}),
        ],
    )
    found = content.tool_call(step, Kind.TOOL)
    assert found.arguments == '{"city":"Paris"}'
    assert found.result == "sunny"


def test_claude_code_tells_commands_files_and_logs() -> None:
    assert call({"full_command": "ls"}).arguments == '{"command":"ls"}'
    assert call({"file_path": "/a"}).arguments == '{"file_path":"/a"}'
    step = span(
        {"tool_name": "Agent", "tool_use_id": "c1"}, events=[event("tool.output", output="done")]
    )
    record = log("tool_result", span_id="b", tool_use_id="c1", tool_input={"prompt": "do"})
    stranger = log("tool_result", span_id="b", tool_use_id="c2", tool_input={"prompt": "no"})
    found = content.tool_call(step, Kind.TOOL, [stranger, record])
    assert found.arguments == '{"prompt":"do"}'
    assert found.result == "done"
    assert content.tool_call(step, Kind.TOOL).arguments is None


def test_placeholders_are_not_found() -> None:
    found = call(
        {
            "gen_ai.tool.name": "unknown",
            "tool.name": "w",
            "gen_ai.tool.call.arguments": "None",
            "input.value": CITY,
            "gen_ai.tool.call.result": "null",
            "output.value": "sunny",
        }
    )
    assert (found.name, found.arguments, found.result) == ("w", '{"city":"Paris"}', "sunny")


def test_only_tools_have_tool_calls() -> None:
    attributes = {"gen_ai.tool.name": "w", "input.value": CITY, "tool_use_id": "c1"}
    assert content.tool_call(span(attributes), Kind.LLM) == content.ToolCall()
    human = content.tool_call(span(attributes), Kind.HUMAN)
    assert human == content.ToolCall(name="w", id="c1")


def test_types_are_kept() -> None:
    assert call({"gen_ai.tool.type": "function"}).type == "function"
