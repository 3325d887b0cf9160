"""JSON text as pages show it: no character of a value changed, and no depth that ends a page."""

import json
import re
from collections.abc import Iterator

from gnomon.model import JsonValue

_DEEPEST = 100
"""Levels that are indented; a deeper text is shown as it came."""
_INDENT = "  "
_PIECE = re.compile(r'\s*+("(?:[^"\\]|\\.)*+"|[\[\]{},:]|[^\s\[\]{},:"]++)', re.DOTALL)


def parsed(text: str | None) -> JsonValue:
    """Return what a JSON text says; any other text, and one nested too deep to be read, as text."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def written(value: JsonValue, *, ordered: bool = False) -> str:
    """Return a value as JSON on one line, names in order if asked; one nested too deep is said to be."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=ordered)
    except RecursionError:
        return "nested too deep to be shown"


def indented(text: str) -> str:
    """Return JSON text with indents, its numbers and repeated names as they came; else the text.

    Reading and writing it again would round 12345678901234567.123 and lose the first of two names.
    What is text in JSON is that text; what is nested deeper than anybody reads stays as it came.

    >>> indented('{"a": [1.50, {}]}'), indented('"so"'), indented("[")
    ('{\\n  "a": [\\n    1.50,\\n    {}\\n  ]\\n}', 'so', '[')
    """
    value = parsed(text)
    if isinstance(value, str):
        return value
    try:
        return "".join(_laid_out(text))
    except _TooDeep:
        return text


class _TooDeep(Exception):
    """Indents would take more room than what is said."""


def _laid_out(text: str) -> Iterator[str]:
    depth, before = 0, ""
    for found in _PIECE.finditer(text):
        piece = found[1]
        closes = piece in ("]", "}")
        depth -= closes
        if before in ("[", "{", ",") if not closes else before not in ("[", "{"):
            yield f"\n{_INDENT * depth}"
        yield ": " if piece == ":" else _readable(piece)
        if piece in ("[", "{"):
            depth += 1
            if depth > _DEEPEST:
                raise _TooDeep
        before = piece


def _readable(piece: str) -> str:
    """Return a text piece with its letters instead of their numbers, where they are letters."""
    if "\\u" not in piece:
        return piece
    plain = json.dumps(json.loads(piece), ensure_ascii=False)
    return plain if plain.isprintable() else piece
