"""What kind of step a span is: rules K1 to K21 as data (2.2); the first that matches decides."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from collector.dialects.facts import Facts
from collector.dialects.models import MODELS
from collector.dialects.providers import REGISTRY, provider_of
from collector.dialects.rules import Place
from collector.dialects.usage import RESTATED, TOKEN_FIELDS, TOKENS
from collector.dialects.values import found, unquoted
from gnomon.model import Kind

Decide = Callable[[Facts, str], Kind | None]
"""Takes the span and the text that set the rule off (attribute value or span name)."""


@dataclass(frozen=True, slots=True)
class KindRule:
    """One rule: its number, what sets it off (attribute keys or span names), what it decides."""

    rule: str
    decide: Decide
    keys: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    """Whole span names or their first word."""


def _kinds(text: str) -> dict[str, Kind]:
    """Read `kind: a b c; kind: d` into a mapping from each name to its kind."""
    found = {}
    for part in text.split(";"):
        kind, _, names = part.partition(":")
        found.update(dict.fromkeys(names.split(), Kind(kind.strip())))
    return found


_AGENTS_SDK = "openinference.instrumentation.openai_agents"
_AGENTS_SDK_AGENT = ("agent.name", "graph.node.id", "llm.system")
"""What stands on the span of an agent and not on that of the trace."""

_LANGFUSE = _kinds(
    "agent: agent; llm: generation; embedding: embedding; tool: tool; retrieval: retriever;"
    "guardrail: guardrail; evaluation: evaluator; chain: chain span; other: event"
)
_OPENINFERENCE = _kinds(
    "llm: LLM DECISION; tool: TOOL; agent: AGENT; retrieval: RETRIEVER RERANKER;"
    "embedding: EMBEDDING; guardrail: GUARDRAIL; evaluation: EVALUATOR; chain: CHAIN PROMPT;"
    "other: UNKNOWN"
)
_MLFLOW = _kinds(
    "llm: LLM CHAT_MODEL; agent: AGENT; tool: TOOL; retrieval: RETRIEVER RERANKER;"
    "embedding: EMBEDDING; chain: CHAIN PARSER; workflow: WORKFLOW; guardrail: GUARDRAIL;"
    "evaluation: EVALUATOR; other: MEMORY UNKNOWN"
)
_LANGSMITH = _kinds(
    "llm: llm; tool: tool; retrieval: retriever; embedding: embedding; chain: chain prompt parser"
)
_RETRIEVALS = _kinds("retrieval: retrieval vector_db_retrieve RETRIEVER RERANKER")
_TRACELOOP = _kinds("workflow: workflow; agent: agent; tool: tool; handoff: handoff; chain: task")
_CLAUDE_CODE = _kinds(
    "agent: interaction; llm: llm_request; tool: tool;"
    "other: tool.execution tool.blocked_on_user hook"
)
# the dotted names are those of Semantic Kernel
_OPERATIONS = _MLFLOW | _kinds(
    "llm: chat text_completion generate_content chat.completions chat.streaming_completions"
    " text.completions text.streaming_completions; embedding: embeddings; tool: execute_tool;"
    "agent: invoke_agent; workflow: invoke_workflow invoke_graph invoke_swarm; retrieval: search_memory;"
    "chain: plan agent_step execute_event_loop_cycle execute_task; handoff: handoff;"
    "other: create_agent fetch_response create_memory update_memory upsert_memory delete_memory"
    " create_memory_store update_memory_store upsert_memory_store delete_memory_store"
)
_REQUESTS = _kinds("llm: chat completion; embedding: embedding; retrieval: rerank")
_HAYSTACK = _kinds(
    "agent: haystack.agent.run; workflow: haystack.pipeline.run haystack.async_pipeline.run;"
    "llm: haystack.agent.step.llm; tool: haystack.agent.step.tool; chain: haystack.agent.step"
)
_COMPONENTS: tuple[tuple[str, Kind], ...] = (
    ("Generator", Kind.LLM),
    ("Retriever", Kind.RETRIEVAL),
    ("Ranker", Kind.RETRIEVAL),
    ("Embedder", Kind.EMBEDDING),
    ("ToolInvoker", Kind.TOOL),
    ("Agent", Kind.AGENT),
)
_PYDANTIC = {
    "agent run": Kind.AGENT,
    "running tool": Kind.TOOL,
    "running output function": Kind.TOOL,
    "running tools": Kind.CHAIN,
}
_LLM_EVIDENCE = frozenset(
    source.key
    for field in (*TOKENS, *MODELS)
    if field.name in {*TOKEN_FIELDS, "response_id", "finish_reason_raw"}
    for source in field.sources
    if source.place is Place.ATTRIBUTE
) | {"llm.token_count.total", *(key for _, key in RESTATED)}
_OPERATION_KEYS = ("gen_ai.operation.name", "gen_ai.agent.name", "gen_ai.tool.name")
"""What tells that a span that names a model is something else than a call of it."""
_OUTPUT_MESSAGES = ("llm.output_messages.", "llm.choices.", "gen_ai.completion.")


def _exactly(kinds: Mapping[str, Kind]) -> Decide:
    return lambda _facts, text: kinds.get(text)


def _lower(kinds: Mapping[str, Kind]) -> Decide:
    return lambda _facts, text: kinds.get(text.strip().lower())


def _agents_sdk_workflow(facts: Facts, text: str) -> Kind | None:
    """K1: the span of a trace; old versions name an agent by the span alone, but tell its system."""
    ours = facts.span.scope_name == _AGENTS_SDK and text.upper() == "AGENT"
    told = (found(facts.attributes.get(key)) for key in _AGENTS_SDK_AGENT)
    return Kind.WORKFLOW if ours and not any(told) else None


def _agents_sdk_handoff(facts: Facts, text: str) -> Kind | None:
    ours = facts.span.scope_name == _AGENTS_SDK and text.upper() == "TOOL"
    return Kind.HANDOFF if ours and facts.span.name.startswith("handoff to ") else None


def _openinference(_facts: Facts, text: str) -> Kind | None:
    return _OPENINFERENCE.get(text.strip().upper())


def _llama_index_preparation(facts: Facts, text: str) -> Kind | None:
    """K4a: a preparing function that LlamaIndex calls an LLM; its return value is no answer."""
    if text.strip().upper() != "LLM" or "_prepare_" not in facts.span.name:
        return None
    answer = facts.answer
    if answer.id is not None or answer.usage or answer.finish_reasons:
        return None
    told = any(_is_evidence(key, value) for key, value in facts.attributes.items())
    return None if told else Kind.CHAIN


def _is_evidence(key: str, value: str) -> bool:
    """Tell whether an attribute shows that a model was called: usage, finish reason, id, output."""
    if key not in _LLM_EVIDENCE and not key.startswith(_OUTPUT_MESSAGES):
        return False
    return found(value) is not None and value != "0"


def _traceloop(facts: Facts, text: str) -> Kind | None:
    kind = _TRACELOOP.get(text)
    called = (found(facts.attributes.get(key)) for key in ("tool.name", "tool.arguments"))
    return Kind.TOOL if kind is Kind.CHAIN and None not in called else kind


def _claude_code(facts: Facts, _text: str) -> Kind | None:
    kind = facts.claude_code_type
    if kind == "tool.blocked_on_user" and facts.attributes.get("source", "").startswith("user"):
        return Kind.HUMAN
    return _CLAUDE_CODE.get(kind)


def _vercel(_facts: Facts, text: str) -> Kind | None:
    if not text:
        return None
    if text.endswith((".doGenerate", ".doStream")):
        return Kind.LLM
    if text.endswith(".doEmbed"):
        return Kind.EMBEDDING
    if text == "ai.toolCall":
        return Kind.TOOL
    return Kind.RETRIEVAL if text.startswith("ai.rerank") else Kind.WORKFLOW


def _mcp(facts: Facts, text: str) -> Kind | None:
    if not text:
        return None
    named = found(facts.attributes.get("gen_ai.tool.name")) is not None
    return Kind.TOOL if text == "tools/call" and named else Kind.OTHER


def _mcp_transport(facts: Facts, _text: str) -> Kind | None:
    return Kind.OTHER if facts.span.name.startswith("MCP send") else None


def _haystack_component(facts: Facts, _text: str) -> Kind | None:
    component = facts.attributes.get("haystack.component.type", "")
    for suffix, kind in _COMPONENTS:
        if component.endswith(suffix):
            return kind
    return Kind.CHAIN


def _pydantic(facts: Facts, _text: str) -> Kind | None:
    if facts.dialect != "pydantic-ai":
        return None
    name = facts.span.name
    if name.startswith("invoke_agent ") and "agent_name" in facts.attributes:
        return Kind.AGENT
    kind = _PYDANTIC.get(name.partition(":")[0])
    return Kind.AGENT if kind is None and "all_messages_events" in facts.attributes else kind


def _adk(facts: Facts, _text: str) -> Kind | None:
    if facts.dialect != "google-adk":
        return None
    name, keys = facts.span.name, facts.attributes
    if (
        name == "call_llm"
        or {"gcp.vertex.agent.llm_request", "gen_ai.request.model"} <= keys.keys()
    ):
        return Kind.LLM
    if name.startswith("execute_tool "):
        return Kind.TOOL
    return Kind.WORKFLOW if name == "invocation" else None


def _vector_store(facts: Facts, _text: str) -> Kind | None:
    vector = any(key.startswith("db.vector.") for key in facts.attributes)
    return Kind.RETRIEVAL if vector else None


def _unnamed_model_call(facts: Facts, _text: str) -> Kind | None:
    """K22: OpenLLMetry asked a known provider for a model, and nothing says for what.

    Versions around 0.50 report calls of the Responses API so. Others stay `other`: the Anthropic
    SDK writes the same keys when it only counts tokens.
    """
    attributes = facts.attributes
    if facts.dialect != "openllmetry" or any(key in attributes for key in _OPERATION_KEYS):
        return None
    told = (provider_of(attributes.get(key)) for key in ("gen_ai.provider.name", "gen_ai.system"))
    return Kind.LLM if any(name in REGISTRY for name in told) else None


def _always(kind: Kind) -> Decide:
    return lambda _facts, _text: kind


KIND_RULES: tuple[KindRule, ...] = (
    KindRule("K1", _agents_sdk_workflow, keys=("openinference.span.kind",)),
    KindRule("K2", _agents_sdk_handoff, keys=("openinference.span.kind",)),
    KindRule("K3", _lower(_LANGFUSE), keys=("langfuse.observation.type",)),
    KindRule("K4a", _llama_index_preparation, keys=("openinference.span.kind",)),
    KindRule("K4", _openinference, keys=("openinference.span.kind",)),
    KindRule("K5", _exactly(_MLFLOW), keys=("mlflow.spanType",)),
    KindRule("K6", _lower(_LANGSMITH), keys=("langsmith.span.kind",)),
    KindRule("K7", _exactly(_RETRIEVALS), keys=("gen_ai.operation.name",)),
    KindRule("K8", _traceloop, keys=("traceloop.span.kind",)),
    KindRule("K9", _always(Kind.WORKFLOW), names=("crewai.workflow",)),
    KindRule("K10", _claude_code, keys=("span.type",)),
    KindRule("K11", _exactly(_OPERATIONS), keys=("gen_ai.operation.name",)),
    KindRule("K12", _vercel, keys=("ai.operationId",)),
    KindRule("K13", _exactly(_REQUESTS), keys=("llm.request.type",)),
    KindRule("K14", _mcp, keys=("mcp.method.name",)),
    KindRule("K14", _mcp_transport, names=("MCP",)),
    KindRule("K15", _exactly(_HAYSTACK), names=tuple(_HAYSTACK)),
    KindRule("K15", _haystack_component, names=("haystack.component.run",)),
    KindRule("K16", _pydantic, keys=("all_messages_events",)),
    KindRule("K16", _pydantic, names=("agent", "running", "invoke_agent")),
    KindRule("K17", _adk, keys=("gcp.vertex.agent.llm_request",)),
    KindRule("K17", _adk, names=("call_llm", "execute_tool", "invocation")),
    KindRule("K18", _always(Kind.CHAIN), names=("AutoFunctionInvocationLoop",)),
    KindRule("K19", _vector_store, keys=("db.system", "db.system.name")),
    KindRule("K22", _unnamed_model_call, keys=("gen_ai.request.model",)),
)

Ranked = tuple[int, KindRule]


def _index(attribute: str) -> dict[str, tuple[Ranked, ...]]:
    found: dict[str, list[Ranked]] = {}
    for rank, rule in enumerate(KIND_RULES):
        for trigger in getattr(rule, attribute):
            found.setdefault(trigger, []).append((rank, rule))
    return {trigger: tuple(rules) for trigger, rules in found.items()}


BY_KEY: Mapping[str, tuple[Ranked, ...]] = _index("keys")
BY_NAME: Mapping[str, tuple[Ranked, ...]] = _index("names")


@dataclass(frozen=True, slots=True)
class Decided:
    """A kind, the rule that decided it, and the key (or `span name`) that set the rule off."""

    kind: Kind
    rule: str
    key: str


def kind_of(facts: Facts) -> Decided:
    """Return the kind of a span by the first rule that matches."""
    name = facts.span.name
    tried: list[tuple[int, KindRule, str, str]] = []
    for key, text in facts.attributes.items():
        if key in BY_KEY:
            tried += [(rank, rule, key, text) for rank, rule in BY_KEY[key]]
    for part in {name, name.partition(" ")[0]}:
        for rank, rule in BY_NAME.get(part, ()):
            tried.append((rank, rule, "span name", name))
    tried.sort(key=_rank)
    for _, rule, key, text in tried:
        kind = rule.decide(facts, unquoted(text) or "")
        if kind is not None:
            return Decided(kind, rule.rule, key)
    if any(event.name == "db.query.result" for event in facts.span.events):
        return Decided(Kind.RETRIEVAL, "K19", "span event db.query.result")
    return Decided(Kind.OTHER, "K21", "")


def _rank(tried: tuple[int, KindRule, str, str]) -> tuple[int, str]:
    return tried[0], tried[2]
