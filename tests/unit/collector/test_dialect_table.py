"""Each field is filled by the keys of the specification, in its order; the first found wins."""

import json

import pytest

from tests.spans import START, make_event, make_span, read, step_of

CHAT = {"gen_ai.operation.name": "chat"}
EMBED = {"gen_ai.operation.name": "embeddings"}
AGENT = {"gen_ai.operation.name": "invoke_agent"}

ASSOCIATION = "traceloop.association.properties"

TEXTS = [
    # 2.3
    (
        "agent_name",
        AGENT,
        [
            "gen_ai.agent.name",
            "agent.name",
            "agent_name",
            "crewai.agent.role",
            "langsmith.metadata.lc_agent_name",
            f"{ASSOCIATION}.lc_agent_name",
            "traceloop.entity.name",
            "gen_ai.main_agent.name",
        ],
    ),
    ("agent_id", AGENT, ["gen_ai.agent.id", "agno.agent.id", "crewai.agent.id"]),
    ("agent_version", AGENT, ["gen_ai.agent.version", "openlit.agent.version_hash"]),
    (
        "workflow_name",
        {},
        [
            "gen_ai.workflow.name",
            "traceloop.workflow.name",
            "crewai.crew.name",
            "langfuse.trace.name",
            "langsmith.trace.name",
            "ai.telemetry.functionId",
        ],
    ),
    # 2.4
    (
        "conversation_id",
        {},
        [
            "gen_ai.conversation.id",
            "session.id",
            "langfuse.session.id",
            f"{ASSOCIATION}.session_id",
            f"{ASSOCIATION}.thread_id",
            f"{ASSOCIATION}.conversation_id",
            "ai.telemetry.metadata.sessionId",
            "langsmith.metadata.session_id",
            "langsmith.metadata.thread_id",
            "langsmith.metadata.conversation_id",
            "gcp.vertex.agent.session_id",
            "mlflow.trace.session",
        ],
    ),
    (
        "user_id",
        {},
        [
            "user.id",
            "enduser.id",
            "enduser.pseudo.id",
            "langfuse.user.id",
            "gen_ai.user",
            "llm.user",
            "gen_ai.request.user",
            f"{ASSOCIATION}.user_id",
            "ai.telemetry.metadata.userId",
            "langsmith.metadata.user_id",
            "mlflow.trace.user",
            "metadata.user_api_key_user_id",
            "metadata.user_api_key_end_user_id",
        ],
    ),
    (
        "environment",
        {},
        ["deployment.environment.name", "deployment.environment", "langfuse.environment"],
    ),
    # 2.5
    (
        "provider",
        CHAT,
        [
            "gen_ai.provider.name",
            "gen_ai.system",
            "llm.provider",
            "llm.system",
            "ai.model.provider",
            "langsmith.metadata.ls_provider",
            f"{ASSOCIATION}.ls_provider",
            "mlflow.llm.provider",
            "error.llm_provider",
        ],
    ),
    ("request_model", CHAT, ["gen_ai.request.model", "llm.request.model_name"]),
    (
        "request_model",
        CHAT,
        [
            "gen_ai.request.model",
            "ai.model.id",
            "model",
            "langsmith.metadata.ls_model_name",
            "model_name",
            "crewai.agent.llm",
        ],
    ),
    (
        "response_model",
        CHAT,
        ["gen_ai.response.model", "llm.response.model_name", "ai.response.model"],
    ),
    ("response_id", CHAT, ["gen_ai.response.id", "ai.response.id"]),
    (
        "service_tier",
        CHAT,
        [
            "openai.response.service_tier",
            "gen_ai.openai.response.service_tier",
            "anthropic.response.service_tier",
        ],
    ),
    # 2.7
    (
        "prompt_name",
        CHAT,
        [
            "gen_ai.prompt.name",
            "langfuse.observation.prompt.name",
            "traceloop.prompt.key",
            "prompt.id",
        ],
    ),
    (
        "prompt_version",
        CHAT,
        [
            "gen_ai.prompt.version",
            "llm.prompt_template.version",
            "traceloop.prompt.version",
            "langfuse.observation.prompt.version",
        ],
    ),
    # 2.9
    (
        "finish_reason_raw",
        CHAT,
        [
            "gen_ai.response.finish_reasons",
            "gen_ai.response.finish_reason",
            "llm.finish_reason",
            "ai.response.finishReason",
            "gen_ai.completion.0.finish_reason",
            "anthropic.message.stop_reason",
            "stop_reason",
            "gen_ai.response.stop_reason",
        ],
    ),
]

COUNTS = [
    (
        "input_tokens",
        [
            "gen_ai.usage.input_tokens",
            "gen_ai.usage.prompt_tokens",
            "llm.token_count.prompt",
            "llm.usage.prompt_tokens",
            "ai.usage.inputTokens",
            "ai.usage.promptTokens",
        ],
    ),
    (
        "output_tokens",
        [
            "gen_ai.usage.output_tokens",
            "gen_ai.usage.completion_tokens",
            "llm.token_count.completion",
            "llm.usage.completion_tokens",
            "ai.usage.outputTokens",
            "ai.usage.completionTokens",
        ],
    ),
    (
        "cached_tokens",
        [
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.details.cache_read_tokens",
            "gen_ai.usage.details.cached_tokens",
            "llm.token_count.prompt_details.cache_read",
            "llm.token_count.prompt_details.cache_input",
            "ai.usage.cachedInputTokens",
            "ai.usage.inputTokenDetails.cacheReadTokens",
            "cache_read_tokens",
        ],
    ),
    (
        "cache_write_tokens",
        [
            "gen_ai.usage.cache_write.input_tokens",
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "gen_ai.usage.cache_write_input_tokens",
            "gen_ai.usage.details.cache_write_tokens",
            "llm.token_count.prompt_details.cache_write",
            "ai.usage.inputTokenDetails.cacheWriteTokens",
            "cache_creation_tokens",
        ],
    ),
    (
        "reasoning_tokens",
        [
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "llm.usage.reasoning_tokens",
            "gen_ai.usage.details.reasoning_tokens",
            "llm.token_count.completion_details.reasoning",
            "ai.usage.reasoningTokens",
            "ai.usage.outputTokenDetails.reasoningTokens",
        ],
    ),
]


@pytest.mark.parametrize(("field", "base", "keys"), TEXTS)
def test_text_fields_follow_the_order_of_their_keys(field, base, keys):
    for first in range(len(keys)):
        attributes = dict(base)
        for place in reversed(range(first, len(keys))):
            attributes[keys[place]] = f"value{place}"
        assert getattr(read(attributes), field) == f"value{first}", keys[first]


@pytest.mark.parametrize(("field", "keys"), COUNTS)
def test_token_fields_follow_the_order_of_their_keys(field, keys):
    enough = {} if field == "input_tokens" else {"gen_ai.usage.input_tokens": 9000}
    for first in range(len(keys)):
        attributes = CHAT | enough
        for place in reversed(range(first, len(keys))):
            attributes[keys[place]] = 100 + place
        assert getattr(read(attributes), field) == 100 + first, keys[first]


@pytest.mark.parametrize("nothing", ["", "[]", "unknown", "<synthetic>", "<not specified>", "None"])
def test_a_placeholder_gives_way_to_the_next_key(nothing):
    step = read({"gen_ai.request.model": nothing, "llm.request.model_name": "m", **CHAT})
    assert step.request_model == "m"


def obj(**values):
    return json.dumps(values)


INSIDE = [
    ("request_model", CHAT, "llm.invocation_parameters", obj(model="m"), "m"),
    ("request_model", CHAT, "input.value", obj(model="m", messages=[]), "m"),
    ("request_model", CHAT, "mlflow.spanInputs", obj(model="m"), "m"),
    ("request_model", CHAT, "model", '"m"', "m"),
    ("conversation_id", {}, "metadata", obj(session_id="s"), "s"),
    ("conversation_id", {}, "metadata", obj(thread_id="t"), "t"),
    ("conversation_id", {}, "mlflow.trace.session", '"s"', "s"),
    ("user_id", {}, "mlflow.trace.user", '"u"', "u"),
    ("input_tokens", CHAT, "langfuse.observation.usage_details", obj(input=7), 7),
    ("input_tokens", CHAT, "langfuse.observation.usage_details", obj(prompt_tokens=7), 7),
    ("input_tokens", CHAT, "langfuse.observation.usage_details", obj(input_tokens=7), 7),
    ("input_tokens", CHAT, "mlflow.chat.tokenUsage", obj(input_tokens=7), 7),
    ("input_tokens", CHAT, "langsmith.metadata.usage_metadata", obj(input_tokens=7), 7),
    ("input_tokens", EMBED, "ai.usage.tokens", "7", 7),
    ("output_tokens", CHAT, "langfuse.observation.usage_details", obj(output=7), 7),
    ("output_tokens", CHAT, "langfuse.observation.usage_details", obj(completion_tokens=7), 7),
    ("output_tokens", CHAT, "langfuse.observation.usage_details", obj(output_tokens=7), 7),
    ("output_tokens", CHAT, "mlflow.chat.tokenUsage", obj(output_tokens=7), 7),
    ("output_tokens", CHAT, "langsmith.metadata.usage_metadata", obj(output_tokens=7), 7),
    ("cached_tokens", CHAT, "langfuse.observation.usage_details", obj(input_cached_tokens=7), 7),
    (
        "cached_tokens",
        CHAT,
        "langfuse.observation.usage_details",
        obj(cache_read_input_tokens=7),
        7,
    ),
    (
        "cached_tokens",
        CHAT,
        "langfuse.observation.usage_details",
        json.dumps({"prompt_tokens_details.cached_tokens": 7}),
        7,
    ),
    ("cached_tokens", CHAT, "mlflow.chat.tokenUsage", obj(cache_read_input_tokens=7), 7),
    (
        "cached_tokens",
        CHAT,
        "langsmith.metadata.usage_metadata",
        obj(input_token_details={"cache_read": 7}),
        7,
    ),
    (
        "reasoning_tokens",
        CHAT,
        "langfuse.observation.usage_details",
        obj(output_reasoning_tokens=7),
        7,
    ),
    (
        "reasoning_tokens",
        CHAT,
        "langsmith.metadata.usage_metadata",
        obj(output_token_details={"reasoning": 7}),
        7,
    ),
    ("cost_reported_usd", CHAT, "gen_ai.usage.cost", "0.25", 0.25),
    ("cost_reported_usd", CHAT, "gen_ai.usage.cost", "0", None),
    ("cost_reported_usd", CHAT, "operation.cost", "0.25", 0.25),
    ("cost_reported_usd", CHAT, "operation.cost", "0", 0.0),
    ("cost_reported_usd", CHAT, "llm.cost.total", "0.25", 0.25),
    ("cost_reported_usd", CHAT, "gen_ai.cost.total_cost", "0.25", 0.25),
    ("cost_reported_usd", CHAT, "langfuse.observation.cost_details", obj(total=0.25), 0.25),
    ("cost_reported_usd", CHAT, "mlflow.llm.cost", obj(total_cost=0.25), 0.25),
    ("ttft_ns", CHAT, "gen_ai.response.time_to_first_chunk", "0.5", 500_000_000),
    ("ttft_ns", CHAT, "gen_ai.client.operation.time_to_first_chunk", "0.5", 500_000_000),
    ("ttft_ns", CHAT, "gen_ai.server.time_to_first_token", "0.5", 500_000_000),
    ("ttft_ns", CHAT, "gen_ai.server.time_to_first_token", "2", 2_000_000_000),
    ("ttft_ns", CHAT, "ai.response.msToFirstChunk", "66.5", 66_500_000),
    ("ttft_ns", CHAT, "ttft_ms", "11", 11_000_000),
    ("streamed", CHAT, "gen_ai.request.stream", "true", True),
    ("streamed", CHAT, "gen_ai.is_streaming", "False", False),
    ("streamed", CHAT, "llm.is_streaming", '"True"', True),
    ("request_params", CHAT, "llm.invocation_parameters", obj(top_p=1), '{"top_p":1}'),
    ("request_params", CHAT, "ai.settings.maxRetries", "2", '{"maxRetries":2}'),
    (
        "request_params",
        CHAT,
        "langfuse.observation.model.parameters",
        obj(temperature=0),
        '{"temperature":0}',
    ),
]


@pytest.mark.parametrize(("field", "base", "key", "text", "value"), INSIDE)
def test_values_inside_attributes_are_read(field, base, key, text, value):
    assert getattr(read({**base, key: text}), field) == value


def test_request_parameters_keep_their_types():
    step = read(
        {
            **CHAT,
            "gen_ai.request.temperature": "0.2",
            "gen_ai.request.max_tokens": "0",
            "gen_ai.request.stop_sequences": '["a"]',
            "gen_ai.request.model": "m",
        }
    )
    assert json.loads(step.request_params) == {
        "temperature": 0.2,
        "max_tokens": 0,
        "stop_sequences": ["a"],
    }


def test_strands_tells_the_time_to_first_token_in_whole_milliseconds():
    told = {**CHAT, "gen_ai.server.time_to_first_token": "500"}
    assert read(told, scope_name="strands.telemetry.tracer").ttft_ns == 500_000_000


def test_a_time_stamp_becomes_time_to_first_token():
    step = read(
        {**CHAT, "langfuse.observation.completion_start_time": '"2025-06-15T15:06:40.250Z"'}
    )
    assert START == 1_750_000_000 * 1_000_000_000
    assert step.ttft_ns == 250_000_000


def test_a_first_token_event_tells_the_time_to_first_token():
    step = read(CHAT, events=[make_event("First Token Stream Event", 0.5)])
    assert step.ttft_ns == 500_000_000


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("openai", "openai"),
        ("OpenAI", "openai"),
        ("Anthropic", "anthropic"),
        ("vertex_ai", "gcp.vertex_ai"),
        ("gemini", "gcp.gemini"),
        ("google", "gcp.gen_ai"),
        ("az.ai.inference", "azure.ai.inference"),
        ("az.ai.openai", "azure.ai.openai"),
        ("azure", "azure.ai.openai"),
        ("xai", "x_ai"),
        ("mistralai", "mistral_ai"),
        ("aws", "aws.bedrock"),
        ("gcp.gemini", "gcp.gemini"),
        ("strands-agents", None),
        ("langchain", None),
        ("langgraph", None),
        ("crewai", None),
        ("autogen", None),
        ("microsoft.agent_framework", None),
        ("gcp.vertex.agent", None),
        ("spring_ai", None),
        ("haystack", None),
        ("genericfakechatmodel", None),
    ],
)
def test_m2_m3_providers_have_one_spelling_and_frameworks_are_none(sent, name):
    assert read({**CHAT, "gen_ai.provider.name": sent}).provider == name


def test_m3_a_framework_gives_way_to_the_provider_named_later():
    step = read({**CHAT, "gen_ai.system": "langchain", "langsmith.metadata.ls_provider": "openai"})
    assert step.provider == "openai"


def test_m3_a_vector_store_is_no_provider():
    kind = {"gen_ai.operation.name": "retrieval"}
    assert read({**kind, "gen_ai.provider.name": "InMemoryVectorStore"}).provider is None
    assert read({**kind, "gen_ai.provider.name": "openai"}).provider == "openai"


@pytest.mark.parametrize("sent", ["openai.chat", "openai.responses", "openai.embedding"])
def test_m1_vercel_names_are_cut_at_the_first_dot(sent):
    assert (
        read({"ai.operationId": "ai.x.doGenerate", "ai.model.provider": sent}).provider == "openai"
    )
    assert read({**CHAT, "gen_ai.system": sent}, scope_name="ai").provider == "openai"


def test_m6_the_undirected_name_fills_the_model_only():
    step = read({**CHAT, "llm.model_name": "m-2025-01-01", "gen_ai.request.model": "m"})
    assert (step.request_model, step.response_model, step.model) == ("m", None, "m-2025-01-01")


def test_m6_on_a_failed_call_the_undirected_name_is_the_requested_one():
    step = read({**CHAT, "llm.model_name": "m"}, status_code="Error")
    assert (step.request_model, step.response_model, step.model) == ("m", None, "m")


def test_m7_a_failed_call_has_no_answer():
    step = read(
        {**CHAT, "gen_ai.response.model": "m", "gen_ai.response.id": "x"}, status_code="Error"
    )
    assert (step.response_model, step.response_id) == (None, None)


OPENAI = {
    "id": "chatcmpl-1",
    "model": "m-2025-01-01",
    "choices": [{"finish_reason": "tool_calls"}],
    "usage": {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 30},
        "completion_tokens_details": {"reasoning_tokens": 5},
    },
}


@pytest.mark.parametrize("key", ["output.value", "gen_ai.completion", "mlflow.spanOutputs"])
def test_m8_the_answer_in_a_body_is_read(key):
    step = read({**CHAT, key: json.dumps(OPENAI)})
    assert (step.response_id, step.response_model) == ("chatcmpl-1", "m-2025-01-01")
    assert (step.input_tokens, step.output_tokens) == (100, 20)
    assert (step.cached_tokens, step.reasoning_tokens) == (30, 5)
    assert (step.finish_reason_raw, step.finish_reason) == ("tool_calls", "tool_call")


def test_m8_a_body_is_no_evidence_on_other_kinds():
    step = read({"openinference.span.kind": "CHAIN", "output.value": json.dumps(OPENAI)})
    assert (step.response_id, step.input_tokens, step.aggregate_usage) == (None, None, {})


def test_m8_haystack_and_langchain_wrap_the_answer():
    haystack = {
        "replies": [
            {
                "meta": {
                    "model": "m",
                    "finish_reason": "stop",
                    "usage": {"prompt_tokens": 3, "completion_tokens": 4},
                }
            }
        ]
    }
    step = read({**CHAT, "haystack.component.output": json.dumps(haystack)})
    assert (step.response_model, step.input_tokens, step.finish_reason) == ("m", 3, "stop")
    meta = {"id": "chatcmpl-9", "model_name": "m", "finish_reason": "length"}
    langchain = {"generations": [[{"message": {"kwargs": {"response_metadata": meta}}}]]}
    step = read({**CHAT, "gen_ai.completion": json.dumps(langchain)})
    assert (step.response_id, step.response_model) == ("chatcmpl-9", "m")
    assert step.finish_reason == "length"


@pytest.mark.parametrize(
    ("identifier", "kept"),
    [
        ("chatcmpl-1", True),
        ("cmpl-1", True),
        ("resp_1", True),
        ("msg_1", True),
        ("lc_run--1", False),
        ("gem-2", False),
    ],
)
def test_m9_only_ids_of_providers_are_taken_from_bodies(identifier, kept):
    step = read({**CHAT, "output.value": json.dumps({"id": identifier, "model": "m"})})
    assert step.response_id == (identifier if kept else None)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("tool_calls", "tool_call"),
        ("tool_call", "tool_call"),
        ("tool_use", "tool_call"),
        ("tool-calls", "tool_call"),
        ("TOOL_CALLS", "tool_call"),
        ("FinishReason.TOOL_CALLS", "tool_call"),
        ('["tool_calls"]', "tool_call"),
        ("stop", "stop"),
        ("end_turn", "stop"),
        ("STOP", "stop"),
        ("stop_sequence", "stop"),
        ("completed", "stop"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("content_filter", "content_filter"),
        ("content-filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("refusal", "content_filter"),
        ("error", "error"),
        ("something_new", "something_new"),
        ('["stop","stop"]', "stop"),
        ('["stop","length"]', '["stop","length"]'),
    ],
)
def test_finish_reasons_have_common_words(raw, reason):
    assert read({**CHAT, "gen_ai.response.finish_reasons": raw}).finish_reason == reason


def test_the_finish_reason_is_found_in_messages_and_events():
    messages = json.dumps([{"role": "assistant", "parts": [], "finish_reason": "end_turn"}])
    step = read({**CHAT, "gen_ai.output.messages": messages})
    assert (step.finish_reason_raw, step.finish_reason) == ("end_turn", "stop")
    details = make_event(
        "gen_ai.client.inference.operation.details", gen_ai__output__messages=messages
    )
    assert read(CHAT, events=[details]).finish_reason == "stop"
    step = read(CHAT, events=[make_event("gen_ai.choice", finish_reason="tool_use")])
    assert (step.finish_reason_raw, step.finish_reason) == ("tool_use", "tool_call")


def test_claude_code_names_the_conversation_by_its_session():
    attributes = {"session.id": "s", "gen_ai.conversation.id": "agent-7"}
    claude = read(attributes, scope_name="com.anthropic.claude_code.tracing")
    assert claude.conversation_id == "s"
    assert read(attributes).conversation_id == "agent-7"


def test_langsmiths_project_is_no_conversation():
    step = read({"langsmith.trace.session_id": "p", "langsmith.trace.session_name": "project"})
    assert step.conversation_id is None


def test_the_resource_fills_what_the_span_does_not_say():
    span = make_span(
        resource={
            "deployment.environment.name": "test",
            "service.name": "desk",
            "service.version": "7",
            "session.id": "s",
        }
    )
    step = step_of(span)
    assert (step.environment, step.service_name, step.service_version) == ("test", "desk", "7")
    assert (step.agent_version, step.conversation_id) == ("7", "s")


@pytest.mark.parametrize(
    ("attributes", "changes", "name"),
    [
        ({"langfuse.observation.type": "agent"}, {"name": "triage"}, "triage"),
        ({"mlflow.spanType": '"AGENT"'}, {"name": "triage"}, "triage"),
        ({"openinference.span.kind": "AGENT"}, {"name": "triage.run"}, "triage"),
        ({"openinference.span.kind": "AGENT"}, {"name": "triage.invoke"}, "triage"),
        ({"openinference.span.kind": "AGENT"}, {"name": "triage._execute_core"}, "triage"),
        ({"openinference.span.kind": "AGENT"}, {"name": "crew.kickoff"}, "crew"),
        ({"openinference.span.kind": "AGENT", "graph.node.id": "g"}, {"name": "x"}, "g"),
        ({"openinference.span.kind": "AGENT"}, {"name": "ClaudeAgentSDK.query"}, None),
        ({"openinference.span.kind": "CHAIN"}, {"name": "triage.run"}, None),
        ({"traceloop.span.kind": "tool", "traceloop.entity.name": "t"}, {}, None),
    ],
)
def test_n6_n7_n8_an_agents_span_may_bear_its_name(attributes, changes, name):
    assert read(attributes, **changes).agent_name == name


@pytest.mark.parametrize(
    ("attributes", "changes", "ends"),
    [
        (
            {
                "gen_ai.operation.name": "handoff",
                "gen_ai.handoff.from_agent": "A",
                "gen_ai.handoff.to_agent": "B",
            },
            {},
            ("A", "B"),
        ),
        (
            {"openinference.span.kind": "TOOL", "input.value": "A", "output.value": "B"},
            {"scope_name": "openinference.instrumentation.openai_agents", "name": "handoff to B"},
            ("A", "B"),
        ),
        (
            {"openinference.span.kind": "TOOL", "llm.system": "openai"},
            {"scope_name": "openinference.instrumentation.openai_agents", "name": "handoff to B"},
            (None, "B"),
        ),
        ({"traceloop.span.kind": "handoff"}, {"name": "A → B.handoff"}, ("A", "B")),
    ],
)
def test_hand_offs_name_giver_and_taker(attributes, changes, ends):
    step = read(attributes, **changes)
    assert (step.handoff_from, step.handoff_to) == ends


def test_an_origin_of_the_resource_or_the_span_is_kept():
    assert read({"gnomon.origin": "shadow"}).origin == "shadow"
    assert step_of(make_span(resource={"gnomon.origin": "replay"})).origin == "replay"
    assert read({"gnomon.origin": "elsewhere"}).origin == "production"
    assert read({}).origin == "production"


def test_decisions_of_people_and_settings_are_kept():
    step = read(
        {"span.type": "tool.blocked_on_user", "decision": "reject", "source": "user_reject"},
        scope_name="com.anthropic.claude_code.tracing",
    )
    assert (step.kind, step.decision, step.decision_source) == ("human", "reject", "user_reject")
    assert read({**CHAT, "decision": "x", "source": "y"}).decision is None
