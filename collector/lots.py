"""Ids in lots: a statement takes a bounded number of them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

MANY = 500
"""Ids in one statement; more go in several."""

Key = tuple[str, str]
"""Trace id and span id."""

T = TypeVar("T")


def in_lots(given: Iterable[T]) -> Iterator[list[T]]:
    """Yield what is given, each once, `MANY` at a time."""
    distinct = list(dict.fromkeys(given))
    for start in range(0, len(distinct), MANY):
        yield distinct[start : start + MANY]


def ids(keys: Sequence[Key]) -> dict[str, list[str]]:
    """Return keys as two parameters; the rows they find are to be checked against the keys."""
    return {
        "traces": sorted({trace for trace, _ in keys}),
        "spans": sorted({span for _, span in keys}),
    }
