"""How steps and runs are compared with the known answers of a recorded sample.

The rules are those of the README beside the samples: what must be equal, what has a tolerance,
and what is a matter of judgement (returned apart, and never a failure).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gnomon.model import Run, RunStatus, Step

USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cached_tokens",
    "cache_write": "cache_write_tokens",
    "reasoning": "reasoning_tokens",
}
EXACT = (
    "conversation_id",
    "user_id",
    "provider",
    "request_model",
    "response_model",
    "response_id",
    "tool_name",
    "tool_call_id",
    "handoff_from",
    "handoff_to",
)
JUDGED = ("agent_id", "workflow_name", "prompt_name", "prompt_version")
SOURCES = {"model steps": "model_steps", "outermost aggregate": "aggregate", None: None}


@dataclass
class Verdict:
    """What differs, and what differs in matters of judgement."""

    failures: list[str] = field(default_factory=list)
    judgements: list[str] = field(default_factory=list)


def compare(expected: Mapping[str, Any], steps: Sequence[Step], runs: Sequence[Run]) -> Verdict:
    """Compare every span, and the totals of every trace, with the known answers."""
    verdict = Verdict()
    by_id = {(step.trace_id, step.span_id): step for step in steps}
    if len(by_id) != expected["spans_total"]:
        verdict.failures.append(f"{len(by_id)} steps for {expected['spans_total']} spans")
    for answer in expected["spans"]:
        step = by_id.get((answer["trace_id"], answer["span_id"]))
        if step is None:
            verdict.failures.append(f"{answer['span_id']}: no step")
        else:
            where = f"{answer['span_id']} {answer['name'][:40]}"
            verdict.failures += [f"{where}: {text}" for text in _step(answer, step)]
            verdict.judgements += [f"{where}: {text}" for text in _judged(answer, step)]
    by_trace = {trace_id: run for run in runs for trace_id in run.trace_ids}
    for answer in expected["traces"]:
        run = by_trace.get(answer["trace_id"])
        spans = [span for span in expected["spans"] if span["trace_id"] == answer["trace_id"]]
        if run is None:
            verdict.failures.append(f"{answer['trace_id']}: no run")
        else:
            texts = [*_run(answer, run), *_totals(answer["totals"], run, spans)]
            verdict.failures += [f"trace {answer['trace_id'][:6]}: {text}" for text in texts]
    verdict.failures += _untold(expected, runs)
    return verdict


def _differ(name: str, ours: object, theirs: object) -> Iterable[str]:
    if ours != theirs:
        yield f"{name} is {ours!r}, not {theirs!r}"


def _step(answer: Mapping[str, Any], step: Step) -> Iterable[str]:
    yield from _differ("parent", step.parent_span_id, answer["parent_span_id"] or "")
    if step.kind != answer["kind"]:
        if step.kind not in answer.get("kind_accept", ()):
            yield f"kind is {step.kind}, not {answer['kind']}"
        return
    if "counted" in answer and not answer.get("duplicate_in_other_trace"):
        yield from _differ("counted", step.counted, answer["counted"])
    if answer.get("duplicate_of") and not answer.get("duplicate_in_other_trace"):
        yield from _differ("duplicate_of", step.duplicate_of, answer["duplicate_of"])
    for name in EXACT:
        if name in answer:
            yield from _differ(name, getattr(step, name), answer[name])
    if "agent_name" in answer and step.kind == "agent":
        yield from _differ("agent_name", step.agent_name, answer["agent_name"])
    yield from _usage(answer, step)
    yield from _tolerant(answer, step)


def _usage(answer: Mapping[str, Any], step: Step) -> Iterable[str]:
    if step.kind not in ("llm", "embedding") or not answer.get("counted"):
        return
    reported = answer.get("usage") or {}
    for name, field_name in USAGE.items():
        if name in reported or not reported:
            yield from _differ(field_name, getattr(step, field_name), reported.get(name))


def _tolerant(answer: Mapping[str, Any], step: Step) -> Iterable[str]:
    yield from _differ(
        "status", step.status, "ok" if answer["status"] == "unset" else answer["status"]
    )
    if answer.get("error_type"):
        yield from _differ("error_type", step.error_type, last_part(answer["error_type"]))
    if answer.get("error_message") and answer["error_message"][:50] not in (
        step.error_message or ""
    ):
        yield f"error_message is {step.error_message!r}, not {answer['error_message'][:50]!r}"
    if "model" in answer and not _same_model(step.model, answer["model"]):
        yield f"model is {step.model!r}, not {answer['model']!r}"
    if "finish_reason" in answer:
        asked = answer["finish_reason"] == "stop" and bool(answer.get("output_tool_calls"))
        if not (asked and step.finish_reason == "tool_call"):
            yield from _differ("finish_reason", step.finish_reason, answer["finish_reason"])
    if "tool_args" in answer and not same_arguments(step.tool_arguments, answer["tool_args"]):
        yield f"tool_arguments is {step.tool_arguments!r}, not {answer['tool_args']!r}"
    if "tool_result" in answer and not same_result(step.tool_result, answer["tool_result"]):
        yield f"tool_result is {step.tool_result!r}, not {answer['tool_result']!r}"


def last_part(text: str) -> str:
    """Return the last dotted part of a class, `<class '…'>` unwrapped."""
    named = re.search(r"<class '([^']+)'>", text)
    return (named.group(1) if named else text).rpartition(".")[2]


def _same_model(ours: str | None, theirs: str | None) -> bool:
    if ours == theirs:
        return True
    return bool(ours and theirs and re.fullmatch(re.escape(theirs) + r"-\d[\d-]*", ours))


def _plain(value: object) -> object:
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def same_arguments(ours: str | None, theirs: object) -> bool:
    """Tell whether arguments are equal; a bare value equals a one-key object with that value."""
    mine, known = _plain(ours), _plain(theirs)
    if mine == known:
        return True
    one, other = _only_value(mine), _only_value(known)
    return one == other and (not isinstance(mine, dict) or not isinstance(known, dict))


def _only_value(value: object) -> object:
    if isinstance(value, dict) and len(value) == 1:
        return next(iter(value.values()))
    return value


def same_result(ours: str | None, theirs: object) -> bool:
    """Tell whether results are equal after joining text blocks, or contained."""
    mine, known = _joined(_plain(ours)), _joined(_plain(theirs))
    return mine == known or (bool(known) and known in mine) or (bool(mine) and mine in known)


def _joined(value: object) -> str:
    if isinstance(value, list):
        return "".join(
            _joined(item.get("text", item) if isinstance(item, dict) else item) for item in value
        )
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _judged(answer: Mapping[str, Any], step: Step) -> Iterable[str]:
    for name in JUDGED:
        if name in answer:
            yield from _differ(name, getattr(step, name), answer[name])
    if "agent_name" in answer and step.kind != "agent":
        yield from _differ("agent_name", step.agent_name, answer["agent_name"])
    if "cost_usd" in answer:
        yield from _differ("cost_reported_usd", step.cost_reported_usd, answer["cost_usd"])
    if "aggregate_usage" in answer:
        ours = {name: step.aggregate_usage.get(USAGE[name]) for name in answer["aggregate_usage"]}
        yield from _differ("aggregate_usage", ours, answer["aggregate_usage"])
    if "evaluations" in answer:
        yield from _differ("evaluations", len(step.evaluations), len(answer["evaluations"]))


def _run(answer: Mapping[str, Any], run: Run) -> Iterable[str]:
    yield from _differ("root_span_id", run.root_span_id, answer["root_span_id"])
    status = RunStatus.ERROR if answer["root_status"] == "error" else RunStatus.OK
    yield from _differ("status", run.status, status)
    yield from _differ("spans", run.spans, answer["spans"])
    known = answer.get("conversation_ids")
    if known and run.conversation_id not in known:
        yield f"conversation_id is {run.conversation_id!r}, not one of {known}"
    for name in answer.get("agent_names") or ():
        if name not in run.agents:
            yield f"agents are {run.agents}, without {name!r}"


def _totals(
    totals: Mapping[str, Any], run: Run, spans: Sequence[Mapping[str, Any]]
) -> Iterable[str]:
    merged = all(span.get("duplicate_in_other_trace") for span in spans) and not run.llm_calls
    if merged:
        return
    for name in ("llm_calls", "llm_errors", "embedding_calls", "tool_errors"):
        yield from _differ(name, getattr(run, name), totals[name])
    accepted = totals.get("tool_calls_accept", [totals["tool_calls"]])
    if run.tool_calls not in accepted:
        yield f"tool_calls is {run.tool_calls}, not one of {accepted}"
    yield from _differ("usage_source", run.usage_source, SOURCES[totals["usage_source"]])
    reported = totals["usage"]
    for name, field_name in USAGE.items():
        if name in reported or not reported:
            yield from _differ(field_name, getattr(run, field_name), reported.get(name))


def _untold(expected: Mapping[str, Any], runs: Sequence[Run]) -> Iterable[str]:
    """Tokens that the telemetry of a sample does not tell are None in every run of it."""
    for name, difference in expected["telemetry_differs_from_truth"].items():
        if name in USAGE and difference["telemetry"] is None:
            told = [getattr(run, USAGE[name]) for run in runs]
            if any(value is not None for value in told):
                yield f"{USAGE[name]} is {told}, though the telemetry does not tell"
