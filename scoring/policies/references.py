"""What a JSON Schema leads to: every expression and reference in it, and loops among them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scoring.policies.patterns import wrong_pattern

Place = tuple[int | str, ...]

_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_IN_A_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_ALONE = (
    *("additionalProperties", "unevaluatedProperties", "unevaluatedItems", "propertyNames"),
    *("items", "contains", "contentSchema", "not", "if", "then", "else"),
)
_IN_PLACE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"})
"""Keywords whose schemas speak of the same value, so that a way back among them has no end."""

_OTHER_DRAFTS = {
    "$recursiveRef": "$recursiveRef belongs to another draft; write $ref: '#'",
    "$schema": "$schema stands at the top of a schema only",
}


@dataclass(frozen=True, slots=True)
class _Part:
    place: Place
    schema: Mapping[str, Any]
    resolver: Any
    inside: "list[_Part]" = field(default_factory=list)
    """The schemas in it that speak of the same value."""


def wrong_parts(schema: Mapping[str, Any]) -> tuple[Place, str] | None:
    """Return where and why a part of a schema can not be used, or None."""
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    resolver = Registry().resolver_with_root(DRAFT202012.create_resource(schema))
    parts: list[_Part] = []
    _collect((), schema, resolver, parts)
    known = {id(part.schema): part for part in parts}
    ways: dict[int, list[_Part]] = {id(part.schema): list(part.inside) for part in parts}
    for part in parts:
        wrong = _unusable(part) or _unresolved(part, known, ways)
        if wrong is not None:
            return wrong
    return _mixed(parts) or _loop(parts, ways)


def _collect(place: Place, schema: Any, resolver: Any, into: list[_Part]) -> _Part | None:
    from referencing.jsonschema import DRAFT202012

    if not isinstance(schema, Mapping):
        return None
    own = resolver.in_subresource(DRAFT202012.create_resource(schema)) if place else resolver
    part = _Part(place, schema, own)
    into.append(part)
    for where, inner in _inner(schema):
        found = _collect((*place, *where), inner, own, into)
        if found is not None and where[0] in _IN_PLACE:
            part.inside.append(found)
    return part


def _inner(schema: Mapping[str, Any]) -> Iterator[tuple[Place, Any]]:
    for keyword in _BY_NAME:
        for name, inner in schema.get(keyword, {}).items():
            yield (keyword, name), inner
    for keyword in _IN_A_LIST:
        for number, inner in enumerate(schema.get(keyword, ())):
            yield (keyword, number), inner
    for keyword in _ALONE:
        if keyword in schema:
            yield (keyword,), schema[keyword]


def _unusable(part: _Part) -> tuple[Place, str] | None:
    for word, why in _OTHER_DRAFTS.items():
        if word in part.schema:
            return (*part.place, word), why
    named = part.schema.get("patternProperties", ())
    patterns: list[tuple[Place, str]] = [(("patternProperties", text), text) for text in named]
    if "pattern" in part.schema:
        patterns.append((("pattern",), part.schema["pattern"]))
    for where, text in patterns:
        why_not = wrong_pattern(text)
        if why_not is not None:
            return (*part.place, *where), why_not
    return None


def _unresolved(
    part: _Part, known: Mapping[int, _Part], ways: Mapping[int, list[_Part]]
) -> tuple[Place, str] | None:
    """Note where the references of a part lead; return the one that leads nowhere."""
    from referencing.exceptions import Unresolvable

    for word in ("$ref", "$dynamicRef"):
        if word not in part.schema:
            continue
        reference, where = part.schema[word], (*part.place, word)
        try:
            target = part.resolver.lookup(reference).contents
        except (Unresolvable, ValueError, TypeError, LookupError):
            return where, f"{word} {reference} leads nowhere; it must stay inside, as #/$defs/order"
        if isinstance(target, bool):
            continue
        if id(target) not in known:
            return where, f"{word} {reference} leads to what is no schema; put it under $defs"
        ways[id(part.schema)].append(known[id(target)])
        if word == "$dynamicRef":
            name = reference.rpartition("#")[2]
            ways[id(part.schema)] += [
                other for other in known.values() if other.schema.get("$dynamicAnchor") == name
            ]
    return None


def _mixed(parts: list[_Part]) -> tuple[Place, str] | None:
    """Refuse the one pair of keywords that would match expressions by another engine."""
    if any("patternProperties" in part.schema for part in parts):
        for part in parts:
            if "unevaluatedProperties" in part.schema:
                why = "unevaluatedProperties and patternProperties do not go together here;"
                place = (*part.place, "unevaluatedProperties")
                return place, f"{why} write additionalProperties"
    return None


def _loop(parts: list[_Part], ways: Mapping[int, list[_Part]]) -> tuple[Place, str] | None:
    """Return a part from which ways that speak of the same value lead back to it."""
    done: set[int] = set()
    for start in parts:
        open_: dict[int, Iterator[_Part]] = {}
        trail = [start]
        while trail:
            part = trail[-1]
            key = id(part.schema)
            following = None
            if key not in done:
                following = next(open_.setdefault(key, iter(ways[key])), None)
            if following is None:
                done.add(key)
                open_.pop(key, None)
                trail.pop()
            elif id(following.schema) in open_:
                place = (*part.place, "$ref") if "$ref" in part.schema else part.place
                return place, "the schema refers to itself without end"
            else:
                trail.append(following)
    return None
