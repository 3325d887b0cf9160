"""Which dialect a span speaks: by the scope that made it, else by the first vendor key (2.1)."""

import re
from collections.abc import Mapping

from collector.dialects.keysets import Keys, OfKeys

_EXACT: Mapping[str, str] = {
    "traceloop.tracer": "openllmetry",
    "opentelemetry.util.genai.handler": "otel-genai",
    "opentelemetry.instrumentation.openai_v2": "otel-genai",
    "opentelemetry.instrumentation.google_genai": "otel-genai",
    "pydantic-ai": "pydantic-ai",
    "pydantic-evals": "pydantic-evals",
    "logfire": "logfire",
    "logfire.openai": "logfire",
    "langfuse-sdk": "langfuse",
    "langsmith": "langsmith",
    "mlflow.tracing.provider": "mlflow",
    "ai": "vercel-ai",
    "gen_ai": "vercel-genai",
    "gcp.vertex.agent": "google-adk",
    "strands.telemetry.tracer": "strands",
    "semantic_kernel": "semantic-kernel",
    "agent_framework": "agent-framework",
    "haystack": "haystack",
    "autogen-core": "autogen",
    "autogen SingleThreadedAgentRuntime": "autogen",
    "litellm": "litellm",
    "openlit": "openlit",
    "mcp-python-sdk": "mcp",
    "fastmcp": "fastmcp",
    "com.anthropic.sdk.python": "anthropic-sdk",
    "com.anthropic.claude-platform": "anthropic-platform",
    "com.anthropic.claude_code.tracing": "claude-code",
    "com.anthropic.claude_code.events": "claude-code",
}

_PREFIXES: tuple[tuple[str, str], ...] = (
    ("openinference.instrumentation.", "openinference"),
    ("opentelemetry.instrumentation.genai.", "otel-genai"),
    ("openlit.instrumentation.", "openlit"),
    ("semantic_kernel.", "semantic-kernel"),
    ("logfire.", "logfire"),
    ("com.anthropic.sdk.", "anthropic-sdk"),
)
"""Longer names first."""

_INSTRUMENTATION = "opentelemetry.instrumentation."
"""Where OpenLLMetry and OpenTelemetry's own contrib packages both put their scopes."""

_OPENLLMETRY_KEYS = (
    "traceloop.",
    "llm.",
    "crewai.",
    "db.vector.",
)
_FLATTENED = re.compile(r"gen_ai\.(?:prompt|completion)\.\d")
"""What only OpenLLMetry writes under such a scope."""

_OPENLLMETRY_LIBRARIES = frozenset(
    {
        "agno",
        "alephalpha",
        "anthropic",
        "bedrock",
        "chromadb",
        "cohere",
        "crewai",
        "google_generativeai",
        "groq",
        "haystack",
        "lancedb",
        "langchain",
        "llamaindex",
        "marqo",
        "mcp",
        "milvus",
        "mistralai",
        "ollama",
        "openai",
        "openai_agents",
        "pinecone",
        "qdrant",
        "replicate",
        "sagemaker",
        "together",
        "transformers",
        "voyageai",
        "watsonx",
        "weaviate",
        "writer",
    }
)
"""Libraries that OpenLLMetry alone instruments under that name: newer versions write plain
`gen_ai.*` keys. `vertexai` is missing, since OpenTelemetry's own package has that scope too."""

_KEYS: tuple[tuple[str, str], ...] = (
    ("langfuse", "langfuse"),
    ("mlflow", "mlflow"),
    ("langsmith", "langsmith"),
    ("traceloop", "openllmetry"),
    ("llm.request", "openllmetry"),
    ("llm.usage", "openllmetry"),
    ("llm", "openinference"),
    ("gen_ai", "otel-genai"),
    ("ai", "vercel-ai"),
    ("haystack", "haystack"),
    ("gcp.vertex", "google-adk"),
    ("crewai", "openllmetry"),
    ("mcp", "mcp"),
    ("logfire", "logfire"),
)
"""The first one or two parts of vendor keys, in the general order of the dialects."""

_RANKED = {head: (rank, dialect) for rank, (head, dialect) in enumerate(_KEYS)}

VENDORS = frozenset(head.partition(".")[0] for head in _RANKED)
"""How the keys of the vendors begin."""


def dialect_of(scope: str, attributes: Mapping[str, str]) -> str:
    """Return the dialect of a span; `otel` where nothing tells."""
    if "openinference.span.kind" in attributes:
        return "openinference"
    named = _EXACT.get(scope)
    if named is not None:
        return named
    for prefix, dialect in _PREFIXES:
        if scope.startswith(prefix):
            return dialect
    if scope.startswith(_INSTRUMENTATION) and _is_openllmetry(scope, attributes):
        return "openllmetry"
    return _by_key(attributes)


def _is_openllmetry(scope: str, attributes: Mapping[str, str]) -> bool:
    """Tell OpenLLMetry by its own keys, else by a library it alone instruments."""
    if _has_own_keys(attributes):
        return True
    library = scope[len(_INSTRUMENTATION) :].partition(".")[0]
    return library in _OPENLLMETRY_LIBRARIES and _by_key(attributes) != "otel"


@OfKeys
def _has_own_keys(keys: Keys) -> bool:
    return any(key.startswith(_OPENLLMETRY_KEYS) or _FLATTENED.match(key) for key in keys)


@OfKeys
def _by_key(keys: Keys) -> str:
    """Return the dialect of the vendor key that stands first in the general order."""
    best = (len(_KEYS), "otel")
    for key in keys:
        first, dot, rest = key.partition(".")
        if dot:
            hit = _RANKED.get(f"{first}.{rest.partition('.')[0]}") or _RANKED.get(first)
            if hit is not None and hit < best:
                best = hit
    return best[1]
