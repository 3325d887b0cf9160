"""Truth the wire does not hold, as data: what a source leaves out, said where people see it (3.6)."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from collector.views import Told
from gnomon.model import Kind

Applies = Callable[[Sequence[Told]], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What a library does not tell, by scope and version, and the sentence that says so."""

    name: str
    scope: re.Pattern[str]
    """Of the scope name."""
    versions: tuple[str, str] = ("", "")
    """First version with the limit and first without it; '' = open."""
    applies: Applies
    """Looks at the steps of this scope, or at all steps of the run."""
    sentence: str
    mend: str = ""
    certain: bool = True
    """False: it may touch this run, which nothing on the wire can tell; for the doctor."""


def limits_of(told: Sequence[Told], *, possible: bool = False) -> list[Limit]:
    """Return the limits that hold for what one run told, in the order of the table.

    With `possible`, also those that hold for the library and can not be seen in a run.
    """
    return [limit for limit in LIMITS if (limit.certain or possible) and _holds(limit, told)]


def _holds(limit: Limit, told: Sequence[Told]) -> bool:
    own = [
        one
        for one in told
        if limit.scope.fullmatch(one.scope_name) and _in_versions(one.scope_version, limit.versions)
    ]
    return bool(own) and limit.applies(told if limit.applies in _OF_THE_RUN else own)


def _in_versions(version: str, versions: tuple[str, str]) -> bool:
    first, beyond = versions
    if not version or not (first or beyond):
        return True
    known = _numbers(version)
    return (not first or known >= _numbers(first)) and (not beyond or known < _numbers(beyond))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _calls(told: Iterable[Told]) -> list[Told]:
    return [one for one in told if one.counted and one.kind is Kind.LLM]


def _no_model_steps(told: Sequence[Told]) -> bool:
    return not _calls(told)


def _no_tokens(told: Sequence[Told]) -> bool:
    calls = [one for one in _calls(told) if one.ok]
    return bool(calls) and not any(one.input_tokens for one in calls)


def _no_cached(told: Sequence[Told]) -> bool:
    calls = [one for one in _calls(told) if one.input_tokens]
    return bool(calls) and not any(one.cached_tokens for one in calls)


def _streamed_call(told: Sequence[Told]) -> bool:
    return any(one.streamed for one in _calls(told))


def _any_model_call(told: Sequence[Told]) -> bool:
    return bool(_calls(told))


_OF_THE_RUN = (_no_model_steps, _any_model_call)
"""Questions about all steps of the run: another scope may hold the model calls."""


def _no_reasoning(told: Sequence[Told]) -> bool:
    calls = [one for one in _calls(told) if one.output_tokens]
    return bool(calls) and not any(one.reasoning_tokens for one in calls)


def _always(_told: Sequence[Told]) -> bool:
    return True


def _orphaned(told: Sequence[Told]) -> bool:
    return any(one.orphan for one in told)


_ADD_PROVIDER = "Add the instrumentor of the model provider's SDK beside it."
_NO_CACHED = "cached tokens are not told, so the cost is stated as if nothing was cached"


def _limit(
    name: str,
    scope: str,
    applies: Applies,
    sentence: str,
    mend: str = "",
    versions: tuple[str, str] = ("", ""),
    *,
    certain: bool = True,
) -> Limit:
    return Limit(
        name=name,
        scope=re.compile(scope),
        versions=versions,
        applies=applies,
        sentence=f"{sentence}.",
        mend=mend,
        certain=certain,
    )


_OPENINFERENCE = r"openinference\.instrumentation\."
_OPENLLMETRY = r"opentelemetry\.instrumentation\."
_GENAI = r"opentelemetry\.instrumentation\.genai\."

LIMITS: tuple[Limit, ...] = (
    _limit(
        "no_model_spans_autogen",
        r"autogen.*",
        _no_model_steps,
        "this run has no model spans: AutoGen does not report model calls",
        _ADD_PROVIDER,
    ),
    _limit(
        "no_model_spans_crewai",
        rf"({_OPENINFERENCE}|{_OPENLLMETRY})crewai.*",
        _no_model_steps,
        "this run has no model spans: the CrewAI instrumentors do not report model calls",
        _ADD_PROVIDER,
    ),
    _limit(
        "no_model_spans_llamaindex",
        rf"{_OPENLLMETRY}llama_?index.*",
        _no_model_steps,
        "this run has no model spans: OpenLLMetry does not report LlamaIndex's model calls",
        _ADD_PROVIDER,
    ),
    _limit(
        "no_model_spans_agents_sdk",
        rf"{_GENAI}openai_agents",
        _no_model_steps,
        "this run has no model spans: otel-genai-openai-agents reports agents and tools only",
        "Add opentelemetry-instrumentation-genai-openai beside it.",
    ),
    _limit(
        "no_tokens_dspy",
        rf"{_OPENINFERENCE}dspy",
        _no_tokens,
        "tokens are unknown: DSPy through OpenInference does not report them",
        _ADD_PROVIDER,
    ),
    _limit(
        "no_tokens_streaming",
        rf"{_OPENLLMETRY}(openai(\.v\d)?|anthropic)",
        _no_tokens,
        "tokens are unknown: OpenLLMetry before 0.50 does not report those of streamed calls",
        "Upgrade OpenLLMetry.",
        ("", "0.50"),
    ),
    _limit(
        "no_tokens_openllmetry_agents",
        rf"{_OPENLLMETRY}openai_agents.*",
        _no_tokens,
        "tokens are unknown: OpenLLMetry for the OpenAI agents SDK does not report those of chat"
        " completions",
        "Use the responses API, or add OpenLLMetry for openai.",
    ),
    _limit(
        "no_cached_openai_v2",
        r"opentelemetry\.(instrumentation\.openai_v2|util\.genai\.handler)",
        _no_cached,
        f"{_NO_CACHED}: otel-openai-v2 does not report them",
    ),
    _limit(
        "no_cached_semantic_kernel",
        r"semantic_kernel.*",
        _no_cached,
        f"{_NO_CACHED}: Semantic Kernel does not report them",
    ),
    _limit(
        "no_cached_smolagents",
        rf"{_OPENINFERENCE}smolagents",
        _no_cached,
        f"{_NO_CACHED}: smolagents does not report them",
    ),
    _limit(
        "no_cached_haystack",
        rf"{_OPENINFERENCE}haystack",
        _no_cached,
        f"{_NO_CACHED}: Haystack through OpenInference does not report them",
    ),
    _limit(
        "no_cached_agents_chat",
        rf"{_OPENINFERENCE}openai_agents",
        _no_cached,
        f"{_NO_CACHED}: the OpenAI agents SDK does not report those of chat completions",
    ),
    _limit(
        "no_cached_mlflow_genai",
        r"mlflow\.tracing\.provider",
        _no_cached,
        f"{_NO_CACHED}: MLflow's GenAI export drops them",
    ),
    _limit(
        "no_cached_vercel",
        r"ai",
        _no_cached,
        f"{_NO_CACHED}: Vercel AI SDK 5 reports them for streamText only",
    ),
    _limit(
        "no_cached_litellm",
        r"litellm",
        _no_cached,
        f"{_NO_CACHED}: LiteLLM writes them only into metadata.usage_object",
    ),
    _limit(
        "no_reasoning_logfire",
        r"logfire\.openai",
        _no_reasoning,
        "reasoning tokens are not told apart: Logfire writes them only into gen_ai.usage.raw",
    ),
    _limit(
        "adk_thoughts",
        r"gcp\.vertex\.agent",
        _no_reasoning,
        "output tokens leave out the model's thoughts: Google ADK before 2 does not report them",
        "Upgrade google-adk to 2.",
        ("", "2"),
    ),
    _limit(
        "adk_first_call",
        rf"{_OPENINFERENCE}google_adk",
        _any_model_call,
        "the first model call of each agent is lost: OpenInference overwrites its span under ADK",
        "Use Google ADK's own telemetry without OpenInference.",
    ),
    _limit(
        "genai_function_calling",
        rf"({_OPENINFERENCE}google_genai|opentelemetry\.instrumentation\.google_genai)",
        _any_model_call,
        "automatic function calling hides calls: two API calls lie in one span, with the usage of"
        " the last",
        "Call functions yourself, or read these tokens as a lower bound.",
        certain=False,
    ),
    _limit(
        "output_plus_one",
        rf"{_OPENLLMETRY}anthropic",
        _streamed_call,
        "output tokens are one too many per streamed call: OpenLLMetry for Anthropic counts so",
        versions=("0.50", ""),
    ),
    _limit(
        "claude_agent_sdk",
        rf"{_OPENINFERENCE}claude_agent_sdk",
        _always,
        "calls of sub-agents are missing and output counts 1 per call: so the Claude Agent SDK is"
        " read by OpenInference",
        "Switch on Claude Code's own telemetry.",
    ),
    _limit(
        "no_completions",
        rf"{_GENAI}openai",
        _always,
        "calls of the legacy /completions API are not seen: otel-genai does not instrument them",
        certain=False,
    ),
    _limit(
        "mlflow_root",
        r"mlflow\.tracing\.provider",
        _orphaned,
        "the root may be missing: MLflow 3.17 never ends it with some SDK versions",
        "Upgrade mlflow or the OpenTelemetry SDK.",
    ),
)
