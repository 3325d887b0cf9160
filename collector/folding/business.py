"""Business keys of a step: from attributes, resource, baggage copies and tool arguments."""

from collections.abc import Mapping, Sequence

from collector.dialects.values import as_json, as_text, unquoted
from collector.spans import Span
from collector.watched import KeySource
from gnomon.model import JsonValue


class BusinessKeys:
    """The keys of gnomon.yaml. Most spans carry none, which one look at their attributes tells."""

    def __init__(self, sources: Mapping[str, KeySource]) -> None:
        self._places = [
            (name, wanted, tuple((key, f"baggage.{key}") for key in wanted), source.tool_arguments)
            for name, source in sources.items()
            for wanted in [source.attributes or (() if source.tool_arguments else (name,))]
        ]
        self._carriers = frozenset(
            key for _, _, copies, _ in self._places for pair in copies for key in pair
        )
        self._in_arguments = any(source.tool_arguments for source in sources.values())

    def of(self, span: Span, tool_name: str | None, tool_arguments: str | None) -> dict[str, str]:
        """Return the keys this span carries; attributes before resource, baggage, arguments."""
        told = self.told(span, tool_name, tool_arguments)
        return {name: value for name, (value, _) in told.items()}

    def told(
        self, span: Span, tool_name: str | None, tool_arguments: str | None
    ) -> dict[str, tuple[str, str]]:
        """Return the keys this span carries, and where each was found."""
        arguments = as_json(tool_arguments) if self._in_arguments and tool_arguments else None
        carries = not (
            self._carriers.isdisjoint(span.attributes) and self._carriers.isdisjoint(span.resource)
        )
        if not carries and not isinstance(arguments, dict):
            return {}
        found: dict[str, tuple[str, str]] = {}
        for name, wanted, copies, inside in self._places:
            told = _attribute(span, wanted, copies) if carries else None
            if told is None and isinstance(arguments, dict):
                told = _argument(inside, tool_name, arguments)
            if told is not None:
                found[name] = told
        return found


def _attribute(
    span: Span, wanted: Sequence[str], copies: Sequence[tuple[str, str]]
) -> tuple[str, str] | None:
    for place in (span.attributes, span.resource):
        for key in wanted:
            if key in place and (value := unquoted(place[key])) is not None:
                return value, key
    for _, copy in copies:
        value = unquoted(span.attributes.get(copy))
        if value is not None:
            return value, copy
    return None


def _argument(
    inside: Sequence[str], tool_name: str | None, arguments: dict[str, JsonValue]
) -> tuple[str, str] | None:
    for wanted in inside:
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
