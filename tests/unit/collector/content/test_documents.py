"""Documents, queries, judgments and prompts from every key of the table."""

from typing import Any

import pytest

from collector.dialects import content
from gnomon.model import Document, Evaluation, Kind
from tests.unit.collector.content.reading import event, log, named, parts, read, span, text

PLAIN = [Document(id="d1", content="30 days", metadata='{"source":"a"}')]
LANGCHAIN = {"page_content": "30 days", "metadata": {"source": "a"}, "id": "d1"}


@pytest.mark.parametrize(
    "attributes",
    [
        {"output.value": {"documents": [LANGCHAIN]}},
        {"output.value": [LANGCHAIN]},
        {"traceloop.entity.output": {"documents": [LANGCHAIN], "count": 1}},
        {"gen_ai.completion": {"output": [LANGCHAIN]}},
        {"gen_ai.completion": {"documents": [{"lc": 1, "id": ["x", "Document"], "kwargs": LANGCHAIN}]}},
        {"haystack.component.output": {"documents": [{"id": "d1", "content": "30 days", "meta": {"source": "a"}}]}},
        {"mlflow.spanOutputs": [LANGCHAIN]},
        {"langfuse.observation.output": [{"id": "d1", "text": "30 days", "metadata": {"source": "a"}}]},
        {"output.value": ['{"node": {"id_": "d1", "metadata": {"source": "a"}, "text_resource": {"text": "30 days"}}, "score": null}']},
        {
            "retrieval.documents.0.document.id": "d1",
            "retrieval.documents.0.document.content": "30 days",
            "retrieval.documents.0.document.metadata": '{"source":"a"}',
        },
    ],
)  # fmt: skip
def test_documents_of_every_dialect_are_found(attributes: dict[str, Any]) -> None:
    assert list(read(attributes, Kind.RETRIEVAL).documents) == PLAIN
    assert content.content_captured(span(attributes), Kind.RETRIEVAL)


def test_documents_without_content_keep_id_and_score() -> None:
    found = content.documents(span({"gen_ai.retrieval.documents": [{"id": "d1", "score": 0.5}]}))
    assert found == [Document(id="d1", score=0.5)]


def test_flattened_documents_are_ordered_by_number() -> None:
    attributes = {
        f"retrieval.documents.{number}.document.content": str(number) for number in (10, 2, 1)
    }
    assert [one.content for one in content.documents(span(attributes))] == ["1", "2", "10"]


def test_rerankers_return_their_output() -> None:
    found = content.documents(
        span(
            {
                "reranker.input_documents.0.document.content": "in",
                "reranker.output_documents.0.document.content": "out",
                "reranker.output_documents.0.document.score": "0.5",
            }
        )
    )
    assert found == [Document(content="out", score=0.5)]


def test_rerankers_read_the_documents_they_put_in_order() -> None:
    given = {
        "reranker.query": "refunds",
        **{f"reranker.input_documents.{n}.document.content": f"text {n}" for n in (1, 0)},
        "reranker.input_documents.0.document.id": "d0",
    }
    step = span(given)
    assert parts(read(given, Kind.RETRIEVAL).input) == [text("text 0"), text("text 1")]
    assert content.documents(step) == [], "what it was given is not what it returned"
    assert content.content_captured(step, Kind.RETRIEVAL)


def test_vector_stores_return_documents_in_events() -> None:
    step = span(
        events=[
            event("db.query.result", 2, id="d2", distance="0.2", document="b"),
            event("db.query.result", 1, id="d1", score="0.9", document="a", metadata='{"s":1}'),
        ]
    )
    assert content.documents(step) == [
        Document(id="d1", score=0.9, content="a", metadata='{"s":1}'),
        Document(id="d2", score=0.2, content="b"),
    ]
    assert content.content_captured(step, Kind.RETRIEVAL)


@pytest.mark.parametrize(
    "words", ["<Node>", ["<NodeWithScore(x)>"], {"documents": []}, "[1, 2]", "{broken", "", {}]
)
def test_reprs_and_other_things_are_no_documents(words: Any) -> None:
    assert content.documents(span({"output.value": words})) == []


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.retrieval.query.text": "why?"},
        {"reranker.query": "why?"},
        {"input.value": "why?"},
        {"input.value": {"query_bundle": {"query_str": "why?", "embedding": None}}},
        {"input.value": {"query": "why?", "filters": None}},
        {"langfuse.observation.input": "why?"},
        {"mlflow.spanInputs": {"q": "why?"}},
        {"haystack.component.input": {"query": "why?", "top_k": None}},
        {"traceloop.entity.input": {"args": ["why?"], "kwargs": {}}},
    ],
)
def test_the_query_of_a_retrieval_is_found(attributes: dict[str, Any]) -> None:
    assert content.query_told(span(attributes)) == (next(iter(attributes)), "why?")


def test_a_retrieval_without_a_query_has_none() -> None:
    assert content.query_told(span({"input.value": {"top_k": 3, "filters": {}}})) is None


@pytest.mark.parametrize("scope", ["", "trace.", "session."])
@pytest.mark.parametrize(("listed", "inner"), [("evaluations", "evaluation"), ("annotations", "annotation")])  # fmt: skip
def test_flattened_judgments_are_found(scope: str, listed: str, inner: str) -> None:
    start = f"{scope}{listed}.0.{inner}."
    found = content.evaluations(
        span(
            {
                f"{start}name": "helpful",
                f"{start}score": "0.9",
                f"{start}label": "good",
                f"{start}explanation": "clear",
                f"{start}annotator_kind": "LLM",
            }
        )
    )
    assert found == [
        Evaluation(name="helpful", score=0.9, label="good", explanation="clear", annotator="LLM")
    ]


def test_judgments_in_logs_belong_to_the_span_they_name() -> None:
    logs = [
        log(
            "gen_ai.evaluation.result",
            time=2,
            **{"gen_ai.evaluation.name": "b", "error.type": "JudgeDown"},
        ),
        log(
            "gen_ai.evaluation.result",
            time=1,
            **{"gen_ai.evaluation.name": "a", "gen_ai.evaluation.score.value": "0"},
        ),
        log("gen_ai.evaluation.result", span_id="b", **{"gen_ai.evaluation.name": "c"}),
    ]
    expected = [Evaluation(name="a", score=0.0), Evaluation(name="b", error_type="JudgeDown")]
    assert content.evaluations(span(), logs) == expected
    assert content.evaluations(span(), logs[::-1]) == expected


def test_judgments_in_span_events_are_found() -> None:
    step = span(
        events=[named("gen_ai.evaluation.result", {"gen_ai.evaluation.name": "a", "gen_ai.evaluation.score.label": "pass"})]
    )  # fmt: skip
    assert content.evaluations(step) == [Evaluation(name="a", label="pass")]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (
            {
                "mlflow.assessment.quality": {
                    "assessment_name": "quality",
                    "feedback": {"value": 0.8},
                    "rationale": "clear",
                    "source": {"source_type": "LLM_JUDGE", "source_id": "j"},
                }
            },
            Evaluation(name="quality", score=0.8, explanation="clear", annotator="LLM_JUDGE"),
        ),
        (
            {"mlflow.assessment.ok": {"feedback": {"value": "yes"}}},
            Evaluation(name="ok", score=1.0, label="yes"),
        ),
        (
            {
                "mlflow.assessment.tone.value": '"polite"',
                "mlflow.assessment.tone.rationale": '"kind words"',
            },
            Evaluation(name="tone", label="polite", explanation="kind words"),
        ),
        (
            {"mlflow.assessment.bad": {"feedback": {"value": None, "error": {"error_code": "E"}}}},
            Evaluation(name="bad", error_type="E"),
        ),
        ({"mlflow.assessment.n": "0.5"}, Evaluation(name="n", score=0.5)),
    ],
)
def test_assessments_of_mlflow_are_found(attributes: dict[str, Any], expected: Evaluation) -> None:
    assert content.evaluations(span(attributes)) == [expected]


@pytest.mark.parametrize(
    ("dialect", "word"),
    [
        ("otel-genai", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"),
        ("anthropic-sdk", "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"),
        ("claude-code", "OTEL_LOG_USER_PROMPTS"),
        ("haystack", "HAYSTACK_CONTENT_TRACING_ENABLED"),
        ("semantic-kernel", "OTEL_DIAGNOSTICS_SENSITIVE"),
        ("agent-framework", "ENABLE_SENSITIVE_DATA"),
        ("openllmetry", "TRACELOOP_TRACE_CONTENT"),
    ],
)
def test_the_switch_of_a_dialect_is_named(dialect: str, word: str) -> None:
    assert word in (content.switch_for(dialect) or "")


def test_dialects_without_a_switch_name_none() -> None:
    assert content.switch_for("langfuse") is None
