"""Texts that people and agents wrote, made fit to be shown: cut, folded, never base64."""

import re
from dataclasses import dataclass

from gnomon.model import JsonValue
from gnomon.web.formats import plural, size
from gnomon.web.jsontext import indented, parsed, written

MOST = 20_000
"""Characters of one body that a page shows unless asked for all."""
FOLD = 1_500
"""Longer JSON starts folded."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{512,}={0,2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A text as it is shown."""

    text: str
    json: bool = False
    left_out: int = 0
    """Characters that were cut."""
    folded: str = ""
    """What the fold says; '' when the text is open."""

    @property
    def whole(self) -> bool:
        """Whether nothing was cut."""
        return not self.left_out


def block(text: str, *, full: bool = False, fold: bool = True) -> Block:
    """Return a text ready to be shown; JSON is indented."""
    shown = indented(text)
    is_json = shown[:1] in ("{", "[") and not isinstance(parsed(shown), str)
    shown = _BASE64.sub(_binary, shown)
    left = 0 if full else max(0, len(shown) - MOST)
    folded = ""
    if fold and is_json and len(shown) > FOLD and not full:
        folded = f"JSON, {plural(shown.count(chr(10)) + 1, 'line')}, {size(len(text.encode()))}"
    return Block(
        text=shown[: len(shown) - left] if left else shown,
        json=is_json,
        left_out=left,
        folded=folded,
    )


def value_block(value: JsonValue, *, full: bool = False, fold: bool = True) -> Block:
    """Return a JSON value ready to be shown; text stays plain."""
    text = value if isinstance(value, str) else written(value)
    return block(text, full=full, fold=fold)


def _binary(found: re.Match[str]) -> str:
    return f"[base64, {size(len(found.group()) * 3 // 4)}]"
