"""What the telemetry can not say is said in sentences, and only then."""

from dataclasses import replace

import pytest

from collector.views import Outline
from collector.views import told_by as told
from gnomon.clock import Nanos
from gnomon.model import Kind, RunState, RunStatus
from gnomon.web.limits import limits
from tests.desk import desk

READER = desk(3)
RUN = next(run for run in READER.all if run.status is RunStatus.OK)
STEPS = READER.outline(RUN)


def agent(scope: str) -> Outline:
    return Outline(
        trace_id="t",
        span_id="s",
        started_at=Nanos(0),
        duration_ns=1,
        kind=Kind.AGENT,
        scope_name=scope,
    )


def test_a_run_that_says_everything_has_no_limits() -> None:
    assert limits(RUN, told(STEPS)) == []


@pytest.mark.parametrize(
    ("scope", "why"),
    [
        (
            "openinference.instrumentation.crewai",
            "the CrewAI instrumentors do not report model calls",
        ),
        ("autogen-core", "AutoGen does not report model calls"),
        ("my.own.agent", "unknown, not zero. Add the instrumentor of the model provider"),
    ],
)
def test_a_run_without_model_spans_says_so_and_names_the_mend(scope: str, why: str) -> None:
    (sentence,) = limits(RUN, told([agent(scope)]))
    assert sentence.startswith("This run has no model spans")
    assert why in sentence


def test_an_ordinary_service_without_an_agent_is_not_told_off() -> None:
    assert limits(RUN, told([replace(agent("flask"), kind=Kind.OTHER)])) == []


def test_calls_without_tokens_are_unknown_not_zero() -> None:
    silent = [replace(step, input_tokens=None, output_tokens=None) for step in STEPS]
    assert any(
        "tokens and cost are unknown, not zero" in text for text in limits(RUN, told(silent))
    )


def test_what_is_missing_is_counted() -> None:
    run = replace(
        RUN,
        status=RunStatus.UNKNOWN,
        state=RunState.OPEN,
        orphans=2,
        dropped_attributes=1,
        dropped_links=3,
        unpriced_calls=4,
        usage_source="aggregate",
    )
    text = " ".join(limits(run, told(STEPS)))
    for part in (
        "root span never arrived. It may still come.",
        "2 steps name a parent that never arrived",
        "dropped 1 attribute, 3 links before sending",
        "4 model calls could not be priced",
        "agent's own total",
    ):
        assert part in text


def test_a_library_that_hides_the_cache_is_named() -> None:
    steps = [
        replace(step, scope_name="semantic_kernel.functions", cached_tokens=None) for step in STEPS
    ]
    assert any("Semantic Kernel does not report them" in one for one in limits(RUN, told(steps)))
