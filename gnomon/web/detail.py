"""One step, for the right column: content, facts, raw span, and which rule filled what."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from collector.spans import LogRecord, Span
from collector.views import Earlier, Outline
from gnomon.model import Document, Evaluation, Kind, Run, Step
from gnomon.web.blocks import Block, block
from gnomon.web.conversation import Conversation, conversation
from gnomon.web.formats import count, duration, usd
from gnomon.web.jsontext import parsed, written
from gnomon.web.port import Explain, PageReader

Side = Literal["content", "facts", "raw", "explain"]
SIDES: dict[str, Side] = {"": "content", "facts": "facts", "raw": "raw", "explain": "explain"}
_TALK = frozenset({Kind.LLM, Kind.AGENT, Kind.WORKFLOW, Kind.CHAIN, Kind.GUARDRAIL, Kind.OTHER})


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One argument that differs from the last call of this tool that went well."""

    name: str
    was: str
    now: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """The span as it came."""

    span: Span
    tables: Sequence[tuple[str, Sequence[tuple[str, Block]]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One line of the explanation."""

    field: str
    value: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What the right column shows of one step."""

    key: str
    step: Step
    side: Side
    name: str
    line: Sequence[str]
    offset_ns: int
    facts: Sequence[tuple[str, str]] = ()
    talk: Conversation | None = None
    arguments: Block | None = None
    result: Block | None = None
    differences: Sequence[Difference] | None = None
    """None: there is no earlier call to compare with."""
    query: str | None = None
    documents: Sequence[Document] = ()
    evaluations: Sequence[Evaluation] = ()
    raw: Raw | None = None
    rules: Sequence[Rule] | None = None
    full: bool = False

    @property
    def error_message(self) -> str:
        """The message without the class it often begins with."""
        message = self.step.error_message or ""
        return message.removeprefix(f"{self.step.error_type}: ")


def name_of(step: Outline | Step) -> str:
    """Return what a step is called: tool, model or agent, else its span."""
    name: str | None = None
    match step.kind:
        case Kind.TOOL:
            name = step.tool_name
        case Kind.LLM | Kind.EMBEDDING:
            name = step.model
        case Kind.AGENT:
            name = step.agent_name
        case _:
            name = None
    return name or step.span_name or step.span_id


def detail(
    reader: PageReader,
    run: Run,
    at: tuple[str, str],
    *,
    key: str,
    side: Side,
    explain: Explain | None,
    full: bool = False,
) -> Detail | None:
    """Read what one side of a step needs, and nothing else; None when the step is gone.

    `at`: its trace and span; `key`: its name in addresses.
    """
    step = reader.step(*at)
    if step is None:
        return None
    common = {
        "key": key,
        "step": step,
        "side": side,
        "name": name_of(step),
        "line": _line(step),
        "offset_ns": step.started_at - run.started_at,
        "full": full,
    }
    match side:
        case "content":
            shown = () if step.kind in _TALK else facts(step)
            return _content(reader, run, step, common | {"facts": shown}, full=full)
        case "facts":
            return Detail(**common, facts=facts(step))  # type: ignore[arg-type]
        case "raw":
            return Detail(**common, raw=_raw(reader, step, full=full))  # type: ignore[arg-type]
        case "explain":
            return Detail(**common, rules=_rules(reader, step, explain))  # type: ignore[arg-type]


def _content(
    reader: PageReader, run: Run, step: Step, common: dict[str, object], *, full: bool
) -> Detail:
    more: dict[str, object] = {"evaluations": step.evaluations}
    if step.kind in _TALK:
        before = reader.call_before(run, step) if step.kind is Kind.LLM else None
        said, *known = reader.bodies_of([step, before] if before else [step])
        more["talk"] = conversation(said, known[0] if known else None, full=full)
    if step.kind is Kind.RETRIEVAL:
        more |= {"query": step.query, "documents": reader.bodies_of([step])[0].documents}
    if step.tool_arguments is not None or step.tool_result is not None or step.kind is Kind.TOOL:
        more |= {
            "arguments": _block(step.tool_arguments, full=full),
            "result": _block(step.tool_result, full=full),
            "differences": _differences(step, reader.call_before(run, step)),
        }
    return Detail(**common, **more)  # type: ignore[arg-type]


def _block(text: str | None, *, full: bool) -> Block | None:
    return None if text is None else block(text, full=full, fold=False)


def _differences(step: Step, before: Earlier | None) -> Sequence[Difference] | None:
    """Return how the arguments differ from the last call of this tool that went well."""
    if before is None:
        return None
    was, now = _arguments(before.tool_arguments), _arguments(step.tool_arguments)
    return [
        Difference(name=name, was=was.get(name, "absent"), now=now.get(name, "absent"))
        for name in sorted({*was, *now})
        if was.get(name) != now.get(name)
    ]


def _arguments(text: str | None) -> dict[str, str]:
    value = parsed(text or "{}")
    if not isinstance(value, dict):
        value = {"": value}
    return {str(name): written(item)[:200] for name, item in value.items()}


def _line(step: Step) -> Sequence[str]:
    words = [duration(step.duration_ns)]
    if step.input_tokens is not None or step.output_tokens is not None:
        cached = f" ({count(step.cached_tokens)} cached)" if step.cached_tokens else ""
        words.append(f"{count(step.input_tokens)} in{cached}, {count(step.output_tokens)} out")
    if step.cost_usd is not None:
        words.append(usd(step.cost_usd))
    if step.finish_reason:
        words.append(f"finished: {step.finish_reason}")
    if step.attempts:
        words.append(f"{step.attempts} attempts")
    return words


_FACTS: Sequence[tuple[str, str]] = (
    ("provider", "Provider"),
    ("request_model", "Model asked for"),
    ("response_model", "Model that answered"),
    ("request_params", "Parameters"),
    ("service_tier", "Service tier"),
    ("streamed", "Streamed"),
    ("ttft_ns", "First token after"),
    ("finish_reason_raw", "Finish reason as sent"),
    ("response_id", "Response id"),
    ("input_tokens", "Input tokens"),
    ("cached_tokens", "of them cached"),
    ("cache_write_tokens", "of them written to cache"),
    ("output_tokens", "Output tokens"),
    ("reasoning_tokens", "of them reasoning"),
    ("aggregate_usage", "Total of the steps inside"),
    ("cost_usd", "Cost by price table"),
    ("cost_reported_usd", "Cost as reported"),
    ("tool_name", "Tool"),
    ("tool_call_id", "Tool call id"),
    ("tool_type", "Tool type"),
    ("handoff_from", "Hand-off from"),
    ("handoff_to", "Hand-off to"),
    ("agent_name", "Agent"),
    ("agent_version", "Agent version"),
    ("agent_path", "Inside"),
    ("workflow_name", "Workflow"),
    ("conversation_id", "Conversation"),
    ("user_id", "User"),
    ("business_keys", "Business keys"),
    ("prompt_name", "Prompt"),
    ("prompt_version", "Prompt version"),
    ("decision", "Decision"),
    ("decision_source", "Decided by"),
    ("attempts", "HTTP attempts"),
    ("guardrails", "Guardrails inside the call"),
    ("tags", "Tags"),
    ("graph_node", "Node of the graph"),
    ("graph_parent", "Reached from node"),
    ("graph_step", "Step of the graph"),
    ("status_from", "Status from"),
    ("counted", "Counted"),
    ("duplicate_reason", "Not counted because"),
    ("duplicate_of", "Same call as"),
    ("content_captured", "Content captured"),
    ("flags", "Flags"),
    ("dialect", "Dialect"),
    ("scope_name", "Scope"),
    ("scope_version", "Scope version"),
    ("service_name", "Service"),
    ("service_version", "Service version"),
    ("environment", "Environment"),
    ("span_name", "Span name"),
)


def facts(step: Step) -> Sequence[tuple[str, str]]:
    """Return every field that is known, in words; a field nobody reported is left out."""
    found = []
    for name, label in _FACTS:
        value = getattr(step, name)
        if value is not None and value != "" and value != () and value != {} and value != []:
            found.append((label, _written(name, value)))
    return found


def _written(name: str, value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int() if name.endswith("_ns"):
            return duration(value)
        case int():
            return count(value)
        case float() if name.endswith("_usd"):
            return usd(value)
        case dict():
            return ", ".join(f"{key} {item}" for key, item in value.items())
        case list() | tuple():
            return " / ".join(value) if name == "agent_path" else ", ".join(map(str, value))
        case _:
            return str(value)


def _raw(reader: PageReader, step: Step, *, full: bool) -> Raw | None:
    span = reader.span(step.trace_id, step.span_id)
    if span is None:
        return None

    def table(values: dict[str, str]) -> Sequence[tuple[str, Block]]:
        return [(name, block(text, full=full)) for name, text in sorted(values.items())]

    tables = [("Attributes", table(dict(span.attributes)))]
    for event in span.events:
        shown = duration(max(0, event.time - span.start))
        tables.append((f"Event {event.name}, after {shown}", table(dict(event.attributes))))
    tables += [
        (f"Log {log.event_name}".rstrip(), table(_of_log(log)))
        for log in reader.span_logs(step.trace_id, step.span_id)
    ]
    tables += [
        (f"Link to {link.trace_id} {link.span_id}", table(dict(link.attributes)))
        for link in span.links
    ]
    tables.append(("Resource", table(dict(span.resource))))
    return Raw(span=span, tables=tables)


def _of_log(log: LogRecord) -> dict[str, str]:
    return {**log.attributes, **({"body": log.body} if log.body else {})}


def _rules(reader: PageReader, step: Step, explain: Explain | None) -> Sequence[Rule] | None:
    span = reader.span(step.trace_id, step.span_id)
    if span is None or explain is None:
        return None
    found = explain(span, reader.span_logs(step.trace_id, step.span_id))
    return [Rule(field=one.field, value=_plain(one.value), rule=one.rule) for one in found]


def _plain(value: object) -> str:
    """Return a value as the API writes it, cut."""
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    return block(text).text[:400]
