"""The interpreter of the dialect table: a span in, the fields it fills out, with the reasons."""

from dataclasses import dataclass, field

from collector.dialects.belief import BEYOND
from collector.dialects.facts import Facts
from collector.dialects.failures import failure_of
from collector.dialects.kinds import kind_of
from collector.dialects.rules import BODY
from collector.dialects.scopes import dialect_of
from collector.dialects.table import INDEX, Index
from collector.spans import Span
from gnomon.model import JsonValue

Reason = tuple[str, str]
"""Rule number and key."""


@dataclass(slots=True)
class Reading:
    """What the table says about one span: the value of each field and why it has it."""

    facts: Facts
    values: dict[str, JsonValue] = field(default_factory=dict)
    reasons: dict[str, Reason] = field(default_factory=dict)
    implausible: bool = False
    """Some source held a figure that is not believed."""


def read_span(span: Span, index: Index = INDEX) -> Reading:
    """Read dialect, kind, failure and every field of the table that the span fills."""
    facts = Facts(span)
    reading = Reading(facts)
    facts.dialect = dialect_of(span.scope_name, span.attributes)
    decided = kind_of(facts)
    facts.kind = decided.kind
    reading.reasons["kind"] = (decided.rule, decided.key)
    failed = failure_of(span)
    if failed is not None:
        facts.failed = True
        reading.reasons["status"] = (failed.rule, failed.key)
    values, reasons = reading.values, reading.reasons
    for name, sources in index.plan(facts):
        for source in sources:
            if source.when is None or source.when(facts):
                value = source.take(facts, source.key)
                if value is BEYOND:
                    reading.implausible = True
                elif value is not None:
                    values[name] = value
                    reasons[name] = (source.rule, source.key)
                    break
    if facts.answer_key:
        _name_body(reading)
    return reading


def _name_body(reading: Reading) -> None:
    """Say in which attribute the provider's answer was found."""
    for name, (rule, key) in reading.reasons.items():
        if key == BODY:
            reading.reasons[name] = (rule, reading.facts.answer_key)
