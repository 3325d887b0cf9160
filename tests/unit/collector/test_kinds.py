"""The kind of a step comes from the most specific vendor key: rules K1 to K22, row by row."""

import pytest

from tests.spans import make_event, read

AGENTS_SDK = "openinference.instrumentation.openai_agents"
CLAUDE_CODE = {"scope_name": "com.anthropic.claude_code.tracing"}
OI = "openinference.span.kind"
OPERATION = "gen_ai.operation.name"
OPENLLMETRY = {"scope_name": "opentelemetry.instrumentation.openai.v1", "name": "openai.response"}
UNNAMED = {"gen_ai.system": "openai", "gen_ai.request.model": "m", "llm.is_streaming": "false"}

KINDS = [
    # K1, K2
    ({OI: "AGENT"}, {"scope_name": AGENTS_SDK}, "workflow"),
    ({OI: "AGENT", "agent.name": "a"}, {"scope_name": AGENTS_SDK}, "agent"),
    ({OI: "AGENT", "llm.system": "openai"}, {"scope_name": AGENTS_SDK, "name": "Weather"}, "agent"),
    ({OI: "AGENT", "graph.node.id": "Weather"}, {"scope_name": AGENTS_SDK}, "agent"),
    ({OI: "AGENT"}, {"scope_name": "openinference.instrumentation.agno"}, "agent"),
    ({OI: "TOOL"}, {"scope_name": AGENTS_SDK, "name": "handoff to B"}, "handoff"),
    ({OI: "TOOL"}, {"scope_name": AGENTS_SDK, "name": "get_weather"}, "tool"),
    # K3
    *(
        ({"langfuse.observation.type": value, OI: "LLM"}, {}, kind)
        for value, kind in {
            "agent": "agent",
            "generation": "llm",
            "embedding": "embedding",
            "tool": "tool",
            "retriever": "retrieval",
            "guardrail": "guardrail",
            "evaluator": "evaluation",
            "chain": "chain",
            "span": "chain",
            "event": "other",
        }.items()
    ),
    # K4
    *(
        ({OI: value, "mlflow.spanType": '"TOOL"', OPERATION: "chat"}, {}, kind)
        for value, kind in {
            "LLM": "llm",
            "llm": "llm",
            "DECISION": "llm",
            "TOOL": "tool",
            "AGENT": "agent",
            "RETRIEVER": "retrieval",
            "RERANKER": "retrieval",
            "EMBEDDING": "embedding",
            "GUARDRAIL": "guardrail",
            "EVALUATOR": "evaluation",
            "CHAIN": "chain",
            "PROMPT": "chain",
            "UNKNOWN": "other",
        }.items()
    ),
    # K4a
    ({OI: "LLM", "llm.model_name": "m"}, {"name": "OpenAI._prepare_chat_with_tools"}, "chain"),
    ({OI: "LLM", "llm.token_count.prompt": 3}, {"name": "OpenAI._prepare_chat"}, "llm"),
    ({OI: "LLM", "llm.finish_reason": "stop"}, {"name": "OpenAI._prepare_chat"}, "llm"),
    ({OI: "LLM"}, {"name": "OpenAI.achat"}, "llm"),
    # K5
    *(
        ({"mlflow.spanType": f'"{value}"', OPERATION: "chat"}, {}, kind)
        for value, kind in {
            "LLM": "llm",
            "CHAT_MODEL": "llm",
            "AGENT": "agent",
            "TOOL": "tool",
            "RETRIEVER": "retrieval",
            "RERANKER": "retrieval",
            "EMBEDDING": "embedding",
            "CHAIN": "chain",
            "PARSER": "chain",
            "WORKFLOW": "workflow",
            "GUARDRAIL": "guardrail",
            "EVALUATOR": "evaluation",
            "MEMORY": "other",
            "UNKNOWN": "other",
        }.items()
    ),
    # K6
    ({"langsmith.span.kind": "llm"}, {}, "llm"),
    ({"langsmith.span.kind": "tool"}, {}, "tool"),
    ({"langsmith.span.kind": "retriever", OPERATION: "embeddings"}, {}, "retrieval"),
    ({"langsmith.span.kind": "embedding"}, {}, "embedding"),
    ({"langsmith.span.kind": "prompt", OPERATION: "chat"}, {}, "chain"),
    ({"langsmith.span.kind": "parser"}, {}, "chain"),
    # K7
    ({OPERATION: "retrieval", "traceloop.span.kind": "tool"}, {}, "retrieval"),
    ({OPERATION: "vector_db_retrieve", "traceloop.span.kind": "task"}, {}, "retrieval"),
    ({OPERATION: "RETRIEVER"}, {}, "retrieval"),
    # K8
    ({"traceloop.span.kind": "workflow", OPERATION: "invoke_agent"}, {}, "workflow"),
    ({"traceloop.span.kind": "agent"}, {}, "agent"),
    ({"traceloop.span.kind": "tool"}, {}, "tool"),
    ({"traceloop.span.kind": "handoff"}, {}, "handoff"),
    ({"traceloop.span.kind": "task"}, {}, "chain"),
    ({"traceloop.span.kind": "task", "tool.name": "t", "tool.arguments": "{}"}, {}, "tool"),
    ({"traceloop.span.kind": "task", "tool.name": "t"}, {}, "chain"),
    ({"traceloop.span.kind": "unknown", OPERATION: "chat"}, {}, "llm"),
    # K9
    ({OPERATION: "invoke_agent"}, {"name": "crewai.workflow"}, "workflow"),
    # K10
    ({"span.type": "interaction"}, CLAUDE_CODE, "agent"),
    ({"span.type": "llm_request"}, CLAUDE_CODE, "llm"),
    ({"span.type": "tool"}, CLAUDE_CODE, "tool"),
    ({"span.type": "tool.execution", OPERATION: "execute_tool"}, CLAUDE_CODE, "other"),
    ({"span.type": "tool.blocked_on_user", "source": "user_permanent"}, CLAUDE_CODE, "human"),
    ({"span.type": "tool.blocked_on_user", "source": "config"}, CLAUDE_CODE, "other"),
    ({"span.type": "tool.blocked_on_user", "source": "hook"}, CLAUDE_CODE, "other"),
    ({"span.type": "hook"}, CLAUDE_CODE, "other"),
    ({"span.type": "web", OPERATION: "chat"}, CLAUDE_CODE, "llm"),
    ({"span.type": "tool", OPERATION: "chat"}, {}, "llm"),
    ({"span.type": "tool"}, {"scope_name": "my-app"}, "other"),
    # K11
    *(
        ({OPERATION: value, "llm.request.type": "embedding"}, {}, kind)
        for value, kind in {
            "chat": "llm",
            "text_completion": "llm",
            "generate_content": "llm",
            "embeddings": "embedding",
            "execute_tool": "tool",
            "invoke_agent": "agent",
            "invoke_workflow": "workflow",
            "invoke_graph": "workflow",
            "invoke_swarm": "workflow",
            "search_memory": "retrieval",
            "plan": "chain",
            "agent_step": "chain",
            "execute_event_loop_cycle": "chain",
            "execute_task": "chain",
            "handoff": "handoff",
            "create_agent": "other",
            "fetch_response": "other",
            "create_memory": "other",
            "update_memory_store": "other",
            "upsert_memory": "other",
            "delete_memory_store": "other",
            "CHAT_MODEL": "llm",
            "GUARDRAIL": "guardrail",
            "chat.completions": "llm",
        }.items()
    ),
    # K12
    ({"ai.operationId": "ai.generateText.doGenerate"}, {}, "llm"),
    ({"ai.operationId": "ai.streamText.doStream"}, {}, "llm"),
    ({"ai.operationId": "ai.embedMany.doEmbed"}, {}, "embedding"),
    ({"ai.operationId": "ai.toolCall"}, {}, "tool"),
    ({"ai.operationId": "ai.rerank.doRerank"}, {}, "retrieval"),
    ({"ai.operationId": "ai.generateText"}, {}, "workflow"),
    ({"ai.operationId": "ai.embed"}, {}, "workflow"),
    # K13
    ({"llm.request.type": "chat"}, {}, "llm"),
    ({"llm.request.type": "completion"}, {}, "llm"),
    ({"llm.request.type": "embedding"}, {}, "embedding"),
    ({"llm.request.type": "rerank"}, {}, "retrieval"),
    # K14
    ({"mcp.method.name": "tools/call", "gen_ai.tool.name": "t"}, {}, "tool"),
    ({"mcp.method.name": "tools/call"}, {}, "other"),
    ({"mcp.method.name": "tools/list"}, {}, "other"),
    ({}, {"name": "MCP send tools/call"}, "other"),
    # K15
    ({}, {"name": "haystack.agent.run"}, "agent"),
    ({}, {"name": "haystack.pipeline.run"}, "workflow"),
    ({}, {"name": "haystack.async_pipeline.run"}, "workflow"),
    ({}, {"name": "haystack.agent.step.llm"}, "llm"),
    ({}, {"name": "haystack.agent.step.tool"}, "tool"),
    ({}, {"name": "haystack.agent.step"}, "chain"),
    *(
        ({"haystack.component.type": value}, {"name": "haystack.component.run"}, kind)
        for value, kind in {
            "OpenAIChatGenerator": "llm",
            "InMemoryBM25Retriever": "retrieval",
            "LLMRanker": "retrieval",
            "OpenAITextEmbedder": "embedding",
            "ToolInvoker": "tool",
            "Agent": "agent",
            "PromptBuilder": "chain",
        }.items()
    ),
    # K16
    *(
        (attributes, {"scope_name": "pydantic-ai", "name": name}, kind)
        for attributes, name, kind in [
            ({}, "agent run", "agent"),
            ({"all_messages_events": "[]"}, "my agent", "agent"),
            ({"agent_name": "a"}, "invoke_agent a", "agent"),
            ({}, "running tool", "tool"),
            ({}, "running tool: get_weather", "tool"),
            ({}, "running output function", "tool"),
            ({}, "running tools", "chain"),
            ({}, "running 2 tools", "other"),
        ]
    ),
    ({}, {"name": "agent run"}, "other"),
    # K17
    *(
        (attributes, {"scope_name": "gcp.vertex.agent", "name": name}, kind)
        for attributes, name, kind in [
            ({}, "call_llm", "llm"),
            ({"gcp.vertex.agent.llm_request": "{}", "gen_ai.request.model": "m"}, "x", "llm"),
            ({"gcp.vertex.agent.llm_request": "{}"}, "x", "other"),
            ({}, "execute_tool get_weather", "tool"),
            ({}, "invocation", "workflow"),
        ]
    ),
    # K18
    ({}, {"name": "AutoFunctionInvocationLoop"}, "chain"),
    # K19
    ({"db.system": "chroma", "db.vector.query.top_k": 3}, {}, "retrieval"),
    ({"db.system.name": "qdrant", "db.vector.query.top_k": 3}, {}, "retrieval"),
    ({"db.system": "postgresql"}, {}, "other"),
    ({}, {"events": [make_event("db.query.result")]}, "retrieval"),
    # K21
    ({}, {"name": "raw_gen_ai_request"}, "other"),
    ({}, {"name": "autogen send a"}, "other"),
    ({"http.request.method": "POST"}, {"kind": "Client"}, "other"),
    # K22
    (UNNAMED, OPENLLMETRY, "llm"),
    ({**UNNAMED, OPERATION: "something"}, OPENLLMETRY, "other"),
    ({**UNNAMED, "gen_ai.agent.name": "a"}, OPENLLMETRY, "other"),
    ({**UNNAMED, "gen_ai.system": "langchain"}, OPENLLMETRY, "other"),
    (UNNAMED, {"scope_name": "com.anthropic.sdk.python"}, "other"),
]


@pytest.mark.parametrize(("attributes", "changes", "kind"), KINDS)
def test_the_first_matching_rule_decides_the_kind(attributes, changes, kind):
    assert read(attributes, **changes).kind == kind


def test_k20_a_guardrail_of_the_gateway_is_no_step_of_its_own():
    step = read({OPERATION: "chat", "metadata.applied_guardrails": '["pii"]'})
    assert step.kind == "llm"


@pytest.mark.parametrize(
    ("scope", "attributes", "dialect"),
    [
        ("openinference.instrumentation.langchain", {}, "openinference"),
        ("my-app", {OI: "LLM"}, "openinference"),
        ("gcp.vertex.agent", {OI: "LLM"}, "openinference"),
        ("opentelemetry.instrumentation.openai.v1", {"gen_ai.system": "openai"}, "openllmetry"),
        ("opentelemetry.instrumentation.crewai.instrumentation", {"llm.x": 1}, "openllmetry"),
        ("traceloop.tracer", {}, "openllmetry"),
        ("opentelemetry.instrumentation.requests", {"http.method": "GET"}, "otel"),
        ("opentelemetry.instrumentation.anthropic", {"gen_ai.system": "anthropic"}, "openllmetry"),
        ("opentelemetry.instrumentation.vertexai", {"gen_ai.system": "vertex_ai"}, "otel-genai"),
        ("opentelemetry.instrumentation.vertexai", {"llm.request.type": "chat"}, "openllmetry"),
        ("opentelemetry.instrumentation.vertexai", {"gen_ai.prompt.0.role": "user"}, "openllmetry"),
        (
            "opentelemetry.instrumentation.botocore.bedrock-runtime",
            {"gen_ai.system": "aws.bedrock"},
            "otel-genai",
        ),
        ("opentelemetry.instrumentation.my_lib", {"traceloop.span.kind": "task"}, "openllmetry"),
        ("opentelemetry.instrumentation.genai.openai", {}, "otel-genai"),
        ("opentelemetry.util.genai.handler", {}, "otel-genai"),
        ("opentelemetry.instrumentation.openai_v2", {}, "otel-genai"),
        ("opentelemetry.instrumentation.google_genai", {}, "otel-genai"),
        ("pydantic-ai", {}, "pydantic-ai"),
        ("pydantic-evals", {}, "pydantic-evals"),
        ("logfire", {}, "logfire"),
        ("logfire.openai", {}, "logfire"),
        ("langfuse-sdk", {}, "langfuse"),
        ("langsmith", {}, "langsmith"),
        ("mlflow.tracing.provider", {}, "mlflow"),
        ("ai", {}, "vercel-ai"),
        ("gen_ai", {}, "vercel-genai"),
        ("gcp.vertex.agent", {}, "google-adk"),
        ("strands.telemetry.tracer", {}, "strands"),
        ("semantic_kernel.functions.kernel_function", {}, "semantic-kernel"),
        ("agent_framework", {}, "agent-framework"),
        ("haystack", {}, "haystack"),
        ("autogen-core", {}, "autogen"),
        ("autogen SingleThreadedAgentRuntime", {}, "autogen"),
        ("litellm", {}, "litellm"),
        ("openlit", {}, "openlit"),
        ("openlit.instrumentation.openai", {}, "openlit"),
        ("mcp-python-sdk", {}, "mcp"),
        ("fastmcp", {}, "fastmcp"),
        ("com.anthropic.sdk.python", {}, "anthropic-sdk"),
        ("com.anthropic.claude-platform", {}, "anthropic-platform"),
        ("com.anthropic.claude_code.tracing", {}, "claude-code"),
        ("my-app", {"traceloop.span.kind": "tool", "gen_ai.system": "x"}, "openllmetry"),
        ("my-app", {"gen_ai.operation.name": "chat"}, "otel-genai"),
        ("my-app", {"langfuse.observation.type": "span", "gen_ai.x": 1}, "langfuse"),
        ("my-app", {"order": "7"}, "otel"),
    ],
)
def test_the_scope_tells_the_dialect_else_the_first_vendor_key(scope, attributes, dialect):
    assert read(attributes, scope_name=scope).dialect == dialect
