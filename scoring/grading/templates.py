"""Business keys written into addresses and statements: where they may stand, and how."""

import re
from collections.abc import Callable
from urllib.parse import quote

HOLE = re.compile(r"\{(\w+)\}")
PARAM = re.compile(r"\{\s*(\w+)\s*:[^{}]+\}")

_QUOTED = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL
)
_SELECT = re.compile(r"\s*(SELECT|WITH)\b", re.IGNORECASE)
_WRITES = re.compile(
    r"\b(INSERT\s+INTO|INTO\s+OUTFILE|(?:DELETE|UPDATE|DROP|ALTER|CREATE|TRUNCATE|RENAME|GRANT|REVOKE"
    r"|ATTACH|DETACH|OPTIMIZE|SYSTEM|KILL|EXCHANGE)\s+\w+)",
    re.IGNORECASE,
)
_UNTYPED = re.compile(r"\{\s*(\w*)\s*\}")


def filled(
    text: str, value_of: Callable[[str], str | None], write: Callable[[str], str | None]
) -> tuple[str, str | None]:
    """Return a template with keys in its holes, and why that can not be done, or None."""
    values: dict[str, str] = {}
    for name in HOLE.findall(text):
        value = value_of(name)
        if value is None:
            return "", f"the run has no {name}"
        written = write(value)
        if written is None:
            return "", f"the run's {name} can not be written into the check"
        values[name] = written
    return HOLE.sub(lambda hole: values[hole[1]], text), None


def url_part(value: str) -> str | None:
    """Return a value as part of an address; one that would climb in the path is refused."""
    return None if value in ("", ".", "..") else quote(value, safe="")


def refuse_wrong_select(query: str) -> None:
    """Raise ValueError for what is not one reading statement with typed parameters."""
    bare = _QUOTED.sub(" ", query)
    if _SELECT.match(bare) is None or ";" in bare.strip().removesuffix(";"):
        raise ValueError("write one SELECT")
    wrote = _WRITES.search(bare)
    if wrote is not None:
        raise ValueError(
            f"a check only reads: write one SELECT, without {' '.join(wrote[0].split())}"
        )
    untyped = _UNTYPED.search(query)
    if untyped is not None:
        name = untyped[1] or "key"
        raise ValueError(f"{untyped[0]} has no type: write {{{name}:String}}")
