"""Regular expressions that people write, matched in time that grows with the text only.

What they are matched against was written by agents and their users: Python's own engine could be
kept busy for ever by a text made for it, and holds up the whole process meanwhile.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import re2  # type: ignore[import-untyped]

_LONGEST = 2_000
"""Characters of an expression."""


def wrong_pattern(text: str) -> str | None:
    """Return why an expression can not be used and what to write instead, or None."""
    if len(text) > _LONGEST:
        return f"a regular expression of {len(text)} characters; {_LONGEST} are the most"
    try:
        _compiled(text)
    except (re2.error, UnicodeError) as error:
        why = error.args[0] if error.args else error
        said = why.decode(errors="replace") if isinstance(why, bytes) else str(why)
        return (
            f"no regular expression of RE2 ({said}); look-around and back-references do not exist"
            r" there, a character by its number is \x{00e9}, the end of the text is \z"
        )
    return None


def found(pattern: str, text: str) -> bool:
    """Return whether an expression matches anywhere in a text."""
    return _compiled(pattern).search(_plain(text)) is not None


def captured(pattern: str, text: str) -> Iterator[str]:
    """Yield what the one group of an expression holds, match by match."""
    for match in _compiled(pattern).finditer(_plain(text)):
        if match[1] is not None:
            yield match[1]


def groups(pattern: str) -> int:
    """Return how many groups an expression has."""
    return int(_compiled(pattern).groups)


@lru_cache(256)
def _compiled(text: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(text, options)


def _plain(text: str) -> str:
    """Return a text that can be written as UTF-8: JSON may hold halves of characters."""
    return text.encode("utf-8", "replace").decode()
