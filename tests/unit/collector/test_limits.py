"""What a source leaves out is said, by library and version, and only where it is true."""

import pytest

from collector.folding.fold import fold_traces
from collector.limits import LIMITS, limits_of
from collector.views import told_by
from collector.watched import Watched
from tests import samples
from tests.spans import make_span, steps_of

KNOWN = {
    "google-adk-1.17.0-tool": ["adk_thoughts"],
    "google-adk-2.13.0-content-tool": [],
    "litellm-core-1.106.4-chat": ["no_cached_litellm"],
    "logfire-5.4.0-openai": ["no_reasoning_logfire"],
    "mlflow-tracing-3.12.0-agent": [],
    "mlflow-tracing-3.12.0-genai-agent": ["no_cached_mlflow_genai"],
    "openinference-claude-agent-sdk-0.1.22-bash": ["claude_agent_sdk"],
    "openinference-dspy-0.1.48-predict": ["no_tokens_dspy"],
    "openinference-google-adk-1.0.5-tool": ["adk_first_call"],
    "openinference-haystack-0.1.46-rag": ["no_cached_haystack"],
    "openinference-openai-0.1.66-chat": [],
    "openinference-smolagents-0.1.43-tool": ["no_cached_smolagents"],
    "openllmetry-anthropic-0.40.14-stream": ["no_tokens_streaming"],
    "openllmetry-anthropic-0.62.4-stream": ["output_plus_one"],
    "openllmetry-crewai-0.62.4-tool": ["no_model_spans_crewai"],
    "openllmetry-llamaindex-0.62.4-agent": ["no_model_spans_llamaindex"],
    "otel-genai-openai-agents-1.3b0-tool": ["no_model_spans_agents_sdk"],
    "otel-genai-openai-agents-1.3b0+openai-tool": [],
    "otel-openai-v2-2.4b0-chat": ["no_cached_openai_v2"],
    "vercel-ai-5.0.277-tool": ["no_cached_vercel"],
    "vercel-ai-7.0.173-legacy-tool": [],
}


@pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)
@pytest.mark.parametrize(("name", "limits"), KNOWN.items())
def test_recorded_samples_name_their_limits(name, limits):
    folded = fold_traces(
        samples.spans(name),
        samples.logs(name),
        watched=Watched(),
        previous={},
        received={},
        now=0,
    )
    found = {
        limit.name
        for run in folded.runs
        for limit in limits_of(told_by(step for step in folded.steps if step.run_id == run.run_id))
    }
    assert sorted(found) == limits


def test_names_are_unique_and_sentences_end():
    assert len({limit.name for limit in LIMITS}) == len(LIMITS)
    assert all(limit.sentence.endswith(".") and limit.sentence[-2] != "." for limit in LIMITS)


def test_what_can_not_be_seen_in_a_run_is_for_the_doctor():
    span = make_span(
        attributes={"gen_ai.operation.name": "chat"},
        scope_name="opentelemetry.instrumentation.genai.openai",
    )
    told = told_by(steps_of(span).values())
    assert limits_of(told) == []
    assert [limit.name for limit in limits_of(told, possible=True)] == ["no_completions"]


@pytest.mark.parametrize(
    ("scope", "names"),
    [
        ("opentelemetry.instrumentation.openai.v1", ["no_tokens_streaming"]),
        ("opentelemetry.instrumentation.anthropic", ["no_tokens_streaming"]),
        ("opentelemetry.instrumentation.openai_v2", []),
        ("opentelemetry.instrumentation.openai_agents", ["no_tokens_openllmetry_agents"]),
    ],
)
def test_a_limit_of_one_library_is_not_said_of_another(scope, names):
    span = make_span(attributes={"gen_ai.operation.name": "chat"}, scope_name=scope)
    assert [limit.name for limit in limits_of(told_by(steps_of(span).values()))] == names
