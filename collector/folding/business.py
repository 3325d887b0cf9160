"""Business keys of a step: from attributes, resource, baggage copies and tool arguments."""

from collections.abc import Mapping

from collector.dialects.values import as_json, as_text, unquoted
from collector.spans import Span
from collector.watched import KeySource
from gnomon.model import JsonValue


def business_keys(
    span: Span,
    sources: Mapping[str, KeySource],
    tool_name: str | None,
    tool_arguments: str | None,
) -> dict[str, str]:
    """Return the keys this span carries; attributes before resource, baggage, tool arguments."""
    told = business_keys_told(span, sources, tool_name, tool_arguments)
    return {name: value for name, (value, _) in told.items()}


def business_keys_told(
    span: Span,
    sources: Mapping[str, KeySource],
    tool_name: str | None,
    tool_arguments: str | None,
) -> dict[str, tuple[str, str]]:
    """Return the keys this span carries, and where each was found."""
    if not sources:
        return {}
    arguments = as_json(tool_arguments) if tool_arguments else None
    found: dict[str, tuple[str, str]] = {}
    for name, source in sources.items():
        told = _attribute(span, name, source) or _argument(source, tool_name, arguments)
        if told is not None:
            found[name] = told
    return found


def _attribute(span: Span, name: str, source: KeySource) -> tuple[str, str] | None:
    wanted = source.attributes or (() if source.tool_arguments else (name,))
    for place in (span.attributes, span.resource):
        for key in wanted:
            if key in place and (value := unquoted(place[key])) is not None:
                return value, key
    for key in wanted:
        value = unquoted(span.attributes.get(f"baggage.{key}"))
        if value is not None:
            return value, f"baggage.{key}"
    return None


def _argument(
    source: KeySource, tool_name: str | None, arguments: JsonValue
) -> tuple[str, str] | None:
    if not isinstance(arguments, dict):
        return None
    for wanted in source.tool_arguments:
        tool, colon, argument = wanted.rpartition(":")
        if colon and tool != tool_name:
            continue
        value = as_text(_inside(arguments, argument))
        if value is not None:
            return value, f"tool argument {argument}"
    return None


def _inside(arguments: dict[str, JsonValue], path: str) -> JsonValue:
    """Return `order.id` as a key of that name, else as a path."""
    if path in arguments:
        return arguments[path]
    value: JsonValue = arguments
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
