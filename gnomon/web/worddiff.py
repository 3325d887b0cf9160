"""Two texts word by word: which words stand in one of them only."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_WORDS = 2_000
"""Words of a text that are compared; what follows is cut, and the page says so."""

_WORD = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of a text; `own`: the other text does not have it there."""

    text: str
    own: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Two texts, each in pieces."""

    base: Sequence[Piece]
    cand: Sequence[Piece]
    cut: bool
    """Whether words beyond `MOST_WORDS` were left out."""

    @property
    def same(self) -> bool:
        """Whether no word differs."""
        return not any(piece.own for piece in (*self.base, *self.cand))


def compared(base: str, cand: str, *, most: int = MOST_WORDS) -> Compared:
    """Return both texts in pieces, those that differ marked.

    >>> [piece.text for piece in compared("I paid 30 back", "I paid 45 back").cand if piece.own]
    ['45']
    """
    old, new = _WORD.findall(base), _WORD.findall(cand)
    cut = max(len(old), len(new)) > most
    old, new = old[:most], new[:most]
    left: list[Piece] = []
    right: list[Piece] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for words, side in ((old[a:b], left), (new[c:d], right)):
            if words:
                side.append(Piece(text="".join(words), own=kind != "equal"))
    return Compared(base=left, cand=right, cut=cut)
