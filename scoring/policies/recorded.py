"""What was recorded of a tool call as a value, however oddly it was written."""

from collections.abc import Mapping

from collector.dialects.values import as_data
from gnomon.model import JsonValue
from gnomon.shallow import shallow

DEEPEST = 200
"""Levels of lists and objects that are read; what is inside is left out, and nothing else."""

LEFT_OUT = "…"


def read(text: str) -> JsonValue:
    """Return what a text says as JSON or as a Python literal; the text itself if it is neither."""
    value = as_data(text)
    bracketed = len(text) > DEEPEST and text.count("[") + text.count("{") > DEEPEST
    if bracketed and (value is None or _deep(value)):
        value = as_data(shallow(text, deepest=DEEPEST, instead=f'"{LEFT_OUT}"'))
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
