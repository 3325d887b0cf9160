"""The canonical reading: one span in, one step out; what the trace adds is filled in between."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from collector.dialects import content
from collector.dialects.belief import drop_beyond
from collector.dialects.failures import class_name, cut_message, error_type_of
from collector.dialects.models import finish_reason_of
from collector.dialects.read import Reading, read_span
from collector.dialects.tally import aggregated, settle, told_elsewhere
from collector.dialects.usage import TOKEN_FIELDS
from collector.dialects.values import MAX_INDEXED, dumps, found, unquoted
from collector.folding import bounds
from collector.folding.naming import Naming
from collector.quick import quick
from collector.short import NAME, short
from collector.spans import FLAGS_ATTRIBUTE, LogRecord, Span
from gnomon.model import MODEL_CALLS, JsonValue, Kind, Origin, RunId, SpanId, Step, TraceId

_step = quick(Step)
_ATTEMPT = "gen_ai.request.attempt"
_ORIGINS = {origin.value: origin for origin in Origin}
_EVALUATIONS = "evaluations.*, annotations.*, mlflow.assessment.*, gen_ai.evaluation.result"
_INGEST_FLAGS = ("truncated", "repaired_utf8", "orphan")


@dataclass(slots=True, eq=False)
class Draft:
    """A step while it is being read. `values` holds fields of `Step` by name."""

    span: Span
    reading: Reading
    kind: Kind
    logs: Sequence[LogRecord]
    values: dict[str, JsonValue]
    failed: bool
    flags: set[str] = field(default_factory=set)
    parent_id: str = ""
    parent: "Draft | None" = None
    depth: int = 0
    nearest: "Mapping[Kind, Draft]" = field(default_factory=dict)
    """The nearest ancestor of each kind that matters."""
    agent_path: tuple[str, ...] = ()
    own_name: str | None = None
    """The agent's name as the span itself gives it."""
    duplicate_of: "Draft | None" = None
    duplicate_reason: str | None = None
    has_duplicates: bool = False
    run_id: str | None = None

    @property
    def key(self) -> tuple[int, str]:
        """The order of steps inside a trace: start, then span id."""
        return self.span.start, self.span.span_id

    @property
    def has_usage(self) -> bool:
        """Tell whether the step itself reports tokens of a model call."""
        return "input_tokens" in self.values or "output_tokens" in self.values

    @property
    def is_model_call(self) -> bool:
        """Tell whether the step is one call of a model."""
        return self.kind in MODEL_CALLS

    def text(self, name: str) -> str | None:
        """Return a text field."""
        value = self.values.get(name)
        return value if isinstance(value, str) else None

    def fill(self, name: str, value: JsonValue, rule: str, key: str) -> None:
        """Fill a field that nobody has filled yet; nothing is overwritten."""
        if value is not None and self.values.get(name) is None:
            self.values[name] = value
            self.reading.reasons[name] = (rule, key)
            if isinstance(value, str) and len(value) > NAME and bounds.cut(self.values):
                self.flags.add(bounds.TRUNCATED)


def draft_of(span: Span, logs: Sequence[LogRecord], naming: Naming) -> Draft:
    """Read a span with the log records that belong to it."""
    reading = read_span(span, naming.index)
    facts = reading.facts
    draft = Draft(
        span=span,
        reading=reading,
        kind=facts.kind,
        logs=logs,
        values=reading.values,
        failed=facts.failed,
        parent_id=span.parent_span_id,
    )
    _parameters(draft)
    _flags(draft)
    _tokens(draft)
    _models(draft)
    _failure(draft)
    _finish_reason(draft)
    _content(draft)
    _names(draft)
    _business_keys(draft, naming)
    return draft


def _parameters(draft: Draft) -> None:
    value = draft.values.get("request_params")
    if value is not None:
        words = dumps(value)
        if len(words) > bounds.WORDS:
            words = dumps(bounds.plain_parameters(value))
            draft.flags.add(bounds.TRUNCATED)
        draft.values["request_params"] = words


def _names(draft: Draft) -> None:
    """Cut names and ids that are too long; take out the name of the run and note the agent's."""
    if bounds.cut(draft.values):
        draft.flags.add(bounds.TRUNCATED)
    run_id = draft.values.pop("run_id", None)
    draft.run_id = run_id if isinstance(run_id, str) else None
    draft.own_name = draft.text("agent_name")


def _business_keys(draft: Draft, naming: Naming) -> None:
    told = naming.business_keys.of(
        draft.span, draft.text("tool_name"), draft.text("tool_arguments")
    )
    kept = bounds.cut_keys(told)
    if kept != told:
        draft.flags.add(bounds.TRUNCATED)
    draft.values["business_keys"] = kept


def _flags(draft: Draft) -> None:
    span = draft.span
    if draft.reading.implausible:
        draft.flags.add("implausible")
    if span.end < span.start:
        draft.flags.add("bad_clock")
    noted = span.attributes.get(FLAGS_ATTRIBUTE)
    if noted:
        known = {flag.strip() for flag in noted.split(",")}
        draft.flags |= known & {*_INGEST_FLAGS, "bad_clock"}
    if len(span.attributes) > MAX_INDEXED:
        draft.flags.add("truncated")


def _tokens(draft: Draft) -> None:
    """Bring tokens into the inclusive meaning; those of other kinds become aggregates (3.2, 3.3)."""
    facts, values, reasons = draft.reading.facts, draft.values, draft.reading.reasons
    usage = {name: values.pop(name) for name in TOKEN_FIELDS if name in values}
    if draft.is_model_call:
        for name, (rule, key, count) in told_elsewhere(facts, usage).items():
            usage[name] = count
            reasons[name] = (rule, key)
    else:
        usage = {**aggregated(facts), **usage}
    if drop_beyond(usage):
        draft.flags.add("implausible")
    if settle(facts, usage, reasons):
        draft.flags.add("tokens_adjusted")
    if draft.is_model_call:
        values.update(usage)
    elif usage:
        values["aggregate_usage"] = usage
        reasons["aggregate_usage"] = ("T7", "token keys")


def _models(draft: Draft) -> None:
    """M6: the model to show is the answering one, else the undirected name, else the asked one."""
    values, reasons = draft.values, draft.reading.reasons
    undirected = values.pop("model", None)
    for name, value in (
        ("response_model", values.get("response_model")),
        ("model", undirected),
        ("request_model", values.get("request_model")),
    ):
        if value is not None:
            values["model"] = value
            reasons["model"] = reasons[name]
            break
    if draft.is_model_call:
        attempts = sum(event.name == _ATTEMPT for event in draft.span.events)
        if attempts:
            draft.fill("attempts", attempts, "3.1", f"span events {_ATTEMPT}")


def _failure(draft: Draft) -> None:
    values = draft.values
    if not draft.failed:
        return
    message = values.get("error_message")
    values["error_message"] = cut_message(message) if isinstance(message, str) else None
    raw = draft.text("error_type")
    name = error_type_of(raw, draft.text("error_message"))
    if name is not None and (raw is None or name != class_name(raw)):
        _, message_key = draft.reading.reasons["error_message"]
        draft.reading.reasons["error_type"] = ("E6", message_key)
    values["error_type"] = name


def _finish_reason(draft: Draft) -> None:
    set_finish_reason(draft, draft.values.get("finish_reason_raw"))


def set_finish_reason(draft: Draft, raw: JsonValue) -> None:
    """Store the vendor's finish reason and the common word; several different ones as a list."""
    if raw is None:
        return
    told = [str(one) for one in raw] if isinstance(raw, list) else [str(raw)]
    raw = [short(one, NAME) for one in told[: bounds.REASONS]]
    if raw != told:
        draft.flags.add(bounds.TRUNCATED)
    if len(raw) > 1:
        words = list(dict.fromkeys(map(finish_reason_of, raw)))
        draft.values["finish_reason_raw"] = dumps(raw)
        draft.values["finish_reason"] = words[0] if len(words) == 1 else dumps(words)
    else:
        draft.values["finish_reason_raw"] = raw[0]
        draft.values["finish_reason"] = finish_reason_of(raw[0])
    draft.reading.reasons.setdefault(
        "finish_reason", draft.reading.reasons.get("finish_reason_raw", ("2.9", ""))
    )


def _content(draft: Draft) -> None:
    """Read what a tool, a retrieval or a judgment says."""
    span, kind, logs = draft.span, draft.kind, draft.logs
    if kind in (Kind.TOOL, Kind.HUMAN):
        call = content.tool_call(span, kind, logs)
        for name, part, value in (
            ("tool_name", "name", call.name),
            ("tool_call_id", "id", call.id),
            ("tool_arguments", "arguments", call.arguments),
            ("tool_result", "result", call.result),
            ("tool_type", "type", call.type),
        ):
            if value is not None:
                draft.fill(name, value, "2.7", call.keys[part])
    elif kind is Kind.RETRIEVAL:
        asked = content.query_told(span)
        if asked is not None:
            draft.fill("query", asked[1], "2.7", asked[0])
    judged = content.evaluations(span, logs)
    if judged:
        kept = bounds.cut_judgments(judged)
        if kept != judged:
            draft.flags.add(bounds.TRUNCATED)
        draft.fill("evaluations", kept, "2.7", _EVALUATIONS)


def origin_of(span: Span) -> Origin:
    """Return where the span came from; production unless it says otherwise."""
    said = span.attributes.get("gnomon.origin") or span.resource.get("gnomon.origin")
    return _ORIGINS.get(said or "", Origin.PRODUCTION)


def _release(span: Span) -> tuple[str, str] | None:
    """Return the version of the application, and where it stands (2.3, 2.4)."""
    version = found(span.resource.get("service.version"))
    if version is not None:
        return version, "resource service.version"
    for place in (span.attributes, span.resource):
        if "langfuse.release" in place and (version := unquoted(place["langfuse.release"])):
            return version, "langfuse.release"
    return None


def step_of(draft: Draft, run_id: RunId, *, counted: bool) -> Step:
    """Return the finished step."""
    span, values = draft.span, draft.values
    around = {
        "span_name": span.name,
        "scope_name": span.scope_name,
        "scope_version": span.scope_version,
        "service_name": span.resource.get("service.name", ""),
    }
    release = _release(span)
    if release is not None:
        version, key = release
        around["service_version"] = version
        draft.fill("agent_version", version, "2.3", key)
    if bounds.cut(around):
        draft.flags.add(bounds.TRUNCATED)
    return _step(
        run_id=run_id,
        trace_id=TraceId(span.trace_id),
        span_id=SpanId(span.span_id),
        parent_span_id=draft.parent_id,
        origin=origin_of(span),
        started_at=span.start,
        ended_at=span.end,
        duration_ns=max(0, span.end - span.start),
        dialect=draft.reading.facts.dialect,
        kind=draft.kind,
        counted=counted,
        status="error" if draft.failed else "ok",
        duplicate_of=draft.duplicate_of.span.span_id if draft.duplicate_of else None,
        duplicate_reason=draft.duplicate_reason,
        agent_path=draft.agent_path,
        content_captured=content.content_captured(span, draft.kind, draft.logs),
        flags=tuple(sorted(draft.flags)),
        **around,
        **values,
    )
