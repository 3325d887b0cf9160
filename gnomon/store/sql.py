"""Named SQL: `queries.sql` beside its only caller, one block for each statement."""

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

_NAME = re.compile(r"^-- name: (\w+)[ \t]*$", re.MULTILINE)


@cache
def load(package: str, file: str = "queries.sql") -> Mapping[str, str]:
    """Return the statements of a package by name; a doubled or empty one is an error."""
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    return MappingProxyType(parse(text, where=f"{package}/{file}"))


def parse(text: str, *, where: str = "queries.sql") -> dict[str, str]:
    """Split text into its `-- name: x` blocks, each without its final semicolon."""
    parts = _NAME.split(text)
    named: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        statement = body.strip().removesuffix(";").strip()
        if name in named:
            raise ValueError(f"{where}: {name} stands twice")
        if not statement:
            raise ValueError(f"{where}: {name} is empty")
        named[name] = statement
    return named
