"""The nouns that cross rooms. Field names are those of the specification and of the API."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NewType

from gnomon.clock import Nanos

RunId = NewType("RunId", str)
TraceId = NewType("TraceId", str)
SpanId = NewType("SpanId", str)

JsonValue = Any
"""What `json.loads` returns. The one `Any` of the house: JSON has no static shape."""


class Origin(StrEnum):
    """Where a run took place."""

    PRODUCTION = "production"
    SHADOW = "shadow"
    REPLAY = "replay"


class Kind(StrEnum):
    """What a step is. The first group is work and can be counted; the second holds it together."""

    LLM = "llm"
    EMBEDDING = "embedding"
    TOOL = "tool"
    RETRIEVAL = "retrieval"
    GUARDRAIL = "guardrail"
    HANDOFF = "handoff"
    HUMAN = "human"
    AGENT = "agent"
    WORKFLOW = "workflow"
    CHAIN = "chain"
    EVALUATION = "evaluation"
    OTHER = "other"


WORK = frozenset(
    {Kind.LLM, Kind.EMBEDDING, Kind.TOOL, Kind.RETRIEVAL, Kind.GUARDRAIL, Kind.HANDOFF, Kind.HUMAN}
)
"""Kinds that are steps in the sense of the words of the house; all others are never counted."""

MODEL_CALLS = frozenset({Kind.LLM, Kind.EMBEDDING})


class RunState(StrEnum):
    """Whether more is expected of a run."""

    OPEN = "open"
    SETTLED = "settled"


class RunStatus(StrEnum):
    """How the root of a run ended; `unknown` while there is no root."""

    OK = "ok"
    ERROR = "error"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One document a retrieval returned. `metadata` is JSON text."""

    id: str = ""
    score: float | None = None
    content: str | None = None
    metadata: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One judgment that came with the telemetry (not one of Gnomon's own labels)."""

    name: str
    score: float | None = None
    label: str | None = None
    explanation: str | None = None
    annotator: str | None = None
    error_type: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """The canonical reading of one span. Identified by (trace_id, span_id) and nothing else.

    Tokens are counts in the inclusive meaning (input holds cached and cache-write tokens, output
    holds reasoning). `None` always means that nobody reported it.
    """

    run_id: RunId
    trace_id: TraceId
    span_id: SpanId
    parent_span_id: str = ""
    origin: Origin = Origin.PRODUCTION
    started_at: Nanos
    ended_at: Nanos
    duration_ns: int
    span_name: str = ""
    scope_name: str = ""
    scope_version: str = ""
    service_name: str = ""
    service_version: str = ""
    environment: str = ""
    dialect: str = "otel"
    kind: Kind = Kind.OTHER
    counted: bool = False
    duplicate_of: str | None = None
    duplicate_reason: str | None = None
    status: str = "ok"
    status_from: str = ""
    error_type: str | None = None
    error_message: str | None = None
    agent_name: str | None = None
    agent_id: str | None = None
    agent_version: str | None = None
    agent_path: Sequence[str] = ()
    workflow_name: str | None = None
    conversation_id: str | None = None
    user_id: str | None = None
    business_keys: Mapping[str, str] = field(default_factory=dict)
    provider: str | None = None
    request_model: str | None = None
    response_model: str | None = None
    model: str | None = None
    response_id: str | None = None
    finish_reason: str | None = None
    finish_reason_raw: str | None = None
    streamed: bool | None = None
    service_tier: str | None = None
    request_params: str | None = None
    """JSON text: an object of the call's parameters."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    aggregate_usage: Mapping[str, int] = field(default_factory=dict)
    ttft_ns: int | None = None
    cost_reported_usd: float | None = None
    cost_usd: float | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_arguments: str | None = None
    """JSON text after unwrapping."""
    tool_result: str | None = None
    """JSON text after unwrapping, or plain text where the source sent plain text."""
    tool_type: str | None = None
    handoff_from: str | None = None
    handoff_to: str | None = None
    query: str | None = None
    evaluations: Sequence[Evaluation] = ()
    prompt_name: str | None = None
    prompt_version: str | None = None
    decision: str | None = None
    decision_source: str | None = None
    attempts: int | None = None
    """HTTP attempts inside one call, where the source tells them."""
    tags: Sequence[str] = ()
    guardrails: Sequence[str] = ()
    """Names or ids of guardrails that the gateway applied inside a model call."""
    graph_node: str | None = None
    """Where the step stands in the agent's graph, where a framework has one."""
    graph_parent: str | None = None
    graph_step: int | None = None
    content_captured: bool = False
    flags: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bodies:
    """What a step read and wrote; large, so it is read from the raw span when somebody asks.

    `input`, `output`: JSON text of canonical messages; `system`, `tool_definitions`: JSON text or
    plain text. `None`: the source did not capture it.
    """

    input: str | None = None
    output: str | None = None
    system: str | None = None
    tool_definitions: str | None = None
    documents: Sequence[Document] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One agent handling one request: a pure fold over its de-duplicated steps."""

    run_id: RunId
    trace_ids: Sequence[str]
    root_span_id: str | None
    agent_name: str | None = None
    agent_version: str | None = None
    workflow_name: str | None = None
    service_name: str = ""
    conversation_id: str | None = None
    user_id: str | None = None
    environment: str = ""
    business_keys: Mapping[str, str] = field(default_factory=dict)
    started_at: Nanos
    ended_at: Nanos
    duration_ns: int
    active_ns: int
    state: RunState = RunState.OPEN
    settled_at: Nanos | None = None
    revision: int = 0
    complete: bool = False
    status: RunStatus = RunStatus.UNKNOWN
    error_type: str | None = None
    """Class of the root's error."""
    error_types: Sequence[str] = ()
    """Classes of all counted steps' errors and of the root's, sorted and distinct."""
    input: str | None = None
    """First user text, cut at 2,000 characters."""
    output: str | None = None
    """Last assistant text, cut at 2,000 characters."""
    steps: int = 0
    spans: int = 0
    """All spans of the run, containers and duplicates included."""
    llm_calls: int = 0
    llm_errors: int = 0
    embedding_calls: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    retrievals: int = 0
    handoffs: int = 0
    guardrail_trips: int = 0
    human_actions: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    usage_source: str | None = None
    """`model_steps`, `aggregate`, or None when nobody reported tokens."""
    cost_usd: float | None = None
    cost_reported_usd: float | None = None
    unpriced_calls: int = 0
    models: Sequence[str] = ()
    tools: Sequence[str] = ()
    agents: Sequence[str] = ()
    dialects: Sequence[str] = ()
    origin: Origin = Origin.PRODUCTION
    manifest: Mapping[str, str] = field(default_factory=dict)
    """The pins known for this run: model, prompt, tools, policy, application version, …"""
    manifest_hash: str = ""
    flags: Sequence[str] = ()
    duplicates: int = 0
    orphans: int = 0
    dropped_attributes: int = 0
    dropped_events: int = 0
    dropped_links: int = 0
    last_received_at: Nanos
    content_digest: str = ""
    """Digest of the set of spans and logs the run was folded from; a repeat does not change it."""
