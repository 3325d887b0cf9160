"""The table of names: agents, workflows, hand-offs, conversations, users, environment (2.3, 2.4)."""

from collector.dialects.facts import Facts
from collector.dialects.rules import (
    MODEL_CALL,
    Field,
    Only,
    inside,
    keys,
    of_span,
    quoted,
    resource,
)
from collector.dialects.values import as_int, found
from gnomon.model import JsonValue, Kind

_SUFFIXES = (".run", ".invoke", "._execute_core", ".kickoff")
_ASSOCIATION = "traceloop.association.properties"


_MOST_WORDS = 64
"""Tags or guardrails of one span; more are not meant to be read."""

_AGENT = Only(kinds=frozenset({Kind.AGENT}))
_HANDOFF = Only(kinds=frozenset({Kind.HANDOFF}))


def _is_native(facts: Facts) -> bool:
    """N7: an agent by the vendor's own type, so that the span bears the agent's name."""
    attributes = facts.attributes
    return "langfuse.observation.type" in attributes or "mlflow.spanType" in attributes


def _is_named_openinference(facts: Facts) -> bool:
    """N8: the Claude Agent SDK names its spans after its own functions."""
    return facts.dialect == "openinference" and not facts.span.name.startswith("ClaudeAgentSDK.")


def _span_name(facts: Facts, _key: str) -> JsonValue:
    return found(facts.span.name)


def _without_suffix(facts: Facts, _key: str) -> JsonValue:
    name = facts.span.name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return found(name)


def _words(facts: Facts, key: str) -> JsonValue:
    """Read a list of words, as JSON, as a Python literal, or as text with commas."""
    told = facts.data(key)
    said = facts.attributes[key].split(",") if not isinstance(told, list) else told
    words = (str(word).strip() for word in said if isinstance(word, str | int | float))
    return list(dict.fromkeys(word for word in words if found(word)))[:_MOST_WORDS] or None


def _number(facts: Facts, key: str) -> JsonValue:
    return as_int(facts.attributes.get(key))


def _is_claude_code(facts: Facts) -> bool:
    return facts.dialect == "claude-code"


def _is_agents_sdk_handoff(facts: Facts) -> bool:
    return facts.span.name.startswith("handoff to ")


def _after_handoff(facts: Facts, _key: str) -> JsonValue:
    return found(facts.span.name.removeprefix("handoff to ").strip())


def _is_arrow_handoff(facts: Facts) -> bool:
    return "→" in facts.span.name


def _before_arrow(facts: Facts, _key: str) -> JsonValue:
    return found(facts.span.name.partition("→")[0].strip())


def _after_arrow(facts: Facts, _key: str) -> JsonValue:
    return found(facts.span.name.partition("→")[2].strip().removesuffix(".handoff"))


def _is_decision(facts: Facts) -> bool:
    return facts.claude_code_type == "tool.blocked_on_user"


NAMES: tuple[Field, ...] = (
    Field(
        "agent_name",
        (
            *keys("N1", "gen_ai.agent.name"),
            *keys("N2", "agent.name"),
            *keys("N3", "agent_name"),
            *keys("N4", "crewai.agent.role"),
            *keys("N5", "langsmith.metadata.lc_agent_name", f"{_ASSOCIATION}.lc_agent_name"),
            *keys("N6", "traceloop.entity.name", only=_AGENT),
            *of_span("N7", "span name", _span_name, _AGENT, _is_native),
            *keys("N8", "graph.node.id", only=_AGENT, when=_is_named_openinference),
            *of_span("N8", "span name", _without_suffix, _AGENT, _is_named_openinference),
            *keys("N9", "gen_ai.main_agent.name"),
        ),
    ),
    Field(
        "agent_id",
        keys("2.3", "gen_ai.agent.id", "agno.agent.id", "crewai.agent.id")
        + keys("2.3", "agent_id", when=_is_claude_code),
    ),
    Field(
        "agent_version",
        keys("2.3", "gen_ai.agent.version", "openlit.agent.version_hash"),
    ),
    Field(
        "workflow_name",
        keys(
            "2.3",
            "gen_ai.workflow.name",
            "traceloop.workflow.name",
            "crewai.crew.name",
            "langfuse.trace.name",
            "langsmith.trace.name",
            "ai.telemetry.functionId",
        ),
    ),
    Field(
        "handoff_from",
        (
            *keys("2.3", "gen_ai.handoff.from_agent"),
            *keys("K2", "input.value", only=_HANDOFF, when=_is_agents_sdk_handoff),
            *of_span("2.3", "span name", _before_arrow, _HANDOFF, _is_arrow_handoff),
        ),
    ),
    Field(
        "handoff_to",
        (
            *keys("2.3", "gen_ai.handoff.to_agent"),
            *keys("K2", "output.value", only=_HANDOFF, when=_is_agents_sdk_handoff),
            *of_span("K2", "span name", _after_handoff, _HANDOFF, _is_agents_sdk_handoff),
            *of_span("2.3", "span name", _after_arrow, _HANDOFF, _is_arrow_handoff),
        ),
    ),
    Field(
        "conversation_id",
        (
            *keys("2.4", "session.id", when=_is_claude_code),
            *keys("2.4", "gen_ai.conversation.id", "session.id", "langfuse.session.id"),
            *keys(
                "2.4",
                f"{_ASSOCIATION}.session_id",
                f"{_ASSOCIATION}.thread_id",
                f"{_ASSOCIATION}.conversation_id",
                "ai.telemetry.metadata.sessionId",
                "langsmith.metadata.session_id",
                "langsmith.metadata.thread_id",
                "langsmith.metadata.conversation_id",
                "gcp.vertex.agent.session_id",
            ),
            *keys("2.4", "mlflow.trace.session", take=quoted),
            *inside("2.4", "metadata", "session_id", "thread_id"),
            *resource("2.4", "session.id"),
        ),
    ),
    Field(
        "user_id",
        keys(
            "2.4",
            "user.id",
            "enduser.id",
            "enduser.pseudo.id",
            "langfuse.user.id",
            "gen_ai.user",
            "llm.user",
            "gen_ai.request.user",
            f"{_ASSOCIATION}.user_id",
            "ai.telemetry.metadata.userId",
            "langsmith.metadata.user_id",
        )
        + keys("2.4", "mlflow.trace.user", take=quoted)
        + keys("2.4", "metadata.user_api_key_user_id", "metadata.user_api_key_end_user_id"),
    ),
    Field(
        "environment",
        (
            *keys("2.4", "deployment.environment.name"),
            *resource("2.4", "deployment.environment.name"),
            *keys("2.4", "deployment.environment"),
            *resource("2.4", "deployment.environment"),
            *keys("2.4", "langfuse.environment"),
            *resource("2.4", "langfuse.environment"),
        ),
    ),
    Field(
        "prompt_name",
        keys(
            "2.7",
            "gen_ai.prompt.name",
            "langfuse.observation.prompt.name",
            "traceloop.prompt.key",
            "prompt.id",
        ),
    ),
    Field(
        "prompt_version",
        keys(
            "2.7",
            "gen_ai.prompt.version",
            "llm.prompt_template.version",
            "traceloop.prompt.version",
            "langfuse.observation.prompt.version",
        ),
    ),
    Field(
        "tags",
        (
            *keys("2.4", "tag.tags", "langfuse.trace.tags", take=_words),
            *keys("2.4", "langsmith.span.tags", "logfire.tags", take=_words),
        ),
    ),
    Field(
        "graph_node",
        (
            *keys("2.3", "graph.node.id", f"{_ASSOCIATION}.langgraph_node"),
            *keys("2.3", "langsmith.metadata.langgraph_node"),
            *inside("2.3", "metadata", "langgraph_node"),
        ),
    ),
    Field("graph_parent", keys("2.3", "graph.node.parent_id")),
    Field(
        "graph_step",
        (
            *keys("2.3", f"{_ASSOCIATION}.langgraph_step", take=_number),
            *keys("2.3", "langsmith.metadata.langgraph_step", take=_number),
            *inside("2.3", "metadata", "langgraph_step", take=as_int),
        ),
    ),
    Field(
        "guardrails",
        keys("K20", "metadata.applied_guardrails", take=_words, only=MODEL_CALL)
        + keys("K20", "aws.bedrock.guardrail.id", take=_words, only=MODEL_CALL),
    ),
    Field("decision", keys("K10", "decision", when=_is_decision)),
    Field("decision_source", keys("K10", "source", when=_is_decision)),
)
