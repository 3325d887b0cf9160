"""Ids in lots: a statement takes a bounded number of them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import orjson

MANY = 500
"""Ids in one statement; more go in several."""

Key = tuple[str, str]
"""Trace id and span id."""

MANY_TRACES = 2_000
"""Trace ids in one statement: they are short, all of one length."""

MANY_SPANS = 1_000
"""Spans in one statement: more than the largest page of an answer, so that a page is one."""

T = TypeVar("T")


def in_lots(given: Iterable[T], many: int = MANY) -> Iterator[list[T]]:
    """Yield what is given, each once, `many` at a time."""
    distinct = list(dict.fromkeys(given))
    for start in range(0, len(distinct), many):
        yield distinct[start : start + many]


def lists(given: Iterable[str], many: int = MANY) -> Iterator[str]:
    """Yield what is given as lists in JSON text, for statements that take them so."""
    for some in in_lots(given, many):
        yield orjson.dumps(some).decode()


def ids(keys: Sequence[Key]) -> dict[str, str]:
    """Return keys as two lists in JSON; the rows they find are to be checked against the keys."""
    return {
        "traces": orjson.dumps(sorted({trace for trace, _ in keys})).decode(),
        "spans": orjson.dumps(sorted({span for _, span in keys})).decode(),
    }
