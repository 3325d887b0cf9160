"""Judgments that came with the telemetry: log events, flattened lists, MLflow assessments."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from collector.dialects.content.records import own
from collector.dialects.keysets import Keys, OfKeys
from collector.dialects.values import (
    as_bool,
    as_float,
    as_object,
    as_text,
    found,
    indexed,
    unquoted,
)
from collector.spans import LogRecord, Span
from gnomon.model import Evaluation, JsonValue

_EVENT: Final = "gen_ai.evaluation.result"
_SCOPES: Final = ("", "trace.", "session.")
_LISTS: Final = (("evaluations", "evaluation."), ("annotations", "annotation."))
_PREFIXES: Final = tuple(f"{scope}{name}" for scope in _SCOPES for name, _ in _LISTS)
_MLFLOW: Final = "mlflow.assessment."
_READ: Final = ("name", "score", "label", "explanation", "annotator_kind", "identifier")
_LISTED: Final = re.compile(
    rf"({'|'.join(map(re.escape, _SCOPES))})(evaluations\.\d+\.evaluation|annotations\.\d+\.annotation)"
    rf"\.({'|'.join(_READ)})"
)
_STARTS: Final = (*(f"{prefix}." for prefix in _PREFIXES), _MLFLOW)


def evaluations(span: Span, logs: Sequence[LogRecord] = ()) -> list[Evaluation]:
    """Return the judgments of a span: its own attributes and events, then its log records."""
    judged: list[Evaluation] = []
    if _is_judged(span.attributes):
        judged += _flattened(span.attributes)
        judged += _mlflow(span.attributes)
    judged += [_of_event(event.attributes) for event in span.events if event.name == _EVENT]
    judged += [_of_event(log.attributes) for log in own(span, logs, _EVENT)]
    return judged


def evaluations_told(span: Span, logs: Sequence[LogRecord] = ()) -> list[str]:
    """Return where `evaluations` reads: the attributes of the span, and the events of both."""
    keys = sorted(
        key for key in span.attributes if _LISTED.fullmatch(key) or key.startswith(_MLFLOW)
    )
    events = any(event.name == _EVENT for event in span.events) or bool(own(span, logs, _EVENT))
    return [*keys, *([_EVENT] if events else [])]


@OfKeys
def _is_judged(keys: Keys) -> bool:
    return any(key.startswith(_STARTS) for key in keys)


def _of_event(attributes: Mapping[str, str]) -> Evaluation:
    """Read an event `gen_ai.evaluation.result`; a judge that failed has an error type."""
    return Evaluation(
        name=attributes.get("gen_ai.evaluation.name", ""),
        score=as_float(attributes.get("gen_ai.evaluation.score.value")),
        label=found(attributes.get("gen_ai.evaluation.score.label")),
        explanation=found(attributes.get("gen_ai.evaluation.explanation")),
        error_type=found(attributes.get("error.type")),
    )


def _flattened(attributes: Mapping[str, str]) -> Iterator[Evaluation]:
    """Read `evaluations.N.evaluation.*` and `annotations.N.annotation.*`, of span, trace, session."""
    for scope in _SCOPES:
        for name, inner in _LISTS:
            for entry in indexed(attributes, f"{scope}{name}").values():
                yield _of_entry(entry, inner)


def _of_entry(entry: Mapping[str, str], prefix: str) -> Evaluation:
    return Evaluation(
        name=entry.get(f"{prefix}name", ""),
        score=as_float(entry.get(f"{prefix}score")),
        label=found(entry.get(f"{prefix}label")),
        explanation=found(entry.get(f"{prefix}explanation")),
        annotator=found(entry.get(f"{prefix}annotator_kind"))
        or found(entry.get(f"{prefix}identifier")),
    )


def _mlflow(attributes: Mapping[str, str]) -> Iterator[Evaluation]:
    """Read `mlflow.assessment.X`: a JSON object, or fields `mlflow.assessment.X.value` and so on."""
    fields: dict[str, dict[str, JsonValue]] = {}
    for key in sorted(attributes):
        if key.startswith(_MLFLOW):
            name, _, field = key[len(_MLFLOW) :].partition(".")
            told = dict(as_object(attributes[key])) if not field else {}
            fields.setdefault(name, {}).update(
                told or {field or "value": unquoted(attributes[key])}
            )
    for name, told in fields.items():
        yield _of_assessment(name, told)


def _of_assessment(key: str, told: Mapping[str, JsonValue]) -> Evaluation:
    holder = told.get("feedback", told.get("expectation"))
    holder = holder if isinstance(holder, Mapping) else told
    value = holder.get("value")
    score = _score(value)
    source, error = told.get("source"), holder.get("error", told.get("error"))
    return Evaluation(
        name=_named(told, "assessment_name", "name") or key,
        score=score,
        label=as_text(value) if as_float(value) is None else None,
        explanation=_named(told, "rationale", "explanation"),
        annotator=_named(source, "source_type", "source_id")
        or _named(told, "source_type", "source.source_type", "source"),
        error_type=_named(error, "error_code", "error_message") or _named(told, "error_code"),
    )


def _score(value: JsonValue) -> float | None:
    """Return a numeric verdict; yes and no count as 1 and 0, words have no score."""
    number = as_float(value)
    if number is not None:
        return number
    truth = as_bool(value)
    return None if truth is None else float(truth)


def _named(told: JsonValue, *keys: str) -> str | None:
    if not isinstance(told, Mapping):
        return found(told) if isinstance(told, str) else None
    values = (told.get(key) for key in keys)
    return next((value for value in values if isinstance(value, str) and value), None)
