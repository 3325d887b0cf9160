"""Rows as JSON text: what a dataclass holds, as ClickHouse reads it. One type, one column list."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any

import orjson

from gnomon.clock import Nanos, from_nanos, moments

PART_BYTES = 16 * 1024**2
"""A larger insert goes in parts."""

_LAST = 2**63 - 1
"""DateTime64(9) ends in the year 2262."""


def columns(row_type: type) -> tuple[str, ...]:
    """Return the columns of a table: the fields of its row type, in order."""
    return tuple(field.name for field in fields(row_type))


def parts(rows: Sequence[Any], extra: Mapping[str, str | int]) -> Iterator[bytes]:
    """Yield the rows as lines of JSON without names, about `PART_BYTES` at a time."""
    encode = _encoder(type(rows[0]), extra)
    lines: list[bytes] = []
    size = 0
    for row in rows:
        line = encode(row)
        lines.append(line)
        size += len(line) + 1
        if size >= PART_BYTES:
            yield b"\n".join(lines)
            lines, size = [], 0
    if lines:
        yield b"\n".join(lines)


def moment(nanos: int) -> str:
    """Return nanoseconds since 1970 as the text of a DateTime64(9)."""
    seconds, rest = divmod(min(nanos, _LAST), 1_000_000_000)
    return f"{_second(seconds)}.{rest:09}"


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    return f"{from_nanos(Nanos(seconds * 1_000_000_000)):%Y-%m-%d %H:%M:%S}"


def _encoder(row_type: type, extra: Mapping[str, str | int]) -> Callable[[Any], bytes]:
    if not is_dataclass(row_type):
        raise TypeError(f"{row_type.__name__} is not a dataclass")
    names = columns(row_type)
    times = sorted(names.index(name) for name in moments(row_type))
    more = list(extra.values())
    values_of = attrgetter(*names, names[0])  # one too many, so that it is always a tuple

    def encode(row: Any) -> bytes:
        values = list(values_of(row)[:-1])
        for place in times:
            if values[place] is not None:
                values[place] = moment(values[place])
        return orjson.dumps(values + more, option=orjson.OPT_NON_STR_KEYS)

    return encode
