"""Rows as JSON text: what a dataclass holds, as ClickHouse reads it. One type, one column list."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
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
    """Yield the rows as lines of JSON, about `PART_BYTES` at a time."""
    encode = _encoder(type(rows[0]))
    lines: list[bytes] = []
    size = 0
    for row in rows:
        line = encode(row, extra)
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


def _encoder(row_type: type) -> Callable[[Any, Mapping[str, str | int]], bytes]:
    if not is_dataclass(row_type):
        raise TypeError(f"{row_type.__name__} is not a dataclass")
    names = columns(row_type)
    times = moments(row_type)

    def encode(row: Any, extra: Mapping[str, str | int]) -> bytes:
        values = {name: getattr(row, name) for name in names}
        for name in times:
            if values[name] is not None:
                values[name] = moment(values[name])
        values.update(extra)
        return orjson.dumps(values, option=orjson.OPT_NON_STR_KEYS)

    return encode
