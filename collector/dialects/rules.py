"""The form of the dialect table: a field, its sources in order, and how each one is read."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from collector.dialects.belief import as_tokens, as_usd
from collector.dialects.facts import Facts
from collector.dialects.values import as_bool, as_text, found, unquoted
from gnomon.model import MODEL_CALLS, JsonValue, Kind

Take = Callable[[Facts, str], JsonValue]
"""Reads the value out of an attribute: the span's facts and the key."""

When = Callable[[Facts], bool]


class Place(Enum):
    """Where a source lies."""

    ATTRIBUTE = "attribute"
    FAMILY = "family"
    """Attributes that begin alike: `ai.settings` stands for every `ai.settings.…`."""
    RESOURCE = "resource"
    SPAN = "span"
    """Name, events or body of the span: asked of each span that meets the condition."""


BODY = "body"
"""Key of sources that look into the provider's answer, wherever it lies (M8)."""


@dataclass(frozen=True, slots=True)
class Only:
    """For which spans a source is good, as far as kind and outcome tell."""

    kinds: frozenset[Kind] | None = None
    failed: bool | None = None

    def allows(self, kind: Kind, *, failed: bool) -> bool:
        """Tell whether a span of this kind and outcome may be read so."""
        if self.kinds is not None and kind not in self.kinds:
            return False
        return self.failed is None or self.failed is failed


ANY = Only()
MODEL_CALL = Only(kinds=MODEL_CALLS)
ANSWERED = Only(kinds=MODEL_CALLS, failed=False)
"""M7: a failed call has no answer, whatever the span says."""
SUCCEEDED = Only(failed=False)
FAILED = Only(failed=True)


@dataclass(frozen=True, slots=True)
class Source:
    """One place where a field may be found. The order of the sources of a field is its rank."""

    rule: str
    key: str
    take: Take
    place: Place = Place.ATTRIBUTE
    only: Only = ANY
    when: When | None = None
    """What kind and outcome do not tell: dialect, name, events."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a step and its sources, best first."""

    name: str
    sources: tuple[Source, ...]


def text(facts: Facts, key: str) -> JsonValue:
    """Read text; placeholders are not found."""
    return found(facts.attributes.get(key))


def quoted(facts: Facts, key: str) -> JsonValue:
    """Read text that may stand in JSON quotes, as MLflow writes it."""
    return unquoted(facts.attributes.get(key))


def count(facts: Facts, key: str) -> JsonValue:
    """Read a number of tokens."""
    return as_tokens(facts.attributes.get(key))


def dollars(facts: Facts, key: str) -> JsonValue:
    """Read a cost in USD."""
    return as_usd(facts.attributes.get(key))


def truth(facts: Facts, key: str) -> JsonValue:
    """Read a truth value."""
    return as_bool(facts.attributes.get(key))


def keys(
    rule: str,
    *names: str,
    take: Take = text,
    only: Only = ANY,
    when: When | None = None,
) -> tuple[Source, ...]:
    """Return sources that are attributes read alike."""
    return tuple(Source(rule, name, take, only=only, when=when) for name in names)


def family(rule: str, beginning: str, take: Take, only: Only = ANY) -> tuple[Source, ...]:
    """Return the source that is all attributes `beginning.…` together."""
    return (Source(rule, beginning, take, Place.FAMILY, only),)


def resource(rule: str, *names: str) -> tuple[Source, ...]:
    """Return sources that are attributes of the resource."""
    return tuple(Source(rule, name, _of_resource, Place.RESOURCE) for name in names)


def inside(
    rule: str,
    key: str,
    *paths: str,
    take: Callable[[JsonValue], JsonValue] = as_text,
    only: Only = ANY,
) -> tuple[Source, ...]:
    """Return sources that lie at dotted paths in the JSON object of one attribute."""
    return tuple(Source(rule, key, _Inside(path, take), only=only) for path in paths)


def of_span(
    rule: str, what: str, take: Take, only: Only = ANY, when: When | None = None
) -> tuple[Source, ...]:
    """Return the source that is the span itself: its name, its events, its body."""
    return (Source(rule, what, take, Place.SPAN, only, when),)


def _of_resource(facts: Facts, key: str) -> JsonValue:
    return found(facts.resource.get(key))


class _Inside:
    """Reads what lies at a path; the key may hold dots itself (`prompt_tokens_details.x`)."""

    __slots__ = ("path", "take", "whole")

    def __init__(self, path: str, take: Callable[[JsonValue], JsonValue]) -> None:
        self.whole = (path,)
        self.path = tuple(path.split("."))
        self.take = take

    def __call__(self, facts: Facts, key: str) -> JsonValue:
        value = facts.inside(key, self.path)
        if value is None and len(self.path) > 1:
            value = facts.inside(key, self.whole)
        return None if value is None else self.take(value)
