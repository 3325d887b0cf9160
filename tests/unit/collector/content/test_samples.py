"""Every recorded request gives the content its expected.json states, by the tolerance of the README."""

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import pytest

from collector.dialects import content
from collector.dialects.read import read_span
from collector.spans import LogRecord, Span
from gnomon.model import Bodies, Kind
from tests import samples
from tests.unit.collector.content.reading import tool_calls

pytestmark = pytest.mark.skipif(not samples.names(), reason=samples.WHY_SKIPPED)


class Reading:
    """One span of a sample, what the file states about it, and what is read."""

    def __init__(
        self, span: Span, stated: dict[str, Any], logs: list[LogRecord], duplicates: list[Span]
    ) -> None:
        self.span, self.stated, self.logs = span, stated, logs
        self.kind = Kind(stated["kind"])
        self.duplicates = duplicates

    def bodies(self) -> Bodies:
        return content.read_bodies(self.span, self.kind, self.logs, self.duplicates)

    def call(self) -> content.ToolCall:
        """Return the call, with what it lacks from other reports of it."""
        call = content.tool_call(self.span, self.kind, self.logs)
        for twin in self.duplicates:
            other = content.tool_call(twin, self.kind, self.logs)
            lacking = [one.name for one in fields(call) if getattr(call, one.name) is None]
            call = replace(call, **{name: getattr(other, name) for name in lacking})
        return call

    def __str__(self) -> str:
        return f"{self.span.name} {self.span.span_id}"


def readings(name: str, *keys: str) -> Iterator[Reading]:
    expected = samples.expected(name)
    spans = {span.span_id: span for span in samples.spans(name)}
    logs = samples.logs(name)
    for stated in expected["spans"]:
        if all(key in stated for key in keys):
            twins = [
                spans[other["span_id"]]
                for other in expected["spans"]
                if other.get("duplicate_of") == stated["span_id"]
            ]
            yield Reading(spans[stated["span_id"]], stated, logs, twins)


def with_key(*keys: str) -> list[str]:
    return [
        name
        for name in samples.names()
        if any(all(key in span for key in keys) for span in samples.expected(name)["spans"])
    ]


@pytest.mark.parametrize("name", with_key("output_contains"))
def test_the_answer_of_the_model_stands_in_the_output(name: str) -> None:
    for read in readings(name, "output_contains"):
        output = read.bodies().output
        assert output is not None, read
        texts = [
            part["text"]
            for turn in json.loads(output)
            for part in turn["parts"]
            if part["type"] == "text"
        ]
        assert any(read.stated["output_contains"] in text for text in texts), (read, output)
        assert content.content_captured(read.span, read.kind, read.logs) or read.duplicates, read


@pytest.mark.parametrize("name", with_key("output_contains"))
def test_output_comes_from_where_the_file_says(name: str) -> None:
    for read in readings(name, "output_contains", "output_from"):
        if read.duplicates:
            continue
        bare = Span(
            trace_id=read.span.trace_id,
            span_id=read.span.span_id,
            name=read.span.name,
            start=read.span.start,
            end=read.span.end,
            attributes=read.span.attributes,
        )
        match read.stated["output_from"]:
            case "span":
                found = content.read_bodies(bare, read.kind)
            case "event":
                assert content.read_bodies(bare, read.kind).output is None, read
                found = content.read_bodies(read.span, read.kind)
            case _:
                assert content.read_bodies(read.span, read.kind).output is None, read
                found = content.read_bodies(bare, read.kind, read.logs)
        assert read.stated["output_contains"] in (content.assistant_text(found) or ""), read


@pytest.mark.parametrize("name", with_key("output_tool_calls"))
def test_tool_calls_of_the_model_are_found(name: str) -> None:
    for read in readings(name, "output_tool_calls"):
        found = [call["name"] for call in tool_calls(read.bodies())]
        accepted = [read.stated["output_tool_calls"], *read.stated.get("tool_calls_accept", [])]
        assert found in accepted, read


@pytest.mark.parametrize("name", with_key("tool_name"))
def test_tool_names_are_exact(name: str) -> None:
    for read in readings(name, "tool_name"):
        assert read.call().name == read.stated["tool_name"], read


@pytest.mark.parametrize("name", with_key("tool_call_id"))
def test_tool_call_ids_are_exact(name: str) -> None:
    for read in readings(name, "tool_call_id"):
        assert read.call().id == read.stated["tool_call_id"], read


@pytest.mark.parametrize("name", with_key("tool_args"))
def test_tool_arguments_are_what_the_model_asked(name: str) -> None:
    for read in readings(name, "tool_args"):
        arguments = read.call().arguments
        assert arguments is not None, read
        assert same_arguments(json.loads(arguments), read.stated["tool_args"]), (read, arguments)


def same_arguments(found: Any, stated: Any) -> bool:
    """Compare by the README: a bare value or `arg0` equals any one-key object with that value."""

    def bare(value: Any) -> Any:
        return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value

    loose = not isinstance(stated, dict) or not isinstance(found, dict)
    loose = loose or "arg0" in stated or "arg0" in found
    return bare(found) == bare(stated) if loose else bool(found == stated)


@pytest.mark.parametrize("name", with_key("tool_result"))
def test_tool_results_are_unwrapped(name: str) -> None:
    for read in readings(name, "tool_result"):
        result, stated = read.call().result, read.stated["tool_result"]
        assert result is not None, read
        if isinstance(stated, str):
            assert result == stated or stated in result, (read, result)
        else:
            assert json.loads(result) == stated, (read, result)


@pytest.mark.parametrize("name", samples.names())
def test_failed_tools_without_a_stated_result_have_none(name: str) -> None:
    for read in readings(name, "tool_name"):
        if "tool_result" not in read.stated and read.span.status_code == "Error":
            assert read.call().result is None, read


@pytest.mark.parametrize("name", with_key("documents"))
def test_documents_are_found_with_their_content(name: str) -> None:
    for read in readings(name, "documents"):
        found = read.bodies().documents
        assert [document.content for document in found] == read.stated["documents"], read


@pytest.mark.parametrize("name", with_key("documents_count"))
def test_documents_are_counted(name: str) -> None:
    for read in readings(name, "documents_count"):
        assert len(read.bodies().documents) == read.stated["documents_count"], read


@pytest.mark.parametrize("name", with_key("evaluations"))
def test_evaluations_on_spans_are_found(name: str) -> None:
    for read in readings(name, "evaluations"):
        found = content.evaluations(read.span, read.logs)
        for evaluation, stated in zip(found, read.stated["evaluations"], strict=True):
            assert evaluation.name == stated["name"]
            assert evaluation.score == stated.get("score")
            assert evaluation.label == stated.get("label")
            assert evaluation.explanation == stated.get("explanation")
            assert evaluation.annotator == stated.get("annotator_kind")


def with_logged_evaluations() -> list[str]:
    return [name for name in samples.names() if samples.expected(name).get("evaluations_in_logs")]


@pytest.mark.parametrize("name", with_logged_evaluations())
def test_evaluations_in_logs_belong_to_their_span(name: str) -> None:
    stated = samples.expected(name)["evaluations_in_logs"]
    found = [
        (read.span.span_id, evaluation)
        for read in readings(name)
        for evaluation in content.evaluations(read.span, read.logs)
    ]
    assert len(found) == len(stated)
    for item in stated:
        matching = [
            evaluation
            for span_id, evaluation in found
            if span_id == item["span_id"] and evaluation.name == item["name"]
        ]
        assert len(matching) == 1, item
        for key in ("score", "label", "explanation", "error_type"):
            if key in item:
                assert getattr(matching[0], key) == item[key], (item, key)


@pytest.mark.parametrize("name", with_key("prompt_version"))
def test_prompts_are_named_with_their_version(name: str) -> None:
    for read in readings(name, "prompt_version"):
        found = read_span(read.span).values
        assert found["prompt_version"] == read.stated["prompt_version"], read
        if "prompt_name" in read.stated:
            assert found["prompt_name"] == read.stated["prompt_name"], read


@pytest.mark.parametrize("name", samples.names())
def test_the_index_of_logs_gives_what_all_logs_give(name: str) -> None:
    index = content.LogIndex(samples.logs(name))
    for read in readings(name):
        own = index.of(read.span)
        assert content.tool_call(read.span, read.kind, own) == content.tool_call(
            read.span, read.kind, read.logs
        )
        assert content.read_bodies(read.span, read.kind, own) == content.read_bodies(
            read.span, read.kind, read.logs
        )
        assert content.content_captured(read.span, read.kind, own) == content.content_captured(
            read.span, read.kind, read.logs
        )


@pytest.mark.parametrize("name", samples.names())
def test_content_is_captured_exactly_where_bodies_are_found(name: str) -> None:
    for read in readings(name):
        bodies = content.read_bodies(read.span, read.kind, read.logs)
        found = bool(bodies.input or bodies.output or bodies.documents)
        captured = content.content_captured(read.span, read.kind, read.logs)
        if found:
            assert captured, read
        if captured and read.kind in (Kind.LLM, Kind.TOOL) and read.span.status_code != "Error":
            assert found, read


@pytest.mark.parametrize("name", samples.names())
def test_the_order_of_logs_and_duplicates_changes_nothing(name: str) -> None:
    for read in readings(name):
        again = content.read_bodies(read.span, read.kind, read.logs[::-1], read.duplicates[::-1])
        assert again == read.bodies()
