"""What was recorded of a tool call as a value, however oddly it was written."""

import re
from collections.abc import Iterator, Mapping

from collector.dialects.values import as_data
from gnomon.model import JsonValue

DEEPEST = 200
"""Levels of lists and objects that are read; what is inside is left out, and nothing else."""

LEFT_OUT = "…"

_DRAWN = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[{]|[\]}]', re.DOTALL)


def read(text: str) -> JsonValue:
    """Return what a text says as JSON or as a Python literal; the text itself if it is neither."""
    value = as_data(text)
    bracketed = len(text) > DEEPEST and text.count("[") + text.count("{") > DEEPEST
    if bracketed and (value is None or _deep(value)):
        value = as_data("".join(_shallow(text)))
    return text if value is None and text.strip() != "null" else value


def read_object(text: str) -> Mapping[str, JsonValue] | None:
    """Return the object a text holds, be it text in a text or the one argument of a list."""
    value = read(text)
    if isinstance(value, str):
        value = read(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, Mapping) else None


def _deep(value: JsonValue) -> bool:
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return bool(level)


def _shallow(text: str) -> Iterator[str]:
    """Yield the pieces of a JSON text without what is nested deeper than is read."""
    depth = kept = 0
    for found in _DRAWN.finditer(text):
        if found[0] in ("[", "{"):
            depth += 1
            if depth == DEEPEST + 1:
                yield text[kept : found.start()]
        elif found[0] in ("]", "}"):
            if depth == DEEPEST + 1:
                yield f'"{LEFT_OUT}"'
                kept = found.end()
            depth -= 1
    if depth <= DEEPEST:
        yield text[kept:]
