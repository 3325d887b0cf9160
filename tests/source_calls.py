"""Calls that stand in the source, for tests of what is said about them elsewhere."""

import ast
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOMS = ("gnomon", "collector", "scoring", "shadow", "replay")


def calls(names: Collection[str]) -> Iterator[ast.Call]:
    """Yield every call, with arguments, of a function or method of these names."""
    for text, found in _sources().items():
        if any(f"{name}(" in text for name in names):
            yield from (call for call in found() if _named(call) in names and call.args)


@cache
def _sources() -> dict[str, "_Calls"]:
    texts = (path.read_text() for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
    return {text: _Calls(text) for text in texts}


class _Calls:
    """The calls of one file, looked for once and only if somebody asks: every process collects tests."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[ast.Call] | None = None

    def __call__(self) -> list[ast.Call]:
        if self._found is None:
            nodes = ast.walk(ast.parse(self._text))
            self._found = [node for node in nodes if isinstance(node, ast.Call)]
        return self._found


def _named(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))
