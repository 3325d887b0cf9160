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
    if not sources:
        return {}
    arguments = as_json(tool_arguments) if tool_arguments else None
    found: dict[str, str] = {}
    for name, source in sources.items():
        value = _attribute(span, name, source) or _argument(source, tool_name, arguments)
        if value is not None:
            found[name] = value
    return found


def _attribute(span: Span, name: str, source: KeySource) -> str | None:
    wanted = source.attributes or (() if source.tool_arguments else (name,))
    for place in (span.attributes, span.resource):
        for key in wanted:
            if key in place and (value := unquoted(place[key])) is not None:
                return value
    for key in wanted:
        value = unquoted(span.attributes.get(f"baggage.{key}"))
        if value is not None:
            return value
    return None


def _argument(source: KeySource, tool_name: str | None, arguments: JsonValue) -> str | None:
    if not isinstance(arguments, dict):
        return None
    for wanted in source.tool_arguments:
        tool, colon, argument = wanted.rpartition(":")
        if colon and tool != tool_name:
            continue
        value = as_text(_inside(arguments, argument))
        if value is not None:
            return value
    return None


def _inside(arguments: dict[str, JsonValue], path: str) -> JsonValue:
    """Return `order.id` as a key of that name, else as a path."""
    if path in arguments:
        return arguments[path]
    value: JsonValue = arguments
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value
