"""Order, repetition and delay change no number (promise 3), and no text makes the fold raise."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collector.dialects.kinds import BY_KEY, BY_NAME
from collector.dialects.table import INDEX
from collector.spans import Event, LogRecord, Span
from tests import samples
from tests.spans import START, TRACE, fold, make_log, make_span

NAMES = samples.names()
KEYS = sorted({*INDEX.keys, *BY_KEY, "metadata.usage_object", "output.value", "mcp.method.name"})
SPAN_NAMES = sorted(
    {*BY_NAME, "handoff to B", "A → B.handoff", "tools/call x", "haystack.component.run"}
)
SCOPES = [
    "",
    "openinference.instrumentation.openai_agents",
    "opentelemetry.instrumentation.openai.v1",
    "com.anthropic.sdk.python",
    "com.anthropic.claude_code.tracing",
    "pydantic-ai",
    "logfire",
    "gcp.vertex.agent",
    "fastmcp",
]
KINDS = ["chat", "embeddings", "execute_tool", "invoke_agent", "retrieval", "handoff", ""]
VALUES = st.one_of(
    st.text(max_size=20),
    st.integers(-5, 100).map(str),
    st.sampled_from(
        ["LLM", "TOOL", "AGENT", "true", "false", "[]", "{}", '["stop"]', '{"model": "m"}']
    ),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
        ),
        max_leaves=8,
    ).map(repr),
)
MAPS = st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=12), VALUES, max_size=10)


@st.composite
def spans(draw) -> list[Span]:
    """Draw a trace of up to eight spans that may hold anything, parents included."""
    found = []
    for number in range(1, draw(st.integers(1, 8)) + 1):
        operation = {"gen_ai.operation.name": draw(st.sampled_from(KINDS))}
        ids = {"gen_ai.response.id": draw(st.sampled_from(["x", "y", ""]))}
        found.append(
            make_span(
                number,
                draw(st.integers(1, 9) | st.just("")),
                start=draw(st.integers(0, 3)),
                seconds=draw(st.integers(-1, 3)),
                trace_id=draw(st.sampled_from([TRACE, "b" * 32])),
                name=draw(st.sampled_from(SPAN_NAMES) | st.text(max_size=10)),
                scope_name=draw(st.sampled_from(SCOPES)),
                status_code=draw(st.sampled_from(["Unset", "Ok", "Error"])),
                attributes=draw(MAPS) | operation | ids,
                resource=draw(MAPS),
                events=[
                    Event(time=START, name=name, attributes=draw(MAPS))
                    for name in draw(
                        st.lists(st.sampled_from(["exception", "gen_ai.choice"]), max_size=2)
                    )
                ],
            )
        )
    return found


@st.composite
def traces(draw) -> tuple[list[Span], list[LogRecord]]:
    drawn = draw(spans())
    events = ["gen_ai.choice", "api_request", "gen_ai.client.inference.operation.details", ""]
    logs = [
        make_log(draw(st.sampled_from(events)), span, attributes=draw(MAPS), body=draw(VALUES))
        for span in drawn
        if draw(st.booleans())
    ]
    return drawn, logs


WATCHED = {
    "runs": {"run_id": "session.id"},
    "business_keys": {"order": {"attributes": ["user.id"], "tool_arguments": ["model"]}},
    "prices": [{"model": "*", "input": 1, "output": 2}],
}


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(drawn=traces(), shuffled=st.randoms(use_true_random=False))
def test_promise_3_whatever_arrives_in_whatever_order_folds_alike(drawn, shuffled):
    own_spans, own_logs = drawn
    first = fold(own_spans, own_logs, watched=WATCHED)
    spans_again = own_spans * 2
    logs_again = own_logs * 2
    shuffled.shuffle(spans_again)
    shuffled.shuffle(logs_again)
    turned = [
        replace(span, attributes=dict(reversed(span.attributes.items()))) for span in spans_again
    ]
    assert fold(turned, logs_again, watched=WATCHED) == first
    identities = {(span.trace_id, span.span_id) for span in own_spans}
    assert {(step.trace_id, step.span_id) for step in first.steps} == identities
    assert sum(run.spans for run in first.runs) == len(identities)


@settings(max_examples=60, deadline=None)
@given(
    attributes=st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=40),
    name=st.sampled_from(SPAN_NAMES),
)
def test_no_attribute_text_makes_the_fold_raise(attributes, name):
    for scope in SCOPES:
        made = make_span(attributes=attributes, name=name, scope_name=scope)
        folded = fold([made], watched=WATCHED)
        assert [step.span_id for step in folded.steps] == [made.span_id]


@pytest.mark.skipif(not NAMES, reason=samples.WHY_SKIPPED)
def test_promise_3_the_recorded_corpus_folds_alike_shuffled_doubled_and_at_once():
    apart = {}
    all_spans, all_logs = [], []
    for name in NAMES:
        own_spans, own_logs = samples.spans(name), samples.logs(name)
        for run in fold(own_spans, own_logs).runs:
            apart[run.run_id] = run
        all_spans += own_spans
        all_logs += own_logs
    together = fold([*reversed(all_spans), *all_spans], [*all_logs, *reversed(all_logs)])
    assert {run.run_id: run for run in together.runs} == apart
