"""Why a step says what it says: for each field the rule and the key that filled it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields

from collector.dialects import content
from collector.folding.fold import read_trace
from collector.folding.naming import naming_of
from collector.folding.prices import PriceList
from collector.folding.steps import Draft, step_of
from collector.spans import LogRecord, Span
from collector.watched import Price, Watched
from gnomon.model import WORK, JsonValue, RunId, Step

_SHOWN = 200
"""Characters of a body that are shown."""

_OWN = frozenset(
    {
        "run_id",
        "trace_id",
        "span_id",
        "parent_span_id",
        "started_at",
        "ended_at",
        "duration_ns",
        "span_name",
        "scope_name",
        "scope_version",
        "service_name",
        "service_version",
        "origin",
        "content_captured",
        "agent_path",
    }
)
"""Fields that are copied or computed without a choice between sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """One field of a step: its value, the number of the rule, and the key it came from."""

    field: str
    value: JsonValue
    number: str
    key: str

    @property
    def rule(self) -> str:
        """The rule with the key it read, as people see it: `T1 gen_ai.usage.input_tokens`."""
        return f"{self.number} {self.key}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A step, why its fields have their values, and which attributes nothing was read from."""

    step: Step
    filled: Sequence[Filled]
    unread: Sequence[str]


def explain(
    span: Span,
    logs: Sequence[LogRecord],
    watched: Watched,
    trace: Sequence[Span] = (),
) -> Explanation:
    """Explain a span by the very code that stores it.

    With the other spans of its `trace`, what the trace adds is explained too (duplicates, agents,
    the status of a tool); `logs` are those of the span, or of the trace.
    """
    others = [other for other in trace if other.span_id != span.span_id]
    naming, prices = naming_of(watched), PriceList(watched.prices)
    drafts = read_trace([span, *others], logs, naming)
    draft = next(draft for draft in drafts if draft.span is span)
    price = prices.price_of(draft) if draft.is_model_call else None
    if price is not None:
        draft.fill("cost_usd", prices.cost(draft), "price table", _row(price))
    keys = naming.business_keys.told(span, draft.text("tool_name"), draft.text("tool_arguments"))
    if keys:
        places = "; ".join(f"{name} from {place}" for name, (_, place) in keys.items())
        draft.reading.reasons["business_keys"] = ("business_keys", places)
    judged = content.evaluations_told(draft.span, draft.logs)
    if judged:
        draft.reading.reasons["evaluations"] = ("2.7", "; ".join(judged))
    return _explained(draft, {*judged, *(place for _, place in keys.values())})


def _row(price: Price) -> str:
    provider = "" if price.provider is None else f" of {price.provider}"
    return f"{price.model}{provider} since {price.since}"


def _explained(draft: Draft, keys: set[str]) -> Explanation:
    counted = draft.kind in WORK and draft.duplicate_of is None
    step = step_of(draft, RunId(draft.run_id or draft.span.trace_id), counted=counted)
    reasons = {**draft.reading.reasons, "dialect": ("2.1", "scope and keys")}
    if draft.duplicate_of is not None:
        rule, _, why = (step.duplicate_reason or "").partition(": ")
        reasons["duplicate_of"] = reasons["duplicate_reason"] = (rule, why)
        reasons["counted"] = (rule, why)
    else:
        reasons["counted"] = ("1.1", f"kind {draft.kind}")
    reasons.setdefault("status", ("E1", "status"))
    filled = [
        Filled(field=name, value=getattr(step, name), number=reasons[name][0], key=reasons[name][1])
        for name in (field.name for field in fields(Step))
        if name not in _OWN and name in reasons and _says(getattr(step, name))
    ]
    filled += [
        Filled(field=body.field, value=_short(body.text), number="2.7", key=body.key)
        for body in content.bodies_told(draft.span, draft.kind, draft.logs)
    ]
    read = {entry.key for entry in filled} | keys
    unread = tuple(sorted(key for key in draft.span.attributes if not _is_read(key, read)))
    return Explanation(step=step, filled=filled, unread=unread)


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _is_read(key: str, read: Collection[str]) -> bool:
    """Tell whether an attribute, or the list it is an entry of, was read."""
    return key in read or any(key.startswith(f"{one}.") for one in read if one)


def _says(value: JsonValue) -> bool:
    return value is not None and value != () and value != {}
