"""The interpreter of the dialect table: a span in, the fields it fills out, with the reasons."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from collector.dialects.facts import Facts
from collector.dialects.failures import failure_of
from collector.dialects.kinds import kind_of
from collector.dialects.rules import BODY
from collector.dialects.scopes import dialect_of
from collector.dialects.table import INDEX, Hit, Index
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

    def put(self, name: str, value: JsonValue, reason: Reason) -> None:
        """Fill a field and note why."""
        self.values[name] = value
        self.reasons[name] = reason


def read_span(span: Span, index: Index = INDEX) -> Reading:
    """Read dialect, kind, failure and every field of the table that the span fills."""
    facts = Facts(span)
    reading = Reading(facts)
    facts.dialect = dialect_of(span.scope_name, span.attributes)
    decided = kind_of(facts)
    facts.kind = decided.kind
    reading.put("kind", decided.kind, (decided.rule, decided.key))
    failed = failure_of(facts)
    if failed is not None:
        facts.failed = True
        reading.put("status", "error", (failed.rule, failed.key))
    for name, hits in _hits(facts, index).items():
        if len(hits) > 1:
            hits.sort(key=_rank)
        for hit in hits:
            value = hit.source.take(facts, hit.source.key)
            if value is not None:
                key = facts.answer_key if hit.source.key == BODY else hit.source.key
                reading.put(name, value, (hit.source.rule, key))
                break
    return reading


def _rank(hit: Hit) -> int:
    return hit.rank


def _hits(facts: Facts, index: Index) -> Mapping[str, list[Hit]]:
    """Return the sources that may fill a field of this span, by field."""
    found: dict[str, list[Hit]] = {}
    by_attribute = index.by_attribute
    for key in facts.attributes:
        for hit in by_attribute.get(key, ()):
            when = hit.source.when
            if when is None or when(facts):
                found.setdefault(hit.field, []).append(hit)
    for hit in index.by_resource:
        if hit.source.key in facts.resource:
            found.setdefault(hit.field, []).append(hit)
    for hit in index.by_span:
        when = hit.source.when
        if when is None or when(facts):
            found.setdefault(hit.field, []).append(hit)
    return found
