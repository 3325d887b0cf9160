"""The names of providers: the registry of the conventions, other spellings, and what is none."""

from collections.abc import Mapping

from collector.dialects.values import unquoted

REGISTRY = frozenset(
    {
        "openai",
        "gcp.gen_ai",
        "gcp.vertex_ai",
        "gcp.gemini",
        "anthropic",
        "cohere",
        "azure.ai.inference",
        "azure.ai.openai",
        "ibm.watsonx.ai",
        "aws.bedrock",
        "perplexity",
        "x_ai",
        "deepseek",
        "groq",
        "mistral_ai",
        "moonshot_ai",
    }
)

OTHER_SPELLINGS: Mapping[str, str] = {
    "vertex_ai": "gcp.vertex_ai",
    "vertexai": "gcp.vertex_ai",
    "gemini": "gcp.gemini",
    "google": "gcp.gen_ai",
    "google_genai": "gcp.gen_ai",
    "az.ai.inference": "azure.ai.inference",
    "az.ai.openai": "azure.ai.openai",
    "azure": "azure.ai.openai",
    "xai": "x_ai",
    "mistralai": "mistral_ai",
    "aws": "aws.bedrock",
    "bedrock": "aws.bedrock",
    "amazon_bedrock": "aws.bedrock",
    "amazon-bedrock": "aws.bedrock",
    "watsonx": "ibm.watsonx.ai",
}

NO_PROVIDERS = frozenset(
    {
        "strands-agents",
        "langchain",
        "langgraph",
        "crewai",
        "autogen",
        "microsoft.agent_framework",
        "gcp.vertex.agent",
        "spring_ai",
        "haystack",
        "genericfakechatmodel",
    }
)
"""Frameworks that write their own name where the provider belongs (M3)."""


def provider_of(value: str | None, *, cut: bool = False) -> str | None:
    """Return a provider's name as the registry spells it; None where it names no provider.

    `cut`: Vercel writes `openai.chat`, `openai.responses`; only the first part is the provider.
    """
    text = unquoted(value)
    if text is None:
        return None
    name = text.strip().lower()
    if cut and name not in REGISTRY:
        name = name.partition(".")[0]
    if not name or name in NO_PROVIDERS:
        return None
    return OTHER_SPELLINGS.get(name, name)
