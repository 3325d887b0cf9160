"""Which attributes of a span are worth least, where it has more than are kept (4.1)."""

import re
from collections.abc import Sequence
from typing import Final

from collector.dialects.content.capture import CONTENT_KEYS
from collector.dialects.failures import FAILURE_MARKS
from collector.dialects.kinds import BY_KEY
from collector.dialects.scopes import VENDORS
from collector.dialects.table import INDEX
from collector.dialects.tally import AGGREGATES
from collector.dialects.usage import RESTATED, TOTAL_KEYS

READ: Final = (
    INDEX.keys.union(TOTAL_KEYS, (key for _, key in RESTATED))
    | BY_KEY.keys()
    | AGGREGATES.keys()
    | FAILURE_MARKS.keys()
    | CONTENT_KEYS
)
"""Attributes that a rule reads by name: these are never dropped."""

_NUMBERED: Final = re.compile(r"(.+?)\.(\d{1,9})(?:\.|$)")
_OWN: Final = VENDORS | {"gnomon", "graph", "tool"}


def kept(keys: Sequence[str], most: int) -> list[int]:
    """Return the places of the attributes to keep: at most so many, and all that rules read.

    Entries of long numbered lists go first, whole entries and from the middle, so that the
    beginning and the end of a conversation stay; then what no vendor names; then the ends of the
    lists; then the rest of what no rule reads. Of equals the last goes first.
    """
    entries = [None if key in READ else _NUMBERED.match(key) for key in keys]
    ends: dict[str, tuple[int, int]] = {}
    for numbered in filter(None, entries):
        number = int(numbered[2])
        first, last = ends.get(numbered[1], (number, number))
        ends[numbered[1]] = min(first, number), max(last, number)
    ranked: list[tuple[_Rank, int]] = []
    for place, (key, entry) in enumerate(zip(keys, entries, strict=True)):
        if entry is not None:
            ranked.append((_of_entry(entry[1], int(entry[2]), ends[entry[1]]), -place))
        elif key not in READ:
            ranked.append((_VENDORS if key.partition(".")[0] in _OWN else _OTHERS, -place))
    ranked.sort()
    end = min(max(0, len(keys) - most), len(ranked))
    while 0 < end < len(ranked) and ranked[end][0] == ranked[end - 1][0] and ranked[end][0][2]:
        end += 1
    dropped = {-place for _, place in ranked[:end]}
    return [place for place in range(len(keys)) if place not in dropped]


_Rank = tuple[int, int, str, int]
"""What sorts first is worth least."""

_OTHERS: Final[_Rank] = (1, 0, "", 0)
_VENDORS: Final[_Rank] = (3, 0, "", 0)
_END: Final = 32
"""Entries at each end of a list that are worth more than an attribute that nobody knows."""


def _of_entry(prefix: str, number: int, ends: tuple[int, int]) -> _Rank:
    from_end = min(number - ends[0], ends[1] - number)
    return 0 if from_end >= _END else 2, -from_end, prefix, -number
